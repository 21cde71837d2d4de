//go:build unix

package cli

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// KeyMode puts a terminal into a mode that returns input unedited and without echo, except for the
// signals of Ctrl-C and Ctrl-Z; what is written is still shown as usual. [term.GetState] returns the
// mode to restore.
func KeyMode(f *os.File) error {
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
