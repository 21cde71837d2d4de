// Package enginetest (no stability promise) stands in for what tests cannot command: a
// pseudo-terminal with a program on it. [PTY] is one whose output, input and end are what the test
// says, in real or in virtual time (testing/synctest). [Anything] is output that uses everything a
// screen shows; [DiffCells] compares two screens. [Home] is a home folder for shells.
package enginetest

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
)

// PTY is a pseudo-terminal without a kernel. Its zero value is not of use; see [New]. All methods may be called by any
// number of goroutines. Nothing in it blocks but what blocks in a real one: Next, Write, Wait.
type PTY struct {
	mu sync.Mutex
	// protects the fields below
	change        chan struct{} // closed and replaced when anything changes
	output        []byte
	input         []byte
	room          int // bytes of input the program still takes; negative: any number
	open          bool
	closed        bool
	exited        bool
	exit          pty.Exit
	left          bool
	over          bool   // it went over its memory
	whenOver      func() // is called then; nil: nobody asked, or it was
	whenTaken     func([]byte)
	mode          pty.LineMode
	foreground    pty.Process
	readDeadline  time.Time
	writeDeadline time.Time
	sizes         []pty.Size
	signals       []pty.Signal
}

var _ engine.PTY = (*PTY)(nil)

// New returns a terminal whose program runs, writes nothing yet, and takes any input.
func New() *PTY {
	return &PTY{change: make(chan struct{}), open: true, room: -1, foreground: pty.Process{PID: -1, Name: "fake", Leader: true}}
}

// Engine returns an engine all of whose sessions run on the terminals given, in this order.
func Engine(ptys ...*PTY) *engine.Engine {
	var mu sync.Mutex
	return engine.New(engine.Options{Start: func(pty.Command) (engine.PTY, error) {
		mu.Lock()
		defer mu.Unlock()
		p := ptys[0]
		ptys = ptys[1:]
		return p, nil
	}})
}

// update runs f under the lock and wakes whoever waits.
func (p *PTY) update(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	close(p.change)
	p.change = make(chan struct{})
}

// Print has the program write s.
func (p *PTY) Print(s string) { p.update(func() { p.output = append(p.output, s...) }) }

// Exit ends the program; the terminal stays open until [PTY.HangUp].
func (p *PTY) Exit(e pty.Exit) { p.update(func() { p.exited, p.exit = true, e }) }

// HangUp closes the program's side of the terminal: output ends once it is read.
func (p *PTY) HangUp() { p.update(func() { p.open = false }) }

// End is Exit with code and HangUp.
func (p *PTY) End(code int) {
	p.Exit(pty.Exit{Code: code})
	p.HangUp()
}

// ExceedMemory has the kernel end the program, which went over [pty.Command].MaxMemory.
func (p *PTY) ExceedMemory() {
	var f func()
	p.update(func() {
		p.over = true
		p.exited, p.exit, p.open = true, pty.Exit{Code: -1, Signal: "SIGKILL"}, false
		f, p.whenOver = p.whenOver, nil
	})
	if f != nil {
		go f()
	}
}

// OverMemory reports whether ExceedMemory was called.
func (p *PTY) OverMemory() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}

// WhenOverMemory has ExceedMemory call f.
func (p *PTY) WhenOverMemory(f func()) { p.update(func() { p.whenOver = f }) }

// SetLeft says whether a process is left that has let go of the terminal, as a daemon has; Kill ends it.
func (p *PTY) SetLeft(left bool) { p.update(func() { p.left = left }) }

// Left reports whether the program, or what SetLeft says, is there.
func (p *PTY) Left() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.exited || p.left
}

// Take says how many more bytes of input the program takes; negative: any number.
func (p *PTY) Take(n int) { p.update(func() { p.room = n }) }

// WhenTaken calls f with the input that the program takes from then on, before the write of it
// returns: what the program answers in f comes before the writer knows that it was heard.
func (p *PTY) WhenTaken(f func(taken []byte)) { p.update(func() { p.whenTaken = f }) }

// SetLineMode says what LineMode returns.
func (p *PTY) SetLineMode(m pty.LineMode) { p.update(func() { p.mode = m }) }

// SetForeground says what Foreground returns while the program runs.
func (p *PTY) SetForeground(f pty.Process) { p.update(func() { p.foreground = f }) }

