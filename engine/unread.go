package engine

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

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
	UnreadAfter() (n int, written uint64, err error)
	Written() (n uint64, all bool, err error)
	AwaitRead(ctx context.Context) error
}

// A typedInput is one action whose reading somebody waits for. Session.mu guards it.
//
// Two observations prove that output was not caused by the program reading all of the input. The first
// is a look at the terminal: while part of the input is unread, nothing written so far was caused by
// it. The typist looks as soon as the terminal has the input, and the pump with each batch in hand; a
// look that comes after the program has read proves nothing. The second is the echo: the terminal
// writes it before it lets the program read. So once everything written before the input is counted,
// bytes that follow and are those of the echo were not caused by it either.
//
// The input is typed in one piece all the same: a line whose end came later could lose its beginning
// to a program that flushes what was typed, and the end alone would be an empty answer.
//
// All counts include what the pump has yet to read. It cuts its batches where they end: what came
// before and what came after get sequences of their own, even if both are read at once. Everything
// after the last of them counts as an effect. So a wait never misses an answer.
type typedInput struct {
	end    uint64 // how many bytes had been typed into the session at its end; 0: not known yet
	before uint64 // the output that it cannot have caused, in bytes from the program's start
	last   uint64 // the last sequence within that
	// Without end it is not known yet what a look means for the input.
	seen     unreadLook
	seenLast uint64 // the last sequence within what was written before it

	echo  []byte // what the terminal will echo, right after output from; nil: not known
	from  uint64
	heard int // so much of the echo has come
}

// hear takes output that follows on so much of it. If it is not the echo, nothing is known.
func (i *typedInput) hear(after uint64, p []byte) {
	at := i.from + uint64(i.heard)
	if i.echo == nil || after+uint64(len(p)) <= at {
		return
	}
	if after > at {
		i.echo = nil
		return
	}
	rest := i.echo[i.heard:]
	p = p[at-after:]
	n := min(len(p), len(rest))
	if !bytes.Equal(p[:n], rest[:n]) {
		i.echo = nil
		return
	}
	if i.heard += n; i.heard == len(i.echo) {
		i.before, i.echo = max(i.before, i.from+uint64(i.heard)), nil
	}
}

// An unreadLook is what was unread at a moment.
type unreadLook struct {
	unread  int    // bytes; 0: none, or not known
	written uint64 // bytes of output before that, from the program's start
	typed   uint64 // into the session, whether or not the terminal had taken them
}

// before reports whether part of an input that ended with byte end was unread when l was taken.
// Bytes typed later are unread too; each takes up to two places in the terminal's queue (PARMRK).
func (l unreadLook) before(end uint64) bool {
	return l.unread > 0 && (l.typed <= end || uint64(l.unread) > 2*(l.typed-end))
}

// note takes a look. The pump may look before the input's end is known.
func (i *typedInput) note(l unreadLook) {
	switch {
	case l.unread == 0:
	case i.end == 0:
		i.seen = l
	case l.before(i.end):
		i.before = max(i.before, l.written)
	}
}

// ended takes the input's end.
func (i *typedInput) ended(end uint64) {
	i.end = end
	if i.note(i.seen); i.before > 0 {
		i.last = max(i.last, i.seenLast)
	}
}

// reach notes that the session's sequence is seq after so much output.
func (i *typedInput) reach(fed, seq uint64) {
	if fed <= i.before {
		i.last = seq
	}
	if fed <= i.seen.written {
		i.seenLast = seq
	}
}

// ask makes the pump look from now on. The input is to be typed after it.
func (s *Session) ask() *typedInput {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := &typedInput{last: s.term.Sequence()}
	s.asked = append(s.asked, i)
	s.asking.Store(true)
	return i
}

func (s *Session) stopAsking(i *typedInput) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = slices.DeleteFunc(s.asked, func(x *typedInput) bool { return x == i })
	s.asking.Store(len(s.asked) > 0)
}

// lookUnread is called by the pump with a batch in hand.
func (s *Session) lookUnread() {
	if u, ok := s.pty.(unreader); ok && s.asking.Load() {
		s.look(u, func() {})
	}
}

// hear is called by the pump with a batch in hand.
func (s *Session) hear(p []byte) {
	if !s.asking.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.asked {
		i.hear(s.fed, p)
	}
}

