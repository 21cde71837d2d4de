package client

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// ErrNoTerminal is the error of [Session.Interact] where there is no terminal to give: run the
// program at one, or use Send and Wait.
var ErrNoTerminal = errors.New("interact needs a terminal as input and output")

// InteractOptions say how a person's terminal is given to a session. The zero value will do.
type InteractOptions struct {
	// Detach is the letter or sign that detaches with Ctrl; 0: ']'
	Detach byte
	Holder string   // who types, for others to read; "": interact
	Take   bool     // take the right to type from whoever has it
	In     *os.File // the terminal; nil: os.Stdin
	Out    *os.File // the terminal; nil: os.Stdout
}

// A SignalError says that [Session.Interact] has ended, and given the terminal back, because the
// process was told to end. What the program does about the signal is up to it.
type SignalError struct{ Signal os.Signal }

func (e *SignalError) Error() string { return "interact: " + e.Signal.String() }

const (
	// frameWait is how long the server waits for something new to show; then it is asked again.
	frameWait = 10 * time.Minute
	// partBound is how long the server may take to take the lease back. It does that anyway when
	// the connection ends.
	partBound = 5 * time.Second
	// drawBound is how long a terminal that takes no output may hold up the end.
	drawBound = time.Second
)

// Interact gives the person's terminal to the session, under a lease, until the detach key is
// pressed, the program ends or ctx does: what the program shows is shown there, what is typed there
// is typed into the program, and the session has the terminal's size. Then the terminal is as it
// was, the lease is released and the session's size restored. It returns how the program ended, and
// nil when the person detached.
//
// While it runs, requests of the client do not queue behind each other, as with server.set_ordering
// concurrent. On Windows the error is [ErrNoTerminal].
//
// Errors: [ErrNoTerminal], [ErrSessionLeased] when another client types, *[SignalError] after
// SIGHUP, SIGINT or SIGTERM, the terminal's, and those of [Client.Call].
func (s *Session) Interact(ctx context.Context, o InteractOptions) (exit *Exit, err error) {
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	if o.Detach == 0 {
		o.Detach = ']'
	}
	if o.Holder == "" {
		o.Holder = "interact"
	}
	t, err := openTerminal(o.In, o.Out)
	if err != nil {
		return nil, err
	}
	defer t.close()
	if err := s.Lease(ctx, o.Holder, o.Take); err != nil {
		return nil, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), partBound)
		defer cancel()
		if rerr := s.Release(ctx); err == nil && !gone(rerr) {
			err = rerr
		}
	}()
	restore, err := s.client.overtaking(ctx)
	if err != nil {
		return nil, err
	}
	defer restore()
	return s.interact(ctx, t, o.Detach&31)
}

// gone reports whether err says no more than that the session, or the server, is no more.
func gone(err error) bool {
	return errors.Is(err, ErrClosed) || errors.Is(err, ErrUnknownSession) || errors.Is(err, ErrSessionEnded)
}

// interact shows and types until something ends it.
func (s *Session) interact(ctx context.Context, t *terminal, detach byte) (*Exit, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals, stop := watchTerminal()
	defer stop()
	if err := t.enter(); err != nil {
		return nil, err
	}
	shown := make(chan ending, 1)
	drawn, typed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(drawn)
		exit, err := s.show(ctx, t)
		shown <- ending{exit, err}
	}()
	go func() {
		defer close(typed)
		cancel(s.typeFrom(ctx, t, detach))
	}()
	defer func() {
		cancel(nil)
		t.wake()
		<-typed
		t.leave(drawn)
	}()
	for {
		if err := s.fit(ctx, t); err != nil && ctx.Err() == nil {
			return nil, err
		}
		select {
		case r := <-shown:
			if r.err == nil || ctx.Err() == nil {
				return r.exit, r.err
			}
			return nil, detached(ctx)
		case <-ctx.Done():
			return nil, detached(ctx)
		case sig := <-signals:
			if !resized(sig) {
				return nil, &SignalError{sig}
			}
		}
	}
}

