package daemon

import "golang.org/x/sys/unix"

// solLocal is SOL_LOCAL of sys/un.h.
const solLocal = 0

// peerOf reads LOCAL_PEERPID and LOCAL_PEERCRED: unix(4).
func peerOf(fd uintptr) (pid, uid int, err error) {
	if pid, err = unix.GetsockoptInt(int(fd), solLocal, unix.LOCAL_PEERPID); err != nil {
		return 0, 0, err
	}
	cred, err := unix.GetsockoptXucred(int(fd), solLocal, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, 0, err
	}
	return pid, int(cred.Uid), nil
}

// isStopped cannot tell here.
func isStopped(int) bool { return false }
