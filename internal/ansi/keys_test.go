package ansi_test

import (
	"testing"

	"github.com/ptywright/ptywright/internal/ansi"
)

func TestKey(t *testing.T) {
	for in, want := range map[string]struct {
		n     int
		whole bool
	}{
		"\x1b[A":           {3, true},
		"\x1b[1;5Dmore":    {6, true},
		ansi.PasteBegin:    {6, true},
		"\x1b[<0;12;3":     {9, false},
		"\x1b[":            {2, false},
		"\x1b[1\r":         {3, false},
		"\x1b[1\x1b[A":     {3, false},
		"\x1b[é":           {2, false},
		"\x1b[1\x7f":       {3, false},
		"\x1b[27;5;9~\x1b": {9, true},
	} {
		if n, whole := ansi.Key([]byte(in)); n != want.n || whole != want.whole {
			t.Errorf("%q: %d, %v, want %d, %v", in, n, whole, want.n, want.whole)
		}
	}
}
