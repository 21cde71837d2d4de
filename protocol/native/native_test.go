package native_test

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/native"
	"github.com/ptywright/ptywright/protocol/protocoltest"
)

// TestFaults: what breaks at one connection costs its request, and no session.
func TestFaults(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	e := engine.New(engine.Options{Log: log})
	d := protocol.Combine(native.New(host.Over(e, nil, log), native.Options{}), protocoltest.Broken{})
	w := newWireOf(t, e, d)
	id := w.result("session.create", obj{"program": "cat"})["session"]
	protocoltest.Faults(t, func(t *testing.T) protocoltest.Peer { return holding(t, serveDialect(t, e, d, protocol.Lines)) }, "session.list")
	w.result("session.input", obj{"session": id, "action": obj{"type": "text", "value": "alive\n"}})
	w.result("session.wait", obj{"session": id, "matcher": obj{"type": "contains_text", "value": "alive"}})
}

func TestCorpus(t *testing.T) {
	for _, f := range []protocol.Framing{protocol.Lines, protocol.Headers} {
		t.Run(f.String(), func(t *testing.T) {
			family := map[protocol.Framing]string{protocol.Lines: "ndjson", protocol.Headers: "lsp"}[f]
			protocoltest.Corpus(t, protocoltest.Suite{
				Family: family,
				Dial: func(t *testing.T) protocoltest.Peer {
					e := engine.New(engine.Options{})
					peer := serveDialect(t, e, native.New(host.Over(e, nil, nil), native.Options{}), f)
					if f == protocol.Headers {
						return peer // the same messages, in other frames
					}
					return holding(t, peer)
				},
				Has: func(m string) bool { return !strings.HasPrefix(m, "auth.") },
			})
		})
	}
}

// specified are the methods of the specification that this dialect is to have.
var specified = []string{
	"server.capabilities", "server.set_notifications", "session.create", "session.list", "session.input", "session.wait",
	"session.snapshot", "session.transcript", "session.resize", "session.kill", "session.close",
	"adapter.list", "adapter.live", "adapter.start", "adapter.resume", "adapter.state", "adapter.send", "adapter.wait", "adapter.turn",
	"adapter.cancel_wait", "adapter.snapshot", "adapter.transcript", "adapter.inspect", "adapter.close", "adapter.events", "adapter.explain",
	"plugin.capabilities", "plugin.validate_manifest", "plugin.describe", "plugin.load", "plugin.unload",
}

func TestCapabilitiesPrintTheTable(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{}))
	r := w.result("server.capabilities", nil)
	var methods []string
	for _, m := range r["methods"].([]any) {
		methods = append(methods, m.(string))
	}
	for _, m := range specified {
		if !slices.Contains(methods, m) {
			t.Errorf("%s is not in the table", m)
		}
	}
	var told []string
	for _, n := range r["notifications"].([]any) {
		told = append(told, n.(string))
	}
	want := []string{"session.changed", "session.leased", "session.output", "session.exited",
		"adapter.changed", "wait.matched", "session.event", "server.audit"}
	if !slices.Equal(told, want) {
		t.Errorf("the notifications are %v", told)
	}
	schema := w.result("server.capabilities", obj{"schema": true})["schema"].(map[string]any)["methods"].(map[string]any)
	for _, m := range methods {
		s, ok := schema[m].(map[string]any)
		if !ok || s["params"] == nil || s["result"] == nil || s["about"] == "" {
			t.Errorf("%s has no schema: %v", m, s)
		}
	}
}

