//go:build !unix

package plugin

// nonblock is not needed where a folder cannot hold pipes.
const nonblock = 0
