//go:build unix

package acp

import (
	"errors"
	"syscall"
)

// notAName reports whether the system refused a path for its form: then it was not a path.
func notAName(err error) bool {
	return errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.ENOTDIR)
}
