package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/redact"
)

// loadConfig reads this user's settings.
func loadConfig() (*Config, error) {
	root, err := daemon.Root()
	if err != nil {
		root = "" // not every command needs a folder, such as a client's own server
	}
	return Load(root, os.LookupEnv)
}

// faulty is an error of the configuration, with its exit code.
func faulty(err error) cli.Error {
	return cli.Error{Err: err, Code: cli.ExitUsage, Reason: "configuration"}
}

// misset is faulty, with what to do, for every command but config itself.
func misset(err error) error {
	return faulty(fmt.Errorf("%w; ptywright config shows what holds", err))
}

// Wire makes c, and the commands below it, take flags that are not given from the environment
// and from config.toml.
func Wire(c *cobra.Command) {
	for _, sub := range c.Commands() {
		Wire(sub)
	}
	run := c.RunE
	if run == nil ||
		len(For(c.Name(), false,
			func(flag string) bool { return c.Flags().Lookup(flag) != nil })) == 0 {
		return
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := Apply(c); err != nil {
			return misset(err)
		}
		return run(c, args)
	}
}

// Apply sets the flags of a command that were not given. They still count as not given. A
// faulty file does not keep kill --server from ending a server that was started when the file was
// right: its valid settings apply.
func Apply(c *cobra.Command) error {
	set, err := loadConfig()
	lookup := c.Flags().Lookup
	if err != nil &&
		!(c.Name() == "kill" && lookup("server").Value.String() == "true" &&
			(lookup("socket").Changed || !aboutSocket(set))) {
		return err
	}
	stdio := lookup("stdio")
	child := c.Name() == "mcp" || stdio != nil && stdio.Value.String() == "true"
	for _, s := range For(c.Name(), child, func(flag string) bool { return lookup(flag) != nil }) {
		f := lookup(s.Flag)
		v, ok := set.Value(s)
		if f.Changed || !ok {
			continue
		}
		if err := set.Judge(s, v); err != nil {
			return err
		}
		for _, text := range v.Values {
			if err := f.Value.Set(text); err != nil {
				return set.Fault(s, v, fmt.Errorf("--%s does not take it: %w", s.Flag, err))
			}
		}
	}
	return nil
}

// CheckServer checks the settings with which a background server would start.
func CheckServer(c *cobra.Command) error {
	set, err := loadConfig()
	if err != nil {
		return misset(err)
	}
	serve, _, err := c.Root().Find([]string{"serve"})
	if err != nil {
		return err
	}
	for _, s := range For("serve", false,
		func(flag string) bool { return serve.Flags().Lookup(flag) != nil }) {
		if v, ok := set.Value(s); ok {
			if err := set.Judge(s, v); err != nil {
				return misset(err)
			}
		}
	}
	return nil
}

// aboutSocket reports whether socket's setting is faulty, so that a command would use the wrong
// server.
func aboutSocket(set *Config) bool {
	return slices.ContainsFunc(set.Faults, func(err error) bool {
		var file *FileError
		return errors.As(err, &file) && file.Key == "socket"
	})
}

// Command is the command config.
func Command(std cli.Stdio) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "config",
		Short: "Show every setting and where it comes from",
		Long: `Show every setting, its value and where the value comes from. Flags override the environment
(PTYWRIGHT_ and the key in capitals, dots as _), which overrides the file: $PTYWRIGHT_HOME/config.toml,
or ~/.ptywright/config.toml. PTYWRIGHT_CONFIG names another file, or is "off". The file must belong to
you and must not be writable by group or others.

If the file or the environment has errors, the settings still in effect are shown, then the errors;
the exit code is 2. Unknown PTYWRIGHT_ variables are listed on standard error.

Tokens are not settings: the one for MCP over HTTP is in PTYWRIGHT_MCP_TOKEN and never shown.`,
		Example: `  cat > ~/.ptywright/config.toml <<'EOF'
  plugins = ["~/plugins/less/manifest.toml"]

  [log]
  level = "debug"
  file = "~/.ptywright/server.log"
  EOF
  ptywright config`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			set, _ := loadConfig() // the error is the first of its faults
			if err := showConfig(std, set, asJSON, c.Root()); err != nil {
				return err
			}
			for _, s := range Strays(os.Environ()) {
				cli.Complain(std.Err, errors.New(s.String()))
			}
			faults := Faults(set)
			if len(faults) == 0 {
				return nil
			}
			last := len(faults) - 1
			for _, err := range faults[:last] {
				cli.Complain(std.Err, err)
				if asJSON {
					if err := std.JSON(faulty(err).Object()); err != nil {
						return err
					}
				}
			}
			return faulty(faults[last])
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}

