package native_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// TestLease: one connection types, the others read, and are told who it is.
func TestLease(t *testing.T) {
	p := enginetest.New()
	a, b := newWires(t, enginetest.Engine(p))
	id := a.create()
	typed := obj{"session": id, "action": obj{"type": "text", "value": "x"}}
	b.result("server.set_notifications", obj{"enabled": true})

	if r := a.result("session.lease", obj{"session": id, "holder": "Ada"}); r["holder"] != "Ada" || r["since"] == nil {
		t.Errorf("lease: %v", r)
	}
	var lease any
	b.told(id, func(m string, p map[string]any) bool { lease = p["lease"]; return m == "session.leased" })
	if at(lease, "holder") != "Ada" || at(lease, "yours") != false {
		t.Errorf("told %v", lease)
	}
	a.result("session.input", typed)
	for _, r := range []struct {
		method string
		params obj
	}{{"session.input", typed}, {"session.resize", obj{"session": id, "rows": 5, "cols": 5}}, {"session.lease", obj{"session": id}},
		{"session.input", obj{"session": id, "action": obj{"type": "signal", "value": "int"}}}} {
		if m := b.fails(r.method, r.params, -32004, "session_leased"); at(m.Error.Data, "holder") != "Ada" || !strings.Contains(m.Error.Message, "Ada") {
			t.Errorf("%s: %s", r.method, m.line)
		}
	}
	b.result("session.snapshot", obj{"session": id})
	details := b.result("session.list", obj{"details": true})["details"].([]any)[0]
	if at(details, "lease", "holder") != "Ada" || at(details, "lease", "yours") != false {
		t.Errorf("list: %v", details)
	}
	if r := b.result("session.release", obj{"session": id}); r["released"] != false {
		t.Errorf("what it has not: %v", r)
	}
	if r := b.result("session.lease", obj{"session": id, "holder": strings.Repeat("é", 100), "take": true}); r["holder"] != strings.Repeat("é", 64) {
		t.Errorf("taken: %v", r)
	}
	b.result("session.input", typed)
	a.fails("session.input", typed, -32004, "session_leased")
	if r := a.result("session.release", obj{"session": id}); r["released"] != false {
		t.Errorf("what was taken from it: %v", r)
	}
	if r := b.result("session.release", obj{"session": id}); r["released"] != true {
		t.Errorf("release: %v", r)
	}
	a.result("session.input", typed)

	b.result("session.lease", obj{"session": id})
	b.c.Close() // and with it what it had
	a.result("session.wait", obj{"session": id, "timeout_ms": 0, "matcher": obj{"type": "not", "value": text("nothing")}})
	for a.call("session.input", typed).Error != nil {
	}
	p.Exit(pty.Exit{})
	p.HangUp()
	a.result("session.wait", obj{"session": id, "matcher": obj{"type": "process_exited"}})
	a.fails("session.lease", obj{"session": id}, -32002, "session_ended")
}

// TestFrames: what a client has not, whole or in rows, and nothing when there is none.
func TestFrames(t *testing.T) {
	p := enginetest.New()
	a, b := newWires(t, enginetest.Engine(p))
	id := a.create()
	p.Print("one\r\ntwo\x1b[1;31mred\x1b[m\r\ntoken=Kq7abcdefgh0123456789")
	a.until(id, "token")
	first := a.result("session.frame", obj{"session": id, "form": "ansi"})
	rows := first["rows"].([]any)
	if first["full"] != true || len(rows) != 24 || at(rows[1], "ansi") != "two\x1b[0;1;31mred\x1b[0m" || at(rows[2], "ansi") != "token=[REDACTED]" || at(first, "size", "cols") != 80.0 {
		t.Errorf("the first: %v", first)
	}
	next := func(since any, timeout int) map[string]any {
		return a.result("session.frame", obj{"session": id, "form": "ansi", "since": since, "timeout_ms": timeout})
	}
	if r := next(first["sequence"], 1); len(r["rows"].([]any)) != 0 || r["sequence"] != first["sequence"] || r["full"] != false {
		t.Errorf("nothing new: %v", r)
	}
	waiting := a.send("session.frame", obj{"session": id, "form": "ansi", "since": first["sequence"]})
	p.Print("\x1b[Hnew\x1b[5 q\x1b[?1h\x1b[?2004h")
	second := a.reply(waiting).Result
	if rows := second["rows"].([]any); len(rows) != 1 || at(rows[0], "row") != 0.0 || at(rows[0], "ansi") != "new" || at(second, "cursor", "style") != 5.0 ||
		at(second, "modes", "application_cursor") != true || at(second, "modes", "bracketed_paste") != true {
		t.Errorf("a row: %v", second)
	}
	if r := next(first["sequence"], 1000); r["full"] != true { // it does not have that one any more
		t.Errorf("of an older frame: %v", r)
	}
	if r := a.result("session.frame", obj{"session": id, "since": second["sequence"]}); r["full"] != true || at(r["rows"].([]any)[0], "runs") == nil {
		t.Errorf("in another form: %v", r)
	}
	now := a.result("session.frame", obj{"session": id, "form": "ansi"})
	b.result("session.lease", obj{"session": id, "holder": "Bea"})
	if r := next(now["sequence"], 30_000); at(r, "lease", "holder") != "Bea" || len(r["rows"].([]any)) != 0 {
		t.Errorf("a lease: %v", r)
	}
	b.result("session.release", obj{"session": id})
	a.result("session.resize", obj{"session": id, "rows": 5, "cols": 20})
	if r := next(now["sequence"], 30_000); r["full"] != true || at(r, "size", "rows") != 5.0 {
		t.Errorf("another size: %v", r)
	}
	now = a.result("session.frame", obj{"session": id, "form": "ansi"})
	p.Exit(pty.Exit{Code: 3})
	p.HangUp()
	if r := next(now["sequence"], 30_000); at(r, "exit", "exit_code") != 3.0 {
		t.Errorf("the end: %v", r)
	}
	a.fails("session.frame", obj{"session": id, "form": "x"}, -32602, "invalid_params")
}

