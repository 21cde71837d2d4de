package locate

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/ptywright/ptywright/engine/vt"
)

// Lines finds the whole lines that hold a place of l, without the blanks at their ends.
func Lines(l Locator) Locator { return Locator{lines{l.node}} }

type lines struct{ of node }

func (l lines) parts() []node { return []node{l.of} }
func (l lines) words() string { return "lines " + inner(l.of) }

func (l lines) find(p *page) []Place {
	found := l.of.find(p)
	var out []Place
	for _, line := range p.screen.LinesIn(p.rect) {
		first, last := line.Rows()
		holds := slices.ContainsFunc(found, func(x Place) bool {
			return slices.ContainsFunc(x.Spans, func(s vt.Span) bool { return s.Row >= first && s.Row <= last })
		})
		if text := line.Text(); holds {
			start := len(text) - len(strings.TrimLeft(text, " "))
			if end := len(strings.TrimRight(text, " ")); start < end {
				out = append(out, placeOf(p, &line, start, end))
			}
		}
	}
	return out
}

// In finds the places of l within those of outer: what outer means is searched as if it were the
// screen, its rows cut to it.
func In(l, outer Locator) Locator { return Locator{in{l.node, outer.node}} }

type in struct{ what, where node }

func (i in) parts() []node { return []node{i.where, i.what} }
func (i in) words() string { return inner(i.what) + " in " + inner(i.where) }

func (i in) find(p *page) []Place {
	var out []Place
	seen := map[string]bool{}
	var key []byte
	for _, where := range i.where.find(p) {
		if !p.step(1) {
			return nil
		}
		for _, x := range i.what.find(p.in(where.Bounds())) {
			key = key[:0]
			for _, s := range x.Spans {
				key = binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(key, int64(s.Row)), int64(s.Col)), int64(s.End))
			}
			if !seen[string(key)] {
				seen[string(key)] = true
				out = append(out, x)
			}
		}
	}
	return out
}

// A Side is where a place is beside another.
type Side string

const (
	RightOf Side = "right_of" // in the same rows, further right
	LeftOf  Side = "left_of"
	Above   Side = "above" // in the same columns, further up
	Below   Side = "below"
)

// Beside finds the places of l on one side of a place of other, at most within cells away; 0: at any
// distance. On the screen both have a row, or a column, in common.
func Beside(l Locator, side Side, other Locator, within int) Locator {
	return Locator{beside{l.node, other.node, side, within}}
}

type beside struct {
	what, other node
	side        Side
	within      int
}

func (b beside) parts() []node { return []node{b.other, b.what} }

func (b beside) words() string {
	s := fmt.Sprintf("%s %s %s", inner(b.what), b.side, inner(b.other))
	if b.within > 0 {
		s += fmt.Sprintf(" within %d", b.within)
	}
	return s
}

func (b beside) find(p *page) []Place {
	others := b.other.find(p)
	var out []Place
	for _, x := range b.what.find(p) {
		if !p.step(len(others)) {
			return nil
		}
		if slices.ContainsFunc(others, func(o Place) bool { return b.is(x.Bounds(), o.Bounds()) }) {
			out = append(out, x)
		}
	}
	return out
}

func (b beside) is(x, o vt.Rect) bool {
	rows := x.Row < o.Row+o.Rows && o.Row < x.Row+x.Rows
	cols := x.Col < o.Col+o.Cols && o.Col < x.Col+x.Cols
	var apart int
	var common bool
	switch b.side {
	case RightOf:
		apart, common = x.Col-(o.Col+o.Cols), rows
	case LeftOf:
		apart, common = o.Col-(x.Col+x.Cols), rows
	case Above:
		apart, common = o.Row-(x.Row+x.Rows), cols
	default:
		apart, common = x.Row-(o.Row+o.Rows), cols
	}
	return common && apart >= 0 && (b.within == 0 || apart < b.within)
}

// Has finds the places of l that hold a place of other; Lacks those that hold none.
func Has(l, other Locator) Locator   { return Locator{has{l.node, other.node, true}} }
func Lacks(l, other Locator) Locator { return Locator{has{l.node, other.node, false}} }

type has struct {
	what, other node
	does        bool
}

func (h has) parts() []node { return []node{h.what, h.other} }

func (h has) words() string {
	word := " has "
	if !h.does {
		word = " lacks "
	}
	return inner(h.what) + word + inner(h.other)
}

func (h has) find(p *page) []Place {
	var out []Place
	for _, x := range h.what.find(p) {
		if !p.step(1) {
			return nil
		}
		if len(h.other.find(p.in(x.Bounds()))) > 0 == h.does {
			out = append(out, x)
		}
	}
	return out
}

// Pick finds one of the places of l: number n from 0 or, negative, from the end: -1 is the last.
func Pick(l Locator, n int) Locator { return Locator{pick{l.node, n}} }

type pick struct {
	what node
	n    int
}

