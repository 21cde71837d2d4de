package repl

import (
	"os"
	"os/exec"
	"syscall"
)

// apart keeps the console's Ctrl-C from the process.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// notifyResize does nothing: a console tells of its size in its input, which is not read for it. The next key draws anew.
func notifyResize(chan<- os.Signal) {}
