package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/protocol/client"
)

// stepFlags are the flags of send that type something, in the order of the command line.
type stepFlags struct {
	flags *pflag.FlagSet
	steps []flagStep
}

// A flagStep is one such flag.
type flagStep struct {
	flag, value string
	before      int // number of arguments before it
}

// add notes a flag. While a command line is parsed, the arguments so far are those before the
// current flag.
func (f *stepFlags) add(flag, value string) {
	f.steps = append(f.steps, flagStep{flag, value, len(f.flags.Args())})
}

// A stepFlag is the value of such a flag: each use adds a step.
type stepFlag struct {
	all        *stepFlags
	name, kind string
}

func (f *stepFlag) Type() string { return f.kind }

func (f *stepFlag) Set(value string) error {
	if f.kind == "bool" {
		on, err := strconv.ParseBool(value)
		if err != nil || !on {
			return err
		}
	}
	f.all.add(f.name, value)
	return nil
}

func (f *stepFlag) String() string {
	if f.all == nil { // a call by pflag itself
		return ""
	}
	var values []string
	for _, s := range f.all.steps {
		if s.flag == f.name {
			values = append(values, s.value)
		}
	}
	return strings.Join(values, ",")
}

func (f *stepFlags) flag(name, short, kind, usage string) {
	flag := f.flags.VarPF(&stepFlag{f, name, kind}, name, short, usage)
	if kind == "bool" {
		flag.NoOptDefVal = "true"
	}
}

// order puts texts, which are the arguments after the first, and flags into the order of the
// command line. Adjacent texts are joined by blanks into one.
func (f *stepFlags) order(args []string, file func(name string) (string, error)) ([]Step, error) {
	var all []Step
	text := false // the last step came from arguments
	flags := f.steps
	for i := 0; i <= len(args); i++ {
		for ; len(flags) > 0 && flags[0].before <= i; flags = flags[1:] {
			text = false
			switch s := flags[0]; s.flag {
			case "key":
				all = append(all, Step{Key: s.value})
			case "enter":
				all = append(all, Step{Key: "enter"})
			case "file":
				content, err := file(s.value)
				if err != nil {
					return nil, err
				}
				all = append(all, Step{Text: content})
			}
		}
		switch {
		case i == len(args) || i == 0: // the session
		case text:
			last := &all[len(all)-1]
			last.Text = cli.Words(last.Text, args[i])
		default:
			all, text = append(all, Step{Text: args[i]}), true
		}
	}
	return all, nil
}

// misplaced refuses an Enter before the session if there is text: the user means it to come last,
// but it would be pressed first.
func (f *stepFlags) misplaced(c *cobra.Command, args []string) error {
	for _, s := range f.steps {
		if s.flag == "enter" && s.before == 0 && len(args) > 1 {
			return cli.Usagef("--enter is pressed at its place, which is behind the text: %s %s --enter", c.CommandPath(), cli.ShellLine(args))
		}
	}
	return nil
}

