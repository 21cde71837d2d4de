package engine

import (
	"time"

	"github.com/ptywright/ptywright/engine/pty"
)

// reaper waits for the leader and bounds what may still be read after its end.
func (s *Session) reaper() {
	s.leader = s.pty.Wait()
	s.shell.end()
	close(s.reaped)
	s.pty.SetReadDeadline(time.Now().Add(drainBound))
}

// A drain tells when a session's exit may be told although its terminal is still held.
//
// When the leader is reaped, all it wrote is in the kernel's queue, at most maxLeft. Its exit is told when the
// terminal is closed, and else after drainBound, as soon as nothing is left to be read or more than the queue can hold
// has been, or when a while later a read shows that there was little: a descendant that writes a byte every now and then.
// So no byte of the leader is ever late, and a descendant that never stops writing delays nothing.
type drain struct {
	s     *Session
	left  int       // bytes that may still be the leader's; 0: not counting
	until time.Time // from then on a read that is short is enough
}

const (
	// drainBound is how long after its leader's end a session's output may go on before the exit is told although a
	// descendant still holds the terminal. It leaves 100 ms of the 250 ms that are promised to a busy machine.
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

func newDrain(s *Session) *drain { return &drain{s: s} }

// read counts what was read after the bound.
func (d *drain) read(n int) {
	if d.left == 0 {
		return
	}
	// A read that did not fill the line discipline's queue has emptied it.
	if d.left -= n; d.left <= 0 || n < pty.MaxLine && !time.Now().Before(d.until) {
		d.publish()
		return
	}
	d.s.pty.SetReadDeadline(time.Now().Add(idleRead))
}

// expired is told that a read deadline has passed: first drainBound, then idleRead.
func (d *drain) expired() {
	if d.left == 0 {
		d.left, d.until = maxLeft, time.Now().Add(drainMore)
		d.s.pty.SetReadDeadline(time.Now().Add(idleRead))
		return
	}
	d.publish()
}

func (d *drain) publish() {
	d.left = 0
	d.s.pty.SetReadDeadline(time.Time{})
	d.s.publish(true)
}

// publish makes the exit visible, once. It is called by the pump, after the leader was reaped.
func (s *Session) publish(draining bool) {
	s.mu.Lock()
	s.showFrame(time.Now()) // what was written before the end is seen with the end
	if s.exit == nil {
		s.exit = &Exit{Exit: s.leader, At: time.Now(), Draining: draining}
		s.blocks.close(s.exit.At, s.term.Snapshot())
	} else if s.exit.Draining && !draining {
		e := *s.exit
		e.Draining = false
		s.exit = &e
	}
	s.view = nil
	s.mu.Unlock()
	s.input.close(ErrEnded)
	s.beat()
}

// finish is the end of output.
func (s *Session) finish() {
	s.settled.Stop()
	s.mu.Lock()
	s.secret = false
	s.rec.finish()
	s.view = nil
	s.showFrame(time.Now()) // nobody will end it any more
	s.mu.Unlock()
	<-s.reaped // the terminal may be closed before the leader ends, and on some systems before it is reaped
	s.closeTaps()
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.publish(false)
}
