package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFleetStartDetaches: an instance leads a session of its own, has no terminal, and none of the descriptors that its
// starter was given.
func TestFleetStartDetaches(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	leaked := filepath.Join(f.home, "leaked")
	p := limited(t, "exec 7>"+leaked+" 8<"+leaked, "fleet", "start", "1", "--json")
	p.Env, p.mark, p.Dir = f.env, f.mark, f.home
	out, code := p.run("")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, p.stderr)
	}
	pid := f.each(out)[0].PID
	if sid, err := unix.Getsid(pid); err != nil || sid != pid {
		t.Errorf("session %d of process %d, %v", sid, pid, err)
	}
	for pid := range marked(t, f.mark) {
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

// TestFleetTellsOfASilentInstance: one that is stopped (SIGSTOP) is alive and does not answer; another one's command goes on.
func TestFleetTellsOfASilentInstance(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	all := f.start("2")
	if err := unix.Kill(all[0].PID, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer unix.Kill(all[0].PID, unix.SIGCONT)
	out := f.fails(1, all[0].ID+": it has not answered for 10s", "broadcast", "--wait", "--", "echo here")
	if !strings.Contains(out, "== "+all[1].ID+": exit code 0\nhere\n") {
		t.Errorf("%q", out)
	}
	if any := f.ok("wait", "--any", "--idle"); !strings.HasPrefix(any, "== "+all[1].ID+": matched") {
		t.Errorf("%q", any)
	}
	if err := unix.Kill(all[0].PID, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	f.ok("wait", "--all", "--idle")
}
