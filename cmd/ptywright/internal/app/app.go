// Package app (no stability promise) makes the root of all commands, and runs one. The commands are
// in the packages beside it, start at cli. It is a package so that tests of those, too, can be the
// program that they test.
package app

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/attach"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/config"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/doctor"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/fleet"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/help"
	kit "github.com/ptywright/ptywright/cmd/ptywright/internal/plugin"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/recordings"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/repl"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/run"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/serve"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/tapecmd"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/testcmd"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/testfrom"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/testreview"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/tmux"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/watch"
)

// Main is the program: it does what the arguments say and exits.
func Main() {
	std := cli.Stdio{In: os.Stdin, Out: &cli.Output{File: os.Stdout}, Err: os.Stderr}
	if serve.IsTerminalMCP(os.Args) {
		os.Exit(serve.TerminalMCP(context.Background(), os.Args[1:], std))
	}
	if tmux.Named(os.Args) {
		os.Exit(tmux.Main(context.Background(), std, os.Args[1:]))
	}
	root, args := Command(std), os.Args[1:]
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		help.Completing(root)
	}
	os.Exit(cli.Run(context.Background(), root, args, std))
}

// Command is the root of all commands.
func Command(std cli.Stdio) *cobra.Command {
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

  echo '{"jsonrpc":"2.0","id":1,"method":"session.list"}' |
    ptywright serve --stdio

The documentation: ptywright docs. All methods and commands as JSON Schema: ptywright schema. What
exit codes mean: ptywright help exit-codes. To check this machine: ptywright doctor.`,
		Version:       cli.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate(cli.BuildLine(std.Out) + "\n")
	test := testcmd.Command(std)
	test.AddCommand(slices.Concat(testreview.Commands(std), testfrom.Commands(std))...)
	root.AddCommand(slices.Concat(
		remote.Commands(std), serve.Commands(std), run.Commands(std), recordings.Commands(std), help.Commands(std),
		[]*cobra.Command{
			attach.Command(std), repl.Command(std), watch.Command(std), fleet.Command(std), tmux.Command(std), kit.Command(std), doctor.Command(std),
			test, tapecmd.Command(std),
			config.Command(std),
		},
	)...)
	root.CompletionOptions.DisableDefaultCmd = true // we have our own completions command
	root.InitDefaultHelpCmd()
	group(root)
	help.Wire(root)
	cli.Wire(root)
	config.Wire(root)
	return root
}

// beside are the commands and pages that the help of a command names at its end.
var beside = map[string]string{
	"ls":        "ptywright attach, ptywright watch, ptywright kill --ended",
	"spawn":     "ptywright send, ptywright wait, ptywright attach; ptywright docs cli",
	"send":      "ptywright wait, ptywright exec, ptywright click",
	"wait":      "ptywright send, ptywright find, ptywright when; ptywright docs wire#matchers",
	"read":      "ptywright logs, ptywright search, ptywright shot --session",
	"logs":      "ptywright read --output, ptywright record --session",
	"find":      "ptywright click, ptywright search; ptywright docs locators",
	"click":     "ptywright find, ptywright mouse; ptywright docs locators",
	"attach":    "ptywright ls, ptywright read, ptywright watch; ptywright docs attach",
	"watch":     "ptywright attach, ptywright ls, ptywright record; ptywright docs watch",
	"repl":      "ptywright docs repl",
	"run":       "ptywright record, ptywright spawn",
	"record":    "ptywright play, ptywright shot, ptywright cast2text, ptywright when",
	"play":      "ptywright record, ptywright shot, ptywright when, ptywright cast2text",
	"cast2text": "ptywright play, ptywright shot, ptywright when",
	"when":      "ptywright shot --at, ptywright read --at, ptywright play --start-at",
	"shot":      "ptywright record, ptywright play, ptywright when; ptywright docs guide",
	"animate":   "ptywright record, ptywright shot, ptywright tape",
	"test":      "ptywright docs test, ptywright docs goldens",
	"serve":     "ptywright schema; ptywright docs wire",
	"mcp":       "ptywright docs mcp",
	"fleet":     "ptywright unterm; ptywright docs fleet",
	"plugin":    "ptywright docs plugins",
	"adapter":   "ptywright docs agents",
	"doctor":    "ptywright config, ptywright version",
	"config":    "ptywright doctor; ptywright docs cli#configuration",
}

// group orders the help by task.
func group(root *cobra.Command) {
	for _, g := range []struct{ id, title, commands string }{
		{"sessions", "Sessions of a server that is shared:", "spawn send exec wait read search find click logs events resize mouse ls kill adapter attach repl watch"},
		{"one", "One program, and recordings:", "run test tape record play cast2text when shot animate"},
		{"serve", "Servers:", "serve mcp acp acp-proxy unterm tmux fleet"},
		{"more", "Plugins, and what there is:", "plugin doctor config schema completions version docs help"},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range root.Commands() {
			if slices.Contains(strings.Fields(g.commands), c.Name()) {
				c.GroupID = g.id
			}
		}
	}
	root.SetHelpCommandGroupID("more")
	for _, c := range root.Commands() {
		if see := beside[c.Name()]; see != "" {
			cli.Note(c, cli.SeeNote, see)
		}
	}
}
