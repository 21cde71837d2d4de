package attach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/caller"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/ending"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/protocol/client"
)

// Command is the command attach.
func Command(std cli.Stdio) *cobra.Command {
	o := Options{Key: DefaultKey}
	var server remote.Flags
	c := &cobra.Command{
		Use:   "attach [flags] [SESSION]",
		Short: "Show a session in this terminal and type into it",
		Long: `Show a session live in this terminal, on the alternate screen. Without SESSION it shows the only
one; if there are several, it lists them.

Attaching is read-only at first. With --write you hold the session: nobody else can type into it or
resize it until you release it, and everybody sees that you hold it. --take takes it over from
someone else. Any number of clients may watch.

Ctrl-\ opens the key line: d detaches (so does a second Ctrl-\), w takes or releases the session,
t takes it over, s sends Ctrl-\, the arrows scroll a session larger than this terminal, z suspends,
l redraws. All other keys go to the session, including Ctrl-C and Ctrl-Z.

With --read-only the server refuses input from this connection: from this terminal you can only
watch and detach.

Watching never resizes a session. A smaller one is drawn at the top left; of a larger one you see
the part around the cursor. --write --resize gives it the size of this terminal, less the status
line, and restores its size at the end.

Exit codes: 0 after a detach, otherwise that of the program when it ends (128 plus the signal);
1 the server went away, 4 no such session, 5 someone else holds it.`,
		Example: `  ptywright attach s1
  ptywright attach --write --as Ada s1
  ptywright attach --read-only s1`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: remote.SessionIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.In, o.Out = std.In, std.Out.File
			if len(args) > 0 {
				o.Session = args[0]
			}
			return attachTo(c.Context(), std, &server, o)
		},
	}
	fs := c.Flags()
	server.SocketFlag(c)
	fs.BoolVarP(&o.Write, "write", "w", false, "hold the session: you type, and nobody else can")
	fs.BoolVarP(&o.Look, "read-only", "r", false, "only watch: the server refuses all input from this terminal")
	fs.BoolVar(&o.Take, "take", false, "take it over from someone else, with or without --write")
	fs.BoolVar(&o.Resize, "resize", false, "with --write: give the session this terminal's size while you hold it")
	fs.StringVar(&o.As, "as", "", "the `NAME` that others see while you hold the session (default: user@host and the terminal)")
	fs.Var(&o.Key, "detach-key", "the `KEY` that opens the key line: ctrl+ and a character")
	fs.BoolVar(&o.Leave, "exit", false, "leave when the program ends, without waiting for a key")
	fs.BoolVar(&o.Raw, "no-redact", false, "do not hide secrets")
	return c
}

// whoAmI is user@host and the terminal, as far as known: one person may have several terminals.
func whoAmI() string {
	name := caller.User()
	if tty, err := os.Readlink("/proc/self/fd/0"); err == nil && strings.HasPrefix(tty, "/dev/") {
		return name + " " + strings.TrimPrefix(tty, "/dev/")
	}
	return fmt.Sprintf("%s %d", name, os.Getpid())
}

// attachTo attaches to a session and returns its end as an error.
func attachTo(ctx context.Context, std cli.Stdio, server *remote.Flags, o Options) error {
	if o.Write = o.Write || o.Take; o.As == "" {
		o.As = whoAmI()
	}
	switch {
	case o.Look && o.Write:
		return cli.Usagef("--read-only and --write or --take exclude each other: say one of them")
	case o.Resize && !o.Write:
		return cli.Usagef("--resize is for who writes: give --write, too")
	case !term.IsTerminal(int(std.In.Fd())) || !term.IsTerminal(int(std.Out.Fd())):
		return cli.Usagef("attach needs a terminal as standard input and output; ptywright read prints what a session shows")
	}
	socket, err := server.Path()
	if err != nil {
		return err
	}
	if o.Client, err = daemon.Dial(ctx, socket); err != nil {
		return err
	}
	defer o.Client.Close()
	if err := pick(ctx, std, &o); err != nil {
		return attachError(o.Session, err)
	}
	r, err := Run(ctx, o)
	switch {
	case err != nil:
		return attachError(o.Session, err)
	case r.Signal != nil:
		return cli.ExitCode(ending.Code(r.Signal))
	case r.Exit == nil:
		fmt.Fprintf(std.Out, "[detached from %s]\n", o.Label())
		return nil
	}
	fmt.Fprintf(std.Out, "[%s %s]\n", o.Label(), r.Exit.Words())
	return remote.StatusOf(r.Exit)
}

// pick finds the requested session, and its name.
func pick(ctx context.Context, std cli.Stdio, o *Options) error {
	if o.Session != "" {
		s, err := o.Client.Session(o.Session).Info(ctx)
		var e *client.Error
		if errors.As(err, &e) && e.Reason == "unknown_session" {
			return cli.Error{Err: fmt.Errorf("no session %.64q; ptywright attach without an id lists them", o.Session), Code: cli.ExitMissing}
		}
		if err == nil {
			means(o, s)
		}
		return err
	}
	sessions, err := o.Client.Sessions(ctx)
	switch {
	case err != nil:
		return err
	case len(sessions) == 1:
		means(o, sessions[0])
		return nil
	case len(sessions) == 0:
		return cli.Error{Err: errors.New("the server has no session"), Code: cli.ExitMissing}
	}
	if err := remote.Sessions(sessions, time.Now()).Print(std.Out); err != nil {
		return err
	}
	return cli.Usagef("there are several sessions: say which, as in ptywright attach %s",
		sessions[0].Session)
}

// means sets which session to attach to.
func means(o *Options, s client.Info) {
	o.Session, o.Name = s.Session, s.Name
	o.Title = strings.Join(append([]string{s.Program}, s.Args...), " ")
}

// attachError puts a server's refusal into words for a person, with what to do, and gives it its
// exit code.
func attachError(session string, err error) error {
	var e *client.Error
	if !errors.As(err, &e) {
		return err
	}
	plain := fmt.Errorf("attach %s: %s", session, e.Message)
	switch e.Reason {
	case "session_leased":
		plain = fmt.Errorf("%w; ptywright attach --take takes it over", plain)
	case "owned_by_adapter", "session_ended", "session_closed":
		plain = fmt.Errorf("%w; ptywright attach without --write shows it", plain)
	}
	code, _ := remote.Exit(err)
	return cli.Error{Err: plain, Code: code}
}
