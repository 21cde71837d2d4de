package engine_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// A tap notes what it is shown, and fails when told to.
type tap struct {
	seen   string
	closed int
	fail   func() error
}

func (t *tap) Output(_ time.Time, p []byte) error {
	if t.fail != nil {
		return t.fail()
	}
	t.seen += string(p)
	return nil
}

func (t *tap) Resize(_ time.Time, rows, cols int) error {
	t.seen += "<resize>"
	return nil
}

func (t *tap) Close() error {
	t.closed++
	return nil
}

// withTaps runs f in virtual time with a session that has taps.
func withTaps(t *testing.T, f func(p *enginetest.PTY, s *engine.Session), taps ...engine.Tap) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p, other := enginetest.New(), enginetest.New()
		ptys := []*enginetest.PTY{p, other}
		e := engine.New(engine.Options{
			Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			Start: func(pty.Command) (engine.PTY, error) {
				next := ptys[0]
				ptys = ptys[1:]
				return next, nil
			},
		})
		s, err := e.Spawn(engine.Config{Program: "fake", Taps: taps})
		if err != nil {
			t.Fatal(err)
		}
		neighbour, err := e.Spawn(engine.Config{Program: "fake"})
		if err != nil {
			t.Fatal(err)
		}
		f(p, s)
		other.Print("alive")
		synctest.Wait()
		if text := neighbour.View().Screen.Text(); text != "alive" {
			t.Errorf("another session shows %q", text)
		}
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func TestTapsSeeEverythingInOrder(t *testing.T) {
	a, b := &tap{}, &tap{}
	withTaps(t, func(p *enginetest.PTY, s *engine.Session) {
		p.Print("one")
		synctest.Wait()
		s.Resize(pty.Size{Rows: 5, Cols: 5})
		p.Print("two")
		p.End(0)
		synctest.Wait()
		if want := "one<resize>two"; a.seen != want || b.seen != want || a.closed != 1 || b.closed != 1 {
			t.Errorf("saw %q and %q, closed %d and %d times", a.seen, b.seen, a.closed, b.closed)
		}
	}, a, b)
}

func TestTapThatFailsIsDetachedAndHarmsNothing(t *testing.T) {
	full := errors.New("no space left on device")
	bad, good := &tap{fail: func() error { return full }}, &tap{}
	withTaps(t, func(p *enginetest.PTY, s *engine.Session) {
		p.Print("one")
		synctest.Wait()
		p.Print("two")
		synctest.Wait()
		if !errors.Is(s.TapError(), full) || bad.closed != 1 {
			t.Errorf("told %v, closed %d times", s.TapError(), bad.closed)
		}
		if text := s.View().Screen.Text(); text != "onetwo" || good.seen != "onetwo" || good.closed != 0 {
			t.Errorf("the screen shows %q, the other tap saw %q", text, good.seen)
		}
	}, bad, good)
}

func TestPanicEndsItsSessionAndNoOther(t *testing.T) {
	bad := &tap{fail: func() error { panic("injected") }}
	withTaps(t, func(p *enginetest.PTY, s *engine.Session) {
		p.Print("one")
		synctest.Wait()
		v := s.View()
		if v.Exit == nil || v.Exit.Signal != "SIGKILL" || !v.Ended {
			t.Errorf("the session that failed: %+v", v.Exit)
		}
		if _, err := s.Do(t.Context(), engine.Text("x"), engine.DoOptions{}); !errors.Is(err, engine.ErrEnded) {
			t.Errorf("it still takes input: %v", err)
		}
	}, bad)
}
