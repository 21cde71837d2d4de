//go:build unix

package repl

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

// busyMode is the mode between two lines, better than the terminal's own: what is typed ahead is not
// edited, echoed twice or, as with Ctrl-D, taken for end-of-file.
func busyMode(f *os.File) error { return cli.KeyMode(f) }

// available is how many bytes a read would return without blocking.
func available(f *os.File) int {
	n, err := unix.IoctlGetInt(int(f.Fd()), readable)
	if err != nil {
		return 0
	}
	return n
}
