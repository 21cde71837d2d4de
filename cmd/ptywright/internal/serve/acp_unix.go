//go:build unix

package serve

import (
	"os"
	"syscall"
)

// endGroup ends a process and its group, by SIGTERM or, with kill, SIGKILL.
func endGroup(p *os.Process, kill bool) {
	signal := syscall.SIGTERM
	if kill {
		signal = syscall.SIGKILL
	}
	// After its leader is reaped, a group's id stays taken while it has a member. Without members,
	// the wrong process could only be signalled in the moment that a new one gets the number and
	// leads a group.
	_ = syscall.Kill(-p.Pid, signal)
}

// codeOfState is an exit code as in shells.
func codeOfState(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
