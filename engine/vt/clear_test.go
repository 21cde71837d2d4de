package vt

import (
	"slices"
	"testing"
)

func TestClearKeepsTheCursorsRow(t *testing.T) {
	term := New(4, 10, Options{Scrollback: 50})
	term.Feed([]byte("1\r\n2\r\n3\r\n4\r\n5\r\n\x1b[31msix\x1b[44m\r\nseven\x1b[A\r\x1b[2C"))
	before := term.Snapshot()
	term.Clear()
	after := term.Snapshot()
	if got, want := after.Lines(), []string{"six", "", "", ""}; !slices.Equal(got, want) {
		t.Errorf("rows are %q, want %q", got, want)
	}
	if c := after.Cursor; c.Row != 0 || c.Col != 2 {
		t.Errorf("the cursor is at %d,%d, want 0,2", c.Row, c.Col)
	}
	if n := after.History().Len(); n != 0 {
		t.Errorf("%d lines of scrollback are left", n)
	}
	if s := after.Cell(2, 3).Style; s != (Style{}) {
		t.Errorf("a blank row has the style %+v of the pen", s)
	}
	if got, want := before.Lines(), []string{"4", "5", "six", "seven"}; !slices.Equal(got, want) {
		t.Errorf("a snapshot taken before has become %q, want %q", got, want)
	}
	if s := verify(term); s != "" {
		t.Error(s)
	}
	term.Feed([]byte("x"))
	if got := term.Snapshot().Cell(0, 2); got.Text != "x" || got.Style.Background.IsDefault() {
		t.Errorf("what is printed next is %+v, want x with the pen as it was", got)
	}
}

func TestClearOnTheAlternateScreen(t *testing.T) {
	term := New(3, 10, Options{Scrollback: 50})
	term.Feed([]byte("1\r\n2\r\n3\r\n4\x1b[?1049h\x1b[Ha\r\nb\r\nc"))
	term.Clear()
	if got, want := term.Snapshot().Lines(), []string{"c", "", ""}; !slices.Equal(got, want) {
		t.Errorf("rows are %q, want %q", got, want)
	}
	term.Feed([]byte("\x1b[?1049l"))
	s := term.Snapshot()
	if got, want := s.Lines(), []string{"2", "3", "4"}; !slices.Equal(got, want) || s.History().Len() != 1 {
		t.Errorf("the main screen is %q with %d lines above, want %q and 1", got, s.History().Len(), want)
	}
}

// FuzzClear: after any input, clearing keeps the invariants, the cursor's row and the snapshots
// taken before.
func FuzzClear(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte, cut uint16, rows, cols uint8) {
		if len(data) > 4096 {
			return
		}
		term := New(int(rows%60), int(cols%200), Options{Scrollback: 50})
		n := min(int(cut), len(data))
		term.Feed(data[:n])
		term.Release()
		before := term.Snapshot()
		text, line := show(before), before.Lines()[before.Cursor.Row]
		term.Clear()
		if s := verify(term); s != "" {
			t.Fatal(s)
		}
		after := term.Snapshot()
		if got := after.Lines(); got[0] != line || after.Cursor.Row != 0 || after.Cursor.Col != before.Cursor.Col {
			t.Errorf("the first row is %q with the cursor at %+v, want %q and %+v", got[0], after.Cursor, line, before.Cursor)
		}
		for y, l := range after.Lines()[1:] {
			if l != "" {
				t.Errorf("row %d is %q", y+1, l)
			}
		}
		if show(before) != text {
			t.Error("a snapshot taken before has changed")
		}
		term.Feed(data[n:])
		if s := verify(term); s != "" {
			t.Error(s)
		}
	})
}
