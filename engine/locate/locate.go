// Package locate (no stability promise) finds places on a screen by what a person would call them:
// the text "Commit" in the box titled Menu, the line that holds b.txt, the cell where that line
// crosses the column Size. Tests use it through tuitest.
//
// A [Locator] is made by [Parse] from words, or by the functions here. It is asked about a
// [vt.Screen], which should be a whole frame, and answers with places in reading order:
// [Locator.All], or [Locator.One] where only one will do.
//
// Text is matched as people see it: rows that wrapped are one line, hard line ends never join, a
// match never begins or ends within a character, and é matches however it was composed. Within a box
// or a rectangle rows are cut to it. A place is a set of cells.
package locate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ptywright/ptywright/engine/vt"
)

// A Place is what a locator found.
type Place struct {
	Text  string    // what stands there; rows joined by a line feed where they do not continue
	Spans []vt.Span // its cells, a span a row, in order; at least one
}

// Bounds returns the smallest rectangle that holds the place.
func (p Place) Bounds() vt.Rect {
	r := vt.Rect{Row: p.Spans[0].Row, Col: p.Spans[0].Col}
	right := 0
	for _, s := range p.Spans {
		r.Col, right = min(r.Col, s.Col), max(right, s.End)
	}
	r.Rows, r.Cols = p.Spans[len(p.Spans)-1].Row-r.Row+1, right-r.Col
	return r
}

// Center returns the cell in the middle of the place: of its middle row, the middle column.
func (p Place) Center() (row, col int) {
	s := p.Spans[(len(p.Spans)-1)/2]
	return s.Row, (s.Col + s.End - 1) / 2
}

// Has reports whether a cell belongs to the place.
func (p Place) Has(row, col int) bool {
	return slices.ContainsFunc(p.Spans, func(s vt.Span) bool {
		return s.Row == row && s.Col <= col && col < s.End
	})
}

// A Locator says which places of a screen are meant. It is immutable; the zero Locator finds
// nothing.
type Locator struct{ node }

// A node finds places within a rectangle of a screen.
type node interface {
	find(p *page) []Place
	words() string
	parts() []node
}

// A page is a rectangle of a screen in which a locator looks.
type page struct {
	screen *vt.Screen
	rect   vt.Rect
	left   *int // the steps that remain; see maxSteps
}

// maxSteps bounds the work of a question, in cells and places looked at: some 100 ms. Screens of
// ordinary size need a hundredth of it; boxes and operators on a screen that a hostile program has
// filled with corners would need millions of times more.
const maxSteps = 4 << 20

// step takes n steps and reports whether they were left.
func (p *page) step(n int) bool {
	*p.left -= n
	return *p.left > 0
}

func (p *page) in(r vt.Rect) *page { return &page{p.screen, r, p.left} }

// whole returns the page of a screen.
func whole(s *vt.Screen) *page {
	left := maxSteps
	return &page{s, vt.Rect{Rows: s.Rows, Cols: s.Cols}, &left}
}

// ErrTooMuch says that a screen offers more to look at than a question may take.
var ErrTooMuch = errors.New("the screen holds too many candidates: name a smaller place")

// All returns every place that the locator means, in reading order; boxes from the innermost. The
// error is [ErrTooMuch].
func (l Locator) All(s *vt.Screen) ([]Place, error) {
	if l.node == nil {
		return nil, nil
	}
	p := whole(s)
	found := l.find(p)
	if *p.left <= 0 {
		return nil, ErrTooMuch
	}
	return found, nil
}

// One returns the one place that the locator means. The error is a [*NotOneError] when there is
// none, or more than one; or [ErrTooMuch].
func (l Locator) One(s *vt.Screen) (Place, error) {
	found, err := l.All(s)
	if err != nil {
		return Place{}, err
	}
	if len(found) != 1 {
		return Place{}, &NotOneError{l, found, l.Explain(s)}
	}
	return found[0], nil
}

