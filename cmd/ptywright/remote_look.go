package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/unknown"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol/client"
)

// millis is a flag that is a time: milliseconds, or a number with a unit.
type millis time.Duration

func (m *millis) String() string { return time.Duration(*m).String() }
func (m *millis) Type() string   { return "MS" }
func (m *millis) Set(s string) error {
	d, err := time.ParseDuration(s)
	if n, nerr := strconv.ParseUint(s, 10, 31); nerr == nil {
		d, err = time.Duration(n)*time.Millisecond, nil
	}
	if err != nil || d < 0 || d > 24*time.Hour {
		return errors.New("give milliseconds, such as 500, or a time up to a day, such as 2s")
	}
	*m = millis(d)
	return nil
}

// conditionFlags are what wait can be told to wait for.
type conditionFlags struct {
	texts, regexes, matchers []string
	stable                   millis
	exit, finished, all      bool
	outputs, outputRegexes   []string
}

func (f *conditionFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.StringArrayVar(&f.texts, "text", nil, "until the screen, or a line that scrolls off it meanwhile, contains this `TEXT`")
	fs.StringArrayVar(&f.regexes, "regex", nil, "until this RE2 `EXPRESSION` is found there; (?m) makes ^ and $ those of lines")
	fs.StringArrayVar(&f.outputs, "output", nil, "until the program has written this `TEXT`, whatever became of it on the screen")
	fs.StringArrayVar(&f.outputRegexes, "output-regex", nil, "until this RE2 `EXPRESSION` is found in what the program has written, escape sequences and all")
	fs.Var(&f.stable, "stable", "until the screen has not changed for `MS` milliseconds (or 2s, ...)")
	fs.Lookup("stable").DefValue = "" // without it nothing has to be stable
	fs.BoolVar(&f.exit, "exit", false, "until the program has ended")
	fs.BoolVar(&f.finished, "finished", false, "until a command of a shell with --shell-integration has ended")
	fs.StringArrayVar(&f.matchers, "matcher", nil, "until this matcher of docs/wire.md, in `JSON`, holds")
	fs.BoolVar(&f.all, "all", false, "until all of what is given holds, not one")
}

// matcher makes the wire's matcher of the flags.
func (f *conditionFlags) matcher(c *cobra.Command) (any, error) {
	var parts []any
	for _, t := range f.texts {
		if t == "" {
			return nil, usageError{errors.New("--text is empty, which every screen contains")}
		}
		parts = append(parts, client.Contains(t))
	}
	for _, r := range f.regexes {
		if r == "" {
			return nil, usageError{errors.New("--regex is empty, which every screen matches")}
		}
		parts = append(parts, client.Screen(r))
	}
	for _, t := range f.outputs {
		if t == "" {
			return nil, usageError{errors.New("--output is empty, which every output contains")}
		}
		parts = append(parts, client.Matcher{Type: "transcript_contains", Value: t})
	}
	for _, r := range f.outputRegexes {
		if r == "" {
			return nil, usageError{errors.New("--output-regex is empty, which every output matches")}
		}
		parts = append(parts, client.Transcript(r))
	}
	if c.Flags().Changed("stable") {
		parts = append(parts, client.Stable(time.Duration(f.stable)))
	}
	if f.exit {
		parts = append(parts, client.Exited())
	}
	if f.finished {
		parts = append(parts, client.Matcher{Type: "command_finished"})
	}
	for _, m := range f.matchers {
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(m), &object); err != nil {
			return nil, usageError{fmt.Errorf(`--matcher is no JSON object, such as {"type":"bell"}: %w`, err)}
		}
		parts = append(parts, json.RawMessage(m))
	}
	switch {
	case len(parts) == 0:
		return nil, usageError{errors.New("say what to wait for: --text, --regex, --output, --output-regex, --stable, --exit, --finished or --matcher")}
	case len(parts) == 1:
		return parts[0], nil
	case f.all:
		return client.Matcher{Type: "all", Value: parts}, nil
	}
	return client.Matcher{Type: "any", Value: parts}, nil
}

// warn tells of members that the server ignores.
func (f *conditionFlags) warn(w io.Writer) {
	for _, text := range f.matchers {
		var tree any
		if json.Unmarshal([]byte(text), &tree) == nil {
			for _, m := range unknown.Matcher(tree) {
				complain(w, fmt.Errorf("warning: --matcher: %s", m))
			}
		}
	}
}

