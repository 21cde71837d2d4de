package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/ending"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/client"
	"github.com/ptywright/ptywright/protocol/mcp"
	"github.com/ptywright/ptywright/protocol/mcp/terminalmcp"
	"github.com/ptywright/ptywright/redact"
)

// A terminalFlags configures the Terminal MCP profile, with Terminal MCP's flags.
type terminalFlags struct {
	cols, rows int
	shell      string
	sessions   int     // 0: the profile's default
	idle       float64 // seconds until an unused session is ended; 0: the profile's default, unless idleSet
	idleSet    bool
}

// terminalNames are the flags that only the Terminal MCP profile uses.
var terminalNames = []string{"cols", "rows", "shell"}

func (f *terminalFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.IntVar(&f.cols, "cols", 0, "columns of a terminal (default 120)")
	fs.IntVar(&f.rows, "rows", 0, "rows of a terminal (default 40)")
	fs.StringVar(&f.shell, "shell", "", "`PATH` of the shell (default: $SHELL, else bash)")
}

// options converts the flags.
func (f *terminalFlags) options() (terminalmcp.Options, error) {
	for _, n := range []struct {
		name  string
		value int
	}{{"cols", f.cols}, {"rows", f.rows}} {
		if n.value < 0 || n.value > engine.MaxSide {
			return terminalmcp.Options{},
				cli.Usagef("--%s is %d: give 1 to %d", n.name, n.value, engine.MaxSide)
		}
	}
	if f.sessions < 0 {
		return terminalmcp.Options{}, cli.Usagef("--max-sessions is %d: give 1 or more", f.sessions)
	}
	o := terminalmcp.Options{Cols: f.cols, Rows: f.rows, Shell: f.shell, Sessions: f.sessions}
	if f.idleSet {
		if o.SessionIdle = time.Duration(f.idle * float64(time.Second)); o.SessionIdle <= 0 {
			o.SessionIdle = -1
		}
	}
	return o, nil
}

// terminalProfile makes the Terminal MCP profile.
func terminalProfile(h *host.Host, f *profileFlags, g protocol.Grant) (*mcp.Profile, error) {
	if err := refuseNesting(); err != nil {
		return nil, err
	}
	o, err := f.terminal.options()
	if err != nil {
		return nil, err
	}
	o.Raw, o.Grant = f.raw, g
	s, err := terminalmcp.New(h, o)
	if err != nil {
		return nil, err
	}
	return s.Profile(), nil
}

// refuseNesting refuses to start inside one of our own sessions, where an agent would drive itself.
func refuseNesting() error {
	if os.Getenv(terminalmcp.Marker) != "1" {
		return nil
	}
	return errors.New("terminal-mcp cannot be run from within itself: this is a terminal-mcp session already (" + terminalmcp.Marker +
		"=1); have your MCP client connect to it")
}

// IsTerminalMCP reports whether the process was started under Terminal MCP's name. When it
// starts itself, it uses its own commands.
func IsTerminalMCP(args []string) bool {
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	return name == terminalmcp.Name && (len(args) < 2 || args[1] != WatcherName)
}

// TerminalMCP is the whole program when it is started as terminal-mcp: it returns the exit code.
func TerminalMCP(ctx context.Context, args []string, std cli.Stdio) int {
	return cli.Run(ctx, terminalMCPCommand(std), spacedRecord(args), std)
}

// spacedRecord allows a space before the mode of --record, as in Terminal MCP.
func spacedRecord(args []string) []string {
	args = slices.Clone(args)
	for i := len(args) - 2; i >= 0; i-- {
		if args[i] == "--record" && slices.Contains(recordModes, args[i+1]) {
			args = slices.Replace(args, i, i+2, "--record="+args[i+1])
		}
	}
	return args
}

var recordModes = []string{"always", "on-failure", "off"}

// sharedFlags are the flags of the program started as terminal-mcp.
type sharedFlags struct {
	terminalFlags
	socket   string
	headless bool
	raw      bool
	// The rest concerns a terminal that a person shares.
	sandbox       bool
	sandboxConfig string
	record        string
	recordDir     string
	format        string
	limits        terminalmcp.Limits
}

