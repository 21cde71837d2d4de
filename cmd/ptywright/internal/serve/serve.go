// Package serve holds the commands that serve: serve, mcp, acp, acp-proxy and unterm, which
// [Commands] makes, and terminal-mcp, the name under which this program is Terminal MCP. [Hosted]
// runs what needs sessions of its own: it lends it an engine with plugins, a log and a watcher, and
// sees to it that nothing of them is left.
//
// # Goroutines
//
//	started by        does                                       ends
//	alongside         serves the clients of one door             with the first door that ends; waited for
//	reopenAtHangup    opens the log, or the audit, anew          with [Hosted]; waited for
//	newAudit          writes the lines of the audit              with [Hosted]; waited for
//	Watcher.Add       builds the redaction rules, once           by itself
//	startAgent        starts the agent of acp-proxy, reaps it    with the agent; waited for
//	bridge, client    serves one shared terminal                 with its shell or its client; waited for
//	bridge            types what a person types                  with the process: a read cannot be cancelled
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/config"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/ending"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/hosts"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/acp"
	"github.com/ptywright/ptywright/protocol/native"
	"github.com/ptywright/ptywright/redact"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	HostFlags
	profileFlags
	stdio      bool
	socket     string
	hosts      string
	mcpHTTP    string
	unterm     bool
	door       untermFlags
	framing    string
	loads      bool
	background bool
	readers    string
	rights     protocol.Rights
	audit      auditFlags

	message, requests, queued, replies, depth int
}

// HostFlags are the flags of every server.
type HostFlags struct {
	log            logFlags
	Plugins        []string
	reload         bool
	Sessions, Side int
	ended, bytes   int
	history        int
}

// defaultHost has the values for commands without these flags.
func defaultHost() HostFlags {
	return HostFlags{Sessions: engine.DefaultSessions, ended: engine.DefaultEnded,
		bytes: engine.DefaultEndedBytes, Side: engine.MaxSide, history: defaultHistory}
}

func (f *HostFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.StringArrayVar(&f.Plugins, "plugin", nil,
		"load the plugin whose `manifest.toml` this is; may be given more than once")
	fs.BoolVar(&f.reload, "plugin-reload", false,
		"reload such a plugin when its files change, for plugin authors")
	fs.IntVar(&f.Sessions, "max-sessions", engine.DefaultSessions, "sessions that run at a time")
	fs.IntVar(&f.ended, "max-ended", engine.DefaultEnded,
		"sessions that have ended and are kept; older ones are forgotten")
	fs.IntVar(&f.bytes, "max-ended-bytes", engine.DefaultEndedBytes, "memory of those together")
	fs.IntVar(&f.Side, "max-screen", engine.MaxSide, "rows or columns of a screen, at most 1000")
	fs.IntVar(&f.history, "history-max-bytes", defaultHistory,
		"memory with which a session shows its past, beside its output; 0 shows none")
	f.log.add(c)
}

const (
	// defaultHistory is what a session with the default transcript has; one with a larger one has
	// more, unless another number is given.
	defaultHistory = engine.DefaultTranscriptChars
	mostHistory    = 1 << 30
)

// historyBytes is the engine's number.
func (f *HostFlags) historyBytes() int {
	switch f.history {
	case defaultHistory:
		return 0
	case 0:
		return -1
	}
	return f.history
}

// A bound is a flag with a number, and its maximum. The minimum is 1.
type bound struct {
	name        string
	value, most int
}

func (f *HostFlags) bounds() []bound {
	all := []bound{
		{"max-sessions", f.Sessions, 1 << 20}, {"max-ended", f.ended, 1 << 20},
		{"max-ended-bytes", f.bytes, 1 << 30}, {"max-screen", f.Side, engine.MaxSide},
	}
	if f.history != 0 { // none
		all = append(all, bound{"history-max-bytes", f.history, mostHistory})
	}
	return all
}