func (k pick) parts() []node { return []node{k.what} }

func (k pick) words() string {
	switch k.n {
	case 0:
		return "first " + inner(k.what)
	case -1:
		return "last " + inner(k.what)
	}
	return fmt.Sprintf("nth %d %s", k.n, inner(k.what))
}

func (k pick) find(p *page) []Place {
	found := k.what.find(p)
	n := k.n
	if n < 0 {
		n += len(found)
	}
	if n < 0 || n >= len(found) {
		return nil
	}
	return found[n : n+1]
}

// Any finds the places of each of ls, in reading order.
func Any(ls ...Locator) Locator { return Locator{anyOf(nodes(ls))} }

type anyOf []node

func (a anyOf) parts() []node { return a }
func (a anyOf) words() string { return join(a, " or ") }

func (a anyOf) find(p *page) []Place {
	var out []Place
	for _, n := range a {
		out = append(out, n.find(p)...)
	}
	return order(out)
}

// All finds the cells that belong to places of each of ls: a text that has a style.
func All(ls ...Locator) Locator { return Locator{allOf(nodes(ls))} }

type allOf []node

func (a allOf) parts() []node { return a }
func (a allOf) words() string { return join(a, " and ") }

func (a allOf) find(p *page) []Place {
	if len(a) == 0 {
		return nil
	}
	found := a[0].find(p)
	for _, n := range a[1:] {
		var both []Place
		others := n.find(p)
		for _, x := range found {
			for _, y := range others {
				if !p.step(1) {
					return nil
				}
				if spans := overlap(x.Spans, y.Spans); len(spans) > 0 {
					both = append(both, p.place(spans))
				}
			}
		}
		found = both
	}
	return order(found)
}

// overlap returns the cells that two places share.
func overlap(a, b []vt.Span) []vt.Span {
	var out []vt.Span
	for _, x := range a {
		for _, y := range b {
			if from, to := max(x.Col, y.Col), min(x.End, y.End); x.Row == y.Row && from < to {
				out = append(out, vt.Span{Row: x.Row, Col: from, End: to})
			}
		}
	}
	return out
}

// Cross finds the cell of a table: what stands in the rows of a place of row, at the columns of a
// place of col. It is the text there up to two blanks or a line on each side, which may be wider
// than its heading; the heading's own columns where nothing stands.
func Cross(row, col Locator) Locator { return Locator{cross{row.node, col.node}} }

type cross struct{ row, col node }

func (c cross) parts() []node { return []node{c.row, c.col} }
func (c cross) words() string { return "cross " + inner(c.row) + " " + inner(c.col) }

func (c cross) find(p *page) []Place {
	cols := c.col.find(p)
	var out []Place
	for _, r := range c.row.find(p) {
		for _, k := range cols {
			rows, band := r.Bounds(), k.Bounds()
			var spans []vt.Span
			for y := rows.Row; y < rows.Row+rows.Rows; y++ {
				if !p.step(4 * p.rect.Cols) { // its text is made, too
					return nil
				}
				from, to := p.widen(y, band.Col, band.Col+band.Cols)
				spans = append(spans, vt.Span{Row: y, Col: from, End: to})
			}
			out = append(out, p.place(spans))
		}
	}
	return order(out)
}

// widen returns the columns of what stands in row y at columns from to to-1.
func (p *page) widen(y, from, to int) (int, int) {
	blank := func(x int) bool {
		if x < p.rect.Col || x >= p.rect.Col+p.rect.Cols {
			return true
		}
		c := p.screen.Cell(y, x)
		return !c.Continuation && strings.TrimSpace(c.Text) == ""
	}
	lines := joins()
	line := func(x int) bool {
		c := p.screen.Cell(y, x).Text
		return lines[c]&(up|down) == up|down && c != "+"
	}
	first, last := -1, -1
	for x := from; x < to; x++ {
		if !blank(x) && !line(x) {
			if first < 0 {
				first = x
			}
			last = x
		}
	}
	if first < 0 {
		return from, to
	}
	for first > p.rect.Col && !line(first-1) && (!blank(first-1) || !blank(first-2) && !line(first-2)) {
		first--
	}
	for last+1 < p.rect.Col+p.rect.Cols && !line(last+1) && (!blank(last+1) || !blank(last+2) && !line(last+2)) {
		last++
	}
	for blank(first) {
		first++
	}
	for blank(last) {
		last--
	}
	return first, last + 1
}

func nodes(ls []Locator) []node {
	var out []node
	for _, l := range ls {
		if l.node != nil {
			out = append(out, l.node)
		}
	}
	return out
}

// inner writes a part of a locator, in parentheses when it has parts itself.
func inner(n node) string {
	if len(n.parts()) > 0 {
		return "(" + n.words() + ")"
	}
	return n.words()
}

func join(all []node, with string) string {
	var s []string
	for _, n := range all {
		s = append(s, inner(n))
	}
	return strings.Join(s, with)
}
