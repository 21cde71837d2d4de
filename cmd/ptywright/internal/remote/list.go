package remote

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

func listCommand(std cli.Stdio, f *Flags) *cobra.Command {
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
			return f.with(c, func(s *Server) error {
				all, err := s.List(c.Context(), f.Show())
				if err != nil {
					return err
				}
				if running {
					all = slices.DeleteFunc(all, func(i Info) bool { return i.Exit != nil && !i.Exit.Draining })
				}
				if f.JSON {
					for _, i := range all {
						if err := std.JSON(i.Raw); err != nil {
							return err
						}
					}
					return nil
				}
				return listTable(std, all)
			})
		},
	}
	c.Flags().BoolVar(&running, "running", false, "only running sessions")
	return c
}

func listTable(std cli.Stdio, all []Info) error {
	if len(all) == 0 {
		return nil
	}
	named := slices.ContainsFunc(all, func(i Info) bool { return i.Name != "" })
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
		quiet = lasted(i.Quiet)
		if named {
			fmt.Fprintf(t, "%s\t", cli.OneLine(cmp.Or(i.Name, "-")))
		}
		fmt.Fprintf(t, "%s\t%s\t%dx%d\t%s\t%s\t%s\t%s\t%s\n", cli.OneLine(i.Session), cli.OneLine(filepath.Base(i.Program)), i.Rows, i.Cols, i.Exit.String(), quiet, adapter, lease, title)
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
