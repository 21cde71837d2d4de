//go:build !unix

package plugins

// nonblock is nothing where a folder holds no pipes.
const nonblock = 0
