package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/progress"
	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

// fleetFlags are the flags of every fleet command.
type fleetFlags struct {
	root   string
	compat bool
	json   bool
	told   bool // each instance's result is on standard output, as JSON
}

func (f *fleetFlags) open() (Fleet, error) {
	switch {
	case f.root != "" && f.compat:
		return Fleet{}, cli.Usagef("--root and --compat-root exclude each other")
	case f.root != "":
		root, err := filepath.Abs(f.root)
		return Fleet{Root: root}, err
	}
	root, err := instance.DefaultRoot(f.compat)
	return Fleet{Root: root}, err
}

// none reports that there is nothing to do, if the root exists: a misspelt one is an error.
func (f *fleetFlags) none(std cli.Stdio, err error) error {
	if _, missing := os.Stat(f.root); f.root != "" && missing != nil {
		return fmt.Errorf("look for instances under --root: %w", missing)
	}
	cli.Complain(std.Err, err)
	return nil
}

// chosen are the flags that select instances.
type chosen struct {
	names   []string
	tag     string
	session int
}

func (s *chosen) add(c *cobra.Command) {
	c.Flags().StringSliceVar(&s.names, "to", nil,
		"only the instances with these comma-separated `NAMES`")
	c.Flags().StringVar(&s.tag, "tag", "",
		"only the instances with this title, or with it in brackets")
	s.addSession(c)
}

// selection is the flags' selection. An empty value, as of a variable that is not set, does not
// select all instances.
func (s *chosen) selection(c *cobra.Command) (Selection, error) {
	chosen := Selection{Tag: s.tag}
	for _, name := range s.names {
		if name = strings.TrimSpace(name); name != "" {
			chosen.Names = append(chosen.Names, name)
		}
	}
	switch {
	case c.Flags().Changed("to") && len(chosen.Names) == 0:
		return chosen, cli.Usagef("--to names no instance: leave it out for all of them")
	case c.Flags().Changed("tag") && s.tag == "":
		return chosen, cli.Usagef("--tag is empty: leave it out for all instances")
	}
	return chosen, nil
}

func (s *chosen) addSession(c *cobra.Command) {
	c.Flags().IntVar(&s.session, "session", 0,
		"session number; 0 is the shell an instance starts with")
}

// Command is fleet with the commands below it.
func Command(std cli.Stdio) *cobra.Command {
	var f fleetFlags
	c := &cobra.Command{
		Use:   "fleet",
		Short: "Start, watch, command and stop many instances",
		Long: `Drive instances of ptywright unterm: start them, tell them apart by name and tag, run commands in
them, wait for one or all, read their screens, and stop them.

Instances register under a root: --root, else $PTYWRIGHT_HOME, else ~/.ptywright.`,
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
	c.AddCommand(fleetList(std, &f), fleetSessions(std, &f), fleetStart(std, &f),
		fleetOpen(std, &f), fleetTag(std, &f), fleetBroadcast(std, &f), fleetWait(std, &f),
		fleetRead(std, &f), fleetStop(std, &f))
	for _, sub := range c.Commands() {
		cli.Note(sub, cli.ExitsNote, exits[sub.Name()])
		run := sub.RunE
		sub.RunE = func(c *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			c.SetContext(ctx)
			return f.exit(ctx, run(c, args))
		}
	}
	return c
}

// exits are the exit codes, one digit each, that a command may have besides 0 to 2.
var exits = map[string]string{"list": "5", "start": "5", "sessions": "45", "open": "45", "tag": "45",
	"broadcast": "345", "wait": "345", "read": "45", "stop": "45"}

// exit gives an error its exit code.
func (f *fleetFlags) exit(ctx context.Context, err error) error {
	var missing *NoInstanceError
	code, reason := cli.ExitError, ""
	switch {
	case err == nil, cli.HasCode(err):
		return err
	case ctx.Err() != nil:
		code, reason = cli.ExitInterrupted, "interrupted"
	case errors.As(err, &missing), errors.Is(err, ErrNone):
		code, reason = cli.ExitMissing, "no_instance"
	case errors.Is(err, ErrTimeout):
		code, reason = cli.ExitTimeout, "timeout"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, instance.ErrFolder):
		code, reason = cli.ExitPermission, "permission_denied"
	}
	return cli.Error{Err: err, Code: code, Reason: reason, Told: f.told}
}