// Input returns everything the program was sent.
func (p *PTY) Input() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.input)
}

// Sizes returns the sizes the terminal was given, in order.
func (p *PTY) Sizes() []pty.Size {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]pty.Size(nil), p.sizes...)
}

// Signals returns the signals the program was sent, in order.
func (p *PTY) Signals() []pty.Signal {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]pty.Signal(nil), p.signals...)
}

// await calls try under the lock until it says that it is through, and waits for a change or the deadline in between.
func (p *PTY) await(deadline func() time.Time, try func() bool) error {
	for {
		p.mu.Lock()
		d := deadline()
		switch {
		case p.closed:
			p.mu.Unlock()
			return os.ErrClosed
		case !d.IsZero() && !time.Now().Before(d):
			p.mu.Unlock()
			return os.ErrDeadlineExceeded
		case try():
			p.mu.Unlock()
			return nil
		}
		change := p.change
		p.mu.Unlock()
		var fire <-chan time.Time
		if !d.IsZero() {
			timer := time.NewTimer(time.Until(d))
			defer timer.Stop()
			fire = timer.C
		}
		select {
		case <-change:
		case <-fire:
		}
	}
}

// Next returns what was printed since.
func (p *PTY) Next() (out []byte, err error) {
	end := false
	err = p.await(func() time.Time { return p.readDeadline }, func() bool {
		out, p.output = p.output, nil
		end = len(out) == 0 && !p.open
		return len(out) > 0 || end
	})
	if err == nil && end {
		err = io.EOF
	}
	return out, err
}

// Write waits until the program has taken b.
func (p *PTY) Write(b []byte) (n int, err error) {
	err = p.await(func() time.Time { return p.writeDeadline }, func() bool {
		n += p.accept(b[n:])
		return n == len(b)
	})
	return n, err
}

// TryWrite hands over what the program takes now.
func (p *PTY) TryWrite(b []byte) (int, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return 0, os.ErrClosed
	}
	n, f := p.accept(b), p.whenTaken
	p.mu.Unlock()
	if f != nil && n > 0 {
		f(b[:n])
	}
	return n, nil
}

// accept is called with mu held.
func (p *PTY) accept(b []byte) int {
	n := len(b)
	if p.room >= 0 {
		n = min(n, p.room)
		p.room -= n
	}
	p.input = append(p.input, b[:n]...)
	return n
}

// SetReadDeadline bounds Next.
func (p *PTY) SetReadDeadline(t time.Time) error {
	p.update(func() { p.readDeadline = t })
	return nil
}

// SetWriteDeadline bounds Write.
func (p *PTY) SetWriteDeadline(t time.Time) error {
	p.update(func() { p.writeDeadline = t })
	return nil
}

// Resize notes the size.
func (p *PTY) Resize(s pty.Size) error {
	p.update(func() { p.sizes = append(p.sizes, s) })
	return nil
}

// LineMode returns what SetLineMode was given.
func (p *PTY) LineMode() (pty.LineMode, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mode, nil
}

// Foreground returns what SetForeground was given, else a process named fake with the number of PID.
func (p *PTY) Foreground() (pty.Process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return pty.Process{}, os.ErrClosed
	case p.exited:
		return pty.Process{}, pty.ErrExited
	}
	return p.foreground, nil
}

// Signal notes the signal.
func (p *PTY) Signal(s pty.Signal) error {
	p.update(func() { p.signals = append(p.signals, s) })
	return nil
}

// Wait returns when the program has been told to exit.
func (p *PTY) Wait() pty.Exit {
	for {
		p.mu.Lock()
		done, exit, change := p.exited, p.exit, p.change
		p.mu.Unlock()
		if done {
			return exit
		}
		<-change
	}
}

// Kill ends the program by SIGKILL, unless it has ended, and hangs up.
func (p *PTY) Kill(context.Context) error {
	p.update(func() {
		if !p.exited {
			p.exited, p.exit = true, pty.Exit{Code: -1, Signal: "SIGKILL"}
		}
		p.open, p.left = false, false
	})
	return nil
}

// PID is not a process's.
func (p *PTY) PID() int { return -1 }

// Close wakes Next and Write.
func (p *PTY) Close() error {
	p.update(func() { p.closed = true })
	return nil
}
