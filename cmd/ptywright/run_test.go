//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// A reader that has had enough ends the program, as it would have without a bridge.
func TestRunWithoutAReader(t *testing.T) {
	t.Parallel()
	p := ptywright(t, "run", "yes")
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(hang, func() { p.Process.Kill() }).Stop()
	out.Read(make([]byte, 10))
	out.Close()
	if code := exitCodeOf(t, p.Wait()); code != 128+int(syscall.SIGPIPE) {
		t.Errorf("exit %d", code)
	}
	noneLeft(t, p.Mark)
}

// bridged starts a shell in a session, from which the bridge is run as a person would.
func bridged(t *testing.T) (s *server, shell *session) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s = start(t)
	shell = s.with(client.Config{Program: "sh", Env: map[string]string{"PS1": "out> ", "ENV": "", "PTYWRIGHT": self}})
	shell.wait(client.Regexp(`^out>$`))
	return s, shell
}

// inner starts a script under the bridge and waits until it comes to READY.
func inner(shell *session, script string) {
	shell.t.Helper()
	script = strings.Replace(script, "READY", "echo u$((1))p", 1)
	shell.waitSince(shell.text("$PTYWRIGHT run -- sh -c '"+script+"'; echo code=$?\n"), client.Regexp(`(?m)^u1p$`))
}

func TestRunIsTransparent(t *testing.T) {
	t.Parallel()
	_, shell := bridged(t)
	modes := func() string { // of the terminal, by the screen on which they are just told
		return shell.waitSince(shell.text("stty -g; echo to$((1))ld\n"), client.Regexp(`(?m)^(.*:.*)\nto1ld\nout>$`)).Outcome.Capture
	}
	before := modes()
	inner(shell, "READY; stty size; exec sh -c \"while read line; do stty size; echo heard \\$line; done; exit 9\"")
	shell.waitSince(shell.text("hello\n"), client.Regexp(`(?m)^24 80\nheard hello$`))
	shell.resize(40, 120)
	for size := ""; size != "40 120"; { // the bridge may hear of it after what is typed next
		m := shell.waitSince(shell.text("again\n"), client.Regexp(`(?m)^(\d+ \d+)\nheard again$`))
		size = m.Outcome.Capture
	}
	shell.waitSince(shell.keys("ctrl+d"), client.Regexp(`(?m)^code=9\nout>$`))
	if after := modes(); after != before || strings.Count(before, ":") <= 10 {
		t.Errorf("the terminal's modes before and after: %q, %q", before, after)
	}

	// Ctrl-C and Ctrl-\ are the program's: what they end is not the bridge, which tells of it.
	inner(shell, "READY; exec cat")
	shell.waitSince(shell.keys("ctrl+c"), client.Regexp(`code=130\nout>$`))
	inner(shell, "ulimit -c 0; READY; exec cat")
	shell.waitSince(shell.keys("ctrl_backslash"), client.Regexp(`code=131\nout>$`))
}

// A bridge that is told to end takes its program with it and leaves the terminal as it was.
func TestRunThatIsTerminated(t *testing.T) {
	t.Parallel()
	_, shell := bridged(t)
	inner(shell, "trap \"\" TERM HUP; READY; read x; kill -TERM $PPID; while :; do sleep 1000; done")
	shell.text("\n")
	shell.wait(client.Regexp(`(?m)^code=143\nout>$`))
	shell.waitSince(shell.text("stty -a | grep -o ' icanon'; echo e$((1))nd\n"), client.Regexp(`(?m)^ icanon\ne1nd$`))
}

// The bridge can be told to end at any moment, the first included: nothing of the program is left,
// which ignores what a terminal's end would send it.
func TestRunThatIsTerminatedAtOnce(t *testing.T) {
	t.Parallel()
	together(times(24, 500), func(int) {
		p := ptywright(t, "run", "sh", "-c", `trap "" TERM HUP; kill -TERM $PPID; exec sleep 1000.$`+asProgram)
		p.Stdin, p.Stdout = nil, io.Discard
		if err := p.Start(); err != nil {
			t.Error(err)
			return
		}
		defer time.AfterFunc(hang, func() { p.Process.Kill() }).Stop()
		if err := p.Wait(); p.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) || p.Stderr.String() != "" {
			t.Errorf("%v: %s", err, p.Stderr)
		}
		noneLeft(t, p.Mark)
	})
}

func TestRunKeepsAVimUsable(t *testing.T) {
	t.Parallel()
	need(t, "vim", "vim")
	_, shell := bridged(t)
	// Without t_RV vim does not ask the terminal for its key codes. It has ten such questions under
	// way and leaves without their answers, which the shell's terminal then echoes, with and
	// without a bridge.
	shell.text("$PTYWRIGHT run vim -u NONE -i NONE -N --cmd 'set t_RV='; echo code=$?\n")
	shell.wait(client.Regexp(`VIM - Vi IMproved`))
	shell.text("ihello")
	m := shell.wait(client.Regexp(`(?s)^hello\n~.*-- INSERT --`))
	if !m.Screen.AlternateScreen {
		t.Error("vim is not on the alternate screen")
	}
	shell.keys("escape")
	shell.text(":q!\r")
	shell.wait(client.Regexp(`(?m)^code=0\nout>$`))
}

// A program with a line editor of its own ends at the end of its input, however late it takes the
// terminal.
func TestRunEndsWhatReadsLinesItself(t *testing.T) {
	t.Parallel()
	for program, args := range map[string][]string{"bash": {"--norc"}, "python3": {"-q"}} {
		t.Run(program, func(t *testing.T) {
			need(t, program, program)
			for _, input := range []string{"", "1\n"} {
				p := ptywright(t, append([]string{"run", program}, args...)...)
				if _, code := p.Run(input); program == "python3" && code != 0 {
					t.Errorf("input %q: exit %d", input, code)
				}
			}
		})
	}
}

// A reader that is slow gets everything all the same.
func TestRunLosesNothingToASlowReader(t *testing.T) {
	t.Parallel()
	p := ptywright(t, "run", "--", "sh", "-c", "seq 5000; echo END")
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	want := strings.Builder{}
	for i := range 5000 {
		fmt.Fprintf(&want, "%d\r\n", i+1)
	}
	want.WriteString("END\r\n")
	var got []byte
	piece := make([]byte, 512)
	for tick := time.Tick(5 * time.Millisecond); ; <-tick { // in all, longer than the bridge waits for a held terminal
		n, err := out.Read(piece)
		got = append(got, piece[:n]...)
		if err != nil {
			break
		}
	}
	if code := exitCodeOf(t, p.Wait()); code != 0 || string(got) != want.String() {
		t.Errorf("exit %d, %d bytes of %d", code, len(got), want.Len())
	}
	noneLeft(t, p.Mark)
}

// Whatever the program started ends with it, also what has left its terminal behind.
func TestRunLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	p := ptywright(t, "run", "--", "sh", "-c", "(setsid sleep 1000 </dev/null >/dev/null 2>&1 &); exit 3")
	if _, code := p.Run(""); code != 3 {
		t.Errorf("exit %d", code)
	}
	noneLeft(t, p.Mark)
}
