//go:build unix

package repl

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// busyMode has a terminal hand over what is typed as it is and without showing it, but for the signals of Ctrl-C and Ctrl-Z.
// Between two lines it is better than the mode the terminal had: what is typed ahead is not edited, shown twice or, as Ctrl-D
// would be, taken for the end. The terminal's own mode is what [term.GetState] returned before.
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
	t.Cc[unix.VQUIT] = 0 // a core dump is nothing that a key should do
	if err := unix.IoctlSetTermios(int(f.Fd()), setTermios, t); err != nil {
		return fmt.Errorf("set the terminal's mode: %w", err)
	}
	return nil
}

// available is how many bytes a read would return at once.
func available(f *os.File) int {
	n, err := unix.IoctlGetInt(int(f.Fd()), readable)
	if err != nil {
		return 0
	}
	return n
}
