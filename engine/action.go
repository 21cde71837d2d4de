package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
)

// An Action is something a person could do to a session: one of the types below.
type Action interface {
	do(t *typist) error
}

// An unqueued action types nothing, and waits for nobody who does.
type unqueued interface {
	Action
	unqueued()
}

// A DoOption says how an action is done. [Within], [Parked], [Only], [Once], [UntilRead] and a
// [*Lease] are options.
type DoOption interface{ act(o *doOptions) }

// Only is called right before the first byte is typed, when no other action can come between; its
// error prevents the typing and is returned by [Session.Do]. It must not block, nor act on the
// session.
type Only func(v *View) error

type doOptions struct {
	Timeout time.Duration
	Parked  func()
	Lease   *Lease
	Only    func(v *View) error

	UntilRead bool
	By        string // who acts
	Once      Once
}

func (d Within) act(o *doOptions) { o.Timeout = time.Duration(d) }
func (f Parked) act(o *doOptions) { o.Parked = f }
func (f Only) act(o *doOptions)   { o.Only = f }
func (l *Lease) act(o *doOptions) { o.Lease = l }

func (o doOptions) park() {
	if o.Parked != nil {
		o.Parked()
	}
}

// A Receipt says what an action did.
type Receipt struct {
	// Sequence is the session's sequence right before the first byte was written: a wait after it
	// sees everything the action caused.
	Sequence uint64
	Stripped int // control bytes taken out of a bracketed paste
	// Presses are those of clicks, drags and scrolls, in their order.
	Presses []Press
	Written int // bytes that the terminal has taken, also with an error
	// Secret says that something was typed where the program showed nothing of it, as a password.
	Secret bool
	// Again says that nothing was done now: the action of the same [Once] was done before, and the
	// receipt is that one's.
	Again bool
	// Read says, with [UntilRead], whether the program has read all that was typed, or has thrown
	// it away: a terminal does not tell which. It is nil where that cannot be known: off Linux, for
	// an unfinished line of a terminal in canonical mode, once the program has ended, or when
	// unread input may be what others typed later.
	Read *bool
	// ReadSequence, with UntilRead, is a sequence that the reading of all of the input came after,
	// as late as that can be proved; at least Sequence. A wait after it sees every effect of that,
	// and nothing that is known to have come before it, such as the echo of a line. What the program
	// wrote when it had read only a part, such as the first of several lines, may be before it.
	ReadSequence uint64
}

