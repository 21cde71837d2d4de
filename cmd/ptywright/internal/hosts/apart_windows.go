package hosts

import (
	"os/exec"
	"syscall"
)

// apart gives a command no console: it cannot ask there, and a Ctrl-C at the server's is not its.
func apart(cmd *exec.Cmd) {
	const noWindow = 0x08000000 // CREATE_NO_WINDOW
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: noWindow}
}
