//go:build unix

package main

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonblock keeps opening a file that is not regular, such as a pipe, from waiting for the other
// end.
const nonblock = syscall.O_NONBLOCK

// writable says why this user may not write a file, or create one in a folder.
func writable(path string) error {
	if err := unix.Access(path, unix.W_OK); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}
