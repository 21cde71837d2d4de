package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/fleet"
	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

// fleetFlags are those of every command of the fleet.
type fleetFlags struct {
	root   string
	compat bool
	json   bool
}

func (f *fleetFlags) open() (fleet.Fleet, error) {
	switch {
	case f.root != "" && f.compat:
		return fleet.Fleet{}, usageError{errors.New("--root and --compat-root exclude each other")}
	case f.root != "":
		root, err := filepath.Abs(f.root)
		return fleet.Fleet{Root: root}, err
	}
	root, err := instance.DefaultRoot(f.compat)
	return fleet.Fleet{Root: root}, err
}

// chosen are the flags that choose instances.
type chosen struct {
	fleet.Selection
	session int
}

func (s *chosen) add(c *cobra.Command) {
	c.Flags().StringSliceVar(&s.Names, "to", nil, "only the instances with these `NAMES`, divided by commas")
	c.Flags().StringVar(&s.Tag, "tag", "", "only the instances whose title is this, or this in brackets")
	s.addSession(c)
}

func (s *chosen) addSession(c *cobra.Command) {
	c.Flags().IntVar(&s.session, "session", 0, "the session's number; 0 is the shell that an instance starts with")
}

func fleetCommand(std stdio) *cobra.Command {
	var f fleetFlags
	c := &cobra.Command{
		Use:   "fleet",
		Short: "Start, watch, command and stop many instances",
		Long: `Drive instances of ptywright unterm: start them, tell them apart by name and tag, have each run
a command, wait for one or for all, read what they show, and stop them.

Instances register under a root: --root, else $PTYWRIGHT_HOME, else ~/.ptywright.

Exit codes: 0 as wished, 1 an instance or its command failed, 2 wrong use, 3 the time was up,
4 no such instance, 5 not permitted.`,
		Example: `  ptywright fleet start 3 --cwd ~/code/app --cwd ~/code/site --cwd ~/code/docs --tag worker
  ptywright fleet broadcast --tag worker --wait --timeout 5m -- make
  ptywright fleet stop --all`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	fs := c.PersistentFlags()
	fs.StringVar(&f.root, "root", "", "the `FOLDER` that instances register in")
	fs.BoolVar(&f.compat, "compat-root", false, "use ~/.unterm, where Unterm's own clients look")
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line, one an instance")
	c.AddCommand(fleetList(std, &f), fleetStart(std, &f), fleetTag(&f), fleetBroadcast(std, &f), fleetWait(std, &f), fleetRead(std, &f), fleetStop(std, &f))
	for _, sub := range c.Commands() {
		sub.Args = usageArgs(sub.Args)
		run := sub.RunE
		sub.RunE = func(c *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			c.SetContext(ctx)
			return fleetExit(run(c, args))
		}
	}
	return c
}

// fleetExit gives an error its exit code.
func fleetExit(err error) error {
	var missing *fleet.NoInstanceError
	switch {
	case errors.As(err, &missing), errors.Is(err, fleet.ErrNone):
		return codedError{err, exitMissing}
	case errors.Is(err, fleet.ErrTimeout):
		return codedError{err, exitTimeout}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, instance.ErrFolder):
		return codedError{err, exitPermission}
	}
	return err
}

func fleetList(std stdio, f *fleetFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the instances that run",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fl, err := f.open()
			if err != nil {
				return err
			}
			all, err := fl.List()
			if err != nil {
				return err
			}
			return f.instances(std.out, all)
		},
	}
}

// instances prints a table, or a line an instance.
func (f *fleetFlags) instances(w io.Writer, all []instance.Entry) error {
	if f.json {
		return jsonLines(w, all...)
	}
	if len(all) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tPID\tPORT\tSTARTED\tTITLE\tCWD")
	for _, i := range all {
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\n", oneLine(i.ID), i.PID, i.MCPPort, oneLine(i.StartedAt), orDash(i.Title), orDash(i.Cwd))
	}
	return t.Flush()
}

func orDash(s instance.Optional) string {
	if s == "" {
		return "-"
	}
	return oneLine(string(s))
}

