package daemon

import (
	"errors"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/windows"
)

// pipeFolder is where named pipes are.
const pipeFolder = `\\.\pipe\`

// socketOf names a pipe after the root, so that another root has another server.
func socketOf(root string) string {
	return pipeFolder + "ptywright-" +
		strings.NewReplacer(`\`, "-", "/", "-", ":", "").Replace(strings.ToLower(root))
}

// logPlace is the base name for a pipe's log; a pipe has no folder.
func logPlace(socket string) (dir, name string) {
	return "", strings.NewReplacer(`\`, "-", "/", "-", ":",
		"").Replace(strings.TrimPrefix(socket, pipeFolder))
}

// peer returns the process that created the pipe. Its user is ours, because nobody else may open
// the pipe.
func peer(conn net.Conn) (pid, uid int, err error) {
	c, ok := conn.(interface{ Fd() uintptr })
	if !ok {
		return 0, 0, errors.ErrUnsupported
	}
	var id uint32
	if err := windows.GetNamedPipeServerProcessId(windows.Handle(c.Fd()), &id); err != nil {
		return 0, 0, err
	}
	return int(id), os.Geteuid(), nil
}

// isStopped cannot tell here.
func isStopped(int) bool { return false }
