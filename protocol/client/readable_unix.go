//go:build unix && !linux

package client

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// readable waits until one of the descriptors can be read, or has ended: with select, as poll knows
// no terminals on macOS.
func readable(a, b int) (first, second bool, err error) {
	if max(a, b) >= unix.FD_SETSIZE {
		return false, false, fmt.Errorf("descriptor %d is too large for select", max(a, b))
	}
	var fds unix.FdSet
	fds.Set(a)
	fds.Set(b)
	if _, err = unix.Select(max(a, b)+1, &fds, nil, nil, nil); err != nil {
		return false, false, err
	}
	return fds.IsSet(a), fds.IsSet(b), nil
}
