package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
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

// StatusOf is a session's program's end, as an exit code.
func StatusOf(e *client.Exit) error {
	end := pty.Exit{Code: -1} // lost
	if e.Code != nil {
		end.Code = *e.Code
	}
	if e.Signal != nil {
		end.Signal = *e.Signal
	}
	return cli.CodeOf(end)
}

func execCommand(std cli.Stdio, f *Flags) *cobra.Command {
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
		Annotations:       map[string]string{cli.StatusNote: "otherwise the command's own"},
		ValidArgsFunction: SessionIDs(1),
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
			line := CommandLine(args[1:])
			if strings.TrimSpace(line) == "" {
				return cli.Usagef("COMMAND is empty: say what to run")
			}
			return ownCodes(f.Exit(c.Context(),
				f.exec(c.Context(), std, args[0], line, limit, raw)))
		},
	}
	fs := c.Flags()
	fs.DurationVar(&timeout, "timeout", 0,
		"wait at most this `TIME`, such as 90s or 10m, for the command to end (default: a day)")
	fs.BoolVar(&raw, "raw", false, "leave the escape sequences in the output")
	f.bareFlag(c)
	return c
}

// exec runs a command line in a session and reports the result.
func (f *Flags) exec(ctx context.Context, std cli.Stdio, id, line string, limit time.Duration,
	raw bool) error {
	s, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := s.Run(ctx, id, line, limit, raw, f.Show())
	switch {
	case f.JSON && r.Raw != nil:
		if werr := std.JSON(r.Raw); werr != nil {
			return werr
		}
		f.Told = true
	default:
		if werr := printOutput(std, r.Output); werr != nil {
			return werr
		}
	}
	switch {
	case err != nil:
		if _, reason := Exit(err); r.Raw != nil && (ctx.Err() != nil || reason == "timeout") {
			std.Tell("the command goes on in %[1]s; ptywright send %[1]s --key ctrl+c interrupts it", id)
		}
		return err
	case r.Truncated && !f.JSON:
		std.Tell("this is the end of the output: its beginning is not kept")
	}
	switch {
	case r.Exit != nil:
		if !f.JSON {
			std.Tell("the command has ended the shell of %s", id)
		}
		return StatusOf(r.Exit)
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
		return cli.PrintLines(std.Out, LinesOf(output))
	}
	_, err := io.WriteString(std.Out, output)
	return err
}

// A Run is the result of a command line in a session's shell.
type Run struct {
	Output    string       `json:"output"` // exactly what it has written so far
	Truncated bool         `json:"truncated"`
	ExitCode  *int         `json:"exit_code"` // nil: not known
	Exit      *client.Exit `json:"exit"`      // of the shell, if the command ended it; else nil
	// Raw is the answer with session, or nil when nothing was typed. If the command's end is not
	// known, it is the error's data.
	Raw json.RawMessage `json:"-"`
}

// promptBound is how long a server may wait for a shell's prompt, before and after a command, in
// addition to the command's own time.
const promptBound = 25 * time.Second

// Run runs a command line in the shell of a session and waits for its end, for at most limit. With
// raw the output keeps its escape sequences. Errors: those of session.run, with [Run.Output] if the
// line was typed.
func (s *Server) Run(ctx context.Context, id, line string, limit time.Duration, raw bool,
	show Show) (Run, error) {
	more := map[string]any{"command": line, "timeout_ms": limit.Milliseconds()}
	if raw {
		more["raw"] = true
	}
	var r Run
	err := s.call(ctx, limit+promptBound, "session.run", params(id, more, show), &r.Raw)
	var e *client.Error
	if errors.As(err, &e) && r.Raw == nil {
		var typed struct {
			Sequence *uint64 `json:"sequence"`
		}
		if json.Unmarshal(e.Data, &typed) == nil && typed.Sequence != nil {
			r.Raw = e.Data
		}
	}
	if r.Raw != nil {
		if jerr := json.Unmarshal(r.Raw, &r); jerr != nil {
			return r, errors.Join(err, jerr)
		}
		r.Raw = with(r.Raw, map[string]any{"session": id})
	}
	return r, err
}

// CommandLine is what to type to run a program with arguments in a shell. One word is a command
// line and stays as it is; several are arguments, each quoted so that sh, bash, zsh and fish read
// it unchanged.
func CommandLine(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

// quote quotes a word for a shell. Only fish gives backslashes in single quotes a meaning, so quote
// puts none there.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_@%+:,./-", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.NewReplacer(`'`, `'\''`, `\`, `'\\'`).Replace(word) + "'"
}
