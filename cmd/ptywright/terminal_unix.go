//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyResize relays changes of the window's size to c.
func notifyResize(c chan<- os.Signal) { signal.Notify(c, syscall.SIGWINCH) }
