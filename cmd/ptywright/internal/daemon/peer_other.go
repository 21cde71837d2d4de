//go:build unix && !linux && !darwin

package daemon

import "errors"

// peerOf knows of no way.
func peerOf(uintptr) (pid, uid int, err error) { return 0, 0, errors.ErrUnsupported }

// isStopped does not know.
func isStopped(int) bool { return false }
