package serve

import "syscall"

// ownGroup starts a process in its own group, which does not outlive us, however we end.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
