//go:build unix

package attach

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func notify(s *signals) {
	signal.Notify(s.resized, syscall.SIGWINCH)
	signal.Notify(s.stopped, syscall.SIGTSTP)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // writing to a closed pipe is an error
}

// mayStop reports whether somebody could continue this process once it is stopped; else the error
// is [errNoShell]. (The kernel checks that itself for SIGTSTP, which the runtime does not let
// through once a program has asked for it.)
func mayStop() error {
	group, err := unix.Getpgid(os.Getppid())
	if err != nil || group == unix.Getpgrp() {
		return errNoShell
	}
	theirs, err := unix.Getsid(os.Getppid())
	if ours, oerr := unix.Getsid(0); err != nil || oerr != nil || ours != theirs {
		return errNoShell
	}
	return nil
}

// stopSelf stops the process and its job, as Ctrl-Z in a shell does, and returns when it is
// continued.
func stopSelf() error {
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, syscall.SIGCONT)
	defer signal.Stop(resumed)
	if err := syscall.Kill(0, syscall.SIGSTOP); err != nil {
		return err
	}
	bound := time.NewTimer(stopBound) // it takes a moment: another thread may take the signal
	defer bound.Stop()
	select {
	case <-resumed:
	case <-bound.C:
	}
	return nil
}

// stopBound is how long a stop may take to happen. It costs the person nothing: the terminal is
// already restored.
const stopBound = 500 * time.Millisecond
