//go:build !linux

package protocol

import "io"

// HungUp reports false: what poll(2) says of a peer that has closed one direction differs between systems,
// and a Windows pipe cannot be closed by half. The next write tells.
func HungUp(io.Closer, <-chan struct{}) bool { return false }
