//go:build unix && !linux && !darwin

package daemon

import "errors"

// peerOf is not supported here.
func peerOf(uintptr) (pid, uid int, err error) { return 0, 0, errors.ErrUnsupported }

// isStopped cannot tell here.
func isStopped(int) bool { return false }
