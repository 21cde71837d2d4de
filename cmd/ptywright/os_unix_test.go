//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

func signalOf(e *exec.ExitError) int { return int(e.Sys().(syscall.WaitStatus).Signal()) }
