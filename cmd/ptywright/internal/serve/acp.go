package serve

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/acp"
)

// acpFlags are the flags of acp and acp-proxy.
type acpFlags struct {
	raw    bool
	output int
	host   HostFlags
}

func (f *acpFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.raw, "trust-raw", false,
		"do not hide secrets, and let the agent request control sequences")
	c.Flags().IntVar(&f.output, "max-output-bytes", acp.MaxOutputBytes,
		"output kept per terminal, whatever the agent requests")
	f.host = defaultHost() // clients release terminals: no bounds on ended ones
	c.Flags().IntVar(&f.host.Sessions, "max-sessions", engine.DefaultSessions,
		"maximum number of terminals")
}

// maxOutput is the largest --max-output-bytes: a message of four times that still fits into any
// reader's memory.
const maxOutput = 64 << 20

func (f *acpFlags) check() error {
	return checkBounds(append(f.host.bounds(), bound{"max-output-bytes", f.output, maxOutput}))
}

func (f *acpFlags) options() acp.Options {
	return acp.Options{TrustRaw: f.raw, OutputBytes: f.output, Waits: acpWaits}
}

// An ACP connection has one agent, which may wait for all its commands: with the default number of
// sessions it can, and waits may be three quarters of the requests in flight.
const (
	acpExecuting = 2048
	acpWaits     = acpExecuting / 4 * 3
)

func acpCommand(std cli.Stdio) *cobra.Command {
	var f acpFlags
	c := &cobra.Command{
		Use:   "acp",
		Short: "Serve terminals over the Agent Client Protocol",
		Long: `Serve the terminal methods of the Agent Client Protocol, version 1 (terminal/create, terminal/output,
terminal/wait_for_exit, terminal/kill, terminal/release) on standard input and output, one message
a line. Terminals end with the connection. To give an agent terminals whatever its editor supports,
see 'ptywright acp-proxy'.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return Hosted(c.Context(), std, true, f.host,
				func(ctx context.Context, h *Service) error {
					return serveACP(ctx, std, acp.New(h.Host, f.options()), h)
				})
		},
	}
	f.add(c)
	return c
}

// serveACP serves one peer. A wait for an exit has no timeout of its own, so programs are ended
// some time after the end of the input, and the waits then return how they ended.
func serveACP(ctx context.Context, std cli.Stdio, d protocol.Dialect, h *Service) error {
	in, out, err := takePipes(std)
	if err != nil {
		return err
	}
	over := sync.OnceFunc(func() {
		time.AfterFunc(inputEndBound, func() {
			if err := engine.CloseAll(ctx, h.Engine.List()); err != nil {
				h.Log.Error("some of what the terminals started could not be ended", "error", err)
			}
		})
	})
	config := protocol.Config{Limits: protocol.Limits{Executing: acpExecuting}, Log: h.Log}
	return Conn(ctx, protocol.Join(&untilEOF{in, over}, out), d, config)
}

// inputEndBound is how long an awaited program may run after its peer has closed the input.
const inputEndBound = 2 * time.Second

// untilEOF reports when there is nothing more to read.
type untilEOF struct {
	*os.File
	over func()
}

func (s *untilEOF) Read(p []byte) (int, error) {
	n, err := s.File.Read(p)
	if err == io.EOF {
		s.over()
	}
	return n, err
}
