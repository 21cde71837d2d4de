//go:build unix

package matchers_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
)

// Whichever comes first ends a wait.
func ExampleAny() {
	s, end := start("echo 2 passed, 1 failed; read -r _")
	defer end()
	failed := regexp.MustCompile(`(\d+) failed`)
	out, err := s.Wait(context.Background(), matchers.Any(matchers.Text("all tests passed"), matchers.Regexp(failed), matchers.Exited()))
	if err != nil {
		fmt.Println(err)
		return
	}
	if out.Match.Index == 1 {
		fmt.Println(out.Match.Parts[0].Capture, "test has failed")
	}
	// Output: 1 test has failed
}

// A function can ask what no other matcher does.
func ExampleFunc() {
	s, end := start(`printf '\033[?1049h'; read -r _`)
	defer end()
	full := matchers.Func(func(v *engine.View) bool { return v.Screen.Modes.AltScreen })
	_, err := s.Wait(context.Background(), matchers.All(full, matchers.Not(matchers.Exited())))
	fmt.Println(err)
	// Output: <nil>
}

// A matcher that did not match says for each of its parts what was missing, and which line came
// nearest.
func ExampleMatcher_explain() {
	s, end := start("echo 2 passed, 1 failed")
	defer end()
	m := matchers.All(matchers.Regexp(regexp.MustCompile(`\d+ passed`)), matchers.Text("2 passed, 0 failed"))
	// The program ends: what is not on the screen by then will never be, so the wait ends at once.
	out, err := s.Wait(context.Background(), m)
	fmt.Println(errors.Is(err, engine.ErrEnded))
	for _, part := range m.Explain(out.View, matchers.Everything(out.View)).Parts {
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

// start runs a script of the shell, until end is called.
func start(script string) (s *engine.Session, end func()) {
	ctx := context.Background()
	e := engine.New(engine.Options{})
	s, err := e.Spawn(ctx, engine.Config{Program: "sh", Args: []string{"-c", script}})
	if err != nil {
		panic(err)
	}
	return s, func() { e.Close(ctx) }
}
