//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyResize has c told when the window's size changes.
func notifyResize(c chan<- os.Signal) { signal.Notify(c, syscall.SIGWINCH) }

func signalNumber(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return int(n)
	}
	return 0
}
