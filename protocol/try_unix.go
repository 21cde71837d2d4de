//go:build unix

package protocol

import (
	"io"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// atomicWrite is how many bytes a blocking pipe that polls as writable takes without blocking:
// PIPE_BUF, which is 4,096 on Linux, and 512, the least that POSIX allows, on macOS.
var atomicWrite = map[bool]int{true: 4096, false: 512}[runtime.GOOS == "linux"]

// tryWriter returns a function that writes what w takes without blocking and returns how many bytes
// that were, 0 on an error, which the writer's own write then returns too; nil when w cannot be
// asked.
func tryWriter(w io.Writer) func([]byte) int {
	c, ok := w.(syscall.Conn)
	if !ok {
		return nil
	}
	conn, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	blocking := true
	if conn.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		blocking = err != nil || flags&unix.O_NONBLOCK == 0
	}) != nil {
		return nil
	}
	return func(p []byte) (n int) {
		if blocking && len(p) > atomicWrite {
			return 0
		}
		// An error of Write itself means a closed stream: nothing was written.
		_ = conn.Write(func(fd uintptr) bool {
			if blocking {
				ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
				if k, err := unix.Poll(ready, 0); err != nil || k != 1 ||
					ready[0].Revents != unix.POLLOUT {
					return true
				}
			}
			if k, err := unix.Write(int(fd), p); err == nil {
				n = k
			}
			return true
		})
		return n
	}
}