// TestFrameCoversWhatIsKnownLater: a row that nobody touched is told again when something in it
// turns out to be a secret, also in a link's address.
func TestFrameCoversWhatIsKnownLater(t *testing.T) {
	const cell, link = "walnut-harbour-quill-71", "copper-meadow-lantern-38"
	for _, form := range []string{"ansi", "runs"} {
		p, other := enginetest.New(), enginetest.New()
		w := newWire(t, enginetest.Engine(p, other))
		id := w.create()
		p.Print("\x1b]8;;https://x.invalid/" + link + "\x1b\\page\x1b]8;;\x1b\\\r\n" + cell + "\r\nas ever\r\n")
		w.until(id, "as ever")
		now := w.result("session.frame", obj{"session": id, "form": form})
		if all := fmt.Sprint(now["rows"]); !strings.Contains(all, cell) || !strings.Contains(all, link) {
			t.Fatalf("%s: nobody has said yet that they are secret: %v", form, all)
		}
		w.result("session.create", obj{"program": "fake", "env": obj{"A_TOKEN": cell, "B_PASSWORD": link}})
		p.Print("news")
		w.until(id, "news")
		rows := w.result("session.frame", obj{"session": id, "form": form, "since": now["sequence"]})["rows"].([]any)
		if all := fmt.Sprint(rows); len(rows) != 3 || strings.Contains(all, cell) || strings.Contains(all, link) {
			t.Errorf("%s: %v", form, all)
		}
	}
}

// TestParkedFrameCoversWhatIsKnownLater: a client that waits for news of a screen that stands still
// is told as soon as a part of it is secret.
func TestParkedFrameCoversWhatIsKnownLater(t *testing.T) {
	const cell = "walnut-harbour-quill-71"
	p, other := enginetest.New(), enginetest.New()
	a, b := newWires(t, enginetest.Engine(p, other))
	id := a.create()
	p.Print(cell + "\r\nas ever\r\n")
	a.until(id, "as ever")
	now := a.result("session.frame", obj{"session": id, "form": "ansi"})
	if all := fmt.Sprint(now["rows"]); !strings.Contains(all, cell) {
		t.Fatalf("nobody has said yet that it is secret: %v", all)
	}
	waiting := a.send("session.frame", obj{"session": id, "form": "ansi", "since": now["sequence"], "timeout_ms": time.Hour.Milliseconds()})
	b.result("session.create", obj{"program": "fake", "env": obj{"A_TOKEN": cell}})
	r := a.reply(waiting).Result
	rows, _ := r["rows"].([]any)
	if len(rows) != 1 || strings.Contains(fmt.Sprint(rows), cell) || r["sequence"] != now["sequence"] {
		t.Errorf("parked: %v", r)
	}
}