// An ending is how the showing ended.
type ending struct {
	exit *Exit
	err  error
}

// errDetached ends an interaction as it should.
var errDetached = errors.New("detached")

func detached(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, errDetached) {
		return err
	}
	return nil
}

// fit gives the session the terminal's size, for as long as it is leased.
func (s *Session) fit(ctx context.Context, t *terminal) error {
	rows, cols := t.size()
	if rows < 1 || cols < 1 {
		return nil
	}
	return s.Hold(ctx, min(rows, 1000), min(cols, 1000))
}

// show draws the session until its program has ended.
func (s *Session) show(ctx context.Context, t *terminal) (*Exit, error) {
	wait := frameWait.Milliseconds()
	var last *Frame
	for {
		o := FrameOptions{TimeoutMS: &wait}
		if last != nil {
			o.Since = &last.Sequence
		}
		f, err := s.Frame(ctx, o)
		if err != nil {
			return nil, err
		}
		if err := t.draw(f); err != nil {
			return nil, err
		}
		if f.Over() {
			return f.Exit, nil
		}
		last = f
	}
}

// typeFrom types what is typed at the terminal. It returns [errDetached] after the detach key, nil
// when it was woken.
func (s *Session) typeFrom(ctx context.Context, t *terminal, detach byte) error {
	var part []byte // of a character
	for {
		b, err := t.read()
		if err != nil || b == nil {
			return err
		}
		found := false
		for i, c := range b {
			if c == detach {
				b, found = b[:i], true
				break
			}
		}
		part = append(part, b...)
		whole := len(part)
		for i := 1; i < utf8.UTFMax && i <= len(part); i++ {
			if c := part[len(part)-i]; utf8.RuneStart(c) {
				if !utf8.FullRune(part[len(part)-i:]) {
					whole -= i
				}
				break
			}
		}
		if err := s.typeText(ctx, strings.ToValidUTF8(string(part[:whole]), "\uFFFD")); err != nil {
			return err
		}
		part = append([]byte(nil), part[whole:]...)
		if found {
			return errDetached
		}
	}
}

// mouseReport is one of the mouse, in the form of mode 1006.
var mouseReport = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b\[<(\d{1,4});(\d{1,4});(\d{1,4})([Mm])`)
})

// typeText types reports of the mouse as such, in the form that the program asked for, and all else
// as it is.
func (s *Session) typeText(ctx context.Context, text string) error {
	var actions []Action
	from := 0
	for _, m := range mouseReport().FindAllStringSubmatchIndex(text, -1) {
		if m[0] > from {
			actions = append(actions, Action{"text", text[from:m[0]]})
		}
		from = m[1]
		event := mouseEvent(text[m[2]:m[3]], text[m[4]:m[5]], text[m[6]:m[7]], text[m[8]] == 'm')
		actions = append(actions, Action{"mouse", event})
	}
	if from < len(text) {
		actions = append(actions, Action{"text", text[from:]})
	}
	if len(actions) == 0 {
		return nil
	}
	_, err := s.Do(ctx, actions...)
	return err
}

// mouseEvent is the event of a report: what was pressed with which keys, column and row from 1.
func mouseEvent(code, col, row string, up bool) map[string]any {
	n, _ := strconv.Atoi(code)
	x, _ := strconv.Atoi(col)
	y, _ := strconv.Atoi(row)
	buttons := [...]Button{Left, Middle, Right, "none"}
	if n&64 != 0 {
		buttons = [...]Button{WheelUp, WheelDown, WheelLeft, WheelRight}
	}
	e := map[string]any{"row": max(y, 1) - 1, "col": max(x, 1) - 1, "button": buttons[n&3], "action": "press"}
	switch {
	case n&32 != 0:
		e["action"] = "move"
	case up:
		e["action"] = "release"
	}
	var mods []string
	for i, mod := range [...]string{"shift", "alt", "ctrl"} {
		if n&(4<<i) != 0 {
			mods = append(mods, mod)
		}
	}
	if mods != nil {
		e["mods"] = mods
	}
	return e
}
