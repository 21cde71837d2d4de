package native_test

import (
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// writing are the methods that a connection which only reads must not reach. A new method is one of
// them, or is marked in the table.
var writing = []string{
	"session.create", "session.close", "session.forget", "session.kill", "session.resize", "session.input", "session.run", "session.lease",
	"session.release", "session.record_start", "session.record_stop", "adapter.start", "adapter.resume", "adapter.send", "adapter.turn",
	"adapter.cancel_wait", "adapter.close", "plugin.load", "plugin.reload", "plugin.unload",
}

// TestReadingConnection: what has said that it only reads can do nothing else, whatever it sends,
// and never again; it still reads, and others are not affected.
func TestReadingConnection(t *testing.T) {
	p := enginetest.New()
	a, b := newWires(t, enginetest.Engine(p))
	id := a.create()
	b.result("session.lease", obj{"session": id, "holder": "Bob"})
	b.result("session.resize", obj{"session": id, "rows": 10, "cols": 30, "hold": true})
	if r := b.result("server.set_access", obj{"access": "full"}); r["access"] != "full" {
		t.Errorf("%v", r)
	}
	if r := b.result("server.set_access", obj{"access": "read"}); r["access"] != "read" {
		t.Errorf("%v", r)
	}
	// What it had taken is given back, with the size that it held.
	if r := a.result("session.lease", obj{"session": id}); r["holder"] != "client" {
		t.Errorf("%v", r)
	}
	if s := p.Sizes(); s[len(s)-1] != (pty.Size{Rows: 24, Cols: 80}) {
		t.Errorf("sizes %v", s)
	}
	a.result("session.release", obj{"session": id})
	all := b.result("server.capabilities", obj{"schema": true})
	marked := map[string]bool{}
	for name, s := range all["schema"].(map[string]any)["methods"].(map[string]any) {
		if at(s, "reads") == false {
			marked[name] = true
		}
	}
	for _, m := range writing {
		msg := b.fails(m, obj{"session": id, "program": "fake", "rows": 5, "cols": 5, "action": obj{"type": "text", "value": "x"}, "command": "x", "take": true}, -32004, "read_only")
		if msg.Error != nil && !strings.Contains(msg.Error.Message, m) {
			t.Errorf("%s: %s", m, msg.Error.Message)
		}
		if !marked[m] {
			t.Errorf("the schema says that %s is for readers", m)
		}
		delete(marked, m)
	}
	for m := range marked {
		t.Errorf("%s is neither for readers nor in this test", m)
	}
	b.fails("server.set_access", obj{"access": "full"}, -32004, "read_only")
	b.result("server.set_access", obj{"access": "read"})
	b.fails("server.set_access", obj{"access": "more"}, -32602, "invalid_params")
	b.fails("server.set_access", nil, -32602, "invalid_params")
	b.fails("session.screenshot", obj{"session": id, "path": t.TempDir() + "/a.png"}, -32004, "read_only")
	if p.Input() != "" {
		t.Errorf("typed: %q", p.Input())
	}
	p.Print("to be seen")
	b.until(id, "to be seen")
	b.result("session.frame", obj{"session": id})
	b.result("session.screenshot", obj{"session": id, "format": "ansi"})
	a.result("session.input", obj{"session": id, "action": obj{"type": "text", "value": "x"}})
}

// TestReadingStopsWhatQueues: what was sent before, and waits for its turn, is refused when that
// comes.
func TestReadingStopsWhatQueues(t *testing.T) {
	p := enginetest.New()
	a, _ := newWires(t, enginetest.Engine(p))
	id := a.create()
	wait := a.send("session.wait", obj{"session": id, "matcher": text("later")})
	typed := a.send("session.input", obj{"session": id, "action": obj{"type": "text", "value": "x"}})
	a.result("server.set_access", obj{"access": "read"})
	p.Print("later")
	if m := a.reply(wait); m.Error != nil {
		t.Errorf("%s", m.line)
	}
	if m := a.reply(typed); m.Error == nil || m.Error.Data["reason"] != "read_only" || p.Input() != "" {
		t.Errorf("%s, %q", m.line, p.Input())
	}
}
