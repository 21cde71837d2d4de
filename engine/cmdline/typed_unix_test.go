//go:build unix

package cmdline_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/cmdline"
	"github.com/ptywright/ptywright/matchers"
)

// TestAJobPrintsAtThePrompt: what it prints is nothing that was typed, however much that is.
func TestAJobPrintsAtThePrompt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		if k.program == "fish" {
			run(t, s, "sh -c 'sleep 0.2; echo late' &")
		} else {
			run(t, s, "(sleep 0.2; echo late) &")
		}
		written(t, s, "late\r\n")
		has(t, s, "echo x", "x")
		run(t, s, "sh -c 'sleep 0.2; printf \"half a \"; printf line' &")
		written(t, s, "half a line")
		has(t, s, "echo y", "y")
		run(t, s, "sh -c 'for i in 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0; do sleep 0.1; echo log line; done' &")
		written(t, s, "log line\r\nlog line\r\n")
		has(t, s, "echo z", "z")
		r := run(t, s, "sh -c 'echo code; exit 4'")
		if r.Reason != cmdline.Finished || told(r.ExitCode) != 4 || !strings.Contains(r.Output, "code") {
			t.Errorf("%s %v %q", r.Reason, told(r.ExitCode), r.Output)
		}
	})
}

// has runs a line that must succeed and print a line like this.
func has(t *testing.T, s *engine.Session, line, output string) {
	t.Helper()
	r := run(t, s, line)
	if r.Reason != cmdline.Finished || told(r.ExitCode) != 0 || !strings.Contains("\n"+r.Output+"\n", "\n"+output+"\n") {
		t.Errorf("%q: %s %v %q, want %q\n%s", line, r.Reason, told(r.ExitCode), r.Output, output, tail(s))
	}
}

// TestALineThatIsHalfTyped: is never run, however short a time ago it was typed.
func TestALineThatIsHalfTyped(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		run(t, s, "true")
		for range 5 {
			send(t, s, engine.Text("ec"))
			refused(t, s)
			send(t, s, engine.Text("\x7f\x7f"))
			has(t, s, "echo erased", "erased")
			send(t, s, engine.Text("ec"))
			written(t, s, "ec")
			refused(t, s)
			send(t, s, engine.Text("ho half\r"))
			again(t, k, s)
			send(t, s, engine.Text("ec"))
			stands(t, s)
			cleared(t, s)
		}
		if k.program == "dash" || k.program == "sh" || k.name == "bash-noediting" { // without an editor
			return
		}
		send(t, s, engine.Text("ec\x01"))
		refused(t, s)
		stands(t, s)
		cleared(t, s)
	})
}

// TestALineOfTheHistory: that was recalled stands on the command line, too.
func TestALineOfTheHistory(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		if !k.marks {
			t.Skip("only a shell with marks tells where its command line begins")
		}
		run(t, s, "echo history")
		send(t, s, engine.Text("\x1b[A"))
		refused(t, s)
		send(t, s, engine.Text("\x15"))
		has(t, s, "echo killed", "killed")
	})
}

// refused runs a line that must not be typed.
func refused(t *testing.T, s *engine.Session) {
	t.Helper()
	r, err := cmdline.Run(t.Context(), s, "echo x6", cmdline.Options{Timeout: hang})
	var occupied *cmdline.OccupiedError
	if !errors.As(err, &occupied) {
		t.Errorf("a line behind one half typed: %+v, %v\n%s", r, err, tail(s))
	}
}

// TestKeysForAProgram: that are typed to what the shell runs, and not read by a line, are none of
// its command line.
func TestKeysForAProgram(t *testing.T) {
	t.Parallel()
	posix(t, func(t *testing.T, k kind, s *engine.Session) {
		brief(t, s, "stty raw; echo begun; head -c 1 >/dev/null; stty -raw")
		send(t, s, engine.Text("q"))
		again(t, k, s)
	})
}

// stands waits until what was typed stands on the command line. An interrupt before that may find
// the shell making its prompt: what was typed may survive it, or bash take it for the end of its
// input.
func stands(t *testing.T, s *engine.Session) {
	t.Helper()
	since := s.Sequence()
	if _, err := s.Wait(t.Context(), matchers.Stable(400*time.Millisecond), engine.After(since), engine.Within(hang)); err != nil {
		t.Fatal(err)
	}
}

// cleared interrupts what stands on the command line until a line runs.
func cleared(t *testing.T, s *engine.Session) {
	t.Helper()
	var occupied *cmdline.OccupiedError
	for range 5 {
		send(t, s, engine.Interrupt{})
		r, err := cmdline.Run(t.Context(), s, "echo cleared", cmdline.Options{Timeout: hang})
		if err == nil && r.Reason == cmdline.Finished && r.Output == "cleared\n" {
			return
		}
		if !errors.As(err, &occupied) {
			t.Fatalf("behind an interrupt: %+v, %v\n%s", r, err, tail(s))
		}
	}
	t.Fatalf("it stays occupied: %v\n%s", occupied, tail(s))
}
