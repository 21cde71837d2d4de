package engine_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/vt"
)

// TestThemeIsTold: a program learns the colours, and of their change when it asked to.
func TestThemeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		s, err := e.Spawn(t.Context(), engine.Config{Program: "x", Theme: vt.ThemeLight})
		if err != nil {
			t.Fatal(err)
		}
		asks := func(output, want string) {
			t.Helper()
			before := len(p.Input())
			p.Print(output)
			synctest.Wait()
			if got := p.Input()[before:]; got != want {
				t.Errorf("%q is answered %q, want %q", output, got, want)
			}
		}
		turns := func(theme vt.Theme, want string) {
			t.Helper()
			before, seq := len(p.Input()), s.Sequence()
			if r, err := s.Do(t.Context(), engine.Theme(theme)); err != nil || r.Sequence != seq {
				t.Errorf("%+v, %v at %d", r, err, seq)
			}
			synctest.Wait()
			v := s.View()
			if got := p.Input()[before:]; got != want || v.Screen.Theme != theme || v.Sequence == seq {
				t.Errorf("%s: %q, want %q; the screen is %s", theme, got, want, v.Screen.Theme)
			}
		}
		asks("\x1b]11;?\a\x1b[?996n", "\x1b]11;rgb:ffff/ffff/ffff\a\x1b[?997;2n")
		turns(vt.ThemeDark, "")
		asks("\x1b[?2031h\x1b]11;?\a", "\x1b]11;rgb:1818/1818/1818\a")
		turns(vt.ThemeLight, "\x1b[?997;2n")
		turns(vt.ThemeLight, "")
		asks(strings.Repeat("\x1b]4;7;?\a", 256), strings.Repeat("\x1b]4;7;rgb:e5e5/e5e5/e5e5\a", 256))

		lease, err := s.Lease("somebody", false)
		if err != nil {
			t.Fatal(err)
		}
		var leased *engine.LeasedError
		if _, err := s.Do(t.Context(), engine.Theme(vt.ThemeDark)); !errors.As(err, &leased) {
			t.Errorf("in spite of a lease: %v", err)
		}
		lease.Release()
		p.End(0)
		synctest.Wait()
		if _, err := s.Do(t.Context(), engine.Theme(vt.ThemeDark)); !errors.Is(err, engine.ErrEnded) {
			t.Errorf("when the program has ended: %v", err)
		}
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestKeyThatIsNotSent: a key, or a release, that no terminal would send is an error, and nothing
// is typed.
func TestKeyThatIsNotSent(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		do := func(k vt.Key, want string, fails error) {
			t.Helper()
			before := len(p.Input())
			if _, err := s.Do(t.Context(), engine.Key(k)); !errors.Is(err, fails) {
				t.Errorf("%+v: %v", k, err)
			}
			if got := p.Input()[before:]; got != want {
				t.Errorf("%+v sends %q, want %q", k, got, want)
			}
		}
		do(vt.Key{Code: vt.KeyPause}, "", engine.ErrNoKey)
		do(vt.Key{Code: vt.KeyUp, Event: vt.KeyRelease}, "", engine.ErrNoKey)
		do(vt.Key{Code: vt.KeyUp, Event: vt.KeyRepeat}, "\x1b[A", nil)
		p.Print("\x1b[>3u")
		synctest.Wait()
		do(vt.Key{Code: vt.KeyPause}, "\x1b[57362u\x1b[57362;1:3u", nil)
		do(vt.Key{Code: vt.KeyUp, Event: vt.KeyPress}, "\x1b[A", nil)
		do(vt.Key{Code: vt.KeyUp, Event: vt.KeyRelease}, "\x1b[1;1:3A", nil)
		do(vt.Key{Code: vt.KeyEnter, Event: vt.KeyRelease}, "", engine.ErrNoKey)
		do(vt.Key{Code: vt.KeyEnter}, "\r", nil)
	})
}
