// Package matchers holds what a wait can wait for. Begin with [Text]:
//
//	out, err := s.Wait(ctx, matchers.Text("ready"))
//
// [Regexp], [Output], [Title], [Stable], [Exited], [Bell] and [Command] wait for something else,
// [Any], [All] and [Not] combine them, [State] reads the screen alone, and [Func] calls a function.
// [Parse] reads a matcher as written on the wire or in a Lua table.
//
// A matcher remembers what it has read, so that nothing is searched twice. It is good for one wait:
// make a new one for the next.
package matchers

import (
	"cmp"
	"fmt"
	"regexp"
	"time"

	"github.com/ptywright/ptywright/engine"
)

// A Matcher answers a question about views, and can say what is missing.
type Matcher interface {
	engine.Matcher
	// Explain says how v looks to the matcher, in words and texts that may be shown. It is slower
	// than Check: it is for the end of a wait.
	Explain(v *engine.View, shown Shown) Explanation
}

// Text matches a text on the screen, rows joined by line feeds, and in the lines that scroll off it
// during the wait; see [TextMatcher.In].
func Text(text string) *TextMatcher {
	return &TextMatcher{query: contained(text), kind: "contains_text", scope: Seen}
}

// Regexp matches an expression where [Text] matches a text. Without (?m), ^ and $ are the beginning
// and end of the screen.
func Regexp(re *regexp.Regexp) *TextMatcher { return screenRegex(newExpression(re)) }

func screenRegex(e *expression) *TextMatcher {
	return &TextMatcher{query: e, kind: "screen_regex", scope: Seen}
}

// Output matches an expression in what the program has written, as it came: with its escape
// sequences.
func Output(re *regexp.Regexp) Matcher { return outputRegex(newExpression(re)) }

func outputRegex(e *expression) Matcher { return &output{query: e, kind: "transcript_regex"} }

// Title matches an expression in the terminal's title.
func Title(re *regexp.Regexp) Matcher { return titleRegex(newExpression(re)) }

func titleRegex(e *expression) Matcher { return &title{query: e, kind: "title_regex"} }

// Cursor matches the cursor's position, from zero.
func Cursor(row, col int) Matcher {
	return &Custom{
		Kind: "cursor_at", Value: map[string]any{"row": row, "col": col},
		Ask: func(v *engine.View) engine.Result {
			if c := v.Screen.Cursor; c.Row != row || c.Col != col {
				return engine.Result{}
			}
			return matched(engine.Match{Kind: "cursor_at", Row: row, Col: col})
		},
		Why: func(v *engine.View, _ bool) string {
			return fmt.Sprintf("the cursor is in row %d, column %d", v.Screen.Cursor.Row,
				v.Screen.Cursor.Col)
		},
	}
}

// Stable matches a screen that has not changed for d. With a position it counts no earlier than the
// wait.
func Stable(d time.Duration) Matcher {
	return &Custom{
		Kind: "screen_stable", Value: map[string]any{"min_ms": d.Milliseconds()},
		Ask: func(v *engine.View) engine.Result {
			if left := d - v.StableFor(); left > 0 {
				return engine.Result{Recheck: left}
			}
			return matched(engine.Match{Kind: "screen_stable", Min: d})
		},
		Why: func(v *engine.View, _ bool) string {
			return fmt.Sprintf("the screen has been as it is for %d ms",
				v.StableFor().Milliseconds())
		},
	}
}

// Exited matches the end of the program, once its last byte has been read.
func Exited() Matcher {
	return &Custom{
		Kind: "process_exited",
		Ask: func(v *engine.View) engine.Result {
			if v.Exit == nil {
				return engine.Result{}
			}
			return engine.Matched("process_exited")
		},
		Why: func(v *engine.View, held bool) string {
			switch {
			case !held:
				return "the program is running"
			case v.Exit.Killed:
				return "the program was killed"
			case v.Exit.Signal != "":
				return "the program was ended by " + v.Exit.Signal
			}
			return fmt.Sprintf("the program has exited with code %d", v.Exit.Code)
		},
	}
}

