package doctor

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/config"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/serve"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/redact"
)

// Command is the command doctor.
func Command(std cli.Stdio) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check that this machine can run ptywright",
		Long: `Check that this machine can run ptywright, and say how to fix what is missing: version, directory,
configuration, socket, pseudo-terminals, the watcher that cleans up, limits, terminfo, locale,
shells and their marks, plugins, and the agents that plugins drive.

The exit code is 0 if nothing is broken, even with warnings, otherwise 1.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			facts, err := doctorFacts()
			if err != nil {
				return err
			}
			// Print findings as they arrive: a check may take seconds.
			broken, on := 0, cli.TerminalOf(std.Out)
			Look(ctx, facts, func(f Finding) {
				f.Found, f.Advice = redact.Default.String(f.Found), redact.Default.String(f.Advice)
				if f.State == Broken {
					broken++
				}
				if asJSON {
					std.JSON(f)
					return
				}
				io.WriteString(std.Out, lines(f, on))
			})
			if broken > 0 {
				return cli.ExitCode(cli.ExitError) // the findings are already printed
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line for each finding")
	return c
}

// columns of a finding for people: its state, its check, and then what was found.
const (
	stateCols = 8
	checkCols = 19
	// foundLeast is how many columns are left of a terminal before what was found gets lines of its
	// own.
	foundLeast = 40
)

// lines is a finding for people, wrapped at words on a terminal.
func lines(f Finding, on cli.Terminal) string {
	colour := map[string]string{OK: cli.Green, Absent: cli.Dim, Warning: cli.Yellow, Broken: cli.Red}
	head := on.Style.As(colour[f.State], f.State) + strings.Repeat(" ", max(stateCols-len(f.State), 0)) +
		" " + f.Check
	all := []string{cli.OneLine(f.Found)}
	if f.Advice != "" {
		all = append(all, "-> "+cli.OneLine(f.Advice))
	}
	indent := stateCols + 1 + checkCols + 1
	if on.Cols == 0 || on.Cols >= indent+foundLeast {
		head += strings.Repeat(" ", max(checkCols+1-len(f.Check), 1))
	} else {
		indent = 2
		head += "\n  "
	}
	if on.Cols == 0 { // a line each, for programs that look through them
		if f.Advice != "" {
			return head + all[0] + fmt.Sprintf("\n%*s %s\n", stateCols, "", all[1])
		}
		return head + all[0] + "\n"
	}
	for i, text := range all {
		hang := 0
		if i > 0 {
			hang = len("-> ")
		}
		text = cli.Wrap(text, on.Cols-indent, hang)
		all[i] = strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", indent))
	}
	return head + strings.Join(all, "\n"+strings.Repeat(" ", indent)) + "\n"
}

// doctorFacts are what the doctor cannot find out itself.
func doctorFacts() (Facts, error) {
	root, homeless := daemon.Root()
	self, err := os.Executable()
	if err != nil {
		return Facts{}, fmt.Errorf("find this program: %w", err)
	}
	set, _ := config.Load(root, os.LookupEnv) // the error is the first of its faults
	var strays []string
	for _, s := range config.Strays(os.Environ()) {
		strays = append(strays, s.String())
	}
	value := func(key string) []string {
		for _, s := range config.Settings {
			if v, ok := set.Value(s); ok && s.Key == key {
				return v.Values
			}
		}
		return nil
	}
	socket, err := daemon.DefaultSocket()
	if given := value("socket"); len(given) == 1 {
		socket, err = filepath.Abs(given[0])
	}
	if err != nil && homeless == nil {
		return Facts{}, err
	}
	return Facts{
		Homeless: homeless, MCP: strings.Join(value("mcp.http"), ""),
		Version: cli.Version(), Root: root, Socket: socket,
		Watcher: []string{self, serve.WatcherName},
		Strays:  strays,
		Config: func() (string, []error) {
			faults := config.Faults(set)
			switch {
			case len(faults) > 0:
				return "", faults
			case set.Path == "" && !set.Off:
				return "there is none, as there is no home folder", nil
			case set.Off:
				return config.PathVariable + " is off", nil
			case !set.Exists:
				return set.Path + " does not exist; defaults apply", nil
			}
			return set.Path, nil
		},
		Plugins: func() (string, error) {
			quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
			catalog := plugins.NewCatalog(nil, quiet)
			if err := serve.LoadPlugins(catalog, value("plugins")); err != nil {
				return "", errors.New(strings.TrimPrefix(err.Error(), "--plugin "))
			}
			var names []string
			for _, p := range catalog.Plugins() {
				names = append(names, p.Manifest.Name)
			}
			return strings.Join(names, ", "), nil
		},
	}, nil
}
