package daemon

import "golang.org/x/sys/unix"

// peerOf reads SO_PEERCRED: unix(7). It is who called listen(2).
func peerOf(fd uintptr) (int, error) {
	cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Pid), nil
}
