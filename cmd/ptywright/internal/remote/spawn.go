package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/caller"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/config"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol/client"
)

func spawnCommand(std cli.Stdio, f *Flags) *cobra.Command {
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

With --host it starts on another machine (ptywright help hosts), in the folder of the server there
unless --cwd names one, and gets only --env of this command's environment.

With --adapter a plugin drives the program, and PROGRAM may be left out; see ptywright adapter.

The session belongs to the server and outlives this command. --max-time, --idle and --max-memory end
it, with everything it started, when it exceeds them; ls and wait --exit show which.`,
		Example: `  id=$(ptywright spawn -- bash)
  ptywright spawn --name build -- make && ptywright wait build --exit
  ptywright spawn --tag test -- make check; ptywright wait --select tag=test --all --exit
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
			if err := engine.CheckTags(o.Tags); err != nil {
				return cli.Usagef("--tag: %w", err)
			}
			if _, err := cli.ThemeFlag(o.Theme); err != nil {
				return err
			}
			if o.Host == "" {
				if o.Cwd, err = filepath.Abs(o.Cwd); err != nil { // the server works in another folder
					return err
				}
			}
			path, err := f.Path()
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
			s, err := Connect(c.Context(), path)
			if err != nil {
				return err
			}
			defer s.Close()
			if s.Local && o.Host == "" && !serverEnv && !o.ClearEnv {
				if o.BaseEnv, err = callerEnvironment(std.Err, os.Environ()); err != nil {
					return err
				}
			}
			if kept.adapter != "" {
				return kept.start(c.Context(), std, s, o, started, f.JSON)
			}
			session, err := s.Create(c.Context(), o)
			if err != nil {
				return err
			}
			if f.JSON {
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
	fs.StringArrayVar(&o.Tags, "tag", nil, "a `TAG` by which ls and wait --select find the session, such as build; may be given more than once")
	fs.StringVar(&o.Cwd, "cwd", "", "the `FOLDER` to work in (default: this one)")
	fs.StringVar(&o.Host, "host", "", "start it on the machine `NAME` of hosts.toml; its id is NAME/s1 and so on")
	_ = c.RegisterFlagCompletionFunc("host", func(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return config.CompleteHosts(0)(c, nil, begun)
	})
	fs.StringArrayVar(&env, "env", nil, "set a variable: `NAME=VALUE`, or NAME for this command's own; may be given more than once")
	fs.BoolVar(&o.ClearEnv, "clear-env", false, "start from an empty environment instead of this command's")
	fs.BoolVar(&serverEnv, "server-env", false, "start from the server's environment instead of this command's")
	fs.StringVar(&o.EchoOff, "echo-off", "", "treat what is typed with echo off as `KIND`: ask (a secret if it was asked for; the default), secret or plain")
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
		to    *time.Duration
	}{{"max-time", f.time, &o.Max}, {"idle", f.idle, &o.Idle}} {
		if !c.Flags().Changed(x.name) {
			continue
		}
		if x.value < time.Millisecond || x.value > 365*24*time.Hour {
			return cli.Usagef("--%s is %v: give a time from 1ms to a year, such as 90s or 2h", x.name, x.value)
		}
		*x.to = x.value
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

// keptFlags say what is kept of a new session, and which adapter drives it.
type keptFlags struct {
	adapter                string
	scrollback, transcript int
	history                int
}

// Bounds on what is kept, as in the server: a million lines are some 200 MB, and 64 Mi characters
// all the output of a long day.
const (
	mostScrollback = 1_000_000
	mostTranscript = 64 << 20
	mostHistory    = 1 << 30
)

func (k *keptFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&k.adapter, "adapter", "", "start it with the adapter `NAME`, which drives it; without PROGRAM the adapter's own")
	fs.IntVar(&k.scrollback, "scrollback", 10_000, "keep so many lines that have left the screen, up to 1000000; 0 keeps none")
	fs.IntVar(&k.transcript, "transcript", 128<<10, "keep so many characters of output, for logs and read --output, up to 67108864; 0 keeps none")
	fs.IntVar(&k.history, "history", 128<<10, "keep so many `BYTES` to show its past, for when and --at, beside the output; 0 keeps none")
	_ = c.RegisterFlagCompletionFunc("adapter", pluginNames)
}

// config adds the bounds to a session's configuration. Values that make no sense are refused here,
// in the flags' words.
func (k *keptFlags) config(c *cobra.Command, o *client.Config) error {
	for _, x := range []struct {
		name        string
		value, most int
		to          **int
	}{{"scrollback", k.scrollback, mostScrollback, &o.ScrollbackMaxLines}, {"transcript", k.transcript, mostTranscript, &o.TranscriptMaxChars},
		{"history", k.history, mostHistory, &o.HistoryMaxBytes}} {
		switch {
		case !c.Flags().Changed(x.name):
		case x.value < 0 || x.value > x.most:
			return cli.Usagef("--%s is %d: give 0 to %d", x.name, x.value, x.most)
		default:
			*x.to = &x.value
		}
	}
	return nil
}

// adapterTakes are the flags of spawn that apply to a program with an adapter: its manifest sets
// the rest.
var adapterTakes = map[string]bool{"adapter": true, "rows": true, "cols": true, "cwd": true, "env": true, "name": true, "tag": true, "host": true, "server-env": true, "socket": true, "json": true}

// check refuses arguments that make no sense.
func (k *keptFlags) check(c *cobra.Command, args []string) error {
	if k.adapter == "" && !c.Flags().Changed("adapter") {
		return cobra.MinimumNArgs(1)(c, args)
	}
	if k.adapter == "" {
		return cli.Usagef("--adapter is empty: ptywright adapter list names those that there are")
	}
	var err error
	c.Flags().Visit(func(f *pflag.Flag) {
		if !adapterTakes[f.Name] {
			err = cli.Usagef("--%s cannot be combined with --adapter, which takes --name, --tag, --host, --rows, --cols, --cwd, --env and --server-env", f.Name)
		}
	})
	return err
}

// start starts a program with the adapter and prints its session's id. fresh: the server was
// started for it.
func (k *keptFlags) start(ctx context.Context, std cli.Stdio, s *Server, o client.Config, fresh, asJSON bool) error {
	a, err := s.StartAdapter(ctx, k.adapter, o)
	if err != nil {
		return err
	}
	if asJSON {
		return std.JSON(struct {
			Started
			Fresh bool `json:"started_server"`
		}{a, fresh})
	}
	_, err = fmt.Fprintln(std.Out, a.Session)
	return err
}

// callerEnvironment returns the environment of this command for a program that a server starts for
// it. It warns about variables that cannot be sent.
func callerEnvironment(complaints io.Writer, environ []string) (map[string]string, error) {
	env, untold, err := caller.Environment(environ)
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	for _, name := range untold {
		cli.Complain(complaints, fmt.Errorf("%s is not passed to the program: not valid UTF-8", engine.Quote(name)))
	}
	return env, nil
}

// environment parses the variables given by flags.
func environment(given []string) (map[string]string, error) {
	all := map[string]string{}
	for _, g := range given {
		name, value, ok := strings.Cut(g, "=")
		switch {
		case name == "":
			return nil, cli.Usagef("--env: give NAME=VALUE or NAME")
		case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
			return nil, cli.Usagef("--env %s: the name of a variable has no blanks: give NAME=VALUE", engine.Quote(name))
		case !ok:
			if value, ok = os.LookupEnv(name); !ok {
				return nil, cli.Usagef("--env %s: no such variable to pass on; give %s=VALUE", name, name)
			}
		}
		all[name] = value
	}
	return all, nil
}
