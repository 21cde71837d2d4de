package pty

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// unreadLooks is how many looks in a row must find nothing. What is typed reaches the program's
// queue through a kernel worker. Each look at an empty queue waits for it, and it moves as much as
// the queue holds; 64 KiB at most are on their way (the limit of a tty port's buffer). So even if a
// program takes each refill away between two system calls, one of the looks sees the last of them.
const unreadLooks = 64<<10/MaxLine + 1

// Unread returns how many bytes of typed input no process has read yet. 0 is exact: everything was
// read, or thrown away, as by a program that flushes its input. Above 0, bytes that the kernel has
// yet to put into the queue may be missing. In canonical mode only finished lines count; an end of
// file that was typed and not read counts as one byte. It opens the terminal's other end for as
// long as it looks, some microseconds.
//
// The error is [ErrExited] once the program has ended, os.ErrClosed after Close, and an
// [*UnreadError] where the system does not tell.
func (p *PTY) Unread() (n int, err error) {
	err = p.withPeer(func(_, peer int) (err error) {
		n, err = unread(peer)
		return err
	})
	return n, err
}

// UnreadAfter returns what [PTY.Unread] does, and written: how many bytes of output, counted from
// the program's start, had been written before that. So output up to there was written while the
// input was unread, whether or not Next has returned it yet. It is at least what Next has returned,
// and with it the terminal's echo of the unread input, unless the kernel still had other output to
// move. Without unread input written means nothing. The errors are those of Unread.
func (p *PTY) UnreadAfter() (n int, written uint64, err error) {
	err = p.withPeer(func(master, peer int) (err error) {
		// The kernel echoes input while it makes it readable, and this look waits until both are
		// done.
		if n, err = unread(peer); n == 0 || err != nil {
			return err
		}
		if written, _, err = p.written(master); err != nil {
			return err
		}
		n, err = unread(peer)
		return err
	})
	return n, written, err
}

// Written counts the bytes of output that have been written, from the program's start, whether or
// not Next has returned them yet: all of them, with the echo of everything typed so far, or at least
// so many. All cannot be counted while Next has output to read, or the program input. The errors are
// those of Unread.
func (p *PTY) Written() (n uint64, all bool, err error) {
	err = p.withPeer(func(master, peer int) error {
		pending, err := unread(peer) // when there is none, all that was typed has been echoed
		if err != nil {
			return err
		}
		n, all, err = p.written(master)
		all = all && pending == 0
		return err
	})
	return n, all, err
}

// written counts the output that was read and that is there to be read: all of it, or at least so
// much.
func (p *PTY) written(master int) (n uint64, all bool, err error) {
	p.counting.Lock()
	defer p.counting.Unlock()
	queued, err := unix.IoctlGetInt(master, unix.TIOCINQ)
	if all = err == nil && queued == 0; all {
		// Output reaches the reader's queue through a kernel worker, which a look at an empty queue
		// waits for.
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(master), Events: unix.POLLIN}}, 0)
		queued, err = unix.IoctlGetInt(master, unix.TIOCINQ)
	}
	if err != nil {
		return 0, false, &UnreadError{os.NewSyscallError("ioctl TIOCINQ", err)}
	}
	return p.got + uint64(queued), all, nil
}

