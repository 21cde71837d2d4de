package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/unterm"
	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

// untermFlags say where an instance registers and what it starts with.
type untermFlags struct {
	root   string
	compat bool
	port   int
	dir    string
	raw    bool
	grant  protocol.Grant
}

func (f *untermFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.root, "root", "",
		"folder by which clients find the instances; default $PTYWRIGHT_HOME or else ~/.ptywright")
	fs.BoolVar(&f.compat, "compat-root", false, "use ~/.unterm, where Unterm's own clients look")
	fs.IntVar(&f.port, "port", instance.MCPPort,
		"port on 127.0.0.1; if it is taken the next five, then any; 0: any")
	fs.StringVar(&f.dir, "cwd", "", "working `folder` of the first session; default the server's")
}

// folder is the root for the flags.
func (f *untermFlags) folder() (string, error) {
	switch {
	case f.root != "" && f.compat:
		return "", cli.Usagef("--root and --compat-root exclude each other")
	case f.root != "":
		return f.root, nil
	}
	return instance.DefaultRoot(f.compat)
}

// server starts the instance for the flags.
func (f *untermFlags) server(h *Service) (*unterm.Server, error) {
	root, err := f.folder()
	if err != nil {
		return nil, err
	}
	if f.port < 0 || f.port > 65535 {
		return nil, cli.Usagef("--port is %d: give 0 to 65535", f.port)
	}
	return unterm.New(h.Host, unterm.Options{Root: root, Port: f.port, Dir: f.dir,
		Raw: f.raw, Grant: f.grant})
}

func untermCommand(std cli.Stdio) *cobra.Command {
	var f untermFlags
	var hosts HostFlags
	var rights protocol.Rights
	c := &cobra.Command{
		Use:   "unterm",
		Short: "Serve Unterm's methods to its clients",
		Long: `Serve Unterm's methods on loopback TCP as a named instance. Its port and token are in
instances/NAME.json under the root, which only this user can read.

The instance starts with a shell, session 0, and ends on SIGTERM or SIGINT. When it accepts clients
it prints its name and address on standard output, and nothing else.`,
		Example: `  ptywright unterm
  ptywright unterm --root /tmp/mine/root --port 0 --cwd ~/project
  ptywright serve --socket /run/user/1000/ptywright/socket --unterm`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkBounds(hosts.bounds()); err != nil {
				return err
			}
			f.grant.Rights = rights
			return Hosted(c.Context(), std, false, hosts,
				func(ctx context.Context, h *Service) error {
					s, err := f.server(h)
					if err != nil {
						return err
					}
					return serveDoors(ctx, std,
						[]opening{func() (door, error) { return untermDoor(s), nil }}, func() {
							fmt.Fprintln(std.Out.File, s.Name(), s.Addr()) // its reader may go away
						})
				})
		},
	}
	f.add(c)
	c.Flags().BoolVar(&f.raw, "trust-raw", false, "do not hide secrets in what clients read")
	addRights(c, &rights, "what clients may do")
	hosts.add(c)
	return c
}

// openUnterm opens the door of an instance.
func openUnterm(h *Service, f *untermFlags) (door, error) {
	s, err := f.server(h)
	if err != nil {
		return door{}, fmt.Errorf("serve Unterm's methods: %w", err)
	}
	return untermDoor(s), nil
}

// untermDoor is the door of an instance, which ends when it is closed.
func untermDoor(s *unterm.Server) door {
	return door{
		says: fmt.Sprintf("serving Unterm's methods as %s on %s, root %s", s.Name(), s.Addr(),
			cli.OneLine(s.Root())),
		serve: func(ctx context.Context) error { return errors.Join(s.Serve(ctx), s.Close()) },
		close: func() { s.Close() },
	}
}
