// Command library drives a Python prompt: it starts the program, waits for the prompt, types, and
// waits for the output that follows.
package main

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	e := engine.New(engine.Options{})
	defer e.Close(ctx)
	s, err := e.Spawn(ctx, engine.Config{Program: "python3", Args: []string{"-q"}})
	check(err)
	_, err = s.Wait(ctx, matchers.Text(">>>"))
	check(err)
	sent, err := s.Do(ctx, engine.Text("6*7\r"))
	check(err)
	answer := matchers.Regexp(regexp.MustCompile(`(?m)^(\d+)$`))
	out, err := s.Wait(ctx, answer, engine.After(sent.Sequence))
	check(err)
	fmt.Println("python says", out.Match.Capture)
}

// check panics, so that deferred calls run.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
