package testcmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

// busyName is the hidden command of a process that keeps a processor busy.
const busyName = "busy-loop"

// busyCommand keeps a processor busy until its input ends: also when the runner was killed outright.
func busyCommand(std cli.Stdio) *cobra.Command {
	return &cobra.Command{
		Use:    busyName,
		Short:  "Keep a processor busy until the input ends; started by --stress",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			go func() {
				_, _ = io.Copy(io.Discard, std.In)
				os.Exit(0)
			}()
			for n := 0; ; n++ { //nolint // it is what it is for
			}
		},
	}
}

// busy starts so many busy processes; stop ends them.
func busy(n int) (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var ends []func()
	stop = func() {
		for _, end := range ends {
			end()
		}
	}
	for range n {
		c := exec.Command(self, "test", busyName)
		in, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			stop()
			return nil, fmt.Errorf("start a busy process: %w", err)
		}
		ends = append(ends, func() {
			err := errors.Join(in.Close(), c.Process.Kill())
			_, _ = err, c.Wait() // it was killed
		})
	}
	return stop, nil
}
