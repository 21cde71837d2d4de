package pty

import (
	"errors"
	"fmt"
)

// TryWrite takes nothing: a pseudo-console's input pipe cannot be asked whether it would block. Callers go on to Write.
func (p *PTY) TryWrite([]byte) (int, error) { return 0, nil }

// SetEcho returns an error that wraps errors.ErrUnsupported.
func (p *PTY) SetEcho(bool) error {
	return fmt.Errorf("set the terminal's echo: %w on Windows", errors.ErrUnsupported)
}

// MaxLine has no meaning on Windows, where LineMode is not known.
const MaxLine = 1<<31 - 1
