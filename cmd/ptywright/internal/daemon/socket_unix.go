//go:build unix

package daemon

import (
	"errors"
	"net"
	"path/filepath"
)

func socketOf(root string) string { return filepath.Join(root, "socket") }

// logPlace is the folder and the name that a socket lends its log.
func logPlace(socket string) (dir, name string) { return filepath.Dir(socket), filepath.Base(socket) }

// peerPID returns the process that listens at the other end.
func peerPID(conn net.Conn) (int, error) {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	pid, asked := 0, error(nil)
	if err := raw.Control(func(fd uintptr) { pid, asked = peerOf(fd) }); err != nil {
		return 0, err
	}
	return pid, asked
}
