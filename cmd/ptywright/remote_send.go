package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/engine"
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
func (f *stepFlags) order(args []string, file func(name string) (string, error)) ([]remote.Step, error) {
	var all []remote.Step
	text := false // the last step came from arguments
	flags := f.steps
	for i := 0; i <= len(args); i++ {
		for ; len(flags) > 0 && flags[0].before <= i; flags = flags[1:] {
			text = false
			switch s := flags[0]; s.flag {
			case "key":
				all = append(all, remote.Step{Key: s.value})
			case "enter":
				all = append(all, remote.Step{Key: "enter"})
			case "file":
				content, err := file(s.value)
				if err != nil {
					return nil, err
				}
				all = append(all, remote.Step{Text: content})
			}
		}
		switch {
		case i == len(args) || i == 0: // the session
		case text:
			all[len(all)-1].Text += " " + args[i]
		default:
			all, text = append(all, remote.Step{Text: args[i]}), true
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

func sendCommand(std cli.Stdio, f *remoteFlags) *cobra.Command {
	var in remote.Input
	var steps stepFlags
	c := &cobra.Command{
		Use:   "send [flags] ID [TEXT]...",
		Short: "Type into a session and print the sequence before it",
		Long: `Type into a session, in the order of the command line: texts, keys (--key), the text of a file
(--file) and Enter (--enter). Adjacent texts are joined by spaces. Nothing is added: without --enter
the text is typed but not submitted. The command returns when the terminal has taken all of it;
nobody else's input comes in between.

Key names are those of docs/wire.md in any case, and those of tmux, VHS and browsers: Esc, C-c, ^C,
M-x, PgUp, ArrowUp, Return. --pace pauses between keystrokes and types text character by character,
for programs that take fast input for a paste, as tmux does with keys within a millisecond. After an
Escape there is always a short pause; otherwise it and the next key would be Alt and that key.

The number printed is for wait --since: what this input caused came after it.`,
		Example: `  seq=$(ptywright send s1 'make test' --enter)
  ptywright wait s1 --since $seq --regex '(\d+) passed'
  ptywright send s1 --key Escape ':wq' --enter
  ptywright send s1 -k C-c -k C-d
  ptywright send s1 --paste --file notes.txt`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: sessionIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := steps.misplaced(c, args); err != nil {
				return err
			}
			var err error
			if in.Steps, err = steps.order(args, func(name string) (string, error) { return fileText(std, name) }); err != nil {
				return err
			}
			switch {
			case len(in.Steps) == 0:
				return cli.Usagef("say what to type: TEXT, --file, --key or --enter")
			case in.Paste && !in.HasText():
				return cli.Usagef("--paste needs text: TEXT or --file")
			case in.Pace < 0 || in.Pace > engine.MaxPace || in.Pace%time.Millisecond != 0:
				return cli.Usagef("--pace is %v: give a time from 1ms to %v, in whole milliseconds", in.Pace, engine.MaxPace)
			}
			if err := cli.CheckTimeout(in.Timeout); err != nil {
				return err
			}
			s, err := f.connect(c.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			sent, err := s.Send(c.Context(), args[0], in)
			if err != nil {
				return err
			}
			if f.json {
				return std.JSON(sent)
			}
			_, err = fmt.Fprintln(std.Out, sent.Sequence)
			return err
		},
	}
	fs := c.Flags()
	steps.flags = fs
	steps.flag("enter", "e", "bool", "press Enter, where this stands")
	steps.flag("key", "k", "stringArray", "press a `KEY`, where this stands: enter, Escape, up, C-c, alt+x, f5, ...; may be given more than once")
	steps.flag("file", "", "stringArray", "type the text of a `FILE`, where this stands; - is standard input")
	fs.BoolVar(&in.Paste, "paste", false, "paste the texts as a terminal does: in brackets, when the program asks for them")
	fs.DurationVar(&in.Pace, "pace", 0, "pause for this `TIME` between keystrokes, such as 50ms")
	fs.DurationVar(&in.Timeout, "timeout", 5*time.Second, "the `TIME` that the program may leave it unread")
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
	text, err := remote.ReadText(in)
	if err != nil {
		return "", fmt.Errorf("read the text of %s: %w", file, err)
	}
	return text, nil
}
