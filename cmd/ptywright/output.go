package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
)

// A stdout is standard output. It is written to by whoever has it, and keeps the first error of that: [exit] tells it, so that
// no command ends well whose output is lost, whether it has looked at its own errors or not.
type stdout struct {
	file   *os.File // for what needs a descriptor or a terminal; its errors are not kept
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

// Write writes p; after an error nothing is written any more, so that there is no gap in what is. Errors are [*outputError].
func (o *stdout) Write(p []byte) (int, error) {
	if lost := o.failed.Load(); lost != nil {
		return 0, lost
	}
	n, err := o.file.Write(p)
	if err != nil {
		o.failed.CompareAndSwap(nil, &outputError{err})
		return n, o.failed.Load()
	}
	return n, nil
}

// Fd is the descriptor, to be asked what it is.
func (o *stdout) Fd() uintptr { return o.file.Fd() }

// judge returns what a command's error is when its output is lost: that, on which the error depends in the end. Who has ended
// by a signal has, and a reader that has gone is nothing to tell: what has no handler for it the system ends without a word.
func (o *stdout) judge(err error) error {
	lost := o.failed.Load()
	var ended exitCode
	var own *outputError
	switch {
	case lost == nil, errors.As(err, &ended) && ended > 128:
		return err
	case errors.Is(lost, syscall.EPIPE):
		return exitCode(128 + int(syscall.SIGPIPE))
	case err == nil, errors.As(err, &ended), errors.As(err, &own):
		return codedError{error: lost, code: exitError, told: true}
	}
	return codedError{error: fmt.Errorf("%w; before that: %w", lost, err), code: exitError, told: true}
}
