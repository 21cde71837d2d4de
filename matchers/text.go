package matchers

import (
	"bytes"
	"strings"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// A Scope is what a text matcher reads.
type Scope string

const (
	// Seen is the screen, and the lines that left it upwards while the wait lasted or, with since, were written after it: what a
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

// A query is what a text matcher looks for.
type query interface {
	// hits calls f with each match in text, in order, until f returns false. The error is [engine.ErrInterrupted]:
	// patience has run out.
	hits(text []byte, patience func() bool, f func(loc []int) bool) error
	// groups returns what a match has captured.
	groups(text []byte, loc []int) []engine.Group
	// spans reports whether a match may hold a line feed.
	spans() bool
	// ofScreen reports whether it asks for the beginning or the end of the screen's text, which no other text has.
	ofScreen() bool
	// grows reports whether more text may make a match longer.
	grows() bool
}

// A reader has a query read each screen once, and each line that leaves it once.
type reader struct {
	query
	scope  Scope
	screen *vt.Screen // the last one that was read
	shown  *hit       // in it; nil: none
	left   *hit       // the first in what left: what was seen stays seen
}

// read returns where a view matches; nil: nowhere. The error is [engine.ErrInterrupted]: it is not known.
func (r *reader) read(v *engine.View) (*hit, error) {
	if r.screen != v.Screen {
		shown, err := r.onScreen(v, v.Patience)
		if err != nil {
			return nil, err
		}
		if err := r.inLeft(v); err != nil {
			return nil, err
		}
		r.screen, r.shown = v.Screen, shown
	}
	// Whoever goes on from a match wants the next one, and what left stood further up.
	if r.left != nil && (r.shown == nil || v.Since.Exact) {
		return r.left, nil
	}
	return r.shown, nil
}

// onScreen searches the screen. Without since the first match counts; from a position on, the one that was written first: of one
// batch, what is read first.
func (r *reader) onScreen(v *engine.View, patience func() bool) (found *hit, err error) {
	if !v.Since.Set && !r.mayHit(v.Screen.Text()) {
		return nil, nil
	}
	p := v.Shown()
	var first vt.Point
	err = r.hits(p.Text, patience, func(loc []int) bool {
		if !touches(p.Fresh, loc[0], loc[1]) && v.Since.Set {
			return true
		}
		if at := v.Screen.Behind(&p, loc[0], loc[1]); found == nil || at.Before(first) {
			first, found = at, &hit{place: v.On(&p, loc[0], loc[1]), groups: r.groups(p.Text, loc)}
		}
		return v.Since.Exact && !(v.Since.Within && first.Seq <= v.Since.Seq) // nothing that counts is older
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// mayHit is whether it is worth to look where in a text something stands.
func (r *reader) mayHit(text string) bool {
	c, ok := r.query.(contained)
	return !ok || strings.Contains(text, string(c))
}

// inLeft searches what has left the screen since it was last asked.
func (r *reader) inLeft(v *engine.View) error {
	if r.scope == OnScreen || r.left != nil || r.ofScreen() {
		return nil
	}
	p := v.Left(r.spans())
	if len(p.Fresh) == 0 {
		return nil
	}
	begin := 0
	if !r.spans() { // what is before the first line that counts is of no use
		begin = bytes.LastIndexByte(p.Text[:p.Fresh[0].Start], '\n') + 1
	}
	return r.hits(p.Text[begin:], v.Patience, func(loc []int) bool {
		start, end := loc[0]+begin, loc[1]+begin
		if p.Tail < len(p.Text) && start >= p.Tail { // it is on the screen
			return false
		}
		if !touches(p.Fresh, start, end) || p.Open && r.grows() && end == len(p.Text) { // the rest of its line is to come
			return true
		}
		r.left = &hit{place: v.Scrolled(p, start, end), groups: r.groups(p.Text[begin:], loc)}
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

func (c contained) groups([]byte, []int) []engine.Group { return nil }
func (c contained) spans() bool                         { return strings.Contains(string(c), "\n") }
func (c contained) ofScreen() bool                      { return false }
func (c contained) grows() bool                         { return false }

type containsText struct {
	reader
	value string
}

func newContainsText(value string, scope Scope) *containsText {
	return &containsText{reader{query: contained(value), scope: scope}, value}
}

func (m *containsText) Check(v *engine.View) engine.Result {
	if m.value == "" {
		return matched(engine.Match{Kind: "contains_text"})
	}
	found, err := m.read(v)
	if found == nil {
		return engine.Result{Err: err}
	}
	return matched(engine.Match{Kind: "contains_text", Text: m.value, Place: found.place})
}

type screenRegex struct {
	reader
	re *expression
}

func newScreenRegex(re *expression, scope Scope) *screenRegex {
	return &screenRegex{reader{query: re, scope: scope}, re}
}

func (m *screenRegex) Check(v *engine.View) engine.Result {
	found, err := m.read(v)
	if found == nil {
		return engine.Result{Err: err}
	}
	return m.re.match("screen_regex", found)
}

// transcriptContains looks at each byte of output once. What it has seen counts, also when it has left the bound.
type transcriptContains struct {
	value   string
	scanned engine.Offset
	found   *engine.Place
}

func (m *transcriptContains) Check(v *engine.View) engine.Result {
	if m.found == nil {
		text, from := v.Output()
		end := from + engine.Offset(len(text))
		if back := engine.Offset(len(m.value)); m.scanned > from+back {
			text = text[m.scanned-back-from:]
		}
		if i := bytes.Index(text, []byte(m.value)); i >= 0 {
			m.found = v.InOutput(m.value, end-engine.Offset(len(text)-i-len(m.value)))
		}
		m.scanned = end
	}
	if m.found == nil {
		return engine.Result{}
	}
	return matched(engine.Match{Kind: "transcript_contains", Text: m.value, Place: m.found})
}

type transcriptRegex struct {
	re      *expression
	scanned engine.Offset
	found   *hit
}

func (m *transcriptRegex) Check(v *engine.View) engine.Result {
	found, err := m.look(v, v.Patience)
	if found == nil {
		return engine.Result{Err: err}
	}
	return m.re.match("transcript_regex", found)
}

// look searches what came since the last look. The error is [engine.ErrInterrupted]: then it is searched again.
func (m *transcriptRegex) look(v *engine.View, patience func() bool) (*hit, error) {
	text, from := v.Output()
	end := from + engine.Offset(len(text))
	if m.found != nil || end == m.scanned && end > 0 {
		return m.found, nil
	}
	text = m.window(text, from)
	err := m.re.hits(text, patience, func(loc []int) bool {
		at := v.InOutput(string(text[loc[0]:loc[1]]), end-engine.Offset(len(text)-loc[1]))
		m.found = &hit{place: at, groups: m.re.groups(text, loc)}
		return false
	})
	if err == nil {
		m.scanned = end
	}
	return m.found, err
}

// window cuts from text, which begins at from, what need not be searched again: a new match ends in new text, so it
// begins in the line that the last look ended in, or for an expression that may match a line feed in the lookback.
// The cut is behind a line feed, where (?m)^ and \b see what they would see in the whole text.
func (m *transcriptRegex) window(text []byte, from engine.Offset) []byte {
	if m.re.begins || m.scanned <= from {
		return text
	}
	old := text[:m.scanned-from]
	if m.re.crosses {
		old = old[:max(0, len(old)-engine.Lookback)]
	}
	return text[bytes.LastIndexByte(old, '\n')+1:]
}
