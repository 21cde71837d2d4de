package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/protocol/client"
)

// ownCodes gives errors of a command that returns another program's exit code their own code. Usage
// errors stay [exitUsage]: then no request was sent.
func ownCodes(err error) error {
	var told cli.Error
	switch {
	case !errors.As(err, &told) || told.Code == cli.ExitInterrupted || told.Code == cli.ExitUsage:
	case told.Code == cli.ExitTimeout:
		told.Code = cli.ExitOwnTimeout
		return told
	default:
		told.Code = cli.ExitOwnError
		return told
	}
	return err
}

// statusOf is a session's program's end, as an exit code.
func statusOf(e *client.Exit) error {
	end := pty.Exit{Code: -1} // lost
	if e.Code != nil {
		end.Code = *e.Code
	}
	if e.Signal != nil {
		end.Signal = *e.Signal
	}
	return cli.CodeOf(end)
}

func execCommand(std cli.Stdio, f *remoteFlags) *cobra.Command {
	var timeout time.Duration
	var raw bool
	c := &cobra.Command{
		Use:   "exec [flags] ID -- COMMAND [ARG]...",
		Short: "Run a command in a session's shell and return its output and exit code",
		Long: `Run a command in a session's shell, with its directory and variables, as if it had been typed: print
exactly what it wrote, without escape sequences, and return its exit code. A single word is a shell
command line, with pipes and variables; several words are arguments that reach the program unchanged.

The shell must be at an empty prompt; otherwise nothing is typed, and the error says what the shell is
doing. It works in bash, zsh, fish, dash and others, also inside ssh, docker, sudo or tmux, and best in
a shell started with spawn --shell-integration. To answer questions of the command, use send and wait.

--timeout and Ctrl-C end the wait, not the command: it continues in the session, where
send --key ctrl+c interrupts it. Of output over 256 KiB only the end is printed, with a note on
standard error.

The exit code is the command's. If there is none it is 124 after a timeout, 130 after an interrupt,
2 for a usage error and 125 for any other; standard error says which. With --json, print the answer of
session.run.`,
		Example: `  id=$(ptywright spawn --shell-integration -- bash)
  ptywright exec $id -- 'cd src && go build ./...'
  ptywright exec $id -- grep -n 'two words' notes.txt || echo "grep says $?"
  ptywright exec $id --timeout 10m -- make test`,
		Args:              cobra.MinimumNArgs(2),
		Annotations:       map[string]string{cli.StatusNote: "the command's own"},
		ValidArgsFunction: sessionIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if at := c.ArgsLenAtDash(); at > 1 {
				return cli.Usagef("%s stands between ID and --: %s", args[1], c.UseLine())
			}
			limit := cli.MostWait
			if c.Flags().Changed("timeout") {
				if err := cli.CheckTimeout(timeout); err != nil {
					return err
				}
				limit = timeout
			}
			line := remote.CommandLine(args[1:])
			if strings.TrimSpace(line) == "" {
				return cli.Usagef("COMMAND is empty: say what to run")
			}
			return ownCodes(f.exit(c.Context(), f.exec(c.Context(), std, args[0], line, limit, raw)))
		},
	}
	fs := c.Flags()
	fs.DurationVar(&timeout, "timeout", 0, "wait at most this `TIME`, such as 90s or 10m, for the command to end (default: a day)")
	fs.BoolVar(&raw, "raw", false, "leave the escape sequences in the output")
	f.bareFlag(c)
	return c
}

// exec runs a command line in a session and reports the result.
func (f *remoteFlags) exec(ctx context.Context, std cli.Stdio, id, line string, limit time.Duration, raw bool) error {
	s, err := f.connect(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := s.Run(ctx, id, line, limit, raw, f.show())
	switch {
	case f.json && r.Raw != nil:
		if werr := std.JSON(r.Raw); werr != nil {
			return werr
		}
		f.told = true
	default:
		if werr := printOutput(std, r.Output); werr != nil {
			return werr
		}
	}
	switch {
	case err != nil:
		if _, reason := remote.Exit(err); r.Raw != nil && (ctx.Err() != nil || reason == "timeout") {
			fmt.Fprintf(std.Err, "ptywright: the command goes on in %[1]s; ptywright send %[1]s --key ctrl+c interrupts it\n", cli.OneLine(id))
		}
		return err
	case r.Truncated && !f.json:
		fmt.Fprintln(std.Err, "ptywright: this is the end of the output: its beginning is not kept")
	}
	switch {
	case r.Exit != nil:
		if !f.json {
			fmt.Fprintf(std.Err, "ptywright: the command has ended the shell of %s\n", cli.OneLine(id))
		}
		return statusOf(r.Exit)
	case r.ExitCode == nil:
		return fmt.Errorf("the command in %s has ended, and the shell did not tell its exit code: it was interrupted, or has made way for another program", id)
	case *r.ExitCode != 0:
		return cli.ExitCode(*r.ExitCode)
	}
	return nil
}

// printOutput prints a command's output: unchanged, or, on a terminal, so that it cannot affect the
// terminal.
func printOutput(std cli.Stdio, output string) error {
	if term.IsTerminal(int(std.Out.Fd())) && output != "" {
		return cli.PrintLines(std.Out, linesOf(output))
	}
	_, err := io.WriteString(std.Out, output)
	return err
}
