// Package config reads settings that a person makes once instead of with every command: config.toml
// and the environment, which flags override. [Load] reads the file, [Config.Value] returns a
// setting's value and where it comes from. [Wire] gives them to commands as values of flags, and
// [Command] shows them. The package knows the names and kinds of settings, and nothing of what they
// do.
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/internal/nearest"
	"github.com/ptywright/ptywright/protocol/loopback"
)

// A Kind is what a setting's value is.
type Kind int

// The kinds.
const (
	Text    Kind = iota
	Path         // of a file: in config.toml relative to its folder, ~/ is the home folder
	Paths        // an array of paths; in the environment separated as PATH is
	Number       // whole
	Truth        // true or false
	Address      // on this machine, with a port: the traffic is not encrypted
)

// A Setting is one key of config.toml.
type Setting struct {
	Key   string // "log.file"
	Flag  string // of the commands that use it
	Kind  Kind
	About string
	// Only names the commands that use it; none: all that have the flag.
	Only []string
	// Least and Most bound a Number.
	Least, Most int64
	// Words are the values a Text may have, if they are a closed set. Case does not count.
	Words []string
	// Shared says that it applies to the shared server, and not to one that is its client's child:
	// two servers could not have it at the same time.
	Shared bool
}

// Env is the variable that overrides the file: PTYWRIGHT_LOG_FILE for log.file.
func (s Setting) Env() string {
	return "PTYWRIGHT_" + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
}

// Settings are all settings, in the order in which they are shown.
var Settings = []Setting{
	{Key: "socket", Flag: "socket", Kind: Path, Shared: true,
		About: "where the server listens that people share"},
	{Key: "read_only_socket", Flag: "read-only-socket", Kind: Path, Shared: true,
		About: "where it listens for clients that only look"},
	{Key: "audit", Flag: "audit", Kind: Path, Shared: true,
		About: "file in which it writes down who does what"},
	{Key: "hosts", Flag: "hosts", Kind: Path, Only: []string{"serve"}, Shared: true,
		About: "the file of other machines whose sessions are shown, instead of hosts.toml beside this one"},
	{Key: "plugins", Flag: "plugin", Kind: Paths, About: "manifests of plugins that servers load"},
	{Key: "allow_plugin_load", Flag: "allow-plugin-load", Kind: Truth,
		About: "clients may load plugins from this machine's files"},
	{Key: "trust_raw", Flag: "trust-raw", Kind: Truth,
		About: "MCP and Unterm clients may see what is not redacted"},
	{Key: "log.level", Flag: "log-level", Kind: Text,
		Words: []string{"debug", "info", "warn", "error"}, About: "debug, info, warn or error"},
	{Key: "log.file", Flag: "log-file", Kind: Path,
		About: "where servers log, instead of standard error"},
	{Key: "log.format", Flag: "log-format", Kind: Text, Words: []string{"text", "json"},
		About: "text or json"},
	{Key: "history_max_bytes", Flag: "history-max-bytes", Kind: Number, Most: 1 << 30,
		About: "memory with which a session shows its past; 0 shows none"},
	{Key: "limits.sessions", Flag: "max-sessions", Kind: Number, Least: 1, Most: 1 << 20,
		About: "sessions that run at a time"},
	{Key: "limits.ended", Flag: "max-ended", Kind: Number, Least: 1, Most: 1 << 20,
		About: "sessions that have ended and are kept"},
	{Key: "limits.ended_bytes", Flag: "max-ended-bytes", Kind: Number, Least: 1, Most: 1 << 30,
		About: "memory of those together"},
	{Key: "limits.screen", Flag: "max-screen", Kind: Number, Least: 1, Most: 1000,
		About: "rows or columns of a screen"},
	{Key: "limits.message_bytes", Flag: "max-message-bytes", Kind: Number, Least: 1, Most: 1 << 30,
		About: "size of one message"},
	{Key: "limits.requests", Flag: "max-requests", Kind: Number, Least: 1, Most: 1 << 20,
		About: "requests a connection may have under way"},
	{Key: "limits.queued_bytes", Flag: "max-queued-bytes", Kind: Number, Least: 1, Most: 1 << 30,
		About: "requests a connection may have queued"},
	{Key: "limits.reply_bytes", Flag: "max-reply-bytes", Kind: Number, Least: 1, Most: 1 << 30,
		About: "replies a client may leave unread"},
	{Key: "limits.matcher_depth", Flag: "max-matcher-depth", Kind: Number, Least: 1, Most: 32,
		About: "levels of nested matchers"},
	{Key: "mcp.http", Flag: "mcp-http", Kind: Address, Shared: true,
		About: "serve MCP over HTTP, too, on this address"},
	{Key: "mcp.profile", Flag: "profile", Kind: Text, Words: []string{"ptywright", "terminal-mcp"},
		Only: []string{"serve", "mcp"}, About: "ptywright or terminal-mcp"},
	{Key: "unterm.enabled", Flag: "unterm", Kind: Truth, Only: []string{"serve"}, Shared: true,
		About: "serve Unterm's methods, too"},
	{Key: "unterm.root", Flag: "root", Kind: Path, Only: []string{"serve", "unterm"},
		About: "where instances of unterm register"},
	{Key: "unterm.port", Flag: "port", Kind: Number, Most: 65535, Only: []string{"serve", "unterm"},
		About: "port of unterm on the loopback; 0: a free one"},
}

