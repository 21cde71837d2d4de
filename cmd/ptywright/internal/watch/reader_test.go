//go:build unix

package watch

import (
	"context"
	"testing"
)

// TestReaderPage: a page that logs in with the other token looks on, and does nothing else; the
// server behind it refuses the rest as well, whatever this package lets through.
func TestReaderPage(t *testing.T) {
	b := newBench(t, Options{})
	s := b.spawn(24, 80, "echo shown; exec cat")
	id := string(s.ID())
	writer := b.login()
	var h hello
	c := b.open(b.reader, &h)
	if !h.Reads {
		t.Errorf("%+v", h)
	}
	for method, m := range methods {
		params := map[string]any{"session": id, "rows": 5, "cols": 5, "action": map[string]string{"type": "text", "value": "x"}}
		if got := c.ask(method, params, nil); m.writes && got != "read_only" || !m.writes && got == "read_only" {
			t.Errorf("%s: %q", method, got)
		}
	}
	for _, method := range []string{"take", "release", "input", "resize"} {
		m := methods[method]
		if !m.writes {
			t.Errorf("%s is for readers", method)
		}
		t.Cleanup(func() { methods[method] = m })
		open := m
		open.writes = false
		methods[method] = open
	}
	for _, method := range []string{"take", "release"} { // the others ask first whether the session was taken over
		if got := c.ask(method, map[string]any{"session": id, "rows": 5, "cols": 5}, nil); got != "forbidden" {
			t.Errorf("%s: %q", method, got)
		}
	}
	// Nor does one that types end anything.
	methods["kill"] = method{live: true, writes: true, call: with(func(p *page, ctx context.Context, q named) (any, error) {
		return p.forward(ctx, "session.kill", q)
	})}
	t.Cleanup(func() { delete(methods, "kill") })
	if got := writer.ask("kill", map[string]any{"session": id}, nil); got != "forbidden" || s.View().Exit != nil {
		t.Errorf("kill: %q", got)
	}
	if v := s.View(); v.Lease != nil || v.Screen.Rows != 24 {
		t.Errorf("a reader has changed the session: %+v, %d rows", v.Lease, v.Screen.Rows)
	}
	// Another page types as ever.
	if got := writer.ask("take", map[string]any{"session": id}, nil); got != "" {
		t.Errorf("%q", got)
	}
	if got := writer.ask("input", map[string]any{"session": id, "action": map[string]string{"type": "text", "value": "x"}}, nil); got != "" {
		t.Errorf("%q", got)
	}
}

// TestReadersAlone: without a token for writing nobody can do more than look on, and no token is
// one.
func TestReadersAlone(t *testing.T) {
	b := newBenchWith(t, Options{}, false)
	var h hello
	b.open(b.reader, &h)
	if !h.Reads {
		t.Errorf("%+v", h)
	}
	for _, token := range []string{b.token, ""} {
		ws, _, err := b.dial(b.origin, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &asker{Conn: ws, b: b}
		c.send(map[string]string{"token": token})
		if code := c.closed(); code != 1008 {
			t.Errorf("%q opens the page: %v", token, code)
		}
	}
}
