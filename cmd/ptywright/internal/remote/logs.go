package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/internal/ansi"
	"github.com/ptywright/ptywright/protocol/client"
)

// outputFlags say what to print of a session's output, and where.
type outputFlags struct {
	follow, scrollback bool
	since              uint64
	to                 string
}

func logsCommand(std cli.Stdio, f *Flags) *cobra.Command {
	var l outputFlags
	c := &cobra.Command{
		Use:   "logs [flags] ID",
		Short: "Print or follow a session's output as text",
		Long: `Print the output kept of a session as lines of text, without escape sequences. With --follow,
continue until the program ends or you press Ctrl-C (exit code 0). For programs that print
lines; for full-screen programs use read or attach. --scrollback prints the lines its terminal
has kept instead, those of the screen last, like read --scrollback. With --json each line is
{session, sequence, output} with the output as it came, and the last one has the exit.

--to FILE writes to a new file (mode 0600) and prints nothing. The file is called FILE.part until it
is complete: with --follow, until the program ends or you stop. What was written survives if this
command is killed. FILE must not exist, and symbolic links are not followed. To keep more output, see
spawn --transcript and --scrollback.

For the server's own log, see ptywright doctor.`,
		Example: `  ptywright logs s1 --follow
  ptywright logs s1 --to build.log`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: SessionIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case l.scrollback && l.follow:
				return cli.Usagef("--scrollback and --follow exclude each other: lines of the screen still change")
			case l.scrollback && c.Flags().Changed("since"):
				return cli.Usagef("--since is for output: the lines of --scrollback have no sequence")
			case c.Flags().Changed("to") && l.to == "":
				return cli.Usagef("--to is empty: name a file")
			}
			return f.with(c, func(s *Server) error {
				if l.to == "" {
					return f.logs(c.Context(), std, std.Out, s, args[0], l)
				}
				file, err := record.CreateFile(l.to)
				if err != nil {
					return err
				}
				if err := f.logs(c.Context(), std, file, s, args[0], l); err != nil {
					if file.Empty() { // usually the session does not exist
						return errors.Join(err, file.Discard())
					}
					return errors.Join(err, file.Leave())
				}
				return file.Finish()
			})
		},
	}
	c.Flags().BoolVarP(&l.follow, "follow", "f", false, "continue until the program ends")
	c.Flags().Uint64Var(&l.since, "since", 0, "only output after this `SEQUENCE`")
	c.Flags().BoolVar(&l.scrollback, "scrollback", false,
		"print the scrollback instead of the output")
	c.Flags().StringVar(&l.to, "to", "", "write to a new `FILE` instead, mode 0600")
	f.bareFlag(c)
	return c
}

// logs writes a session's log to out.
func (f *Flags) logs(ctx context.Context, std cli.Stdio, out io.Writer, s *Server, id string,
	l outputFlags) error {
	var plain Plain
	show := func(d Delta) error {
		if d.Dropped && l.to != "" {
			std.Tell("earlier output is not kept: spawn --transcript keeps more")
		}
		if f.JSON {
			return cli.JSONLines(out, d)
		}
		text := ""
		if d.Dropped {
			text = "[earlier output is not kept]\n"
		}
		text += plain.Write(d.Output)
		if d.Ended {
			text += endLine(plain.Rest())
		}
		_, err := io.WriteString(out, text)
		return err
	}
	switch {
	case l.scrollback:
		read, err := s.Read(ctx, id, Reading{What: Scrollback, Show: f.Show()})
		switch {
		case err != nil:
			return err
		case f.JSON:
			return cli.JSONLines(out, read.Raw...)
		}
		return cli.PrintLines(out, read.Lines)
	case l.follow:
		return f.followLog(ctx, out, s, id, l, &plain, show)
	}
	var r struct {
		Text     string `json:"text"`
		Sequence uint64 `json:"sequence"`
		Dropped  bool   `json:"dropped"`
	}
	read, err := s.Read(ctx, id, Reading{What: Output, Since: &l.since, Show: f.Show()})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(read.Raw[0], &r); err != nil {
		return err
	}
	return show(Delta{Session: id, Sequence: r.Sequence, Output: r.Text, Dropped: r.Dropped,
		Ended: !f.JSON})
}

