//go:build linux || darwin

package pty

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A readAhead reads a terminal in a goroutine of its own while what it has read before is looked at. In a flood that is
// the difference between a program that is kept waiting and one that is not: the kernel holds 12 KiB for a reader and puts
// the program to sleep on the rest. It begins when a read has found the kernel's queue full at once, and ends when all it has
// read was taken and nothing more is there: an idle or chatting program has none.
//
// It never waits for whoever takes: when aheadSize is read ahead it ends, and is begun again by the next take.
type readAhead struct {
	p     *PTY
	chunk [readSize]byte // of its goroutine

	mu sync.Mutex
	// protects the fields below
	pending []byte // read and not taken
	taken   []byte // what the last take has returned: the next pending
	running bool
	full    bool  // it has ended because pending was
	err     error // it has ended with
	parked  bool  // its goroutine waits for output
	idle    bool  // somebody waits in take

	wake chan struct{} // holds at most one "there is news"
}

const (
	// aheadSize bounds what is read ahead of one terminal, in bytes. It covers what a program prints while a large piece is
	// parsed. Four times as much moves a flood no faster (measured).
	aheadSize = 64 << 10
	// queueFull is a read that found the kernel's queue for a reader full: what a line may have is all that it has room for.
	queueFull = MaxLine
)

var (
	aheads = sync.Pool{New: func() any {
		return &readAhead{
			pending: make([]byte, 0, aheadSize), taken: make([]byte, 0, aheadSize),
			wake: make(chan struct{}, 1),
		}
	}}
	// ahead counts the goroutines that read ahead: at most one a processor, since only a processor that is free makes one
	// worth while.
	ahead atomic.Int32
)

// startAhead begins to read ahead; nil when as many do as are of use.
func startAhead(p *PTY) *readAhead {
	a := aheads.Get().(*readAhead)
	a.p = p
	if !a.start() {
		a.end()
		return nil
	}
	return a
}

func (a *readAhead) start() bool {
	if int(ahead.Add(1)) > runtime.GOMAXPROCS(0) {
		ahead.Add(-1)
		return false
	}
	a.running, a.full = true, false
	go a.run()
	return true
}

// end gives back what has ended and been taken whole.
func (a *readAhead) end() {
	a.p, a.pending, a.taken, a.full, a.err = nil, a.pending[:0], a.taken[:0], false, nil
	aheads.Put(a)
}

// take blocks until something is read, and returns it; it is valid until the next take. With neither bytes nor an error
// there is nothing more: the terminal is to be read directly again.
func (a *readAhead) take() ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.pending) == 0 && a.running {
		a.idle = true
		if a.parked { // there is nothing to be ahead of any more
			a.p.interrupt()
		}
		a.mu.Unlock()
		<-a.wake
		a.mu.Lock()
	}
	a.pending, a.taken = a.taken[:0], a.pending
	if len(a.taken) == 0 {
		return nil, a.err
	}
	if a.full {
		a.start()
	}
	return a.taken, nil
}

// run reads until there is no room, something is wrong, or nothing is there while somebody waits for it.
func (a *readAhead) run() {
	for more := true; more; {
		var n int
		var readErr error
		err := a.p.conn.Read(func(fd uintptr) bool {
			n, readErr = read(fd, a.chunk[:])
			return readErr != unix.EAGAIN || !a.park()
		})
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			err = nil // whoever reads directly looks at the deadline
		case err == nil && readErr != unix.EAGAIN:
			err = readErr
		}
		more = a.put(a.chunk[:n], err)
	}
}

// park reports whether to wait for more.
func (a *readAhead) park() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.parked = !a.idle
	return a.parked
}

// put adds what was read and reports whether to go on.
func (a *readAhead) put(b []byte, err error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending = append(a.pending, b...)
	a.full = err == nil && cap(a.pending)-len(a.pending) < len(a.chunk)
	a.err = err
	a.parked = false
	if a.running = len(b) > 0 && err == nil && !a.full; !a.running {
		ahead.Add(-1)
	}
	if a.idle {
		a.idle = false
		a.wake <- struct{}{}
	}
	return a.running
}
