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
	// Seen is the screen, and the lines that scrolled off it during the wait or, with a position,
	// were written after it: what a person watching has seen. These lines are a separate text: no
	// expression spans both.
	Seen Scope = "seen"
	// OnScreen is the screen as it is.
	OnScreen Scope = "screen"
)

// A hit is where an expression matched: pairs of offsets for the whole and each group, as in
// package regexp.
type hit struct {
	place  *engine.Place
	groups []engine.Group
}

// A query is what a matcher looks for in a text: another text, or an expression.
type query interface {
	// source is the query as it was written.
	source() string
	// hits calls f with each match in text, in order, until f returns false. The error is
	// [engine.ErrInterrupted] when patience returned false.
	hits(text []byte, patience func() bool, f func(loc []int) bool) error
	// groups returns what a match has captured.
	groups(text []byte, loc []int) []engine.Group
	// answer is a matcher's result for a hit.
	answer(kind string, h *hit) engine.Result
	// spans reports whether a match may contain a line feed.
	spans() bool
	// ofScreen reports whether it needs the beginning or the end of the screen's text, which no
	// other text has.
	ofScreen() bool
	// grows reports whether more text may make a match longer.
	grows() bool
	// again returns where in a text without a match one may begin that ends in later text.
	again(read []byte) int
	// near says how close a text comes, and verb is the word for one with a match.
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

// A TextMatcher searches each screen once, and each line that leaves it once, for a query. [Text]
// and [Regexp] make one.
type TextMatcher struct {
	query
	kind   string
	scope  Scope
	screen *vt.Screen // the last one searched
	shown  *hit       // in it; nil: none
	left   *hit       // the first in the lines that left: what was seen stays seen
}

// In sets what m reads, by default [Seen], and returns m.
func (m *TextMatcher) In(scope Scope) *TextMatcher {
	m.scope = scope
	return m
}

// Check searches the screen, and then the lines that left it.
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

// read returns where a view matches; nil: nowhere. On [engine.ErrInterrupted] that is unknown.
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
	// A wait that continues after a match wants the next one, and the lines that left came first.
	if m.left != nil && (m.shown == nil || v.Since.Exact) {
		return m.left, nil
	}
	return m.shown, nil
}

// onScreen searches the screen. Without since the first match counts; after a position, the one
// that was written first: within one batch, the one read first.
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
		// Nothing that counts is older.
		return v.Since.Exact && !(v.Since.Within && first.Seq <= v.Since.Seq)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// mayHit reports whether finding the place of a match in text is worth the work.
func (m *TextMatcher) mayHit(text string) bool {
	c, ok := m.query.(contained)
	return !ok || strings.Contains(text, string(c))
}

// inLeft searches the lines that left the screen since the last call.
func (m *TextMatcher) inLeft(v *engine.View) error {
	if m.scope == OnScreen || m.left != nil || m.ofScreen() {
		return nil
	}
	p := v.Left(m.spans())
	if len(p.Fresh) == 0 {
		return nil
	}
	begin := 0
	if !m.spans() { // text before the first line that counts is irrelevant
		begin = bytes.LastIndexByte(p.Text[:p.Fresh[0].Start], '\n') + 1
	}
	return m.hits(p.Text[begin:], v.Patience, func(loc []int) bool {
		start, end := loc[0]+begin, loc[1]+begin
		if p.Tail < len(p.Text) && start >= p.Tail { // it is on the screen
			return false
		}
		// The rest of its line is still to come.
		if !touches(p.Fresh, start, end) || p.Open && m.grows() && end == len(p.Text) {
			return true
		}
		m.left = &hit{place: v.Scrolled(p, start, end), groups: m.groups(p.Text[begin:], loc)}
		return false
	})
}

// touches reports whether start to end overlaps one of the ranges, or for an empty span touches
// one.
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

// output searches each byte of output once for a query. What it has seen counts, even if no longer
// retained.
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

// look searches what came since the last call. After [engine.ErrInterrupted] it is searched again.
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

// title searches the terminal's title for a query.
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
