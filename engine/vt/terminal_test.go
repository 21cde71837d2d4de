package vt

import "testing"

func TestPlainText(t *testing.T) {
	term := New(4, 10, Options{})
	e := term.Feed([]byte("hello\r\nworld, this is wrapped\r\n"))
	if !e.Dirty || e.Held || e.Reply != nil {
		t.Errorf("effect: %+v", e)
	}
	s := term.Snapshot()
	if got, want := s.Text(), "world, this is wrapped"; got != want {
		t.Errorf("text: %q, want %q", got, want)
	}
	if got := s.History().Line(0); got != "hello" {
		t.Errorf("history: %q", got)
	}
	if c := s.Cursor; c.Row != 3 || c.Col != 0 || !c.Visible {
		t.Errorf("cursor: %+v", c)
	}
}

// TestBrokenWrapIsDirty: erasing what the newest line of the scrollback continued in changes that
// line, also where nothing on the screen does.
func TestBrokenWrapIsDirty(t *testing.T) {
	term := New(1, 1, Options{})
	term.Feed([]byte("a日本")) // too wide: the row stays blank
	before := term.Snapshot()
	e := term.Feed([]byte("\x1b[J"))
	if d := diffScreens(before, term.Snapshot()); d == "" || !e.Dirty {
		t.Errorf("dirty %v, the difference is %q", e.Dirty, d)
	}
	if term.Feed([]byte("\x1b[J")).Dirty {
		t.Error("dirty again")
	}
}
