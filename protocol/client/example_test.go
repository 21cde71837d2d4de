package client_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// A program under a private server.
func Example() {
	ctx := context.Background()
	s, err := client.Spawn(ctx, client.Config{Program: "sh", Env: map[string]string{"PS1": "$ "}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close(ctx)
	if _, err := s.Expect(ctx, client.Regexp(`\$$`)); err != nil { // a state: the prompt is there
		fmt.Println(err)
		return
	}
	if err := s.Send(ctx, "echo $((6*7))\n"); err != nil {
		fmt.Println(err)
		return
	}
	m, err := s.Wait(ctx, client.Regexp(`(?m)^42$`)) // an event: only what came after the input
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Text)
	_, err = s.Wait(ctx, client.Text("never-there"), client.Within(300*time.Millisecond))
	fmt.Println(errors.Is(err, client.ErrTimeout), client.EvidenceOf(err).Lacks()[0])
	// Output:
	// 42
	// true contains_text "never-there": the screen shows nothing like it
}

// One wait goes on from another: each line is found once.
func ExampleSession_Wait_next() {
	ctx := context.Background()
	c, err := client.Start(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close() // ends the server with all that runs in it
	s, err := c.Spawn(ctx, client.Config{Program: "sh", Args: []string{"-c", "echo step 1; echo step 2; read -r _"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	next := client.Everything
	for range 2 {
		m, err := s.Wait(ctx, client.Regexp(`step (\d)`), next)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(m.Text)
		next = m.Next
	}
	// Output:
	// 1
	// 2
}

// Notifications tell what happens, whoever caused it.
func ExampleClient_Notifications() {
	ctx := context.Background()
	c, err := client.Start(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	events, err := c.Notifications(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := c.Spawn(ctx, client.Config{Program: "sh", Args: []string{"-c", "exit 3"}}); err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range events {
		if err != nil {
			fmt.Println(err)
			return
		}
		if e.Method == "session.exited" {
			fmt.Println(e.Session, "exit", *e.Code)
			return
		}
	}
	// Output: s1 exit 3
}
