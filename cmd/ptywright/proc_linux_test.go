package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// marked returns the processes that carry a mark in their environment or arguments, zombies left
// out, and what each is.
func marked(t testing.TB, mark string) map[int]string {
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
		if !bytes.Contains(environ, []byte(asProgram+"="+mark)) && !bytes.Contains(cmdline, []byte(mark)) {
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

// noneLeft checks that no process carries the mark.
func noneLeft(t testing.TB, mark string) {
	t.Helper()
	for pid, what := range marked(t, mark) {
		t.Errorf("process %d is left: %s", pid, what)
		unix.Kill(pid, unix.SIGKILL)
	}
}

// gone waits until none of the processes is alive, and returns how long it took.
func gone(t testing.TB, pids map[int]string) time.Duration {
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
			n, err := unix.Poll(fds, int(max(0, time.Until(began.Add(hang))).Milliseconds()))
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

// descriptors counts a process's open files.
func descriptors(t testing.TB, pid int) int {
	t.Helper()
	names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// memory returns a number of kilobytes from a process's status: VmRSS, VmHWM.
func memory(t testing.TB, pid int, name string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(v), "kB")))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no %s in the status of %d", name, pid)
	return 0
}