// jsonLines prints one value a line.
func jsonLines[T any](w io.Writer, values ...T) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, v := range values {
		if err := e.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

func fleetStart(std stdio, f *fleetFlags) *cobra.Command {
	var folders, tags []string
	c := &cobra.Command{
		Use:   "start [flags] N",
		Short: "Start N instances that go on when this command has ended",
		Long: `Start N instances of ptywright unterm, each a process in the background, and print them. They
answer when this command returns. When one cannot be started, the others are ended again.

--cwd and --tag are given once, for all, or N times. What an instance has to say goes to
logs/NAME.log under the root.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			launches, err := launches(args[0], folders, tags)
			if err != nil {
				return err
			}
			fl, err := f.open()
			if err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program: %w", err)
			}
			started, err := fl.Start(c.Context(), self, launches)
			if err != nil {
				return err
			}
			return f.instances(std.out, started)
		},
	}
	c.Flags().StringArrayVar(&folders, "cwd", nil, "the `FOLDER` that an instance works in (default: this one)")
	c.Flags().StringArrayVar(&tags, "tag", nil, "the `TITLE` that an instance gets")
	return c
}

// launches says what n instances are to be.
func launches(count string, folders, tags []string) ([]fleet.Launch, error) {
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > fleet.MostAtOnce {
		return nil, usageError{fmt.Errorf("%q is no number of instances: give 1 to %d", count, fleet.MostAtOnce)}
	}
	all := make([]fleet.Launch, n)
	for i := range all {
		folder, err := oneOf("cwd", folders, n, i)
		if err != nil {
			return nil, err
		}
		if all[i].CWD, err = filepath.Abs(folder); err != nil {
			return nil, err
		}
		if all[i].Tag, err = oneOf("tag", tags, n, i); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// oneOf returns the flag's value for one of n instances.
func oneOf(flag string, given []string, n, i int) (string, error) {
	switch len(given) {
	case 0:
		return "", nil
	case 1:
		return given[0], nil
	case n:
		return given[i], nil
	}
	return "", usageError{fmt.Errorf("--%s is given %d times for %d instances: give it once or %d times", flag, len(given), n, n)}
}

func fleetTag(f *fleetFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "tag NAME [TITLE]",
		Short: "Give an instance a title, or take it away",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			fl, err := f.open()
			if err != nil {
				return err
			}
			return fl.Tag(c.Context(), args[0], strings.Join(args[1:], ""))
		},
	}
}

func fleetRead(std stdio, f *fleetFlags) *cobra.Command {
	var at chosen
	var lines int
	c := &cobra.Command{
		Use:   "read [flags] NAME",
		Short: "Print the last lines of an instance's session",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if lines < 1 {
				return usageError{fmt.Errorf("--lines is %d: give 1 or more", lines)}
			}
			fl, err := f.open()
			if err != nil {
				return err
			}
			rows, err := fl.Read(c.Context(), args[0], at.session, lines)
			if err != nil {
				return err
			}
			if f.json {
				return jsonLines(std.out, rows)
			}
			return printLines(std.out, rows.Lines)
		},
	}
	c.Flags().IntVar(&lines, "lines", 50, "how many")
	at.addSession(c)
	return c
}

func fleetStop(std stdio, f *fleetFlags) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "stop [flags] [NAME...]",
		Short: "End instances and all that runs in them",
		RunE: func(c *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usageError{errors.New("say which instances to stop: their names, or --all")}
			}
			fl, err := f.open()
			if err != nil {
				return err
			}
			var failed []error
			err = fl.Stop(c.Context(), fleet.Selection{Names: args}, func(s fleet.Stop) {
				if s.Err != nil {
					failed = append(failed, s.Err)
				}
				switch {
				case f.json:
					jsonLines(std.out, s)
				case s.Ended:
					fmt.Fprintf(std.out, "%s has ended\n", oneLine(s.ID))
				}
			})
			if all && errors.Is(err, fleet.ErrNone) {
				return nil
			}
			return errors.Join(err, oneError(failed))
		},
	}
	c.Flags().BoolVar(&all, "all", false, "stop all instances")
	return c
}

// oneError puts errors on one line.
func oneError(all []error) error {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return fmt.Errorf("%w; %w", oneError(all[:len(all)-1]), all[len(all)-1])
}

// printLines prints rows of a screen. A row has no control characters when it comes from one of ours.
func printLines(w io.Writer, lines []string) error {
	var err error
	for _, line := range lines {
		_, werr := fmt.Fprintln(w, quiet(line))
		err = errors.Join(err, werr)
	}
	return err
}
