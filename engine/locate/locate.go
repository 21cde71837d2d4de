// Package locate (no stability promise) finds places on a screen by what a person would call them:
// the text "Commit" in the box titled Menu, the line that holds b.txt, the cell where that line
// crosses the column Size. Tests use it through tuitest, clients through session.locate, the matcher
// located and the action click.
//
// A [Locator] is made by [Parse] from words, by [Decode] from a tree as JSON gives it, or by the
// functions here. It is asked about a [vt.Screen], which should be a whole frame, and answers with
// places in reading order: [Locator.All], or [Locator.One] where only one will do.
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

// Changed returns the newest sequence at which a row of the place was written.
func (p Place) Changed(s *vt.Screen) uint64 {
	newest := uint64(0)
	for _, x := range p.Spans {
		newest = max(newest, s.Changed(x.Row))
	}
	return newest
}

// On returns the place with the text that another screen of the same size has in its cells, such as
// one whose secrets are hidden.
func (p Place) On(s *vt.Screen) Place { return whole(s).place(p.Spans) }

// A Locator says which places of a screen are meant. It is immutable; the zero Locator finds
// nothing.
type Locator struct{ node }

// IsZero reports whether l is the zero Locator.
func (l Locator) IsZero() bool { return l.node == nil }

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
	*question
}

// A question is the work of one look at a screen.
type question struct {
	left    int // the steps that remain; see maxSteps
	guesses []Guessed
	err     error // of a guess
}

// maxSteps bounds the work of a question, in cells and places looked at: some 25 ms. Screens of
// ordinary size need a fiftieth of it; boxes and operators on a screen that a hostile program has
// filled with corners would need millions of times more.
const maxSteps = 1 << 20

// step takes n steps and reports whether they were left.
func (q *question) step(n int) bool {
	q.left -= n
	return q.left > 0
}

func (p *page) in(r vt.Rect) *page { return &page{p.screen, r, p.question} }

// whole returns the page of a screen.
func whole(s *vt.Screen) *page {
	return &page{s, vt.Rect{Rows: s.Rows, Cols: s.Cols}, &question{left: maxSteps}}
}

// ErrTooMuch says that a screen offers more to look at than a question may take.
var ErrTooMuch = errors.New("the screen holds too many candidates: name a smaller place")

// All returns every place that the locator means, in reading order; boxes from the innermost. The
// error is [ErrTooMuch], or that of a [Guesser].
func (l Locator) All(s *vt.Screen) ([]Place, error) {
	found, _, err := l.Look(s)
	return found, err
}

// Look is All, and returns also what plugins have guessed for it.
func (l Locator) Look(s *vt.Screen) ([]Place, []Guessed, error) {
	if l.node == nil {
		return nil, nil, nil
	}
	p := whole(s)
	found := l.find(p)
	switch {
	case p.err != nil:
		return nil, nil, p.err
	case p.left <= 0:
		return nil, nil, ErrTooMuch
	}
	return found, p.guesses, nil
}

// One returns the one place that the locator means. The error is a [*NotOneError] when there is
// none, or more than one; or [ErrTooMuch].
func (l Locator) One(s *vt.Screen) (Place, error) { return l.OneShown(s, s) }

// OneShown is One whose error quotes another screen of the same size, such as one whose secrets are
// hidden. The place is that of s.
func (l Locator) OneShown(s, shown *vt.Screen) (Place, error) {
	found, err := l.All(s)
	switch {
	case err != nil:
		return Place{}, err
	case len(found) == 1:
		return found[0], nil
	}
	for i, p := range found {
		if i == MaxPlaces {
			break
		}
		found[i] = p.On(shown)
	}
	e := &NotOneError{Locator: l, Count: len(found), Places: found[:min(len(found), MaxPlaces)]}
	if len(found) == 0 {
		e.Stages = l.explain(s, shown)
	}
	return Place{}, e
}