// Bell matches a BEL that rang after the wait's position, or without one after its first view.
func Bell() Matcher {
	var after uint64
	begun := false
	return &Custom{
		Kind: "bell",
		Ask: func(v *engine.View) engine.Result {
			if !begun {
				begun = true
				if after = v.Sequence; v.Since.Set {
					after = v.Since.Last()
				}
			}
			if v.Bell > after {
				return engine.Matched("bell")
			}
			return engine.Result{}
		},
		Why: func(v *engine.View, _ bool) string {
			if v.Bell > 0 {
				return fmt.Sprintf("the bell last rang at sequence %d", v.Bell)
			}
			return "the bell has not rung"
		},
	}
}

// Command matches a command of a shell with marks that ended after the wait's position, or without
// one after its first view.
func Command() Matcher { return &command{} }

// CommandExit is [Command] for a command that ended with an exit code.
func CommandExit(code int) Matcher { return &command{code: &code} }

type command struct {
	code  *int   // nil: any
	seen  uint64 // commands that had ended at the first view
	begun bool
}

func (m *command) Check(v *engine.View) engine.Result {
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

// exitOf returns the exit code of the last command, nil when the shell has not reported it.
func exitOf(sh *engine.Shell) *int {
	if !sh.Exited {
		return nil
	}
	code := sh.ExitCode
	return &code
}

// Func matches the views for which is returns true. It must not block.
func Func(is func(v *engine.View) bool) Matcher {
	return &Custom{
		Kind: "func", Ask: engine.Func(is).Check,
		Why: func(*engine.View, bool) string { return "a function was asked" },
	}
}

// A Custom matcher is made of functions, which must not block.
type Custom struct {
	Kind  string // of its matches and explanations
	Value any    // of its explanations; nil: none
	Ask   func(v *engine.View) engine.Result
	Why   func(v *engine.View, held bool) string // one line for people
}

// Check calls Ask.
func (m *Custom) Check(v *engine.View) engine.Result { return m.Ask(v) }

// Explain returns the result of Why.
func (m *Custom) Explain(v *engine.View, _ Shown) Explanation {
	held := m.Ask(v).Match != nil
	return Explanation{Type: m.Kind, Value: m.Value, Held: held, Why: m.Why(v, held)}
}

// Any matches when at least one of ms does: Index of its [engine.Match] says which, and Parts[0]
// what that matched.
func Any(ms ...Matcher) Matcher { return anyOf(ms) }

// All matches when all of ms match the same view: Parts of its [engine.Match] are their matches.
func All(ms ...Matcher) Matcher { return allOf(ms) }

// State makes m a question about the screen as it is: the scope of its texts, and of those of its
// parts, is [OnScreen]. It returns m.
func State(m Matcher) Matcher {
	onScreen(m)
	return m
}

// Not matches when m does not. A text is absent when it is not on the screen now, even if it was
// there before: within m the scope of texts is [OnScreen].
func Not(m Matcher) Matcher {
	onScreen(m)
	return not{m}
}

func onScreen(ms ...Matcher) {
	for _, m := range ms {
		switch m := m.(type) {
		case *TextMatcher:
			m.scope = OnScreen
		case anyOf:
			onScreen(m...)
		case allOf:
			onScreen(m...)
		}
	}
}

type anyOf []Matcher

func (m anyOf) Check(v *engine.View) engine.Result {
	var r engine.Result
	for i, x := range m {
		y := x.Check(v) // each is checked, even after a match: it may keep state
		if y.Match != nil && r.Match == nil {
			r.Match = &engine.Match{Kind: "any", Parts: []*engine.Match{y.Match}, Index: i}
		}
		r.Recheck = sooner(r.Recheck, y.Recheck)
		r.Err = cmp.Or(r.Err, y.Err)
	}
	if r.Match != nil {
		r.Err = nil // one match is enough, whatever the others did
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
		r.Match, r.Err = &engine.Match{Kind: "all", Parts: parts}, nil
	}
	return r
}

type not struct{ of Matcher }

func (m not) Check(v *engine.View) engine.Result {
	r := m.of.Check(v)
	switch {
	case r.Match != nil:
		return engine.Result{Recheck: r.Recheck}
	case r.Err != nil: // an error is neither a match nor a non-match
		return engine.Result{Err: r.Err}
	}
	return engine.Result{Match: &engine.Match{Kind: "not"}, Recheck: r.Recheck}
}

func matched(m engine.Match) engine.Result { return engine.Result{Match: &m} }

// sooner returns the shorter of two times until the next check, where 0 means never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
