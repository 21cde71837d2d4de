package daemon

import (
	"errors"
	"net"
	"strings"

	"golang.org/x/sys/windows"
)

// pipeFolder is where named pipes are.
const pipeFolder = `\\.\pipe\`

// socketOf names a pipe after the root, so that another root has another server.
func socketOf(root string) string {
	return pipeFolder + "ptywright-" + strings.NewReplacer(`\`, "-", "/", "-", ":", "").Replace(strings.ToLower(root))
}

// logPlace is the name that a pipe lends its log; it has no folder.
func logPlace(socket string) (dir, name string) {
	return "", strings.NewReplacer(`\`, "-", "/", "-", ":", "").Replace(strings.TrimPrefix(socket, pipeFolder))
}

// peerPID returns the process that made the pipe.
func peerPID(conn net.Conn) (int, error) {
	c, ok := conn.(interface{ Fd() uintptr })
	if !ok {
		return 0, errors.ErrUnsupported
	}
	var pid uint32
	if err := windows.GetNamedPipeServerProcessId(windows.Handle(c.Fd()), &pid); err != nil {
		return 0, err
	}
	return int(pid), nil
}
