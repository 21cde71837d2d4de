package remote

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
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
					cli.Complain(std.Err, errors.New("the server did not answer, and did not end when it was told to: it was killed"))
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
						k.Err = fmt.Errorf("%s: the kernel has not ended its processes %v", k.Session, k.PIDs)
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
