//go:build unix

package main

import (
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// notifyResize has c told when the window's size changes.
func notifyResize(c chan<- os.Signal) { signal.Notify(c, syscall.SIGWINCH) }

func signalNumber(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return int(n)
	}
	return 0
}

// exitSignal returns the number of a signal by its name, as a shell adds it to 128.
func exitSignal(name string) int {
	if n := unix.SignalNum(name); n != 0 {
		return int(n)
	}
	rest, ok := strings.CutPrefix(name, "SIGRTMIN")
	if !ok {
		return 0
	}
	n, _ := strconv.Atoi(rest) // "" or "+3"
	return 34 + n              // SIGRTMIN as the C library counts
}
