//go:build unix

package cmdline_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/cmdline"
)

// posix are the kinds of shells that take POSIX's words.
func posix(t *testing.T, f func(t *testing.T, k kind, s *engine.Session)) {
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		if k.program == "fish" {
			t.Skip("not fish's words")
		}
		f(t, k, s)
	})
}

// finishes runs a line that must finish, with an exit code that is no success when fails is set,
// and with this in its output.
func finishes(t *testing.T, k kind, s *engine.Session, line string, fails bool, parts ...string) {
	t.Helper()
	r := run(t, s, line)
	if r.Reason != cmdline.Finished && !(r.Reason == cmdline.NotRun && k.marks) || r.ExitCode == nil && r.Reason == cmdline.Finished && k.program != "mksh" || r.ExitCode != nil && (*r.ExitCode != 0) != fails {
		t.Errorf("%q: %s, exit code %v, %q\n%s", line, r.Reason, told(r.ExitCode), r.Output, tail(s))
	}
	for _, part := range parts {
		if !strings.Contains(r.Output, part) {
			t.Errorf("%q: no %q in %q", line, part, r.Output)
		}
	}
}

// TestLinesThatEndBadly: the end is told all the same, and the next line is not touched.
func TestLinesThatEndBadly(t *testing.T) {
	t.Parallel()
	posix(t, func(t *testing.T, k kind, s *engine.Session) {
		if !k.marks || k.program != "zsh" { // where a # begins no comment
			expect(t, k, s, "echo x # it's a comment", 0, "x")
		}
		finishes(t, k, s, "sleep 0.01 &", false)
		run(t, s, "wait")
		expect(t, k, s, "cat <<'EOF'\n$one\n  two\nEOF\n", 0, "$one\n  two")
		finishes(t, k, s, "echo )", true, ")")
		finishes(t, k, s, "echo ${nope:?because}; echo after", true, "because")
		if r := run(t, s, "echo $((1/0)); echo after"); (r.ExitCode == nil || *r.ExitCode == 0) && k.program != "mksh" {
			t.Errorf("division by zero: %+v", r)
		}
		finishes(t, k, s, "nosuchcommand_x", true, "not found")
		expect(t, k, s, "if true\nthen\n  echo yes\nfi", 0, "yes")
		expect(t, k, s, "f() { return 7; }; f", 7, "")
		expect(t, k, s, "echo still", 0, "still")
	})
}

// TestUnderOptions: of errexit, nounset, a trace and traps the command alone is the object.
func TestUnderOptions(t *testing.T) {
	t.Parallel()
	posix(t, func(t *testing.T, k kind, s *engine.Session) {
		expect(t, k, s, "set -u", 0, "")
		finishes(t, k, s, "echo $nothing_here", true)
		expect(t, k, s, "echo on", 0, "on")
		run(t, s, "set +u")
		run(t, s, "set -x")
		finishes(t, k, s, "echo traced", false, "traced")
		if !k.marks && k.program != "zsh" && k.program != "mksh" {
			if r := run(t, s, "echo traced"); strings.Contains(r.Output, "pw") || strings.Contains(r.Output, "eval") {
				t.Errorf("the trace shows what is ours: %q", r.Output)
			}
		}
		run(t, s, "PS4=")
		finishes(t, k, s, "false", true)
		finishes(t, k, s, "echo traced", false, "traced")
		run(t, s, "set +x")
		run(t, s, "set -v")
		finishes(t, k, s, "echo shown", false, "shown")
		run(t, s, "set +v")
		expect(t, k, s, "echo quiet", 0, "quiet")
		if k.program == "bash" || k.name == "zsh" { // with marks, what the trap prints stands on zsh's command line
			run(t, s, "trap 'echo DEBUG' DEBUG")
			finishes(t, k, s, "echo trapped", false, "trapped")
			finishes(t, k, s, "(exit 9)", true)
			run(t, s, "trap - DEBUG")
			expect(t, k, s, "echo calm", 0, "calm")
		}
		run(t, s, "set -e")
		if r := run(t, s, "false && true"); r.Reason != cmdline.Finished || told(r.ExitCode) != 1 {
			t.Fatalf("what set -e lets pass: %s %v\n%s", r.Reason, told(r.ExitCode), tail(s))
		}
		expect(t, k, s, "echo alive", 0, "alive")
		if r := run(t, s, "false\necho not reached"); r.Reason != cmdline.Ended || told(r.ExitCode) != 1 || strings.Contains(r.Output, "not reached") && !k.marks {
			t.Errorf("what set -e ends: %s %v %q\n%s", r.Reason, told(r.ExitCode), r.Output, tail(s))
		}
	})
}

