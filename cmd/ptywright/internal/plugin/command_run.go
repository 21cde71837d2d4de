package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/serve"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/redact"
)

// runFlags are the flags of plugin run.
type runFlags struct {
	rows, cols     uint16
	record, states string
	timeout        time.Duration
}

func pluginRunCommand(std cli.Stdio) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run [flags] [FOLDER] [-- ARGUMENT...]",
		Short: "Run a plugin's program on this terminal",
		Long: `Run a plugin's program under the plugin, on this terminal; by default the plugin in the current
directory. Arguments after -- replace those of the manifest. The plugin's states go to standard
error if that is not a terminal, or with --states to a file, as they change; on a terminal they are
printed when the program has ended. With --record the run becomes a case of the plugin, with the
states as its expected result: review it.

If the input is a pipe, its lines are typed one at a time, each when the plugin's wait_ready_matcher
holds, and Ctrl-D after the last. If it does not hold within --timeout, nothing more is typed:
standard error shows the plugin's state and what the other rules lacked, and the exit code is 3. The
recording is kept up to that point, without an expected result; once the plugin is fixed, plugin
test --update writes it.`,
		Example: `  ptywright plugin run demo 2>states.log
  printf 'echo one\nsleep 1\n' | ptywright plugin run --record two demo`,
		RunE: func(c *cobra.Command, args []string) error {
			dash := c.ArgsLenAtDash()
			var program []string
			if dash >= 0 {
				args, program = args[:dash], args[dash:]
				if len(program) == 0 {
					program = []string{}
				}
			}
			if err := cli.CheckLook(f.timeout); err != nil {
				return err
			}
			if len(args) > 1 {
				return cli.Usagef("name one plugin's folder, not %d; arguments of its program come behind --", len(args))
			}
			return pluginRun(c.Context(), std, folderArg(args), program, f)
		},
	}
	c.Flags().Uint16Var(&f.rows, "rows", 0,
		"rows of the terminal (default: this terminal's, else the manifest's)")
	c.Flags().Uint16Var(&f.cols, "cols", 0,
		"columns of the terminal (default: this terminal's, else the manifest's)")
	c.Flags().StringVar(&f.record, "record", "", "record it as case `NAME` in testdata/cases")
	c.Flags().StringVar(&f.states, "states", "", "write the states to `FILE`, as they change")
	c.Flags().DurationVar(&f.timeout, "timeout", engine.DefaultWait,
		"how long a line of a pipe waits for the plugin to be ready")
	c.Annotations = map[string]string{cli.ExitsNote: "3"}
	return c
}