type (
	// Text is typed as it is. The Enter key sends "\r".
	Text string
	// Paste is pasted as it is; the same bytes as Text.
	Paste string
	// BracketedPaste is wrapped in CSI 200 ~ and CSI 201 ~; control bytes other than TAB, LF and CR
	// are removed, so that nothing inside can end the paste.
	BracketedPaste string
	// StreamText is typed in chunks with a pause after each, for programs that mistake a burst for
	// a paste.
	StreamText struct {
		Text  string
		Chars int           // characters a chunk, 1 to 1,024
		Delay time.Duration // after each full chunk, up to 100 ms
	}
	// Key is an event of one key, as [vt.ParseKey] makes it from a name such as "ctrl+c", encoded
	// for the terminal's modes; it fails with ErrNoKey when they have no bytes for it.
	Key vt.Key
	// Mouse is one mouse event; it fails with ErrNoMouse when the program does not ask for it.
	Mouse vt.Mouse
	// Resize changes the terminal's size.
	Resize pty.Size
	// Theme changes the terminal's colours, as the program can query them and as pictures are
	// drawn. A program that asked for notice of changes (mode 2031) gets it.
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

// ErrNoKey: a terminal sends nothing for this key, or for its release, in the modes that the
// program has set. The kitty keyboard protocol has bytes for all keys, and for releases, once a
// program asks for them.
var ErrNoKey = errors.New("the program does not ask for this kind of key event")

// ErrTooManyMarks: a transcript keeps at most 64 labels.
var ErrTooManyMarks = fmt.Errorf("the transcript has %d marks already", maxMarks)

// A SizeError says which side of a terminal size is out of range.
type SizeError struct {
	Rows, Cols, Most int
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("a terminal of %d rows and %d columns is not possible: each side is 1 to %d",
		e.Rows, e.Cols, e.Most)
}

// A PositionError says that a mouse event at cell Row, Col, from zero, is not on a screen of Rows
// by Cols cells.
type PositionError struct{ Row, Col, Rows, Cols int }

func (e *PositionError) Error() string {
	return fmt.Sprintf("row %d, column %d is not on the screen, which has rows 0 to %d and columns 0 to %d", e.Row, e.Col, e.Rows-1, e.Cols-1)
}

// MaxSide limits a terminal's rows and columns: a view then shows a million cells of 16 bytes at
// most.
const MaxSide = 1000

// Do performs a and returns when the PTY has taken all its bytes. Actions of any number of
// goroutines are performed one after the other. Without [Within] a program that does not read gets
// [DefaultInputTimeout]. Errors: *[InputBlockedError], *[LineTooLongError], [ErrInputFull],
// [ErrEnded], [ErrClosed], *[LeasedError], *[SizeError], *[PositionError], [ErrNoMouse],
// [ErrNoKey], *[TargetError], [ErrTooManyMarks], *[pty.SurvivorsError], or the cause of ctx's end;
// of a [Typing] also *[TypingError] and *[PartError]; with a [Once] also *[OnceError].
func (s *Session) Do(ctx context.Context, a Action, options ...DoOption) (Receipt, error) {
	var o doOptions
	for _, x := range options {
		x.act(&o)
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultInputTimeout
	}
	s.hold()
	defer s.let()
	if o.Once.ID != "" {
		return s.once(ctx, a, o)
	}
	r, _, err := s.act(ctx, a, o)
	return r, err
}

// act does an action. whole says that all of it was done, whatever the error says of its reading.
func (s *Session) act(ctx context.Context, a Action, o doOptions) (r Receipt, whole bool, err error) {
	t := &typist{s: s, ctx: ctx, o: o}
	err = t.perform(a)
	whole = err == nil
	t.noteUntaken(err)
	if t.asked != nil {
		if err == nil {
			err = t.awaitRead(t.asked)
			if err != nil && t.Written > 0 { // it is all typed
				done := 1
				if several, ok := a.(Typing); ok {
					done = len(several.Actions)
				}
				err = &PartError{Done: done, Written: t.Written, Err: err}
			}
		}
		s.stopAsking(t.asked)
	}
	s.engine.counts.did(t.Receipt, err)
	return t.Receipt, whole, err
}

func (Signal) unqueued()         {}
func (Resize) unqueued()         {}
func (Theme) unqueued()          {}
func (Kill) unqueued()           {}
func (MarkTranscript) unqueued() {}

func (a Signal) do(t *typist) error {
	if err := t.s.inputError(); err != nil {
		return err
	}
	if err := t.s.mayType(t.o.Lease); err != nil {
		return err
	}
	t.Sequence = t.s.Sequence()
	t.as("signal", string(a)).noteTyped(nil, false)
	return t.s.pty.Signal(pty.Signal(a))
}

func (a Resize) do(t *typist) error {
	t.Sequence = t.s.Sequence()
	return t.s.resize(pty.Size(a), t.o.Lease, t.o.By)
}

func (a Theme) do(t *typist) error {
	t.Sequence = t.s.Sequence()
	return t.s.setTheme(vt.Theme(a), t.o.Lease)
}

func (Kill) do(t *typist) error {
	t.Sequence = t.s.Sequence()
	t.o.park()
	return t.s.Kill(t.ctx)
}

func (a MarkTranscript) do(t *typist) error {
	s := t.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.rec.mark(string(a)) {
		return ErrTooManyMarks
	}
	s.view = nil
	t.Sequence = s.term.Sequence()
	return nil
}
