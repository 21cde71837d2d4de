package pty

// TryWrite takes nothing: a pseudo-console's input pipe cannot be asked whether it would block. Callers go on to Write.
func (p *PTY) TryWrite([]byte) (int, error) { return 0, nil }

// MaxLine has no meaning on Windows, where LineMode is not known.
const MaxLine = 1<<31 - 1
