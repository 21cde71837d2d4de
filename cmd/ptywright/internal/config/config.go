// Package config is what a person sets once instead of with every command: config.toml and the environment, below flags.
// [Load] reads the file, [Config.Value] tells what holds of a setting and where it comes from. It knows the names and the
// kinds of settings, and nothing of what they do.
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// A Kind is what a setting's value is.
type Kind int

// The kinds.
const (
	Text   Kind = iota
	Path        // of a file: in config.toml from its folder, ~/ is the home folder
	Paths       // an array of them; in the environment divided as PATH is
	Number      // whole
	Truth       // true or false
)

// A Setting is one key of config.toml.
type Setting struct {
	Key   string // "log.file"
	Flag  string // of the commands that it is for
	Kind  Kind
	About string
	// Only are the commands that it is for; none: all that have the flag.
	Only []string
	// Shared says that it is of the server that is shared, and not of one that is the child of its client: two could not
	// have it at a time.
	Shared bool
}

// Env is the variable that goes before the file: PTYWRIGHT_LOG_FILE of log.file.
func (s Setting) Env() string {
	return "PTYWRIGHT_" + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
}

// Settings are all there are, in the order in which they are shown.
var Settings = []Setting{
	{Key: "socket", Flag: "socket", Kind: Path, Shared: true, About: "where the server listens that people share"},
	{Key: "plugins", Flag: "plugin", Kind: Paths, About: "manifests of plugins that servers load"},
	{Key: "allow_plugin_load", Flag: "allow-plugin-load", Kind: Truth, About: "clients may load plugins from this machine's files"},
	{Key: "trust_raw", Flag: "trust-raw", Kind: Truth, About: "MCP and Unterm clients may see what is not redacted"},
	{Key: "log.level", Flag: "log-level", Kind: Text, About: "debug, info, warn or error"},
	{Key: "log.file", Flag: "log-file", Kind: Path, About: "where servers log, instead of standard error"},
	{Key: "log.format", Flag: "log-format", Kind: Text, About: "text or json"},
	{Key: "limits.sessions", Flag: "max-sessions", Kind: Number, About: "sessions at a time"},
	{Key: "limits.screen", Flag: "max-screen", Kind: Number, About: "rows or columns of a screen"},
	{Key: "limits.message_bytes", Flag: "max-message-bytes", Kind: Number, About: "size of one message"},
	{Key: "limits.requests", Flag: "max-requests", Kind: Number, About: "requests a connection may have under way"},
	{Key: "limits.queued_bytes", Flag: "max-queued-bytes", Kind: Number, About: "requests a connection may have queued"},
	{Key: "limits.reply_bytes", Flag: "max-reply-bytes", Kind: Number, About: "replies a client may leave unread"},
	{Key: "limits.matcher_depth", Flag: "max-matcher-depth", Kind: Number, About: "levels of nested matchers"},
	{Key: "mcp.http", Flag: "mcp-http", Kind: Text, Shared: true, About: "serve MCP over HTTP, too, on this address"},
	{Key: "mcp.profile", Flag: "profile", Kind: Text, Only: []string{"serve", "mcp"}, About: "ptywright or terminal-mcp"},
	{Key: "unterm.enabled", Flag: "unterm", Kind: Truth, Only: []string{"serve"}, Shared: true, About: "serve Unterm's methods, too"},
	{Key: "unterm.root", Flag: "root", Kind: Path, Only: []string{"serve", "unterm"}, About: "where instances of unterm register"},
	{Key: "unterm.port", Flag: "port", Kind: Number, Only: []string{"serve", "unterm"}, About: "port of unterm on the loopback; 0: a free one"},
}

// For returns the settings that are flags of a command. child says that the command is the child of its client.
func For(command string, child bool, has func(flag string) bool) []Setting {
	var all []Setting
	for _, s := range Settings {
		if has(s.Flag) && !(child && s.Shared) && (s.Only == nil || slices.Contains(s.Only, command)) {
			all = append(all, s)
		}
	}
	return all
}

