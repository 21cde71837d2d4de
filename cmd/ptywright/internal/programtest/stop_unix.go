//go:build unix && !linux

package programtest

import (
	"syscall"
	"testing"
)

// Stop stops a process, as Ctrl-Z does.
func Stop(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}
