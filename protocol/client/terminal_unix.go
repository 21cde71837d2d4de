//go:build unix

package client

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// A terminal is the person's. One goroutine reads, one draws; the rest is their caller's.
type terminal struct {
	in, out *os.File
	fd      int
	state   *term.State // nil: it is as it was
	woken   [2]int      // a pipe, whose end of writing is closed to wake the reader
	modes   FrameModes
}

// openTerminal changes nothing yet.
func openTerminal(in, out *os.File) (*terminal, error) {
	t := &terminal{in: in, out: out, fd: int(in.Fd())}
	if !term.IsTerminal(t.fd) || !term.IsTerminal(int(out.Fd())) {
		return nil, ErrNoTerminal
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(t.woken[:]); err != nil {
		return nil, fmt.Errorf("interact: %w", os.NewSyscallError("pipe", err))
	}
	unix.CloseOnExec(t.woken[0])
	unix.CloseOnExec(t.woken[1])
	return t, nil
}

// close is for a terminal that nobody reads any more.
func (t *terminal) close() {
	t.wake()
	unix.Close(t.woken[0])
}

func (t *terminal) size() (rows, cols int) {
	cols, rows, err := term.GetSize(int(t.out.Fd()))
	if err != nil {
		return 0, 0
	}
	return rows, cols
}

// enter makes it raw, and clears it.
func (t *terminal) enter() error {
	state, err := term.MakeRaw(t.fd)
	if err != nil {
		return fmt.Errorf("interact: make the terminal raw: %w", err)
	}
	t.state = state
	return t.write(enterScreen)
}

// leave makes it what it was. What drew on it has ended, or does so soon, unless the terminal takes
// no output.
func (t *terminal) leave(drawn <-chan struct{}) {
	if t.state == nil {
		return
	}
	bound := time.NewTimer(drawBound)
	defer bound.Stop()
	select {
	case <-drawn:
		_ = t.write(changing(t.modes, FrameModes{}) + leaveScreen)
	case <-bound.C:
	}
	_ = term.Restore(t.fd, t.state) // it fails for a terminal that is gone
	t.state = nil
}

func (t *terminal) draw(f *Frame) error {
	before := t.modes
	t.modes = f.Modes
	return t.write(drawing(f, before))
}

func (t *terminal) write(s string) error {
	if _, err := t.out.WriteString(s); err != nil {
		return fmt.Errorf("interact: write to the terminal: %w", err)
	}
	return nil
}

// read waits for what is typed; nil when it was woken.
func (t *terminal) read() ([]byte, error) {
	for {
		typed, woken, err := readable(t.fd, t.woken[0])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, fmt.Errorf("interact: wait for the terminal: %w", err)
		case woken:
			return nil, nil
		case !typed:
			continue
		}
		b := make([]byte, 4<<10)
		n, err := t.in.Read(b)
		if err == nil && n == 0 {
			err = io.EOF
		}
		if err != nil {
			return nil, fmt.Errorf("interact: read the terminal: %w", err)
		}
		return b[:n], nil
	}
}

// wake ends read, and those to come.
func (t *terminal) wake() {
	if w := t.woken[1]; w >= 0 {
		t.woken[1] = -1
		unix.Close(w)
	}
}

// watchTerminal tells of a new size, and of the end of the process.
func watchTerminal() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 4)
	signal.Notify(c, syscall.SIGWINCH, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	return c, func() { signal.Stop(c) }
}

func resized(s os.Signal) bool { return s == syscall.SIGWINCH }
