package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/ptywright/ptywright/engine/pty"
)

// UntilRead makes [Session.Do] return only when the program has read what was typed, or after the
// time of [Within], which begins anew with the last byte. [Receipt].Read and [Receipt].ReadSequence
// say what became known.
type UntilRead struct{}

func (UntilRead) act(o *doOptions) { o.UntilRead = true }

// An unreader knows what of the typed input is unread; *[pty.PTY] documents the methods.
type unreader interface {
	Unread() (int, error)
	AwaitRead(ctx context.Context) error
}

// A typedInput is one action whose reading somebody waits for. Session.mu guards it.
type typedInput struct {
	end  uint64 // how many bytes had been typed into the session at its end; 0: not known yet
	last uint64 // the last sequence that it cannot have caused
	seen unreadLook
}

// An unreadLook is what the pump saw between reading a batch and feeding it.
type unreadLook struct {
	unread   int    // bytes; 0: none, or not known
	typed    uint64 // into the session, whether or not the terminal had taken them
	sequence uint64 // after the batch
}

// before reports whether part of an input that ended with byte end was unread when l was taken.
// Bytes typed later are unread too; each takes up to two places in the terminal's queue (PARMRK).
func (l unreadLook) before(end uint64) bool {
	return l.unread > 0 && (l.typed <= end || uint64(l.unread) > 2*(l.typed-end))
}

// note takes a look, with mu held: the input did not cause what was written before it was read. The
// pump may look before the input's end is known.
func (i *typedInput) note(l unreadLook) {
	switch {
	case l.unread == 0:
	case i.end == 0:
		i.seen = l
	case l.before(i.end):
		i.last = max(i.last, l.sequence)
	}
}

// ask makes the pump look from now on. The input is to be typed after it.
func (s *Session) ask() *typedInput {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := &typedInput{last: s.term.Sequence()}
	s.asked = append(s.asked, i)
	return i
}

func (s *Session) stopAsking(i *typedInput) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = slices.DeleteFunc(s.asked, func(x *typedInput) bool { return x == i })
}

// lookUnread is called by the pump with a batch in hand.
func (s *Session) lookUnread() (l unreadLook) {
	s.mu.Lock()
	wanted := len(s.asked) > 0
	s.mu.Unlock()
	if u, ok := s.pty.(unreader); ok && wanted {
		if n, err := u.Unread(); err == nil {
			l.unread = n
		}
		l.typed = s.input.typed.Load() // afterwards: too many rather than too few
	}
	return l
}

// noteUnread is called by the pump when the batch was fed, with mu held: who sees the batch finds
// it noted.
func (s *Session) noteUnread(l unreadLook) {
	l.sequence = s.term.Sequence()
	for _, i := range s.asked {
		i.note(l)
	}
}

// awaitRead waits until what t typed was read, and completes its receipt. The error is the cause of
// the context's end.
func (t *typist) awaitRead(i *typedInput) error {
	s := t.s
	defer func() {
		s.mu.Lock()
		t.ReadSequence = i.last
		s.mu.Unlock()
	}()
	u, ok := s.pty.(unreader)
	if !ok || t.wrote.end == 0 || t.wrote.open {
		return nil
	}
	s.mu.Lock()
	i.end = t.wrote.end
	i.note(i.seen)
	s.mu.Unlock()
	n, err := u.Unread()
	if n > 0 && err == nil {
		t.o.park()
		ctx, cancel := context.WithTimeoutCause(t.ctx, t.o.Timeout, ErrTimeout)
		defer cancel()
		err = u.AwaitRead(ctx)
	}
	switch {
	case err == nil && s.endsLine(t.wrote.last):
		read := true
		t.Read = &read
	case errors.Is(err, ErrTimeout):
		n, err := u.Unread()
		l := unreadLook{unread: n, typed: s.input.typed.Load()}
		if err == nil && l.before(i.end) {
			t.Read = new(bool)
		}
	case t.ctx.Err() != nil:
		return context.Cause(t.ctx)
	}
	return nil
}

// endsLine reports whether a program can read what ends with c without more being typed.
func (s *Session) endsLine(c byte) bool {
	mode, err := s.pty.LineMode()
	return err == nil && (!mode.Canonical || slices.Contains(lineEnds(mode), c))
}

// lineEnds returns the characters that end or flush a line in canonical mode.
func lineEnds(mode pty.LineMode) []byte {
	ends := []byte{'\n'}
	if mode.CRToNL {
		ends = append(ends, '\r')
	}
	for _, c := range [...]byte{mode.EOF, mode.EOL, mode.EOL2, mode.Interrupt, mode.Quit,
		mode.Suspend} {
		if c != 0 { // not disabled
			ends = append(ends, c)
		}
	}
	return ends
}
