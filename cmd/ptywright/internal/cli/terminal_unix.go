//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// NotifyResize relays changes of the window's size to c.
func NotifyResize(c chan<- os.Signal) { signal.Notify(c, syscall.SIGWINCH) }

// escapes reports whether a terminal reads escape sequences: on these systems each does.
func escapes(*os.File) bool { return true }