// TestTheShellEnds: and its exit code is told.
func TestTheShellEnds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		if r := run(t, s, "exit 3"); r.Reason != cmdline.Ended && k.name != "fish-marks" || told(r.ExitCode) != 3 {
			t.Errorf("exit 3: %s %v\n%s", r.Reason, told(r.ExitCode), tail(s))
		}
		if _, err := cmdline.Run(t.Context(), s, "true", cmdline.Options{Timeout: hang}); !errors.Is(err, engine.ErrEnded) {
			t.Errorf("the next: %v", err)
		}
	})
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		if r := run(t, s, "exec sh -c 'exit 5'"); r.Reason != cmdline.Ended || told(r.ExitCode) != 5 {
			t.Errorf("exec: %s %v\n%s", r.Reason, told(r.ExitCode), tail(s))
		}
	})
}

// written waits until the session has written a text.
func written(t *testing.T, s *engine.Session, text string) {
	t.Helper()
	if _, err := s.Wait(t.Context(), wrote(text), engine.Within(hang)); err != nil {
		t.Fatalf("waiting for %q: %v\n%s", text, err, tail(s))
	}
}

func wrote(want string) engine.Func {
	return func(v *engine.View) bool {
		text, _ := v.Output()
		return strings.Contains(string(text), want)
	}
}

func send(t testing.TB, s *engine.Session, a engine.Action) {
	t.Helper()
	if _, err := s.Do(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}

// brief runs a line that does not end in time.
func brief(t *testing.T, s *engine.Session, line string) *cmdline.Result {
	t.Helper()
	r, err := cmdline.Run(t.Context(), s, line, cmdline.Options{Timeout: 700 * time.Millisecond})
	if err != nil {
		t.Fatalf("%q: %v\n%s", line, err, tail(s))
	}
	if r.Reason != cmdline.Timeout || r.ExitCode != nil {
		t.Errorf("%q: %s %v %q", line, r.Reason, told(r.ExitCode), r.Output)
	}
	return r
}

// again runs lines until one is taken: after an interrupt the shell needs a moment.
func again(t *testing.T, k kind, s *engine.Session) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	for {
		change := s.Changed()
		r, err := cmdline.Run(ctx, s, "echo again", cmdline.Options{Timeout: hang})
		if err == nil {
			if r.Reason != cmdline.Finished || r.Output != "again\n" {
				t.Errorf("again: %s %v %q\n%s", r.Reason, told(r.ExitCode), r.Output, tail(s))
			}
			return
		}
		var busy *cmdline.BusyError
		var occupied *cmdline.OccupiedError
		if !errors.As(err, &busy) && !errors.As(err, &occupied) {
			t.Fatalf("again: %v\n%s", err, tail(s))
		}
		select {
		case <-change:
		case <-ctx.Done():
			t.Fatalf("again: %v\n%s", err, tail(s))
		}
	}
}

// TestOneThatReads: it is given nothing that is ours, is busy while it runs, and its late end fools
// nobody.
func TestOneThatReads(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		r := brief(t, s, "cat; echo over")
		if r.Output != "" {
			t.Errorf("cat was given something: %q", r.Output)
		}
		var busy *cmdline.BusyError
		if _, err := cmdline.Run(t.Context(), s, "echo no", cmdline.Options{Timeout: hang}); !errors.As(err, &busy) {
			t.Fatalf("in a busy shell: %v", err)
		}
		send(t, s, engine.Text("mine\r"))
		send(t, s, engine.EOF{})
		again(t, k, s)
		if text := s.View().Transcript.String(); strings.Contains(text, "\nno") || !strings.Contains(text, "\nmine") {
			t.Errorf("%s", tail(s))
		}
	})
}

// TestABuiltinThatReads: the same where the shell itself does.
func TestABuiltinThatReads(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		brief(t, s, "read x")
		var busy *cmdline.BusyError
		if _, err := cmdline.Run(t.Context(), s, "echo no", cmdline.Options{Timeout: hang}); !errors.As(err, &busy) && k.program != "fish" {
			t.Fatalf("in a busy shell: %v", err)
		}
		send(t, s, engine.Text("word\r"))
		again(t, k, s)
		expect(t, k, s, "echo $x", 0, "word")
	})
}

