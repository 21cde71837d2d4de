package client

import "time"

// A Matcher is what a wait waits for: a value, good for any number of waits. The functions below
// make all that there are.
type Matcher struct {
	Type  string `json:"type"`
	Value any    `json:"value,omitempty"`
	Scope Scope  `json:"scope,omitempty"` // of Text and Regexp; see In
}

// A Scope says what a text is looked for in.
type Scope string

const (
	// Seen is the screen, and then the lines that scrolled off it since the wait began, or that
	// came after its position: what a person who watched has seen. It is what [Session.Wait] reads.
	Seen Scope = "seen"
	// OnScreen is the screen as it is. It is what [Session.Expect] reads, and [Not].
	OnScreen Scope = "screen"
)

// Text matches a text on the screen, rows joined by line feeds, or in a line that scrolled off it.
func Text(text string) Matcher { return Matcher{Type: "contains_text", Value: text} }

// Regexp matches an RE2 expression where [Text] matches a text. Without (?m), ^ and $ are the
// beginning and end of the screen.
func Regexp(pattern string) Matcher { return Matcher{Type: "screen_regex", Value: pattern} }

// Output matches an RE2 expression in what the program has written, as it came: with its escape
// sequences.
func Output(pattern string) Matcher { return Matcher{Type: "transcript_regex", Value: pattern} }

// Title matches an RE2 expression in the terminal's title.
func Title(pattern string) Matcher { return Matcher{Type: "title_regex", Value: pattern} }

// Cursor matches the cursor's position, from zero.
func Cursor(row, col int) Matcher {
	return Matcher{Type: "cursor_at", Value: map[string]int{"row": row, "col": col}}
}

// Stable matches a screen that has not changed for d, to the millisecond. After an input it counts
// no earlier than the wait.
func Stable(d time.Duration) Matcher {
	return Matcher{Type: "screen_stable", Value: map[string]int64{"min_ms": d.Milliseconds()}}
}

// Exited matches the end of the program, once its last byte was read.
func Exited() Matcher { return Matcher{Type: "process_exited"} }

// Bell matches a BEL.
func Bell() Matcher { return Matcher{Type: "bell"} }

// Command matches the end of a command, in a shell that marks its commands; see
// [Config].ShellIntegration.
func Command() Matcher { return Matcher{Type: "command_finished"} }

// CommandExit is [Command] for a command that ended with an exit code.
func CommandExit(code int) Matcher {
	return Matcher{Type: "command_finished", Value: map[string]int{"exit_code": code}}
}

// Lua matches when a plugin's predicate says so. params may be nil.
func Lua(plugin, predicate string, params any) Matcher {
	value := map[string]any{"plugin": plugin, "predicate": predicate}
	if params != nil {
		value["params"] = params
	}
	return Matcher{Type: "lua", Value: value}
}

// InState matches while the session's adapter says one of these states, such as blocked: those of
// its plugin. With a position a state counts once something has come after it.
func InState(states ...string) Matcher { return Matcher{Type: "state", Value: states} }

// Located matches when a locator, in the words of docs/locators.md, means at least one place of the
// screen.
func Located(locator string) Matcher {
	return Matcher{Type: "located", Value: map[string]any{"locator": locator}}
}

// LocatedCount is Located for exactly count places; 0: none.
func LocatedCount(locator string, count int) Matcher {
	return Matcher{Type: "located", Value: map[string]any{"locator": locator, "count": count}}
}

// Golden matches when the screen equals a golden screen, the text of a *.screen file.
func Golden(screen string) Matcher {
	return Matcher{Type: "screen", Value: map[string]string{"screen": screen}}
}

// Any matches when one of ms does: Index of the [Match] says which.
func Any(ms ...Matcher) Matcher { return Matcher{Type: "any", Value: ms} }

// All matches when all of ms match the same screen.
func All(ms ...Matcher) Matcher { return Matcher{Type: "all", Value: ms} }

// Not matches when m does not. A text is absent when it is not on the screen now.
func Not(m Matcher) Matcher { return Matcher{Type: "not", Value: m} }

// In returns a matcher that looks in scope for its texts, and those of its parts, which have no
// scope yet.
func (m Matcher) In(scope Scope) Matcher {
	switch parts := m.Value.(type) {
	case []Matcher:
		inner := make([]Matcher, len(parts))
		for i, p := range parts {
			inner[i] = p.In(scope)
		}
		m.Value = inner
	case Matcher:
		m.Value = parts.In(scope)
	}
	if m.Scope == "" && (m.Type == "contains_text" || m.Type == "screen_regex") {
		m.Scope = scope
	}
	return m
}
