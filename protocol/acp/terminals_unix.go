//go:build unix

package acp

import (
	"errors"
	"syscall"
)

// notAName reports whether a path was refused for its form: then it was no path.
func notAName(err error) bool {
	return errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.ENOTDIR)
}
