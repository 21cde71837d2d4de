// Package matchers holds the questions that a wait can ask: text, regex, cursor, title, bell, stability, exit, and
// their combination with any, all and not. [Parse] makes one from a tree as it stands on the wire or in a Lua table.
//
// A matcher serves one wait at a time: it remembers what it has looked at, so that nothing is scanned twice.
package matchers

import (
	"cmp"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
)

// A Matcher answers a question about views, and can tell what is missing.
type Matcher interface {
	engine.Matcher
	// Explain tells how v looks to the matcher, in words and texts that may be shown. It is slower than Check: it is
	// for the end of a wait.
	Explain(v *engine.View, shown Shown) Explanation
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

type titleRegex struct{ re *expression }

func (m *titleRegex) Check(v *engine.View) engine.Result {
	found, err := m.re.find([]byte(v.Screen.Title), v.Patience)
	if found == nil {
		return engine.Result{Err: err}
	}
	return m.re.match("title_regex", found)
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
			m.after = v.Since.Last()
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
		if sh.Commands == 0 || sh.Finished <= v.Since.Last() {
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
