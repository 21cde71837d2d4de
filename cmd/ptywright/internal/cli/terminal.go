package cli

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/term"

	"github.com/ptywright/ptywright/engine/pty"
)

// WindowSize is the size of our terminal, overridden by the user's; zeros where neither is known.
func (s Stdio) WindowSize(fixed pty.Size) pty.Size {
	size := pty.Size{Rows: 24, Cols: 80}
	for _, f := range []*os.File{s.Out.File, s.In} {
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

// CodeOf turns the program's end into our exit code.
func CodeOf(exit pty.Exit) error {
	if code := exit.Status(); code != 0 {
		return ExitCode(code)
	}
	return nil
}

// NotStarted gives the error of a program that could not be started the exit code that shells use.
func NotStarted(err error) error {
	var start *pty.StartError
	switch {
	case !errors.As(err, &start) || start.Op != "lookup" && start.Op != "start":
		return err
	case errors.Is(err, fs.ErrNotExist):
		return Error{Err: err, Code: ExitNotFound}
	}
	return Error{Err: err, Code: ExitNotExecutable}
}

// A WriterFunc is a function as an [io.Writer].
type WriterFunc func(p []byte) (int, error)

func (f WriterFunc) Write(p []byte) (int, error) { return f(p) }
