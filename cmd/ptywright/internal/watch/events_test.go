//go:build unix

package watch

import (
	"encoding/json"
	"testing"

	"github.com/ptywright/ptywright/engine/pty"
)

// TestEventsOfAQuietSession: a page is told once that a session has no events, and then only when it has
// some: it does not ask again and again.
func TestEventsOfAQuietSession(t *testing.T) {
	b := newBench(t, Options{})
	s := b.spawn(24, 80, "exec cat")
	c := b.login()
	var first struct {
		Events []json.RawMessage `json:"events"`
		Next   *uint64           `json:"next"`
	}
	if reason := c.ask("events", map[string]any{"session": s.ID()}, &first); reason != "" || len(first.Events) != 0 || first.Next == nil {
		t.Fatalf("the first answer is %q, %+v", reason, first)
	}
	c.last++
	waits := c.last
	c.send(map[string]any{"id": waits, "method": "events", "params": map[string]any{"session": s.ID(), "since": *first.Next}})
	// What it asks next is answered first, however long that takes.
	for range 3 {
		if reason := c.ask("recordings", nil, nil); reason != "" {
			t.Fatal(reason)
		}
	}
	if reason := c.ask("scrollback", map[string]any{"session": s.ID(), "count": 1}, nil); reason != "" {
		t.Fatal(reason)
	}
	if err := s.Resize(pty.Size{Rows: 30, Cols: 90}); err != nil {
		t.Fatal(err)
	}
	var a struct {
		ID     int64 `json:"id"`
		Result struct {
			Events []struct {
				Kind string `json:"kind"`
			} `json:"events"`
		} `json:"result"`
	}
	c.read(&a)
	if a.ID != waits || len(a.Result.Events) != 1 || a.Result.Events[0].Kind != "resize" {
		t.Errorf("the answer is %+v", a)
	}
}
