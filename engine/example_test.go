//go:build unix

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
)

// A session is started, typed into and waited for.
func Example() {
	ctx := context.Background()
	e := engine.New(engine.Options{})
	defer e.Close(ctx) // ends the program and all that it started

	s, err := e.Spawn(ctx, engine.Config{Program: "sh", Args: []string{"-c", `printf 'name? '; read -r name; echo "hello $name"`}})
	if err != nil {
		fmt.Println(err)
		return
	}
	sent, err := s.Do(ctx, engine.Text("world\r"))
	if err != nil {
		fmt.Println(err)
		return
	}
	greeting := regexp.MustCompile(`(?m)hello (\w+)$`)
	out, err := s.Wait(ctx, matchers.Regexp(greeting), engine.After(sent.Sequence))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Match.Capture)
	// Output: world
}

// A wait that does not match says why, and has what it saw last.
func ExampleWaitError() {
	ctx := context.Background()
	e := engine.New(engine.Options{})
	defer e.Close(ctx)

	s, err := e.Spawn(ctx, engine.Config{Program: "sh", Args: []string{"-c", "echo ready; read -r _"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := s.Wait(ctx, matchers.Text("ready")); err != nil {
		fmt.Println(err)
		return
	}
	_, err = s.Wait(ctx, matchers.Text("never"), engine.Within(0))
	var missed *engine.WaitError
	if errors.As(err, &missed) && errors.Is(err, engine.ErrTimeout) {
		fmt.Printf("%v; the screen shows %q\n", missed, missed.View.Screen.Text())
	}
	// Output: the wait timed out; the screen shows "ready"
}

// The next wait goes on from what the last one has matched.
func ExampleSession_Wait_next() {
	ctx := context.Background()
	e := engine.New(engine.Options{})
	defer e.Close(ctx)

	s, err := e.Spawn(ctx, engine.Config{Program: "sh", Args: []string{"-c", "echo step 1; echo step 2; read -r _"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	step := regexp.MustCompile(`step (\d)`)
	var at *engine.Position
	for range 2 {
		out, err := s.Wait(ctx, matchers.Regexp(step), at)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(out.Match.Capture)
		at = out.Next
	}
	// Output:
	// 1
	// 2
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
	if _, err := s.Wait(ctx, matchers.Exited()); err != nil {
		fmt.Println(err)
		return
	}
	v := s.View()
	fmt.Println(v.Screen.Text(), v.Exit.Code)
	// Output: last words 3
}
