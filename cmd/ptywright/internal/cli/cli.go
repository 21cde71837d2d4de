// Package cli is what all commands share: the streams they use ([Stdio]), the exit codes and errors
// they end with ([Error], [Usagef]), and the checks and words of flags and arguments. [Run] runs a
// command line on a root command, whose commands report wrong use in the same words after [Wire].
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/redact"
)

// Exit codes that are not a child's, and that scripts can rely on.
const (
	ExitError       = 1
	ExitUsage       = 2   // the request makes no sense; nothing was done
	ExitTimeout     = 3   // a wait timed out; the evidence is on standard output
	ExitMissing     = 4   // the session does not exist, or no longer
	ExitPermission  = 5   // a lease or an adapter has the session, or the socket is not this user's
	ExitAsks        = 6   // an adapter's program waits for an answer
	ExitInterrupted = 130 // as in a shell after Ctrl-C
	// Without a program that could return a code, as in shells, env and timeout.
	ExitNotExecutable = 126
	ExitNotFound      = 127
	// Of commands that return another program's code: codes that a program is unlikely to use, and
	// that timeout(1), env(1) and nohup(1) use for the same.
	ExitOwnTimeout = 124
	ExitOwnError   = 125
)

// ExitFor returns the exit code for a reason that the server gave.
func ExitFor(reason string) int {
	switch reason {
	case "invalid_matcher", "invalid_locator", "name_taken":
		return ExitUsage
	case "timeout", "not_found", "ambiguous":
		return ExitTimeout
	case "unknown_session", "session_forgotten", "unknown_adapter", "unknown_recording":
		return ExitMissing
	case "session_leased", "owned_by_adapter", "permission_denied", "read_only",
		"server_did_not_grant_plugin_load":
		return ExitPermission
	}
	return ExitError
}

// Stdio are the process's standard streams. Commands use these, not those of package os.
type Stdio struct {
	In  *os.File
	Out *Output
	Err io.Writer
}

// JSON prints a value as one line.
func (s Stdio) JSON(value any) error { return JSONLines(s.Out, value) }

// An ExitCode ends the program without a message.
type ExitCode int

