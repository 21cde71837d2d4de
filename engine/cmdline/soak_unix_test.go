//go:build unix

package cmdline_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/cmdline"
)

// TestManyInARow: commands that print the marker, clear the screen, fill 10,000 lines, fail with
// any code, or hang and are interrupted: never early, never stuck, the exit code right. 36 in each
// shell; with PTYWRIGHT_LONG=1 a thousand.
func TestManyInARow(t *testing.T) {
	t.Parallel()
	n := 36
	if os.Getenv("PTYWRIGHT_LONG") != "" {
		n = 1000
	}
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		r := rand.New(rand.NewPCG(7, 11))
		for i := range n {
			one(t, k, s, r, i)
			if t.Failed() {
				t.Fatalf("in the %d. run\n%s", i, tail(s))
			}
		}
	})
}

// last is what a command of the soak ends with: proof that it ran to its end.
func last(i, exit int) string { return fmt.Sprintf("sh -c 'echo last %d; exit %d'", i, exit) }

// hanging is a command that goes on until it is interrupted. What says that it runs is what gets
// the interrupt: a shell that has not yet given the terminal away gets it itself, and goes on.
const hanging = "sh -c 'printf be; echo gun; exec sleep 1000'; echo not reached"

func one(t *testing.T, k kind, s *engine.Session, r *rand.Rand, i int) {
	t.Helper()
	exit := i % 256
	marker := cmdline.NewMarker()
	var line string
	switch r.IntN(12) {
	case 0:
		line = "echo " + marker[:20] + "''" + marker[20:] + ":0"
	case 1:
		line = "printf '\\n" + marker[:30] + "%s\\n' " + marker[30:] + ":0; history | tail -2; ps -ef"
	case 2:
		line = "clear"
	case 3:
		line = "printf '\\033[2J\\033[3J\\033[H\\033c'"
	case 4:
		line = "seq 10000"
	case 5:
		line = "printf 'no line end'"
	case 6:
		line = "printf '\\033]133;D;0\\007\\033]133;A\\007$ \\033]133;B\\007'; sleep 0.05"
	case 7:
		line = "printf '\\033[?1049h'; echo inside; printf '\\033[?1049l'"
	case 8:
		line = "sleep 0.1"
	case 9:
		since := s.Sequence()
		x, err := cmdline.Run(t.Context(), s, hanging, cmdline.Options{Timeout: 100 * time.Millisecond})
		if err != nil || x.Reason != cmdline.Timeout || x.ExitCode != nil {
			t.Errorf("what hang: %+v, %v", x, err)
			return
		}
		if _, err := s.Wait(t.Context(), wrote("begun\r\n"), engine.After(since), engine.Within(hang)); err != nil {
			t.Error(err)
			return
		}
		send(t, s, engine.Interrupt{})
		again(t, k, s)
		return
	case 10:
		since := s.Sequence()
		go func() {
			if _, err := s.Wait(t.Context(), wrote("begun\r\n"), engine.After(since), engine.Within(hang)); err == nil {
				_, _ = s.Do(t.Context(), engine.Interrupt{})
			}
		}()
		x := run(t, s, "clear; "+hanging)
		if x.Reason != cmdline.Finished || x.ExitCode != nil && *x.ExitCode != 130 || !strings.Contains(x.Output, "begun") || strings.Contains(x.Output, "not reached") {
			t.Errorf("what is interrupted: %s %v %q", x.Reason, told(x.ExitCode), x.Output)
		}
		again(t, k, s)
		return
	case 11:
		line = "echo one\necho two # three"
		if strings.HasPrefix(k.name, "zsh-marks") {
			line = "echo one\necho two"
		}
	}
	x, err := cmdline.Run(t.Context(), s, line+"\n"+last(i, exit), cmdline.Options{Timeout: hang, Marker: marker})
	var busy *cmdline.BusyError
	switch {
	case errors.As(err, &busy):
		t.Errorf("%q: %v", line, err)
	case err != nil:
		t.Errorf("%q: %v", line, err)
	case x.Reason != cmdline.Finished || told(x.ExitCode) != exit || !strings.HasSuffix(x.Output, fmt.Sprintf("last %d\n", i)) || x.By != k.way():
		t.Errorf("%q: %s %s %v, want %d: %.300q", line, x.Reason, x.By, told(x.ExitCode), exit, x.Output)
	case line == "seq 10000" && (!strings.HasPrefix(x.Output, "1\n2\n") || strings.Count(x.Output, "\n") != 10001):
		t.Errorf("%q: %d lines, from %.20q", line, strings.Count(x.Output, "\n"), x.Output)
	}
}
