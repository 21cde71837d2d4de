package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
)

// An Action is something a person could do to a session. Its types are the ones below.
type Action interface {
	do(ctx context.Context, s *Session, o DoOptions) (Receipt, error)
}

// DoOptions say how long an action may take.
type DoOptions struct {
	Timeout time.Duration // for a child that does not read; 0: DefaultInputTimeout
	Parked  func()        // called right before the action blocks, each time it does; may be nil
	Lease   *Lease        // whose right to type the action has; nil: nobody's
	// Only is asked right before the first byte is typed, when no other action can come between; its error keeps it from being
	// typed, and is Do's. It must not block, nor act on the session. nil: typed in any case.
	Only func(v *View) error
}

func (o DoOptions) park() {
	if o.Parked != nil {
		o.Parked()
	}
}

// A Receipt tells what an action did.
type Receipt struct {
	// Sequence is the session's sequence right before the first byte was written: a wait with Since at this value
	// sees whatever the action caused.
	Sequence uint64
	Stripped int // control bytes taken out of a bracketed paste
	Written  int // bytes that the terminal has taken, also with an error
}

type (
	// Text is typed as it is.
	Text string
	// Paste is pasted as it is; the same bytes as Text.
	Paste string
	// BracketedPaste is wrapped in CSI 200 ~ and CSI 201 ~; control bytes other than TAB, LF and CR are taken out, so
	// that nothing inside can end the paste.
	BracketedPaste string
	// StreamText is typed in chunks with a pause after each, for programs that take a burst for a paste.
	StreamText struct {
		Text  string
		Chars int           // characters a chunk, 1 to 1,024
		Delay time.Duration // after each full chunk, up to 100 ms
	}
	// Key is what is done to one key, encoded from the terminal's modes; it fails with ErrNoKey
	// when they have no bytes for it.
	Key vt.Key
	// Mouse is one mouse event; it fails with ErrNoMouse when the program does not ask for it.
	Mouse vt.Mouse
	// Resize changes the terminal's size.
	Resize pty.Size
	// Theme changes what the program is told of the terminal's colours, and what pictures are drawn
	// with. A program that asked to be told of it (mode 2031) is.
	Theme vt.Theme
	// Interrupt is the byte 0x03.
	Interrupt struct{}
	// EOF is the byte 0x04.
	EOF struct{}
	// Signal goes to the terminal's foreground process group.
	Signal pty.Signal
	// Kill ends the program and all its descendants.
	Kill struct{}
	// MarkTranscript sets a label at the transcript's end.
	MarkTranscript string
)

// ErrNoMouse: the program has not asked for mouse events of this kind.
var ErrNoMouse = fmt.Errorf("the program does not ask for this kind of mouse event")

// ErrNoKey: a terminal sends nothing for this key, or for letting go of it, in the modes that the
// program has set. The kitty keyboard protocol has bytes for all keys, and for releases, once a
// program asks for them.
var ErrNoKey = errors.New("the program does not ask for this kind of key event")

// ErrTooManyMarks: a transcript keeps at most 64 labels.
var ErrTooManyMarks = fmt.Errorf("the transcript has %d marks already", maxMarks)

// A SizeError says which side of a terminal size is out of bounds.
type SizeError struct {
	Rows, Cols, Most int
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("a terminal of %d rows and %d columns is not possible: each side is 1 to %d", e.Rows, e.Cols, e.Most)
}

// A PositionError says that a mouse event at cell Row, Col, from zero, is not on a screen of Rows by Cols cells.
type PositionError struct{ Row, Col, Rows, Cols int }

func (e *PositionError) Error() string {
	return fmt.Sprintf("row %d, column %d is not on the screen, which has rows 0 to %d and columns 0 to %d", e.Row, e.Col, e.Rows-1, e.Cols-1)
}

// MaxSide is the most rows or columns of a terminal. A million cells of 16 bytes are what a look may have to show.
const MaxSide = 1000

// Do performs a and returns when the PTY has taken all its bytes. Actions of any number of
// goroutines are performed one after the other. Errors: *[InputBlockedError], *[LineTooLongError],
// [ErrInputFull], [ErrEnded], [ErrClosed], *[LeasedError], *[SizeError], *[PositionError],
// [ErrNoMouse], [ErrNoKey], [ErrTooManyMarks], *[pty.SurvivorsError], or the cause of ctx's end.
func (s *Session) Do(ctx context.Context, a Action, o DoOptions) (Receipt, error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultInputTimeout
	}
	s.hold()
	defer s.let()
	r, err := a.do(ctx, s, o)
	s.engine.counts.did(r, err)
	return r, err
}

// type_ writes chunks, each in one piece, with a pause between them, as one action that no other can enter.
func (s *Session) type_(ctx context.Context, o DoOptions, delay time.Duration, chunks func(yield func([]byte) bool)) (Receipt, error) {
	release, err := s.takeTurn(ctx, o)
	if err != nil {
		return Receipt{}, err
	}
	defer release()
	if err := s.inputError(); err != nil {
		return Receipt{}, err
	}
	if err := s.mayType(o.Lease); err != nil {
		return Receipt{}, err
	}
	if o.Only != nil {
		if err := o.Only(s.View()); err != nil {
			return Receipt{}, err
		}
	}
	r := Receipt{Sequence: s.Sequence()}
	first := true
	for c := range chunks {
		if !first && delay > 0 {
			if err := pause(ctx, delay, o); err != nil {
				return r, err
			}
		}
		first = false
		secret := s.beforeTyping(c)
		s.noteKeys(c, secret)
		if err := s.input.send(ctx, c, o); err != nil {
			var blocked *InputBlockedError
			if errors.As(err, &blocked) && blocked.Written > 0 {
				r.Written += blocked.Written
				s.stir(time.Now())
			}
			return r, err
		}
		r.Written += len(c)
		s.stir(time.Now())
		if !secret {
			s.typed(c)
		}
	}
	return r, nil
}

