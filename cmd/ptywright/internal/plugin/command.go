package plugin

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/serve"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/redact"
)

// Command is the toolkit of plugin authors.
func Command(std cli.Stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "plugin",
		Short: "Make, check, test, run and explain plugins",
		Long: `Make, check, test, run and explain plugins. A plugin is a directory with a manifest.toml and Lua
files that teaches ptywright one terminal program; see docs/plugins.md.`,
		Example: `  ptywright plugin new demo && ptywright plugin check demo && ptywright plugin test demo`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(pluginNewCommand(std), pluginCheckCommand(std), pluginTestCommand(std),
		pluginRunCommand(std), pluginExplainCommand(std))
	return c
}

func pluginNewCommand(std cli.Stdio) *cobra.Command {
	var dir, program string
	c := &cobra.Command{
		Use:   "new [flags] NAME",
		Short: "Make the directory of a new, working plugin",
		Long: `Make the directory NAME with a working adapter: a manifest, its Lua, two cases and a README. It
passes "plugin check" and "plugin test" as it is, and drives a program that reads lines at a prompt.
NAME has lower-case letters, digits, dots, hyphens and underscores, and starts with a letter or
digit. Existing files are never changed.`,
		Example: `  ptywright plugin new demo
  ptywright plugin new --program htop --dir adapters htop`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			folder, err := New(dir, args[0], program)
			var fault *plugins.ManifestError
			if errors.As(err, &fault) || errors.Is(err, ErrExists) {
				return cli.Usagef("make the plugin %s: %w", args[0], err)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(std.Out,
				"%s is a plugin. Next:\n  ptywright plugin test %s\n  ptywright plugin run %s\n",
				folder, folderWord(folder), folderWord(folder))
			return nil
		},
	}
	c.Flags().StringVar(&dir, "dir", ".", "make it in this `DIRECTORY`")
	c.Flags().StringVar(&program, "program", "", "`PROGRAM` to drive (default: sh)")
	return c
}

func pluginCheckCommand(std cli.Stdio) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check [flags] [FOLDER]",
		Short: "Find problems in a plugin, by file and line",
		Long: `Check a plugin, by default the one in the current directory: its manifest, permissions it asks for
without need or needs without asking, functions listed but missing or present but not listed, rules,
states and intents that no case reaches, files that nothing requires. The program is not started.
The exit code is 1 if anything is found.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			found, err := Check(c.Context(), folderArg(args),
				serve.NewLogger(std.Err, redact.Default))
			if err != nil {
				return err
			}
			if err := tell(std.Out, asJSON, found, found.Print); err != nil {
				return err
			}
			if len(found.Findings) > 0 {
				return cli.ExitCode(cli.ExitError)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func pluginTestCommand(std cli.Stdio) *cobra.Command {
	var asJSON, update bool
	var run string
	c := &cobra.Command{
		Use:   "test [flags] [FOLDER]",
		Short: "Run the test cases of a plugin",
		Long: `Run the test cases of a plugin, by default the one in the current directory. A case is
testdata/cases/NAME.cast (a recording) or NAME.screen (a golden screen, or plain text) with
NAME.expected.json. The program is not started and nothing waits: a recording runs on its own clock.
A failure shows the screen, the rule that decided, and the rules that came close. The exit code is
then 1.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var match *regexp.Regexp
			if run != "" {
				var err error
				if match, err = regexp.Compile(run); err != nil {
					return cli.Usagef("--run: %w", err)
				}
			}
			f, err := Open(folderArg(args), serve.NewLogger(std.Err, redact.Default))
			if err != nil {
				return err
			}
			report, err := f.Test(c.Context(), match, update)
			if err != nil {
				return err
			}
			if err := tell(std.Out, asJSON, report, report.Print); err != nil {
				return err
			}
			if report.Failed > 0 {
				return cli.ExitCode(cli.ExitError)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().StringVar(&run, "run", "", "run only cases whose names match `REGEXP`")
	c.Flags().BoolVar(&update, "update", false, "write the expected results anew, for review")
	return c
}

// folderWord writes a folder as one shell word, in full, that no command mistakes for a flag.
func folderWord(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	if cli.PlainWord().MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// folderArg is the folder that an optional argument names.
func folderArg(args []string) string {
	if len(args) == 0 {
		return "."
	}
	return filepath.Clean(args[0])
}

// tell prints a value as one JSON document, or for people.
func tell(w io.Writer, asJSON bool, value any, people func(io.Writer)) error {
	if !asJSON {
		people(w)
		return nil
	}
	return cli.JSONLines(w, value)
}
