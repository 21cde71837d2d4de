package main

import (
	"io"
	"os"

	"github.com/ptywright/ptywright/protocol"
)

// takeStdio takes standard input and output for the protocol alone: whatever a library prints goes to standard error.
func takeStdio(std stdio) (io.ReadWriteCloser, error) {
	os.Stdout = os.Stderr
	return protocol.Join(std.in, std.out), nil
}
