package repl

import (
	"os"
	"os/exec"
	"syscall"
)

// Of CreateProcess's flags; package syscall has the first alone.
const (
	newProcessGroup = syscall.CREATE_NEW_PROCESS_GROUP
	detachedProcess = 0x00000008
)

// detach has the process run without this program's console and its Ctrl-C.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: newProcessGroup | detachedProcess}
}

// apart keeps the console's Ctrl-C from the process.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: newProcessGroup} }

// terminate ends the process at once: there is no asking. Its job object ends its sessions.
func terminate(p *os.Process) { p.Kill() }

// notifyResize does nothing: a console tells of its size in its input, which is not read for it. The next key draws anew.
func notifyResize(chan<- os.Signal) {}

var endings = []os.Signal{syscall.SIGTERM}
