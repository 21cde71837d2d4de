package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
)

func killCommand(std cli.Stdio, f *Flags) *cobra.Command {
	var forget, all, ended, server bool
	c := &cobra.Command{
		Use:   "kill [flags] ID...",
		Short: "End sessions and everything they started",
		Long: `End sessions: their programs and everything those started. The sessions stay readable, the newest 256
of a server; --close forgets them at once, together with the adapter of a session that has one.
--ended forgets all ended sessions that no adapter, lease or request needs; wait --exit still knows
how they ended. --server ends the server and all its sessions.`,
		ValidArgsFunction: SessionIDs(0),
		RunE: func(c *cobra.Command, args []string) error {
			switch n := count(len(args) > 0, all, ended, server); {
			case n > 1:
				return cli.Usagef("ids of sessions, --all, --ended and --server exclude each other: say one of them")
			case n == 0:
				return cli.Usagef("say what to end: ids of sessions, --all, --ended, or --server")
			}
			if server {
				path, err := f.Path()
				if err != nil {
					return err
				}
				forced, err := StopServer(c.Context(), path)
				if err != nil {
					return err
				}
				if f.JSON {
					return std.JSON(map[string]any{"socket": path, "ended": true, "forced": forced})
				}
				if forced {
					cli.Complain(std.Err,
						errors.New("the server did not answer, and did not end when it was told to: it was killed"))
				}
				return nil
			}
			return f.with(c, func(s *Server) error {
				if ended {
					gone, err := s.Forget(c.Context())
					if err == nil && f.JSON {
						for _, k := range gone {
							std.JSON(k)
						}
					}
					return err
				}
				if all {
					infos, err := s.List(c.Context(), Show{})
					if err != nil {
						return err
					}
					for _, i := range infos {
						if i.Exit == nil || forget {
							args = append(args, i.Session)
						}
					}
				}
				var failed []error
				err := s.Kill(c.Context(), args, forget, func(k Kill) {
					if k.Err == nil && !k.Killed {
						k.Err = fmt.Errorf("%s: the kernel has not ended its processes %v",
							k.Session, k.PIDs)
					}
					if k.Err != nil {
						failed = append(failed, k.Err)
					}
					if f.JSON {
						std.JSON(k)
					}
				})
				return cmp.Or(err, cli.OneError(failed))
			})
		},
	}
	c.Flags().BoolVar(&forget, "close", false, "also forget the sessions")
	c.Flags().BoolVar(&all, "all", false, "all running sessions; with --close also ended ones")
	c.Flags().BoolVar(&ended, "ended", false, "forget all ended sessions")
	c.Flags().BoolVar(&server, "server", false, "end the server and all its sessions")
	return c
}

// count returns how many are true.
func count(all ...bool) int {
	n := 0
	for _, b := range all {
		if b {
			n++
		}
	}
	return n
}

// A Kill is the result of ending a session.
type Kill struct {
	Session string `json:"session"`
	Killed  bool   `json:"killed"`
	Closed  bool   `json:"closed,omitempty"` // also forgotten
	PIDs    []int  `json:"pids,omitempty"`   // processes that the kernel did not end in time
	Error   string `json:"error,omitempty"`  // in words for people
	Reason  string `json:"reason,omitempty"`
	Err     error  `json:"-"`
}

// killsAtOnce bounds how many sessions are ended at the same time: as many requests as a server
// runs for one connection, so that they share a few dozen scans of the process table.
const killsAtOnce = 256

// Kill ends the programs of sessions and everything that those started. With forget the sessions
// are forgotten; otherwise they stay readable, except those that an adapter drives: they are closed
// with their adapter and always forgotten. An error with one session is in its Kill, and the others
// continue. done is called for each, in order. The returned error is the connection's; then nothing
// was ended.
func (s *Server) Kill(ctx context.Context, ids []string, forget bool, done func(Kill)) error {
	// Stubborn programs take a second each if ended one after the other.
	if err := s.Call(ctx, "server.set_ordering", map[string]string{"ordering": "concurrent"},
		nil); err != nil {
		return err
	}
	ended := make([]chan Kill, len(ids))
	for i := range ended {
		ended[i] = make(chan Kill, 1)
	}
	slots := make(chan struct{}, killsAtOnce)
	go func() {
		for i, id := range ids {
			slots <- struct{}{}
			go func() {
				ended[i] <- s.kill(ctx, id, forget)
				<-slots
			}()
		}
	}()
	for _, k := range ended {
		done(<-k)
	}
	return nil
}

func (s *Server) kill(ctx context.Context, id string, forget bool) Kill {
	k := Kill{Session: id}
	if forget {
		k.Err = s.call(ctx, workBound, "session.close", params(id, nil, Show{}), nil)
		k.Closed, k.Killed = k.Err == nil, k.Err == nil
	} else {
		var r struct {
			PIDs []int `json:"pids"`
		}
		k.Err = s.call(ctx, workBound, "session.kill", params(id, nil, Show{}), &r)
		k.PIDs = r.PIDs
		k.Killed = k.Err == nil && len(k.PIDs) == 0
	}
	if _, reason := Exit(k.Err); reason == "owned_by_adapter" {
		k.Err = s.closeAdapter(ctx, id)
		k.Closed, k.Killed = k.Err == nil, k.Err == nil
	}
	if k.Err != nil {
		_, k.Reason = Exit(k.Err)
		k.Error = Plainly(k.Err).Error()
	}
	return k
}

// closeAdapter closes the adapter that drives a session, and the session with it.
func (s *Server) closeAdapter(ctx context.Context, id string) error {
	a, err := s.Adapter(ctx, id)
	if err != nil {
		return err
	}
	return s.call(ctx, workBound, "adapter.close", map[string]any{"adapter": a.Adapter}, nil)
}

// Forget forgets the sessions that have ended.
func (s *Server) Forget(ctx context.Context) ([]Kill, error) {
	var r struct {
		Forgotten []string `json:"forgotten"`
	}
	if err := s.call(ctx, workBound, "session.forget", nil, &r); err != nil {
		return nil, err
	}
	all := make([]Kill, len(r.Forgotten))
	for i, id := range r.Forgotten {
		all[i] = Kill{Session: id, Killed: true, Closed: true}
	}
	return all, nil
}

// stopBound is how long a server may take to end: it promises five seconds, and one that does not
// answer is killed within this time.
const stopBound = 15 * time.Second

// errStubborn is why the wait for a server's end was stopped.
var errStubborn = fmt.Errorf("it was told to end %v ago", stopBound)

// StopServer ends the server itself, with all its sessions. Results: those of [daemon.Stop].
func StopServer(ctx context.Context, socket string) (forced bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, stopBound, errStubborn)
	defer cancel()
	return daemon.Stop(ctx, socket)
}
