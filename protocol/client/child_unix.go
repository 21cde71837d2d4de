//go:build unix

package client

import (
	"os/exec"
	"syscall"
)

// apart gives a server a session of its own: Ctrl-C and the hang-up of a terminal are for this
// program, which ends its server.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
