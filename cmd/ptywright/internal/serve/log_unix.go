//go:build unix

package serve

import "syscall"

// nonblock keeps opening a file that is not regular, such as a pipe, from waiting for the other
// end.
const nonblock = syscall.O_NONBLOCK
