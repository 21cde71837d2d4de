package acp

import (
	"errors"
	"syscall"
)

// errorInvalidName is ERROR_INVALID_NAME of winerror.h.
const errorInvalidName = syscall.Errno(123)

// notAName reports whether a path was refused for its form: then it was no path.
func notAName(err error) bool { return errors.Is(err, errorInvalidName) }
