package serve

import (
	"io"
	"os"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/protocol"
)

// takeStdio takes standard input and output as one stream; see takePipes.
func takeStdio(std cli.Stdio) (io.ReadWriteCloser, error) {
	in, out, err := takePipes(std)
	return protocol.Join(in, out), err
}

// takePipes reserves standard input and output for the protocol: whatever a library prints goes to
// standard error.
func takePipes(std cli.Stdio) (in, out *os.File, err error) {
	os.Stdout = os.Stderr
	return std.In, std.Out.File, nil
}
