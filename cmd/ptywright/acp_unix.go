//go:build unix

package main

import (
	"os"
	"syscall"
)

// endGroup ends a process and its group: SIGTERM, or what cannot be refused.
func endGroup(p *os.Process, kill bool) {
	signal := syscall.SIGTERM
	if kill {
		signal = syscall.SIGKILL
	}
	// Of a group whose leader has been reaped the id stays taken as long as it has a member; without one there is nobody to
	// be signalled by mistake but in the moment that a new process takes the number and makes a group of it.
	_ = syscall.Kill(-p.Pid, signal)
}

// codeOfState is an exit code as shells have it.
func codeOfState(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
