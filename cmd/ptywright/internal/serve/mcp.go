package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/loopback"
	"github.com/ptywright/ptywright/protocol/mcp"
	"github.com/ptywright/ptywright/protocol/mcp/tools"
)

// tokenName is the variable that may hold the bearer token for MCP over HTTP.
const tokenName = "PTYWRIGHT_MCP_TOKEN"

// mcpFlags are the flags of mcp.
type mcpFlags struct {
	HostFlags
	profileFlags
	http   string
	rights protocol.Rights
}

// profileFlags choose a profile and configure it.
type profileFlags struct {
	profile  string
	raw      bool
	terminal terminalFlags
}

// A profileMaker makes one profile from the flags.
type profileMaker func(h *host.Host, f *profileFlags, g protocol.Grant) (*mcp.Profile, error)

// profiles are the profiles that ptywright mcp offers.
var profiles = map[string]profileMaker{
	"ptywright":    ownProfile,
	"terminal-mcp": terminalProfile,
}

// ownProfile makes ptywright's own profile.
func ownProfile(h *host.Host, f *profileFlags, g protocol.Grant) (*mcp.Profile, error) {
	if f.terminal.rows != 0 || f.terminal.cols != 0 || f.terminal.shell != "" {
		return nil, cli.Usagef("--rows, --cols and --shell are for --profile terminal-mcp: start takes rows and cols with each call, run takes shell")
	}
	return tools.New(h, tools.Options{Raw: f.raw, Grant: g}), nil
}

func mcpCommand(std cli.Stdio) *cobra.Command {
	var f mcpFlags
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the Model Context Protocol to an agent",
		Long: `Serve MCP to one client on standard input and output or, with --http, to any number of clients on
this machine, at http://ADDR/mcp. HTTP needs a bearer token: the one in PTYWRIGHT_MCP_TOKEN, or one
that is generated and printed on standard error. With the token, /metrics serves Prometheus metrics.

Secrets are hidden in everything that leaves. When a secret has to be typed, the model asks its user
to type it.`,
		Example: `  ptywright mcp
  ptywright mcp --http 127.0.0.1:0
  claude mcp add ptywright -- ptywright mcp`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("max-sessions") {
				f.terminal.sessions = f.Sessions
			}
			return serveMCP(c.Context(), std, f)
		},
	}
	c.Flags().StringVar(&f.http, "http", "",
		"serve streamable HTTP on `ADDR`, such as 127.0.0.1:8123, instead of standard input and output")
	addRights(c, &f.rights,
		"what clients may do; tools that need more are not offered, and below admin no client can start a session: see serve --mcp-http to share a server's")
	f.profileFlags.add(c)
	for _, name := range terminalNames {
		c.Flags().Lookup(name).Usage = "with --profile terminal-mcp: " +
			c.Flags().Lookup(name).Usage
	}
	f.HostFlags.add(c)
	return c
}

func (f *profileFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.profile, "profile", "ptywright",
		"tools to serve: ptywright, or terminal-mcp, those of Terminal MCP")
	f.terminal.add(c)
	c.Flags().BoolVar(&f.raw, "trust-raw", false,
		"let clients request output without hidden secrets")
}

// server makes the MCP server for the flags and what its clients may do.
func (f *profileFlags) server(h *Service, g protocol.Grant) (*mcp.Server, error) {
	make, ok := profiles[f.profile]
	if !ok {
		return nil, cli.Usagef("--profile is %q: give ptywright or terminal-mcp", f.profile)
	}
	p, err := make(h.Host, f, g)
	if err != nil {
		return nil, err
	}
	return mcp.New(h.Host, p), nil
}

func serveMCP(ctx context.Context, std cli.Stdio, f mcpFlags) error {
	if err := checkBounds(f.HostFlags.bounds()); err != nil {
		return err
	}
	return Hosted(ctx, std, f.http == "", f.HostFlags, func(ctx context.Context, h *Service) error {
		s, err := f.profileFlags.server(h, protocol.Grant{Rights: f.rights})
		if err != nil {
			return err
		}
		defer s.Close()
		if f.http != "" {
			return serveDoors(ctx, std,
				[]opening{func() (door, error) { return openMCP(s, f.http, "") }}, func() {})
		}
		in, out, err := takePipes(std)
		if err != nil {
			return err
		}
		if err := s.ServeLines(ctx, in, out); err != nil && ctx.Err() == nil {
			h.Log.Warn("the connection ended early", "error", err)
		}
		return nil
	})
}

// openMCP opens the door for MCP over HTTP. Without a token in the environment it makes one, and
// prints it with the address, or keeps it in the file tokenPath while the door is open: a token
// does not belong in a log.
func openMCP(s *mcp.Server, addr, tokenPath string) (door, error) {
	l, err := loopback.Listen(addr)
	if err != nil {
		return door{},
			fmt.Errorf("serve MCP over HTTP: %w; choose another address, or port 0 for one that is free", err)
	}
	token, told, forget := os.Getenv(tokenName), "", func() {}
	if strings.TrimSpace(token) == "" {
		token = loopback.NewToken()
		told = " with bearer token " + token // the only place that shows it
		if tokenPath != "" {
			if err := writeToken(tokenPath, token); err != nil {
				l.Close()
				return door{},
					fmt.Errorf("keep the token of MCP over HTTP: %w; or set %s", err, tokenName)
			}
			told, forget = " with the bearer token in "+tokenPath, func() { os.Remove(tokenPath) }
		}
	}
	return door{
		says: fmt.Sprintf("serving MCP on http://%s/mcp%s", l.Addr(), told),
		serve: func(ctx context.Context) error {
			defer forget()
			return s.ServeHTTP(ctx, l, token)
		},
		close: func() {
			l.Close()
			forget()
		},
	}, nil
}

// writeToken writes a file that only its owner can read, replacing an earlier one.
func writeToken(path, token string) error {
	f, err := os.CreateTemp(filepath.Dir(path), "token-*") // 0600, and it follows nobody's link
	if err != nil {
		return err
	}
	_, err = f.WriteString(token + "\n")
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
