// Package matchers holds the questions that a wait can ask: text, regex, cursor, title, bell, stability, exit, and
// their combination with any, all and not. [Parse] makes one from a tree as it stands on the wire or in a Lua table.
//
// A matcher serves one wait at a time: it remembers what it has looked at, so that nothing is scanned twice.
package matchers

import (
	"bytes"
	"cmp"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// A Matcher answers a question about views, and can tell what is missing.
type Matcher interface {
	engine.Matcher
	// Explain tells how v looks to the matcher, in words and texts that may be shown. It is slower than Check: it is
	// for the end of a wait.
	Explain(v *engine.View, shown Shown) Explanation
}

// scan remembers which text a matcher has found nothing in.
type scan struct {
	screen *vt.Screen
}

// stale reports whether v shows a screen that was not looked at yet, and remembers it.
func (s *scan) stale(v *engine.View) bool {
	if s.screen == v.Screen {
		return false
	}
	s.screen = v.Screen
	return true
}

type containsText struct {
	scan
	value string
}

func (m *containsText) Check(v *engine.View) engine.Result {
	if m.value == "" || m.stale(v) && m.in(v) {
		m.screen = nil // still there when asked again
		return matched(engine.Match{Kind: "contains_text", Text: m.value})
	}
	return engine.Result{}
}

func (m *containsText) in(v *engine.View) bool {
	text, fresh := v.Text()
	for from := 0; ; {
		i := strings.Index(text[from:], m.value)
		if i < 0 {
			return false
		}
		if touches(fresh, from+i, from+i+len(m.value)) {
			return true
		}
		from += i + 1
	}
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

type screenRegex struct {
	scan
	re *regexp.Regexp
}

func (m *screenRegex) Check(v *engine.View) engine.Result {
	if !m.stale(v) {
		return engine.Result{}
	}
	if c, ok := m.in(v); ok {
		m.screen = nil
		return matched(engine.Match{Kind: "screen_regex", Pattern: m.re.String(), Capture: c})
	}
	return engine.Result{}
}

// in returns the capture of the first match that counts.
func (m *screenRegex) in(v *engine.View) (string, bool) {
	text, fresh := v.Text()
	if !v.Since.Set { // every match counts
		return capture(m.re, []byte(text))
	}
	for _, loc := range m.re.FindAllStringSubmatchIndex(text, -1) {
		if touches(fresh, loc[0], loc[1]) {
			if len(loc) > 2 && loc[2] >= 0 {
				loc = loc[2:]
			}
			return text[loc[0]:loc[1]], true
		}
	}
	return "", false
}

// transcriptContains looks at each byte of output once. What it has seen counts, also when it has left the bound.
type transcriptContains struct {
	value   string
	scanned engine.Offset
	found   bool
}

func (m *transcriptContains) Check(v *engine.View) engine.Result {
	if !m.found {
		text, from := v.Output()
		end := from + engine.Offset(len(text))
		if back := engine.Offset(len(m.value)); m.scanned > from+back {
			text = text[m.scanned-back-from:]
		}
		m.found = bytes.Contains(text, []byte(m.value))
		m.scanned = end
	}
	if m.found {
		return matched(engine.Match{Kind: "transcript_contains", Text: m.value})
	}
	return engine.Result{}
}

// lookback is how far before new output an expression that may match a line feed begins to search: a match longer than
// that, and not whole in one look, is missed. It is the 16 KiB of transcript that the earlier implementation searched
// at all; more makes every look slower.
const lookback = 16 << 10

type transcriptRegex struct {
	re       *regexp.Regexp
	anchored bool // ^ or \A without (?m): only the very beginning counts
	crosses  bool // a match may hold a line feed
	scanned  engine.Offset
	capture  string
	found    bool
}

func (m *transcriptRegex) Check(v *engine.View) engine.Result {
	if !m.found {
		text, from := v.Output()
		end := from + engine.Offset(len(text))
		if end == m.scanned && end > 0 {
			return engine.Result{}
		}
		m.capture, m.found = capture(m.re, m.window(text, from))
		m.scanned = end
	}
	if m.found {
		return matched(engine.Match{Kind: "transcript_regex", Pattern: m.re.String(), Capture: m.capture})
	}
	return engine.Result{}
}

// window cuts from text, which begins at from, what need not be searched again: a new match ends in new text, so it
// begins in the line that the last look ended in, or for an expression that may match a line feed in the lookback.
// The cut is behind a line feed, where (?m)^ and \b see what they would see in the whole text.
func (m *transcriptRegex) window(text []byte, from engine.Offset) []byte {
	if m.anchored || m.scanned <= from {
		return text
	}
	old := text[:m.scanned-from]
	if m.crosses {
		old = old[:max(0, len(old)-lookback)]
	}
	return text[bytes.LastIndexByte(old, '\n')+1:]
}

type cursorAt struct{ row, col int }

func (m *cursorAt) Check(v *engine.View) engine.Result {
	if c := v.Screen.Cursor; c.Row == m.row && c.Col == m.col {
		return matched(engine.Match{Kind: "cursor_at", Row: m.row, Col: m.col})
	}
	return engine.Result{}
}

type screenStable struct{ min time.Duration }

func (m *screenStable) Check(v *engine.View) engine.Result {
	if left := m.min - v.StableFor(); left > 0 {
		return engine.Result{Recheck: left}
	}
	return matched(engine.Match{Kind: "screen_stable", Min: m.min})
}

type processExited struct{}

func (processExited) Check(v *engine.View) engine.Result {
	if v.Exit != nil {
		return matched(engine.Match{Kind: "process_exited"})
	}
	return engine.Result{}
}

type titleContains struct{ value string }

func (m *titleContains) Check(v *engine.View) engine.Result {
	if strings.Contains(v.Screen.Title, m.value) {
		return matched(engine.Match{Kind: "title_contains", Text: m.value})
	}
	return engine.Result{}
}

type titleRegex struct{ re *regexp.Regexp }

func (m *titleRegex) Check(v *engine.View) engine.Result {
	if c, ok := capture(m.re, []byte(v.Screen.Title)); ok {
		return matched(engine.Match{Kind: "title_regex", Pattern: m.re.String(), Capture: c})
	}
	return engine.Result{}
}

// bell matches a BEL that rang after the wait's since, or without one after the wait's first look.
type bell struct {
	after uint64
	begun bool
}

func (m *bell) Check(v *engine.View) engine.Result {
	if !m.begun {
		m.begun = true
		if m.after = v.Sequence; v.Since.Set {
			m.after = v.Since.Sequence
		}
	}
	if v.Bell > m.after {
		return matched(engine.Match{Kind: "bell"})
	}
	return engine.Result{}
}

// commandFinished matches a command of a shell with marks that ended after the wait's since, or without one after the wait's
// first look.
type commandFinished struct {
	code  *int // nil: any
	after uint64
	seen  uint64 // commands that had ended at the first look
	begun bool
}

func (m *commandFinished) Check(v *engine.View) engine.Result {
	sh := v.Reports.Shell
	if sh == nil {
		sh = &engine.Shell{}
	}
	if !m.begun {
		m.begun, m.seen = true, sh.Commands
	}
	if v.Since.Set {
		if sh.Commands == 0 || sh.Finished <= v.Since.Sequence {
			return engine.Result{}
		}
	} else if sh.Commands <= m.seen {
		return engine.Result{}
	}
	if m.code != nil && (!sh.Exited || sh.ExitCode != *m.code) {
		return engine.Result{}
	}
	return matched(engine.Match{Kind: "command_finished", Text: sh.Command, Exit: exitOf(sh)})
}

// exitOf returns the code of the last command, nil when the shell has not told it.
func exitOf(sh *engine.Shell) *int {
	if !sh.Exited {
		return nil
	}
	code := sh.ExitCode
	return &code
}

type anyOf []Matcher

func (m anyOf) Check(v *engine.View) engine.Result {
	var r engine.Result
	for i, x := range m {
		y := x.Check(v) // each is asked, also behind one that matches: it may remember what it sees
		if y.Match != nil && r.Match == nil {
			r.Match = &engine.Match{Kind: "any", Parts: []*engine.Match{y.Match}, Index: i}
		}
		r.Recheck = sooner(r.Recheck, y.Recheck)
		r.Err = cmp.Or(r.Err, y.Err)
	}
	if r.Match != nil {
		r.Err = nil // one that holds is enough, whatever became of the others
	}
	return r
}

type allOf []Matcher

func (m allOf) Check(v *engine.View) engine.Result {
	var r engine.Result
	parts := make([]*engine.Match, 0, len(m))
	for _, x := range m {
		y := x.Check(v)
		if y.Match != nil {
			parts = append(parts, y.Match)
		}
		r.Recheck = sooner(r.Recheck, y.Recheck)
		r.Err = cmp.Or(r.Err, y.Err)
	}
	if len(parts) == len(m) {
		return matched(engine.Match{Kind: "all", Parts: parts})
	}
	return r
}

type not struct{ of Matcher }

func (m not) Check(v *engine.View) engine.Result {
	r := m.of.Check(v)
	switch {
	case r.Match != nil:
		return engine.Result{Recheck: r.Recheck}
	case r.Err != nil: // what was not answered does not hold, and does not not hold
		return engine.Result{Err: r.Err}
	}
	return matched(engine.Match{Kind: "not"})
}

func matched(m engine.Match) engine.Result { return engine.Result{Match: &m} }

// sooner returns the shorter of two times to look again, of which 0 means never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// capture searches text for re: group 1 when it took part, else the whole match.
func capture(re *regexp.Regexp, text []byte) (string, bool) {
	if re.NumSubexp() == 0 {
		loc := re.FindIndex(text)
		if loc == nil {
			return "", false
		}
		return string(text[loc[0]:loc[1]]), true
	}
	loc := re.FindSubmatchIndex(text)
	switch {
	case loc == nil:
		return "", false
	case loc[2] >= 0:
		return string(text[loc[2]:loc[3]]), true
	}
	return string(text[loc[0]:loc[1]]), true
}

// crosses reports whether a match of re may hold a line feed.
func crosses(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar:
		return true
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpCharClass: // pairs of bounds
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i] <= '\n' && '\n' <= re.Rune[i+1] {
				return true
			}
		}
	}
	return slices.ContainsFunc(re.Sub, crosses)
}

// has reports whether op stands anywhere in re.
func has(re *syntax.Regexp, op syntax.Op) bool {
	return re.Op == op || slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return has(sub, op) })
}
