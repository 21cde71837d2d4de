package daemon

import "golang.org/x/sys/unix"

// solLocal is SOL_LOCAL of sys/un.h.
const solLocal = 0

// peerOf reads LOCAL_PEERPID.
func peerOf(fd uintptr) (int, error) {
	return unix.GetsockoptInt(int(fd), solLocal, unix.LOCAL_PEERPID)
}
