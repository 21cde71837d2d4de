package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/config"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol/client"
)

// remoteFlags are the flags of every command that talks to a server.
type remoteFlags struct {
	socket string
	json   bool
	bare   bool // show secrets
	told   bool // the error is already on standard output
}

// socketFlag adds the flag that names a server's socket.
func (f *remoteFlags) socketFlag(c *cobra.Command) {
	c.Flags().StringVar(&f.socket, "socket", "", "`PATH` of the server's socket (default: that of ptywright serve)")
}

// path is the socket that the flags name.
func (f *remoteFlags) path() (string, error) {
	if f.socket != "" {
		return filepath.Abs(f.socket)
	}
	return daemon.DefaultSocket()
}

func (f *remoteFlags) connect(ctx context.Context) (*remote.Server, error) {
	path, err := f.path()
	if err != nil {
		return nil, err
	}
	return remote.Connect(ctx, path)
}

func (f *remoteFlags) show() remote.Show {
	if f.bare {
		return remote.Show{Redact: new(bool)}
	}
	return remote.Show{}
}

// exitCodes end the help of every command that talks to a server.
const exitCodes = `Exit codes: 0 success, 1 error, 2 usage, 3 timed out (standard output says what was missing),
4 no such session, 5 not permitted (a lease or an adapter holds the session, or the socket belongs
to another user), 130 interrupted.`

// remoteExits are the exit codes, one digit each, that a command may have besides 0 to 2.
var remoteExits = map[string]string{"ls": "5", "spawn": "5", "send": "45", "wait": "345", "read": "45", "logs": "45", "kill": "45",
	"resize": "45", "mouse": "45", "search": "45",
}

// remoteCommands are the commands that talk to a server.
func remoteCommands(std cli.Stdio) []*cobra.Command {
	makers := []func(cli.Stdio, *remoteFlags) *cobra.Command{
		listCommand, spawnCommand, sendCommand, waitCommand, readCommand, logsCommand, killCommand,
		resizeCommand, mouseCommand, searchCommand, execCommand,
	}
	var all []*cobra.Command
	for _, make := range makers {
		all = append(all, remoteCommand(std, make))
	}
	return append(all, adapterCommand(std))
}

// remoteCommand makes a command that talks to a server.
func remoteCommand(std cli.Stdio, make func(cli.Stdio, *remoteFlags) *cobra.Command) *cobra.Command {
	f := new(remoteFlags)
	c := make(std, f)
	if c.Long != "" {
		c.Long += "\n\n"
	}
	if c.Annotations[cli.StatusNote] == "" || c.Name() == "wait" {
		c.Long += exitCodes
	}
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	if exits := remoteExits[c.Name()]; exits != "" {
		c.Annotations[cli.ExitsNote] = exits
	}
	f.socketFlag(c)
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON object a line")
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		c.SetContext(ctx)
		if err := checkWords(c, args); err != nil {
			return err
		}
		return f.exit(ctx, run(c, args))
	}
	return c
}

// exit gives an error its exit code, and words for people.
func (f *remoteFlags) exit(ctx context.Context, err error) error {
	if err == nil || cli.HasCode(err) {
		return err
	}
	if ctx.Err() != nil {
		return cli.Error{Err: errInterrupted, Code: cli.ExitInterrupted, Reason: "interrupted", Told: f.told}
	}
	code, reason := remote.Exit(err)
	return cli.Error{Err: remote.Plainly(err), Code: code, Reason: reason, Told: f.told}
}

