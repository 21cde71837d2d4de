package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
)

const (
	// EscapePause is the least pause between an Escape and what is typed after it in one [Typing]:
	// an ESC byte with a character right after it means Alt and that character. Programs take an
	// Escape for a key of its own after 25 to 100 ms mostly (vim's ttimeoutlen is 100, most
	// settings of ncurses' ESCDELAY are less); a person's fingers leave as much. On Linux it begins
	// when the program has read the Escape.
	EscapePause = 120 * time.Millisecond
	// MaxPace bounds [Typing.Delay]: nobody types slower.
	MaxPace = 10 * time.Second
	// MaxPaused bounds the total of the pauses of one [Typing]: nobody else can type into the
	// session during it.
	MaxPaused = 10 * time.Minute
	// MaxTyping bounds the actions of one [Typing].
	MaxTyping = 1024
)

// Typing types its actions in order, as one action that no other can interrupt. It pauses for Delay
// between two keystrokes: a text is then typed character by character. A paste and a chunk of
// [StreamText] are one keystroke. After an Escape the pause is at least [EscapePause], unless the
// program uses a keyboard protocol that makes an Escape unambiguous.
//
// [Within] bounds each keystroke that the program does not read; pauses do not count. Errors are
// those of [Session.Do], *[TypingError], and *[PartError] when something had been typed before.
type Typing struct {
	Actions []Action      // 1 to MaxTyping: text, pastes, keys, mouse events, interrupt and EOF
	Delay   time.Duration // 0 to MaxPace
}

// A TypingError says why a [Typing] is refused. Nothing was typed.
type TypingError struct {
	Index int // of the action that is wrong; -1: the Typing as a whole
	Why   string
}

func (e *TypingError) Error() string {
	if e.Index < 0 {
		return e.Why
	}
	return fmt.Sprintf("action %d: %s", e.Index+1, e.Why)
}

// A PartError says that typing, or the wait until it was read, ended early, and how far it got. It
// wraps the cause.
type PartError struct {
	Done    int // actions that were typed completely
	Written int // bytes that the terminal has taken
	Err     error
}

func (e *PartError) Error() string {
	return fmt.Sprintf("%v (%d bytes had been typed, %d actions to their end)", e.Err, e.Written,
		e.Done)
}

// Unwrap returns the cause.
func (e *PartError) Unwrap() error { return e.Err }

// keystrokes returns the number of pauses within an action, plus one.
func keystrokes(a Action) int {
	switch a := a.(type) {
	case Text:
		return utf8.RuneCountInString(string(a))
	case StreamText:
		return (utf8.RuneCountInString(a.Text) + a.Chars - 1) / max(a.Chars, 1)
	}
	return 1
}

// check refuses what cannot be done before anything is typed.
func (a Typing) check() error {
	switch {
	case len(a.Actions) == 0 || len(a.Actions) > MaxTyping:
		return &TypingError{-1,
			fmt.Sprintf("expected 1 to %d actions, got %d", MaxTyping, len(a.Actions))}
	case a.Delay < 0 || a.Delay > MaxPace:
		return &TypingError{-1,
			fmt.Sprintf("expected a pause of 0 to %v, got %v", MaxPace, a.Delay)}
	}
	strokes := 0
	for i, x := range a.Actions {
		switch x.(type) {
		case nil, Typing, unqueued:
			return &TypingError{i, "it types nothing, and is an action of its own"}
		}
		strokes += keystrokes(x)
	}
	if took := time.Duration(strokes-1) * a.Delay; took > MaxPaused {
		return &TypingError{-1,
			fmt.Sprintf("%d keystrokes with %v between them take %v, and at most %v are allowed: pause less, or type "+
				"less at once", strokes, a.Delay, took, MaxPaused)}
	}
	return nil
}

func (a Typing) do(t *typist) error {
	t.delay, t.several = a.Delay, true
	for done, x := range a.Actions {
		if err := x.do(t); err != nil {
			if t.Written > 0 {
				err = &PartError{Done: done, Written: t.Written, Err: err}
			}
			return err
		}
	}
	return nil
}

// A typist does one action. It belongs to the goroutine that performs the action.
type typist struct {
	s       *Session
	ctx     context.Context
	o       doOptions
	delay   time.Duration // between keystrokes
	several bool          // it is a Typing
	began   bool
	escaped bool        // the last keystroke was a bare ESC
	wrote   wrote       // by the last keystroke
	asked   *typedInput // with UntilRead
	until   time.Time   // when a target has to be found; zero: not known yet
	what    string      // kind of input; see [Event]
	key     string      // name of the key; "": none, or one that types text
	noted   int         // bytes, in event
	event   *Event      // what was noted of it
	Receipt
}

// perform does an action that no other can interrupt.
func (t *typist) perform(a Action) error {
	switch a := a.(type) {
	case unqueued:
		return a.do(t)
	case Typing:
		if err := a.check(); err != nil {
			return err
		}
	}
	s := t.s
	if x, ok := a.(awaits); ok { // while others may type
		if err := cmp.Or(s.inputError(), s.mayType(t.o.Lease)); err != nil {
			return err
		}
		if _, err := t.spots(x.targets()); err != nil {
			return err
		}
	}
	release, err := s.takeTurn(t.ctx, t.o)
	if err != nil {
		return err
	}
	defer release()
	if err := s.inputError(); err != nil {
		return err
	}
	if err := s.mayType(t.o.Lease); err != nil {
		return err
	}
	if t.o.Only != nil {
		if err := t.o.Only(s.View()); err != nil {
			return err
		}
	}
	if t.o.UntilRead {
		t.asked = s.ask()
	}
	t.Sequence = s.Sequence()
	return a.do(t)
}