func sendCommand(std cli.Stdio, f *Flags) *cobra.Command {
	var in Input
	var steps stepFlags
	c := &cobra.Command{
		Use:   "send [flags] ID [TEXT]...",
		Short: "Type into a session and print the sequence before it",
		Long: `Type into a session, in the order of the command line: texts, keys (--key), the text of a file
(--file) and Enter (--enter). Adjacent texts are joined by spaces. Enter is not pressed
unless you give --enter. The command returns when the terminal has taken all of it; nobody else's
input comes in between.

Key names are those of docs/wire.md in any case, and those of tmux, VHS and browsers: Esc, C-c, ^C,
M-x, PgUp, ArrowUp, Return. --pace pauses between keystrokes and types text character by character,
for programs that take fast input for a paste, as tmux does with keys within a millisecond. After an
Escape there is always a short pause; otherwise it and the next key would be Alt and that key.

The number printed is for wait --since: what this input caused came after it. With --until-read the
command waits until the program has read the input, and a wait since the number does not match an
echo that was seen before that. When it has not read it within --timeout, the exit code is 3: it was
typed all the same. Only Linux tells; elsewhere, and for a line without Enter, it does not wait.

A program that echoes what it reads, as shells and editors do, writes that after it has read it: match
what only the answer looks like, such as '(?m)^(\d+)$'.`,
		Example: `  seq=$(ptywright send s1 'make test' --enter)
  ptywright wait s1 --since $seq --regex '(\d+) passed'
  ptywright send s1 --key Escape ':wq' --enter
  ptywright send s1 -k C-c -k C-d
  ptywright send s1 --paste --file notes.txt`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: SessionIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := steps.misplaced(c, args); err != nil {
				return err
			}
			var err error
			if in.Steps, err = steps.order(args,
				func(name string) (string, error) { return fileText(std, name) }); err != nil {
				return err
			}
			switch {
			case len(in.Steps) == 0:
				return cli.Usagef("say what to type: TEXT, --file, --key or --enter")
			case in.Paste && !in.HasText():
				return cli.Usagef("--paste needs text: TEXT or --file")
			case in.Pace < 0 || in.Pace > engine.MaxPace || in.Pace%time.Millisecond != 0:
				return cli.Usagef("--pace is %v: give a time from 1ms to %v, in whole milliseconds",
					in.Pace, engine.MaxPace)
			}
			if err := cli.CheckTimeout(in.Timeout); err != nil {
				return err
			}
			return f.with(c, func(s *Server) error {
				sent, err := s.Send(c.Context(), args[0], in)
				return f.printSent(std, sent, err)
			})
		},
	}
	fs := c.Flags()
	steps.flags = fs
	steps.flag("enter", "e", "bool", "press Enter, where this stands")
	steps.flag("key", "k", "stringArray",
		"press a `KEY`, where this stands: enter, Escape, up, C-c, alt+x, f5, ...; may be given more than once")
	steps.flag("file", "", "stringArray",
		"type the text of a `FILE`, where this stands; - is standard input")
	fs.BoolVar(&in.Paste, "paste", false,
		"paste the texts as a terminal does: in brackets, when the program asks for them")
	fs.DurationVar(&in.Pace, "pace", 0, "pause for this `TIME` between keystrokes, such as 50ms")
	fs.DurationVar(&in.Timeout, "timeout", 5*time.Second,
		"fail when the program has not read the input after `TIME`")
	fs.BoolVar(&in.UntilRead, "until-read", false,
		"wait until the program has read it (Linux tells; elsewhere it does not wait)")
	return c
}

// fileText reads the text of a file, or of standard input.
func fileText(std cli.Stdio, file string) (string, error) {
	in := std.In
	if file != "-" {
		var err error
		if in, err = os.Open(file); err != nil {
			return "", err
		}
		defer in.Close()
	}
	text, err := ReadText(in)
	if err != nil {
		return "", fmt.Errorf("read the text of %s: %w", file, err)
	}
	return text, nil
}

// MaxText bounds what is typed at once, in bytes. Escaped for the wire it is at most six times as
// long, which fits into a message of 16 MiB. Larger texts are better passed as a file.
const MaxText = 2 << 20

// An Input is typed in order, without other clients' input in between.
type Input struct {
	Steps   []Step
	Paste   bool          // as a terminal pastes: bracketed if the program asks, no control characters
	Pace    time.Duration // between keystrokes, in whole milliseconds; text is typed by character
	Timeout time.Duration // for a program that does not read; 0: the server's 5 s
	// UntilRead waits until the program has read it, at most for another Timeout.
	UntilRead bool
}

// A Step is a text, or a key by its name.
type Step struct{ Text, Key string }

// HasText reports whether text is among the steps.
func (in Input) HasText() bool {
	return slices.ContainsFunc(in.Steps, func(s Step) bool { return s.Text != "" })
}

// lasts returns how long the pauses take in total.
func (in Input) lasts() time.Duration {
	n := 0
	for _, s := range in.Steps {
		n += 1 + utf8.RuneCountInString(s.Text)
	}
	return time.Duration(n)*in.Pace + time.Duration(len(in.Steps))*escapePause
}

// escapePause is longer than a server pauses after an Escape.
const escapePause = 200 * time.Millisecond

// ErrLong reports text that is longer than [MaxText].
var ErrLong = fmt.Errorf("it is longer than %d bytes: have the program read it itself", MaxText)

// ReadText reads text to type, up to its end. Errors: [ErrLong], that it is not UTF-8, or the
// reader's.
func ReadText(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxText+1))
	switch {
	case err != nil:
		return "", err
	case len(b) > MaxText:
		return "", ErrLong
	case !utf8.Valid(b):
		return "", errors.New("it is not UTF-8 text")
	}
	return string(b), nil
}