func waitCommand(std stdio, f *remoteFlags) *cobra.Command {
	var until conditionFlags
	var since string
	var next bool
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "wait [flags] ID",
		Short: "Wait until a session shows something, is still, or has ended",
		Long: `Wait until one of the conditions holds, or with --all all of them, and print what matched: what an
expression captured, a text, or how the program or its command has ended.

Text counts where a person who watched would have seen it: on the screen, and in lines that scrolled off it
while the wait lasted or, with --since, were written after that. --output looks at all that the program
writes, line endings and escape sequences included.

One wait goes on from another: --next prints the position just behind the match, for the next --since, so
that of two lines which came at once neither is missed.

When the wait times out, or the program has ended and nothing can match any more, standard output has
what each condition lacked, and the last screen.

Rows are cut behind their last character: what is looked for ends in no blank, as a prompt would.`,
		Example: `  ptywright wait s1 --regex '(?m)[$#]$'
  ptywright wait s1 --since $seq --regex '(?m)^(\d+) passed' --timeout 5m
  ptywright wait s1 --all --stable 300 --regex '\S'
  one=$(ptywright wait s1 --text one --next) && ptywright wait s1 --since $one --text two`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: sessionIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			m, err := until.matcher(c)
			if err != nil {
				return err
			}
			if _, err := engine.ParsePosition(since); since != "" && err != nil {
				return usageError{fmt.Errorf("--since is %q: give a whole number, such as 42, or a position of --next", since)}
			}
			if timeout < 0 || timeout > 24*time.Hour {
				return usageError{fmt.Errorf("--timeout is %v: give 0 (one look) to 24h", timeout)}
			}
			ctx, cancel := remote.Patience(c.Context(), timeout)
			defer cancel()
			s, err := f.connect(ctx)
			if err != nil {
				return err
			}
			defer s.Close()
			until.warn(std.err)
			cond := remote.Condition{Matcher: m, Since: client.Position(since), Timeout: timeout, Show: f.show()}
			w, err := s.Wait(ctx, args[0], cond)
			switch {
			case f.json && w.Raw != nil:
				jsonLines(std.out, w.Raw)
			case w.Evidence != nil:
				printEvidence(std.out, w.Evidence)
			case err == nil && next:
				_, err = fmt.Fprintln(std.out, w.Matched.Next)
			case err == nil:
				_, err = fmt.Fprintln(std.out, quiet(w.What()))
			}
			f.told = w.Raw != nil
			return err
		},
	}
	until.add(c)
	c.Flags().StringVar(&since, "since", "", "only what came after this `POSITION` counts: a sequence, as send prints it, or one of --next")
	c.Flags().BoolVar(&next, "next", false, "print the position just behind the match instead of what matched")
	c.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "wait at most this `TIME`, such as 500ms or 2m; 0 looks once")
	f.bareFlag(c)
	return c
}

// printEvidence tells why a wait has not matched.
func printEvidence(w io.Writer, e *client.Evidence) {
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	fmt.Fprintf(w, "no match after %v; the screen has been quiet for %v\n", ms(e.ElapsedMS), ms(e.QuietMS))
	for _, l := range remote.Lacks(e) {
		fmt.Fprintf(w, "- %s\n", oneLine(l))
	}
	how := remote.Ended(e.Snapshot.Exit)
	if e.Snapshot.Title != nil {
		how += ", titled " + *e.Snapshot.Title
	}
	fmt.Fprintf(w, "the last screen, at sequence %d (%s):\n", e.Sequence, oneLine(how))
	printLines(w, remote.Trim(e.Snapshot.Lines))
}