// TestFrameThatIsNotWaitedFor: one that is cancelled, or whose session is closed, is an error.
func TestFrameThatIsNotWaitedFor(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	w.result("server.set_ordering", obj{"ordering": "concurrent"})
	id := w.create()
	frame := func() int {
		now := w.result("session.frame", obj{"session": id})
		return w.send("session.frame", obj{"session": id, "since": now["sequence"]})
	}
	waiting := frame()
	w.send("$/cancelRequest", obj{"id": waiting})
	if m := w.reply(waiting); m.Error == nil || m.Error.Data["reason"] != "cancelled" {
		t.Errorf("cancelled: %s", m.line)
	}
	waiting = frame()
	w.send("session.close", obj{"session": id})
	if m := w.reply(waiting); m.Error == nil || m.Error.Data["reason"] != "session_closed" {
		t.Errorf("closed: %s", m.line)
	}
}

// TestFramesOfAFlood are few, and the last is what there is.
func TestFramesOfAFlood(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	r := w.result("session.frame", obj{"session": id})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 20_000 {
			p.Print(fmt.Sprintf("line %d\r\n", i))
		}
		p.Print("the end")
	}()
	frames := 0
	for !strings.Contains(fmt.Sprint(r["rows"]), "the end") {
		r = w.result("session.frame", obj{"session": id, "since": r["sequence"]})
		frames++
	}
	<-done
	if frames > 10_000 {
		t.Errorf("%d frames of 20,000 lines", frames)
	}
}

// TestHeldSize: a size that is held goes with the right to type, however that ends, unless somebody
// took it.
func TestHeldSize(t *testing.T) {
	p := enginetest.New()
	a, b := newWires(t, enginetest.Engine(p))
	id := a.create()
	size := func(rows int) {
		t.Helper()
		first := a.result("session.frame", obj{"session": id})
		for at(first, "size", "rows") != float64(rows) {
			next := a.result("session.frame", obj{"session": id, "since": first["sequence"], "timeout_ms": 30_000})
			if next["sequence"] == first["sequence"] {
				t.Fatalf("the size is %v, not %d rows", first["size"], rows)
			}
			first = next
		}
	}
	hold := func(rows int) obj { return obj{"session": id, "rows": rows, "cols": 50, "hold": true} }
	if m := b.fails("session.resize", hold(9), -32602, "invalid_params"); !strings.Contains(m.Error.Message, "session.lease") {
		t.Errorf("without the right: %s", m.line)
	}
	b.result("session.lease", obj{"session": id})
	b.result("session.resize", hold(9))
	b.result("session.resize", hold(11))
	size(11)
	b.result("session.release", obj{"session": id})
	size(24)

	b.result("session.lease", obj{"session": id})
	b.result("session.resize", hold(9))
	a.result("session.lease", obj{"session": id, "take": true})
	b.result("session.release", obj{"session": id})
	size(9)
	a.result("session.resize", obj{"session": id, "rows": 24, "cols": 80})
	a.result("session.release", obj{"session": id})

	b.result("session.lease", obj{"session": id})
	b.result("session.resize", hold(7))
	size(7)
	b.c.Close() // without a word
	size(24)
}

// TestSayWhatHasEnded: what is typed into a session that has ended is refused with how it ended,
// and what can be done.
func TestSayWhatHasEnded(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	p.Exit(pty.Exit{Code: 3})
	p.HangUp()
	w.result("session.wait", obj{"session": id, "matcher": obj{"type": "process_exited"}})
	says := func(reason string) {
		t.Helper()
		for method, params := range map[string]obj{
			"session.input":  {"session": id, "action": obj{"type": "text", "value": "x"}},
			"session.resize": {"session": id, "rows": 5, "cols": 5},
			"session.lease":  {"session": id},
		} {
			if m := w.fails(method, params, -32002, reason); !strings.Contains(m.Error.Message, "has ended with exit code 3") || !strings.Contains(m.Error.Message, "until the session is closed") {
				t.Errorf("%s: %s", method, m.line)
			}
		}
	}
	says("session_ended")
	w.result("session.kill", obj{"session": id})
	says("session_closed")
}

// TestUnknownPluginNamesThoseThereAre: and how there are others.
func TestUnknownPluginNamesThoseThereAre(t *testing.T) {
	w := newWire(t, enginetest.Engine(enginetest.New()))
	m := w.fails("adapter.start", obj{"plugin": "less"}, -32602, "unknown_plugin")
	for _, want := range []string{"less: unknown plugin", "claude-code", "shell", "--plugin", "PTYWRIGHT_PLUGINS"} {
		if !strings.Contains(m.Error.Message, want) {
			t.Errorf("%q is missing in %s", want, m.line)
		}
	}
}
