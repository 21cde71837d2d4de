package pty

import (
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	onWindows      = false
	getTermios     = unix.TIOCGETA
	setTermios     = unix.TIOCSETA
	posixVDisable  = 0xff
	ticksPerSecond = 1_000_000
)

func withPidfd(*syscall.SysProcAttr, *int) {}

// reap waits for the program in its own thread: macOS has no process descriptor that the runtime's
// poller accepts. It learns of the end before it reaps, so that the reaping is under the lock.
func (p *PTY) reap(int) {
	if kq, err := unix.Kqueue(); err == nil {
		unix.CloseOnExec(kq)
		var event [1]unix.Kevent_t
		unix.SetKevent(&event[0], p.tree.pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
		event[0].Fflags = unix.NOTE_EXIT
		for {
			// ESRCH: it has ended already.
			if _, err := unix.Kevent(kq, event[:], event[:], nil); err != unix.EINTR {
				break
			}
		}
		unix.Close(kq)
	}
	p.tryReap(0)
	p.announce()
}

// clockTicks returns the current time in the unit of startTime.
func clockTicks() uint64 { return uint64(time.Now().UnixMicro()) }

func ignoredSignals() (ignored []syscall.Signal) {
	for _, s := range handleable {
		if signal.Ignored(s) {
			ignored = append(ignored, s)
		}
	}
	return ignored
}

// unblockSignals does nothing: the system library's pthread_sigmask cannot be reached without cgo.
func unblockSignals() (restore func()) { return func() {} }
