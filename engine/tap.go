package engine

import "time"

// A Tap sees every byte a child writes, in order, before it is parsed, and every resize. Its methods are called one at
// a time; a slow tap slows its session and nothing else. An error detaches the tap, is kept for [Session.TapError] and
// does the session no other harm. Close is called once, after the last byte or when it was detached.
type Tap interface {
	Output(at time.Time, p []byte) error
	Resize(at time.Time, rows, cols int) error
	Close() error
}

// tap shows something to every tap, one caller at a time.
func (s *Session) tap(show func(Tap) error) {
	s.tapping <- struct{}{}
	defer func() { <-s.tapping }()
	s.mu.Lock()
	taps := s.taps
	s.mu.Unlock()
	for _, t := range taps {
		if err := show(t); err != nil {
			s.detach(t, err)
		}
	}
}

// detach takes a failed tap off; the first error is kept.
func (s *Session) detach(t Tap, err error) {
	s.log.Warn("a recording of a session ended early; the session goes on", "session", s.id, "error", err)
	s.mu.Lock()
	if s.tapErr == nil {
		s.tapErr = err
	}
	kept := make([]Tap, 0, len(s.taps))
	for _, x := range s.taps {
		if x != t {
			kept = append(kept, x)
		}
	}
	s.taps = kept
	s.mu.Unlock()
	_ = t.Close() // it has failed already
}

// closeTaps ends the taps that have seen everything.
func (s *Session) closeTaps() {
	s.tapping <- struct{}{}
	defer func() { <-s.tapping }()
	s.mu.Lock()
	taps := s.taps
	s.taps = nil
	s.mu.Unlock()
	for _, t := range taps {
		if err := t.Close(); err != nil {
			s.log.Warn("a recording of a session was not completed", "session", s.id, "error", err)
		}
	}
}
