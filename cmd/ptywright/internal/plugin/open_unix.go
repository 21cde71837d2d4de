//go:build unix

package plugin

import "syscall"

// nonblock keeps opening a pipe from waiting for its writer.
const nonblock = syscall.O_NONBLOCK
