//go:build unix

package plugins

import "syscall"

// nonblock keeps the opening of a pipe from waiting for its writer: a file may become one between two looks.
const nonblock = syscall.O_NONBLOCK
