//go:build unix

package plugins

import "syscall"

// nonblock keeps opening a pipe from waiting for its writer: a file may turn into one between two
// checks.
const nonblock = syscall.O_NONBLOCK
