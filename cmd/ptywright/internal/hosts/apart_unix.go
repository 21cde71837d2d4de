//go:build unix

package hosts

import (
	"os/exec"
	"syscall"
)

// apart gives a command a session of its own: it has no terminal to ask on, and a Ctrl-C at the
// server's is not its.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
