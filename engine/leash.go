package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A Limit is one that a session may not exceed. Its text is the name of the [Config] member on the
// wire.
type Limit string

// The limits. Each ends the session as [Session.Kill] does.
const (
	LimitTime   Limit = "max_ms"     // [Config].MaxTime has passed
	LimitIdle   Limit = "idle_ms"    // nothing was written and nothing typed for [Config].MaxIdle
	LimitMemory Limit = "max_memory" // its processes needed more than [Config].MaxMemory
	LimitOwner  Limit = "owner"      // the client that it belongs to is gone
)

// A leash ends a session that exceeds a limit of its [Config]. It has one timer for each time limit
// and never polls: when the idle timer fires it checks what has happened since it was set.
type leash struct {
	reached sync.WaitGroup // goroutines that end the session

	// Guarded by Session.mu.
	max, idle *time.Timer // nil: there is no such limit
	over      Limit       // the first one exceeded

	active atomic.Int64 // when something was last written or typed, in ns since the session's start
}

// tether starts the limits of a session that was just started.
func (s *Session) tether() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.config.MaxTime; d > 0 {
		s.leash.max = time.AfterFunc(d, func() { s.reach(LimitTime) })
	}
	if d := s.config.MaxIdle; d > 0 {
		s.leash.idle = time.AfterFunc(d, s.rested)
	}
	if p, ok := s.pty.(interface{ WhenOverMemory(func()) }); ok && s.config.MaxMemory > 0 {
		p.WhenOverMemory(func() { s.reach(LimitMemory) })
	}
}

// untie stops the timers and waits for the goroutines that end the session. It is called once the
// session is closed.
func (s *Session) untie() {
	s.mu.Lock()
	for _, t := range []*time.Timer{s.leash.max, s.leash.idle} {
		if t != nil {
			t.Stop()
		}
	}
	s.mu.Unlock()
	s.leash.reached.Wait()
}

// stir notes that something was written or typed.
func (s *Session) stir(at time.Time) {
	if s.config.MaxIdle > 0 {
		s.leash.active.Store(int64(at.Sub(s.started)))
	}
}

// rested runs when the session may have been idle for too long.
func (s *Session) rested() {
	s.mu.Lock()
	rest := s.config.MaxIdle - (time.Since(s.started) - time.Duration(s.leash.active.Load()))
	if rest > 0 && !s.closed {
		s.leash.idle.Reset(rest)
	}
	s.mu.Unlock()
	if rest <= 0 {
		s.reach(LimitIdle)
	}
}

// reach ends a session that has exceeded a limit, unless it is closed. It returns when all its
// processes are gone.
func (s *Session) reach(l Limit) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.leash.reached.Add(1)
	s.mu.Unlock()
	defer s.leash.reached.Done()
	if err := s.End(context.Background(), l); err != nil {
		s.log.Warn("a session that went over its limit could not be ended", "session", s.id,
			"limit", string(l), "error", err)
	}
}

// End is [Session.Kill] for a session that has exceeded a limit, which its exit then names. If the
// session's terminal is already closed, End ends the processes left, and the exit stays as it is:
// the session ended by itself.
func (s *Session) End(ctx context.Context, l Limit) error {
	s.mu.Lock()
	over := s.ended
	if !over && s.leash.over == "" {
		s.leash.over = l
		if s.exit != nil { // something that the program left goes on
			e := *s.exit
			e.Limit, s.exit, s.view = l, &e, nil
		}
	}
	s.mu.Unlock()
	if !over {
		s.log.Info("a session is ended by a limit", "session", string(s.id), "limit", string(l))
		return s.Kill(ctx)
	}
	s.hold()
	defer s.let()
	return s.pty.Kill(ctx)
}
