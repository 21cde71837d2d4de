package plugins

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/vt"
)

// TestPlaces: what the built-in library takes for selected, and for a field, how sure it is of it
// and why. Where it is not sure it says several, or nothing.
func TestPlaces(t *testing.T) {
	c := NewCatalog(nil, nil)
	for _, x := range []struct{ name, screen, locator, want string }{
		{"a background", "one\n\x1b[7mtwo\x1b[0m\nthree", "selected", `1,0+3 "two" 0.90`},
		{"a coloured line to its end", "one\n\x1b[44mtwo\x1b[K\x1b[0m\nthree", "selected", `1,0+3 "two" 0.90`},
		{"a marker", "  one\n❯ two\n  three", "selected", `1,0+5 "❯ two" 0.80`},
		{"a box that is ticked", "[ ] one\n[x] two\n[ ] three", "selected", `1,0+7 "[x] two" 0.80`},
		{"a colour", "one\n\x1b[36mtwo\x1b[0m\nthree", "selected", `1,0+3 "two" 0.50`},
		{"within a frame", "┌ A ─────┐\n│ one    │\n│ \x1b[7mtwo\x1b[0m    │\n│ three  │\n└────────┘\n\x1b[7m status \x1b[0m", "selected in box 'A'", `2,2+3 "two" 0.90`},
		{"two", "one\n\x1b[7mtwo\x1b[0m\n\x1b[7mthree\x1b[0m\nfour\nfive", "selected", `1,0+3 "two" 0.23; 2,0+5 "three" 0.23`},
		{"none", "one\ntwo\nthree", "selected", ``},
		{"a list of stars", "* one\n* two\n* three", "selected", ``},
		{"half and half", "\x1b[7mone\x1b[0m\ntwo", "selected", ``},
		{"a filled field", "Name: joe  Age: 7", "field 'Name:'", `0,6+3 "joe" 0.60`},
		{"an underlined field", "Name: \x1b[4mjoe     \x1b[0m", "field 'Name:'", `0,6+8 "joe" 0.90`},
		{"brackets", "Name [joe   ]", "field 'Name'", `0,6+6 "joe" 0.85`},
		{"underscores", "Name: ______ Age: __", "field 'Age:'", `0,18+2 "__" 0.85`},
		{"a blank one", "Name:\nAge: 7", "field 'Name:'", `0,6+14 "" 0.50`},
		{"no such label", "Name: joe", "field 'Age:'", ``},
	} {
		t.Run(x.name, func(t *testing.T) {
			l, err := locate.ParseWith(x.locator, locate.Options{Guesser: guesser{c}})
			if err != nil {
				t.Fatal(err)
			}
			term := vt.New(6, 20, vt.Options{})
			term.Feed([]byte(strings.ReplaceAll(x.screen, "\n", "\r\n")))
			found, guesses, err := l.Look(term.Snapshot())
			if err != nil || len(found) != len(guesses) {
				t.Fatalf("%v, %v, %v", found, guesses, err)
			}
			var got []string
			for i, p := range found {
				s := p.Spans[0]
				got = append(got, fmt.Sprintf("%d,%d+%d %q %.2f", s.Row, s.Col, s.End-s.Col, p.Text, guesses[i].Confidence))
				if guesses[i].Evidence == "" {
					t.Error("a guess says nothing")
				}
			}
			if s := strings.Join(got, "; "); s != x.want {
				t.Errorf("guessed %s, want %s: %v", s, x.want, guesses)
			}
		})
	}
}

type guesser struct{ *Catalog }

func (g guesser) Guess(plugin, predicate string, params any) (func(*vt.Screen, vt.Rect) ([]locate.Guess, error), error) {
	return g.Catalog.Guess(context.Background(), plugin, predicate, params)
}
