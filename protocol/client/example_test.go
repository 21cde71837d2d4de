package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/ptywright/ptywright/protocol/client"
)

// A server of one's own, and a program in it. Instead of go run, name the ptywright on the PATH.
func Example() {
	ctx := context.Background()
	c, err := client.Start(ctx, "go", "run", "github.com/ptywright/ptywright/cmd/ptywright", "serve", "--stdio")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close() // ends the server with all that runs in it

	s, err := c.Create(ctx, client.Config{Program: "go", Args: []string{"env", "GOOS", "NO_SUCH_VARIABLE"}, Env: map[string]string{"GOOS": "linux"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	matched, err := s.Wait(ctx, client.Exited(), client.WaitOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(matched.Snapshot.PlainText, *matched.Snapshot.Exit.Code)

	// The program has ended, so this can never match: the wait ends at once and says what it lacked.
	_, err = s.Wait(ctx, client.Contains("windows"), client.WaitOptions{})
	var refused *client.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Reason)
		fmt.Println(refused.Evidence().Snapshot.PlainText)
	}
	// Output:
	// linux 0
	// session_ended
	// linux
}
