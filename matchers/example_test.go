//go:build unix

package matchers_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
)

// A matcher that did not match says for each of its parts what was missing, and which line came nearest.
func ExampleMatcher_explain() {
	ctx := context.Background()
	e := engine.New(engine.Options{})
	defer e.Close(ctx)

	s, err := e.Spawn(ctx, engine.Config{Program: "sh", Args: []string{"-c", "echo 2 passed, 1 failed"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := matchers.Parse(map[string]any{"type": "all", "value": []any{
		map[string]any{"type": "screen_regex", "value": `\d+ passed`},
		map[string]any{"type": "contains_text", "value": "2 passed, 0 failed"},
	}}, matchers.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	// The program ends: what is not on the screen by then will never be, so the wait ends at once.
	outcome, err := s.Wait(ctx, m, engine.Within(time.Minute))
	fmt.Println(errors.Is(err, engine.ErrEnded))
	v := outcome.View // what may be shown of it: here all, elsewhere what package redact left
	shown := matchers.Shown{Screen: v.Screen, Output: v.Transcript.String, Title: v.Screen.Title}
	for _, part := range m.Explain(v, shown).Parts {
		fmt.Printf("%s %q: %t", part.Type, part.Value, part.Held)
		if !part.Held {
			fmt.Printf(", the line that came nearest: %q", part.Nearest)
		}
		fmt.Println()
	}
	// Output:
	// true
	// screen_regex "\\d+ passed": true
	// contains_text "2 passed, 0 failed": false, the line that came nearest: "2 passed, 1 failed"
}

// What is wrong with a matcher is told when it is made, with the place.
func ExampleParse_error() {
	_, err := matchers.Parse(map[string]any{"type": "any", "value": []any{
		map[string]any{"type": "bell"},
		map[string]any{"type": "screen_regex", "value": "("},
	}}, matchers.Options{})
	fmt.Println(err)
	// Output: matcher.value[1].value: invalid regular expression: missing closing ): "("
}