// checkWords refuses words that cannot be sent to a server, and empty ones where a name is
// required, as of a variable that is not set.
func checkWords(c *cobra.Command, args []string) error {
	for _, a := range args {
		if !utf8.ValidString(a) {
			return cli.Usagef("%s is not UTF-8 text", engine.Quote(a))
		}
	}
	if usage, _, _ := cli.ArgsOf(c); len(args) > 0 && args[0] == "" {
		return cli.Usagef("%s is empty: %s", strings.TrimSuffix(strings.Fields(strings.TrimPrefix(usage, "-- "))[0], "..."), c.UseLine())
	}
	var err error
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "socket" && f.Name != "file" && !utf8.ValidString(f.Value.String()) {
			err = cli.Usagef("--%s is not UTF-8 text", f.Name)
		}
	})
	return err
}

// errInterrupted is the error of a command that a signal ended.
var errInterrupted = errors.New("interrupted")

// bareFlag adds the flag that shows secrets.
func (f *remoteFlags) bareFlag(c *cobra.Command) {
	c.Flags().BoolVar(&f.bare, "no-redact", false, "do not hide secrets")
}

// sessionIDs completes session names and ids, with each session's program.
func sessionIDs(most int) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completeFrom(c, func(ctx context.Context, s *remote.Server) (ids []string, err error) {
			all, err := s.List(ctx, remote.Show{})
			for _, i := range all {
				about := cli.OneLine(filepath.Base(i.Program)) + ", " + remote.Ended(i.Exit)
				if i.Name != "" && strings.HasPrefix(i.Name, begun) {
					ids = append(ids, cobra.CompletionWithDesc(i.Name, i.Session+", "+about))
				}
				if strings.HasPrefix(i.Session, begun) {
					ids = append(ids, cobra.CompletionWithDesc(i.Session, strings.TrimPrefix(i.Name+", ", ", ")+about))
				}
			}
			return ids, err
		})
	}
}

