package remote

import (
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/protocol/client"
)

func eventsCommand(std cli.Stdio, f *Flags) *cobra.Command {
	var follow bool
	var since uint64
	c := &cobra.Command{
		Use:   "events [flags] ID",
		Short: "Print or follow what happens to a session: input, waits, commands, its end",
		Long: `Print what has happened to a session, oldest first: who typed (how much, never what), who waits for
what and how each wait ended, the commands of a shell that marks them with their exit codes, leases,
resizes, what was hidden, bells, titles and the end. A server keeps some 500 events of a
session; waits that are pending are always among them. Standard error says so when there are none.

With --follow, continue until the program ends or you press Ctrl-C (exit code 0). A wait is then
printed when it begins and again when it ends. With --json each event is one line, as in
session.events; an event that has ended or grown comes again with the same "event" and a higher
"seq", and --since SEQ goes on from there.`,
		Example: `  ptywright events s1
  ptywright events s1 --follow
  ptywright events s1 --json | jq 'select(.state == "timed_out") | .evidence'`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: SessionIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return f.with(c, func(s *Server) error {
				some := false
				show := func(e json.RawMessage) error {
					some = true
					return f.printEvent(std.Out, e)
				}
				if follow {
					return s.followEvents(c.Context(), args[0], since, f.Show(), show)
				}
				_, err := s.events(c.Context(), args[0], since, f.Show(), show)
				switch {
				case err != nil || some:
					return err
				case since > 0:
					std.Tell("nothing was noted of %s after seq %d", args[0], since)
				default:
					std.Tell("nothing has happened to %s yet; --follow waits for what does", args[0])
				}
				return nil
			})
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "continue until the program ends")
	c.Flags().Uint64Var(&since, "since", 0, "only events noted after this `SEQ`")
	f.bareFlag(c)
	return c
}

// printEvent prints an event of the wire.
func (f *Flags) printEvent(out io.Writer, raw json.RawMessage) error {
	if f.JSON {
		return cli.JSONLines(out, raw)
	}
	var e client.SessionEvent
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	at := e.Noted().Local().Format("15:04:05.000") + "  "
	return cli.Say(out, at+cli.OneLine(e.String()), len(at))
}

// events passes what the server keeps of a session's events after since to show, and returns what
// to pass next time.
func (s *Server) events(ctx context.Context, id string, since uint64, how Show,
	show func(json.RawMessage) error) (next uint64, err error) {
	var r struct {
		Events []json.RawMessage `json:"events"`
		Next   uint64            `json:"next"`
	}
	p := params(id, map[string]any{"since": since}, how)
	if err := s.Call(ctx, "session.events", p, &r); err != nil {
		return since, err
	}
	for _, e := range r.Events {
		if err := show(e); err != nil {
			return since, err
		}
	}
	return r.Next, nil
}

// followEvents is events until the program has ended, or ctx has: that is no error.
func (s *Server) followEvents(ctx context.Context, id string, since uint64, how Show,
	show func(json.RawMessage) error) error {
	id, err := s.idOf(ctx, id) // notifications have ids
	if err != nil {
		return err
	}
	// One slot: what was noted is read from the session, however often that is told.
	news, ended := make(chan struct{}, 1), make(chan struct{})
	s.Listen(func(e client.Event) {
		if e.Session != id {
			return
		}
		switch e.Method {
		case "session.event":
			select {
			case news <- struct{}{}:
			default:
			}
		case "session.exited":
			close(ended)
		}
	})
	p := map[string]any{"enabled": true, "events": true, "sessions": []string{id}}
	if err := s.Call(ctx, "server.set_notifications", p, nil); err != nil {
		return err
	}
	var list struct {
		Details []client.Info `json:"details"`
	}
	if err := s.Call(ctx, "session.list", map[string]any{"details": true, "session": id}, &list); err != nil {
		return err
	}
	over := len(list.Details) == 0 || list.Details[0].Exit != nil // then its end is told no more
	for {
		if since, err = s.events(ctx, id, since, how, show); err != nil || over {
			if ctx.Err() != nil { // Ctrl-C is the way to leave
				return nil
			}
			return err
		}
		select {
		case <-news:
		case <-ended:
			over = true
		case <-s.Done():
			return client.ErrClosed
		case <-ctx.Done():
			return nil
		}
	}
}
