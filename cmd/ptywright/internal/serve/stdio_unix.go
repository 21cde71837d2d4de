//go:build unix

package serve

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/protocol"
)

// takeStdio takes standard input and output as one stream; see takePipes.
func takeStdio(std cli.Stdio) (io.ReadWriteCloser, error) {
	in, out, err := takePipes(std)
	if err != nil {
		return nil, err
	}
	return protocol.Join(in, out), nil
}

// takePipes reserves standard input and output for the protocol: descriptors 0 and 1 become
// /dev/null and standard error, so that nothing a library prints or reads can mix with the
// messages.
func takePipes(std cli.Stdio) (in, out *os.File, err error) {
	if in, err = private(std.In, "stdin"); err != nil {
		return nil, nil, err
	}
	if out, err = private(std.Out.File, "stdout"); err != nil {
		return nil, nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	if err := dup2(int(null.Fd()), 0); err != nil {
		return nil, nil, fmt.Errorf("detach standard input: %w", err)
	}
	if err := dup2(2, 1); err != nil { // standard error is closed: prints go nowhere
		if err = dup2(int(null.Fd()), 1); err != nil {
			return nil, nil, fmt.Errorf("detach standard output: %w", err)
		}
	}
	return in, out, nil
}

// private returns a copy of f that children do not inherit.
func private(f *os.File, name string) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("take %s: %w", name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
