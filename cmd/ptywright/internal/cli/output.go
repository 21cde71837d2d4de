package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
)

// An Output is standard output. It keeps the first write error, which [Run] reports, so that no
// command succeeds whose output is lost, whether or not it checks its own errors.
type Output struct {
	File   *os.File // for uses that need a descriptor or a terminal; its errors are not kept
	failed atomic.Pointer[outputError]
}

// An outputError is why standard output could not be written.
type outputError struct{ err error }

func (e *outputError) Error() string {
	err := e.err
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // its path is our name for the descriptor
	}
	return fmt.Sprintf("write to standard output: %v", err)
}

func (e *outputError) Unwrap() error { return e.err }

// Write writes p; after an error it writes nothing more, so that the output has no gap. Errors are
// [*outputError].
func (o *Output) Write(p []byte) (int, error) {
	if lost := o.failed.Load(); lost != nil {
		return 0, lost
	}
	n, err := o.File.Write(p)
	if err != nil {
		o.failed.CompareAndSwap(nil, &outputError{err})
		return n, o.failed.Load()
	}
	return n, nil
}

// Fd is the descriptor, for queries.
func (o *Output) Fd() uintptr { return o.File.Fd() }

// judge returns a command's error if its output is lost: the output's error, which is usually the
// cause of the command's. A command that a signal ended keeps that error, and a reader that went
// away is not reported: without a handler the system would end the process silently.
func (o *Output) judge(err error) error {
	lost := o.failed.Load()
	var ended ExitCode
	var own *outputError
	switch {
	case lost == nil, errors.As(err, &ended) && ended > 128:
		return err
	case errors.Is(lost, syscall.EPIPE):
		return ExitCode(128 + int(syscall.SIGPIPE))
	case err == nil, errors.As(err, &ended), errors.As(err, &own):
		return Error{Err: lost, Code: ExitError, Told: true}
	}
	return Error{Err: fmt.Errorf("%w; before that: %w", lost, err), Code: ExitError, Told: true}
}
