package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// A whenTap notes what comes, and when it was stamped.
type whenTap struct {
	got   []string
	times []time.Time
}

func (t *whenTap) note(at time.Time, what string) error {
	t.got, t.times = append(t.got, what), append(t.times, at)
	return nil
}
func (t *whenTap) Output(at time.Time, p []byte) error { return t.note(at, "o "+string(p)) }
func (t *whenTap) Input(at time.Time, p []byte) error  { return t.note(at, "i "+string(p)) }
func (t *whenTap) Resize(time.Time, int, int) error    { return nil }
func (t *whenTap) Close() error                        { return nil }

// TestTapsGetInputBeforeItsEffects: a program that answers before the writer of its input goes on,
// as on a loaded machine, answers after that input in a recording, in order and in time.
func TestTapsGetInputBeforeItsEffects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, rec := enginetest.New(), &whenTap{}
		p.WhenTaken(func(taken []byte) {
			time.Sleep(time.Second)
			p.Print("echo " + string(taken))
			synctest.Wait() // the session has read it
			time.Sleep(time.Second)
		})
		_, do, _ := secretSession(t, p, rec)
		do(engine.Text("a"))
		do(engine.Text("b"))
		want := []string{"i a", "o echo a", "i b", "o echo b"}
		if !slices.Equal(rec.got, want) {
			t.Errorf("%q, want %q", rec.got, want)
		}
		if !slices.IsSortedFunc(rec.times, time.Time.Compare) {
			t.Errorf("%v", rec.times)
		}
		p.WhenTaken(nil)
	})
}

// TestTapsGetNoRefusedInput: what a terminal would have cut never comes, and what no program reads
// comes once.
func TestTapsGetNoRefusedInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, rec := enginetest.New(), &whenTap{}
		p.SetLineMode(pty.LineMode{Canonical: true, Echo: true})
		s, do, _ := secretSession(t, p, rec)
		var long *engine.LineTooLongError
		if _, err := s.Do(context.Background(), engine.Text(strings.Repeat("x", pty.MaxLine+1))); !errors.As(err, &long) {
			t.Fatal(err)
		}
		p.Take(1)
		var blocked *engine.InputBlockedError
		if _, err := s.Do(context.Background(), engine.Text("ab\n")); !errors.As(err, &blocked) {
			t.Fatal(err)
		}
		p.Take(-1)
		do(engine.Text("c\n"))
		if want := []string{"i ab\n", "i c\n"}; !slices.Equal(rec.got, want) {
			t.Errorf("%q, want %q", rec.got, want)
		}
	})
}
