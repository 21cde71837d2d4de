package programtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Marked returns the processes that carry a mark in their environment or arguments, zombies left
// out, and what each is.
func Marked(t testing.TB, mark string) map[int]string {
	t.Helper()
	names, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]string{}
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name())
		if err != nil {
			continue
		}
		environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // it may have ended
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if !bytes.Contains(environ, []byte(AsProgram+"="+mark)) && !bytes.Contains(cmdline, []byte(mark)) {
			continue
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if i := bytes.LastIndexByte(stat, ')'); err != nil || i < 0 || bytes.HasPrefix(stat[i:], []byte(") Z")) {
			continue
		}
		found[pid] = strings.ReplaceAll(string(cmdline), "\x00", " ")
	}
	return found
}

// Stop stops a process, as Ctrl-Z does, and returns when it is: a busy machine stops one thread after
// the other.
func Stop(t testing.TB, pid int) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	UntilMatches(t, "^T+$", func() (states string) {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, path := range threads {
			stat, _ := os.ReadFile(path)
			if _, state, ok := strings.Cut(string(stat), ") "); ok {
				states += state[:1]
			}
		}
		return states
	})
}

// NoneLeft checks that no process carries the mark.
func NoneLeft(t testing.TB, mark string) {
	t.Helper()
	for pid, what := range Marked(t, mark) {
		t.Errorf("process %d is left: %s", pid, what)
		unix.Kill(pid, unix.SIGKILL)
	}
}

// Gone waits until none of the processes is alive, and returns how long it took.
func Gone(t testing.TB, pids map[int]string) time.Duration {
	t.Helper()
	began := time.Now()
	for pid, what := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if err == unix.ESRCH {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for {
			fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			n, err := unix.Poll(fds, int(max(0, time.Until(began.Add(Hang))).Milliseconds()))
			if err == unix.EINTR {
				continue
			}
			if n == 0 {
				t.Errorf("process %d lives on: %s", pid, what)
			}
			break
		}
		unix.Close(fd)
	}
	return time.Since(began)
}