// completeFrom completes with a server's answer. Without a server or an answer, it offers nothing.
func completeFrom(c *cobra.Command, ask func(context.Context, *remote.Server) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	if err := config.Apply(c); err != nil { // it may set the socket
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	f := remoteFlags{socket: c.Flags().Lookup("socket").Value.String()}
	ctx, cancel := context.WithTimeout(c.Context(), completionBound)
	defer cancel()
	s, err := f.connect(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer s.Close()
	all, err := ask(ctx, s)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// completionBound is how long a completion may take: a person waits for it, and a server answers in
// a millisecond.
const completionBound = time.Second

func listCommand(std cli.Stdio, f *remoteFlags) *cobra.Command {
	var running bool
	c := &cobra.Command{
		Use:     "ls [flags]",
		Aliases: []string{"list"},
		Short:   "List a server's sessions",
		Long: `List a server's sessions, oldest first, including those that have ended: STATE shows how, and QUIET
how long ago the program last drew something. A server keeps the newest 256 ended sessions;
kill --ended forgets them now. With --json each session is one line, as in session.list with details.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := f.connect(c.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			all, err := s.List(c.Context(), f.show())
			if err != nil {
				return err
			}
			if running {
				all = slices.DeleteFunc(all, func(i remote.Info) bool { return i.Exit != nil && !i.Exit.Draining })
			}
			if f.json {
				for _, i := range all {
					if err := std.JSON(i.Raw); err != nil {
						return err
					}
				}
				return nil
			}
			return listTable(std, all)
		},
	}
	c.Flags().BoolVar(&running, "running", false, "only running sessions")
	return c
}

func listTable(std cli.Stdio, all []remote.Info) error {
	if len(all) == 0 {
		return nil
	}
	named := slices.ContainsFunc(all, func(i remote.Info) bool { return i.Name != "" })
	t := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	if named {
		fmt.Fprint(t, "NAME\t")
	}
	fmt.Fprintln(t, "ID\tPROGRAM\tSIZE\tSTATE\tQUIET\tADAPTER\tLEASE\tTITLE")
	for _, i := range all {
		lease, adapter, title, quiet := "-", "-", "-", ""
		if i.Lease != nil {
			lease = cli.OneLine(i.Lease.Holder)
		}
		if i.Adapter != "" {
			adapter = cli.OneLine(i.Adapter)
		}
		if i.Title != nil && *i.Title != "" {
			title = cli.OneLine(*i.Title)
		}
		quiet = lasted(time.Duration(i.QuietMS) * time.Millisecond)
		if named {
			fmt.Fprintf(t, "%s\t", cli.OneLine(cmp.Or(i.Name, "-")))
		}
		fmt.Fprintf(t, "%s\t%s\t%dx%d\t%s\t%s\t%s\t%s\t%s\n", cli.OneLine(i.Session), cli.OneLine(filepath.Base(i.Program)), i.Rows, i.Cols, remote.Ended(i.Exit), quiet, adapter, lease, title)
	}
	return t.Flush()
}

// lasted formats a duration in at most two units.
func lasted(d time.Duration) string {
	switch {
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s") // without seconds
}

func spawnCommand(std cli.Stdio, f *remoteFlags) *cobra.Command {
	var o client.Config
	var env []string
	var serverEnv bool
	var leash leashFlags
	var kept keptFlags
	c := &cobra.Command{
		Use:   "spawn [flags] -- PROGRAM [ARG]...",
		Short: "Start a program in a session and print its id",
		Long: `Start a program on its own terminal, and print the session's id. If no server is listening, one is
started in the background; ptywright kill --server ends it. ptywright doctor shows where its log is.

The program gets this command's environment, except for variables that describe this terminal, and
this working directory. --server-env gives it the server's environment instead, --clear-env none. A
server on another machine, as through ssh, is sent only --env. --env NAME passes on this command's
own variable, which keeps secrets out of arguments. It gets no PTYWRIGHT_ variable: a ptywright in it
uses ~/.ptywright unless --env PTYWRIGHT_HOME passes that on.

With --name every command accepts the name as well as the id.

With --adapter a plugin drives the program, and PROGRAM may be left out; see ptywright adapter.

The session belongs to the server and outlives this command. --max-time, --idle and --max-memory end
it, with everything it started, when it exceeds them; ls and wait --exit show which.`,
		Example: `  id=$(ptywright spawn -- bash)
  ptywright spawn --name build -- make && ptywright wait build --exit
  ptywright spawn --rows 40 --cols 120 --env API_TOKEN -- ./deploy.sh
  ptywright spawn --adapter claude-code`,
		Args:        kept.check,
		Annotations: map[string]string{cli.LeastNote: "0"},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Program, o.Args = args[0], args[1:]
			}
			if err := cli.CheckSides(c, o.Rows, o.Cols); err != nil {
				return err
			}
			if err := leash.config(c, &o); err != nil {
				return err
			}
			if err := kept.config(c, &o); err != nil {
				return err
			}
			var err error
			if o.EchoOff != "" {
				if _, err := engine.ParseEchoOff(o.EchoOff); err != nil {
					return cli.Usagef("--echo-off: %w", err)
				}
			}
			if o.Env, err = environment(env); err != nil {
				return err
			}
			if serverEnv && o.ClearEnv {
				return cli.Usagef("--server-env and --clear-env exclude each other: say one of them")
			}
			if err := engine.CheckName(o.Name); o.Name != "" && err != nil {
				return cli.Usagef("--name: %w", err)
			}
			if _, err := cli.ThemeFlag(o.Theme); err != nil {
				return err
			}
			if o.Cwd, err = filepath.Abs(o.Cwd); err != nil { // the server works in another folder
				return err
			}
			path, err := f.path()
			if err != nil {
				return err
			}
			started, err := daemon.Ensure(c.Context(), path)
			if err != nil {
				if wrong := config.CheckServer(c); wrong != nil {
					return wrong
				}
				return err
			}
			s, err := remote.Connect(c.Context(), path)
			if err != nil {
				return err
			}
			defer s.Close()
			if s.Local && !serverEnv && !o.ClearEnv {
				if o.BaseEnv, err = callerEnvironment(std.Err, os.Environ()); err != nil {
					return err
				}
			}
			if kept.adapter != "" {
				return kept.start(c.Context(), std, s, o, started, f.json)
			}
			session, err := s.Create(c.Context(), o)
			if err != nil {
				return err
			}
			if f.json {
				return std.JSON(struct {
					Session string `json:"session"`
					Started bool   `json:"started_server"`
				}{session.ID, started})
			}
			_, err = fmt.Fprintln(std.Out, session.ID)
			return err
		},
	}
	fs := c.Flags()
	fs.IntVar(&o.Rows, "rows", 0, "rows of the terminal (default 24)")
	fs.IntVar(&o.Cols, "cols", 0, "columns (default 80)")
	fs.StringVar(&o.Name, "name", "", "a `NAME` by which the session is found beside its id, such as build")
	fs.StringVar(&o.Cwd, "cwd", "", "the `FOLDER` to work in (default: this one)")
	fs.StringArrayVar(&env, "env", nil, "set a variable: `NAME=VALUE`, or NAME for this command's own; may be given more than once")
	fs.BoolVar(&o.ClearEnv, "clear-env", false, "start from an empty environment instead of this command's")
	fs.BoolVar(&serverEnv, "server-env", false, "start from the server's environment instead of this command's")
	fs.StringVar(&o.EchoOff, "echo-off", "", "what is typed while the program has echo off: `KIND` is ask (default; a secret if it was asked for), secret or plain")
	fs.StringVar(&o.Theme, "theme", "", "dark or light: what a program that asks for the colours is told (default dark)")
	fs.BoolVar(&o.ShellIntegration, "shell-integration", false, "have bash, zsh or fish mark its commands, for wait --finished and read --blocks")
	leash.add(c)
	kept.add(c)
	c.MarkFlagDirname("cwd")
	return c
}

// leashFlags are the limits of a session.
type leashFlags struct {
	time, idle time.Duration
	memory     size
}

func (f *leashFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.DurationVar(&f.time, "max-time", 0, "end it after this `TIME`, such as 90s or 2h")
	fs.DurationVar(&f.idle, "idle", 0, "end it when it has written nothing, and nobody has typed, for this `TIME`")
	fs.Var(&f.memory, "max-memory", "end it when it needs more memory with all that it started than this `SIZE`, such as 512M; needs cgroup v2")
	fs.Lookup("max-memory").DefValue = "" // no limit
}

// config adds the limits to a session's configuration. Values that make no sense are refused here,
// in the flags' words.
func (f *leashFlags) config(c *cobra.Command, o *client.Config) error {
	for _, x := range []struct {
		name  string
		value time.Duration
		to    *int64
	}{{"max-time", f.time, &o.MaxMS}, {"idle", f.idle, &o.IdleMS}} {
		if !c.Flags().Changed(x.name) {
			continue
		}
		if x.value < time.Millisecond || x.value > 365*24*time.Hour {
			return cli.Usagef("--%s is %v: give a time from 1ms to a year, such as 90s or 2h", x.name, x.value)
		}
		*x.to = x.value.Milliseconds()
	}
	o.MaxMemory = int64(f.memory)
	return nil
}

// size is a flag for a number of bytes.
type size int64

// units are the suffixes of a size, in bytes: powers of 1,024, as in ulimit, docker and systemd.
var units = map[string]int64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

func (s *size) Type() string   { return "SIZE" }
func (s *size) String() string { return strconv.FormatInt(int64(*s), 10) }
func (s *size) Set(text string) error {
	number := strings.TrimRight(text, "KMGTiBkmgtb")
	unit, ok := units[strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(text[len(number):]), "B"), "I")]
	n, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || n < 1 || n > math.MaxInt64/unit || n*unit < 1<<20 || n*unit > 1<<50 {
		return errors.New("give a size from 1M to 1024T, such as 512M or 2G")
	}
	*s = size(n * unit)
	return nil
}
