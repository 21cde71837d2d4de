package native_test

import (
	"testing"

	"github.com/ptywright/ptywright/engine"
)

// TestInputUntilRead: the wire tells whether the program has read its input, and from where its
// answer comes.
func TestInputUntilRead(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{}))
	spawn := func(script string) any {
		t.Helper()
		id := w.result("session.create", obj{"program": "sh", "args": []string{"-c", script}})["session"]
		w.result("session.wait", obj{"session": id,
			"matcher": obj{"type": "contains_text", "value": "ready"}})
		return id
	}
	enter := func(id any, text string, more obj) map[string]any {
		t.Helper()
		p := obj{"session": id, "action": obj{"type": "text", "value": text}, "until": "read"}
		for k, v := range more {
			p[k] = v
		}
		return w.result("session.input", p)
	}
	id := spawn(`echo ready; exec cat`)
	r := enter(id, "hello\r", nil)
	if r["sent"] != true || r["read"] != true || r["read_sequence"].(float64) < r["sequence"].(float64) {
		t.Errorf("%v", r)
	}
	w.result("session.wait", obj{"session": id, "since": r["read_sequence"],
		"matcher": obj{"type": "contains_text", "value": "hello"}})
	if r = enter(id, "unfinished", nil); r["read"] != nil || r["read_sequence"] == nil {
		t.Errorf("of half a line: %v", r)
	}
	if _, told := r["read"]; !told {
		t.Errorf("null is left out: %v", r)
	}
	r = w.result("session.input", obj{"session": id, "action": obj{"type": "text", "value": "\r"}})
	if len(r) != 2 {
		t.Errorf("not asked for: %v", r)
	}
	if r = enter(spawn(`echo ready; exec sleep 1000`), "x\r", obj{"timeout_ms": 50}); r["read"] != false {
		t.Errorf("of a program that does not read: %v", r)
	}
	w.fails("session.input", obj{"session": id, "action": obj{"type": "eof"}, "until": "seen"},
		-32602, "invalid_params")
}
