package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
)

var marked, gone = programtest.Marked, programtest.Gone

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
