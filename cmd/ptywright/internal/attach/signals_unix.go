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
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a write to what is gone is an error
}

// mayStop reports whether somebody is there who could have a process that is stopped go on; else the error is [errNoShell]. (The kernel
// would see to that itself with SIGTSTP, which the runtime does not let through once it has been asked for.)
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

// stopSelf stops the process and whatever is of its job, as Ctrl-Z in a shell does, and returns when it goes on.
func stopSelf() error {
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, syscall.SIGCONT)
	defer signal.Stop(resumed)
	if err := syscall.Kill(0, syscall.SIGSTOP); err != nil {
		return err
	}
	bound := time.NewTimer(stopBound) // it takes a moment: another thread than this one may take the signal
	defer bound.Stop()
	select {
	case <-resumed:
	case <-bound.C:
	}
	return nil
}

// stopBound is how long a stop may take to come about. It costs a person nothing: the terminal is given back already.
const stopBound = 500 * time.Millisecond