func TestCreateDefaultsAndSnapshotShape(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	p.Print("\x1b]0;a title\a\x1b[1;31mred\x1b[m plain 漢\r\n")
	w.until(id, "plain")
	r := w.result("session.snapshot", obj{"session": id})
	size, cursor := r["size"].(map[string]any), r["cursor"].(map[string]any)
	if size["rows"] != 24.0 || size["cols"] != 80.0 || size["pixel_width"] != 0.0 {
		t.Errorf("size %v", size)
	}
	if cursor["row"] != 1.0 || cursor["col"] != 0.0 || cursor["visible"] != true {
		t.Errorf("cursor %v", cursor)
	}
	if r["plain_text"] != "red plain 漢" || r["title"] != "a title" || r["exit"] != nil || len(r["lines"].([]any)) != 24 {
		t.Errorf("%v", r)
	}
	cells := r["cells"].([]any)
	if len(cells) != 24*80 {
		t.Fatalf("%d cells", len(cells))
	}
	red, wide, after := cells[0].(map[string]any), cells[10].(map[string]any), cells[11].(map[string]any)
	if s := red["style"].(map[string]any); red["text"] != "r" || s["foreground"] != "idx:1" || s["background"] != "default" || s["bold"] != true {
		t.Errorf("first cell %v", red)
	}
	if wide["text"] != "漢" || wide["wide"] != true || after["wide_continuation"] != true || after["text"] != "" {
		t.Errorf("wide cells %v %v", wide, after)
	}
	if empty := cells[100].(map[string]any); empty["text"] != "" || empty["row"] != 1.0 || empty["col"] != 20.0 {
		t.Errorf("empty cell %v", empty)
	}
	runs := w.result("session.snapshot", obj{"session": id, "cells": "runs"})["cells"].([]any)
	if first := runs[0].(map[string]any); len(runs) != 2 || first["text"] != "red" || first["cols"] != 3.0 {
		t.Errorf("runs %v", runs)
	}
	if n := len(w.result("session.snapshot", obj{"session": id, "cells": "none"})["cells"].([]any)); n != 0 {
		t.Errorf("%d cells though none were asked for", n)
	}
}

func TestWaitAnswersWithEvidence(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	p.Print("token=abcdef123456 ready\r\n")
	r := w.result("session.wait", obj{"session": id, "matcher": obj{"type": "screen_regex", "value": `rea(\w)y`}})
	outcome := r["outcome"].(map[string]any)
	if r["matched"] != true || outcome["kind"] != "screen_regex" || outcome["capture"] != "d" || outcome["pattern"] != `rea(\w)y` {
		t.Errorf("%v", r)
	}
	if snap := r["snapshot"].(map[string]any); strings.Contains(snap["plain_text"].(string), "abcdef") || len(snap["cells"].([]any)) != 0 {
		t.Errorf("snapshot %v", snap)
	}
	if tail := r["transcript_tail"].(string); strings.Contains(tail, "abcdef") || !strings.Contains(tail, "ready\r\n") {
		t.Errorf("tail %q", tail)
	}
	m := w.fails("session.wait", obj{"session": id, "timeout_ms": 30, "matcher": obj{"type": "any", "value": []obj{
		text("Ready"), {"type": "screen_stable", "value": obj{"min_ms": 60000}},
	}}}, -32001, "timeout")
	d := m.Error.Data
	tree := d["matcher"].(map[string]any)
	first := tree["value"].([]any)[0].(map[string]any)
	if tree["type"] != "any" || tree["held"] != false || first["held"] != false || first["why"] == "" || !strings.Contains(first["nearest"].(string), "ready") {
		t.Errorf("matcher %v", tree)
	}
	if d["elapsed_ms"].(float64) < 30 || d["quiet_ms"] == nil || d["sequence"] == nil || d["transcript_tail"] == nil {
		t.Errorf("data %v", d)
	}
	if strings.Contains(m.line, "abcdef") {
		t.Error("the evidence holds the secret")
	}
	p.End(9)
	m = w.fails("session.wait", obj{"session": id, "matcher": text("no such")}, -32002, "session_ended")
	if exit := m.Error.Data["snapshot"].(map[string]any)["exit"].(map[string]any); exit["exit_code"] != 9.0 || exit["signal"] != nil {
		t.Errorf("exit %v", exit)
	}
}