func fleetList(std cli.Stdio, f *fleetFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List running instances",
		Long: `List the running instances, with the number of their sessions and the program in session 0. These
are left out for an instance that does not answer within two seconds.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			fl, err := f.open()
			if err != nil {
				return err
			}
			all, err := fl.List(c.Context(), Selection{})
			if errors.Is(err, ErrNone) {
				return f.none(std, err)
			}
			if err != nil {
				return err
			}
			return f.instances(std.Out, all)
		},
	}
}

// instances prints a table, or one line per instance.
func (f *fleetFlags) instances(w io.Writer, all []Status) error {
	if f.json {
		return cli.JSONLines(w, all...)
	}
	slices.SortStableFunc(all, func(a, b Status) int { return strings.Compare(a.ID, b.ID) })
	t := cli.Table{Columns: []cli.Column{
		{Title: "NAME"},
		{Title: "PID", Drop: 4},
		{Title: "PORT", Drop: 5},
		{Title: "STARTED", Drop: 2},
		{Title: "SESSIONS", Drop: 3},
		{Title: "SESSION 0", Least: 9},
		{Title: "TITLE", Least: 8, Spare: true},
		{Title: "CWD", Least: 12, Path: true, Drop: 1},
	}}
	for _, i := range all {
		count, first := sessionsOf(i)
		t.Row(cli.Cell{Text: i.ID, SGR: cli.Bold}, i.PID, i.MCPPort, started(i.StartedAt), count, first,
			string(i.Title), string(i.Cwd))
	}
	return t.Print(w)
}

// started is how long ago an instance was started, or its own words where they are no time.
func started(at string) string {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return at
	}
	return cli.Ago(time.Since(t))
}

// sessionsOf describes how many sessions an instance has, and the first one.
func sessionsOf(i Status) (count, first string) {
	if i.Err != nil {
		return "?", "no answer"
	}
	live, dead := 0, 0
	first = "has ended"
	for _, s := range i.Sessions {
		if s.Dead {
			dead++
			continue
		}
		live++
		if s.Number == 0 {
			first = runs(s)
		}
	}
	count = strconv.Itoa(live)
	if dead > 0 {
		count += fmt.Sprintf(" and %d dead", dead)
	}
	return count, first
}

// runs describes what has the terminal of a session.
func runs(s Session) string {
	switch {
	case s.Dead:
		return "has ended"
	case s.Running == "":
		return "runs"
	}
	return filepath.Base(s.Running)
}

func fleetStart(std cli.Stdio, f *fleetFlags) *cobra.Command {
	var folders, tags []string
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "start [flags] N",
		Short: "Start N instances in the background",
		Long: `Start N instances of ptywright unterm, each a background process, and print them. They are ready
when this command returns. If one cannot be started, or is not ready within --timeout, the others
are stopped again, and the error shows its last output.

Give --cwd and --tag once for all instances, or N times. The output of an instance goes to
logs/NAME.log under the root.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			launches, err := launches(args[0], folders, tags)
			if err == nil {
				err = cli.CheckTimeout(timeout)
			}
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
			bar := progress.New(std.Err, len(launches), "start instances")
			defer bar.Done()
			started, err := fl.Start(c.Context(), self, launches, timeout, func() { bar.Add(1) })
			bar.Done()
			if err != nil {
				return err
			}
			return f.instances(std.Out, started)
		},
	}
	c.Flags().StringArrayVar(&folders, "cwd", nil,
		"working `DIRECTORY` of an instance (default: this one)")
	c.Flags().StringArrayVar(&tags, "tag", nil, "`TITLE` of an instance")
	c.Flags().DurationVar(&timeout, "timeout", StartBound, "how long they may take to start")
	return c
}

// launches specifies n instances.
func launches(count string, folders, tags []string) ([]Launch, error) {
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > MostAtOnce {
		return nil, cli.Usagef("%q is not a number of instances: give 1 to %d", count, MostAtOnce)
	}
	all := make([]Launch, n)
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
	return "", cli.Usagef("--%s is given %d times for %d instances: give it once or %d times", flag,
		len(given), n, n)
}

func fleetRead(std cli.Stdio, f *fleetFlags) *cobra.Command {
	var at chosen
	var lines int
	c := &cobra.Command{
		Use:   "read [flags] NAME",
		Short: "Print the last lines of a session",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if lines < 1 {
				return cli.Usagef("--lines is %d: give 1 or more", lines)
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
				return std.JSON(rows)
			}
			return cli.PrintLines(std.Out, rows.Lines)
		},
	}
	c.Flags().IntVar(&lines, "lines", 50, "number of lines")
	at.addSession(c)
	return c
}
