package engine

import (
	"cmp"
	"time"

	"github.com/ptywright/ptywright/engine/pty"
)

// reaper waits for the leader and bounds how long its output is read after its end.
func (s *Session) reaper(drain *pty.Drain) {
	s.leader = s.pty.Wait()
	// The kernel may end the program before its notice of the limit is read.
	if p, ok := s.pty.(interface{ OverMemory() bool }); ok && p.OverMemory() {
		s.mu.Lock()
		s.leash.over = cmp.Or(s.leash.over, LimitMemory)
		s.mu.Unlock()
	}
	s.shell.end()
	close(s.reaped)
	drain.Begin()
}

// publish makes the exit visible, once. It is called by the pump, after the leader was reaped.
func (s *Session) publish(draining bool) {
	s.mu.Lock()
	s.release(time.Now()) // what was written before the end is shown with the end
	s.ended = !draining
	if s.exit == nil {
		s.exit = &Exit{Exit: s.leader, At: time.Now(), Draining: draining, Limit: s.leash.over,
			Killed: s.killed && s.leash.over == ""}
		s.exited.Store(true) // a client that sees the exit finds the name free
		s.blocks.close(s.exit.At, s.term.Snapshot(), s.exit.Signal == "" && !s.killed)
		s.exitHeard()
	} else if s.exit.Draining && !draining {
		e := *s.exit
		e.Draining = false
		s.exit = &e
	}
	s.touch()
	s.mu.Unlock()
	s.input.close(ErrEnded)
	s.beat()
	s.wakeReaders()
}

// finish is the end of output.
func (s *Session) finish() {
	s.settled.Stop()
	s.mu.Lock()
	s.secret, s.raw = false, false
	s.rec.finish()
	s.rec.trim()
	s.release(time.Now()) // no output can end an update any more
	s.touch()
	s.mu.Unlock()
	// The terminal may be closed before the leader ends, and on some systems before it is reaped.
	<-s.reaped
	s.mu.Lock()
	s.commandLeft(time.Now())
	s.mu.Unlock()
	s.closeTaps()
	s.engine.ended(s) // a client that sees the end may have it forgotten
	s.publish(false)
	close(s.final)
	s.log.Debug("a session has ended", "session", string(s.id))
}