// TestALineThatIsNotComplete: it waits for the rest, is not interrupted, and is in the way of the
// next.
func TestALineThatIsNotComplete(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		for _, line := range []string{"echo 'open", `echo "open`, `echo open\`} {
			brief(t, s, line)
			_, err := cmdline.Run(t.Context(), s, "echo no", cmdline.Options{Timeout: hang})
			var occupied *cmdline.OccupiedError
			var busy *cmdline.BusyError
			if !errors.As(err, &occupied) && !errors.As(err, &busy) {
				t.Fatalf("the next: %v\n%s", err, tail(s))
			}
			send(t, s, engine.Interrupt{})
			again(t, k, s)
		}
		brief(t, s, "echo 'a")
		send(t, s, engine.Text("b'\r"))
		written(t, s, "\r\nb\r\n")
		again(t, k, s)
	})
}

// TestAnInterruptEndsTheWait: another's, and at once.
func TestAnInterruptEndsTheWait(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		for range 3 {
			done := make(chan struct{})
			since := s.Sequence()
			go func() {
				defer close(done)
				if _, err := s.Wait(t.Context(), wrote("begun\r\n"), engine.After(since), engine.Within(hang)); err == nil {
					_, _ = s.Do(t.Context(), engine.Interrupt{})
				}
			}()
			r := run(t, s, "clear; "+hanging)
			<-done
			if r.Reason != cmdline.Finished || r.ExitCode != nil && *r.ExitCode != 130 || !strings.HasPrefix(r.Output, "begun") || strings.Contains(r.Output, "not reached") {
				t.Errorf("interrupted: %s %v %q\n%s", r.Reason, told(r.ExitCode), r.Output, tail(s))
			}
			again(t, k, s)
		}
	})
}

// TestALateEnd: of a line that took too long, told when the next runs, is not the next one's.
func TestALateEnd(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		brief(t, s, "sleep 1.5; sh -c 'echo late; exit 5'")
		written(t, s, "late\r\n")
		again(t, k, s)
		expect(t, k, s, "sh -c 'exit 6'", 6, "")
	})
}

// TestMuchIsPrinted: nothing scrolls away that has room, and what has not is told.
func TestMuchIsPrinted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		r := run(t, s, "seq 10000")
		lines := strings.Split(strings.TrimSuffix(r.Output, "\n"), "\n")
		if len(lines) != 10000 || lines[0] != "1" || lines[9999] != "10000" || r.Cut || told(r.ExitCode) != 0 {
			t.Errorf("10,000 lines: %d, from %q, cut %v, %v", len(lines), lines[0], r.Cut, told(r.ExitCode))
		}
		r = run(t, s, "seq 20000")
		if lines := strings.Split(strings.TrimSuffix(r.Output, "\n"), "\n"); len(lines) != 20000 || lines[0] != "1" || r.Cut || r.Above != "" {
			t.Errorf("20,000 lines: %d, from %q, cut %v", len(lines), lines[0], r.Cut)
		}
		r = run(t, s, "seq 1000000; sh -c 'exit 8'")
		if first, _, _ := strings.Cut(r.Output, "\n"); !strings.HasSuffix("\n"+r.Above, "\n"+before(first)+"\n") {
			t.Errorf("1,000,000 lines: from %q, behind %.50q", first, r.Above[max(0, len(r.Above)-50):])
		}
		if !r.Cut || !strings.HasSuffix(r.Output, "\n999999\n1000000\n") || told(r.ExitCode) != 8 || len(r.Output) > engine.MaxBlockOutput {
			t.Errorf("1,000,000 lines: %d bytes, cut %v, %v", len(r.Output), r.Cut, told(r.ExitCode))
		}
		long := strings.Repeat("0123456789", 50)
		expect(t, k, s, "echo "+long, 0, long)
		r = run(t, s, "head -c 200000 /dev/urandom | tr -d '\\005\\033\\220-\\237'; sh -c 'exit 9'")
		if r.Reason != cmdline.Finished || told(r.ExitCode) != 9 {
			t.Errorf("noise: %s %v", r.Reason, told(r.ExitCode))
		}
		run(t, s, `printf '\033c'`)
		expect(t, k, s, "echo sober", 0, "sober")
	})
}

// before is the number before one.
func before(n string) string {
	i, _ := strconv.Atoi(n)
	return strconv.Itoa(i - 1)
}

// TestTheScreenIsCleared: by whatever way, and left in whatever state.
func TestTheScreenIsCleared(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		expect(t, k, s, "clear", 0, "")
		expect(t, k, s, "echo gone; clear; echo kept", 0, "gone\nkept")
		if r := run(t, s, "echo gone; clear; echo kept"); r.ScreenText() != "kept" {
			t.Errorf("on the screen: %q", r.ScreenText())
		}
		expect(t, k, s, `printf '\033c'; sh -c 'exit 4'`, 4, "")
		expect(t, k, s, `printf '\033[2J\033[3J\033[H'`, 0, "")
		exactly(t, k, s, `printf '\033[?1049hinside\033[?1049l'; sh -c 'exit 4'`, 4, "inside")
		expect(t, k, s, `printf '\033[?1049hstays\n'; sh -c 'exit 4'`, 4, "stays")
		if r := run(t, s, "echo there"); told(r.ExitCode) != 0 || r.Reason != cmdline.Finished || r.Output != "there\n" {
			t.Errorf("after it: %s %v %q", r.Reason, told(r.ExitCode), r.Output)
		}
		run(t, s, `printf '\033[?1049l'`)
		expect(t, k, s, "echo back", 0, "back")
		if r := run(t, s, "tput reset; stty sane; echo end"); r.Reason != cmdline.Finished || !strings.HasSuffix(r.Output, "end\n") {
			t.Errorf("reset: %s %q", r.Reason, r.Output)
		}
	})
}

// TestNoMarkerIsForged: of what the command could know of its own line, or of one before, nothing
// ends it.
func TestNoMarkerIsForged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		if k.marks {
			for _, mark := range []string{"133;D;7", "633;D;7", "133;A", "133;B", "133;C"} {
				expect(t, k, s, `printf '\033]`+mark+`\007'; sleep 0.01; sh -c 'echo x; exit 4'`, 4, "x")
			}
			return
		}
		marker := cmdline.NewMarker()
		forge := func(line string) {
			t.Helper()
			r, err := cmdline.Run(t.Context(), s, line+"; sleep 0.2; sh -c 'echo over; exit 4'", cmdline.Options{Timeout: hang, Marker: marker})
			if err != nil {
				t.Fatal(err)
			}
			if r.Reason != cmdline.Finished || told(r.ExitCode) != 4 || !strings.HasSuffix(r.Output, "over\n") || r.Marker != marker {
				t.Errorf("%q: %s %v %q", line, r.Reason, told(r.ExitCode), r.Output)
			}
			marker = cmdline.NewMarker()
		}
		run(t, s, "echo before")
		forge("echo __UNTERM_DONE_0123456789abcdef0123456789abcdef__:0")
		forge("history | tail -3")
		forge("fc -l | tail -3")
		forge("ps -ef | grep UNTERM")
		forge("tr '\\0' '\\n' </proc/self/environ")
		if k.program != "fish" {
			forge("cat /proc/$$/cmdline; set")
			forge("set -x; echo x; set +x; set -v; echo v; set +v")
			forge("jobs -l; (sleep 0.1; echo bg) & jobs -l; wait")
		}
		forge(fmt.Sprintf("printf '%%s\\n' %s", strings.Replace(marker, "_", "'_'", 1)+"x:0"))
	})
}

// TestPrompts: of several lines, in colours, with what the user has of it.
func TestPrompts(t *testing.T) {
	t.Parallel()
	posix(t, func(t *testing.T, k kind, s *engine.Session) {
		run(t, s, "PS1='\n\033[1;32muser\033[0m\n# > '; PS2='more> '")
		expect(t, k, s, "echo hi", 0, "hi")
		expect(t, k, s, "echo a\necho b", 0, "a\nb")
		if (k.program == "bash" || k.program == "zsh") && k.name != "bash-noediting" {
			expect(t, k, s, "set -o vi", 0, "")
			expect(t, k, s, "echo hjkl", 0, "hjkl")
			expect(t, k, s, "(exit 200)", 200, "")
		}
	})
}

// TestALongLine: is run where a terminal in canonical mode, or a line editor, would have cut it.
func TestALongLine(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		run(t, s, "true")
		long := strings.Repeat("x", 6000)
		expect(t, k, s, "echo "+long, 0, long)
		expect(t, k, s, "echo '"+strings.Repeat("é\\!", 900)+"x'>/dev/null; echo \"it's\"", 0, "it's")
		expect(t, k, s, "echo after", 0, "after")
	})
}
