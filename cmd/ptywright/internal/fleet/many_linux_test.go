package fleet_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
)

// TestFleetStartDetaches: an instance leads a session of its own, has no terminal, and none of the
// descriptors that its starter was given.
func TestFleetStartDetaches(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	leaked := filepath.Join(f.home, "leaked")
	p := programtest.Limited(t, "exec 7>"+leaked+" 8<"+leaked, "fleet", "start", "1", "--json")
	p.Env, p.Mark, p.Dir = f.env, f.mark, f.home
	out, code := p.Run("")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, p.Stderr)
	}
	pid := f.each(out)[0].PID
	if sid, err := unix.Getsid(pid); err != nil || sid != pid {
		t.Errorf("session %d of process %d, %v", sid, pid, err)
	}
	for pid := range programtest.Marked(t, f.mark) {
		open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		if err != nil {
			t.Error(err)
		}
		for _, fd := range open {
			if to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, fd.Name())); strings.HasPrefix(to, leaked) {
				t.Errorf("process %d has %s as %s", pid, to, fd.Name())
			}
		}
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if err != nil || fields[4] != "0" { // tty_nr, the seventh
		t.Errorf("terminal %s, %v", fields[4], err)
	}
}

// TestFleetTellsOfASilentInstance: one that is stopped (SIGSTOP) is alive and does not answer. What
// waits for it ends when it was told to, with what the others did; another one's command goes on.
func TestFleetTellsOfASilentInstance(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	all := f.start("2", "--tag", "worker")
	silent, other := all[0], all[1]
	programtest.Stop(t, silent.PID)
	defer unix.Kill(silent.PID, unix.SIGCONT)
	advice := fmt.Sprintf("its process is stopped, and goes on with kill -CONT %d", silent.PID)
	heading := "== " + silent.ID + " worker: it has not answered for 1s: " + advice + "\n"

	out := f.fails(3, "timed out: the command has not ended in 1 of 2 instances after 1s", "broadcast", "--wait", "--timeout", "1s", "--", "echo here")
	if !strings.Contains(out, "== "+other.ID+" worker: exit code 0\nhere\n") || !strings.Contains(out, heading) {
		t.Errorf("%q", out)
	}
	out = f.fails(3, "timed out: idle after 1s in 1 of 2 instances", "wait", "--idle", "--timeout", "1s")
	if !strings.Contains(out, "== "+other.ID+" worker: matched") || !strings.Contains(out, heading) {
		t.Errorf("%q", out)
	}
	for _, w := range f.each(f.fails(3, "", "wait", "--pattern", "nothing says this", "--timeout", "1s", "--json")) {
		if w.Matched || (w.ID == silent.ID) != strings.HasPrefix(w.Error, "it has not answered") || w.ID == other.ID && len(w.Screen) == 0 {
			t.Errorf("%+v", w)
		}
	}
	if out := f.fails(1, silent.ID+": it has not answered for 10s: "+advice, "broadcast", "--", "echo sent"); out != "== "+other.ID+" worker: sent\n" {
		t.Errorf("%q", out)
	}
	if any := f.ok("wait", "--any", "--idle"); !strings.HasPrefix(any, "== "+other.ID+" worker: matched") {
		t.Errorf("%q", any)
	}
	if list := f.ok("list"); strings.Count(list, "no answer") != 1 {
		t.Errorf("%s", list)
	}
	f.fails(1, silent.ID+": it has not answered for 2s: "+advice, "sessions")
	if err := unix.Kill(silent.PID, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	f.ok("wait", "--all", "--idle")

	// One that is stopped when it is waited for already.
	p := f.program("fleet", "wait", "--timeout", "3s", "--pattern", "echo now")
	f.ok("broadcast", "--to", other.ID, "--", "echo now")
	_, piped := p.StartPiped()
	lines := bufio.NewReader(piped)
	first, err := lines.ReadString('\n')
	programtest.Stop(t, silent.PID)
	rest, _ := io.ReadAll(lines)
	if code := programtest.ExitCode(t, p.Wait()); err != nil || code != 3 || !strings.HasPrefix(first, "== "+other.ID) || !strings.Contains(string(rest), "it has not answered for ") || !strings.Contains(string(rest), advice) {
		t.Errorf("exit code %d, %v\n%s%s%s", code, err, first, rest, p.Stderr)
	}

	// What does not end when it is told to.
	f.fails(1, silent.ID+" has not ended 500ms after it was told to; without asking: ptywright fleet stop --kill "+silent.ID, "stop", silent.ID, "--timeout", "500ms")
	if out := f.ok("stop", silent.ID, "--kill", "--timeout", "500ms"); out != silent.ID+" has been killed: it had not ended after 500ms\n" {
		t.Errorf("%q", out)
	}
	if names := f.names(); !slices.Equal(names, []string{other.ID}) {
		t.Errorf("%q", names)
	}
	for pid, what := range programtest.Marked(t, f.mark) {
		if pid == silent.PID {
			t.Errorf("%d is left: %s", pid, what)
		}
	}
}
