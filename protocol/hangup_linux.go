package protocol

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// HungUp waits until the peer of stream can read no more, which it reports, or until done is
// closed.
//
// poll(2) reports that unasked: POLLHUP on a socket that is closed in both directions or a terminal
// that is gone, POLLERR on a pipe without a reader. For a stream without a descriptor, such as one
// of net.Pipe, it returns at once: its next write will fail.
func HungUp(stream io.Closer, done <-chan struct{}) bool {
	sc, ok := stream.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	// A duplicate: another goroutine may close the stream meanwhile, and its number may be reused.
	fd, dupErr := -1, error(nil)
	if err := raw.Control(func(own uintptr) {
		fd, dupErr = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0)
	}); err != nil || dupErr != nil {
		return false
	}
	defer unix.Close(fd)
	wakeR, wakeW, err := os.Pipe()
	if err != nil {
		return false
	}
	defer wakeR.Close()

	gone := make(chan bool, 1)
	go func() {
		fds := []unix.PollFd{{Fd: int32(fd)}, {Fd: int32(wakeR.Fd()), Events: unix.POLLIN}}
		for {
			_, err := unix.Poll(fds, -1)
			if err == unix.EINTR {
				continue
			}
			gone <- err == nil && fds[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0
			return
		}
	}()
	select {
	case g := <-gone:
		wakeW.Close()
		return g
	case <-done:
		wakeW.Close() // poll sees the end of the pipe
		<-gone
		return false
	}
}
