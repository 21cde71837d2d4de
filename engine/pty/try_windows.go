package pty

import (
	"errors"
	"fmt"
)

// TryWrite writes nothing: whether a pseudo-console's input pipe would block cannot be queried.
// Callers go on to Write.
func (p *PTY) TryWrite([]byte) (int, error) { return 0, nil }

// SetEcho returns an error that wraps errors.ErrUnsupported.
func (p *PTY) SetEcho(bool) error {
	return fmt.Errorf("set the terminal's echo: %w on Windows", errors.ErrUnsupported)
}

// MaxLine has no meaning on Windows, where LineMode is not known.
const MaxLine = 1<<31 - 1
