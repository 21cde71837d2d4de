package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// undead is a program that the kernel does not end.
type undead struct{ *enginetest.PTY }

func (p *undead) Kill(context.Context) error { return &pty.SurvivorsError{PIDs: []int{7}} }

// TestCloseOfWhatDoesNotEnd: the session is gone all the same, in bounded time, and the error says
// why that is not all.
func TestCloseOfWhatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &undead{enginetest.New()}
		e := engine.New(engine.Options{Start: func(pty.Command) (engine.PTY, error) { return p, nil }})
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		var left *pty.SurvivorsError
		if err := s.Close(t.Context()); !errors.As(err, &left) || time.Since(begin) > 10*time.Second {
			t.Errorf("%v, after %v", err, time.Since(begin))
		}
		if _, err := e.Session(s.ID()); err == nil {
			t.Error("it is still there")
		}
		p.Exit(pty.Exit{}) // the kernel lets go of it
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
