package daemon

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// peerOf reads SO_PEERCRED: unix(7). It names the process that called listen(2).
func peerOf(fd uintptr) (pid, uid int, err error) {
	cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, 0, err
	}
	return int(cred.Pid), int(cred.Uid), nil
}

// isStopped reads the state in /proc/PID/stat, which follows the name in parentheses: proc(5).
func isStopped(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	b = b[bytes.LastIndexByte(b, ')')+1:]
	return bytes.HasPrefix(b, []byte(" T"))
}
