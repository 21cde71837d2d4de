package run

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/engine"
)

// A sessionTake is the recording of a server's session.
type sessionTake struct {
	remote.Flags
	session string
	limit   time.Duration
}

func (s *sessionTake) add(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&s.session, "session", "",
		"record the session `ID` of a server, into FILE or that of -o")
	fs.DurationVar(&s.limit, "for", 0,
		"with --session: record for this `TIME`, such as 30s (default: until the session ends)")
	fs.StringVar(&s.Socket, "socket", "",
		"with --session: `PATH` of the server's socket (default: that of ptywright serve)")
	fs.BoolVar(&s.JSON, "json", false, "with --session: print what came of it as a JSON object")
	_ = c.RegisterFlagCompletionFunc("session", remote.SessionIDs(0))
}

// check refuses arguments that make no sense.
func (s *sessionTake) check(c *cobra.Command, rec *recorder, args []string) error {
	given := c.Flags().Changed
	switch {
	case !given("session") && len(args) == 0:
		return cli.Usagef("give PROGRAM, or --session ID and FILE: %s", c.UseLine())
	case !given("session") && rec.path == "":
		return cli.Usagef("give -o FILE")
	case !given("session"):
		for _, name := range []string{"for", "socket", "json"} {
			if given(name) {
				return cli.Usagef("--%s is for --session: a program is recorded until it ends", name)
			}
		}
		return nil
	case s.session == "":
		return cli.Usagef("--session is empty: give the session's id")
	case c.ArgsLenAtDash() >= 0:
		return cli.Usagef("--session and a program exclude each other: a session has one")
	case len(args) > 1 && strings.HasPrefix(args[1], "-"):
		return cli.Usagef("%s stands behind FILE: flags go before it", cli.ShellWord(args[1]))
	case len(args) > 1:
		return cli.Usagef("unexpected argument %s: --session takes one FILE", engine.Quote(args[1]))
	case len(args) == 1 && rec.path != "":
		return cli.Usagef("-o and %s exclude each other: both are the file", engine.Quote(args[0]))
	case len(args) == 0 && rec.path == "", len(args) == 1 && args[0] == "":
		return cli.Usagef("give FILE, which is to be written")
	case given("rows"), given("cols"):
		return cli.Usagef("--rows and --cols are for a program: a session has its size; ptywright resize gives it another")
	case given("for") && (s.limit < time.Millisecond || s.limit > cli.MostWait):
		return cli.Usagef("--for is %v: give 1ms to 24h", s.limit)
	}
	return nil
}

// record makes the server record, and reports the result.
func (s *sessionTake) record(ctx context.Context, std cli.Stdio, rec *recorder) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	path, err := filepath.Abs(rec.path) // the server works in another folder
	if err != nil {
		return err
	}
	take := remote.Take{
		Path: path, Format: string(rec.opts.Format), Title: rec.opts.Title, Input: rec.opts.Input,
		IdleLimit: rec.opts.IdleLimit, For: s.limit,
	}
	if rec.opts.Raw {
		take.Show.Redact = new(bool)
	}
	server, err := s.Connect(ctx)
	if err != nil {
		return s.Exit(ctx, err)
	}
	defer server.Close()
	done, err := server.Record(ctx, s.session, take)
	if done.Raw != nil { // the recording is over, whether or not it was asked to end
		ctx = context.WithoutCancel(ctx)
	}
	if s.JSON && done.Raw != nil {
		if werr := std.JSON(done.Raw); werr != nil {
			return werr
		}
		s.Told = true
	}
	return s.Exit(ctx, err)
}
