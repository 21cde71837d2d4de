package hosts

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// mostOutput bounds what a command may print, in bytes: those of hosts install print a line.
const mostOutput = 64 << 10

// Run runs a command that ends by itself, as [Open] does, and returns what it printed, at most 64
// KiB. input nil is none. An exit code other than 0 is an [*EndedError].
func Run(ctx context.Context, words []string, input io.Reader) (string, error) {
	s, err := start(ctx, words)
	if err != nil {
		return "", err
	}
	defer s.Close()
	defer context.AfterFunc(ctx, func() { s.Close() })()
	fed := make(chan error, 1)
	go func() { // ends with the command
		var err error
		if input != nil {
			_, err = io.Copy(s.in, input)
		}
		s.in.Close()
		fed <- err
	}()
	var out strings.Builder
	n, err := io.Copy(&out, io.LimitReader(s.out, mostOutput+1))
	if n > mostOutput {
		return "", fmt.Errorf("it prints more than %d bytes", mostOutput)
	}
	select { // a program that it left behind may hold its output
	case <-s.ended:
	case <-ctx.Done():
	}
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case !s.cmd.ProcessState.Success():
		return "", &EndedError{State: s.cmd.ProcessState, Said: s.said.String()}
	case err != nil:
		return "", err
	}
	return out.String(), <-fed
}
