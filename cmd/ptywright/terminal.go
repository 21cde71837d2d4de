package main

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/term"

	"github.com/ptywright/ptywright/engine/pty"
)

// windowSize is the size of our terminal, overridden by the user's; zeros where neither is known.
func (s stdio) windowSize(fixed pty.Size) pty.Size {
	size := pty.Size{Rows: 24, Cols: 80}
	for _, f := range []*os.File{s.out.file, s.in} {
		if cols, rows, err := term.GetSize(int(f.Fd())); err == nil && cols > 0 && rows > 0 {
			size = pty.Size{Rows: uint16(rows), Cols: uint16(cols)}
			break
		}
	}
	if fixed.Rows > 0 {
		size.Rows = fixed.Rows
	}
	if fixed.Cols > 0 {
		size.Cols = fixed.Cols
	}
	return size
}

// codeOf turns the program's end into our exit code.
func codeOf(exit pty.Exit) error {
	if code := exit.Status(); code != 0 {
		return exitCode(code)
	}
	return nil
}

// notStarted gives the error of a program that could not be started the exit code that shells use.
func notStarted(err error) error {
	var start *pty.StartError
	switch {
	case !errors.As(err, &start) || start.Op != "lookup" && start.Op != "start":
		return err
	case errors.Is(err, fs.ErrNotExist):
		return codedError{err: err, code: exitNotFound}
	}
	return codedError{err: err, code: exitNotExecutable}
}

// A writerFunc is a function as an [io.Writer].
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
