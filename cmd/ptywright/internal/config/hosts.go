package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/protocol/far"
)

// A Machine is one host of hosts.toml.
type Machine struct {
	Name string
	// Command speaks the wire on its standard streams: ["ssh", "web-3", "ptywright", "relay"].
	Command []string
}

// mostWords bounds a command: with jump hosts and options ssh has some twenty.
const mostWords = 64

// HostsFile is where hosts.toml is unless told: beside config.toml. "" where there is no
// configuration.
func HostsFile() (string, error) {
	set, err := loadConfig()
	if set.Off || set.Path == "" {
		return "", nil
	}
	var faulty *FileError
	if errors.As(err, &faulty) {
		err = nil // its place is known
	}
	return filepath.Join(filepath.Dir(set.Path), "hosts.toml"), err
}

// LoadHosts reads the hosts of a file, in the order of their names. Like config.toml it must be
// this user's, and nobody else may write it: it says what is run. A file that is not there is an
// error only with must. Errors are [*FileError].
func LoadHosts(path string, must bool) ([]Machine, error) {
	text, err := read(path)
	if errors.Is(err, fs.ErrNotExist) && !must {
		return nil, nil
	}
	if err != nil {
		var of *fs.PathError
		if errors.As(err, &of) {
			err = of.Err
		}
		return nil, &FileError{Path: path, Err: err}
	}
	all, err := parseHosts(text)
	var fault *FileError
	if errors.As(err, &fault) {
		fault.Path = path
	}
	return all, err
}

// parseHosts reads the text of a file. Errors are [*FileError] without a path.
func parseHosts(text string) ([]Machine, error) {
	var tree struct {
		Hosts map[string]struct {
			Command []string `toml:"command"`
		} `toml:"hosts"`
	}
	if !utf8.ValidString(text) {
		return nil, &FileError{Err: errNotUTF8}
	}
	meta, err := toml.Decode(text, &tree)
	if err != nil {
		var p toml.ParseError
		if errors.As(err, &p) {
			return nil, &FileError{Line: p.Position.Line, Err: errors.New(clip(p.Message))}
		}
		return nil, &FileError{Err: errors.New(clip(strings.TrimPrefix(err.Error(), "toml: ")))}
	}
	lines := linesOf(text)
	fault := func(key, format string, args ...any) error {
		return &FileError{Line: lines[key], Key: clip(key), Err: fmt.Errorf(format, args...)}
	}
	if more := meta.Undecoded(); len(more) > 0 {
		return nil, fault(strings.Join(more[0], "."),
			`no such setting: a host is [hosts.NAME] with command = ["ssh", "NAME", "ptywright", "relay"]`)
	}
	var all []Machine
	for name, of := range tree.Hosts {
		key := "hosts." + name
		if err := far.CheckName(name); err != nil {
			return nil, fault(key, "%w", err)
		}
		switch {
		case len(of.Command) == 0 || of.Command[0] == "":
			return nil, fault(key, `it has no command: give one such as ["ssh", "%s", "ptywright", "relay"]`, name)
		case len(of.Command) > mostWords:
			return nil, fault(key+".command", "it has %d words, more than %d", len(of.Command),
				mostWords)
		case slices.ContainsFunc(of.Command, func(w string) bool { return strings.Contains(w, "\x00") }):
			return nil, fault(key+".command", "a word has a NUL")
		}
		all = append(all, Machine{name, of.Command})
	}
	slices.SortFunc(all, func(a, b Machine) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Hosts returns the hosts of the file that a flag names, or else of the one beside config.toml,
// which need not be there.
func Hosts(flag string) (all []Machine, path string, err error) {
	if path = flag; path == "" {
		if path, err = HostsFile(); err != nil || path == "" {
			return nil, "", err
		}
	} else if path, err = filepath.Abs(path); err != nil {
		return nil, "", err
	}
	all, err = LoadHosts(path, flag != "")
	return all, path, err
}

// CompleteHosts completes the names of hosts that begin with a word. most bounds how many a command
// takes; 0: any number.
func CompleteHosts(most int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		all, _, err := Hosts("")
		if err != nil || most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, m := range all {
			if strings.HasPrefix(m.Name, begun) && !slices.Contains(args, m.Name) {
				names = append(names, m.Name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// Find returns the machine of a name.
func Find(all []Machine, name, path string) (Machine, error) {
	for _, m := range all {
		if m.Name == name {
			return m, nil
		}
	}
	if _, err := os.Stat(path); err != nil {
		return Machine{}, fmt.Errorf("unknown host %q: there is no %s", clip32(name), path)
	}
	return Machine{}, fmt.Errorf("unknown host %q: %s has no [hosts.%s]", clip32(name), path,
		clip32(name))
}
