package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
)

// TestAttendedSessionIsSilent: where a person's terminal answers the program's questions, this one
// does not.
func TestAttendedSessionIsSilent(t *testing.T) {
	for attended, want := range map[bool]string{false: "\x1b[1;2R", true: ""} {
		synctest.Test(t, func(t *testing.T) {
			p := enginetest.New()
			e := enginetest.Engine(p)
			defer e.Close(context.Background())
			if _, err := e.Spawn(t.Context(), engine.Config{Program: "x", Attended: attended}); err != nil {
				t.Fatal(err)
			}
			p.Print("a\x1b[6n")
			synctest.Wait()
			if got := p.Input(); got != want {
				t.Errorf("attended %v: the program was told %q, want %q", attended, got, want)
			}
		})
	}
}

func TestClear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		defer e.Close(context.Background())
		s, err := e.Spawn(t.Context(), engine.Config{Program: "x"})
		if err != nil {
			t.Fatal(err)
		}
		p.Print("one\r\ntwo\r\n$ ")
		synctest.Wait()
		changed, before := s.Changed(), s.View()
		if err := s.Clear(); err != nil {
			t.Fatal(err)
		}
		v := s.View()
		if got := v.Screen.Text(); got != "$" || v.Screen.Cursor.Row != 0 || v.Sequence <= before.Sequence {
			t.Errorf("the screen is %q, cursor %+v", got, v.Screen.Cursor)
		}
		if p.Input() != "" || v.Transcript.String() != before.Transcript.String() {
			t.Errorf("the program was told %q, the transcript is %q", p.Input(), v.Transcript)
		}
		select {
		case <-changed:
		default:
			t.Error("nobody is told of the change")
		}
		p.End(0)
		synctest.Wait()
		if err := s.Clear(); !errors.Is(err, engine.ErrEnded) {
			t.Errorf("after the end: %v", err)
		}
	})
}
