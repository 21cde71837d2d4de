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

// A readAhead reads a terminal in its own goroutine while earlier output is being processed. In a
// flood this keeps the program from being blocked: the kernel holds 12 KiB for a reader, then puts
// the program to sleep. It starts when the first attempt of a read finds the kernel's queue full,
// and ends when everything it has read was taken and there is no more: an idle or chatting program
// has none.
//
// It never waits for the taker: with aheadSize bytes read ahead it ends, and the next take restarts
// it.
type readAhead struct {
	p     *PTY
	chunk [readSize]byte // of its goroutine

	mu sync.Mutex
	// protects the fields below
	pending []byte // read and not taken
	taken   []byte // what the last take has returned: the next pending
	running bool
	full    bool  // it ended because pending was full
	err     error // that it ended with
	parked  bool  // its goroutine waits for output
	idle    bool  // a caller waits in take

	wake chan struct{} // holds at most one "there is news"
}

const (
	// aheadSize bounds what is read ahead of one terminal, in bytes. It covers what a program
	// prints while a large piece is parsed. Four times as much moves a flood no faster (measured).
	aheadSize = 64 << 10
	// queueFull is a read that found the kernel's queue for a reader full: it has room for the
	// longest line and no more.
	queueFull = MaxLine
)

var (
	aheads = sync.Pool{New: func() any {
		return &readAhead{
			pending: make([]byte, 0, aheadSize), taken: make([]byte, 0, aheadSize),
			wake: make(chan struct{}, 1),
		}
	}}
	// ahead counts the goroutines that read ahead: at most one per processor, since it only pays
	// off on a free one.
	ahead atomic.Int32
)

// startAhead starts reading ahead; nil when enough goroutines already do.
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

// end releases a readAhead that has ended and been taken completely.
func (a *readAhead) end() {
	a.p, a.pending, a.taken, a.full, a.err = nil, a.pending[:0], a.taken[:0], false, nil
	aheads.Put(a)
}

// take blocks until something is read, and returns it; it is valid until the next take. With
// neither bytes nor an error there is nothing more: read the terminal directly again.
func (a *readAhead) take() ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.pending) == 0 && a.running {
		a.idle = true
		if a.parked { // there is nothing left to be ahead of
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

// run reads until there is no room, an error occurs, or nothing is there while a caller waits for
// it.
func (a *readAhead) run() {
	for more := true; more; {
		var n int
		var readErr error
		err := a.p.conn.Read(func(fd uintptr) bool {
			n, readErr = a.p.read(fd, a.chunk[:])
			return readErr != unix.EAGAIN || !a.park()
		})
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			err = nil // the direct reader checks the deadline
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

// put adds what was read and reports whether to continue.
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
