package fleet

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/progress"
	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

func fleetSessions(std cli.Stdio, f *fleetFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "sessions [NAME]",
		Short: "List the sessions of an instance, or of all",
		Long: `List sessions: whether they are running, their foreground program, and their directory. A session
that has ended is listed for another minute, with its last screen.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			fl, err := f.open()
			if err != nil {
				return err
			}
			all, err := fl.List(c.Context(), Selection{Names: args})
			if err != nil {
				return err
			}
			var failed []error
			t := cli.Table{Columns: []cli.Column{
				{Title: "NAME"}, {Title: "SESSION"}, {Title: "RUNS", Least: 9},
				{Title: "TITLE", Least: 8, Spare: true, Drop: 2},
				{Title: "CWD", Least: 12, Path: true, Drop: 1},
			}}
			for _, i := range all {
				if i.Err != nil {
					failed = append(failed, i.Err)
				}
				for _, s := range i.Sessions {
					if f.json {
						std.JSON(struct {
							ID string `json:"id"`
							Session
						}{i.ID, s})
						continue
					}
					t.Row(cli.Cell{Text: i.ID, SGR: cli.Bold}, s.Number, runs(s), s.Title,
						s.Cwd)
				}
			}
			if !f.json {
				failed = append([]error{t.Print(std.Out)}, failed...)
			}
			return cli.OneError(slices.DeleteFunc(failed, func(err error) bool { return err == nil }))
		},
	}
}

func fleetOpen(std cli.Stdio, f *fleetFlags) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "open [flags] NAME [-- COMMAND]",
		Short: "Start a session in an instance and print its number",
		Long: `Start another shell in an instance, run the command in it if one is given, and print the session's
number, which broadcast, wait and read take as --session.`,
		Example: `  ptywright fleet open bravo
  ptywright fleet open bravo --cwd ~/code/site -- npm run dev`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			fl, err := f.open()
			if err != nil {
				return err
			}
			if dir != "" {
				if dir, err = filepath.Abs(dir); err != nil {
					return err
				}
			}
			opened, err := fl.Open(c.Context(), args[0], dir, strings.Join(args[1:], " "))
			if err != nil {
				return err
			}
			if f.json {
				return std.JSON(opened)
			}
			return cli.PrintLines(std.Out, []string{strconv.Itoa(opened.Session)})
		},
	}
	c.Flags().StringVar(&dir, "cwd", "", "working `DIRECTORY` (default: the instance's)")
	return c
}

func fleetTag(std cli.Stdio, f *fleetFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "tag NAME [TITLE]",
		Short: "Set or remove the title of an instance",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			fl, err := f.open()
			if err != nil {
				return err
			}
			title := strings.Join(args[1:], "")
			if err := fl.Tag(c.Context(), args[0], title); err != nil || !f.json {
				return err
			}
			return std.JSON(struct {
				ID    string            `json:"id"`
				Title instance.Optional `json:"title"`
			}{args[0], instance.Optional(title)})
		},
	}
}

func fleetStop(std cli.Stdio, f *fleetFlags) *cobra.Command {
	var all, kill bool
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "stop [flags] [NAME...]",
		Short: "End instances and everything that runs in them",
		Long: `End instances with everything that runs in them, and wait until they have ended. With --kill, those
that do not end before the timeout are killed.`,
		RunE: func(c *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return cli.Usagef("say which instances to stop: their names, or --all")
			}
			if err := cli.CheckTimeout(timeout); err != nil {
				return err
			}
			fl, err := f.open()
			if err != nil {
				return err
			}
			var failed []error
			bar := progress.New(std.Err, len(args), "stop instances")
			defer bar.Done()
			bar.Beside(std.Out)
			err = fl.Stop(c.Context(), Selection{Names: args}, timeout, kill, func(s Stop) {
				bar.Add(1)
				if s.Err != nil {
					failed = append(failed, s.Err)
				}
				switch {
				case f.json:
					f.told = true
					std.JSON(s)
				case s.Killed && s.Ended:
					fmt.Fprintf(std.Out, "%s has been killed: it had not ended after %v\n",
						cli.OneLine(s.ID), timeout)
				case s.Ended:
					fmt.Fprintf(std.Out, "%s has ended\n", cli.OneLine(s.ID))
				}
			})
			if all && errors.Is(err, ErrNone) {
				return f.none(std, err)
			}
			return errors.Join(err, cli.OneError(failed))
		},
	}
	c.Flags().BoolVar(&all, "all", false, "stop all instances")
	c.Flags().BoolVar(&kill, "kill", false, "kill those that do not end in time")
	c.Flags().DurationVar(&timeout, "timeout", EndBound, "how long they may take to end")
	return c
}
