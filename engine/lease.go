package engine

import (
	"fmt"
	"time"
)

// A Lease is the exclusive right to type into a session and to resize it: for a person who takes
// over from a program, and gives back. Everybody may still read, wait and end the session, and the
// terminal still sends its own replies.
type Lease struct {
	Holder  string // the holder's name, for others to read
	Since   time.Time
	session *Session // not forgotten while it is leased
}

// A LeasedError says who holds the lease that an action needs.
type LeasedError struct {
	Session ID
	Holder  string // its own name for itself: at most 64 characters
	Since   time.Time
}

func (e *LeasedError) Error() string {
	return fmt.Sprintf("session %s is held by %q since %s, who alone may type into it: wait until it is released, or take it over",
		e.Session, e.Holder, e.Since.Format(time.TimeOnly))
}

// maxHolder bounds a holder's name, in characters: it is shown in a line of a list.
const maxHolder = 64

// Lease takes the right to type. While anybody holds it the error is a *[LeasedError], unless take
// says to take it away: an action of the holder that is under way is finished first, the next one
// is refused. Other errors: [ErrEnded], [ErrClosed].
func (s *Session) Lease(holder string, take bool) (*Lease, error) {
	if err := s.inputError(); err != nil {
		return nil, err
	}
	if short := []rune(holder); len(short) > maxHolder {
		holder = string(short[:maxHolder])
	}
	l := &Lease{Holder: holder, Since: time.Now(), session: s}
	s.hold()
	s.mu.Lock()
	if has := s.lease; has != nil && !take {
		s.mu.Unlock()
		s.let()
		return nil, &LeasedError{Session: s.id, Holder: has.Holder, Since: has.Since}
	}
	had := s.lease
	s.lease, s.view = l, nil
	s.leaseHeard(TakenOver, l)
	s.mu.Unlock()
	s.told()
	if had != nil {
		s.let()
	}
	s.beat()
	return l, nil
}

// Release gives the right back. It does nothing when it was taken away or already released.
func (l *Lease) Release() {
	s := l.session
	s.mu.Lock()
	mine := s.lease == l
	if mine {
		s.lease, s.view = nil, nil
		s.leaseHeard(Released, nil)
	}
	s.mu.Unlock()
	if mine {
		s.told()
		s.let()
		s.beat()
	}
}

// mayType refuses when another lease than l holds the session. The error is a *[LeasedError].
func (s *Session) mayType(l *Lease) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if has := s.lease; has != nil && has != l {
		return &LeasedError{Session: s.id, Holder: has.Holder, Since: has.Since}
	}
	return nil
}