// pluginRun hosts one plugin and its program.
func pluginRun(ctx context.Context, std cli.Stdio, dir string, args []string, f runFlags) error {
	folder, err := Open(dir, serve.NewLogger(io.Discard, redact.Default))
	if err != nil {
		return err
	}
	terminal := term.IsTerminal(int(std.In.Fd()))
	o := RunOptions{Args: args, In: std.In, Out: std.Out, Terminal: terminal, Record: f.record,
		Patience: f.timeout}
	if t := folder.Source.Manifest.Target; t != nil {
		o.Size = pty.Size{Rows: uint16(t.Rows), Cols: uint16(t.Cols)}
	}
	if o.Size.Rows == 0 || o.Size.Cols == 0 || terminal {
		o.Size = std.WindowSize(o.Size)
		if terminal {
			o.Size = std.WindowSize(pty.Size{})
		}
	}
	if f.rows > 0 {
		o.Size.Rows = f.rows
	}
	if f.cols > 0 {
		o.Size.Cols = f.cols
	}
	live := true
	switch e, isFile := std.Err.(*os.File); {
	case f.states != "":
		file, err := os.OpenFile(f.states, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return fmt.Errorf("--states: %w", err)
		}
		defer file.Close()
		o.States = file
	case !terminal || isFile && !term.IsTerminal(int(e.Fd())):
		o.States = std.Err
	default:
		live = false
	}
	var ran *Ran
	flags := serve.HostFlags{Plugins: []string{folder.Dir + "/manifest.toml"}, Sessions: 1,
		Side: engine.MaxSide}
	quiet := std
	if terminal { // a log does not belong on a raw terminal
		quiet.Err = io.Discard
	}
	err = serve.Hosted(ctx, quiet, true, flags, func(ctx context.Context, h *serve.Service) error {
		o.Cast = record.CastOptions{Title: folder.Source.Manifest.Name, Redactor: h.Redactor()}
		if terminal {
			restore, resized, err := rawTerminal(std)
			if err != nil {
				return err
			}
			defer restore()
			o.Resized = resized
		}
		var err error
		ran, err = folder.Run(ctx, h.Catalog, o)
		return err
	})
	if ran == nil {
		return err
	}
	if !live {
		tellStates(std.Err, ran)
	}
	if unready := (*NotReadyError)(nil); errors.As(err, &unready) {
		if ran.Cast != "" {
			err = fmt.Errorf("%w; the recording so far is %s, with nothing that is expected of it",
				err, ran.Cast)
		}
		return cli.Error{Err: err, Code: cli.ExitTimeout, Reason: "timeout"}
	}
	if err == nil && ran.Cast != "" {
		if _, err = folder.Test(ctx, regexp.MustCompile("^"+regexp.QuoteMeta(f.record)+"$"),
			true); err == nil {
			fmt.Fprintf(std.Err, "recorded %s; review %s, which says what is expected of it\n",
				ran.Cast, strings.TrimSuffix(ran.Cast, ".cast")+".expected.json")
		}
	}
	if err != nil || ran.Exit == nil {
		return err
	}
	return cli.CodeOf(ran.Exit.Exit)
}

// tellStates prints all states at the end.
func tellStates(w io.Writer, ran *Ran) {
	for _, c := range ran.Changes {
		fmt.Fprintln(w, c)
	}
	if ran.Dropped > 0 {
		fmt.Fprintf(w, "and %d further changes\n", ran.Dropped)
	}
}

// rawTerminal passes input on as it arrives, until restore is called.
func rawTerminal(std cli.Stdio) (restore func(), resized <-chan pty.Size, err error) {
	in := int(std.In.Fd())
	state, err := term.MakeRaw(in)
	if err != nil {
		return nil, nil, fmt.Errorf("make the terminal raw: %w", err)
	}
	signals, sizes, done := make(chan os.Signal, 1), make(chan pty.Size), make(chan struct{})
	cli.NotifyResize(signals)
	go func() {
		for {
			select {
			case <-signals:
				select {
				case sizes <- std.WindowSize(pty.Size{}):
				case <-done:
					return
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
		_ = term.Restore(in, state)
	}, sizes, nil
}

func pluginExplainCommand(std cli.Stdio) *cobra.Command {
	var at remote.Flags
	var asJSON, follow bool
	c := &cobra.Command{
		Use:   "explain [flags] SESSION|ADAPTER",
		Short: "Explain the state of a live session",
		Long: `Explain why the plugin of a live session reports its state: the rule that decided, the rules that
came close and what each lacked, and the rows they looked at. SESSION and ADAPTER are ids such as s1
and e1 on a server that listens on a socket. With --follow it explains every change until the
program ends.`,
		Example: `  ptywright plugin explain e1
  ptywright plugin explain --follow --json s1`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: remote.AdapterIDs,
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if !utf8.ValidString(args[0]) {
				return cli.Usagef("the id is not UTF-8 text")
			}
			socket, err := at.Path()
			if err != nil {
				return err
			}
			server, err := daemon.Dial(ctx, socket)
			if err != nil {
				return err
			}
			defer server.Close()
			err = Explain(ctx, server, args[0], follow,
				func(e *Explanation) error { return tell(std.Out, asJSON, e, e.Print) })
			if errors.Is(err, ErrNoAdapter) {
				return cli.Error{Err: err, Code: cli.ExitMissing, Reason: "unknown_adapter"}
			}
			return err
		},
	}
	at.SocketFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, one document a line")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "explain every change")
	return c
}
