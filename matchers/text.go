package matchers

import (
	"bytes"
	"strings"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// A Scope is what a matcher of the screen's text reads.
type Scope string

const (
	// Seen is the screen, and the lines that left it upwards while the wait lasted or, with a position, were written after it: what a
	// person who watched has seen. These are a text of their own: no expression spans both.
	Seen Scope = "seen"
	// OnScreen is the screen as it is.
	OnScreen Scope = "screen"
)

// A hit is where an expression matched: pairs of offsets for the whole and each group, as package regexp has them.
type hit struct {
	place  *engine.Place
	groups []engine.Group
}

// A query is what is looked for in a text: another text, or an expression.
type query interface {
	// source is what was asked for, as it was written.
	source() string
	// hits calls f with each match in text, in order, until f returns false. The error is [engine.ErrInterrupted]:
	// patience has run out.
	hits(text []byte, patience func() bool, f func(loc []int) bool) error
	// groups returns what a match has captured.
	groups(text []byte, loc []int) []engine.Group
	// answer is a matcher's to a hit.
	answer(kind string, h *hit) engine.Result
	// spans reports whether a match may hold a line feed.
	spans() bool
	// ofScreen reports whether it asks for the beginning or the end of the screen's text, which no other text has.
	ofScreen() bool
	// grows reports whether more text may make a match longer.
	grows() bool
	// again returns where in a text, which has no match, one may begin that ends in text to come.
	again(read []byte) int
	// near tells how near a text comes, and verb what is said of one that has a match.
	near(text, where string) (why, nearest string)
	verb() string
}

// find returns the first match in text.
func find(q query, text []byte, patience func() bool) (h *hit, err error) {
	err = q.hits(text, patience, func(loc []int) bool {
		h = &hit{groups: q.groups(text, loc)}
		return false
	})
	return h, err
}

// A TextMatcher has a query read each screen once, and each line that leaves it once. [Text] and [Regexp] make one.
type TextMatcher struct {
	query
	kind   string
	scope  Scope
	screen *vt.Screen // the last one that was read
	shown  *hit       // in it; nil: none
	left   *hit       // the first in what left: what was seen stays seen
}

// In sets what m reads, which is [Seen] otherwise, and returns m.
func (m *TextMatcher) In(scope Scope) *TextMatcher {
	m.scope = scope
	return m
}

// Check reads the screen, and then what left it.
func (m *TextMatcher) Check(v *engine.View) engine.Result {
	if m.query == contained("") {
		return engine.Matched(m.kind)
	}
	found, err := m.read(v)
	if found == nil {
		return engine.Result{Err: err}
	}
	return m.answer(m.kind, found)
}

// read returns where a view matches; nil: nowhere. The error is [engine.ErrInterrupted]: it is not known.
func (m *TextMatcher) read(v *engine.View) (*hit, error) {
	if m.screen != v.Screen {
		shown, err := m.onScreen(v, v.Patience)
		if err != nil {
			return nil, err
		}
		if err := m.inLeft(v); err != nil {
			return nil, err
		}
		m.screen, m.shown = v.Screen, shown
	}
	// Whoever goes on from a match wants the next one, and what left stood further up.
	if m.left != nil && (m.shown == nil || v.Since.Exact) {
		return m.left, nil
	}
	return m.shown, nil
}

// onScreen searches the screen. Without since the first match counts; from a position on, the one that was written first: of one
// batch, what is read first.
func (m *TextMatcher) onScreen(v *engine.View, patience func() bool) (found *hit, err error) {
	if !v.Since.Set && !m.mayHit(v.Screen.Text()) {
		return nil, nil
	}
	p := v.Shown()
	var first vt.Point
	err = m.hits(p.Text, patience, func(loc []int) bool {
		if !touches(p.Fresh, loc[0], loc[1]) && v.Since.Set {
			return true
		}
		if at := v.Screen.Behind(&p, loc[0], loc[1]); found == nil || at.Before(first) {
			first, found = at, &hit{place: v.On(&p, loc[0], loc[1]), groups: m.groups(p.Text, loc)}
		}
		return v.Since.Exact && !(v.Since.Within && first.Seq <= v.Since.Seq) // nothing that counts is older
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// mayHit is whether it is worth to look where in a text something stands.
func (m *TextMatcher) mayHit(text string) bool {
	c, ok := m.query.(contained)
	return !ok || strings.Contains(text, string(c))
}

// inLeft searches what has left the screen since it was last asked.
func (m *TextMatcher) inLeft(v *engine.View) error {
	if m.scope == OnScreen || m.left != nil || m.ofScreen() {
		return nil
	}
	p := v.Left(m.spans())
	if len(p.Fresh) == 0 {
		return nil
	}
	begin := 0
	if !m.spans() { // what is before the first line that counts is of no use
		begin = bytes.LastIndexByte(p.Text[:p.Fresh[0].Start], '\n') + 1
	}
	return m.hits(p.Text[begin:], v.Patience, func(loc []int) bool {
		start, end := loc[0]+begin, loc[1]+begin
		if p.Tail < len(p.Text) && start >= p.Tail { // it is on the screen
			return false
		}
		if !touches(p.Fresh, start, end) || p.Open && m.grows() && end == len(p.Text) { // the rest of its line is to come
			return true
		}
		m.left = &hit{place: v.Scrolled(p, start, end), groups: m.groups(p.Text[begin:], loc)}
		return false
	})
}

// touches reports whether something of start to end lies in one of the ranges, or beside it when there is nothing
// between start and end.
func touches(fresh []vt.Range, start, end int) bool {
	for _, r := range fresh {
		if start < r.End && r.Start < end || start == end && r.Start <= start && start <= r.End {
			return true
		}
	}
	return false
}

// contained is the query for a text.
type contained string

func (c contained) hits(text []byte, patience func() bool, f func(loc []int) bool) error {
	for from := 0; from <= len(text); {
		i := bytes.Index(text[from:], []byte(c))
		switch {
		case i < 0 || !f([]int{from + i, from + i + len(c)}):
			return nil
		case !patience():
			return engine.ErrInterrupted
		}
		from += i + 1
	}
	return nil
}

func (c contained) answer(kind string, h *hit) engine.Result {
	return matched(engine.Match{Kind: kind, Text: string(c), Place: h.place})
}

func (c contained) near(text, where string) (why, nearest string) {
	return missing(string(c), text, where)
}
func (c contained) again(read []byte) int               { return max(0, len(read)-len(c)) }
func (c contained) source() string                      { return string(c) }
func (c contained) verb() string                        { return "has it" }
func (c contained) groups([]byte, []int) []engine.Group { return nil }
func (c contained) spans() bool                         { return strings.Contains(string(c), "\n") }
func (c contained) ofScreen() bool                      { return false }
func (c contained) grows() bool                         { return false }

// output has a query look at each byte of output once. What it has seen counts, also when it has left the bound.
type output struct {
	query
	kind    string
	scanned engine.Offset
	found   *hit
}

func (m *output) Check(v *engine.View) engine.Result {
	found, err := m.look(v, v.Patience)
	if found == nil {
		return engine.Result{Err: err}
	}
	return m.answer(m.kind, found)
}

// look searches what came since the last look. The error is [engine.ErrInterrupted]: then it is searched again.
func (m *output) look(v *engine.View, patience func() bool) (*hit, error) {
	text, from := v.Output()
	end := from + engine.Offset(len(text))
	if m.found != nil || end == m.scanned && end > 0 {
		return m.found, nil
	}
	if m.scanned > from {
		text = text[m.again(text[:m.scanned-from]):]
	}
	err := m.hits(text, patience, func(loc []int) bool {
		at := v.InOutput(string(text[loc[0]:loc[1]]), end-engine.Offset(len(text)-loc[1]))
		m.found = &hit{place: at, groups: m.groups(text, loc)}
		return false
	})
	if err == nil {
		m.scanned = end
	}
	return m.found, err
}

// title has a query look at the terminal's title.
type title struct {
	query
	kind string
}

func (m *title) Check(v *engine.View) engine.Result {
	found, err := find(m.query, []byte(v.Screen.Title), v.Patience)
	if found == nil {
		return engine.Result{Err: err}
	}
	return m.answer(m.kind, found)
}
