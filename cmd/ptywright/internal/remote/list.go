package remote

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/protocol/client"
)

func listCommand(std cli.Stdio, f *Flags) *cobra.Command {
	var running bool
	c := &cobra.Command{
		Use:     "ls [flags]",
		Aliases: []string{"list"},
		Short:   "List a server's sessions",
		Long: `List a server's sessions: those that run, then those that have ended and how. QUIET is how long
the screen has not changed. A narrow terminal shows fewer columns; a file or a pipe gets all of them.

A server keeps the newest 256 ended sessions; kill --ended forgets them now. With --json each session
is one line, as in session.list with details.`,
		Example: `  ptywright ls
  ptywright ls --json | jq -r 'select(.exit == null) | .session'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.with(c, func(s *Server) error {
				all, err := s.List(c.Context(), f.Show())
				if err != nil {
					return err
				}
				if running {
					all = slices.DeleteFunc(all, func(i Info) bool { return over(i.Info) })
				}
				if f.JSON {
					for _, i := range all {
						if err := std.JSON(i.Raw); err != nil {
							return err
						}
					}
					return nil
				}
				return listTable(std, all, time.Now())
			})
		},
	}
	c.Flags().BoolVar(&running, "running", false, "only running sessions")
	return c
}

// listTable prints sessions for people.
func listTable(std cli.Stdio, all []Info, now time.Time) error {
	if len(all) == 0 {
		if cli.TerminalOf(std.Out).Cols > 0 {
			std.Tell("no sessions; ptywright spawn -- PROGRAM starts one")
		}
		return nil
	}
	infos := make([]client.Info, len(all))
	for i := range all {
		infos[i] = all[i].Info
	}
	return Sessions(infos, now).Print(std.Out)
}

// Sessions is the table of sessions that people are shown: those that run first, each half oldest
// first. It sorts all.
func Sessions(all []client.Info, now time.Time) *cli.Table {
	slices.SortStableFunc(all, func(a, b client.Info) int { return rank(a) - rank(b) })
	t := &cli.Table{Columns: []cli.Column{
		{Title: "ID"},
		{Title: "NAME", Least: 8, Spare: true},
		{Title: "COMMAND", Least: 10},
		{Title: "FOLDER", Least: 12, Path: true, Drop: 3},
		{Title: "STATE", Least: 9},
		{Title: "STARTED", Drop: 1},
		{Title: "QUIET", Drop: 4},
		{Title: "ADAPTER", Least: 8, Spare: true, Drop: 2},
		{Title: "LEASE", Least: 8, Spare: true, Drop: 2},
		{Title: "TITLE", Least: 12, Spare: true, Drop: 5},
	}}
	for _, i := range all {
		lease, title := "", ""
		if i.Lease != nil {
			lease = i.Lease.Holder
		}
		if i.Title != nil {
			title = *i.Title
		}
		t.Row(cli.Cell{Text: i.Session, SGR: cli.Bold}, i.Name,
			strings.Join(append([]string{filepath.Base(i.Program)}, i.Args...), " "),
			i.Cwd, stateCell(i), cli.Ago(now.Sub(i.Started)), cli.Brief(i.Quiet),
			i.Adapter, lease, title)
	}
	return t
}

// rank puts what runs before what has ended.
func rank(i client.Info) int {
	if over(i) {
		return 1
	}
	return 0
}

// over reports whether a session's program has ended, with all of its output.
func over(i client.Info) bool { return i.Exit != nil && !i.Exit.Draining }

// stateCell is green for what runs, and red for what failed.
func stateCell(i client.Info) cli.Cell {
	c := cli.Cell{Text: i.Exit.String(), SGR: cli.Dim}
	switch {
	case i.Exit == nil:
		c.SGR = cli.Green
	case i.Exit.Killed: // as somebody wanted
	case i.Exit.Code == nil || *i.Exit.Code != 0:
		c.SGR = cli.Red
	}
	return c
}
