package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/redact"
)

// Exit codes that are not a child's, and that scripts can rely on.
const (
	exitError       = 1
	exitUsage       = 2   // the request makes no sense; nothing was done
	exitTimeout     = 3   // a wait timed out; the evidence is on standard output
	exitMissing     = 4   // the session does not exist, or no longer
	exitPermission  = 5   // a lease or an adapter has the session, or the socket is not this user's
	exitAsks        = 6   // an adapter's program waits for an answer
	exitInterrupted = 130 // as in a shell after Ctrl-C
	// Without a program that could return a code, as in shells, env and timeout.
	exitNotExecutable = 126
	exitNotFound      = 127
	// Of commands that return another program's code: codes that a program is unlikely to use, and
	// that timeout(1), env(1) and nohup(1) use for the same.
	exitOwnTimeout = 124
	exitOwnError   = 125
)

// stdio are the process's standard streams. Commands use these, not those of package os.
type stdio struct {
	in  *os.File
	out *stdout
	err io.Writer
}

// json prints a value as one line.
func (s stdio) json(value any) error { return jsonLines(s.out, value) }

// An exitCode ends the program without a message.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// A codedError is reported like other errors, and ends the program with its own exit code.
type codedError struct {
	err    error
	code   int
	reason string // for programs; "" when there is none
	told   bool   // already on standard output, for programs
}

func (e codedError) Error() string { return e.err.Error() }
func (e codedError) Unwrap() error { return e.err }

// hasCode reports whether an error has its exit code: it is an [exitCode], a [codedError] or one of
// [usagef].
func hasCode(err error) bool {
	var silent exitCode
	var usage usageError
	var coded codedError
	return errors.As(err, &silent) || errors.As(err, &usage) || errors.As(err, &coded)
}

// execute runs a command line on root, reports its error and returns the exit code.
func execute(ctx context.Context, root *cobra.Command, args []string, std stdio) int {
	root.SetArgs(args)
	root.SetOut(std.out)
	root.SetErr(std.err)
	c, err := oneDash(root, args)
	if err == nil {
		c, err = root.ExecuteContextC(ctx)
	}
	return exit(std, c, args, err)
}

// exit reports a command's error, if any, and returns the exit code.
func exit(std stdio, c *cobra.Command, args []string, err error) int {
	if err = std.out.judge(err); err == nil {
		return 0
	}
	var silent exitCode
	if errors.As(err, &silent) {
		return int(silent)
	}
	told := codedError{err: err, code: exitError}
	var usage usageError
	if errors.As(err, &usage) {
		told = codedError{err: inWords(c, args, usage.error), code: exitUsage, reason: "usage"}
	} else {
		errors.As(err, &told)
	}
	complain(std.err, told)
	if usage.error != nil {
		if c.Name() == "help" {
			c = c.Root()
		}
		fmt.Fprintf(std.err, "Try '%s --help'.\n", c.CommandPath())
	}
	if !told.told && wantsJSON(c, args) {
		_ = std.json(told.object()) // standard error has it, too
	}
	return told.code
}

// An errorObject is an error as --json prints it.
type errorObject struct {
	Error struct {
		Message string `json:"message"`
		Reason  string `json:"reason,omitempty"`
		Code    int    `json:"exit_code"`
	} `json:"error"`
}

// object is the error as --json prints it.
func (e codedError) object() (o errorObject) {
	o.Error.Message, o.Error.Reason, o.Error.Code = oneLine(hidden(e)), e.reason, e.code
	return o
}

// complain prints a redacted error as one line.
func complain(w io.Writer, err error) {
	fmt.Fprintf(w, "ptywright: %s\n", oneLine(hidden(err)))
}

// hidden is an error's text, redacted.
func hidden(err error) string { return redact.Default.String(err.Error()) }

// jsonLines prints one value per line.
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

// oneError joins errors on one line.
func oneError(all []error) error {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return fmt.Errorf("%w; %w", oneError(all[:len(all)-1]), all[len(all)-1])
}
