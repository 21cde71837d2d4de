package plugins

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/BurntSushi/toml"
)

// A Permission is a right that a plugin's manifest requests. Without it neither a method on the
// plugin's adapters nor an action that it returns may do the thing.
type Permission string

const (
	SessionSpawn   Permission = "session.spawn"   // adapter.start and adapter.resume
	SessionKill    Permission = "session.kill"    // adapter.close; the actions kill and signal
	SessionResize  Permission = "session.resize"  // the action resize
	ScreenRead     Permission = "screen.read"     // adapter.snapshot, adapter.state, adapter.inspect
	TranscriptRead Permission = "transcript.read" // adapter.transcript
	InputWrite     Permission = "input.write"     // adapter.send; every action that types, and theme
	MatcherWait    Permission = "matcher.wait"    // adapter.wait
)

// Permissions returns all permissions, in the order in which plugin.capabilities lists them.
func Permissions() []Permission {
	return []Permission{SessionSpawn, SessionKill, SessionResize, ScreenRead, TranscriptRead,
		InputWrite, MatcherWait}
}

// A Kind is what a plugin is for. It is information for clients, with no effect here.
type Kind string

const (
	KindAdapter Kind = "adapter"
	KindMacro   Kind = "macro"
	KindMatcher Kind = "matcher"
)

// A Manifest says what a plugin is, what it may do and what it drives. It is read from a
// manifest.toml, and sent to clients as JSON with the same keys. A Manifest returned by
// [ParseManifest] is valid and must not be modified.
type Manifest struct {
	Name        string       `toml:"name" json:"name"` // as clients call it: lower-case letters, digits, dots, hyphens; at most maxName
	Kind        Kind         `toml:"kind" json:"kind"`
	Version     string       `toml:"version" json:"version"`
	Runtime     string       `toml:"runtime" json:"runtime,omitempty"`       // "lua", or "" for a manifest that only names a target
	Entrypoint  string       `toml:"entrypoint" json:"entrypoint,omitempty"` // the main file, below the manifest's folder, with slashes
	Permissions []Permission `toml:"permissions" json:"permissions"`
	// ProgramStatus makes the terminal answer the program's query for the Program Status Protocol
	// (OSC 7501), after which the program reports its states in-band.
	ProgramStatus bool `toml:"program_status" json:"program_status,omitempty"`
	// ShellIntegration makes a program that is an interactive bash, zsh or fish mark its commands;
	// others run unchanged.
	ShellIntegration bool    `toml:"shell_integration" json:"shell_integration,omitempty"`
	Target           *Target `toml:"default_target" json:"default_target,omitempty"`
}

// A Target is the program that adapter.start runs by default.
type Target struct {
	Program string   `toml:"program" json:"program"` // a path, or a name that is looked up in PATH
	Args    []string `toml:"args" json:"args,omitempty"`
	Rows    int      `toml:"rows" json:"rows,omitempty"` // 1 to 1000; 0: the server's default
	Cols    int      `toml:"cols" json:"cols,omitempty"` // likewise
	// Env are defaults that the caller may override; RequiredEnv always applies, since the plugin
	// cannot read the program without it.
	Env         map[string]string `toml:"env" json:"env,omitempty"`
	RequiredEnv map[string]string `toml:"required_env" json:"required_env,omitempty"`
}

// Allows reports whether the manifest requests p.
func (m *Manifest) Allows(p Permission) bool { return slices.Contains(m.Permissions, p) }

const (
	// maxManifest bounds the text of a manifest, in bytes. The largest in use has 2 KiB.
	maxManifest = 64 << 10
	// maxName bounds a plugin's name, in bytes: every message about the plugin contains it.
	maxName = 64
	// maxSide bounds the rows and columns of a target, as of every screen.
	maxSide = 1000
)

// A ManifestError says what is wrong with a manifest.
type ManifestError struct {
	Key string // the key that is wrong, such as "default_target.rows"; "" when the text is not TOML
	// Line is the line in the text, from 1; 0 when unknown, as for a missing key.
	Line int
	Err  error
}

