//go:build unix

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
)

// A session is started, looked at, typed into and waited for.
func Example() {
	ctx := context.Background()
	e := engine.New(engine.Options{})
	defer e.Close(ctx) // ends the program and all that it started

	s, err := e.Spawn(ctx, engine.Config{Program: "sh", Args: []string{"-c", `printf 'name? '; read -r name; echo "hello $name"`}})
	if err != nil {
		fmt.Println(err)
		return
	}
	receipt, err := s.Do(ctx, engine.Text("world\r"))
	if err != nil {
		fmt.Println(err)
		return
	}
	greeting, err := matchers.Parse(map[string]any{"type": "screen_regex", "value": `(?m)hello (\w+)$`}, matchers.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	// Since: only what came after the text was typed counts.
	outcome, err := s.Wait(ctx, greeting, engine.After(receipt.Sequence), engine.Within(time.Minute))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(outcome.Match.Capture)
	// Output: world
}

// A wait that does not match tells what it saw last.
func ExampleSession_Wait_timeout() {
	ctx := context.Background()
	e := engine.New(engine.Options{})
	defer e.Close(ctx)

	s, err := e.Spawn(ctx, engine.Config{Program: "sh", Args: []string{"-c", "echo ready; read -r _"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"ready", "never"} {
		m, err := matchers.Parse(map[string]any{"type": "contains_text", "value": text}, matchers.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		patience := time.Minute
		if text == "never" {
			patience = time.Millisecond
		}
		outcome, err := s.Wait(ctx, m, engine.Within(patience))
		if errors.Is(err, engine.ErrTimeout) {
			fmt.Printf("no %q; the screen shows %q\n", text, outcome.View.Screen.Text())
		}
	}
	// Output: no "never"; the screen shows "ready"
}

// Exit has the exact code or signal, and comes after the last byte of output.
func ExampleSession_View_exit() {
	ctx := context.Background()
	e := engine.New(engine.Options{})
	defer e.Close(ctx)

	s, err := e.Spawn(ctx, engine.Config{Program: "sh", Args: []string{"-c", "echo last words; exit 3"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	exited, err := matchers.Parse(map[string]any{"type": "process_exited"}, matchers.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := s.Wait(ctx, exited, engine.Within(time.Minute)); err != nil {
		fmt.Println(err)
		return
	}
	v := s.View()
	fmt.Println(v.Screen.Text(), v.Exit.Code)
	// Output: last words 3
}
