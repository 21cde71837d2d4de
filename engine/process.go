package engine

import (
	"errors"
	"os"
	"slices"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
)

// Environ returns the environment that the leader was started with, as "K=V" sorted by name: what
// the engine gave it, without the variables that ptywright adds to identify its processes and to
// have a shell mark its commands. The values may be secrets.
func (s *Session) Environ() []string { return slices.Clone(s.environ) }

// A Process is one process of a session; [pty.Process] documents its fields.
type Process = pty.Process

// nameMax bounds a process's name, in bytes: the limit of a file system.
const nameMax = 255

// Foreground returns the process that has the terminal: the shell at its prompt, or what it runs.
// Its name is plain text, its paths are as the system has them. It takes 25 us, or 0.8 ms with 80
// processes in the system when a pipeline's first program has ended (measured on Linux), and blocks
// nothing else. On Windows it is always the leader. Errors: [ErrEnded], [ErrClosed], those of the
// system.
func (s *Session) Foreground() (Process, error) {
	p, err := s.pty.Foreground()
	switch {
	case errors.Is(err, pty.ErrExited):
		return Process{}, ErrEnded
	case errors.Is(err, os.ErrClosed):
		return Process{}, ErrClosed
	}
	p.Name = vt.Clean([]byte(p.Name), nameMax)
	return p, err
}

// LineMode returns what the terminal does with input before the program reads it. Errors: those of
// the system; on Windows one that wraps [errors.ErrUnsupported].
func (s *Session) LineMode() (pty.LineMode, error) { return s.pty.LineMode() }

// Replaced reports whether the leader has executed another program in its own place since it was
// started (execve), even the same file again. It is false where the system does not say, which is
// everywhere but on Linux. It takes 10 us.
func (s *Session) Replaced() bool {
	now := pty.Image(s.pty.PID())
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.image != "" && now != s.image // "": one with other rights, or still executing
}

// noteImage notes what the leader was started with, if that could not be read before: a program
// that writes has been executed.
func (s *Session) noteImage() {
	s.mu.Lock()
	known := s.image != "" || s.imaged
	s.imaged = true
	s.mu.Unlock()
	if known {
		return
	}
	image := pty.Image(s.pty.PID())
	s.mu.Lock()
	s.image = image
	s.mu.Unlock()
}
