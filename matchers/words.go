package matchers

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// maxWord bounds a text or an expression in words, in bytes: a longer one is told by its length.
	// It is never cut, since redaction knows secrets whole.
	maxWord = 200
	// maxParts bounds the parts of any and all in words; the others are counted.
	maxParts = 8
)

// quoted is a text in words, between marks: as it is, so that redaction finds in it what it knows.
func quoted(what, text, mark string) string {
	if len(text) > maxWord {
		return fmt.Sprintf("%s of %d characters", what, utf8.RuneCountInString(text))
	}
	return mark + text + mark
}

// queried is what a query looks for.
func queried(q query) string {
	if _, text := q.(contained); text {
		return quoted("a text", q.source(), `"`)
	}
	return quoted("an expression", q.source(), "/")
}

// The matchers' words are what they wait for, for the events of a session: not redacted. Each
// continues "until".

// String says in words what m waits for.
func (m *TextMatcher) String() string { return "the screen shows " + queried(m.query) }

func (m *output) String() string { return "the output has " + queried(m.query) }

func (m *title) String() string { return "the title has " + queried(m.query) }

func (m *command) String() string {
	if m.code != nil {
		return fmt.Sprintf("a command ends with exit code %d", *m.code)
	}
	return "a command ends"
}

func (m *screen) String() string { return "the screen equals a golden screen" }

func (m *located) String() string {
	words := quoted("a locator", m.locator.String(), "")
	switch {
	case m.count == 0:
		return words + " is not on the screen"
	case m.count > 0:
		return fmt.Sprintf("%s is on the screen %d times", words, m.count)
	}
	return words + " is on the screen"
}

// String says in words what m waits for.
func (m *Custom) String() string {
	of, _ := m.Value.(map[string]any)
	switch m.Kind {
	case "cursor_at":
		return fmt.Sprintf("the cursor is in row %v, column %v", of["row"], of["col"])
	case "screen_stable":
		if ms, ok := of["min_ms"]; ok {
			return fmt.Sprintf("the screen is still for %v ms", ms)
		}
		return "the screen is still"
	case "process_exited":
		return "the program has ended"
	case "bell":
		return "the bell rings"
	case "lua":
		if of["plugin"] != nil && of["predicate"] != nil {
			return fmt.Sprintf("%v says %v", of["plugin"], of["predicate"])
		}
	case "func":
		return "a function says so"
	case "secret_entered":
		return "the program asks for no secret any more"
	}
	words := strings.ReplaceAll(m.Kind, "_", " ")
	if value, err := json.Marshal(m.Value); m.Value != nil && err == nil {
		words += " " + quoted("a value", string(value), "")
	}
	return words
}

func (m anyOf) String() string { return joined(m, " or ") }

func (m allOf) String() string { return joined(m, " and ") }

func (m not) String() string { return "not: " + worded(m.of) }

// joined is the words of several matchers.
func joined(parts []Matcher, with string) string {
	var words []string
	for i, p := range parts {
		if i == maxParts {
			words = append(words, fmt.Sprintf("%d others", len(parts)-maxParts))
			break
		}
		words = append(words, worded(p))
	}
	return strings.Join(words, with)
}

// worded is the words of a matcher within another.
func worded(m Matcher) string {
	switch x := m.(type) {
	case anyOf:
		return "(" + x.String() + ")"
	case allOf:
		return "(" + x.String() + ")"
	case fmt.Stringer:
		return x.String()
	}
	return "a matcher of another kind"
}