func readCommand(std stdio, f *remoteFlags) *cobra.Command {
	r := remote.Reading{}
	var since uint64
	var all, output, ansi, blocks bool
	c := &cobra.Command{
		Use:   "read [flags] ID",
		Short: "Print a session's screen, its lines, output or commands",
		Long: `Print a session's screen as text. Or:

  --lines N      the last N lines, of those that have left the screen and of the screen
  --scrollback   all lines that are kept, and the screen's
  --output       the output as it came, with its escape sequences; on a terminal these are made visible
  --ansi         the screen with its styles, to be shown in a terminal
  --blocks       the commands of a shell that marks them, each with output as lines and exit code

With --json the answer is that of the wire: session.snapshot, session.transcript, session.screenshot,
a line a command of session.blocks; lines as {session, lines, dropped}.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: sessionIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			lines := c.Flags().Changed("lines")
			if count(lines, all, output, ansi, blocks) > 1 {
				return usageError{errors.New("--lines, --scrollback, --output, --ansi and --blocks exclude each other")}
			}
			r.What = remote.Screen
			switch {
			case lines:
				r.What = remote.Lines
				if err := checkBounds([]bound{{"lines", r.Lines, 100_000}}); err != nil {
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
					return usageError{errors.New("--since is for --output and --blocks: a screen has no part that is older")}
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
			if f.json {
				return jsonLines(std.out, read.Raw...)
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
	fs.Uint64Var(&since, "since", 0, "with --output only what came after this `SEQUENCE`, with --blocks only commands of higher numbers")
	f.bareFlag(c)
	return c
}

func printRead(std stdio, what string, read remote.Read) error {
	switch what {
	case remote.Output:
		text := read.Text
		if term.IsTerminal(int(std.out.Fd())) {
			return printLines(std.out, strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n"))
		}
		_, err := io.WriteString(std.out, text)
		return err
	case remote.ANSI: // drawn by us: its sequences are SGR and OSC 8
		_, err := io.WriteString(std.out, strings.TrimRight(read.Text, "\n")+"\n")
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
			fmt.Fprintf(std.out, "== %d %s: %s\n", b.Number, how, oneLine(b.Command))
			if b.Output != "" {
				if err := printLines(std.out, linesOf(b.Output)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return printLines(std.out, read.Lines)
}

// linesOf is what a command wrote as lines for a person: a progress bar as it was left.
func linesOf(output string) []string {
	var p remote.Plain
	text := p.Write(output)
	return strings.Split(strings.TrimSuffix(text+p.Rest(), "\n"), "\n")
}

func logsCommand(std stdio, f *remoteFlags) *cobra.Command {
	var follow bool
	var since uint64
	c := &cobra.Command{
		Use:   "logs [flags] ID",
		Short: "Print a session's output as lines of text, and follow it",
		Long: `Print what is kept of a session's output as lines of text, without escape sequences; with --follow go on until the
program has ended, or you leave it by Ctrl-C, which is exit code 0 here. It suits programs that print
lines; one that draws a screen is for read and attach.
With --json each line is {session, sequence, output}, output as it came, and the last one tells the exit.

It is the session's log. That of a server goes where ptywright doctor says.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: sessionIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := f.connect(c.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			var plain remote.Plain
			show := func(d remote.Delta) error {
				if f.json {
					return jsonLines(std.out, d)
				}
				if d.Dropped {
					fmt.Fprintln(std.out, "[earlier output is not kept]")
				}
				text := plain.Write(d.Output)
				if d.Ended {
					text += endLine(plain.Rest())
				}
				_, err := io.WriteString(std.out, text)
				return err
			}
			if follow {
				// Whoever has the turn may write. An interrupt does not wait for one who does: what reads us may be stuck.
				turn := make(chan struct{}, 1)
				err := s.Follow(c.Context(), args[0], since, f.show(), func(d remote.Delta) error {
					select {
					case turn <- struct{}{}:
						defer func() { <-turn }()
						return show(d)
					default:
						return c.Context().Err() // it has been left
					}
				})
				select {
				case turn <- struct{}{}: // for good
					if err != nil && !f.json {
						io.WriteString(std.out, endLine(plain.Rest()))
					}
				default:
				}
				if c.Context().Err() != nil {
					return nil // Ctrl-C is how one leaves it
				}
				return err
			}
			var r struct {
				Text     string `json:"text"`
				Sequence uint64 `json:"sequence"`
				Dropped  bool   `json:"dropped"`
			}
			read, err := s.Read(c.Context(), args[0], remote.Reading{What: remote.Output, Since: &since, Show: f.show()})
			if err != nil {
				return err
			}
			if err := json.Unmarshal(read.Raw[0], &r); err != nil {
				return err
			}
			return show(remote.Delta{Session: args[0], Sequence: r.Sequence, Output: r.Text, Dropped: r.Dropped, Ended: !f.json})
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the program has ended")
	c.Flags().Uint64Var(&since, "since", 0, "only what came after this `SEQUENCE`")
	f.bareFlag(c)
	return c
}

// endLine ends a line that has text.
func endLine(line string) string {
	if line == "" {
		return ""
	}
	return line + "\n"
}