// String returns the locator in words, as [Parse] reads them.
func (l Locator) String() string {
	if l.node == nil {
		return ""
	}
	return l.words()
}

// A NotOneError says that a locator means no place, or several.
type NotOneError struct {
	Locator Locator
	Places  []Place // all that were found; none: nothing was
	Stages  []Stage
}

// maxNamed bounds the places that an error names.
const maxNamed = 5

// Error names the places, or the part of the locator that found nothing.
func (e *NotOneError) Error() string {
	if len(e.Places) == 0 {
		msg := "found nothing: " + e.Locator.String()
		for _, s := range e.Stages {
			if s.Count == 0 {
				if s.Locator != e.Locator.String() {
					msg += "; nothing is " + s.Locator
				}
				if s.Nearest != "" {
					msg += fmt.Sprintf(" (nearest: %q)", s.Nearest)
				}
				break
			}
		}
		return msg
	}
	var where []string
	for i, p := range e.Places {
		if i == maxNamed {
			where = append(where, fmt.Sprintf("and %d more", len(e.Places)-i))
			break
		}
		where = append(where, fmt.Sprintf("%d,%d %q", p.Spans[0].Row, p.Spans[0].Col, clip(p.Text)))
	}
	return fmt.Sprintf("found %d places for %s, expected one: %s", len(e.Places), e.Locator,
		strings.Join(where, ", "))
}

// A Stage says how many places a part of a locator finds on the whole screen.
type Stage struct {
	Locator string
	Count   int
	Nearest string // for a text that was not found: the line that comes closest; "" when none does
}

// Explain tells what each part of the locator finds on the whole screen, innermost parts first.
func (l Locator) Explain(s *vt.Screen) []Stage {
	var out []Stage
	var add func(n node)
	add = func(n node) {
		for _, part := range n.parts() {
			add(part)
		}
		p := whole(s)
		st := Stage{Locator: n.words(), Count: len(n.find(p))}
		if t, ok := n.(text); ok && st.Count == 0 {
			st.Nearest = t.nearest(p)
		}
		out = append(out, st)
	}
	if l.node != nil {
		add(l.node)
	}
	return out
}

// placeOf makes a place of the cells of a line, from byte start to end of its text.
func placeOf(p *page, l *vt.Line, start, end int) Place {
	return p.place(l.Spans(start, end))
}

// place makes a place of cells.
func (p *page) place(spans []vt.Span) Place {
	var b strings.Builder
	for i, s := range spans {
		var row []byte
		for _, l := range p.screen.LinesIn(vt.Rect{Row: s.Row, Col: s.Col, Rows: 1, Cols: s.End - s.Col}) {
			row = append(row, l.Text()...)
		}
		if i > 0 && !p.continues(spans[i-1], s) {
			b.WriteByte('\n')
		}
		b.Write(row)
	}
	lines := strings.Split(b.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return Place{strings.Join(lines, "\n"), spans}
}

// continues reports whether b goes on with the line of a.
func (p *page) continues(a, b vt.Span) bool {
	return b.Row == a.Row+1 && a.End == p.screen.Cols && b.Col == 0 && p.screen.Wrapped(a.Row)
}

// order sorts places by where they begin and removes those that are there twice.
func order(places []Place) []Place {
	slices.SortStableFunc(places, func(a, b Place) int {
		return cmp.Or(a.Spans[0].Row-b.Spans[0].Row, a.Spans[0].Col-b.Spans[0].Col,
			slices.CompareFunc(a.Spans, b.Spans, func(x, y vt.Span) int {
				return cmp.Or(x.Row-y.Row, x.Col-y.Col, x.End-y.End)
			}))
	})
	return slices.CompactFunc(places, func(a, b Place) bool { return slices.Equal(a.Spans, b.Spans) })
}

func clip(s string) string {
	if r := []rune(s); len(r) > 32 {
		return string(r[:32]) + "…"
	}
	return s
}
