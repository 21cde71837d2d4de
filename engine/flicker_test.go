//go:build !windows

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
)

// TestFlickerIsSeen: a latched wait finds what a real program has drawn and wiped in one write,
// between two, under a flood or on the other screen, each time; what it has drawn within a
// synchronized update and wiped before its end nobody sees.
func TestFlickerIsSeen(t *testing.T) {
	times := 20
	if os.Getenv("PTYWRIGHT_LONG") == "1" {
		times = 1000
	}
	for _, how := range []string{"one", "two", "over", "flood", "alternate", "update"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			e := engine.New(engine.Options{})
			defer e.Close(context.WithoutCancel(t.Context()))
			s, err := e.Spawn(t.Context(), engine.Config{Program: "sh", Args: []string{"testdata/flickers.sh"}})
			if err != nil {
				t.Fatal(err)
			}
			const hang = engine.Within(time.Minute)
			if _, err := s.Wait(t.Context(), matchers.Text("ready"), hang); err != nil {
				t.Fatal(err)
			}
			for i := range times {
				since := s.Sequence()
				what := fmt.Sprintf("<%d>", i)
				type answer struct {
					out *engine.Outcome
					err error
				}
				live, parked := make(chan answer, 1), make(chan struct{}, 1)
				if how != "update" { // one that is pending while it happens
					go func() {
						out, err := s.Wait(t.Context(), matchers.Text(what), engine.Latched(true), hang,
							engine.Parked(func() {
								select {
								case parked <- struct{}{}:
								default:
								}
							}))
						live <- answer{out, err}
					}()
					<-parked
				}
				if _, err := s.Do(t.Context(), engine.Text(how+" "+what+"\n")); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Wait(t.Context(), matchers.Text(fmt.Sprintf("done %d>.", i)), hang); err != nil {
					t.Fatal(err)
				}
				out, err := s.Wait(t.Context(), matchers.Text(what), engine.After(since), engine.Latched(true), engine.Within(0))
				if how == "update" {
					if !errors.Is(err, engine.ErrTimeout) || out.Missed {
						t.Fatalf("%s: what nobody saw is found: %v, missed: %t", what, err, out.Missed)
					}
					continue
				}
				if err != nil || out.Missed {
					t.Fatalf("%s: afterwards: %v, missed: %t", what, err, out.Missed)
				}
				if a := <-live; a.err != nil || a.out.Missed {
					t.Fatalf("%s: while it happened: %v, missed: %t", what, a.err, a.out.Missed)
				}
			}
		})
	}
}