// checkBounds refuses values that make no sense.
func checkBounds(all []bound) error {
	for _, n := range all {
		if err := cli.CheckBound(n.name, n.value, n.most); err != nil {
			return err
		}
	}
	return nil
}

func serveCommand(std cli.Stdio) *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve JSON-RPC on standard input and output or on a socket",
		Long: `Serve JSON-RPC 2.0.

With --stdio the server is the child of one client: it answers on standard output, logs to standard
error, and when its input ends it ends with everything it started. With --socket it listens for any
number of clients, which share its sessions, until SIGTERM or SIGINT. Without either it listens on
the default socket, $PTYWRIGHT_HOME/socket or ~/.ptywright/socket.`,
		Example: `  ptywright serve --stdio < examples/hello.ndjson
  ptywright serve --socket /run/user/1000/ptywright/socket`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case f.stdio && c.Flags().Changed("socket"):
				return cli.Usagef("--stdio and --socket exclude each other: a server has one transport")
			case c.Flags().Changed("rights") && !f.stdio && f.mcpHTTP == "" && !f.unterm:
				return cli.Usagef("--rights is for clients that do not come by a socket: add --stdio, --mcp-http or --unterm, or serve readers with --read-only-socket")
			}
			return serve(c.Context(), std, f)
		},
	}
	fs := c.Flags()
	fs.BoolVar(&f.stdio, "stdio", false, "serve standard input and output")
	fs.StringVar(&f.socket, "socket", "",
		"listen on `PATH`: a Unix socket, or on Windows a named pipe such as \\\\.\\pipe\\ptywright")
	fs.StringVar(&f.readers, "read-only-socket", "",
		"listen on another `PATH`, too, whose clients can look and wait and do nothing else")
	addRights(c, &f.rights,
		"what clients may do on standard input, through --mcp-http and through --unterm")
	f.audit.add(c)
	fs.StringVar(&f.hosts, "hosts", "",
		"show the sessions of the machines in this `hosts.toml`, too (default: the one beside config.toml, but with --stdio none)")
	fs.BoolVar(&f.background, "background", false,
		"standard error is a log: say on standard output, too, when clients can come, and keep a token in a file")
	fs.MarkHidden("background") // for daemon.Ensure
	fs.StringVar(&f.mcpHTTP, "mcp-http", "",
		"serve MCP, too, on `ADDR`, such as 127.0.0.1:8123: the same sessions; see ptywright mcp")
	fs.BoolVar(&f.unterm, "unterm", false,
		"serve Unterm's methods, too: the same sessions; see ptywright unterm")
	f.door.add(c)
	for _, name := range []string{"root", "compat-root", "port", "cwd"} {
		fs.Lookup(name).Usage = "with --unterm: " + fs.Lookup(name).Usage
	}
	fs.StringVar(&f.framing, "framing", "ndjson",
		"how messages are told apart: ndjson (one a line) or lsp (Content-Length)")
	fs.BoolVar(&f.loads, "allow-plugin-load", false,
		"let clients load, reload and unload plugins from this machine's files")
	fs.IntVar(&f.message, "max-message-bytes", 16<<20, "size of one message")
	fs.IntVar(&f.requests, "max-requests", 256,
		"requests a connection may have under way; more are queued")
	fs.IntVar(&f.queued, "max-queued-bytes", 16<<20,
		"requests a connection may have queued; then it is not read")
	fs.IntVar(&f.replies, "max-reply-bytes", 8<<20,
		"replies a client may leave unread; then it is cut off")
	f.HostFlags.add(c)
	f.profileFlags.add(c)
	for _, name := range []string{"profile", "trust-raw"} {
		fs.Lookup(name).Usage = "with --mcp-http: " + fs.Lookup(name).Usage
	}
	for _, name := range terminalNames {
		fs.Lookup(name).Usage = "with --mcp-http and --profile terminal-mcp: " +
			fs.Lookup(name).Usage
	}
	fs.IntVar(&f.depth, "max-matcher-depth", matchers.MaxDepth,
		"levels of nested matchers, at most 32")
	return c
}

