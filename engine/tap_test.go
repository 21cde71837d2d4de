package engine_test

import (
	"context"
	"errors"
	"fmt"
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
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", Taps: taps})
		if err != nil {
			t.Fatal(err)
		}
		neighbour, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
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
		if _, err := s.Do(t.Context(), engine.Text("x")); !errors.Is(err, engine.ErrEnded) {
			t.Errorf("it still takes input: %v", err)
		}
	}, bad)
}

// A markTap notes output with the shell's marks where they end.
type markTap struct{ tap }

func (t *markTap) Marked(_ time.Time, p []byte, marks []engine.Mark) error {
	from := 0
	for _, m := range marks {
		t.seen += string(p[from:m.End]) + "<" + string(m.Kind)
		if m.Command != "" {
			t.seen += " " + m.Command
		}
		if m.Exited {
			t.seen += fmt.Sprint(" ", m.Exit)
		}
		t.seen += ">"
		from = m.End
	}
	t.seen += string(p[from:])
	return nil
}

func TestTapsAreToldTheMarks(t *testing.T) {
	const out = "hi\r\n\x1b]133;A\a$ \x1b]133;B\als -l\r\n\x1b]633;E;ls\\x20-l\a\x1b]133;C\aone\x1b[?1049h\x1b]133;D;9\a\x1b[?1049l\x1b]133;D;3\x1b\\\x1b]133;A;k=s\a> "
	const want = "hi\r\n\x1b]133;A\a<A>$ \x1b]133;B\a<B>ls -l\r\n\x1b]633;E;ls\\x20-l\a<E>\x1b]133;C\a<C ls -l>one\x1b[?1049h\x1b]133;D;9\a\x1b[?1049l\x1b]133;D;3\x1b\\<D 3>\x1b]133;A;k=s\a> "
	for size := 1; size <= len(out); size++ {
		m := &markTap{}
		withTaps(t, func(p *enginetest.PTY, s *engine.Session) {
			for from := 0; from < len(out); from += size {
				p.Print(out[from:min(from+size, len(out))])
				synctest.Wait()
			}
		}, m)
		if m.seen != want {
			t.Errorf("%d bytes at a time: %q", size, m.seen)
		}
	}
}
