package protocol

import "golang.org/x/sys/unix"

// peerPIDOf reads LOCAL_PEERPID of sys/un.h; -1 where the system does not tell.
func peerPIDOf(fd int) int {
	pid, err := unix.GetsockoptInt(fd, solLocal, unix.LOCAL_PEERPID)
	if err != nil {
		return -1
	}
	return pid
}
