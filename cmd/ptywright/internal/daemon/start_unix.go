//go:build unix

package daemon

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// detach makes the process lead a session of its own, where no terminal's signals reach it. It also
// keeps inherited descriptors from it: Go's own are close-on-exec, those of a careless parent are
// not.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range open {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

func terminate(p *os.Process) { p.Signal(syscall.SIGTERM) }
