package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// endBound is how long a server may take to exit after its input has ended: twice the five seconds
// that it promises. A server that is killed leaves its children to its watcher.
const endBound = 10 * time.Second

// Start starts a private server, for instance Start(ctx, "ptywright", "serve", "--stdio"), and
// passes its standard error on. The client is closed when ctx ends. Errors are those of
// [exec.Cmd.Start].
func Start(ctx context.Context, command ...string) (*Client, error) {
	if len(command) == 0 {
		return nil, errors.New("start a server: no command was given")
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	c, err := StartCommand(cmd)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	context.AfterFunc(c.closing, func() { stop() })
	return c, nil
}

// StartCommand is [Start] with a command that the caller has prepared: environment, folder and
// standard error. Its standard input and output must not be set.
func StartCommand(cmd *exec.Cmd) (*Client, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	c := New(pipes{out, in})
	c.child = &child{cmd: cmd, in: in, out: out}
	return c, nil
}

type pipes struct {
	io.ReadCloser
	in io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.in.Write(b) }
func (p pipes) Close() error                { return errors.Join(p.in.Close(), p.ReadCloser.Close()) }

// A child is a server that the client started.
type child struct {
	cmd *exec.Cmd
	in  io.Closer
	out io.Closer
}

// end ends the server and returns how it ended. ended is closed when its output has been read.
func (s *child) end(ended <-chan struct{}) error {
	s.in.Close()
	bound := time.NewTimer(endBound)
	defer bound.Stop()
	select {
	case <-ended:
	case <-bound.C:
		s.cmd.Process.Kill()
		s.out.Close() // a process that the server started may hold the other end
	}
	waited := make(chan error, 1)
	go func() { waited <- s.cmd.Wait() }() // its output is closed, but it may still be running
	select {
	case err := <-waited:
		return err
	case <-bound.C:
		s.cmd.Process.Kill()
		return <-waited
	}
}
