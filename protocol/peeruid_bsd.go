//go:build darwin || freebsd

package protocol

import "golang.org/x/sys/unix"

// solLocal is SOL_LOCAL of sys/un.h; LOCAL_PEERCRED is documented in unix(4).
const solLocal = 0

// credentialsOf reads LOCAL_PEERCRED, and the process where the system tells that.
func credentialsOf(fd int) (uid, pid int, err error) {
	cred, err := unix.GetsockoptXucred(fd, solLocal, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, -1, err
	}
	return int(cred.Uid), peerPIDOf(fd), nil
}
