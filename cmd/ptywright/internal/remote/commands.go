package remote

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/config"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/engine"
)

// Flags are the flags of every command that talks to a server.
type Flags struct {
	Socket string // a path; "": that of the default server
	JSON   bool   // print JSON, one object a line
	Bare   bool   // show secrets
	Told   bool   // the error is already on standard output
}

// SocketFlag adds the flag that names a server's socket.
func (f *Flags) SocketFlag(c *cobra.Command) {
	c.Flags().StringVar(&f.Socket, "socket", "", "`PATH` of the server's socket (default: that of ptywright serve)")
}

// Path is the socket that the flags name.
func (f *Flags) Path() (string, error) {
	if f.Socket != "" {
		return filepath.Abs(f.Socket)
	}
	return daemon.DefaultSocket()
}

// Connect connects to the server that the flags name. Errors: those of [Connect].
func (f *Flags) Connect(ctx context.Context) (*Server, error) {
	path, err := f.Path()
	if err != nil {
		return nil, err
	}
	return Connect(ctx, path)
}

// with runs do with a connection to the server.
func (f *Flags) with(c *cobra.Command, do func(*Server) error) error {
	s, err := f.Connect(c.Context())
	if err != nil {
		return err
	}
	defer s.Close()
	return do(s)
}

// Show says whether the flags ask for secrets.
func (f *Flags) Show() Show {
	if f.Bare {
		return Show{Redact: new(bool)}
	}
	return Show{}
}

// remoteExits are the exit codes, one digit each, that a command may have besides 0 to 2.
var remoteExits = map[string]string{"ls": "5", "spawn": "5", "send": "345", "wait": "345", "read": "45", "logs": "45", "events": "45", "kill": "45",
	"resize": "45", "mouse": "45", "search": "45", "find": "45", "click": "345",
}

// Commands are the commands that talk to a server.
func Commands(std cli.Stdio) []*cobra.Command {
	makers := []func(cli.Stdio, *Flags) *cobra.Command{
		listCommand, spawnCommand, sendCommand, waitCommand, readCommand, logsCommand, eventsCommand, killCommand,
		resizeCommand, mouseCommand, searchCommand, findCommand, clickCommand, execCommand,
	}
	var all []*cobra.Command
	for _, make := range makers {
		all = append(all, remoteCommand(std, make))
	}
	return append(all, adapterCommand(std))
}

// remoteCommand makes a command that talks to a server.
func remoteCommand(std cli.Stdio, make func(cli.Stdio, *Flags) *cobra.Command) *cobra.Command {
	f := new(Flags)
	c := make(std, f)
	if exits := remoteExits[c.Name()]; exits != "" && c.Annotations[cli.ExitsNote] == "" {
		cli.Note(c, cli.ExitsNote, exits)
	}
	f.SocketFlag(c)
	c.Flags().BoolVar(&f.JSON, "json", false, "print one JSON object a line")
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		c.SetContext(ctx)
		if err := checkWords(c, args); err != nil {
			return err
		}
		return f.Exit(ctx, run(c, args))
	}
	return c
}

// Exit gives an error its exit code, and words for people.
func (f *Flags) Exit(ctx context.Context, err error) error {
	if err == nil || cli.HasCode(err) {
		return err
	}
	if ctx.Err() != nil {
		return cli.Error{Err: errInterrupted, Code: cli.ExitInterrupted, Reason: "interrupted", Told: f.Told}
	}
	code, reason := Exit(err)
	return cli.Error{Err: Plainly(err), Code: code, Reason: reason, Told: f.Told}
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
func (f *Flags) bareFlag(c *cobra.Command) {
	c.Flags().BoolVar(&f.Bare, "no-redact", false, "do not hide secrets")
}

// SessionIDs completes session names and ids, with each session's program.
func SessionIDs(most int) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completeFrom(c, func(ctx context.Context, s *Server) (ids []string, err error) {
			all, err := s.List(ctx, Show{})
			for _, i := range all {
				about := cli.OneLine(filepath.Base(i.Program)) + ", " + i.Exit.String()
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
func completeFrom(c *cobra.Command, ask func(context.Context, *Server) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	if err := config.Apply(c); err != nil { // it may set the socket
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	f := Flags{Socket: c.Flags().Lookup("socket").Value.String()}
	ctx, cancel := context.WithTimeout(c.Context(), completionBound)
	defer cancel()
	s, err := f.Connect(ctx)
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