// noteKeys notes what is about to be typed: before the program can answer it.
func (s *Session) noteKeys(p []byte, secret bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	phase := ShellPhase("")
	if sh := s.latest.Shell; sh != nil {
		phase = sh.Phase
	}
	s.keys.typed(p, phase, secret, time.Now())
	s.view = nil
}

// typed shows the taps that want it what was typed.
func (s *Session) typed(p []byte) {
	s.mu.Lock()
	wanted := slices.ContainsFunc(s.taps, func(t Tap) bool { _, ok := t.(InputTap); return ok })
	s.mu.Unlock()
	if !wanted {
		return
	}
	now := time.Now()
	s.tap(func(t Tap) error {
		if x, ok := t.(InputTap); ok {
			return x.Input(now, p)
		}
		return nil
	})
}

// takeTurn waits until no other action is under way, at most for o.Timeout.
func (s *Session) takeTurn(ctx context.Context, o DoOptions) (release func(), err error) {
	release = func() { <-s.turn }
	select {
	case s.turn <- struct{}{}:
		return release, nil
	default:
	}
	o.park()
	timer := time.NewTimer(o.Timeout)
	defer timer.Stop()
	select {
	case s.turn <- struct{}{}:
		return release, nil
	case <-timer.C:
		return nil, &InputBlockedError{}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func pause(ctx context.Context, d time.Duration, o DoOptions) error {
	o.park()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func one(p []byte) func(func([]byte) bool) {
	return func(yield func([]byte) bool) { yield(p) }
}

func (a Text) do(ctx context.Context, s *Session, o DoOptions) (Receipt, error) {
	return s.type_(ctx, o, 0, one([]byte(a)))
}

func (a Paste) do(ctx context.Context, s *Session, o DoOptions) (Receipt, error) {
	return s.type_(ctx, o, 0, one([]byte(a)))
}

func (a BracketedPaste) do(ctx context.Context, s *Session, o DoOptions) (Receipt, error) {
	p, stripped := vt.BracketedPaste(string(a))
	r, err := s.type_(ctx, o, 0, one(p))
	r.Stripped = stripped
	return r, err
}

func (a StreamText) do(ctx context.Context, s *Session, o DoOptions) (Receipt, error) {
	return s.type_(ctx, o, a.Delay, func(yield func([]byte) bool) {
		for rest := a.Text; rest != ""; {
			n := 0
			for range a.Chars {
				_, w := utf8.DecodeRuneInString(rest[n:])
				n += w
			}
			if !yield([]byte(rest[:n])) {
				return
			}
			rest = rest[n:]
		}
	})
}

func (a Key) do(ctx context.Context, s *Session, o DoOptions) (Receipt, error) {
	s.mu.Lock()
	p := s.term.EncodeKey(vt.Key(a))
	s.mu.Unlock()
	if p == nil {
		return Receipt{}, ErrNoKey
	}
	return s.type_(ctx, o, 0, one(p))
}

func (a Mouse) do(ctx context.Context, s *Session, o DoOptions) (Receipt, error) {
	s.mu.Lock()
	rows, cols := s.term.Size()
	p := s.term.EncodeMouse(vt.Mouse(a))
	s.mu.Unlock()
	if a.Row < 0 || a.Row >= rows || a.Col < 0 || a.Col >= cols {
		return Receipt{}, &PositionError{Row: a.Row, Col: a.Col, Rows: rows, Cols: cols}
	}
	if p == nil {
		return Receipt{}, ErrNoMouse
	}
	return s.type_(ctx, o, 0, one(p))
}

func (Interrupt) do(ctx context.Context, s *Session, o DoOptions) (Receipt, error) {
	return s.type_(ctx, o, 0, one([]byte{0x03}))
}

func (EOF) do(ctx context.Context, s *Session, o DoOptions) (Receipt, error) {
	return s.type_(ctx, o, 0, one([]byte{0x04}))
}

func (a Signal) do(_ context.Context, s *Session, o DoOptions) (Receipt, error) {
	if err := s.inputError(); err != nil {
		return Receipt{}, err
	}
	if err := s.mayType(o.Lease); err != nil {
		return Receipt{}, err
	}
	r := Receipt{Sequence: s.Sequence()}
	return r, s.pty.Signal(pty.Signal(a))
}

func (a Resize) do(_ context.Context, s *Session, o DoOptions) (Receipt, error) {
	r := Receipt{Sequence: s.Sequence()}
	return r, s.resize(pty.Size(a), o.Lease)
}

func (a Theme) do(_ context.Context, s *Session, o DoOptions) (Receipt, error) {
	r := Receipt{Sequence: s.Sequence()}
	return r, s.setTheme(vt.Theme(a), o.Lease)
}

func (Kill) do(ctx context.Context, s *Session, o DoOptions) (Receipt, error) {
	r := Receipt{Sequence: s.Sequence()}
	o.park()
	return r, s.Kill(ctx)
}

func (a MarkTranscript) do(_ context.Context, s *Session, _ DoOptions) (Receipt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.rec.mark(string(a)) {
		return Receipt{}, ErrTooManyMarks
	}
	s.view = nil
	return Receipt{Sequence: s.term.Sequence()}, nil
}
