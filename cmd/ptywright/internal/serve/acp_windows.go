package serve

import (
	"os"
	"syscall"
)

// ownGroup starts a process in a group that does not get our Ctrl+C.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// endGroup ends a process. Windows has no signal to ask it with; the only notice it gets is
// the end of its input.
func endGroup(p *os.Process, kill bool) {
	if kill {
		_ = p.Kill()
	}
}

func codeOfState(s *os.ProcessState) int { return s.ExitCode() }
