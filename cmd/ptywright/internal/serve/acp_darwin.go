package serve

import "syscall"

// ownGroup starts a process in its own group. macOS has no signal for our death: the child's input
// ends then.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
