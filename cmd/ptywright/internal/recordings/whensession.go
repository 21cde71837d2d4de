package recordings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/protocol/client"
)

// isSession reports whether an argument names a session rather than a recording: no file has that
// name, and a session may have it.
func isSession(name string) bool {
	_, err := os.Stat(name)
	return errors.Is(err, fs.ErrNotExist) && !strings.HasSuffix(name, ".cast") &&
		(engine.CheckName(name) == nil || engine.CheckName(name+"x") == nil) // ids are no names
}

// ofSession asks a session when the conditions held, and prints it.
func (f *whenFlags) ofSession(ctx context.Context, std cli.Stdio, id string, m client.Matcher) error {
	s, err := f.server.Connect(ctx)
	if _, reason := remote.Exit(err); err != nil && reason == "no_server" {
		return fmt.Errorf("no recording is named %s, and no server runs that could have such a session",
			pty.QuotePath(id))
	}
	if err != nil {
		return err
	}
	defer s.Close()
	h, err := s.Session(id).History(ctx, m,
		client.HistoryOptions{First: !f.all && !f.last, Last: f.last})
	if errors.Is(err, client.ErrUnknownSession) {
		err := fmt.Errorf("neither a session nor a recording is named %s: "+
			"ptywright ls lists the sessions", pty.QuotePath(id))
		return cli.Error{Err: err, Code: cli.ExitMissing,
			Reason: string(client.ErrUnknownSession)}
	}
	if err != nil {
		return err
	}
	gone := ""
	if h.KeptFrom > 0 && (!f.last || len(h.Spans) == 0) {
		gone = fmt.Sprintf("only sequence %d and later is still kept", h.KeptFrom)
	}
	if len(h.Spans) == 0 {
		err := fmt.Errorf("%s: the condition never held", id)
		if gone != "" {
			err = fmt.Errorf("%w; %s", err, gone)
		}
		return cli.Error{Err: err, Code: cli.ExitTimeout, Reason: "never_held"}
	}
	if gone != "" {
		cli.Complain(std.Err, errors.New(gone))
	}
	for _, x := range h.Spans {
		if err := f.printSpan(std, x); err != nil {
			return err
		}
	}
	return nil
}

// printSpan prints a span of a session: sequences, which --at takes, how long, and the time.
func (f *whenFlags) printSpan(std cli.Stdio, x client.Span) error {
	if f.json {
		return std.JSON(map[string]any{"from": x.From, "to": x.To, "from_at": x.FromAt,
			"to_at": x.ToAt, "ms": x.Held.Milliseconds(), "open": x.To == nil})
	}
	to := "-"
	if x.To != nil {
		to = strconv.FormatUint(*x.To, 10)
	}
	_, err := fmt.Fprintf(std.Out, "%d\t%s\t%s\t%s\n", x.From, to, seconds(x.ToAt.Sub(x.FromAt)),
		x.FromAt.Local().Format(time.RFC3339Nano))
	return err
}
