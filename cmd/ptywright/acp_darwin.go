package main

import "syscall"

// ownGroup starts a process in a group of its own. There is no signal for our death: its input ends then.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
