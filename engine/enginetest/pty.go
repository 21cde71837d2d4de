// Package enginetest (no stability promise) replaces what tests cannot control: a pseudo-terminal
// with a program on it. [New] makes a [PTY], whose output, input and end the test decides, in real
// or in virtual time (testing/synctest). [Anything] is output that uses everything a screen shows;
// [DiffCells] compares two screens. [Home] is a home folder for shells.
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

// PTY is a pseudo-terminal without a kernel. Its zero value is not usable; see [New]. All methods
// are safe for concurrent use. Only the methods that block on a real one block: Next, Write, Wait.
type PTY struct {
	mu sync.Mutex
	// protects the fields below
	change        chan struct{} // closed and replaced when anything changes
	output        []byte
	input         []byte
	room          int // bytes of input the program still reads; negative: any number
	open          bool
	closed        bool
	exited        bool
	exit          pty.Exit
	left          bool
	over          bool   // it exceeded its memory
	whenOver      func() // called then; nil: not set, or already called
	whenTaken     func([]byte)
	mode          pty.LineMode
	foreground    pty.Process
	readDeadline  time.Time
	writeDeadline time.Time
	sizes         []pty.Size
	signals       []pty.Signal
}

var _ engine.PTY = (*PTY)(nil)

// New returns a terminal whose program runs, writes nothing yet, and reads any input.
func New() *PTY {
	return &PTY{change: make(chan struct{}), open: true, room: -1,
		foreground: pty.Process{PID: -1, Name: "fake", Leader: true}}
}

// Engine returns an engine whose sessions run on the given terminals, in this order.
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

// update runs f under the lock and wakes waiters.
func (p *PTY) update(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	close(p.change)
	p.change = make(chan struct{})
}

// Print makes the program write s.
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

// ExceedMemory makes the kernel end the program for exceeding [pty.Command].MaxMemory.
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

// WhenOverMemory makes ExceedMemory call f.
func (p *PTY) WhenOverMemory(f func()) { p.update(func() { p.whenOver = f }) }

// SetLeft sets whether a process is left that has let go of the terminal, such as a daemon; Kill
// ends it.
func (p *PTY) SetLeft(left bool) { p.update(func() { p.left = left }) }

// Left reports whether the program, or the process of SetLeft, is there.
func (p *PTY) Left() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.exited || p.left
}

// Take sets how many more bytes of input the program reads; negative: any number.
func (p *PTY) Take(n int) { p.update(func() { p.room = n }) }

// WhenTaken calls f with the input that the program reads from then on, before the write of it
// returns: what the program answers in f comes before the writer knows that its input was read.
func (p *PTY) WhenTaken(f func(taken []byte)) { p.update(func() { p.whenTaken = f }) }

// SetLineMode sets the result of LineMode.
func (p *PTY) SetLineMode(m pty.LineMode) { p.update(func() { p.mode = m }) }

// SetForeground sets the result of Foreground while the program runs.
func (p *PTY) SetForeground(f pty.Process) { p.update(func() { p.foreground = f }) }

// Input returns everything that was sent to the program.
func (p *PTY) Input() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.input)
}

// Sizes returns all sizes of the terminal, in order.
func (p *PTY) Sizes() []pty.Size {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]pty.Size(nil), p.sizes...)
}

// Signals returns the signals sent to the program, in order.
func (p *PTY) Signals() []pty.Signal {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]pty.Signal(nil), p.signals...)
}

// await calls try under the lock until it returns true, and waits for a change or the deadline in
// between.
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

// Next returns what was printed since the last call.
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

// Write waits until the program has read b.
func (p *PTY) Write(b []byte) (n int, err error) {
	err = p.await(func() time.Time { return p.writeDeadline }, func() bool {
		n += p.accept(b[n:])
		return n == len(b)
	})
	return n, err
}

// TryWrite writes what the program reads now.
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

// Resize records the size.
func (p *PTY) Resize(s pty.Size) error {
	p.update(func() { p.sizes = append(p.sizes, s) })
	return nil
}

// LineMode returns the mode given to SetLineMode.
func (p *PTY) LineMode() (pty.LineMode, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mode, nil
}

// Foreground returns the process given to SetForeground, by default one named fake with the number
// of PID.
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

// Signal records the signal.
func (p *PTY) Signal(s pty.Signal) error {
	p.update(func() { p.signals = append(p.signals, s) })
	return nil
}

// Wait returns when the program was made to exit.
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

// PID returns -1, which is not a process.
func (p *PTY) PID() int { return -1 }

// Close wakes Next and Write.
func (p *PTY) Close() error {
	p.update(func() { p.closed = true })
	return nil
}