// For returns the settings that are flags of a command. child says that the command is its client's
// child.
func For(command string, child bool, has func(flag string) bool) []Setting {
	var all []Setting
	for _, s := range Settings {
		if has(s.Flag) && !(child && s.Shared) &&
			(s.Only == nil || slices.Contains(s.Only, command)) {
			all = append(all, s)
		}
	}
	return all
}

// PathVariable is the variable that names another file than config.toml in the root. Off means no
// file.
const (
	PathVariable = "PTYWRIGHT_CONFIG"
	Off          = "off"
)

var errNotUTF8 = errors.New("not valid UTF-8")

// maxFile bounds the file, in bytes. A file that sets everything has 1 KiB.
const maxFile = 64 << 10

// A FileError says what is wrong with the file.
type FileError struct {
	Path string
	Line int // from 1; 0 when it concerns the whole file, or is not known
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

// ErrNotPrivate reports a file that somebody else could have written.
var ErrNotPrivate = errors.New("others could have written it")

// A Config holds the settings that a person has made. It is immutable.
type Config struct {
	Path   string // of the file, "" when there is none
	Off    bool   // as [PathVariable] says
	Exists bool
	Faults []error // of the file, each a [*FileError], in the order of its lines; a key that has one is not set
	file   map[string]entry
	env    func(string) (string, bool)
}

// An entry is a value of the file.
type entry struct {
	values []string
	line   int
}

// A Value is the value of a setting, before flags.
type Value struct {
	Values []string // one, except for Paths
	Source string   // "environment PTYWRIGHT_SOCKET" or "/home/ada/.ptywright/config.toml, line 3"
	name   string   // the variable; "": from the file
}

// Load reads config.toml in the folder root, "" for none, or the file that PTYWRIGHT_CONFIG names,
// which then must exist. env looks up variables: [os.LookupEnv]. The file must be a regular file of
// this user that neither its group nor others can write, because it says what code servers load.
// Errors are [*FileError], the first of Faults; the settings without faults are in the Config,
// which is never nil.
func Load(root string, env func(string) (string, bool)) (*Config, error) {
	c := &Config{Path: filepath.Join(root, "config.toml"), env: env}
	named, must := env(PathVariable)
	switch {
	case must && named == Off:
		c.Path, c.Off = "", true
		return c, nil
	case must && named != "":
		c.Path = named
	case root == "":
		c.Path = ""
		return c, nil
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
		err = &FileError{Path: c.Path, Err: err}
		c.Faults = []error{err}
		return c, err
	}
	c.Exists = true
	file, faults := parse(text, filepath.Dir(c.Path))
	c.file = file
	for _, f := range faults {
		f.Path = c.Path
		c.Faults = append(c.Faults, f)
	}
	switch n := len(c.Faults); n {
	case 0:
		return c, nil
	case 1:
		return c, c.Faults[0]
	default:
		return c, fmt.Errorf("%w (and %d more)", c.Faults[0], n-1)
	}
}

// read reads the file if it is private.
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
		return "", errors.New("it is not a regular file")
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

// parse reads the text of a file in the folder dir, and returns its valid entries and its faults in
// the order of lines. Faults have no path; they quote nothing but keys.
func parse(text, dir string) (map[string]entry, []*FileError) {
	if !utf8.ValidString(text) {
		return nil, []*FileError{{Err: errNotUTF8}}
	}
	var tree map[string]any
	meta, err := toml.Decode(text, &tree)
	if err != nil {
		var p toml.ParseError
		if errors.As(err, &p) {
			return nil, []*FileError{{Line: p.Position.Line, Err: errors.New(clip(p.Message))}}
		}
		return nil, []*FileError{{Err: errors.New(clip(strings.TrimPrefix(err.Error(), "toml: ")))}}
	}
	lines := linesOf(text)
	found := map[string]entry{}
	var faults []*FileError
	var unknown []string // tables; their keys are not reported as well
	for _, key := range meta.Keys() {
		name := strings.Join(key, ".")
		if slices.ContainsFunc(unknown,
			func(table string) bool { return strings.HasPrefix(name, table+".") }) {
			continue
		}
		fault := func(err error) {
			faults = append(faults,
				&FileError{Line: lines[name], Key: clip(name), Err: err})
		}
		value := lookup(tree, key)
		_, table := value.(map[string]any)
		i := slices.IndexFunc(Settings, func(s Setting) bool { return s.Key == name })
		if i < 0 {
			if table && slices.Contains(tables(), name) {
				continue
			}
			unknown = append(unknown, name)
			fault(fmt.Errorf("no such setting%s", meant(name, table)))
			continue
		}
		s := Settings[i]
		values, err := s.Kind.values(value, dir)
		if err == nil {
			err = s.judge(values)
		}
		if err != nil {
			unknown = append(unknown, name)
			fault(err)
			continue
		}
		found[name] = entry{values, lines[name]}
	}
	slices.SortStableFunc(faults, func(a, b *FileError) int { return a.Line - b.Line })
	return found, faults
}

// tables are the tables that contain settings.
func tables() []string {
	var all []string
	for _, s := range Settings {
		if table, _, ok := strings.Cut(s.Key, "."); ok && !slices.Contains(all, table) {
			all = append(all, table)
		}
	}
	return all
}

// judge refuses values that the setting cannot have. Errors say what is allowed, and quote nothing.
func (s Setting) judge(values []string) error {
	if len(values) != 1 || s.Kind == Paths {
		return nil
	}
	switch v := values[0]; s.Kind {
	case Number:
		if n, err := strconv.ParseInt(v, 10, 64); err != nil || n < s.Least || n > s.Most {
			return fmt.Errorf("give %v from %d to %d", s.Kind, s.Least, s.Most)
		}
	case Truth:
		if _, err := strconv.ParseBool(v); err != nil {
			return fmt.Errorf("give %v", s.Kind)
		}
	case Text:
		if v != "" && s.Words != nil &&
			!slices.ContainsFunc(s.Words, func(w string) bool { return strings.EqualFold(w, v) }) {
			last := len(s.Words) - 1
			return fmt.Errorf("give %s or %s", strings.Join(s.Words[:last], ", "), s.Words[last])
		}
	case Address:
		if v != "" && loopback.Check(v) != nil {
			return errors.New("give an address of this machine's own with a port, such as 127.0.0.1:8123")
		}
	}
	return nil
}

// lookup walks a tree; it returns nil when a key leads nowhere, for example into an array of
// tables.
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

// values converts a TOML value into a flag's.
func (k Kind) values(v any, dir string) ([]string, error) {
	switch v := v.(type) {
	case string:
		if k == Text || k == Address {
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
	return []string{"a string", "a path, a string", "an array of paths, strings", "a whole number",
		"true or false", "an address, a string"}[k]
}

// expand makes a path from the file absolute. A Windows named pipe already is.
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

// Value returns the value of s; ok is false when it is not set. The environment overrides the file;
// an empty variable counts as not set, except for text and paths, where it means none.
func (c *Config) Value(s Setting) (v Value, ok bool) {
	if text, ok := c.env(s.Env()); ok && (text != "" || s.Kind != Number && s.Kind != Truth) {
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

// Judge says what is wrong with a value of s, nil when nothing is: an [*EnvError], because values
// of the file are checked when it is loaded.
func (c *Config) Judge(s Setting, v Value) error {
	if v.name == "" {
		return nil
	}
	if err := s.judge(v.Values); err != nil {
		return &EnvError{Name: v.name, Value: v.Values[0], Err: err}
	}
	return nil
}

// Fault is an error for a value that a command refuses.
func (c *Config) Fault(s Setting, v Value, err error) error {
	if v.name != "" {
		return &EnvError{Name: v.name, Value: strings.Join(v.Values, string(os.PathListSeparator)),
			Err: err}
	}
	return &FileError{Path: c.Path, Line: c.file[s.Key].line, Key: s.Key, Err: err}
}

// header is the line that begins a table.
var header = lazy.Regexp(`^\[([A-Za-z0-9_.\- ]+)\]`)

// linesOf returns the line of each key, found by the tables and names that lines begin with,
// because the decoder keeps no positions. A key written in an unusual way is missing.
func linesOf(text string) map[string]int {
	lines := map[string]int{}
	table := ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if m := header().FindStringSubmatch(line); m != nil {
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

// meant suggests a setting, or a table, for an unknown name: one with the same last part, the same
// beginning, or nearly the same letters.
func meant(name string, table bool) string {
	const did = ": did you mean "
	if near := nearest.Of(name, tables()); table && near != "" {
		return did + "[" + near + "]?"
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	keys, ends := make([]string, len(Settings)), make([]string, len(Settings))
	for i, s := range Settings {
		keys[i], ends[i] = s.Key, s.Key[strings.LastIndexByte(s.Key, '.')+1:]
		if ends[i] == last || strings.HasPrefix(s.Key, name) ||
			strings.ReplaceAll(name, "-", "_") == s.Key || s.Flag == last {
			return did + s.Key + "?"
		}
	}
	if near := nearest.Of(name, keys); near != "" {
		return did + near + "?"
	}
	if i := slices.Index(ends, nearest.Of(last, ends)); i >= 0 {
		return did + keys[i] + "?"
	}
	return "; ptywright config lists those that there are"
}

// clip32 bounds what is quoted of the environment.
func clip32(s string) string {
	if short := fmt.Sprintf("%.32s", s); len(short) < len(s) {
		return short + "…"
	}
	return s
}

// clip bounds what is quoted of the file.
func clip(s string) string {
	const most = 80
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