// check refuses values that make no sense.
func (f *serveFlags) check() error {
	return checkBounds(append(f.HostFlags.bounds(),
		bound{"max-message-bytes", f.message, 1 << 30}, bound{"max-requests", f.requests, 1 << 20},
		bound{"max-queued-bytes", f.queued, 1 << 30}, bound{"max-reply-bytes", f.replies, 1 << 30},
		bound{"max-matcher-depth", f.depth, matchers.MaxDepth},
	))
}

// endBound is how long a server may take to end its children. With the two seconds for the last
// replies it stays within the five that a harness allows.
const endBound = 2500 * time.Millisecond

// heapFloor is memory that is reserved and never touched, so that the garbage collector, which runs
// when the heap has doubled, runs at 32 MiB and not at 4: during a flood it would take a sixth of
// the server's time (measured). It costs only address space; twice as much would cost a flooded
// server 32 MiB more of garbage. It is reserved with the first session: an allocation of that size
// starts a collection, which would delay a start.
const heapFloor = 16 << 20

// stuckBound is how long after a signal to end a server waits for requests that do not notice.
// Replies have two seconds; a request that computes cannot be interrupted. More would not leave the
// two seconds that ending the programs may take of the five that are promised; with 2.3 s a machine
// with twenty others at work on two processors was taken for stuck.
const stuckBound = 2900 * time.Millisecond

// A Service is a host that is being served, and what its metrics count.
type Service struct {
	*host.Host
	began time.Time
	// Count connections, once they exist.
	listens atomic.Pointer[[]*protocol.Server]
	dialect atomic.Pointer[native.Server]
	audit   atomic.Pointer[audit]
}

// listening has the metrics count a listener's connections. Doors are opened one after the other.
func (h *Service) listening(s *protocol.Server) {
	all := []*protocol.Server{s}
	if before := h.listens.Load(); before != nil {
		all = append(slices.Clone(*before), s)
	}
	h.listens.Store(&all)
}

// Hosted runs a server over a fresh engine until it returns, and makes sure that nothing outlives
// it. With lone it serves one client, and ends when its terminal hangs up.
func Hosted(ctx context.Context, std cli.Stdio, lone bool, f HostFlags,
	serve func(ctx context.Context, h *Service) error) error {
	known := new(redact.Known) // secrets, whatever they look like
	log, logged, err := f.log.open(std.Err, redact.Default.With(known).ForAll(), lone)
	if err != nil {
		return err
	}
	defer logged()
	slog.SetDefault(log)
	known.AddEnv(os.Environ())
	pty.DefaultSignals()
	if err := pty.AdoptOrphans(); err != nil {
		log.Warn("descendants that leave their session may outlive it", "error", err)
	}
	ctx, hurry, stop := ending.Until(ctx, lone)
	defer stop()

	var ended atomic.Bool // there is nothing left to wait for
	watch := &Watcher{Log: log, reserve: heapFloor}
	h := &Service{began: time.Now(), Host: host.New(engine.Options{
		Version:  cli.Version(),
		Sessions: f.Sessions, Ended: f.ended, EndedBytes: f.bytes, Side: f.Side, Watch: watch,
		Log: log, HistoryBytes: f.historyBytes(),
	}, known)}
	h.Metrics = h.metrics
	if err := LoadPlugins(h.Catalog, f.Plugins); err != nil {
		return err
	}

	if f.reload {
		unwatch, err := h.Catalog.Watch()
		if err != nil {
			return err
		}
		defer unwatch()
	}

	end := sync.OnceFunc(func() {
		bound, cancel := context.WithTimeout(hurry, endBound)
		defer cancel()
		if err := errors.Join(h.Engine.Close(bound), pty.KillAdopted(bound),
			watch.Close()); err != nil {
			log.Error("some of what the sessions started could not be ended", "error", err)
		}
	})
	defer end()
	stuck := context.AfterFunc(ctx, func() { // asked to end
		select {
		case <-hurry.Done(): // it ended, or somebody is impatient
		case <-time.After(stuckBound):
		}
		if ended.Load() {
			return
		}
		log.Error("a request does not end; ending without it")
		end()
		if a := h.audit.Load(); a != nil {
			a.close()
		}
		os.Exit(cli.ExitError)
	})
	defer stuck()
	defer ended.Store(true)
	return serve(ctx, h)
}