// PathVariable is the variable that names another file than config.toml in the root. Off says that there is none.
const (
	PathVariable = "PTYWRIGHT_CONFIG"
	Off          = "off"
)

// maxFile bounds the file, in bytes. One that sets everything has 1 KiB.
const maxFile = 64 << 10

// A FileError says what is wrong with the file.
type FileError struct {
	Path string
	Line int // from 1; 0 when it is about the file, or not known
	Key  string
	Err  error
}

func (e *FileError) Error() string {
	where := e.Path
	if e.Line > 0 {
		where += ", line " + strconv.Itoa(e.Line)
	}
	if e.Key != "" {
		where += ", " + e.Key
	}
	return where + ": " + e.Err.Error()
}

func (e *FileError) Unwrap() error { return e.Err }

// ErrNotPrivate is about a file that somebody else could have written.
var ErrNotPrivate = errors.New("others could have written it")

// A Config is what a person has set. It is not changed once it is made.
type Config struct {
	Path   string // of the file, "" when there is to be none
	Exists bool
	file   map[string]entry
	env    func(string) (string, bool)
}

// An entry is a value of the file.
type entry struct {
	values []string
	line   int
}

// A Value is what holds of a setting, below flags.
type Value struct {
	Values []string // one, but of Paths
	Source string   // "environment PTYWRIGHT_SOCKET" or "/home/ada/.ptywright/config.toml, line 3"
	name   string   // the variable; "": of the file
}

// Load reads config.toml in the folder root, or the file that PTYWRIGHT_CONFIG names, which then must exist. Env looks up variables: [os.LookupEnv].
// The file must be a regular one of this user's that neither its group nor others can write, as it says what code servers
// load. Errors are [*FileError].
func Load(root string, env func(string) (string, bool)) (*Config, error) {
	c := &Config{Path: filepath.Join(root, "config.toml"), env: env}
	named, must := env(PathVariable)
	switch {
	case must && named == Off:
		c.Path = ""
		return c, nil
	case must && named != "":
		c.Path = named
	default:
		must = false
	}
	text, err := read(c.Path)
	if errors.Is(err, fs.ErrNotExist) && !must {
		return c, nil
	}
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return c, &FileError{Path: c.Path, Err: err}
	}
	c.Exists = true
	if c.file, err = parse(text, filepath.Dir(c.Path)); err != nil {
		var e *FileError
		if errors.As(err, &e) {
			e.Path = c.Path
		}
		return c, err
	}
	return c, nil
}

// read reads the file if it is safe.
func read(path string) (string, error) {
	f, err := open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is no regular file")
	}
	if err := private(info); err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxFile {
		return "", fmt.Errorf("it has more than %d bytes", maxFile)
	}
	return string(b), nil
}

// parse reads the text of a file in the folder dir. Errors are [*FileError] without a path; they quote nothing but keys.
func parse(text, dir string) (map[string]entry, error) {
	if !utf8.ValidString(text) {
		return nil, &FileError{Err: errors.New("it is no UTF-8 text")}
	}
	var tree map[string]any
	meta, err := toml.Decode(text, &tree)
	if err != nil {
		var p toml.ParseError
		if errors.As(err, &p) {
			return nil, &FileError{Line: p.Position.Line, Err: errors.New(clip(p.Message))}
		}
		return nil, &FileError{Err: errors.New(clip(strings.TrimPrefix(err.Error(), "toml: ")))}
	}
	lines := linesOf(text)
	found := map[string]entry{}
	for _, key := range meta.Keys() {
		name := strings.Join(key, ".")
		fault := func(format string, args ...any) error {
			return &FileError{Line: lines[name], Key: clip(name), Err: fmt.Errorf(format, args...)}
		}
		value := lookup(tree, key)
		i := slices.IndexFunc(Settings, func(s Setting) bool { return s.Key == name })
		if i < 0 {
			if _, table := value.(map[string]any); table && slices.ContainsFunc(Settings, func(s Setting) bool { return strings.HasPrefix(s.Key, name+".") }) {
				continue
			}
			return nil, fault("there is no such setting%s", nearest(name))
		}
		values, err := Settings[i].Kind.values(value, dir)
		if err != nil {
			return nil, fault("%w", err)
		}
		found[name] = entry{values, lines[name]}
	}
	return found, nil
}

