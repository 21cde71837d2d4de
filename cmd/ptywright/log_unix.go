//go:build unix

package main

import "syscall"

// nonblock keeps the opening of what is no file, such as a pipe, from waiting for its other side.
const nonblock = syscall.O_NONBLOCK
