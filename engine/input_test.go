package engine_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
)

func TestInputArrivesInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		parked := func() { t.Error("it parked though the program reads") }
		up, err := vt.ParseKey("up")
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []engine.Action{
			engine.Text("a"), engine.Paste("b\n"), engine.Key(up), engine.Interrupt{}, engine.EOF{}, engine.BracketedPaste("x\x1b[201~y\n"),
		} {
			if _, err := s.Do(t.Context(), a, engine.Parked(parked)); err != nil {
				t.Fatalf("%T: %v", a, err)
			}
		}
		if want := "ab\n\x1b[A\x03\x04\x1b[200~x[201~y\n\x1b[201~"; p.Input() != want {
			t.Errorf("got %q, want %q", p.Input(), want)
		}
	})
}

func TestInputReceiptTellsWhereToLookFrom(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("ok\r\n")
		synctest.Wait()
		r, err := s.Do(t.Context(), engine.Text("x"))
		if err != nil || r.Sequence != s.Sequence() {
			t.Errorf("receipt %+v, %v at sequence %d", r, err, s.Sequence())
		}
	})
}

func TestInputThatIsNotReadEndsWithTheCountWritten(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Take(3)
		parked, begin := 0, time.Now()
		_, err := s.Do(t.Context(), engine.Text("12345"), engine.Parked(func() { parked++ }))
		var blocked *engine.InputBlockedError
		if !errors.As(err, &blocked) || blocked.Written != 3 || blocked.Length != 5 {
			t.Fatalf("got %v", err)
		}
		if d := time.Since(begin); d != engine.DefaultInputTimeout || parked == 0 {
			t.Errorf("after %v, parked %d times", d, parked)
		}
		p.Take(-1)
		if _, err := s.Do(t.Context(), engine.Text("67")); err != nil {
			t.Errorf("afterwards: %v", err)
		}
		if p.Input() != "12367" {
			t.Errorf("the program got %q", p.Input())
		}
	})
}

func TestInputGoesOnWhenTheProgramReadsAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Take(1)
		later(4*time.Second, func() { p.Take(-1) })
		if _, err := s.Do(t.Context(), engine.Text("12345")); err != nil {
			t.Fatal(err)
		}
		if p.Input() != "12345" {
			t.Errorf("the program got %q", p.Input())
		}
	})
}

func TestInputCanBeCancelled(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Take(0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first := make(chan error)
		go func() {
			_, err := s.Do(ctx, engine.Text("first"))
			first <- err
		}()
		synctest.Wait() // it is under way: the second waits for its turn
		if _, err := s.Do(ctx, engine.Text("second")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("second: %v", err)
		}
		err := <-first
		var blocked *engine.InputBlockedError
		if !errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &blocked) {
			t.Errorf("first: %v", err)
		}
	})
}

func TestInputIsRefusedOnceTheSessionHasEnded(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(p *enginetest.PTY, s *engine.Session)
		want error
	}{
		"exited": {func(p *enginetest.PTY, _ *engine.Session) { p.End(0) }, engine.ErrEnded},
		"killed": {func(_ *enginetest.PTY, s *engine.Session) { s.Kill(context.Background()) }, engine.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
				c.end(p, s)
				synctest.Wait()
				for _, a := range []engine.Action{engine.Text("x"), engine.Signal(pty.SignalTerm), engine.Resize{Rows: 5, Cols: 5}} {
					if _, err := s.Do(t.Context(), a); !errors.Is(err, c.want) {
						t.Errorf("%T: %v", a, err)
					}
				}
			})
		})
	}
}

func TestInputBlockedIsEndedByKill(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Take(0)
		later(time.Second, func() { s.Kill(context.Background()) })
		begin := time.Now()
		if _, err := s.Do(t.Context(), engine.Text("x")); err == nil || time.Since(begin) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
	})
}

func TestInputRepliesKeepTheirPlaceAndTheirBound(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Take(0)
		p.Print(strings.Repeat("\x1b[6n", 5000)) // "where is the cursor?", and nobody reads the answers
		synctest.Wait()
		if text := s.View().Sequence; text == 0 {
			t.Error("unread answers stopped the pump")
		}
		later(time.Second, func() { p.Take(-1) })
		if _, err := s.Do(t.Context(), engine.Text("typed")); err != nil {
			t.Fatal(err)
		}
		answers, ok := strings.CutSuffix(p.Input(), "typed")
		if n := strings.Count(answers, "\x1b[1;1R"); !ok || n == 0 || n*len("\x1b[1;1R") > 8<<10 || strings.ReplaceAll(answers, "\x1b[1;1R", "") != "" {
			t.Errorf("%d whole answers, then typed text: %v, %d bytes", n, ok, len(answers))
		}
	})
}

func TestInputQueueIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Take(0)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		blocked := 0
		var mu sync.Mutex
		for range 100 {
			wg.Go(func() {
				_, err := s.Do(ctx, engine.Text(strings.Repeat("x", 64<<10)), engine.Within(time.Second))
				var b *engine.InputBlockedError
				mu.Lock()
				defer mu.Unlock()
				if errors.As(err, &b) {
					blocked++
				} else {
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
		cancel()
		if blocked != 100 {
			t.Errorf("%d of 100 were told that the program does not read", blocked)
		}
	})
}

func TestInputLineThatWouldBeCutIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.SetLineMode(pty.LineMode{Canonical: true, CRToNL: true, Signals: true, EOF: 4, Interrupt: 3})
		long := strings.Repeat("x", pty.MaxLine)
		do := func(text string) error {
			_, err := s.Do(t.Context(), engine.Text(text))
			return err
		}
		var e *engine.LineTooLongError
		if err := do(long + "x\n"); !errors.As(err, &e) || e.Length != pty.MaxLine+1 || p.Input() != "" {
			t.Errorf("one byte too many: %v, %d bytes arrived", err, len(p.Input()))
		}
		for _, ok := range []string{long + "\n", long + "\r", long[:2000], long[:2000] + "\x03", long + "\n" + long + "\n"} {
			if err := do(ok); err != nil {
				t.Errorf("%d bytes: %v", len(ok), err)
			}
		}
		if err := do(long[:3000]); err != nil {
			t.Error(err)
		}
		if err := do(long[:3000]); !errors.As(err, &e) {
			t.Errorf("a line in two pieces: %v", err)
		}
		p.SetLineMode(pty.LineMode{})
		if err := do(long + long); err != nil {
			t.Errorf("in raw mode: %v", err)
		}
	})
}

func TestStreamTextIsOneActionInPieces(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		begin := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			time.Sleep(time.Millisecond)
			s.Do(t.Context(), engine.Text("|"))
		})
		if _, err := s.Do(t.Context(), engine.StreamText{Text: "añb漢c", Chars: 2, Delay: 10 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if p.Input() != "añb漢c|" || time.Since(begin) != 20*time.Millisecond {
			t.Errorf("got %q after %v", p.Input(), time.Since(begin))
		}
	})
}

// TestResizesOfManyEndTheSameEverywhere: terminal and program have the same size whoever was last.
func TestResizesOfManyEndTheSameEverywhere(t *testing.T) {
	p := enginetest.New()
	e := enginetest.Engine(p)
	s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	p.Print("\x1b[?2048h") // each is answered, too
	for range 50 {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				p.Print("\x1b[c\x1b[6n")
				if err := s.Resize(pty.Size{Rows: uint16(10 + i), Cols: uint16(20 + i)}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		sizes := p.Sizes()
		last, v := sizes[len(sizes)-1], s.View()
		if int(last.Rows) != v.Screen.Rows || int(last.Cols) != v.Screen.Cols {
			t.Fatalf("the program has %v, the terminal %dx%d", last, v.Screen.Rows, v.Screen.Cols)
		}
	}
	answer := regexp.MustCompile("^(\x1b\\[(\\?[0-9;]+c|[0-9]+;[0-9]+R|48(;[0-9]+){4}t))*$")
	if in := p.Input(); !answer.MatchString(in) {
		t.Errorf("the program was sent something that is no answer: %.200q", in)
	}
}

func TestResizeReachesTerminalAndProgram(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		before := s.Sequence()
		if err := s.Resize(pty.Size{Rows: 40, Cols: 120}); err != nil {
			t.Fatal(err)
		}
		v := s.View()
		if v.Screen.Rows != 40 || v.Screen.Cols != 120 || v.Sequence <= before {
			t.Errorf("%dx%d at sequence %d", v.Screen.Rows, v.Screen.Cols, v.Sequence)
		}
		if sizes := p.Sizes(); len(sizes) != 1 || sizes[0] != (pty.Size{Rows: 40, Cols: 120}) {
			t.Errorf("the program saw %v", sizes)
		}
		for _, bad := range []pty.Size{{Rows: 0, Cols: 5}, {Rows: 1001, Cols: 5}, {Rows: 5, Cols: 65535}} {
			var e *engine.SizeError
			if err := s.Resize(bad); !errors.As(err, &e) {
				t.Errorf("%v: %v", bad, err)
			}
		}
	})
}
