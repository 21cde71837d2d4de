package tmux

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
)

// version is the tmux whose command line this is. Harnesses read it.
const version = "3.3a"

// Command is the command tmux.
func Command(std cli.Stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "tmux [ARG]...",
		Short: "Speak tmux's command line, for harnesses that drive tmux",
		Long: `Take the command line of tmux ` + version + `, so that a harness that was written for tmux drives ptywright
unchanged: put a link to ptywright named tmux before the real one in PATH. Sessions are started and
found as tmux's are, on a server of their own for each -L or -S; ptywright ls, watch and attach show
them, with --socket and the path that tmux display-message -p '#{socket_path}' prints.

new-session, has-session, list-sessions, rename-session, kill-session, attach-session; new-window,
list-windows, select-window, rename-window, kill-window, resize-window; send-keys, capture-pane,
pipe-pane, list-panes, kill-pane, clear-history; display-message, set-option, show-options,
set-environment, wait-for, kill-server and the buffers work, and their short names. A window has one
pane. docs/tmux.md lists what differs.`,
		Example: `  ln -s "$(command -v ptywright)" ~/bin/tmux
  ptywright tmux new-session -d -s work -x 120 -y 40
  ptywright tmux send-keys -t work 'make test' Enter
  ptywright tmux capture-pane -p -J -t work`,
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "--help" {
				return c.Help()
			}
			if code := Main(c.Context(), std, args); code != 0 {
				return cli.ExitCode(code)
			}
			return nil
		},
	}
}

// Named reports whether the program was started as tmux. A server that such a program starts has
// the name, too, and is none.
func Named(args []string) bool {
	if len(args) == 0 || strings.TrimSuffix(filepath.Base(args[0]), ".exe") != "tmux" {
		return false
	}
	return len(args) < 2 || args[1] != "serve"
}

// Main runs a command line of tmux and returns its exit code: 0, or 1 with a message on standard
// error, as tmux does.
func Main(ctx context.Context, std cli.Stdio, args []string) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(args) == 4 && args[0] == pipeWord {
		return exit(std, pipe(ctx, std, args[1], args[2], args[3]))
	}
	t := &tmux{ctx: ctx, std: std, environ: os.Environ()}
	defer t.close()
	return exit(std, t.run(ctx, args))
}

// exit prints an error as tmux does.
func exit(std cli.Stdio, err error) int {
	if err == nil {
		return 0
	}
	if code, ok := err.(cli.ExitCode); ok {
		return int(code)
	}
	text := err.Error()
	if plain, ok := err.(*message); ok {
		text = plain.text
	} else {
		text = remote.Plainly(err).Error()
	}
	fmt.Fprintln(std.Err, cli.OneLine(text))
	return 1
}

// A message is an error in tmux's words.
type message struct{ text string }

func (m *message) Error() string { return m.text }

// failf is an error in tmux's words.
func failf(format string, args ...any) error { return &message{fmt.Sprintf(format, args...)} }
