//go:build linux || darwin

package pty

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// DefaultSignals makes programs start with all signals at their default action. A server that was
// started by nohup, or in the background of a script, ignores SIGHUP or SIGINT, and ignored
// signals, unlike handled ones, stay ignored across execve(2): Ctrl+C would do nothing in its
// sessions. DefaultSignals installs an empty handler for each ignored signal, so the server itself
// continues to ignore it. Call it once before the first [Start]; a later signal.Ignore or
// signal.Reset of such a signal undoes it. Calls after the first have no effect.
//
// On macOS only an ignored SIGHUP or SIGINT can be detected. On Windows it does nothing.
func DefaultSignals() { defaultSignals() }

var defaultSignals = sync.OnceFunc(func() {
	var ignored []os.Signal
	for _, s := range ignoredSignals() {
		ignored = append(ignored, s)
	}
	if len(ignored) == 0 {
		return // Notify without a list means all
	}
	// Nobody reads it: a full channel drops signals, as intended.
	signal.Notify(make(chan os.Signal, 1), ignored...)
})

// handleable are the signals that a Go program can handle, that can be inherited as ignored, and
// whose empty handler changes nothing else for the server.
var handleable = []syscall.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGALRM,
	syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGTTIN,
	syscall.SIGTTOU, syscall.SIGCHLD, syscall.SIGWINCH, syscall.SIGXCPU, syscall.SIGXFSZ,
	syscall.SIGVTALRM, syscall.SIGPROF, syscall.SIGIO,
}
