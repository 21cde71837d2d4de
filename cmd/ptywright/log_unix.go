//go:build unix

package main

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonblock keeps the opening of what is no file, such as a pipe, from waiting for its other side.
const nonblock = syscall.O_NONBLOCK

// writable says why this user may not write a file, or make one in a folder.
func writable(path string) error {
	if err := unix.Access(path, unix.W_OK); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}