// serve wires a transport to the native dialect.
func serve(ctx context.Context, std cli.Stdio, f serveFlags) error {
	framing, err := protocol.ParseFraming(f.framing)
	if err != nil {
		return cli.Usagef("%w", err)
	}
	if err := f.check(); err != nil {
		return err
	}
	return Hosted(ctx, std, f.stdio, f.HostFlags, func(ctx context.Context, h *Service) error {
		limits := protocol.Limits{Message: f.message, Executing: f.requests, Queued: f.queued,
			Replies: f.replies}
		audit, audited, err := f.audit.open(h.Redactor().ForAll(), h.Log, f.stdio)
		if err != nil {
			return err
		}
		defer audited()
		h.audit.Store(audit)
		dialect := native.New(h.Host, native.Options{Limits: limits, PluginLoad: f.loads,
			MatcherDepth: f.depth, Audit: audit.shown()})
		h.dialect.Store(dialect)
		front, done, err := f.hub(dialect, h.Log)
		if err != nil {
			return err
		}
		defer done()
		terminals := acp.New(h.Host, acp.Options{Waits: max(f.requests/4*3, 1)})
		both := protocol.Combine(front, terminals) // so that an ACP client can relay its agent's requests
		config := protocol.Config{Framing: framing, Limits: limits, Log: h.Log,
			Audit: audit.hook()}
		doors := []opening{func() (door, error) {
			if f.stdio {
				config.Rights = f.rights
				config.Peer = protocol.Peer{Door: "stdio", UID: os.Geteuid(), PID: os.Getppid()}
				return door{serve: func(ctx context.Context) error {
					return serveStdio(ctx, std,
						both, config)
				}}, nil
			}
			config.Peer.Door = "socket"
			return openSocket(h, f.socket, both, config)
		}}
		if f.readers != "" {
			readers := config
			readers.Peer.Door, readers.Rights = "read-only-socket", protocol.RightRead
			doors = append(doors, func() (door, error) {
				return openSocket(h, f.readers, both, readers)
			})
		}
		grant := protocol.Grant{Rights: f.rights, Audit: audit.hook()}
		if f.mcpHTTP != "" {
			grant.Door = "mcp-http"
			s, err := f.profileFlags.server(h, grant)
			if err != nil {
				return err
			}
			defer s.Close()
			token := ""
			if f.background {
				if token, err = daemon.TokenOf(f.socket); err != nil {
					return err
				}
			}
			doors = append(doors, func() (door, error) { return openMCP(s, f.mcpHTTP, token) })
		}
		if f.unterm {
			f.door.raw, f.door.grant = f.profileFlags.raw, grant
			f.door.grant.Door = "unterm"
			doors = append(doors, func() (door, error) { return openUnterm(h, &f.door) })
		}
		return serveDoors(ctx, std, doors, func() {
			if f.background {
				fmt.Fprintln(std.Out.File, f.socket) // our parent reads this, and may be gone; stderr is a file
			}
		})
	})
}

// hub puts the other machines in front of the dialect; done is called when no client is left.
func (f *serveFlags) hub(local protocol.Dialect, log *slog.Logger) (front protocol.Dialect,
	done func(), err error) {
	none := func() {}
	if f.stdio && f.hosts == "" {
		return local, none, nil
	}
	machines, _, err := config.Hosts(f.hosts)
	if err != nil {
		return nil, none, cli.Error{Err: err, Code: cli.ExitUsage, Reason: "configuration"}
	}
	if len(machines) == 0 {
		return local, none, nil
	}
	hub, err := hosts.Hub(local, machines, log)
	if err != nil {
		return nil, none, err
	}
	return hub, hub.Close, nil
}

