package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/matchers"
)

// TestALatchedWaitSeesWhatIsGone: what was drawn and wiped since the position, or since the wait
// began, in one write or in two, ends a latched wait; and only that one.
func TestALatchedWaitSeesWhatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, q := enginetest.New(), enginetest.New()
		e := enginetest.Engine(p, q)
		defer e.Close(context.Background())
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
		if err != nil {
			t.Fatal(err)
		}
		none, err := e.Spawn(t.Context(), engine.Config{Program: "fake", HistoryBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			want, since := fmt.Sprintf("flicker <%d>", i), s.Sequence()
			m := func() engine.Matcher { return matchers.Text(want) }
			waited := make(chan *engine.Outcome)
			go func() {
				out, err := s.Wait(t.Context(), m(), engine.Latched(true), engine.Within(time.Minute))
				if err != nil {
					t.Error(err)
				}
				waited <- out
			}()
			synctest.Wait()
			p.Print("\x1b[H" + want)
			if i%2 == 0 {
				synctest.Wait()
			}
			p.Print("\x1b[2J" + strings.Repeat("x", i))
			live := <-waited
			synctest.Wait()
			if _, err := s.Wait(t.Context(), m(), engine.After(since), engine.Within(0)); !errors.Is(err, engine.ErrTimeout) {
				t.Errorf("%d: a wait that is not latched: %v", i, err)
			}
			out, err := s.Wait(t.Context(), m(), engine.After(since), engine.Latched(true), engine.Within(0))
			if err != nil || out.Missed || live.Missed || !strings.Contains(out.View.Screen.Text(), want) {
				t.Fatalf("%d: %v, missed: %t", i, err, out.Missed)
			}
			if _, err := s.Wait(t.Context(), m(), out.Next, engine.Latched(true), engine.Within(0)); !errors.Is(err, engine.ErrTimeout) {
				t.Errorf("%d: after its match: %v", i, err)
			}
		}
		for range 3 {
			q.Print("x")
			synctest.Wait()
		}
		if out, err := none.Wait(t.Context(), matchers.Text("y"), engine.After(1), engine.Latched(true), engine.Within(0)); err == nil || !out.Missed {
			t.Errorf("a session that keeps nothing: %v, missed: %t", err, out.Missed)
		}
	})
}

// TestALatchedWaitThatFallsBehindSaysSo: while a matcher takes its time the session goes on. The
// wait then sees what is still kept of that, says that it missed the rest, and follows again.
func TestALatchedWaitThatFallsBehindSaysSo(t *testing.T) {
	for _, c := range []struct {
		name   string
		before string // drawn and wiped at once, while the matcher is busy
		after  int    // lines that come then
		found  bool
		missed bool
	}{
		{"nothing is lost", "<needle>", 5, true, false},
		{"the newest is kept", "", 100, true, true},
		{"it is gone", "<needle>", 100, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := enginetest.New()
				e := enginetest.Engine(p)
				defer e.Close(context.Background())
				s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", TranscriptChars: 1000})
				if err != nil {
					t.Fatal(err)
				}
				busy, again := make(chan bool), make(chan bool)
				first, asked := true, uint64(0)
				waited := make(chan *engine.Outcome)
				go func() {
					out, _ := s.Wait(t.Context(), engine.Func(func(v *engine.View) bool {
						if v.Sequence < asked {
							t.Errorf("asked about %d after %d", v.Sequence, asked)
						}
						if asked = v.Sequence; v.Sequence == 3 && first {
							first = false
							busy <- true
							<-again
						}
						return strings.Contains(v.Screen.Text(), "<needle>")
					}), engine.After(0), engine.Latched(true), engine.Within(time.Minute))
					waited <- out
				}()
				line := func(text string) {
					p.Print(text)
					synctest.Wait()
					time.Sleep(time.Millisecond) // of the bubble: a flood would keep less
				}
				line("a")
				line("b")
				line("c")
				<-busy
				if c.before != "" {
					line("\x1b[H" + c.before + "\x1b[2J")
				}
				for i := range c.after {
					line(fmt.Sprintf("%040d\r\n", i))
				}
				if c.before == "" {
					line("\x1b[H<needle>\x1b[2J")
					line("and more")
				}
				again <- true
				synctest.Wait()
				if !c.found { // it follows again
					line("\x1b[H<needle>\x1b[2J")
				}
				out := <-waited
				if out.Match == nil || out.Missed != c.missed || !out.View.Moment {
					t.Errorf("%+v, missed: %t", out.Match, out.Missed)
				}
				if seq := s.Sequence(); !c.found && out.View.Sequence != seq {
					t.Errorf("found at %d of %d", out.View.Sequence, seq)
				}
			})
		})
	}
}

// TestALatchedWaitCountsByTheRecord: how long a screen was still is told by the times at which it
// changed, whenever the wait looks; and a screen that has not changed since the wait's position is
// given the time to.
func TestALatchedWaitCountsByTheRecord(t *testing.T) {
	const still = 300 * time.Millisecond
	for _, c := range []struct {
		name  string
		after []time.Duration // between a second, steps that change the screen, and the wait
		held  time.Duration   // after a second; 0: never
	}{
		{"between two steps", []time.Duration{0, 400 * time.Millisecond, time.Millisecond}, still},
		{"just long enough", []time.Duration{0, still + time.Microsecond, 0}, still},
		{"too short", []time.Duration{0, still, 10 * time.Millisecond, 0}, 0},
		{"since the last step", []time.Duration{0, time.Millisecond, time.Second}, time.Millisecond + still},
		{"no step", []time.Duration{time.Second}, 0},
		{"before the first step", []time.Duration{time.Second, 0}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := enginetest.New()
				e := enginetest.Engine(p)
				defer e.Close(context.Background())
				s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
				if err != nil {
					t.Fatal(err)
				}
				p.Print("before")
				synctest.Wait()
				since := s.Sequence()
				time.Sleep(time.Second)
				began := time.Now()
				for i, d := range c.after {
					time.Sleep(d)
					if i < len(c.after)-1 {
						p.Print("x")
						synctest.Wait()
					}
				}
				for _, m := range []engine.Matcher{matchers.Stable(still), matchers.Not(matchers.Not(matchers.Stable(still)))} {
					out, err := s.Wait(t.Context(), m, engine.After(since), engine.Latched(true), engine.Within(0))
					if c.held == 0 {
						if !errors.Is(err, engine.ErrTimeout) {
							t.Errorf("held after %v", out.View.At.Sub(began))
						}
						continue
					}
					if err != nil || out.View.At.Sub(began) != c.held {
						t.Errorf("%v: held after %v, want %v", err, out.View.At.Sub(began), c.held)
					}
				}
			})
		})
	}
}
