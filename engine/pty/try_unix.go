//go:build linux || darwin

package pty

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// TryWrite is Write that never blocks: it writes what the terminal accepts now and returns the
// number of bytes, possibly none. Its errors are those of Write, except for the deadline.
func (p *PTY) TryWrite(b []byte) (n int, err error) {
	if p.hungUp() {
		return 0, ErrHungUp // as in Write: the kernel would accept it, and drop it
	}
	ctlErr := p.conn.Write(func(fd uintptr) bool {
		for n < len(b) {
			k, werr := unix.Write(int(fd), b[n:])
			switch {
			case werr == unix.EINTR:
				continue
			case werr == unix.EAGAIN:
				return true
			case werr == unix.EIO:
				err = ErrHungUp
				return true
			case werr != nil:
				err = os.NewSyscallError("write", werr)
				return true
			}
			n += k
		}
		return true
	})
	switch {
	case p.closed.Load() && ctlErr != nil:
		return n, os.ErrClosed
	case errors.Is(ctlErr, os.ErrDeadlineExceeded):
		return n, nil // Write will report it
	case ctlErr != nil:
		return n, ctlErr
	}
	return n, err
}