func terminalMCPCommand(std cli.Stdio) *cobra.Command {
	f := sharedFlags{socket: terminalmcp.DefaultSocket()}
	c := &cobra.Command{
		Use:   terminalmcp.Name + " [flags]",
		Short: "A terminal for AI assistants, over MCP",
		Long: `A terminal for AI assistants, over the Model Context Protocol: ptywright as Terminal MCP.

With --headless it serves MCP on standard input and output, with its own shell. On a terminal it
starts a shell for you there and shares it on a socket. Otherwise it serves MCP on standard input and
output for the terminal shared on the socket.

Secrets are hidden in what assistants read.`,
		Example: `  terminal-mcp --headless --cols 120 --rows 40
  terminal-mcp --record
  claude mcp add terminal -- terminal-mcp --headless`,
		Version:       terminalmcp.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f.idleSet = c.Flags().Changed("session-idle-timeout")
			return f.run(c.Context(), std)
		},
	}
	c.CompletionOptions.DisableDefaultCmd = true
	c.SetVersionTemplate(terminalmcp.Name + " v{{.Version}} (ptywright " + cli.Version() + ")\n")
	cli.Wire(c)
	f.terminalFlags.add(c)
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.socket, "socket", f.socket, "`PATH` of the socket of the shared terminal")
	fs.BoolVar(&f.headless, "headless", false,
		"serve MCP with a shell of its own; no terminal is needed")
	fs.BoolVar(&f.sandbox, "sandbox", false,
		"not supported: the shell would not be started restricted")
	fs.StringVar(&f.sandboxConfig, "sandbox-config", "", "not supported, as --sandbox")
	fs.IntVar(&f.sessions, "max-sessions", 0, "sessions at a time (default 5)")
	fs.Float64Var(&f.idle, "session-idle-timeout", 600,
		"`SECONDS` after which an unused session is ended, but for the default one; 0: never")
	fs.StringVar(&f.record, "record", "off",
		"record the shared terminal: `MODE` always, on-failure or off")
	fs.Lookup("record").NoOptDefVal = "always"
	fs.StringVar(&f.recordDir, "record-dir", "",
		"folder of recordings (default: $TERMINAL_MCP_RECORD_DIR, else the user's state folder)")
	fs.StringVar(&f.format, "record-format", "v2", "format of recordings: v2, asciicast v2")
	fs.Float64Var(&f.limits.Idle, "idle-time-limit", terminalmcp.DefaultLimits.Idle,
		"longest pause in a recording, in `SECONDS`; 0: as it was")
	fs.Float64Var(&f.limits.Duration, "max-duration", terminalmcp.DefaultLimits.Duration,
		"`SECONDS` after which a recording stops; 0: never")
	fs.Float64Var(&f.limits.Inactivity, "inactivity-timeout", terminalmcp.DefaultLimits.Inactivity,
		"`SECONDS` without output after which a recording stops; 0: never")
	fs.BoolVar(&f.raw, "trust-raw", false, "ptywright's own: hide no secrets")
	fs.BoolP("version", "v", false, "tell the version")
	return c
}

// run chooses the mode.
func (f *sharedFlags) run(ctx context.Context, std cli.Stdio) error {
	if err := refuseNesting(); err != nil {
		return err
	}
	if f.headless { // like Terminal MCP, it ignores the flags of a shared terminal
		return serveMCP(ctx, std,
			mcpFlags{HostFlags: defaultHost(),
				profileFlags: profileFlags{profile: terminalmcp.Name, raw: f.raw,
					terminal: f.terminalFlags}})
	}
	if !term.IsTerminal(int(std.In.Fd())) {
		return f.client(ctx, std)
	}
	switch {
	case f.sandbox || f.sandboxConfig != "":
		return errors.New("--sandbox is not supported, and the shell is not started without the restrictions you asked for; " +
			"start terminal-mcp itself in a sandbox, such as bwrap")
	case !slices.Contains(recordModes, f.record):
		return cli.Usagef("--record is %q: give always, on-failure or off", f.record)
	case f.format != "v2":
		return cli.Usagef("--record-format is %q: give v2", f.format)
	}
	return f.share(ctx, std)
}

// graceBound is how long client mode waits for the end of its input after the socket was closed: a
// person who quits everything closes both at once, which is not an error. The value is Terminal
// MCP's.
const graceBound = 100 * time.Millisecond

// client serves MCP for a shared terminal.
func (f *sharedFlags) client(ctx context.Context, std cli.Stdio) error {
	conn, err := client.DialStream(ctx, f.socket)
	if err == nil {
		err = daemon.Ours(conn)
	}
	if err != nil {
		return f.notShared(std, err)
	}
	ctx, _, stop := ending.Until(ctx, true)
	defer stop()
	log := NewLogger(std.Err, redact.Default)
	in, out, err := takePipes(std)
	if err != nil {
		return err
	}
	p := terminalmcp.NewProxy(conn)
	defer p.Close()
	s := mcp.New(host.Over(nil, nil, log), p.Profile())
	defer s.Close()
	served := make(chan error, 1)
	go func() { served <- s.ServeLines(ctx, in, out) }()
	select {
	case err = <-served:
	case <-p.Gone():
		grace := time.NewTimer(graceBound)
		defer grace.Stop()
		select {
		case err = <-served:
		case <-grace.C:
			fmt.Fprintln(std.Err, terminalmcp.ErrProxyGone)
			return cli.ExitCode(cli.ExitError)
		}
	}
	if err != nil && ctx.Err() == nil {
		log.Warn("the connection ended early", "error", err)
	}
	return nil
}

// notShared says that nothing listens on the socket, in Terminal MCP's words.
func (f *sharedFlags) notShared(std cli.Stdio, err error) error {
	path := cli.OneLine(f.socket)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(std.Err,
			"Failed to start: No tmcp session found at %s.\nStart a shared terminal first by running: terminal-mcp\n", path)
	case errors.Is(err, syscall.ECONNREFUSED):
		fmt.Fprintf(std.Err,
			"Failed to start: Connection refused to %s.\nThe shared terminal may have crashed. Try restarting it.\n", path)
	default:
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		fmt.Fprintf(std.Err, "Failed to start: connect to %s: %s\n", path, cli.OneLine(err.Error()))
	}
	return cli.ExitCode(cli.ExitError)
}