// look looks at what is unread and notes that; first is called in between, with mu held. Output from
// after the look is not fed before the note: the pump looks between reading and feeding it, and so
// waits for the note.
func (s *Session) look(u unreader, first func()) (unread int, err error) {
	s.looking.Lock()
	defer s.looking.Unlock()
	var l unreadLook
	l.unread, l.written, err = u.UnreadAfter()
	l.typed = s.input.typed.Load() // afterwards: too many rather than too few
	s.mu.Lock()
	defer s.mu.Unlock()
	first()
	for _, i := range s.asked {
		if err == nil {
			i.note(l)
		}
		i.reach(s.fed, s.term.Sequence())
	}
	return l.unread, err
}

// mostDrains bounds how often the pump is waited for until all output is counted. A program that
// floods its terminal always has more.
const mostDrains = 3

// drainBound bounds that time, and the time for the echo: the pump takes microseconds, unless a tap
// holds it up.
const drainBound = 100 * time.Millisecond

// expectEcho is called before p is typed for i: it counts what was written so far, and notes what the
// terminal will echo.
func (s *Session) expectEcho(ctx context.Context, i *typedInput, p []byte) {
	echo := s.echoOf(p)
	u, ok := s.pty.(unreader)
	if !ok || echo == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, drainBound)
	defer cancel()
	for range mostDrains {
		written, all, err := u.Written()
		if err != nil {
			return
		}
		s.mu.Lock()
		i.echo = nil
		i.before = max(i.before, written)
		i.reach(s.fed, s.term.Sequence())
		if all && s.fed <= written {
			i.echo, i.from, i.heard = echo, written, 0
		}
		s.mu.Unlock()
		if all {
			return
		}
		s.awaitFed(ctx, i)
	}
}

// awaitEcho waits until the pump has the echo of i, if one is expected.
func (s *Session) awaitEcho(ctx context.Context, i *typedInput) {
	ctx, cancel := context.WithTimeout(ctx, drainBound)
	defer cancel()
	for {
		changed := s.Changed()
		s.mu.Lock()
		waits := i.echo != nil
		s.mu.Unlock()
		if !waits {
			return
		}
		select {
		case <-changed:
		case <-s.pumped:
			return
		case <-ctx.Done():
			s.mu.Lock()
			i.echo = nil
			s.mu.Unlock()
			return
		}
	}
}

// awaitFed waits until the pump has fed what i cannot have caused.
func (s *Session) awaitFed(ctx context.Context, i *typedInput) {
	for {
		changed := s.Changed()
		s.mu.Lock()
		fed := s.fed >= i.before
		s.mu.Unlock()
		if fed {
			return
		}
		select {
		case <-changed:
		case <-s.pumped:
			return
		case <-ctx.Done():
			return
		}
	}
}

// untilCut returns how much of a batch of n bytes that is to be fed now was written before a look
// that was noted, or all of it.
func (s *Session) untilCut(n int) int {
	if !s.asking.Load() {
		return n
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.asked {
		for _, at := range [...]uint64{i.before, i.seen.written} {
			if at > s.fed {
				n = int(min(uint64(n), at-s.fed))
			}
		}
	}
	return n
}

// noteFed is called by the pump when n bytes were fed, with mu held: who sees them finds it noted.
func (s *Session) noteFed(n int) {
	s.fed += uint64(n)
	for _, i := range s.asked {
		i.reach(s.fed, s.term.Sequence())
	}
}

// awaitRead waits until what t typed was read, and completes its receipt. The error is the cause of
// the context's end.
func (t *typist) awaitRead(i *typedInput) error {
	s := t.s
	ctx, cancel := context.WithTimeoutCause(t.ctx, t.o.Timeout, ErrTimeout)
	defer cancel()
	defer func() {
		t.o.park()
		s.awaitEcho(ctx, i)
		s.awaitFed(ctx, i)
		s.mu.Lock()
		t.ReadSequence = i.last
		s.mu.Unlock()
	}()
	u, ok := s.pty.(unreader)
	if !ok || t.wrote.end == 0 || t.wrote.open {
		return nil
	}
	n, err := s.look(u, func() { i.ended(t.wrote.end) })
	if n > 0 && err == nil {
		t.o.park()
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

// echoOf is what the terminal echoes for p, as terminals are set: a line or a part of one, to a
// terminal that echoes and edits lines. nil: that is not known.
func (s *Session) echoOf(p []byte) []byte {
	mode, err := s.pty.LineMode()
	if err != nil || !mode.Canonical || !mode.Echo || len(p) == 0 {
		return nil
	}
	echo := bytes.Clone(p)
	if c := p[len(p)-1]; c == '\n' || c == '\r' && mode.CRToNL {
		echo = append(echo[:len(echo)-1], "\r\n"...)
		p = p[:len(p)-1]
	}
	if slices.ContainsFunc(p, func(c byte) bool { return c < ' ' || c == 0x7f }) {
		return nil
	}
	return echo
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
