package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// TestSequenceAt: each time has the sequence that was the newest then, over keyframes, pauses of
// hours and what is dropped; a time before what is kept has none, and none to come has.
func TestSequenceAt(t *testing.T) {
	for _, chars := range []int{0, 3000} {
		t.Run(fmt.Sprint(chars), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := enginetest.New()
				e := enginetest.Engine(p)
				defer e.Close(context.Background())
				begun := time.Now()
				s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", TranscriptChars: chars})
				if err != nil {
					t.Fatal(err)
				}
				times := map[uint64]time.Time{0: begun}
				r := rand.New(rand.NewPCG(3, 4))
				for i := range 200 {
					time.Sleep([]time.Duration{time.Microsecond, time.Millisecond, time.Second, 2 * time.Hour}[r.IntN(4)])
					if i%20 == 19 {
						if err := s.Resize(pty.Size{Rows: 20, Cols: uint16(20 + i%7)}); err != nil {
							t.Fatal(err)
						}
					} else {
						p.Print(strings.Repeat("x", r.IntN(100)+1))
					}
					synctest.Wait()
					times[s.Sequence()] = time.Now()
				}
				newest := s.Sequence()
				kept, keptAt := s.KeptFrom()
				if !keptAt.Equal(times[kept]) || (kept == 0) != (chars == 0) || kept != s.Kept() {
					t.Fatalf("kept from %d at %v, which was made at %v", kept, keptAt, times[kept])
				}
				for seq := uint64(0); seq <= newest; seq++ {
					for _, later := range []time.Duration{0, 500 * time.Nanosecond} {
						got, err := s.SequenceAt(times[seq].Add(later))
						var gone *engine.PastTimeError
						switch {
						case seq < kept && times[seq].Before(keptAt):
							if !errors.As(err, &gone) || gone.Kept != kept || gone.Begun || !strings.Contains(err.Error(), "has been dropped") {
								t.Fatalf("sequence %d, kept from %d: %d, %v", seq, kept, got, err)
							}
						case seq == newest && later > 0:
							if !errors.As(err, &gone) || !strings.Contains(err.Error(), "still to come") {
								t.Fatalf("to come: %d, %v", got, err)
							}
						case err != nil || got != seq && !times[got].Equal(times[seq]):
							t.Fatalf("sequence %d, %v later: %d, %v", seq, later, got, err)
						}
					}
				}
				if _, err := s.SequenceAt(begun.Add(-time.Nanosecond)); err == nil || chars == 0 && !strings.Contains(err.Error(), "began after") {
					t.Errorf("before it began: %v", err)
				}
			})
		})
	}
}

// TestSequenceAtWithoutAPast: a session that keeps nothing knows its newest screen.
func TestSequenceAtWithoutAPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		defer e.Close(context.Background())
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", HistoryBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		before := time.Now()
		time.Sleep(time.Second)
		p.Print("x")
		synctest.Wait()
		time.Sleep(time.Second)
		if seq, err := s.SequenceAt(time.Now()); seq != 1 || err != nil {
			t.Errorf("now: %d, %v", seq, err)
		}
		if seq, err := s.SequenceAt(before); err == nil {
			t.Errorf("before: %d", seq)
		}
	})
}
