package acp

import (
	"errors"
	"syscall"
)

// errorInvalidName is ERROR_INVALID_NAME of winerror.h.
const errorInvalidName = syscall.Errno(123)

// notAName reports whether the system refused a path for its form: then it was not a path.
func notAName(err error) bool { return errors.Is(err, errorInvalidName) }