// followLog shows a session's log until its program has ended, or ctx has.
func (f *Flags) followLog(ctx context.Context, out io.Writer, s *Server, id string, l outputFlags,
	plain *Plain, show func(Delta) error) error {
	// The holder of turn may write. An interrupt does not wait for it: our reader may be stuck.
	turn := make(chan struct{}, 1)
	err := s.Follow(ctx, id, l.since, f.Show(), func(d Delta) error {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
			return show(d)
		default:
			return ctx.Err() // already interrupted
		}
	})
	if l.to != "" { // writing to a file does not get stuck
		turn <- struct{}{} // never released
		if err != nil && !f.JSON {
			if _, werr := io.WriteString(out, endLine(plain.Rest())); werr != nil {
				return werr
			}
		}
	} else {
		select {
		case turn <- struct{}{}: // never released
			if err != nil && !f.JSON {
				io.WriteString(out, endLine(plain.Rest()))
			}
		default:
		}
	}
	if ctx.Err() != nil {
		return nil // Ctrl-C is the way to leave
	}
	return err
}

// endLine ends a non-empty line.
func endLine(line string) string {
	if line == "" {
		return ""
	}
	return line + "\n"
}

// A Delta is a piece of a session's output.
type Delta struct {
	Session  string `json:"session"`
	Sequence uint64 `json:"sequence"`
	Output   string `json:"output"` // redacted, with escape sequences as they came
	Dropped  bool   `json:"dropped,omitempty"`
	Code     *int   `json:"exit_code,omitempty"` // with Signal: the program has ended
	Signal   string `json:"signal,omitempty"`
	Ended    bool   `json:"-"` // this is the last Delta, and has no output
}

// Follow passes a session's output after since, 0 for all that is kept, to show, and then what
// follows, until the program has ended; its end is the last Delta. The one goroutine that reads the
// connection calls show: while show runs nothing is read, the server does not queue, and a later
// Delta says Dropped if output exceeded the server's bound. After ctx has ended show may still be
// running, and be called once more.
//
// Errors: show's first; the server's; [client.ErrClosed] when the server goes away; the cause of
// ctx's end.
func (s *Server) Follow(ctx context.Context, id string, since uint64, how Show,
	show func(Delta) error) error {
	id, err := s.idOf(ctx, id) // notifications have ids
	if err != nil {
		return err
	}
	var once sync.Once
	ended := make(chan error, 1)
	end := func(err error) { once.Do(func() { ended <- err }) }
	failed := false // only used by the goroutine that reads
	s.Listen(func(e client.Event) {
		if e.Session != id || failed {
			return
		}
		d := Delta{Session: id, Sequence: e.Sequence, Output: e.Output, Dropped: e.Dropped}
		switch e.Method {
		case "session.output":
		case "session.exited":
			d.Ended, d.Code = true, e.Code
			if e.Signal != nil {
				d.Signal = *e.Signal
			}
		default:
			return
		}
		err := show(d)
		if failed = err != nil; failed || d.Ended {
			end(err)
		}
	})
	p := map[string]any{"enabled": true, "sessions": []string{id}, "since": since}
	if how.Redact != nil {
		p["redact"] = *how.Redact
	}
	if err := s.Call(ctx, "server.set_notifications", p, nil); err != nil {
		return err
	}
	select {
	case err := <-ended:
		return err
	case <-s.Done():
		select {
		case err := <-ended: // the last output
			return err
		default:
			return client.ErrClosed
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// idOf is the id of the session with that id or name. Errors: those of session.list,
// unknown_session among them.
func (s *Server) idOf(ctx context.Context, name string) (string, error) {
	var r struct {
		Details []client.Info `json:"details"`
	}
	if err := s.Call(ctx, "session.list", map[string]any{"details": true, "session": name},
		&r); err != nil {
		return "", err
	}
	if len(r.Details) == 0 { // such as an ended one that was forgotten meanwhile
		return name, nil
	}
	return r.Details[0].Session, nil
}

// lineBound is how long a line may become before it is broken, in bytes: it bounds the cost of a
// program that never ends one.
const lineBound = 64 << 10

// A Plain converts output to lines of plain text: see [ansi.Plain]. The zero value is ready. Not
// safe for concurrent use.
type Plain struct{ text ansi.Plain }

// Write takes more output and returns the lines that it completes, each with its line feed.
func (p *Plain) Write(output string) string {
	p.text.Most = lineBound
	p.text.Write([]byte(output))
	return p.text.Lines()
}

// Rest returns the unfinished line, and clears it.
func (p *Plain) Rest() string {
	rest := string(p.text.Text()) + p.text.Held()
	p.text = ansi.Plain{}
	return rest
}
