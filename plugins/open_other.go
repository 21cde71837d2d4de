//go:build !unix

package plugins

// nonblock does nothing on systems whose folders hold no pipes.
const nonblock = 0
