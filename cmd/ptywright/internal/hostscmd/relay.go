package hostscmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/config"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/protocol"
)

// Relay is the command relay.
func Relay(std cli.Stdio) *cobra.Command {
	var f remote.Flags
	rights := protocol.RightType
	c := &cobra.Command{
		Use:   "relay",
		Short: "Connect standard input and output to this machine's server",
		Long: `Connect standard input and output to the server of this machine, which is started if none runs:
what another machine runs, through ssh or the like, to reach the sessions here. Requests go in as
ptywright serve --stdio takes them, and answers come out; nothing else is printed there. The sessions
belong to the server and outlive the connection. With --rights read the other machine can only look
and wait; with type, the default, it can drive what runs; with admin it can also start and end
programs.

When its input ends, the relay passes that on, and ends with 0 once the server has answered
everything. It ends with 1 when the server goes away first.`,
		Example: `  ssh web-3 ptywright relay
  kubectl exec -i build-0 -- ptywright relay
  ptywright repl --stdio -- ssh web-3 ptywright relay`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			path, err := f.Path()
			if err != nil {
				return err
			}
			return f.Exit(c.Context(), relay(c, std, path, rights))
		},
	}
	f.SocketFlag(c)
	c.Flags().Var(&rights, "rights", "read, type or admin: what the other machine may do here")
	return c
}

// relay connects the standard streams with the server on a socket.
func relay(c *cobra.Command, std cli.Stdio, path string, rights protocol.Rights) error {
	if _, err := daemon.Ensure(c.Context(), path); err != nil {
		if wrong := config.CheckServer(c); wrong != nil {
			return wrong
		}
		return err
	}
	conn, err := daemon.DialStream(c.Context(), path)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := daemon.Lower(conn, rights, "relay", daemon.LinkedFrom()); err != nil {
		return err
	}
	return join(c.Context(), conn, std.In, std.Out.File, path)
}

// errGone says that the server ended the connection first.
var errGone = errors.New("ended the connection: it was stopped, or this side sent what is not the protocol; its log says more")

// join copies until the server has answered everything that came in. The last read of in may be
// left behind: it cannot be interrupted.
func join(ctx context.Context, conn net.Conn, in io.Reader, out io.Writer, path string) error {
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	fed := make(chan error, 1)
	over := make(chan struct{}) // closed before the server can notice that the input has ended
	go func() {                 // ends with in, or with the process
		_, err := io.Copy(conn, in)
		if err == nil {
			close(over)
			err = closeWrite(conn)
		}
		fed <- err
	}()
	_, err := io.Copy(out, conn)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && !errors.Is(err, net.ErrClosed):
		return fmt.Errorf("pass the server's answers on: %w", err)
	}
	select {
	case <-over:
		return nil
	default:
	}
	select {
	case err := <-fed: // it may also have failed since the server is gone
		if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
			return fmt.Errorf("read standard input: %w", err)
		}
	default:
	}
	return fmt.Errorf("the server on %s %w", path, errGone)
}

// closeWrite ends what is sent, so that the server answers what it has and ends.
func closeWrite(conn net.Conn) error {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return os.ErrInvalid
}
