//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// open opens the file without blocking, as the other end of a pipe would make it.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// private refuses a file that somebody else could have written.
func private(info fs.FileInfo) error {
	if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Geteuid() {
		return fmt.Errorf("%w: it belongs to user %d and not to user %d", ErrNotPrivate, owner,
			os.Geteuid())
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("%w: it has mode %#o; chmod go-w makes it yours alone",
			ErrNotPrivate, mode)
	}
	return nil
}

// writable says why this user may not write a file, or create one in a folder.
func writable(path string) error {
	if err := unix.Access(path, unix.W_OK); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}