func TestBadParametersAreToldApart(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	for _, c := range []struct {
		method string
		params obj
		reason string
	}{
		{"session.create", obj{"program": ""}, "invalid_params"},
		{"session.create", obj{"program": "x", "rows": 70000}, "size_out_of_range"},
		{"session.create", obj{"program": "x", "cols": 0}, "size_out_of_range"},
		{"session.create", obj{"program": "x", "raw_transcript_append": true}, "invalid_params"},
		{"session.create", obj{"program": "x", "raw_transcript_path": "/"}, "file_refused"},
		{"session.create", obj{"program": "python3", "shell_integration": true}, "shell_integration_unsupported"},
		{"session.create", obj{"program": "bash", "args": []string{"-c", "ls"}, "shell_integration": true}, "shell_integration_unsupported"},
		{"session.create", obj{"program": "x", "env": obj{"A=B": "c"}}, "invalid_environment"},
		{"session.create", obj{"program": "x", "transcript_max_chars": -1}, "invalid_params"},
		{"session.snapshot", obj{"session": "s9"}, "unknown_session"},
		{"session.snapshot", obj{"session": id, "cells": "some"}, "invalid_params"},
		{"session.snapshot", obj{"session": id, "redaction": obj{"extra_regexes": []string{"("}}}, "invalid_redaction"},
		{"session.snapshot", obj{"session": id, "redaction": obj{"extra_regexes": []string{"x*"}}}, "invalid_redaction"},
		{"session.input", obj{"session": id, "action": obj{"type": "nope"}}, "invalid_action"},
		{"session.input", obj{"session": id, "action": obj{"type": "text", "value": 7}}, "invalid_action"},
		{"session.input", obj{"session": id, "action": obj{"type": "key", "value": "Enter!"}}, "invalid_action"},
		{"session.input", obj{"session": id, "action": obj{"type": "signal", "value": "stop"}}, "invalid_action"},
		{"session.input", obj{"session": id, "action": obj{"type": "resize", "value": obj{"rows": 5}}}, "invalid_action"},
		{"session.input", obj{"session": id, "action": obj{"type": "mouse", "value": obj{"row": 1, "col": 1}}}, "mouse_not_requested"},
		{"session.input", obj{"session": id, "action": obj{"type": "key", "value": "media_play"}},
			"key_not_requested"},
		{"session.input", obj{"session": id, "action": obj{"type": "key",
			"value": obj{"key": "up", "event": "release"}}}, "key_not_requested"},
		{"session.create", obj{"program": "x", "theme": "pink"}, "invalid_params"},
		{"session.input", obj{"session": id, "action": obj{"type": "mouse", "value": obj{"row": 99, "col": 1}}}, "position_out_of_range"},
		{"session.input", obj{"session": id}, "invalid_action"},
		{"session.resize", obj{"session": id, "rows": 5}, "invalid_params"},
		{"session.resize", obj{"session": id, "rows": 1001, "cols": 5}, "size_out_of_range"},
		{"session.wait", obj{"session": id}, "invalid_matcher"},
		{"session.wait", obj{"session": id, "matcher": obj{"type": "screen_regex", "value": "("}}, "invalid_matcher"},
		{"session.wait", obj{"session": id, "matcher": text("x"), "timeout_ms": -1}, "invalid_params"},
		{"session.wait", obj{"session": id, "matcher": text("x"), "timeout_ms": 1 << 50}, "invalid_params"},
		{"session.scrollback", obj{"session": id, "count": -1}, "invalid_params"},
		{"session.search", obj{"session": id}, "invalid_params"},
		{"session.search", obj{"session": id, "text": "a", "regex": "b"}, "invalid_params"},
		{"session.search", obj{"session": id, "regex": "("}, "invalid_params"},
		{"server.set_ordering", obj{"ordering": "random"}, "invalid_params"},
		{"session.screenshot", obj{"session": id, "font_size": 0}, "invalid_params"},
		{"session.screenshot", obj{"session": id, "font_size": -1}, "invalid_params"},
		{"session.screenshot", obj{"session": id, "font_size": 128.5}, "invalid_params"},
		{"session.screenshot", obj{"session": id, "font_size": 1000}, "invalid_params"},
		{"server.set_notifications", obj{"enabled": "yes"}, "invalid_params"},
	} {
		w.fails(c.method, c.params, -32602, c.reason)
	}
	for since, got := range map[any]string{"soon": `got "soon"`, -1: `got "-1"`} {
		params := obj{"session": id, "matcher": text("x"), "since": since}
		m := w.fails("session.wait", params, -32602, "invalid_params")
		if m.Error == nil || !strings.HasSuffix(m.Error.Message, got) {
			t.Errorf("since %v: %s, want %s", since, m.line, got)
		}
	}
	if r := w.result("session.list", nil); len(r["sessions"].([]any)) != 1 {
		t.Errorf("afterwards there are %v", r)
	}
}