func (e ExitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// An Error is reported like other errors, and ends the program with its own exit code.
type Error struct {
	Err    error
	Code   int
	Reason string // for programs; "" when there is none
	Told   bool   // already on standard output, for programs
}

func (e Error) Error() string { return e.Err.Error() }
func (e Error) Unwrap() error { return e.Err }

// HasCode reports whether an error has its exit code: it is an [ExitCode], an [Error] or one of
// [Usagef].
func HasCode(err error) bool {
	var silent ExitCode
	var usage usageError
	var coded Error
	return errors.As(err, &silent) || errors.As(err, &usage) || errors.As(err, &coded)
}

// Run runs a command line on root, reports its error and returns the exit code.
func Run(ctx context.Context, root *cobra.Command, args []string, std Stdio) int {
	root.SetArgs(args)
	root.SetOut(std.Out)
	root.SetErr(std.Err)
	c, err := oneDash(root, args)
	if err == nil {
		c, err = root.ExecuteContextC(ctx)
	}
	return exit(std, c, args, err)
}

// exit reports a command's error, if any, and returns the exit code.
func exit(std Stdio, c *cobra.Command, args []string, err error) int {
	if err = std.Out.judge(err); err == nil {
		return 0
	}
	var silent ExitCode
	if errors.As(err, &silent) {
		return int(silent)
	}
	told := Error{Err: err, Code: ExitError}
	var usage usageError
	if errors.As(err, &usage) {
		told = Error{Err: inWords(c, args, usage.error), Code: ExitUsage, Reason: "usage"}
	} else {
		errors.As(err, &told)
	}
	Complain(std.Err, told)
	if usage.error != nil {
		if c.Name() == "help" {
			c = c.Root()
		}
		_ = Say(std.Err, fmt.Sprintf("Try '%s --help'.", c.CommandPath()), 0)
	}
	if !told.Told && wantsJSON(c, args) {
		_ = std.JSON(told.Object()) // standard error has it, too
	}
	return told.Code
}

// An errorObject is an error as --json prints it.
type errorObject struct {
	Error struct {
		Message string `json:"message"`
		Reason  string `json:"reason,omitempty"`
		Code    int    `json:"exit_code"`
	} `json:"error"`
}

// Object is the error as --json prints it.
func (e Error) Object() (o errorObject) {
	o.Error.Message, o.Error.Reason, o.Error.Code = OneLine(hidden(e)), e.Reason, e.Code
	return o
}

// Complain prints a redacted error as one line, which a terminal wraps at blanks: see [Say].
func Complain(w io.Writer, err error) {
	_ = Say(w, "ptywright: "+OneLine(hidden(err)), hang) // standard error has nobody to complain to
}

// hang indents what follows the first line of a message, so that two messages are told apart.
const hang = 2

// Tell prints a line for people about what a command does, on standard error. The line may be
// hostile.
func (s Stdio) Tell(format string, args ...any) {
	_ = Say(s.Err, OneLine(fmt.Sprintf("ptywright: "+format, args...)), hang)
}

// ComplainAll prints errors, each as [Complain] does, and returns that the command has failed.
func ComplainAll[E error](w io.Writer, all []E) error {
	for _, err := range all {
		Complain(w, err)
	}
	return ExitCode(ExitError)
}

// hidden is an error's text, redacted.
func hidden(err error) string { return redact.Default.String(err.Error()) }

// JSONLines prints one value per line.
func JSONLines[T any](w io.Writer, values ...T) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, v := range values {
		if err := e.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// OneError joins errors on one line.
func OneError(all []error) error {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return fmt.Errorf("%w; %w", OneError(all[:len(all)-1]), all[len(all)-1])
}

// An Output is standard output. It keeps the first write error, which [Run] reports, so that no
// command succeeds whose output is lost, whether or not it checks its own errors.
type Output struct {
	File   *os.File // for uses that need a descriptor or a terminal; its errors are not kept
	failed atomic.Pointer[outputError]
	around atomic.Pointer[func(p []byte, write func())]
}

// Around makes f call each write from now on, which is of p, as for a line on the same terminal that
// has to make room; nil ends that.
func (o *Output) Around(f func(p []byte, write func())) {
	if f == nil {
		o.around.Store(nil)
		return
	}
	o.around.Store(&f)
}

// An outputError is why standard output could not be written.
type outputError struct{ err error }

func (e *outputError) Error() string {
	err := e.err
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // its path is our name for the descriptor
	}
	return fmt.Sprintf("write to standard output: %v", err)
}

func (e *outputError) Unwrap() error { return e.err }

// Write writes p; after an error it writes nothing more, so that the output has no gap. Errors are
// [*outputError].
func (o *Output) Write(p []byte) (n int, err error) {
	if around := o.around.Load(); around != nil {
		(*around)(p, func() { n, err = o.write(p) })
		return n, err
	}
	return o.write(p)
}

func (o *Output) write(p []byte) (int, error) {
	if lost := o.failed.Load(); lost != nil {
		return 0, lost
	}
	n, err := o.File.Write(p)
	if err != nil {
		o.failed.CompareAndSwap(nil, &outputError{err})
		return n, o.failed.Load()
	}
	return n, nil
}

// Fd is the descriptor, for queries.
func (o *Output) Fd() uintptr { return o.File.Fd() }

// judge returns a command's error if its output is lost: the output's error, which is usually the
// cause of the command's. A command that a signal ended keeps that error, and a reader that went
// away is not reported: without a handler the system would end the process silently.
func (o *Output) judge(err error) error {
	lost := o.failed.Load()
	var ended ExitCode
	var own *outputError
	switch {
	case lost == nil, errors.As(err, &ended) && ended > 128:
		return err
	case errors.Is(lost, syscall.EPIPE):
		return ExitCode(128 + int(syscall.SIGPIPE))
	case err == nil, errors.As(err, &ended), errors.As(err, &own):
		return Error{Err: lost, Code: ExitError, Told: true}
	}
	return Error{Err: fmt.Errorf("%w; before that: %w", lost, err), Code: ExitError, Told: true}
}
