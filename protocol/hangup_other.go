//go:build !linux

package protocol

import "io"

// HungUp reports false: poll(2) reports a peer that has closed one direction differently on
// different systems, and a Windows pipe cannot be half closed. The next write fails.
func HungUp(io.Closer, <-chan struct{}) bool { return false }
