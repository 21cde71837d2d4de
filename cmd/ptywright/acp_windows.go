package main

import (
	"os"
	"syscall"
)

// ownGroup starts a process whose group gets no Ctrl+C of ours.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// endGroup ends a process. There is no asking: that its input has ended is all it hears before.
func endGroup(p *os.Process, kill bool) {
	if kill {
		_ = p.Kill()
	}
}

func codeOfState(s *os.ProcessState) int { return s.ExitCode() }
