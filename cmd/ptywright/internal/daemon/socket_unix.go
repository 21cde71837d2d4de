//go:build unix

package daemon

import (
	"errors"
	"net"
	"path/filepath"
)

func socketOf(root string) string { return filepath.Join(root, "socket") }

// logPlace is the folder and the base name for a socket's log.
func logPlace(socket string) (dir, name string) {
	return filepath.Dir(socket), filepath.Base(socket)
}

// peer returns the process that listens at the other end, and its user.
func peer(conn net.Conn) (pid, uid int, err error) {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, 0, errors.ErrUnsupported
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var asked error
	if err := raw.Control(func(fd uintptr) { pid, uid, asked = peerOf(fd) }); err != nil {
		return 0, 0, err
	}
	return pid, uid, asked
}
