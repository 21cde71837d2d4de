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
