package native_test

import (
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
)

// TestPositionOfAnotherSession: the next of a wait on one session is refused by another, in every
// method that takes it, and in the form without a session that older releases gave it counts.
func TestPositionOfAnotherSession(t *testing.T) {
	p, q := enginetest.New(), enginetest.New()
	e := enginetest.Engine(p, q)
	w := newWire(t, e)
	one, s := w.stepped(e, nil)
	two, r := w.stepped(e, nil)
	w.step(p, s, "ready")
	w.step(q, r, "ready, too")
	next := w.result("session.wait", obj{"session": one, "matcher": text("ready")})["next"].(string)
	for _, c := range []struct {
		method string
		params obj
	}{
		{"session.wait", obj{"matcher": text("too"), "timeout_ms": 0}},
		{"session.transcript", obj{}},
	} {
		c.params["since"], c.params["session"] = next, two
		m := w.fails(c.method, c.params, -32602, "invalid_params")
		if m.Error == nil || !strings.Contains(m.Error.Message, "since") || !strings.Contains(m.Error.Message, one) || !strings.Contains(m.Error.Message, two) {
			t.Errorf("%s: %s", c.method, m.line)
		}
		c.params["session"] = one
		if m := w.call(c.method, c.params); m.Error != nil && m.Error.Data["reason"] != "timeout" {
			t.Errorf("%s of its own: %s", c.method, m.line)
		}
		bare, _, _ := strings.Cut(next, "@")
		c.params["session"], c.params["since"] = two, bare
		if m := w.call(c.method, c.params); m.Error != nil && m.Error.Data["reason"] != "timeout" {
			t.Errorf("%s of %s: %s", c.method, bare, m.line)
		}
	}
	for _, bad := range []string{next + "@s1", "p1-2@", "p1-2@x1", "p1-2@s", "p1-2@s+1", "5@s1", "@s1"} {
		w.fails("session.wait", obj{"session": one, "matcher": text("x"), "since": bad}, -32602, "invalid_params")
	}
}
