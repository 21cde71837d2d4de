package client

import (
	"os/exec"
	"syscall"
)

// apart gives a server a process group of its own: Ctrl-C is for this program, which ends its
// server.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
