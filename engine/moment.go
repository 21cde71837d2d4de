package engine

import (
	"fmt"
	"time"
)

// A PastError says that a session cannot be shown as it was after a sequence.
type PastError struct {
	Sequence uint64
	Kept     uint64 // the oldest sequence that can be shown
	Newest   uint64
}

func (e *PastError) Error() string {
	if e.Sequence > e.Newest {
		return fmt.Sprintf("sequence %d is still to come: the newest is %d", e.Sequence, e.Newest)
	}
	return fmt.Sprintf("the screen at sequence %d has been dropped: the oldest kept is %d",
		e.Sequence, e.Kept)
}

// A PastTimeError says that a session cannot be shown as it was at a time.
type PastTimeError struct {
	At     time.Time
	Kept   uint64 // the oldest sequence that can be shown
	KeptAt time.Time
	Newest uint64
	Begun  bool // Kept is what the session began with
}

func (e *PastTimeError) Error() string {
	switch at := e.At.UTC().Format(time.RFC3339Nano); {
	case !e.At.Before(e.KeptAt):
		return at + " is still to come"
	case e.Begun:
		return fmt.Sprintf("the session began after %s, at %s", at,
			e.KeptAt.UTC().Format(time.RFC3339Nano))
	default:
		return fmt.Sprintf("the screen of %s has been dropped: the oldest kept is of %s, sequence %d",
			at, e.KeptAt.UTC().Format(time.RFC3339Nano), e.Kept)
	}
}

// KeptFrom returns the oldest sequence that [Session.At] can show, and when that was made.
func (s *Session) KeptFrom() (seq uint64, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if frames := s.keyframes(); len(frames) > 0 {
		return frames[0].seq, frames[0].at
	}
	v := s.newest()
	return v.Sequence, v.At
}

// SequenceAt returns the sequence that was the newest at a time. The error is a *[PastTimeError].
func (s *Session) SequenceAt(t time.Time) (uint64, error) {
	now := time.Now()
	s.mu.Lock()
	frames, newest := s.keyframes(), s.newest()
	var notes []note
	var times stepTimes
	if s.past != nil {
		notes, times = s.past.notes, s.past.times
	}
	s.mu.Unlock()
	kept, keptAt := newest.Sequence, newest.At
	if len(frames) > 0 {
		kept, keptAt = frames[0].seq, frames[0].at
	}
	if t.Before(keptAt) || t.After(now) {
		return 0, &PastTimeError{At: t, Kept: kept, KeptAt: keptAt, Newest: newest.Sequence,
			Begun: kept == 0}
	}
	if !t.Before(newest.At) {
		return newest.Sequence, nil
	}
	for len(frames) > 1 && !t.Before(frames[1].at) {
		frames = frames[1:]
	}
	seq, base := frames[0].seq, frames[0].at
	for ; seq < newest.Sequence; seq++ {
		at := times.at(seq+1, base)
		for ; len(notes) > 0 && notes[0].seq <= seq+1; notes = notes[1:] {
			if n := notes[0]; n.seq == seq+1 && !n.base.IsZero() {
				base, at = n.base, n.base
			}
		}
		if len(frames) > 1 && frames[1].seq == seq+1 || at.After(t) {
			break
		}
	}
	return seq, nil
}
