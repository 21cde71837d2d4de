package pty

import "time"

// A Drain decides how long a terminal is still read after its leader's end, while something that the leader started
// holds it open.
//
// When the leader is reaped, all it wrote is in the kernel's queue, at most maxLeft. It has been read when the terminal
// is closed, and else after drainBound, as soon as nothing is left to be read or more than the queue can hold has been, or
// when a while later a read shows that there was little: a descendant that writes a byte every now and then. So no
// byte of the leader is ever late, and a descendant that never stops writing delays nothing.
//
// Begin may be called by any goroutine, the others by the one that reads. It works by the terminal's read deadline, which
// nobody else may set from Begin on.
type Drain struct {
	terminal interface{ SetReadDeadline(time.Time) error }
	left     int       // bytes that may still be the leader's; 0: not counting
	until    time.Time // from then on a read that is short is enough
}

const (
	// drainBound is how long after its leader's end output may go on before the end is told although a descendant still
	// holds the terminal. It leaves 100 ms of the 250 ms that are promised to a busy machine.
	drainBound = 150 * time.Millisecond
	// drainMore is how long after drainBound the queue of a descendant that writes little is read before its reads count.
	// The kernel has long moved by then what was behind; it leaves 40 ms of the 250.
	drainMore = 50 * time.Millisecond
	// maxLeft is twice what a Linux pseudo-terminal queues: 8 KiB and a page of flip buffers, 4 KiB of line discipline.
	maxLeft = 32 << 10
	// idleRead is how long the queue must be empty for the leader's output to be complete. Linux flushes its queue
	// before it says that nothing is there, so this only covers other systems.
	idleRead = 10 * time.Millisecond
)

// NewDrain returns one for a terminal that is being read.
func NewDrain(terminal interface{ SetReadDeadline(time.Time) error }) *Drain {
	return &Drain{terminal: terminal}
}

// Begin is told that the leader has ended.
func (d *Drain) Begin() { d.terminal.SetReadDeadline(time.Now().Add(drainBound)) }

// Read is told of n bytes that were read and dealt with, and reports whether everything of the leader's has been.
func (d *Drain) Read(n int) (done bool) {
	if d.left == 0 {
		return false
	}
	// A read that did not fill the line discipline's queue has emptied it.
	if d.left -= n; d.left <= 0 || n < MaxLine && !time.Now().Before(d.until) {
		return d.end()
	}
	d.terminal.SetReadDeadline(time.Now().Add(idleRead))
	return false
}

// Expired is told that the read deadline has passed, first drainBound and then idleRead, and reports what Read does.
func (d *Drain) Expired() (done bool) {
	if d.left > 0 {
		return d.end()
	}
	d.left, d.until = maxLeft, time.Now().Add(drainMore)
	d.terminal.SetReadDeadline(time.Now().Add(idleRead))
	return false
}

func (d *Drain) end() bool {
	d.left = 0
	d.terminal.SetReadDeadline(time.Time{})
	return true
}
