// Command ptywright lets programs use terminal programs the way a person does. This package only
// wires things together: flags choose a transport, a framing and a dialect. Everything else is in
// the packages beside it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/redact"
)

// Exit codes that are not a child's.
const (
	exitError = 1
	exitUsage = 2
	// Of the commands that talk to servers.
	exitTimeout     = remote.ExitTimeout
	exitMissing     = remote.ExitMissing
	exitPermission  = remote.ExitPermission
	exitInterrupted = 130 // as in a shell after Ctrl-C
	// Without a program that could return a code, as in shells, env and timeout.
	exitNotExecutable = 126
	exitNotFound      = 127
)

func main() {
	std := stdio{in: os.Stdin, out: &stdout{file: os.Stdout}, err: os.Stderr}
	if isTerminalMCP(os.Args) {
		os.Exit(terminalMCP(context.Background(), os.Args[1:], std))
	}
	os.Exit(run(context.Background(), os.Args[1:], std))
}

// stdio are the process's standard streams. Nothing below run uses those of package os.
type stdio struct {
	in  *os.File
	out *stdout
	err io.Writer
}

// An exitCode ends the program without a message.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// A codedError is reported like other errors, and ends the program with its own exit code.
type codedError struct {
	error
	code   int
	reason string // for programs; "" when there is none
	told   bool   // already on standard output, for programs
}

func (e codedError) Unwrap() error { return e.error }

// run is the whole program: it returns the exit code.
func run(ctx context.Context, args []string, std stdio) int {
	root := command(std)
	root.SetArgs(args)
	root.SetOut(std.out)
	root.SetErr(std.err)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		completeFlags(root)
		describePlainly(root)
	} else if c, err := oneDash(root, args); err != nil {
		return exit(std, c, args, err)
	}
	c, err := root.ExecuteContextC(ctx)
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
	told := codedError{error: err, code: exitError}
	var usage usageError
	switch {
	case errors.As(err, &usage):
		told = codedError{error: inWords(c, args, usage.error), code: exitUsage, reason: "usage"}
	case errors.As(err, &told):
	case isSetting(err):
		told.code, told.reason = exitUsage, "configuration"
		if c.Name() != "config" {
			told.error = fmt.Errorf("%w; ptywright config shows what holds", err)
		}
	}
	complain(std.err, told.error)
	if usage.error != nil {
		if c.Name() == "help" {
			c = c.Root()
		}
		fmt.Fprintf(std.err, "Try '%s --help'.\n", c.CommandPath())
	}
	if !told.told && wantsJSON(c, args) {
		_ = jsonLines(std.out, told.object()) // standard error has it, too
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

// oneLine escapes what would break a line or move a cursor.
func oneLine(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < ' ' || r >= 0x7f && r < 0xa0:
			fmt.Fprintf(&b, `\x%02x`, r)
		case !unicode.IsPrint(r): // such as characters that change the text direction
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func command(std stdio) *cobra.Command {
	root := &cobra.Command{
		Use:   "ptywright",
		Short: "Drive terminal programs from code",
		Long: `ptywright lets programs use terminal programs the way a person does: it starts them on
pseudo-terminals, keeps the screen a person would see, types, waits for what should happen
next, says why a wait ended, and hides secrets.

From a shell (the server starts when it is needed):

  ptywright spawn -- sh                     # prints the session's id: s1
  ptywright wait s1 --regex '[$#]'
  seq=$(ptywright send s1 'echo $((6*7))' --enter)
  ptywright wait s1 --since $seq --regex '(?m)^(\d+)$'
  ptywright read s1
  ptywright kill --server

From a program, over the pipes of a child, one JSON-RPC request a line:

  printf '%s\n' \
    '{"jsonrpc":"2.0","id":1,"method":"session.create","params":{"program":"sh"}}' \
    '{"jsonrpc":"2.0","id":2,"method":"session.input","params":{"session":"s1","action":{"type":"text","value":"echo $((6*7))\n"}}}' \
    '{"jsonrpc":"2.0","id":3,"method":"session.wait","params":{"session":"s1","matcher":{"type":"contains_text","value":"42"}}}' \
  | ptywright serve --stdio

All methods and commands as JSON Schema: ptywright schema. To check this machine: ptywright doctor.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate("ptywright " + build() + "\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(
		serveCommand(std), mcpCommand(std), acpCommand(std), acpProxyCommand(std), untermCommand(std), fleetCommand(std),
		runCommand(std), attachCommand(std), replCommand(std), watchCommand(std), recordCommand(std), playCommand(std), cast2textCommand(std),
		shotCommand(std), pluginCommand(std), manCommand(std), watcherCommand(std),
	)
	root.AddCommand(remoteCommands(std)...)
	root.AddCommand(doctorCommand(std), configCommand(std), completionsCommand(std), schemaCommand(std))
	root.CompletionOptions.DisableDefaultCmd = true // we have our own completions command
	root.InitDefaultHelpCmd()
	group(root)
	helpUsage(root)
	wire(root)
	return root
}

// wire sets what all commands share, for c and those below it.
func wire(c *cobra.Command) {
	for _, sub := range c.Commands() {
		wire(sub)
	}
	c.Args = usageArgs(c.Args)
	configurable(c)
}

// group orders the help by task.
func group(root *cobra.Command) {
	for _, g := range []struct{ id, title, commands string }{
		{"sessions", "Sessions of a server that is shared:", "spawn send exec wait read search logs resize mouse ls kill adapter attach repl watch"},
		{"one", "One program, and recordings:", "run record play cast2text shot"},
		{"serve", "Servers:", "serve mcp acp acp-proxy unterm fleet"},
		{"more", "Plugins, and what there is:", "plugin doctor config schema completions help"},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range root.Commands() {
			if slices.Contains(strings.Fields(g.commands), c.Name()) {
				c.GroupID = g.id
			}
		}
	}
	root.SetHelpCommandGroupID("more")
}
