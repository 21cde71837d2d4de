package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

func readCommand(std cli.Stdio, f *Flags) *cobra.Command {
	r := Reading{}
	var since uint64
	var all, output, ansi, blocks bool
	c := &cobra.Command{
		Use:   "read [flags] ID",
		Short: "Print a session's screen, scrollback, output or commands",
		Long: `Print a session's screen as text, or:

  --lines N      the last N lines of scrollback and screen
  --scrollback   all lines kept, and the screen
  --output       the raw output; a terminal shows its escape sequences as text
  --ansi         the screen with its styles, for a terminal
  --blocks       the commands of a shell with marks, their output and exit codes

With --at the screen is printed as it was at a sequence, which ptywright when prints, so long ago, or
at a time; what is secret by now is hidden in it.

With --json, print the answer of the wire: session.snapshot, session.transcript, session.screenshot,
one line a command of session.blocks; lines are {session, lines, dropped}.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: SessionIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			lines := c.Flags().Changed("lines")
			if count(lines, all, output, ansi, blocks) > 1 {
				return cli.Usagef("--lines, --scrollback, --output, --ansi and --blocks exclude each other")
			}
			r.What = Screen
			switch {
			case lines:
				r.What = Lines
				if err := cli.CheckBound("lines", r.Lines, 100_000); err != nil {
					return err
				}
			case all:
				r.What = Scrollback
			case output:
				r.What = Output
			case ansi:
				r.What = ANSI
			case blocks:
				r.What = Blocks
			}
			if c.Flags().Changed("since") {
				if !output && !blocks {
					return cli.Usagef("--since is for --output and --blocks: a screen has no part that is older")
				}
				r.Since = &since
			}
			if r.At.Given() && r.What != Screen && r.What != ANSI {
				return cli.Usagef("--at is for the screen: only that is shown as it was")
			}
			r.Show = f.Show()
			return f.with(c, func(s *Server) error {
				read, err := s.Read(c.Context(), args[0], r)
				if err != nil {
					return err
				}
				if blocks && read.Marks == "none" {
					return cli.Error{Err: fmt.Errorf("%s has marked no commands: its program does not mark them, or has not come to its first prompt; spawn --shell-integration starts bash, zsh or fish so that they do", args[0]), Code: cli.ExitError, Reason: "no_shell_integration"}
				}
				if f.JSON {
					return cli.JSONLines(std.Out, read.Raw...)
				}
				return printRead(std, r.What, read)
			})
		},
	}
	fs := c.Flags()
	fs.IntVar(&r.Lines, "lines", 0, "the last `N` lines")
	fs.BoolVar(&all, "scrollback", false, "all lines that are kept")
	fs.BoolVar(&output, "output", false, "the output as it came")
	fs.BoolVar(&ansi, "ansi", false, "the screen with its styles")
	fs.BoolVar(&blocks, "blocks", false, "the commands of a shell that marks them")
	fs.Uint64Var(&since, "since", 0,
		"--output: only after `SEQUENCE`. --blocks: only commands numbered above it")
	fs.Var(&r.At, "at", "the screen as it was: at a sequence (42), so long ago (-5s), or at a time")
	f.bareFlag(c)
	return c
}

func printRead(std cli.Stdio, what string, read Read) error {
	switch what {
	case Output:
		text := read.Text
		if term.IsTerminal(int(std.Out.Fd())) {
			return cli.PrintLines(std.Out,
				strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"),
					"\n"), "\n"))
		}
		_, err := io.WriteString(std.Out, text)
		return err
	case ANSI: // we drew it: its sequences are SGR and OSC 8
		_, err := io.WriteString(std.Out, strings.TrimRight(read.Text, "\n")+"\n")
		return err
	case Blocks:
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
				if err := cli.PrintLines(std.Out, LinesOf(b.Output)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return cli.PrintLines(std.Out, read.Lines)
}

// LinesOf is a command's output as lines for a person: a progress bar in its last state.
func LinesOf(output string) []string {
	var p Plain
	text := p.Write(output)
	return strings.Split(strings.TrimSuffix(text+p.Rest(), "\n"), "\n")
}

// What can be read from a session.
const (
	Screen     = "screen"
	Lines      = "lines"
	Scrollback = "scrollback"
	Output     = "output"
	ANSI       = "ansi"
	Blocks     = "blocks"
)

// linesBound is how many lines one request asks for: the server's bound.
const linesBound = 100_000

// A Reading says what to read.
type Reading struct {
	What  string
	Lines int     // of Lines: how many of the last
	Since *uint64 // of Output: only what followed this sequence; of Blocks: commands with higher numbers
	At    Moment  // of Screen and ANSI: as it was then
	Show  Show
}

// A Read is the result of a reading.
type Read struct {
	Raw    []json.RawMessage // the wire's objects: one, or for Blocks one per command
	Lines  []string          // rows of a screen, or lines
	Text   string            // of Output, with escape sequences as they came; of ANSI, drawn
	Blocks []Block
	Marks  string // of Blocks, how the shell marks its commands: osc133, osc633, or none
}

// A Block is a command in a shell that marks its commands.
type Block struct {
	Number   int        `json:"number"`
	Command  string     `json:"command"`
	Output   string     `json:"output"`
	Ended    *time.Time `json:"ended"`
	ExitCode *int       `json:"exit_code"`
}

// Read reads a session. Errors are those of the methods that it calls.
func (s *Server) Read(ctx context.Context, id string, r Reading) (Read, error) {
	switch r.What {
	case Lines, Scrollback:
		return s.lines(ctx, id, r)
	case Blocks:
		return s.blocks(ctx, id, r)
	}
	method, more := "session.snapshot", map[string]any{"cells": "none"}
	switch r.What {
	case Output:
		method, more = "session.transcript", map[string]any{}
		if r.Since != nil {
			more["since"] = *r.Since
		}
	case ANSI:
		method, more = "session.screenshot", map[string]any{"format": "ansi"}
	}
	if r.At.Given() {
		more["at"] = &r.At
	}
	var raw json.RawMessage
	if err := s.Call(ctx, method, params(id, more, r.Show), &raw); err != nil {
		return Read{}, err
	}
	var v struct {
		Lines []string `json:"lines"`
		Text  string   `json:"text"`
		Data  string   `json:"data"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return Read{}, err
	}
	return Read{Raw: []json.RawMessage{raw}, Lines: Trim(v.Lines), Text: v.Text + v.Data}, nil
}