// MaxPlaces bounds the places that an error has: nobody reads more.
const MaxPlaces = 100

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
	Count   int     // how many were found
	Places  []Place // the first [MaxPlaces] of them
	Stages  []Stage // when nothing was found: what each part found
}

// maxNamed bounds the places that an error names.
const maxNamed = 5

// Error names the places, or the part of the locator that found nothing.
func (e *NotOneError) Error() string {
	if e.Count == 0 {
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
	return fmt.Sprintf("found %d places for %s, expected one: %s", e.Count, e.Locator,
		Told(e.Places, e.Count))
}

// Nearest returns the line that comes closest to the first text that was not found; "" when there
// is none.
func (e *NotOneError) Nearest() string {
	for _, s := range e.Stages {
		if s.Count == 0 && s.Nearest != "" {
			return s.Nearest
		}
	}
	return ""
}

// Told names the first places for people: where each is, and its text. count is how many there are.
func Told(places []Place, count int) string {
	var where []string
	for i, p := range places {
		if i == maxNamed {
			where = append(where, fmt.Sprintf("and %d more", count-i))
			break
		}
		where = append(where, fmt.Sprintf("%d,%d %q", p.Spans[0].Row, p.Spans[0].Col, clip(p.Text)))
	}
	return strings.Join(where, ", ")
}

// A Stage says how many places a part of a locator finds on the whole screen.
type Stage struct {
	Locator string
	Count   int
	Nearest string // for a text that was not found: the line that comes closest; "" when none does
}

// Explain tells what each part of the locator finds on the whole screen, innermost parts first.
func (l Locator) Explain(s *vt.Screen) []Stage { return l.explain(s, s) }

// explain is Explain that quotes shown. All parts share the work of one question.
func (l Locator) explain(s, shown *vt.Screen) []Stage {
	var out []Stage
	p := whole(s)
	var add func(n node)
	add = func(n node) {
		for _, part := range n.parts() {
			add(part)
		}
		if p.left <= 0 {
			return
		}
		st := Stage{Locator: n.words(), Count: len(n.find(p))}
		if t, ok := n.(text); ok && st.Count == 0 {
			st.Nearest = t.nearest(&page{shown, p.rect, p.question})
		}
		out = append(out, st)
	}
	if l.node != nil {
		add(l.node)
	}
	return out
}

// maxAbove bounds the lines that LeftScreen reads: what a person would scroll back for.
const maxAbove = 2000

// LeftScreen returns the newest line above the screen that holds the text that the locator means,
// which a place on the screen would have to show: its absolute number. ok is false when there is
// none, on the alternate screen, and for a locator whose places are no texts.
func (l Locator) LeftScreen(s *vt.Screen) (line uint64, ok bool) {
	if l.node == nil || s.Modes.AltScreen {
		return 0, false
	}
	var holds func(string) bool
	switch n := target(l.node).(type) {
	case text:
		want := n.fold(n.want)
		holds = func(line string) bool {
			line = n.fold(line)
			return strings.Contains(line, want) && (!n.Exact || strings.TrimSpace(line) == want)
		}
	case expression:
		holds = n.re.MatchString
	default:
		return 0, false
	}
	h := s.History()
	for i := h.Len() - 1; i >= max(0, h.Len()-maxAbove); i-- {
		if holds(h.Line(i)) {
			return h.Dropped() + uint64(i), true
		}
	}
	return 0, false
}

// target returns the leaf whose places a locator narrows down; nil when there is none.
func target(n node) node {
	switch n := n.(type) {
	case in:
		return target(n.what)
	case beside:
		return target(n.what)
	case has:
		return target(n.what)
	case pick:
		return target(n.what)
	case lines:
		return target(n.of)
	}
	return n
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
	return slices.CompactFunc(places, Place.Same)
}

// Same reports whether two places are the same cells.
func (p Place) Same(other Place) bool { return slices.Equal(p.Spans, other.Spans) }

func clip(s string) string {
	if r := []rune(s); len(r) > 32 {
		return string(r[:32]) + "…"
	}
	return s
}
