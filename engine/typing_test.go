package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/vt"
)

func key(t testing.TB, name string) engine.Key {
	t.Helper()
	k, err := vt.ParseKey(name)
	if err != nil {
		t.Fatal(err)
	}
	return engine.Key(k)
}

// TestTypingIsInOrder: what is typed comes in its order, in one piece each without a pace, and an
// Escape stands alone.
func TestTypingIsInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		began := time.Now()
		r, err := s.Do(t.Context(), engine.Typing{Actions: []engine.Action{
			key(t, "up"), engine.Text("abc"), engine.Text(""), key(t, "escape"), engine.Text(""), engine.Text(":wq"), key(t, "enter"),
			engine.BracketedPaste("x\x1by"), engine.Interrupt{}, engine.EOF{}, engine.StreamText{Text: "zz", Chars: 1, Delay: time.Millisecond},
		}})
		const want = "\x1b[Aabc\x1b:wq\r\x1b[200~xy\x1b[201~\x03\x04zz"
		if err != nil || p.Input() != want || r.Written != len(want) || r.Stripped != 1 {
			t.Errorf("%+v, %v: %q", r, err, p.Input())
		}
		if took := time.Since(began); took != engine.EscapePause+time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// TestTypingPaces: between any two keystrokes, and nowhere else, is the pause; nothing of another's
// comes between.
func TestTypingPaces(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		const pace = 50 * time.Millisecond
		began := time.Now()
		parked := 0
		done := make(chan error, 1)
		go func() {
			_, err := s.Do(t.Context(), engine.Typing{Delay: pace, Actions: []engine.Action{
				engine.Text("hé漢"), key(t, "enter"), engine.Paste("paste"), key(t, "escape"), key(t, "a"),
			}}, engine.Parked(func() { parked++ }))
			done <- err
		}()
		var seen []string
		for range 4 {
			synctest.Wait()
			seen = append(seen, p.Input())
			time.Sleep(pace)
		}
		if got, want := strings.Join(seen, "|"), "h|hé|hé漢|hé漢\r"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if _, err := s.Do(t.Context(), engine.Text("!")); err != nil { // it has its turn afterwards
			t.Error(err)
		}
		if err := <-done; err != nil || p.Input() != "hé漢\rpaste\x1ba!" || parked == 0 {
			t.Errorf("%v, parked %d times: %q", err, parked, p.Input())
		}
		if took := time.Since(began); took != 5*pace+engine.EscapePause {
			t.Errorf("it took %v", took)
		}
	})
}

// TestTypingKeyIsOfItsTime: a key is encoded when it is typed, by the modes that it meets.
func TestTypingKeyIsOfItsTime(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		go func() {
			time.Sleep(500 * time.Millisecond)
			p.Print("\x1b[?1h")
		}()
		if _, err := s.Do(t.Context(), engine.Typing{Delay: time.Second, Actions: []engine.Action{key(t, "up"), key(t, "up")}}); err != nil {
			t.Fatal(err)
		}
		if want := "\x1b[A\x1bOA"; p.Input() != want {
			t.Errorf("%q, want %q", p.Input(), want)
		}
	})
}

// TestTypingEscapeInKitty: where an Escape cannot be mistaken there is no pause behind it.
func TestTypingEscapeInKitty(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("\x1b[>1u")
		synctest.Wait()
		began := time.Now()
		if _, err := s.Do(t.Context(), engine.Typing{Actions: []engine.Action{key(t, "escape"), engine.Text("x")}}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 0 || p.Input() != "\x1b[27ux" {
			t.Errorf("after %v %q", took, p.Input())
		}
	})
}

// TestTypingThatEndsEarly: cancelled, blocked, or at the program's end it says how much was typed,
// at once.
func TestTypingThatEndsEarly(t *testing.T) {
	three := engine.Typing{Delay: time.Second, Actions: []engine.Action{engine.Text("ab"), key(t, "enter"), engine.Text("cd")}}
	stopped := errors.New("stopped")
	for name, c := range map[string]struct {
		interfere     func(p *enginetest.PTY, cancel context.CancelCauseFunc)
		is            error
		written, done int
		after         time.Duration
	}{
		"cancelled": {func(_ *enginetest.PTY, cancel context.CancelCauseFunc) {
			time.Sleep(2500 * time.Millisecond)
			cancel(stopped)
		}, stopped, 3, 2, 2500 * time.Millisecond},
		"ended": {func(p *enginetest.PTY, _ context.CancelCauseFunc) {
			time.Sleep(1500 * time.Millisecond)
			p.End(0)
		}, engine.ErrEnded, 2, 1, 1500 * time.Millisecond},
		"blocked": {func(p *enginetest.PTY, _ context.CancelCauseFunc) { p.Take(1) }, nil, 1, 0, 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				began := time.Now()
				if name == "blocked" {
					c.interfere(p, cancel)
				} else {
					go c.interfere(p, cancel)
				}
				r, err := s.Do(ctx, three)
				var part *engine.PartError
				if !errors.As(err, &part) || c.is != nil && !errors.Is(err, c.is) || part.Written != c.written || part.Done != c.done || r.Written != c.written {
					t.Errorf("%+v, %v", r, err)
				}
				if c.is == nil && !errors.As(err, new(*engine.InputBlockedError)) {
					t.Errorf("%v", err)
				}
				if took := time.Since(began); took != c.after {
					t.Errorf("after %v", took)
				}
			})
		})
	}
}

// TestTypingThatCannotBe: it is refused before anything is typed.
func TestTypingThatCannotBe(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		for name, a := range map[string]engine.Typing{
			"nothing":   {},
			"too many":  {Actions: make([]engine.Action, engine.MaxTyping+1)},
			"a resize":  {Actions: []engine.Action{engine.Text("x"), engine.Resize{Rows: 3, Cols: 3}}},
			"itself":    {Actions: []engine.Action{engine.Typing{Actions: []engine.Action{engine.Text("x")}}}},
			"too slow":  {Delay: engine.MaxPace + 1, Actions: []engine.Action{engine.Text("x")}},
			"backwards": {Delay: -1, Actions: []engine.Action{engine.Text("x")}},
			"too long":  {Delay: time.Second, Actions: []engine.Action{engine.Text(strings.Repeat("x", 602))}},
		} {
			_, err := s.Do(t.Context(), a)
			var wrong *engine.TypingError
			if !errors.As(err, &wrong) || (name == "a resize") != (wrong.Index == 1) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if p.Input() != "" {
			t.Errorf("%q was typed", p.Input())
		}
	})
}