// A KeyError reports an unknown key name.
type KeyError struct{ Err error }

func (e *KeyError) Error() string {
	var key *vt.KeyError
	if errors.As(e.Err, &key) && key.Why == "" { // it would list a hundred names
		return fmt.Sprintf("--key %q: unknown key: %sknown are single characters, enter, tab, shift_tab, escape, space, backspace, delete, "+
			"insert, up, down, left, right, home, end, page_up, page_down, f1 to f35, keypad_0 and the like, and any of these behind "+
			"ctrl+, alt+ or shift+, in any case and as tmux spells them (Esc, C-c, M-x, PgUp)", key.Name, key.Guess())
	}
	return "--key: " + e.Err.Error()
}
func (e *KeyError) Unwrap() error { return e.Err }

// Sent is the result of typing.
type Sent struct {
	Session string `json:"session"`
	// Sequence is the session's right before the first byte was typed: a wait since then sees
	// everything that the input caused, and nothing older.
	Sequence uint64 `json:"sequence"`
	Stripped int    `json:"stripped,omitempty"` // control bytes removed from a paste
	// Read says, with [Input].UntilRead, whether the program has read it; nil: it cannot be known.
	// A wait since ReadSequence does not match what was seen to come before it was read.
	Read         *bool  `json:"read,omitempty"`
	ReadSequence uint64 `json:"read_sequence,omitempty"`
	// Receipts say where clicks have pressed.
	Receipts []client.Pressed `json:"receipts,omitempty"`
}

// Send types, and returns when the terminal has taken all of it. Errors: [*KeyError] and [ErrLong],
// both before anything is typed; those of session.input, which say how much was typed.
func (s *Server) Send(ctx context.Context, id string, in Input) (Sent, error) {
	kind, size := "text", 0
	for _, step := range in.Steps {
		if _, err := vt.ParseKey(step.Key); step.Key != "" && err != nil {
			return Sent{}, &KeyError{err}
		}
		size += len(step.Text)
	}
	if size > MaxText {
		return Sent{}, ErrLong
	}
	if in.Paste && in.HasText() {
		var err error
		if kind, err = s.pasteKind(ctx, id); err != nil {
			return Sent{}, err
		}
	}
	var actions []client.Action
	for _, step := range in.Steps {
		if step.Key != "" {
			actions = append(actions, client.Action{Type: "key", Value: step.Key})
		} else {
			actions = append(actions, client.Action{Type: kind, Value: step.Text})
		}
	}
	p := map[string]any{"session": id, "actions": actions, "delay_ms": in.Pace.Milliseconds()}
	if in.Timeout > 0 {
		p["timeout_ms"] = in.Timeout.Milliseconds()
	}
	if in.UntilRead {
		p["until"] = "read"
	}
	var r client.Sent
	if err := s.call(ctx, 2*max(in.Timeout, workBound)+in.lasts(), "session.input", p,
		&r); err != nil {
		return Sent{}, err
	}
	return Sent{Session: id, Sequence: r.Sequence, Stripped: r.Stripped, Read: r.Read,
		ReadSequence: r.ReadSequence}, nil
}

// pasteKind is the action that pastes text into a session.
func (s *Server) pasteKind(ctx context.Context, id string) (string, error) {
	var r struct {
		Bracketed bool `json:"bracketed_paste"`
	}
	if err := s.Call(ctx, "session.snapshot", map[string]any{"session": id, "cells": "none"},
		&r); err != nil {
		return "", err
	}
	if r.Bracketed {
		return "bracketed_paste", nil
	}
	return "paste", nil
}

// printSent prints the sequence before an input.
func (f *Flags) printSent(std cli.Stdio, sent Sent, err error) error {
	switch {
	case err != nil:
		return err
	case f.JSON:
		err = std.JSON(sent)
	default:
		_, err = fmt.Fprintln(std.Out, max(sent.Sequence, sent.ReadSequence))
	}
	if err != nil || sent.Read == nil || *sent.Read {
		return err
	}
	if !f.JSON {
		std.Tell("the program has not read it yet")
	}
	return cli.ExitCode(cli.ExitTimeout)
}
