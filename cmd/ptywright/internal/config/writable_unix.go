//go:build unix

package config

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// writable says why this user may not write a file, or create one in a folder.
func writable(path string) error {
	if err := unix.Access(path, unix.W_OK); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}
