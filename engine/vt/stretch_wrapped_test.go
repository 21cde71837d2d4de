package vt

import (
	"strings"
	"testing"
)

// TestStretchesOfAWrappedRow: a row that continues in the next ends with the blanks that its line has
// there, on the screen and in the scrollback, but not with the column that a wide character left
// empty; a row that ends its line ends with its last character.
func TestStretchesOfAWrappedRow(t *testing.T) {
	t.Parallel()
	term := New(4, 6, Options{})
	term.Feed([]byte("abcde fgh  \r\nABCDE\xe4\xb8\x96FG\r\nlast  \r\n"))
	want := []string{"abcde ", "fgh", "ABCDE", "世FG", "last", ""}
	s := term.Snapshot()
	h := s.History()
	for i, want := range want {
		var b strings.Builder
		add := func(r Stretch) { b.WriteString(r.Text) }
		if i < h.Len() {
			h.EachStretch(i, add)
		} else {
			s.EachStretch(i-h.Len(), add)
		}
		if b.String() != want {
			t.Errorf("line %d is %q, not %q", i, b.String(), want)
		}
	}
	if h.Len() == 0 || h.Len() > 4 {
		t.Errorf("%d lines are in the scrollback: both kinds are to be looked at", h.Len())
	}
}
