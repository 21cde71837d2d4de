package instance

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// handle is a kqueue that watches for the end of the process.
type handle struct{ pid, kqueue int }

// wakeIdent identifies the event that ends a wait early.
const wakeIdent = 1

// hold returns a handle on the process that has the pid.
func hold(pid int) (handle, error) {
	kq, err := unix.Kqueue()
	if err != nil {
		return handle{}, os.NewSyscallError("kqueue", err)
	}
	unix.CloseOnExec(kq)
	var events [2]unix.Kevent_t
	unix.SetKevent(&events[0], pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	events[0].Fflags = unix.NOTE_EXIT
	unix.SetKevent(&events[1], wakeIdent, unix.EVFILT_USER, unix.EV_ADD|unix.EV_ONESHOT)
	if _, err := unix.Kevent(kq, events[:], nil, nil); err != nil {
		unix.Close(kq)
		if err == unix.ESRCH {
			return handle{}, ErrGone
		}
		return handle{}, os.NewSyscallError("kevent", err)
	}
	return handle{pid, kq}, nil
}

func (h handle) signal(kill bool) error {
	if kill {
		return h.send(unix.SIGKILL)
	}
	return h.send(unix.SIGTERM)
}

// goOn continues a stopped process.
func (h handle) goOn() error { return h.send(unix.SIGCONT) }

func (h handle) send(s unix.Signal) error {
	err := unix.Kill(h.pid, s)
	if err == unix.ESRCH {
		return ErrGone
	}
	return os.NewSyscallError("kill", err)
}

// wait returns when the process has ended, or with ctx's error. It holds a thread.
func (h handle) wait(ctx context.Context) error {
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		var now [1]unix.Kevent_t
		unix.SetKevent(&now[0], wakeIdent, unix.EVFILT_USER, 0)
		now[0].Fflags = unix.NOTE_TRIGGER
		unix.Kevent(h.kqueue, now[:], nil, nil)
	})
	defer func() {
		if !stop() {
			<-woken // it uses the kqueue, which is about to be closed
		}
	}()
	var events [1]unix.Kevent_t
	for {
		switch n, err := unix.Kevent(h.kqueue, nil, events[:], nil); {
		case err == unix.EINTR:
		case err != nil:
			return os.NewSyscallError("kevent", err)
		case n == 1 && events[0].Filter == unix.EVFILT_USER:
			return ctx.Err()
		case n == 1:
			return nil
		}
	}
}

func (h handle) release() { unix.Close(h.kqueue) }
