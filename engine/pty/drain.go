package pty

import "time"

// A Drain decides how long to keep reading a terminal after its leader has ended, while something
// that the leader started holds it open.
//
// When the leader is reaped, everything it wrote is in the kernel's queue, at most maxLeft. All of
// it has been read when the terminal is closed, and otherwise after drainBound, as soon as nothing
// is left to read or more than the queue can hold has been read, or when a while later a read shows
// that there was little: a descendant that writes a byte now and then. So no byte of the leader is
// ever late, and a descendant that never stops writing delays nothing.
//
// Any goroutine may call Begin, only the reading one the other methods. It works through the
// terminal's read deadline, which nobody else may set after Begin.
type Drain struct {
	terminal interface{ SetReadDeadline(time.Time) error }
	left     int       // bytes that may still be the leader's; 0: not counting
	until    time.Time // after this a short read is enough
}

const (
	// drainBound is how long after its leader's end output may continue before the end is reported
	// although a descendant still holds the terminal. It leaves 100 ms of the promised 250 ms for a
	// busy machine.
	drainBound = 150 * time.Millisecond
	// drainMore is how long after drainBound the queue of a descendant that writes little is read
	// before its reads count. By then the kernel has long moved what was still queued; it leaves 40
	// ms of the 250.
	drainMore = 50 * time.Millisecond
	// maxLeft is twice what a Linux pseudo-terminal queues: 8 KiB and a page of flip buffers, 4 KiB
	// of line discipline.
	maxLeft = 32 << 10
	// idleRead is how long the queue must be empty for the leader's output to be complete. Linux
	// flushes its queue before it reports that it is empty, so this only covers other systems.
	idleRead = 10 * time.Millisecond
)

// NewDrain returns a Drain for a terminal that is being read.
func NewDrain(terminal interface{ SetReadDeadline(time.Time) error }) *Drain {
	return &Drain{terminal: terminal}
}

// Begin records that the leader has ended.
func (d *Drain) Begin() { d.terminal.SetReadDeadline(time.Now().Add(drainBound)) }

// Read records that n bytes were read and processed, and reports whether all of the leader's output
// has been.
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

// Expired records that the read deadline has passed, first drainBound and then idleRead, and
// reports the same as Read.
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
