//go:build unix

package repl

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// busyMode puts a terminal into a mode that returns input unedited and without echo, except for the
// signals of Ctrl-C and Ctrl-Z. Between two lines it is better than the terminal's own mode: what
// is typed ahead is not edited, echoed twice or, as with Ctrl-D, taken for end-of-file.
// [term.GetState] returned the terminal's own mode before.
func busyMode(f *os.File) error {
	t, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	if err != nil {
		return fmt.Errorf("read the terminal's mode: %w", err)
	}
	t.Iflag &^= unix.IXON | unix.ICRNL | unix.INLCR | unix.IGNCR
	t.Oflag |= unix.OPOST | unix.ONLCR
	t.Lflag &^= unix.ICANON | unix.ECHO | unix.ECHONL | unix.IEXTEN
	t.Lflag |= unix.ISIG
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	t.Cc[unix.VQUIT] = 0 // no key should cause a core dump
	if err := unix.IoctlSetTermios(int(f.Fd()), setTermios, t); err != nil {
		return fmt.Errorf("set the terminal's mode: %w", err)
	}
	return nil
}

// available is how many bytes a read would return without blocking.
func available(f *os.File) int {
	n, err := unix.IoctlGetInt(int(f.Fd()), readable)
	if err != nil {
		return 0
	}
	return n
}