// A door is where clients connect. It is open: they can connect, and get no answer before it is
// served.
type door struct {
	says  string                      // for standard error: its address
	serve func(context.Context) error // until the context ends; closes the door
	close func()                      // instead of serve; nil: there is nothing to close
}

// An opening opens a door.
type opening func() (door, error)

// serveDoors opens doors in order, prints their addresses, calls there, and serves them until the
// first of them ends. When one cannot be opened, no client has been served, and nothing has
// announced a server.
func serveDoors(ctx context.Context, std cli.Stdio, openers []opening, there func()) error {
	var doors []door
	for _, open := range openers {
		d, err := open()
		if err != nil {
			for _, d := range doors {
				if d.close != nil {
					d.close()
				}
			}
			return err
		}
		doors = append(doors, d)
	}
	var serve []func(context.Context) error
	for _, d := range doors {
		if d.says != "" { // our parent waits for these lines
			std.Tell("%s", d.says)
		}
		serve = append(serve, d.serve)
	}
	there()
	return alongside(ctx, serve...)
}

// alongside runs servers until the first of them ends, and then ends the others. It returns the
// first error.
func alongside(ctx context.Context, servers ...func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, len(servers))
	for _, serve := range servers {
		go func() { ended <- serve(ctx) }()
	}
	var first error
	for range servers {
		if err := <-ended; first == nil {
			first = err
		}
		cancel()
	}
	return first
}

// LoadPlugins adds the plugins that the user names.
func LoadPlugins(c *plugins.Catalog, manifests []string) error {
	for _, path := range manifests {
		if _, err := c.Load(path); err != nil {
			return fmt.Errorf("--plugin %s: %w", path, err)
		}
	}
	return nil
}

// serveStdio serves one client. However that ends, the server ends in good order.
func serveStdio(ctx context.Context, std cli.Stdio, d protocol.Dialect,
	config protocol.Config) error {
	stream, err := takeStdio(std)
	if err != nil {
		return err
	}
	return Conn(ctx, stream, d, config)
}

// Conn serves one connection until it ends. How it ended goes to the log, and is never an error.
func Conn(ctx context.Context, stream io.ReadWriteCloser, d protocol.Dialect,
	config protocol.Config) error {
	err := protocol.NewConn(stream, d, config).Serve(ctx)
	if err != nil && !errors.Is(err, protocol.ErrShutdown) &&
		!errors.Is(err, protocol.ErrPeerGone) {
		config.Log.Warn("the connection ended early", "error", err)
	}
	return nil
}

// openSocket opens the door for the clients of a socket; path is "" for the default one.
func openSocket(h *Service, path string, d protocol.Dialect, config protocol.Config) (door, error) {
	hint := ""
	if path == "" {
		var err error
		if path, err = daemon.DefaultSocket(); err != nil {
			return door{}, err
		}
		hint = " (override with --socket)"
	}
	l, err := protocol.Listen(path)
	if err != nil {
		return door{}, err
	}
	s := &protocol.Server{Dialect: d, Config: config}
	h.listening(s)
	return door{
		says: "serving " + map[bool]string{true: "readers "}[config.Rights == protocol.RightRead] +
			"on " + path + hint,
		serve: func(ctx context.Context) error {
			if err := s.Serve(ctx, l); err != nil && !errors.Is(err, protocol.ErrShutdown) {
				return err
			}
			return nil
		},
		close: func() { l.Close() },
	}, nil
}

// Commands are the commands that serve, and the hidden one that a server starts.
func Commands(std cli.Stdio) []*cobra.Command {
	return []*cobra.Command{
		serveCommand(std), mcpCommand(std), acpCommand(std), acpProxyCommand(std),
		untermCommand(std), watcherCommand(std),
	}
}