// withPeer calls f with the terminal's two ends while the program lives. f must not block.
func (p *PTY) withPeer(f func(master, peer int) error) (err error) {
	// Opening the other end brings back a terminal that nobody holds, so it is opened only while
	// the program lives. Under mu it is not reaped meanwhile.
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tree.reaped != 0 {
		return ErrExited
	}
	var ended unix.Siginfo
	err = unix.Waitid(unix.P_PID, p.tree.pid, &ended, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	if err == nil && ended.Signo != 0 {
		return ErrExited
	}
	if bad := p.conn.Control(func(master uintptr) {
		const flags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC | unix.O_NONBLOCK
		peer, _, errno := unix.Syscall(unix.SYS_IOCTL, master, unix.TIOCGPTPEER, flags)
		if errno != 0 { // ENOTTY before Linux 4.13
			err = &UnreadError{os.NewSyscallError("ioctl TIOCGPTPEER", errno)}
			return
		}
		defer unix.Close(int(peer))
		err = f(int(master), int(peer))
	}); bad != nil {
		return p.orClosed(bad)
	}
	return err
}

func unread(peer int) (int, error) {
	for range unreadLooks {
		n, err := unix.IoctlGetInt(peer, unix.TIOCINQ)
		if err != nil {
			return 0, &UnreadError{os.NewSyscallError("ioctl TIOCINQ", err)}
		}
		if n > 0 {
			return n, nil
		}
		// Waits for the kernel's worker when the queue is empty, and knows of an end of file.
		fds := []unix.PollFd{{Fd: int32(peer), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, 0); err == nil && fds[0].Revents&unix.POLLIN != 0 {
			n, err := unix.IoctlGetInt(peer, unix.TIOCINQ)
			if err != nil {
				return 0, &UnreadError{os.NewSyscallError("ioctl TIOCINQ", err)}
			}
			return max(n, 1), nil
		}
	}
	return 0, nil
}

// AwaitRead blocks until [PTY.Unread] returns 0 or an error, or until ctx ends; it returns that
// error, or the cause of ctx's end. It holds no thread and does not poll: when a program has read
// from a terminal the kernel wakes its writers, and an edge-triggered epoll of the master reports
// each such wake. Input that a program throws away without reading (TCSAFLUSH) wakes nobody, and is
// noticed with the next read.
func (p *PTY) AwaitRead(ctx context.Context) error {
	queue, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return &UnreadError{os.NewSyscallError("epoll_create1", err)}
	}
	_ = unix.SetNonblock(queue, true) // so that the runtime's poller watches it
	f := os.NewFile(uintptr(queue), "reads")
	defer f.Close()
	ended, err := p.watch(queue)
	if ended >= 0 {
		defer unix.Close(ended)
	}
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { f.SetReadDeadline(past) })()
	conn, err := f.SyscallConn()
	if err != nil {
		return &UnreadError{err}
	}
	waited := conn.Read(func(uintptr) bool {
		// The edge is taken before the look: a read after the look makes a new one.
		var events [2]unix.EpollEvent
		_, _ = unix.EpollWait(queue, events[:], 0)
		var n int
		n, err = p.Unread()
		return n == 0 || err != nil
	})
	switch {
	case errors.Is(waited, os.ErrDeadlineExceeded):
		return context.Cause(ctx)
	case waited != nil:
		return &UnreadError{waited}
	}
	return err
}

// watch adds to an epoll what may change the answer of Unread: a read from the terminal, and the
// program's end. ended is to be closed when it is not negative.
func (p *PTY) watch(queue int) (ended int, err error) {
	p.mu.Lock() // until the program is reaped, its pid is its own
	defer p.mu.Unlock()
	if p.tree.reaped != 0 {
		return -1, ErrExited
	}
	ended, err = unix.PidfdOpen(p.tree.pid, 0)
	if err != nil { // before Linux 5.3
		return -1, &UnreadError{os.NewSyscallError("pidfd_open", err)}
	}
	err = unix.EpollCtl(queue, unix.EPOLL_CTL_ADD, ended, &unix.EpollEvent{Events: unix.EPOLLIN})
	if err == nil {
		closed := p.conn.Control(func(fd uintptr) {
			err = unix.EpollCtl(queue, unix.EPOLL_CTL_ADD, int(fd),
				&unix.EpollEvent{Events: unix.EPOLLOUT | unix.EPOLLET})
		})
		if closed != nil {
			return ended, p.orClosed(closed)
		}
	}
	if err != nil {
		return ended, &UnreadError{os.NewSyscallError("epoll_ctl", err)}
	}
	return ended, nil
}
