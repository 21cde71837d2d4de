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

// notifyResize does nothing: a console reports resizes in its input, which nothing reads for them.
// The next key redraws.
func notifyResize(chan<- os.Signal) {}
