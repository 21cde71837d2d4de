package daemon

import (
	"os"
	"os/exec"
	"syscall"
)

// Flags of CreateProcess; package syscall has only the first.
const (
	newProcessGroup = syscall.CREATE_NEW_PROCESS_GROUP
	detachedProcess = 0x00000008
)

// detach makes the process run without this program's console and its Ctrl-C.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: newProcessGroup | detachedProcess}
}

// terminate kills the process: Windows cannot ask it to end. Its job object ends its sessions.
func terminate(p *os.Process) { p.Kill() }
