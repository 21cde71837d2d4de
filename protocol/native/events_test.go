package native_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// events reads what the wire tells of a session's events of a kind.
func (w *wire) events(id, kind string) (all []obj) {
	w.t.Helper()
	for _, e := range w.result("session.events", obj{"session": id})["events"].([]any) {
		if e := e.(map[string]any); e["kind"] == kind {
			all = append(all, e)
		}
	}
	return all
}

// noted reads notifications until an event that done wants.
func (w *wire) noted(session string, done func(e obj) bool) obj {
	w.t.Helper()
	for {
		m := w.read()
		if m.Method != "session.event" || m.Params["session"] != session {
			continue
		}
		if e := m.Params["event"].(map[string]any); done(e) {
			return e
		}
	}
}

// TestEventsTellOfAWait: who waits for what is seen by others while it lasts, and its end with what
// was lacking.
func TestEventsTellOfAWait(t *testing.T) {
	p := enginetest.New()
	a, b := newWires(t, enginetest.Engine(p))
	id := a.create()
	p.Print("one\r\ntests: 3 failed\r\n")
	a.until(id, "failed")
	b.result("server.set_notifications", obj{"enabled": true, "events": true})
	wait := a.send("session.wait", obj{"session": id, "matcher": text("tests: 3 passed"), "timeout_ms": 30_000})
	pending := b.noted(id, func(e obj) bool { return e["kind"] == "wait" })
	if pending["state"] != "pending" || pending["text"] != `the screen shows "tests: 3 passed"` ||
		!strings.HasPrefix(fmt.Sprint(pending["by"]), "client ") || pending["timeout_ms"] != 30_000.0 || pending["until"] != nil {
		t.Errorf("begun: %v", pending)
	}
	listed := b.result("session.list", obj{"details": true})["details"].([]any)[0].(map[string]any)
	if waits, _ := listed["waits"].([]any); len(waits) != 1 || waits[0].(map[string]any)["event"] != pending["event"] {
		t.Errorf("the list tells of %v", listed["waits"])
	}
	a.send("$/cancelRequest", obj{"id": wait})
	a.reply(wait)
	ended := b.noted(id, func(e obj) bool { return e["event"] == pending["event"] })
	evidence, _ := ended["evidence"].(string)
	if ended["state"] != "cancelled" || !strings.Contains(evidence, "nearest: tests: 3 failed") ||
		ended["until_sequence"] == nil || ended["seq"].(float64) <= pending["seq"].(float64) {
		t.Errorf("ended: %v", ended)
	}
	a.call("session.wait", obj{"session": id, "matcher": text("tests: 3 passed"), "timeout_ms": 1})
	a.result("session.wait", obj{"session": id, "matcher": obj{"type": "screen_regex", "value": `(\d+) failed`}})
	var got []string
	for _, e := range b.events(id, "wait") {
		got = append(got, fmt.Sprint(e["state"]))
	}
	if s := strings.Join(got, " "); s != "matched cancelled timed_out matched" {
		t.Errorf("the waits ended so: %s", s)
	}
	if last := b.events(id, "wait")[3]; last["evidence"] != "3" {
		t.Errorf("what matched is told as %v", last)
	}
}

// TestEventsAreToldToWhoAsks: others get none, and who asks later gets those from then on.
func TestEventsAreToldToWhoAsks(t *testing.T) {
	p := enginetest.New()
	a, b := newWires(t, enginetest.Engine(p))
	id := a.create()
	b.result("server.set_notifications", obj{"enabled": true})
	a.result("session.resize", obj{"session": id, "rows": 30, "cols": 90})
	if r := b.result("server.set_notifications", obj{"enabled": true, "events": true}); r["events"] != true {
		t.Errorf("the answer is %v", r)
	}
	if strings.Contains(b.all.String(), "session.event") {
		t.Error("an event was told before it was asked for")
	}
	a.result("session.resize", obj{"session": id, "rows": 31, "cols": 91})
	if e := b.noted(id, func(obj) bool { return true }); e["kind"] != "resize" || e["rows"] != 31.0 {
		t.Errorf("first told: %v", e)
	}
	p.End(3)
	if e := b.noted(id, func(e obj) bool { return e["kind"] == "exit" }); e["exit_code"] != 3.0 {
		t.Errorf("the end: %v", e)
	}
	all := b.result("session.events", obj{"session": id, "max": 1})
	if e := all["events"].([]any); len(e) != 1 || e[0].(map[string]any)["rows"] != 30.0 || all["dropped"] != nil {
		t.Errorf("the oldest: %v", all)
	}
	rest := b.result("session.events", obj{"session": id, "since": all["next"]})
	if e := rest["events"].([]any); len(e) != 2 {
		t.Errorf("the rest: %v", rest)
	}
}

