package native_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine/enginetest"
)

// TestLatchedOnTheWire: a latched wait finds what was drawn and wiped, before it began and while it
// lasts; its answer is of that moment, redacted, and says what it could not look at.
func TestLatchedOnTheWire(t *testing.T) {
	p, q := enginetest.New(), enginetest.New()
	w := newWire(t, enginetest.Engine(p, q))
	w.result("session.create", obj{"program": "fake"})
	w.result("session.create", obj{"program": "fake", "transcript_max_chars": 100})
	text := func(s string) obj { return obj{"type": "contains_text", "value": s} }
	wait := func(session, what string, more obj) obj {
		params := obj{"session": session, "matcher": text(what), "timeout_ms": 0}
		for k, v := range more {
			params[k] = v
		}
		return params
	}
	shown := func(p *enginetest.PTY, session, text, then string) {
		p.Print(text)
		w.result("session.wait", wait(session, then, obj{"timeout_ms": hang.Milliseconds()}))
	}

	before := time.Now()
	shown(p, "s1", "a dialog, password: hunter2\x1b[2J\x1b[Hready", "ready")
	if m := w.call("session.wait", wait("s1", "a dialog", obj{"since": 0})); m.Error == nil {
		t.Errorf("a wait that is not latched: %s", m.line)
	}
	r := w.result("session.wait", wait("s1", "a dialog", obj{"since": 0, "latched": true}))
	at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(r["held_at"]))
	screen := r["snapshot"].(map[string]any)["plain_text"].(string)
	if err != nil || at.Before(before.Add(-time.Millisecond)) || at.After(time.Now()) || r["missed"] != nil {
		t.Errorf("held at %v, missed: %v", r["held_at"], r["missed"])
	}
	if !strings.HasPrefix(screen, "a dialog") || strings.Contains(screen, "hunter2") || strings.Contains(screen, "ready") {
		t.Errorf("the moment's screen is %q", screen)
	}
	if m := w.call("session.wait", wait("s1", "a dialog", obj{"since": r["next"], "latched": true})); m.Error == nil || m.Error.Data["missed"] != nil {
		t.Errorf("after what matched: %s", m.line)
	}

	id := w.send("session.wait", wait("s1", "for a moment", obj{"latched": true, "timeout_ms": hang.Milliseconds()}))
	w.result("server.capabilities", nil) // it has begun
	p.Print("\x1b[Hfor a moment\x1b[2J")
	if m := w.reply(id); m.Result == nil || m.Result["held_at"] == nil {
		t.Errorf("a pending wait: %s", m.line)
	}

	shown(q, "s2", strings.Repeat("line\r\n", 200)+"ready", "ready")
	shown(q, "s2", strings.Repeat("line\r\n", 200)+"again", "again")
	m := w.call("session.wait", wait("s2", "never", obj{"since": 0, "latched": true}))
	if m.Error == nil || m.Error.Data["missed"] != true {
		t.Errorf("what is gone: %s", m.line)
	}
}
