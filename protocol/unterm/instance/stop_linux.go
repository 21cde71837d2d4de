package instance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// handle is a pidfd, which refers to one process even if its pid is reused.
type handle struct{ pidfd *os.File }

// hold returns a handle on the process that has the pid.
func hold(pid int) (handle, error) {
	fd, err := unix.PidfdOpen(pid, unix.O_NONBLOCK)
	switch err {
	case nil:
		return handle{os.NewFile(uintptr(fd), "pidfd")}, nil
	case unix.ESRCH:
		return handle{}, ErrGone
	case unix.ENOSYS, unix.EINVAL, unix.EPERM:
		return handle{},
			fmt.Errorf("pidfd_open: %w; it needs Linux 5.10 and no filter against it", err)
	}
	return handle{}, os.NewSyscallError("pidfd_open", err)
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
	conn, err := h.pidfd.SyscallConn()
	if err != nil {
		return err
	}
	if e := conn.Control(func(fd uintptr) {
		err = unix.PidfdSendSignal(int(fd), s, nil,
			0)
	}); e != nil {
		return e
	}
	if err == unix.ESRCH {
		return ErrGone
	}
	return os.NewSyscallError("pidfd_send_signal", err)
}

// wait returns when the process has ended, or with ctx's error. It parks on the runtime's poller: a
// pidfd becomes readable when its process ends.
func (h handle) wait(ctx context.Context) error {
	conn, err := h.pidfd.SyscallConn()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { h.pidfd.SetReadDeadline(time.Unix(1, 0)) })()
	err = conn.Read(func(fd uintptr) bool {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, 0)
		for err == unix.EINTR {
			n, err = unix.Poll(ready, 0)
		}
		return n > 0
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ctx.Err()
	}
	return err
}

func (h handle) release() { h.pidfd.Close() }
