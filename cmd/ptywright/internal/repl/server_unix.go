//go:build unix

package repl

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// apart keeps a terminal's signals from the process.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func notifyResize(c chan<- os.Signal) { signal.Notify(c, syscall.SIGWINCH) }
