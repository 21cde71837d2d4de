package protocol

import (
	"errors"
	"fmt"
)

var (
	// ErrInUse reports that a live server listens at the path.
	ErrInUse = errors.New("a server is already listening there")
	// ErrNotSocket reports that the path exists and is not a socket. It is never removed.
	ErrNotSocket = errors.New("not a socket")
	// ErrPath reports a path that a socket cannot have.
	ErrPath = errors.New("no socket can have this path")
	// ErrFolder reports a folder in which other users could replace our socket with theirs.
	ErrFolder = errors.New("the folder is not safe for a socket")
)

// A ListenError says why [Listen] failed. It is one of the errors above, or wraps the system's.
type ListenError struct {
	Path string
	Err  error
	// Detail is what was found; Advice is what to do. Either may be empty.
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