// appended says what servers append to the file of a setting; "" where they append nothing.
func appended(key string) string {
	switch key {
	case "log.file":
		return "log"
	case "audit":
		return "write its audit"
	}
	return ""
}

// Faults are all faults of the file and of variables.
func Faults(set *Config) []error {
	faults := slices.Clone(set.Faults)
	for _, s := range Settings {
		if v, ok := set.Value(s); ok {
			err := set.Judge(s, v)
			if into := appended(s.Key); err == nil && into != "" && v.Values[0] != "" {
				if wrong := checkLogFile(v.Values[0]); wrong != nil {
					err = set.Fault(s, v, fmt.Errorf("no server can %s there: %w", into, wrong))
				}
			}
			if err != nil {
				faults = append(faults, err)
			}
		}
	}
	return faults
}

// A shownSetting is a setting for display.
type shownSetting struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Source string `json:"source"`
	Env    string `json:"environment"`
	Flag   string `json:"flag"`
	About  string `json:"about"`
}

func showConfig(std cli.Stdio, set *Config, asJSON bool, root *cobra.Command) error {
	t := cli.Table{Columns: []cli.Column{{Title: "SETTING"}, {Title: "VALUE", Least: 12},
		{Title: "FROM", Least: 8, Path: true}}}
	if w := std.Out; !asJSON {
		switch {
		case set.Path == "" && !set.Off:
			fmt.Fprintln(w, "# no file: neither PTYWRIGHT_HOME nor a home folder is set")
		case set.Off:
			fmt.Fprintf(w, "# no file: %s is off\n", PathVariable)
		case set.Exists:
			fmt.Fprintf(w, "# %s\n", cli.OneLine(set.Path))
		case len(set.Faults) > 0:
			fmt.Fprintf(w, "# %s could not be read\n", cli.OneLine(set.Path))
		default:
			fmt.Fprintf(w, "# %s does not exist\n", cli.OneLine(set.Path))
		}
	}
	for _, s := range Settings {
		shown := shownSetting{Key: s.Key, Source: "default", Env: s.Env(), Flag: "--" + s.Flag,
			About: s.About}
		v, ok := set.Value(s)
		if ok {
			shown.Source = v.Source
			if set.Judge(s, v) != nil {
				shown.Source += ", which is wrong"
			}
		} else {
			v.Values = defaultOf(root, s)
		}
		for i, text := range v.Values {
			v.Values[i] = redact.Default.String(text)
		}
		shown.Value = strings.Join(v.Values, ", ")
		if s.Kind == Paths {
			shown.Value = append([]string{}, v.Values...)
		}
		if asJSON {
			if err := std.JSON(shown); err != nil {
				return err
			}
			continue
		}
		t.Row(s.Key, strings.Join(v.Values, ", "), shown.Source)
	}
	if asJSON {
		return nil
	}
	return t.Print(std.Out)
}

// defaultOf is a setting's default, according to the flag of the first command that has it.
func defaultOf(root *cobra.Command, s Setting) []string {
	if s.Key == "socket" {
		if path, err := daemon.DefaultSocket(); err == nil {
			return []string{path}
		}
	}
	for _, c := range root.Commands() {
		f := c.Flags().Lookup(s.Flag)
		if f == nil ||
			len(For(c.Name(), false, func(flag string) bool { return flag == s.Flag })) == 0 {
			continue
		}
		if s.Kind == Paths || f.DefValue == "" {
			return nil
		}
		return []string{f.DefValue}
	}
	return nil
}

// checkLogFile says why a path cannot be a log's, nil when it can. It creates no file.
func checkLogFile(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		folder, err := os.Stat(filepath.Dir(path))
		if err != nil {
			return err
		}
		if !folder.IsDir() {
			return fmt.Errorf("%s is not a folder", filepath.Dir(path))
		}
		return writable(filepath.Dir(path))
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link: name the file itself", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	}
	return writable(path)
}