// Error names the key and the line.
func (e *ManifestError) Error() string {
	var b strings.Builder
	b.WriteString("plugin manifest")
	if e.Line > 0 {
		fmt.Fprintf(&b, ", line %d", e.Line)
	}
	if e.Key != "" {
		fmt.Fprintf(&b, ": %s", e.Key)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return b.String()
}

// Unwrap returns the cause.
func (e *ManifestError) Unwrap() error { return e.Err }

// ParseManifest reads a manifest of at most 64 KiB of TOML. An unknown key is an error, since it
// would otherwise be silently ignored. The error is a [*ManifestError].
func ParseManifest(text []byte) (*Manifest, error) {
	m, faults := readManifest(text)
	if len(faults) > 0 {
		return nil, faults[0]
	}
	return m, nil
}

// readManifest reads a manifest, or returns everything that is wrong with it.
func readManifest(text []byte) (*Manifest, []*ManifestError) {
	if len(text) > maxManifest {
		return nil, []*ManifestError{{Err: fmt.Errorf("it has %d bytes, at most %d are read",
			len(text), maxManifest)}}
	}
	tree := map[string]any{}
	if _, err := toml.Decode(string(text), &tree); err != nil {
		return nil, []*ManifestError{tomlError(err)}
	}
	faults := manifestShape.check("", tree)
	if len(faults) > 0 {
		return nil, located(text, faults)
	}
	m := new(Manifest)
	if _, err := toml.Decode(string(text), m); err != nil {
		return nil, []*ManifestError{tomlError(err)}
	}
	if faults = m.faults(); len(faults) > 0 {
		return nil, located(text, faults)
	}
	return m, nil
}

// tomlError extracts key and line from a decoder's error. Its long form quotes the text, which may
// contain a secret.
func tomlError(err error) *ManifestError {
	var parse toml.ParseError
	if errors.As(err, &parse) {
		return &ManifestError{Key: clip(parse.LastKey), Line: parse.Position.Line,
			Err: errors.New(clip(parse.Message))}
	}
	return &ManifestError{Err: errors.New(clip(strings.TrimPrefix(err.Error(), "toml: ")))}
}

// Validate checks everything that does not need the disk. The error is a [*ManifestError] about the
// first fault.
func (m *Manifest) Validate() error {
	if faults := m.faults(); len(faults) > 0 {
		return faults[0]
	}
	return nil
}

// faults returns everything wrong that can be found without the disk.
func (m *Manifest) faults() []*ManifestError {
	var faults []*ManifestError
	fault := func(key, format string, args ...any) {
		faults = append(faults, &ManifestError{Key: key, Err: fmt.Errorf(format, args...)})
	}
	switch {
	case m.Name == "":
		fault("name", "it is missing")
	case len(m.Name) > maxName:
		fault("name", "%q has %d bytes, at most %d are allowed", clip(m.Name), len(m.Name), maxName)
	case strings.Trim(m.Name, "abcdefghijklmnopqrstuvwxyz0123456789.-_") != "":
		fault("name", "%q: use lower-case letters, digits, dots, hyphens and underscores",
			clip(m.Name))
	}
	if !slices.Contains([]Kind{KindAdapter, KindMacro, KindMatcher}, m.Kind) {
		fault("kind", "%q: use adapter, macro or matcher", clip(string(m.Kind)))
	}
	if strings.TrimSpace(m.Version) == "" {
		fault("version", "it is missing")
	}
	switch {
	case m.Runtime == "wasm":
		fault("runtime", "wasm is not supported: use lua")
	case m.Runtime != "" && m.Runtime != "lua":
		fault("runtime", "%q: use lua", clip(m.Runtime))
	case m.Runtime != "" && m.Entrypoint == "":
		fault("entrypoint", "a plugin with a runtime needs one: name its main file")
	case m.Runtime == "" && m.Entrypoint != "":
		fault("runtime", "a plugin with an entrypoint needs one: use lua")
	}
	if err := checkEntrypoint(m.Entrypoint); err != nil {
		fault("entrypoint", "%w", err)
	}
	for i, p := range m.Permissions {
		switch {
		case !slices.Contains(Permissions(), p):
			fault("permissions", "unknown permission %q: use some of %s", clip(string(p)),
				join(Permissions()))
		case slices.Contains(m.Permissions[:i], p):
			fault("permissions", "%q stands there twice", p)
		}
	}
	if m.Target != nil {
		m.Target.faults(fault)
	}
	return faults
}

func (t *Target) faults(report func(key, format string, args ...any)) {
	fault := func(key, format string,
		args ...any) {
		report("default_target."+key, format, args...)
	}
	switch {
	case strings.TrimSpace(t.Program) == "":
		fault("program", "it is missing")
	case strings.ContainsRune(t.Program, 0):
		fault("program", "it holds a NUL byte")
	case strings.ContainsFunc(t.Program, func(r rune) bool { return !unicode.IsPrint(r) }):
		fault("program", "%q: it holds a control character, or another that cannot be seen",
			clip(t.Program))
	}
	if t.Rows < 0 || t.Rows > maxSide {
		fault("rows", "%d: use 1 to %d", t.Rows, maxSide)
	}
	if t.Cols < 0 || t.Cols > maxSide {
		fault("cols", "%d: use 1 to %d", t.Cols, maxSide)
	}
	for _, a := range t.Args {
		if strings.ContainsRune(a, 0) {
			fault("args", "an argument holds a NUL byte")
			break
		}
	}
	for _, set := range []struct {
		key string
		env map[string]string
	}{{"env", t.Env}, {"required_env", t.RequiredEnv}} {
		for _, k := range slices.Sorted(maps.Keys(set.env)) {
			if k == "" || strings.ContainsAny(k, "=\x00") || strings.ContainsRune(set.env[k], 0) {
				fault(set.key, "%q is not a valid environment variable", clip(k))
			}
		}
	}
}

// checkEntrypoint refuses what os.Root would, before the disk is read, and alike on every system.
func checkEntrypoint(path string) error {
	switch {
	case path == "":
		return nil
	case strings.ContainsAny(path, "\\:\x00"):
		return fmt.Errorf("%q: use a path below the manifest's folder, with slashes", clip(path))
	case strings.HasPrefix(path, "/"):
		return fmt.Errorf("%q is absolute: use a path below the manifest's folder", clip(path))
	case slices.Contains(strings.Split(path, "/"), ".."):
		return fmt.Errorf("%q leaves the manifest's folder", clip(path))
	}
	return nil
}

func join(ps []Permission) string {
	var names []string
	for _, p := range ps {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}

// maxShown is how much of a plugin author's or caller's text a message repeats, in bytes.
const maxShown = 64

func clip(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "..."
}
