package protocol

import (
	"errors"
	"fmt"
)

var (
	// ErrInUse is about a path where a live server listens.
	ErrInUse = errors.New("a server is already listening there")
	// ErrNotSocket is about a path where not a socket. It is never removed.
	ErrNotSocket = errors.New("not a socket")
	// ErrPath is about a path that no socket can have.
	ErrPath = errors.New("no socket can have this path")
	// ErrFolder is about a folder in which others could put a socket of theirs in the place of ours.
	ErrFolder = errors.New("the folder is not safe for a socket")
)

// A ListenError says what [Listen] could not do. It is one of the errors above, or wraps the system's.
type ListenError struct {
	Path string
	Err  error
	// Detail is what was found; Advice is what to do. Either can be empty.
	Detail, Advice string
}

func (e *ListenError) Error() string {
	return fmt.Sprintf("listen on %s: %s", e.Path, e.Why())
}

// Why is the error without the path.
func (e *ListenError) Why() string {
	s := e.Err.Error()
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Advice != "" {
		s += "; " + e.Advice
	}
	return s
}

func (e *ListenError) Unwrap() error { return e.Err }
