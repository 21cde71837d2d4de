package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	// endBound is how long a server may take to exit after its input has ended: twice the five
	// seconds that it promises. A server that is killed leaves its children to its watcher.
	endBound = 10 * time.Second
	// goneBound is how long a call waits to learn how a server ended whose output has ended: it has
	// closed that by exiting. A longer bound would only delay callers.
	goneBound = time.Second
	// mostSaid bounds what is kept of a server's standard error, in bytes: its last words.
	mostSaid = 4 << 10
)

// Start starts a private server, ptywright serve --stdio and flags, and greets it. The program is
// the one that PTYWRIGHT_BIN names, or else ptywright of the PATH. It ends with [Client.Close], and
// when ctx ends. Errors: [*BinaryError], those of [exec.Cmd.Start] and of [Client.Greet].
func Start(ctx context.Context, flags ...string) (*Client, error) {
	c, err := start(ctx, flags...)
	if err != nil {
		return nil, err
	}
	ready := make(chan struct{})
	c.child.stop = context.AfterFunc(ctx, func() {
		<-ready
		c.Close()
	})
	close(ready)
	return c, nil
}

// start is Start with a context that bounds the start only.
func start(ctx context.Context, flags ...string) (*Client, error) {
	program, err := binary()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, append([]string{"serve", "--stdio"}, flags...)...)
	apart(cmd)
	c, err := StartCommand(cmd)
	if err != nil {
		return nil, err
	}
	return c.greeted(ctx)
}

// binary finds the program that [Start] starts.
func binary() (string, error) {
	const variable = "PTYWRIGHT_BIN"
	named := os.Getenv(variable)
	program, err := exec.LookPath(cmp.Or(named, "ptywright"))
	if err != nil {
		e := &BinaryError{Err: err}
		if named != "" {
			e.Tried = variable + "=" + named
		}
		return "", e
	}
	return program, nil
}

// StartCommand starts a server with a command that the caller has prepared: environment, folder and
// standard error, whose last words are otherwise kept for [ServerGoneError]. Its standard input and
// output must not be set. The server is not greeted; see [Client.Greet].
func StartCommand(cmd *exec.Cmd) (*Client, error) {
	s := &child{cmd: cmd, stop: func() bool { return true }}
	if cmd.Stderr == nil {
		cmd.Stderr = &s.said
		cmd.WaitDelay = goneBound // a process that the server left behind may hold it open
	}
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
	s.in, s.out = in, out
	c := New(pipes{out, in})
	c.child = s
	s.wait = sync.OnceValue(func() error {
		<-c.conn.ended // reading must be over
		return cmd.Wait()
	})
	return c, nil
}

type pipes struct {
	io.ReadCloser
	in io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.in.Write(b) }
func (p pipes) Close() error {
	return errors.Join(p.in.Close(), p.ReadCloser.Close())
}

// A child is a server that the client started.
type child struct {
	cmd  *exec.Cmd
	in   io.Closer
	out  io.Closer
	said tail         // on standard error, if the caller has not set that
	stop func() bool  // stops to watch the context of Start
	wait func() error // waits for its end, once its output has ended
}

// exited returns a channel that gets how the server ended.
func (s *child) exited() <-chan error {
	waited := make(chan error, 1)
	go func() { waited <- s.wait() }()
	return waited
}

// end ends the server and returns how it ended. ended is closed when its output has been read.
func (s *child) end(ended <-chan struct{}) error {
	s.stop()
	s.in.Close()
	bound := time.NewTimer(endBound)
	defer bound.Stop()
	select {
	case <-ended:
	case <-bound.C:
		s.cmd.Process.Kill()
		s.out.Close() // a process that the server started may hold the other end
	}
	waited := s.exited() // its output is closed, but it may still be running
	select {
	case err := <-waited:
		return err
	case <-bound.C:
		s.cmd.Process.Kill()
		return <-waited
	}
}

// gone says how a server ended whose output has.
func (s *child) gone(err error) error {
	bound := time.NewTimer(goneBound)
	defer bound.Stop()
	e := &ServerGoneError{Err: err}
	select {
	case <-s.exited():
		e.State = s.cmd.ProcessState
	case <-bound.C: // the goroutine ends with Close
	}
	e.Said = s.said.String()
	return e
}

// A ServerGoneError says that a server which this client started has ended, and all its sessions
// with it. It wraps [ErrClosed].
type ServerGoneError struct {
	State *os.ProcessState // how it ended; nil: it has closed its output, but not exited
	// its last words on standard error, at most 4 KiB; "": none, or the caller has them
	Said string
	Err  error
}

func (e *ServerGoneError) Error() string {
	how := "it closed its output"
	if e.State != nil {
		how = e.State.String()
	}
	if said := strings.TrimSpace(e.Said); said != "" {
		how += ": " + said
	}
	return fmt.Sprintf("the server has ended, and its sessions with it (%s); start another", how)
}

// Unwrap returns Err.
func (e *ServerGoneError) Unwrap() error { return e.Err }

// A BinaryError says that there is no ptywright to start.
type BinaryError struct {
	Tried string // PTYWRIGHT_BIN and its value; "": it is not set
	Err   error
}

func (e *BinaryError) Error() string {
	if e.Tried != "" {
		return fmt.Sprintf("find ptywright: %s: %v; set PTYWRIGHT_BIN to the program, "+
			"or unset it to use the PATH", e.Tried, e.Err)
	}
	return fmt.Sprintf("find ptywright: PTYWRIGHT_BIN is not set, and %v; "+
		"install ptywright, or set PTYWRIGHT_BIN to it", e.Err)
}

// Unwrap returns Err.
func (e *BinaryError) Unwrap() error { return e.Err }

// A ProtocolError says that the server speaks another version of the wire than this package.
type ProtocolError struct {
	Server  int    // its version of the wire; 0: it is older than the first that has a number
	Version string // of the server's program
}

func (e *ProtocolError) Error() string {
	update := "update the server"
	if e.Server > Protocol {
		update = "update the Go module github.com/ptywright/ptywright"
	}
	return fmt.Sprintf("the server (ptywright %s) speaks version %d of the protocol, "+
		"and this client version %d: %s", e.Version, e.Server, Protocol, update)
}

// A tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if cut := len(t.text) - mostSaid; cut > 0 {
		t.text = append(t.text[:0], t.text[cut:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ToValidUTF8(t.text, []byte("�")))
}