func TestEveryActionIsTaken(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	p.Print("\x1b[?1000h\x1b[?1006hgo")
	w.until(id, "go")
	values := map[string]any{
		"text": "a", "paste": "b", "bracketed_paste": "c\x1b", "key": "ctrl+shift+up", "signal": "hup",
		"resize": obj{"rows": 30, "cols": 90}, "mark_transcript": obj{"label": "here"},
		"stream_text": obj{"text": "dd", "chunk_chars": 1, "delay_ms": 1}, "mouse": obj{"row": 1, "col": 2, "button": "right", "mods": []string{"ctrl"}},
		"interrupt": nil, "eof": nil, "kill": nil, "theme": "light",
		"click": obj{"locator": "'go'"}, "drag": obj{"from": obj{"row": 0, "col": 0}, "to": obj{"locator": "cursor"}}, "scroll": obj{"in": obj{"row": 0, "col": 0}, "by": 2},
	}
	var names []string
	for _, a := range w.result("server.capabilities", nil)["actions"].([]any) {
		names = append(names, a.(string))
	}
	slices.SortFunc(names, func(a, b string) int { // kill last
		if a == "kill" {
			return 1
		}
		if b == "kill" {
			return -1
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		value, ok := values[name]
		if !ok {
			t.Errorf("%s is not tested", name)
			continue
		}
		r := w.result("session.input", obj{"session": id, "action": obj{"type": name, "value": value}})
		if r["sent"] != true || r["sequence"] == nil {
			t.Errorf("%s: %v", name, r)
		}
		if name == "bracketed_paste" && r["stripped"] != 1.0 {
			t.Errorf("stripped %v", r["stripped"])
		}
	}
	if want := "\x1b[200~c\x1b[201~\x1b[<0;1;1M\x1b[<0;1;1m\x1b[<0;1;1M\x1b[<0;3;1m\x04\x03\x1b[1;6A\x1b[<18;3;2Mb\x1b[<65;1;1M\x1b[<65;1;1Mdda"; p.Input() != want {
		t.Errorf("the program got %q, want %q", p.Input(), want)
	}
	if s := p.Signals(); len(s) != 1 || s[0] != pty.SignalHup {
		t.Errorf("signals %v", s)
	}
	w.fails("session.input", obj{"session": id, "action": obj{"type": "text", "value": "x"}}, -32002, "session_closed")
}

func TestScrollbackAndSearch(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	for i := range 100 {
		p.Print(strings.Repeat("x", i%3) + " line " + string(rune('A'+i%26)) + "\r\n")
	}
	p.Print("password=" + strings.Repeat("s3cret", 20) + " end\r\n") // wraps over two rows
	w.until(id, "end")
	r := w.result("session.scrollback", obj{"session": id, "start": 0, "count": 3})
	if lines(r, "lines") != " line A\nx line B\nxx line C" || r["start"] != 0.0 || r["count"] != 3.0 || r["dropped"] != 0.0 {
		t.Errorf("%v", r)
	}
	total := r["total"].(float64)
	if total != 103 { // 100 lines, one over two rows, the cursor's row
		t.Errorf("total %v", total)
	}
	if all := w.result("session.scrollback", obj{"session": id, "count": 1000}); all["count"] != total || strings.Contains(lines(all, "lines"), "s3cret") {
		t.Errorf("%v", all)
	}
	s := w.result("session.search", obj{"session": id, "text": "line B", "max": 2})
	m := s["matches"].([]any)[0].(map[string]any)
	if s["total"] != 4.0 || s["truncated"] != true || m["line"] != 1.0 || m["col"] != 2.0 || m["text"] != "x line B" {
		t.Errorf("%v", s)
	}
	if s := w.result("session.search", obj{"session": id, "regex": "s3cr.t"}); s["total"] != 0.0 {
		t.Errorf("a secret was found: %v", s)
	}
	if s := w.result("session.search", obj{"session": id, "regex": "(s3cret){20}", "redact": false}); s["total"] != 1.0 {
		t.Errorf("a match over a soft wrap was not found: %v", s)
	}
}

// The oldest line kept is hidden up to its first blank when it goes on from one that was dropped,
// since that may have said that a secret follows, and only then.
func TestOldestLineKept(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.result("session.create", obj{"program": "fake", "rows": 3, "cols": 20, "scrollback_max_lines": 2})["session"].(string)
	p.Print("1\r\n2\r\n3\r\n4\r\n5")
	w.until(id, "5")
	if r := w.result("session.scrollback", obj{"session": id, "start": 0}); lines(r, "lines") != "1\n2\n3\n4\n5" {
		t.Errorf("%v", r)
	}
	p.Print("\r\n6\r\n7")
	w.until(id, "7")
	if r := w.result("session.scrollback", obj{"session": id, "start": 0}); lines(r, "lines") != "3\n4\n5\n6\n7" || r["dropped"] != 2.0 {
		t.Errorf("a whole line: %v", r)
	}
	p.Print("\r\npassword is s3cr3t0hunter2 x\r\n8\r\n9\r\n10\r\n11")
	w.until(id, "11")
	if r := w.result("session.scrollback", obj{"session": id, "start": 0}); !strings.HasPrefix(lines(r, "lines"), "[REDACTED] x\n8\n9") {
		t.Errorf("the rest of a line: %v", r)
	}
}

func TestListTellsTheFolder(t *testing.T) {
	w := newWire(t, enginetest.Engine(enginetest.New(), enginetest.New()))
	w.create()
	w.result("session.create", obj{"program": "fake", "cwd": "/somewhere"})
	own, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range w.result("session.list", obj{"details": true})["details"].([]any) {
		if got, want := d.(map[string]any)["cwd"], []string{own, "/somewhere"}[i]; got != want {
			t.Errorf("session %d is in %v, want %s", i+1, got, want)
		}
	}
}

// TestListHidesWhatANameBeforeItMakesASecret in the arguments, which come one by one.
func TestListHidesWhatANameBeforeItMakesASecret(t *testing.T) {
	w := newWire(t, enginetest.Engine(enginetest.New()))
	w.result("session.create", obj{"program": "fake", "args": []string{"--password", "Kq7argvpass66", "--token", "Kq7tok12345", "file"}})
	for _, c := range []struct {
		params obj
		want   string
	}{{obj{"details": true}, "[--password [REDACTED] --token [REDACTED] file]"}, {obj{"details": true, "redact": false}, "[--password Kq7argvpass66 --token Kq7tok12345 file]"}} {
		if got := fmt.Sprint(at(w.result("session.list", c.params)["details"].([]any)[0], "args")); got != c.want {
			t.Errorf("%v: %s, want %s", c.params, got, c.want)
		}
	}
}

func TestTranscriptSaysThatItsHeadIsGone(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.result("session.create", obj{"program": "fake", "transcript_max_chars": 10})["session"].(string)
	p.Print("12345\r\n")
	w.until(id, "12345")
	if r := w.result("session.transcript", obj{"session": id}); r["dropped"] != nil {
		t.Errorf("all of it: %v", r)
	}
	p.Print("67890\r\n")
	w.until(id, "67890")
	if r := w.result("session.transcript", obj{"session": id}); r["dropped"] != true {
		t.Errorf("the rest of it: %v", r)
	}
}

func TestTranscriptSinceAndMark(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	p.Print("old\r\ntoken=abc")
	w.until(id, "abc")
	seq := w.result("session.transcript", obj{"session": id})["sequence"]
	w.result("session.input", obj{"session": id, "action": obj{"type": "mark_transcript", "value": obj{"label": "here"}}})
	p.Print("def123 end\r\npassword: hunter2\r\nnew")
	w.until(id, "new")
	want := "[REDACTED] end\r\npassword: [REDACTED]\r\nnew"
	for _, by := range []obj{{"session": id, "since": seq}, {"session": id, "mark": "here"}} {
		if r := w.result("session.transcript", by); r["text"] != want || r["dropped"] != nil {
			t.Errorf("%v: %q, want %q", by, r["text"], want)
		}
	}
	if r := w.result("session.transcript", obj{"session": id, "mark": "here", "redact": false}); r["text"] != "def123 end\r\npassword: hunter2\r\nnew" {
		t.Errorf("as it is: %q", r["text"])
	}
	if r := w.result("session.transcript", obj{"session": id, "since": 1 << 40}); r["text"] != "" {
		t.Errorf("from the future: %q", r["text"])
	}
	w.fails("session.transcript", obj{"session": id, "mark": "nowhere"}, -32602, "invalid_params")
	w.fails("session.transcript", obj{"session": id, "mark": "here", "since": 1}, -32602, "invalid_params")
}

// TestTranscriptFromWithinAPrivateKey, by a sequence or a mark, shows nothing of it.
func TestTranscriptFromWithinAPrivateKey(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	p.Print("-----BEGIN RSA PRIVATE KEY-----\r\nMIIEowIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MhgHcTz6sE2I2yPB\r\naFDrBz9vFqU4yVkzSpGfiWqBr0sZYoG5pVmOo9rl0Pa")
	w.until(id, "0Pa")
	seq := w.result("session.snapshot", obj{"session": id})["sequence"]
	w.result("session.input", obj{"session": id, "action": obj{"type": "mark_transcript", "value": obj{"label": "here"}}})
	p.Print("Kq7rest0fThe9Line\r\nzzKq7body5uT2xW8rQ4nM1kLpVbC6dEyHgJsAoIiUuPp0OeRtYqZ3XvBnMaSdFgHj\r\n-----END RSA PRIVATE KEY-----\r\nthe end")
	w.until(id, "the end")
	for _, from := range []obj{{"session": id, "since": seq}, {"session": id, "mark": "here"}} {
		text := w.result("session.transcript", from)["text"].(string)
		if strings.Contains(text, "Kq7") || !strings.Contains(text, "the end") {
			t.Errorf("%v: %q", from, text)
		}
	}
}

func TestTypingErrorsInRedactionShowNothing(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	w.fails("session.snapshot", obj{"session": id, "redaction": obj{"extra_literal": []string{"x"}}}, -32602, "invalid_redaction")
	w.fails("session.snapshot", obj{"session_id": id}, -32602, "invalid_params")
}

// TestNothingLeaksWhereALineIsCut: what makes a secret of a text may be lost, further up than is
// looked at, or told already.
func TestNothingLeaksWhereALineIsCut(t *testing.T) {
	const secret = "canary0123456789"
	leaked := func(t *testing.T, where, s string) {
		t.Helper()
		for i := 0; i+6 <= len(secret); i++ {
			if strings.Contains(s, secret[i:i+6]) {
				t.Errorf("%s shows %q of the secret", where, secret[i:i+6])
				return
			}
		}
	}
	t.Run("transcript", func(t *testing.T) {
		for cut := range len(secret) {
			p := enginetest.New()
			w := newWire(t, enginetest.Engine(p))
			id := w.result("session.create", obj{"program": "fake", "transcript_max_chars": 200})["session"].(string)
			p.Print("token=" + secret + strings.Repeat(" x", 100-len(secret)/2+cut/2) + "!")
			w.until(id, "!")
			leaked(t, "session.transcript", w.result("session.transcript", obj{"session": id})["text"].(string))
			leaked(t, "transcript_tail", w.result("session.wait", obj{"session": id, "matcher": text("x")})["transcript_tail"].(string))
		}
	})
	t.Run("scrollback", func(t *testing.T) {
		p := enginetest.New()
		w := newWire(t, enginetest.Engine(p))
		id := w.result("session.create", obj{"program": "fake", "rows": 3, "cols": 10, "scrollback_max_lines": 2})["session"].(string)
		for _, c := range "xx token=" + secret + " end" {
			p.Print(string(c))
			w.call("session.snapshot", obj{"session": id, "cells": "none"})
			leaked(t, "session.scrollback", lines(w.result("session.scrollback", obj{"session": id}), "lines"))
		}
	})
	t.Run("long line", func(t *testing.T) {
		for lead := range 30 {
			p := enginetest.New()
			w := newWire(t, enginetest.Engine(p))
			id := w.create()
			p.Print(strings.Repeat("x", 200*80-lead) + " token=" + secret + " end")
			w.until(id, "end")
			all := lines(w.result("session.scrollback", obj{"session": id, "count": 1000}), "lines")
			leaked(t, "session.scrollback", strings.ReplaceAll(all, "\n", ""))
			if r := w.result("session.search", obj{"session": id, "text": secret[:6]}); r["total"] != 0.0 {
				t.Errorf("session.search finds it %d characters behind a cut: %v", lead, r)
			}
		}
	})
	t.Run("notifications", func(t *testing.T) {
		p := enginetest.New()
		w := newWire(t, enginetest.Engine(p))
		id := w.create()
		p.Print("partial token=")
		w.until(id, "token=")
		w.result("server.set_notifications", obj{"enabled": true})
		p.Print(secret[:8])
		w.until(id, secret[:8])
		w.result("server.set_notifications", obj{"enabled": true, "sessions": []string{id}})
		p.Print(secret[8:] + " end\r\n")
		out, _ := w.told(id, func(_ string, p map[string]any) bool {
			s, _ := p["output"].(string)
			return strings.Contains(s, "end")
		})
		leaked(t, "session.output", out)
		p.Print("Bearer")
		w.until(id, "Bearer")
		w.result("server.set_notifications", obj{"enabled": true})
		p.Print("s are people\r\n")
		if out, _ := w.told(id, func(_ string, p map[string]any) bool {
			s, _ := p["output"].(string)
			return strings.Contains(s, "people")
		}); !strings.HasSuffix(out, "Bearers are people\r\n") {
			t.Errorf("what was held back is lost: %q", out)
		}
	})
}

func TestAnswersAreBounded(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.result("session.create", obj{"program": "fake", "rows": 400, "cols": 1000})["session"].(string)
	p.Print("\x1b]8;;https://example.invalid/" + strings.Repeat("x", 900) + "\x1b\\" + strings.Repeat("link", 400*1000/4))
	w.until(id, "link")
	w.fails("session.snapshot", obj{"session": id}, -32603, "reply_too_large")
	w.fails("session.wait", obj{"session": id, "matcher": text("link"), "cells": "full"}, -32603, "reply_too_large")
	if r := w.result("session.snapshot", obj{"session": id, "cells": "runs"}); len(r["cells"].([]any)) != 400 {
		t.Errorf("%d runs", len(r["cells"].([]any)))
	}
	w.fails("session.wait", obj{"session": id, "matcher": obj{"type": "any", "value": make([]obj, 300_000)}}, -32602, "invalid_matcher")
	w.fails("session.search", obj{"session": id, "regex": "(x?y?){1000}"}, -32602, "invalid_params")
	w.fails("session.snapshot", obj{"session": id, "redaction": obj{"extra_regexes": []string{"(x?y?){1000}z", "(x?y?){1000}"}}}, -32602, "invalid_redaction")
}