// TestEventsOfASlowReaderAreDropped: nothing is queued for it.
func TestEventsOfASlowReaderAreDropped(t *testing.T) {
	p := enginetest.New()
	e := enginetest.Engine(p)
	a, slow := newWires(t, e)
	id := a.create()
	slow.result("server.set_notifications", obj{"enabled": true, "events": true})
	for i := range 40_000 { // until the connection's buffers are full, and the log twice
		a.result("session.resize", obj{"session": id, "rows": 20 + i%2, "cols": 80})
	}
	a.result("session.resize", obj{"session": id, "rows": 50, "cols": 80})
	told, dropped := 0, false
	for {
		m := slow.read()
		if m.Method != "session.event" {
			continue
		}
		told++
		dropped = dropped || m.Params["dropped"] == true
		if m.Params["event"].(map[string]any)["rows"] == 50.0 {
			break
		}
	}
	if !dropped {
		t.Errorf("of 40,001 events %d were told, and none called dropped", told)
	}
}

// TestEventsHideSecrets plants one wherever an event has a text, and looks for it in what is told,
// listed and recorded.
func TestEventsHideSecrets(t *testing.T) {
	const secret = "canary.0123+456789abcdef"
	const plain = "token=" + secret
	p := enginetest.New()
	e := enginetest.Engine(p)
	a, b := newWires(t, e)
	b.result("server.set_notifications", obj{"enabled": true, "events": true})
	id := a.result("session.create", obj{"program": "fake", "env": obj{"TOKEN": secret}})["session"].(string)
	path := filepath.Join(t.TempDir(), "x.cast")
	recording := a.result("session.record_start", obj{"session": id, "path": path, "format": "asciicast-v3"})["recording"]
	a.result("session.lease", obj{"session": id, "holder": "ann " + plain})
	a.result("session.input", obj{"session": id, "action": obj{"type": "text", "value": plain + "\r"}})
	p.SetLineMode(pty.LineMode{Canonical: true})
	a.result("session.input", obj{"session": id, "action": obj{"type": "text", "value": secret + "\r"}})
	p.SetLineMode(pty.LineMode{})
	p.Print("\x1b]2;" + plain + "\a\x1b]133;A\a$ \x1b]133;B\acurl " + plain + "\r\n\x1b]133;C\apassword: " + secret + "\r\n\x1b]133;D;3\a\r\ndone\r\n")
	a.until(id, "done")
	for _, m := range []obj{
		text("password: " + secret + "?"), text(secret + "!"), {"type": "screen_regex", "value": secret + "x+"},
		{"type": "title_contains", "value": "token=" + secret + "?"}, {"type": "transcript_contains", "value": plain + "?"},
		{"type": "not", "value": text(secret)}, {"type": "screen_regex", "value": `(can\w+)`}, text("password: canary"),
		{"type": "screen_regex", "value": regexp.QuoteMeta(secret) + "x+"}, // as libraries write it
	} {
		a.call("session.wait", obj{"session": id, "matcher": m, "timeout_ms": 1})
		a.call("session.wait", obj{"session": id, "matcher": m, "timeout_ms": 1, "redact": false})
	}
	b.fails("session.input", obj{"session": id, "action": obj{"type": "text", "value": "x"}}, -32004, "session_leased")
	a.result("session.snapshot", obj{"session": id})
	a.result("session.release", obj{"session": id})
	b.noted(id, func(e obj) bool { return e["state"] == "released" })
	b.result("session.events", obj{"session": id})
	b.result("session.list", obj{"details": true})
	a.result("session.record_stop", obj{"recording": recording})
	cast, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for where, said := range map[string]string{"told": b.all.String(), "recorded": string(cast)} {
		said := said + "\nwithout escapes: " + strings.ReplaceAll(said, `\`, "")
		for i := 0; i+12 <= len(secret); i++ {
			if at := strings.Index(said, secret[i:i+12]); at >= 0 {
				t.Fatalf("%s: %q", where, said[max(0, at-400):min(len(said), at+80)])
			}
		}
		for _, kind := range []string{"wait", "command", "lease", "input", "redacted"} {
			if !strings.Contains(strings.ReplaceAll(said, `\"`, `"`), `"kind":"`+kind+`"`) {
				t.Errorf("%s: nothing of kind %s", where, kind)
			}
		}
	}
	if in := b.events(id, "input"); len(in) == 0 || in[len(in)-1]["secret"] != true || in[len(in)-1]["bytes"] != nil {
		t.Errorf("what was typed with echo off is told as %v", in)
	}
	if r := b.events(id, "redacted"); len(r) == 0 || r[0]["count"].(float64) < 2 {
		t.Errorf("what was hidden is told as %v", r)
	}
	for line := range strings.Lines(string(cast)) { // each is whole, and ours says what it is
		var e []any
		if line[0] == '[' && json.Unmarshal([]byte(line), &e) != nil {
			t.Errorf("recorded: %s", line)
		}
	}
}
