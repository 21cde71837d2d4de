package engine

import (
	"slices"
	"time"

	"github.com/ptywright/ptywright/engine/vt"
)

// A Tap gets every byte that a child writes, in order, even those on which the terminal fails, and
// every resize. Its methods are called one at a time; a slow tap slows its session and nothing
// else. An error detaches the tap, is kept for [Session.TapError] and does the session no other
// harm. Close is called once, after the last byte or when the tap was detached.
type Tap interface {
	Output(at time.Time, p []byte) error
	Resize(at time.Time, rows, cols int) error
	Close() error
}

// An InputTap is a Tap that also gets what is typed: every action's bytes, right before the terminal
// gets them, so that what they bring about comes later, in order and in time. An action that is
// refused or that never gets its turn does not come; of one that a child does not read to its end,
// all bytes do. It does not get the terminal's own replies.
type InputTap interface {
	Tap
	Input(at time.Time, p []byte) error
}

// An ExitTap is a Tap that also gets how the program ended: its exit code, or 128 plus the signal's
// number as in shells. Exit is called once, before Close.
type ExitTap interface {
	Tap
	Exit(at time.Time, code int) error
}

// A MarkTap is a Tap that also learns which marks in the output are the shell's own. Marked is
// called instead of Output, with the marks in order; most output has none. It must keep neither p
// nor marks.
type MarkTap interface {
	Tap
	Marked(at time.Time, p []byte, marks []Mark) error
}

// A Mark is one that the session's shell has put into its output (OSC 133 or OSC 633), by the rules
// of [Session.Blocks]. Where the shell's marks carry a secret word, marks printed by a command do
// not count; elsewhere, marks on another program's screen do not.
type Mark struct {
	End  int  // where it ends in the output that came with it
	Kind byte // A, B, C, D, E, and others that a shell has
	// Number and Command are those of the [Block] that runs after the mark; 0 and "" when none
	// does. Its command line may come with an E that follows its C.
	Number  uint64
	Command string
	Refused bool   // of a C: the line was not a command; the shell has said why, and runs nothing
	Exit    int    // of a D
	Exited  bool   // Exit is known
	line    uint64 // the line that it is in
}

func isMark(e *vt.Event) bool { return e.Kind == vt.EventMark || e.Kind == vt.EventMark633 }

// ownMark returns the mark that an event is; ok is false if it is not one, or begins only a further
// line of a command line. trusted says that it has the shell's own word, so that it counts on any
// screen.
func ownMark(e *vt.Event, trusted bool) (m Mark, ok bool) {
	if !isMark(e) || e.Alt && !trusted ||
		e.Kind == vt.EventMark && e.Mark == 'A' && secondary(e.Text) {
		return Mark{}, false
	}
	return Mark{Kind: e.Mark, Exit: e.Exit, Exited: e.HasExit, line: e.Line}, true
}

// Attach adds the tap that make returns, from here on: make gets the session as it is, and no
// output is processed during the call. A session that has ended takes none. Errors: [ErrEnded],
// [ErrClosed] or make's.
func (s *Session) Attach(make func(v *View) (Tap, error)) error {
	s.tapping <- struct{}{}
	defer func() { <-s.tapping }()
	v := s.View()
	switch {
	case s.isClosed():
		return ErrClosed
	case v.Ended:
		return ErrEnded
	}
	t, err := make(v)
	if err != nil {
		return err
	}
	if err := s.beginEventTap(t); err != nil {
		_ = t.Close() // it has failed already
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taps = append(s.taps[:len(s.taps):len(s.taps)], t)
	return nil
}

// Detach removes a tap and closes it. One that is already gone has been closed. The error is that
// of Close.
func (s *Session) Detach(t Tap) error {
	s.tapping <- struct{}{}
	defer func() { <-s.tapping }()
	s.mu.Lock()
	i := slices.Index(s.taps, t)
	if i >= 0 {
		s.taps = slices.Delete(slices.Clone(s.taps), i, i+1)
	}
	s.mu.Unlock()
	if i < 0 {
		return nil
	}
	return t.Close()
}

// tap calls do with every tap, for one caller at a time.
func (s *Session) tap(do func(Tap) error) {
	s.tapping <- struct{}{}
	defer func() { <-s.tapping }()
	s.eachTap(do)
}

// eachTap is tap for a caller that holds tapping.
func (s *Session) eachTap(do func(Tap) error) {
	s.mu.Lock()
	taps := s.taps
	s.mu.Unlock()
	for _, t := range taps {
		if err := do(t); err != nil {
			s.detach(t, err)
		}
	}
}

// detach removes a failed tap; the first error is kept.
func (s *Session) detach(t Tap, err error) {
	s.log.Warn("a recording of a session ended early; the session goes on", "session", s.id,
		"error", err)
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
	s.tapEvents()
	s.mu.Lock()
	taps := s.taps
	s.taps = nil
	s.mu.Unlock()
	now, code := time.Now(), s.leader.Status()
	for _, t := range taps {
		if x, ok := t.(ExitTap); ok {
			if err := x.Exit(now, code); err != nil {
				s.log.Warn("a recording of a session was not completed", "session", s.id,
					"error", err)
			}
		}
		if err := t.Close(); err != nil {
			s.log.Warn("a recording of a session was not completed", "session", s.id, "error", err)
		}
	}
}
