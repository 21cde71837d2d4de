package protocol

import "golang.org/x/sys/unix"

// credentialsOf reads SO_PEERCRED: unix(7).
func credentialsOf(fd int) (uid, pid int, err error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return -1, -1, err
	}
	return int(cred.Uid), int(cred.Pid), nil
}