// lookup walks a tree; nil when a key leads nowhere, as into an array of tables.
func lookup(tree map[string]any, key toml.Key) any {
	var at any = tree
	for _, k := range key {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[k]
	}
	return at
}

// values turns a value of TOML into what a flag takes.
func (k Kind) values(v any, dir string) ([]string, error) {
	switch v := v.(type) {
	case string:
		if k == Text {
			return []string{v}, nil
		}
		if k == Path {
			p, err := expand(v, dir)
			return []string{p}, err
		}
	case int64:
		if k == Number {
			return []string{strconv.FormatInt(v, 10)}, nil
		}
	case bool:
		if k == Truth {
			return []string{strconv.FormatBool(v)}, nil
		}
	case []any:
		if k != Paths {
			break
		}
		all := []string{}
		for _, one := range v {
			s, ok := one.(string)
			if !ok {
				return nil, fmt.Errorf("give %s", k)
			}
			p, err := expand(s, dir)
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
		return all, nil
	}
	return nil, fmt.Errorf("give %s", k)
}

func (k Kind) String() string {
	return []string{"a string", "a path, a string", "an array of paths, strings", "a whole number", "true or false"}[k]
}

// expand makes a path of the file one that holds everywhere. A named pipe of Windows is one already.
func expand(p, dir string) (string, error) {
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("~ cannot be told: %w", err)
		}
		return filepath.Join(home, rest), nil
	}
	if p == "" || filepath.IsAbs(p) || strings.HasPrefix(p, `\\`) {
		return p, nil
	}
	return filepath.Abs(filepath.Join(dir, p))
}

// Value tells what is set of s; ok is false when nothing is. The environment goes before the file.
func (c *Config) Value(s Setting) (v Value, ok bool) {
	if text, ok := c.env(s.Env()); ok {
		v = Value{Values: []string{text}, Source: "environment " + s.Env(), name: s.Env()}
		if s.Kind == Paths {
			v.Values = filepath.SplitList(text)
		}
		return v, true
	}
	e, ok := c.file[s.Key]
	if !ok {
		return Value{}, false
	}
	source := c.Path
	if e.line > 0 {
		source += ", line " + strconv.Itoa(e.line)
	}
	return Value{Values: e.values, Source: source}, true
}

// Fault is an error about a value that a command does not take.
func (c *Config) Fault(s Setting, v Value, err error) error {
	if v.name != "" {
		return fmt.Errorf("%s in the environment: %w", v.name, err)
	}
	return &FileError{Path: c.Path, Line: c.file[s.Key].line, Key: s.Key, Err: err}
}

// header is the line that begins a table.
var header = regexp.MustCompile(`^\[([A-Za-z0-9_.\- ]+)\]`)

// linesOf tells the line of each key, by the tables and the names that lines begin with: the decoder keeps no positions. A key that is
// written in a way that people do not write is not there.
func linesOf(text string) map[string]int {
	lines := map[string]int{}
	table := ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if m := header.FindStringSubmatch(line); m != nil {
			table = strings.ReplaceAll(m[1], " ", "") + "."
			lines[strings.TrimSuffix(table, ".")] = i + 1
			continue
		}
		name, _, ok := strings.Cut(line, "=")
		if name = table + strings.Trim(strings.TrimSpace(name), `"'`); ok && lines[name] == 0 {
			lines[name] = i + 1
		}
	}
	return lines
}

// nearest proposes a setting for a name that is none: one with the same last part, or the same beginning.
func nearest(name string) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	for _, s := range Settings {
		if strings.HasSuffix(s.Key, last) && last != "" || strings.HasPrefix(s.Key, name) || strings.ReplaceAll(name, "-", "_") == s.Key || s.Flag == name {
			return ": did you mean " + s.Key + "?"
		}
	}
	return "; ptywright config lists those that there are"
}

// clip bounds what is quoted of the file.
func clip(s string) string {
	const most = 80
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