// Trim removes the blank rows at the end.
func Trim(rows []string) []string {
	n := len(rows)
	for n > 0 && strings.TrimSpace(rows[n-1]) == "" {
		n--
	}
	return rows[:n]
}

// lines reads the last lines, or all that are kept, with those of the screen at the end. Between
// two requests lines may be dropped; then it continues with the oldest that is kept.
func (s *Server) lines(ctx context.Context, id string, r Reading) (Read, error) {
	var all struct {
		Session string   `json:"session"`
		Lines   []string `json:"lines"`
		Dropped uint64   `json:"dropped"`
	}
	all.Session, all.Lines = id, []string{}
	var part struct {
		Lines   []string `json:"lines"`
		Start   int      `json:"start"`
		Total   int      `json:"total"`
		Dropped uint64   `json:"dropped"`
	}
	more := map[string]any{"count": linesBound, "start": 0}
	if r.What == Lines {
		// The screen's blank rows are lines, too: they are removed before counting.
		var size struct {
			Size struct {
				Rows int `json:"rows"`
			} `json:"size"`
		}
		if err := s.Call(ctx, "session.snapshot", map[string]any{"session": id, "cells": "none"},
			&size); err != nil {
			return Read{}, err
		}
		more = map[string]any{"count": min(r.Lines+size.Size.Rows, linesBound)}
	}
	for {
		if err := s.Call(ctx, "session.scrollback", params(id, more, r.Show), &part); err != nil {
			return Read{}, err
		}
		all.Lines = append(all.Lines, part.Lines...)
		all.Dropped = part.Dropped
		next := part.Start + len(part.Lines)
		if r.What == Lines || len(part.Lines) == 0 || next >= part.Total {
			break
		}
		more["start"] = next
	}
	all.Lines = Trim(all.Lines)
	if n := len(all.Lines); r.What == Lines && n > r.Lines {
		all.Lines = all.Lines[n-r.Lines:]
	}
	raw, err := json.Marshal(all)
	return Read{Raw: []json.RawMessage{raw}, Lines: all.Lines}, err
}

// blocks reads the commands of a shell that marks them.
func (s *Server) blocks(ctx context.Context, id string, r Reading) (Read, error) {
	var result struct {
		Blocks      []json.RawMessage `json:"blocks"`
		Integration string            `json:"integration"`
	}
	more := map[string]any{"max": 1000} // as many as are kept
	if r.Since != nil {
		more["since"] = *r.Since
	}
	if err := s.Call(ctx, "session.blocks", params(id, more, r.Show), &result); err != nil {
		return Read{}, err
	}
	read := Read{Raw: result.Blocks, Blocks: make([]Block, len(result.Blocks)),
		Marks: result.Integration}
	for i, raw := range result.Blocks {
		if err := json.Unmarshal(raw, &read.Blocks[i]); err != nil {
			return Read{}, err
		}
	}
	return read, nil
}
