package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
)

func readCommand(std cli.Stdio, f *remoteFlags) *cobra.Command {
	r := remote.Reading{}
	var since uint64
	var all, output, ansi, blocks bool
	c := &cobra.Command{
		Use:   "read [flags] ID",
		Short: "Print a session's screen, scrollback, output or commands",
		Long: `Print a session's screen as text, or:

  --lines N      the last N lines of scrollback and screen
  --scrollback   all lines kept, and the screen
  --output       the raw output with its escape sequences, made visible on a terminal
  --ansi         the screen with its styles, for a terminal
  --blocks       the commands of a shell with marks, each with its output and exit code

With --json, print the answer of the wire: session.snapshot, session.transcript, session.screenshot,
one line a command of session.blocks; lines are {session, lines, dropped}.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: sessionIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			lines := c.Flags().Changed("lines")
			if count(lines, all, output, ansi, blocks) > 1 {
				return cli.Usagef("--lines, --scrollback, --output, --ansi and --blocks exclude each other")
			}
			r.What = remote.Screen
			switch {
			case lines:
				r.What = remote.Lines
				if err := cli.CheckBound("lines", r.Lines, 100_000); err != nil {
					return err
				}
			case all:
				r.What = remote.Scrollback
			case output:
				r.What = remote.Output
			case ansi:
				r.What = remote.ANSI
			case blocks:
				r.What = remote.Blocks
			}
			if c.Flags().Changed("since") {
				if !output && !blocks {
					return cli.Usagef("--since is for --output and --blocks: a screen has no part that is older")
				}
				r.Since = &since
			}
			r.Show = f.show()
			s, err := f.connect(c.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			read, err := s.Read(c.Context(), args[0], r)
			if err != nil {
				return err
			}
			if blocks && read.Marks == "none" {
				return cli.Error{Err: fmt.Errorf("%s has marked no commands: its program does not mark them, or has not come to its first prompt; spawn --shell-integration starts bash, zsh or fish so that they do", args[0]), Code: cli.ExitError, Reason: "no_shell_integration"}
			}
			if f.json {
				return cli.JSONLines(std.Out, read.Raw...)
			}
			return printRead(std, r.What, read)
		},
	}
	fs := c.Flags()
	fs.IntVar(&r.Lines, "lines", 0, "the last `N` lines")
	fs.BoolVar(&all, "scrollback", false, "all lines that are kept")
	fs.BoolVar(&output, "output", false, "the output as it came")
	fs.BoolVar(&ansi, "ansi", false, "the screen with its styles")
	fs.BoolVar(&blocks, "blocks", false, "the commands of a shell that marks them")
	fs.Uint64Var(&since, "since", 0, "with --output only output after this `SEQUENCE`, with --blocks only commands of higher numbers")
	f.bareFlag(c)
	return c
}

func printRead(std cli.Stdio, what string, read remote.Read) error {
	switch what {
	case remote.Output:
		text := read.Text
		if term.IsTerminal(int(std.Out.Fd())) {
			return cli.PrintLines(std.Out, strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n"))
		}
		_, err := io.WriteString(std.Out, text)
		return err
	case remote.ANSI: // we drew it: its sequences are SGR and OSC 8
		_, err := io.WriteString(std.Out, strings.TrimRight(read.Text, "\n")+"\n")
		return err
	case remote.Blocks:
		for _, b := range read.Blocks {
			how := "running"
			switch {
			case b.ExitCode != nil:
				how = fmt.Sprintf("exit %d", *b.ExitCode)
			case b.Ended != nil:
				how = "exit code unknown"
			}
			fmt.Fprintf(std.Out, "== %d %s: %s\n", b.Number, how, cli.OneLine(b.Command))
			if b.Output != "" {
				if err := cli.PrintLines(std.Out, linesOf(b.Output)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return cli.PrintLines(std.Out, read.Lines)
}

// linesOf is a command's output as lines for a person: a progress bar in its last state.
func linesOf(output string) []string {
	var p remote.Plain
	text := p.Write(output)
	return strings.Split(strings.TrimSuffix(text+p.Rest(), "\n"), "\n")
}
