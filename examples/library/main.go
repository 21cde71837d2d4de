// Command library drives a Python prompt through the library: it starts the program, waits for the prompt, types, and
// waits for what came after.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
)

func main() {
	if err := drive(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func drive(ctx context.Context) (err error) {
	e := engine.New(engine.Options{})
	defer func() { err = errors.Join(err, e.Close(ctx)) }()
	s, err := e.Spawn(ctx, engine.Config{Program: "python3", Args: []string{"-q"}})
	if err != nil {
		return err
	}
	if _, err := wait(ctx, s, nil, "contains_text", ">>>"); err != nil {
		return err
	}
	receipt, err := s.Do(ctx, engine.Text("6*7\n"))
	if err != nil {
		return err
	}
	outcome, err := wait(ctx, s, engine.After(receipt.Sequence), "screen_regex", `(?m)^(\d+)$`)
	if err != nil {
		return err
	}
	fmt.Println("python says", outcome.Match.Capture)
	return nil
}

// wait waits for text or a regular expression; with since only for what came after.
func wait(ctx context.Context, s *engine.Session, since *engine.Position, kind, value string) (*engine.Outcome, error) {
	m, err := matchers.Parse(map[string]any{"type": kind, "value": value}, matchers.Options{})
	if err != nil {
		return nil, err
	}
	outcome, err := s.Wait(ctx, m, since, engine.Within(10*time.Second))
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w; the screen was:\n%s", kind, value, err, outcome.View.Screen.Text())
	}
	return outcome, nil
}
