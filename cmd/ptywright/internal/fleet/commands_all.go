package fleet

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

func fleetBroadcast(std cli.Stdio, f *fleetFlags) *cobra.Command {
	var to chosen
	var wait bool
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "broadcast [flags] -- COMMAND",
		Short: "Run a command in many instances and print the results",
		Long: `Type a command line into a session of every instance, or of those chosen by --to or --tag. Several
words are joined by spaces, as in ssh.

With --wait, all run it at the same time, and the output and exit code of each are printed as soon
as it ends. The exit code is 0 if all of theirs are. On a timeout the command keeps running, and its
output so far is printed.`,
		Example: `  ptywright fleet broadcast -- git pull
  ptywright fleet broadcast --to alpha,bravo --wait --timeout 10m -- 'make && make test'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !wait && c.Flags().Changed("timeout") {
				return cli.Usagef("--timeout is for --wait: without it nothing is waited for")
			}
			limit := time.Duration(0)
			if wait {
				limit = timeout
				if err := cli.CheckTimeout(limit); err != nil {
					return err
				}
			}
			chosen, err := to.selection(c)
			if err != nil {
				return err
			}
			fl, err := f.open()
			if err != nil {
				return err
			}
			var failed []error
			late, bad, n := 0, 0, 0
			err = fl.Broadcast(c.Context(), chosen, to.session, strings.Join(args, " "), limit,
				func(r Run) {
					n++
					switch {
					case r.Err != nil:
						failed = append(failed, r.Err)
					case r.TimedOut:
						late++
					case wait && (r.ExitCode == nil || *r.ExitCode != 0):
						bad++
					}
					if f.json {
						f.told = true
						std.JSON(r)
					} else {
						printRun(std.Out, r)
					}
				})
			switch {
			case err != nil || len(failed) > 0:
				return errors.Join(err, cli.OneError(failed))
			case late > 0:
				return fmt.Errorf("%w: the command has not ended in %d of %d instances after %v",
					ErrTimeout, late, n, limit)
			case bad > 0:
				return cli.ExitCode(cli.ExitError) // what failed is already printed
			}
			return nil
		},
	}
	to.add(c)
	c.Flags().BoolVar(&wait, "wait", false, "wait for the command to end, and print its output")
	c.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "wait at most this long")
	return c
}

func printRun(w io.Writer, r Run) {
	how := ""
	switch {
	case r.Err != nil: // the error is reported at the end
		return
	case r.Sent:
		how = "sent"
	case r.Error != "":
		how = r.Error
	case r.TimedOut:
		how = "still running"
	case r.ExitCode == nil:
		how = "exit code unknown"
	default:
		how = fmt.Sprintf("exit code %d", *r.ExitCode)
	}
	heading(w, r.ID, r.Title, how)
	if r.Output != nil && *r.Output != "" {
		cli.PrintLines(w, remote.LinesOf(*r.Output))
	}
}

// heading prints which instance the following lines are about.
func heading(w io.Writer, name string, title instance.Optional, how string) {
	if title != "" {
		name += " " + string(title)
	}
	fmt.Fprintf(w, "== %s: %s\n", cli.OneLine(name), cli.OneLine(how))
}

func fleetWait(std cli.Stdio, f *fleetFlags) *cobra.Command {
	var to chosen
	var every, one, idle bool
	var until Condition
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "wait [flags]",
		Short: "Wait until instances show a text or are idle",
		Long: `Wait until the screen of a session shows a text (--pattern), or until its shell is at its prompt
(--idle), and print in which instances. By default every instance must match; with --any one is enough.

On a timeout the exit code is 3, and the program and last ten lines of each instance are printed.`,
		Example: `  ptywright fleet wait --any --pattern 'tests passed' --timeout 10m
  ptywright fleet wait --all --tag worker --idle`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case one && every:
				return cli.Usagef("--any and --all exclude each other")
			case idle && until.Pattern != "":
				return cli.Usagef("--pattern and --idle exclude each other")
			case !idle && until.Pattern == "":
				return cli.Usagef("say what to wait for: --pattern TEXT or --idle")
			}
			if err := cli.CheckTimeout(timeout); err != nil {
				return err
			}
			chosen, err := to.selection(c)
			if err != nil {
				return err
			}
			fl, err := f.open()
			if err != nil {
				return err
			}
			return fl.WaitFor(c.Context(), chosen, to.session, until, !one, timeout, func(w Wait) {
				if f.json {
					f.told = true
					std.JSON(w)
				} else {
					printWait(std.Out, w)
				}
			})
		},
	}
	to.add(c)
	c.Flags().BoolVar(&one, "any", false, "wait for the first one")
	c.Flags().BoolVar(&every, "all", false, "wait for all (the default)")
	c.Flags().StringVar(&until.Pattern, "pattern", "", "wait until this `TEXT` is on the screen")
	c.Flags().BoolVar(&idle, "idle", false, "wait until the session's shell is at its prompt")
	c.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "wait at most this long")
	return c
}

func printWait(w io.Writer, r Wait) {
	after := (time.Duration(r.ElapsedMS) * time.Millisecond).String()
	switch {
	case r.Matched:
		heading(w, r.ID, r.Title, "matched after "+after)
	case r.Error != "":
		heading(w, r.ID, r.Title, r.Error)
	default:
		how := "not matched after " + after
		if r.Running != "" {
			how += ", " + r.Running + " is in the foreground"
		}
		heading(w, r.ID, r.Title, how)
		cli.PrintLines(w, lastLines(r.Screen))
	}
}

// evidenceLines is how much of each screen is printed: enough to see what a program is doing, for
// many instances.
const evidenceLines = 10

// lastLines returns the last lines that are not blank.
func lastLines(lines []string) []string {
	written := slices.DeleteFunc(slices.Clone(lines),
		func(line string) bool { return strings.TrimSpace(line) == "" })
	return written[max(0, len(written)-evidenceLines):]
}
