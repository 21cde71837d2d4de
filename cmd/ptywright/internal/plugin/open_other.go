//go:build !unix

package plugin

// nonblock is nothing where a folder holds no pipes.
const nonblock = 0