// write types p in one piece, no sooner than after since the last keystroke.
func (t *typist) write(p []byte, after time.Duration) error {
	if len(p) == 0 && t.several {
		return nil
	}
	return t.stroke(after, func() ([]byte, error) { return p, nil })
}

// stroke types the result of encode, called after the pause: the program may have set other modes
// by then.
func (t *typist) stroke(after time.Duration, encode func() ([]byte, error)) error {
	if t.began {
		if t.escaped && t.several {
			t.letRead()
		}
		if err := t.s.pause(t.ctx, t.gap(after), t.o); err != nil {
			return err
		}
	}
	p, err := encode()
	if err != nil {
		return err
	}
	t.began, t.escaped = true, string(p) == "\x1b"
	s := t.s
	secret := s.beforeTyping(p)
	s.noteKeys(p, secret)
	if t.asked != nil {
		s.expectEcho(t.ctx, t.asked, p)
	}
	t.Secret = t.Secret || secret
	t.noteTyped(p, secret)
	var about func()
	if !secret {
		about = func() { s.typed(p) }
	}
	wrote, err := s.input.send(t.ctx, p, t.o, about)
	if err != nil {
		var blocked *InputBlockedError
		if errors.As(err, &blocked) && blocked.Written > 0 {
			t.Written += blocked.Written
			s.stir(time.Now())
		}
		return err
	}
	t.Written += len(p)
	if len(p) > 0 {
		t.wrote = wrote
	}
	s.stir(time.Now())
	return nil
}

// mostUnread bounds how long the pause after an Escape is put off until the program has read it. A
// program that is busy for longer may take it and the next key for one.
const mostUnread = 2 * time.Second

// letRead waits until the program has read the Escape, where that can be known: the pause behind it
// counts from there. A program that had no turn in time would read the next key right after it, and
// take both for Alt and that key. (Seen in 1 of 7 runs of our tests at a load of 17.)
func (t *typist) letRead() {
	u, ok := t.s.pty.(unreader)
	if !ok {
		return
	}
	if n, err := u.Unread(); n == 0 || err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(t.ctx, mostUnread)
	defer cancel()
	t.o.park()
	_ = u.AwaitRead(ctx) // the keystroke that follows says what is wrong
}

// gap is the pause after the last keystroke, when after is asked for.
func (t *typist) gap(after time.Duration) time.Duration {
	if t.escaped && t.several {
		return max(after, EscapePause)
	}
	return after
}

// chunks types a text in pieces of chars characters, with a pause between them.
func (t *typist) chunks(text string, chars int, after time.Duration) error {
	for first := true; text != ""; first = false {
		n := 0
		for range max(chars, 1) {
			_, w := utf8.DecodeRuneInString(text[n:])
			n += w
		}
		pause := after
		if first {
			pause = t.delay
		}
		if err := t.write([]byte(text[:n]), pause); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// pause waits, at most until the program ends.
func (s *Session) pause(ctx context.Context, d time.Duration, o doOptions) error {
	if d <= 0 {
		return nil
	}
	o.park()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.reaped:
		return cmp.Or(s.inputError(), ErrEnded)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// takeTurn waits until no other action is under way, at most for o.Timeout.
func (s *Session) takeTurn(ctx context.Context, o doOptions) (release func(), err error) {
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

// noteKeys notes what is about to be typed, before the program can answer it.
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

// typed passes what is about to be typed to the taps that want it.
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

func (a Text) do(t *typist) error {
	t.as("text", "")
	if t.delay > 0 {
		return t.chunks(string(a), 1, t.delay)
	}
	return t.write([]byte(a), 0)
}

func (a Paste) do(t *typist) error { return t.as("paste", "").write([]byte(a), t.delay) }

func (a BracketedPaste) do(t *typist) error {
	p, stripped := vt.BracketedPaste(string(a))
	t.Stripped += stripped
	return t.as("paste", "").write(p, t.delay)
}

func (a StreamText) do(t *typist) error {
	return t.as("text", "").chunks(a.Text, a.Chars, a.Delay)
}

// as says what kind of input comes, and which key.
func (t *typist) as(what, key string) *typist {
	t.what, t.key = what, key
	return t
}

func (a Key) do(t *typist) error {
	name := vt.Key(a).String()
	if a.Code == vt.KeyRune && a.Mods&^vt.Shift == 0 {
		name = "" // it types text
	}
	return t.as("key", name).stroke(t.delay, func() ([]byte, error) {
		t.s.mu.Lock()
		p := t.s.term.EncodeKey(vt.Key(a))
		t.s.mu.Unlock()
		if p == nil {
			return nil, ErrNoKey
		}
		return p, nil
	})
}

func (a Mouse) do(t *typist) error { return a.after(t, t.delay) }

// after types the event no sooner than after since the last keystroke.
func (a Mouse) after(t *typist, after time.Duration) error {
	return t.as("mouse", "").stroke(after, func() ([]byte, error) {
		t.s.mu.Lock()
		rows, cols := t.s.term.Size()
		p := t.s.term.EncodeMouse(vt.Mouse(a))
		t.s.mu.Unlock()
		if a.Row < 0 || a.Row >= rows || a.Col < 0 || a.Col >= cols {
			return nil, &PositionError{Row: a.Row, Col: a.Col, Rows: rows, Cols: cols}
		}
		if p == nil {
			return nil, ErrNoMouse
		}
		return p, nil
	})
}

func (Interrupt) do(t *typist) error { return t.as("key", "ctrl+c").write([]byte{0x03}, t.delay) }
func (EOF) do(t *typist) error       { return t.as("key", "ctrl+d").write([]byte{0x04}, t.delay) }
