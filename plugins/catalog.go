package plugins

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/internal/pulse"
)

// builtins are the plugins that come with the program, without their test data.
//
//go:embed */manifest.toml */*.lua
var builtins embed.FS

// A Plugin is a plugin in a catalog.
type Plugin struct {
	*Source
	Builtin    bool
	Path       string    // of the manifest that it was loaded from; "" if built in
	predicates *instance // for matchers without an adapter
}

// A Catalog holds the plugins that a server knows and the live adapters. Its methods may be called
// by any number of goroutines.
type Catalog struct {
	spawner Spawner
	log     *slog.Logger
	pulse   pulse.Pulse
	driven  pulse.Pulse

	mu sync.Mutex
	// protects the fields below
	loaded   map[string]*Plugin // see plugins; nil: not needed yet
	adapters map[string]*Adapter
	owners   map[engine.ID]*Adapter
	order    []*Adapter     // by start
	starting map[string]int // adapters of a plugin that are starting
	last     int
	broken   map[string]*ReloadError // why a plugin's files are not what runs, by its name
	watched  *watch                  // nil: files are not watched
}

// A Spawner starts sessions: an [engine.Engine], or a substitute.
type Spawner interface {
	Spawn(context.Context, engine.Config) (*engine.Session, error)
}

// NewCatalog returns a catalog of the built-in plugins, whose adapters drive sessions of s. What
// plugins print goes to log; nil: slog.Default. The built-in plugins are read on first use.
func NewCatalog(s Spawner, log *slog.Logger) *Catalog {
	if log == nil {
		log = slog.Default()
	}
	return &Catalog{
		spawner: s, log: log, adapters: map[string]*Adapter{}, owners: map[engine.ID]*Adapter{},
		starting: map[string]int{}, broken: map[string]*ReloadError{},
	}
}

// builtinSources returns the built-in plugins. It panics when one does not load: a bug.
var builtinSources = sync.OnceValue(func() []*Source {
	folders, err := fs.ReadDir(builtins, ".")
	if err != nil {
		panic(err)
	}
	sources := make([]*Source, len(folders))
	for i, f := range folders {
		if sources[i], err = OpenFS(builtins, f.Name()+"/manifest.toml"); err != nil {
			panic(err)
		}
	}
	return sources
})

// plugins returns the plugins by name, including the built-in ones. mu is held.
func (c *Catalog) plugins() map[string]*Plugin {
	if c.loaded == nil {
		c.loaded = map[string]*Plugin{}
		for _, s := range builtinSources() {
			c.add(s, "")
		}
	}
	return c.loaded
}

// add adds a plugin, replacing one of the same name. mu is held.
func (c *Catalog) add(s *Source, path string) *Plugin {
	p := &Plugin{Source: s, Builtin: path == "", Path: path, predicates: newInstance(s, c.log)}
	c.plugins()[s.Manifest.Name] = p
	return p
}

// Errors of a catalog. Each is wrapped with the name it is about.
var (
	ErrNoPlugin  = errors.New("unknown plugin")
	ErrNoAdapter = errors.New("unknown adapter")
	// ErrTaken: a plugin of that name is already loaded.
	ErrTaken = errors.New("a plugin of this name is loaded")
	// ErrBuiltin: a built-in plugin can be neither replaced nor unloaded.
	ErrBuiltin = errors.New("a built-in plugin stays as it is")
	// ErrInUse: adapters of the plugin are live.
	ErrInUse = errors.New("adapters of this plugin are live: close them first")
	// ErrNoCode: the manifest names no runtime, so there is nothing to run.
	ErrNoCode = errors.New("the plugin has no code: its manifest names no runtime")
)

// A NameError is an error about a plugin, an adapter or a function, with its name.
type NameError struct {
	Name string
	Err  error
}

// Error includes the name.
func (e *NameError) Error() string { return fmt.Sprintf("%s: %v", clip(e.Name), e.Err) }

// Unwrap returns the cause.
func (e *NameError) Unwrap() error { return e.Err }

// Load reads the plugin whose manifest is at path and adds it, after compiling its code and running
// its main chunk. Errors: *[ManifestError], *[LoadError], *[PluginError], and [ErrTaken] or
// [ErrBuiltin] in a *[NameError].
func (c *Catalog) Load(path string) (*Plugin, error) {
	source, err := Open(path)
	if err != nil {
		return nil, err
	}
	if source.Main != "" {
		if _, err := newLuaMachine(source, c.log, nil); err != nil {
			return nil, err
		}
	}
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	p, watched, err := c.enter(source, path)
	watched.add(p)
	return p, err
}

// enter adds a plugin under a new name.
func (c *Catalog) enter(source *Source, path string) (*Plugin, *watch, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := source.Manifest.Name
	if p, ok := c.plugins()[name]; ok {
		if p.Builtin {
			return nil, nil, &NameError{name, ErrBuiltin}
		}
		return nil, nil, &NameError{name, ErrTaken}
	}
	return c.add(source, path), c.watched, nil
}

// Unload removes a plugin. Waits that use it continue to their end. Errors: [ErrNoPlugin],
// [ErrBuiltin] or [ErrInUse] in a *[NameError].
func (c *Catalog) Unload(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.plugins()[name]
	switch {
	case !ok:
		return &NameError{name, ErrNoPlugin}
	case p.Builtin:
		return &NameError{name, ErrBuiltin}
	case c.starting[name] > 0 ||
		slices.ContainsFunc(c.order,
			func(a *Adapter) bool { return a.Plugin().Manifest.Name == name }):
		return &NameError{name, ErrInUse}
	}
	delete(c.plugins(), name)
	delete(c.broken, name)
	return nil
}

// Plugin returns the plugin of that name. The error is [ErrNoPlugin] in a *[NameError].
func (c *Catalog) Plugin(name string) (*Plugin, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.plugins()[name]; ok {
		return p, nil
	}
	return nil, &NameError{name, ErrNoPlugin}
}

// Plugins returns all plugins, sorted by name.
func (c *Catalog) Plugins() []*Plugin {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*Plugin
	for _, p := range c.plugins() {
		all = append(all, p)
	}
	slices.SortFunc(all,
		func(a, b *Plugin) int { return strings.Compare(a.Manifest.Name, b.Manifest.Name) })
	return all
}

// Adapter returns the live adapter of that id. The error is [ErrNoAdapter] in a *[NameError].
func (c *Catalog) Adapter(id string) (*Adapter, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a, ok := c.adapters[id]; ok {
		return a, nil
	}
	return nil, &NameError{id, ErrNoAdapter}
}

// Adapters returns the live adapters in the order of their start.
func (c *Catalog) Adapters() []*Adapter {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.order)
}

// Owner returns the adapter that drives a session, nil when none does.
func (c *Catalog) Owner(id engine.ID) *Adapter {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.owners[id]
}

// Changed returns a channel that is closed when the state of any adapter next changes, or something
// happens in its turn. Get it before looking.
func (c *Catalog) Changed() <-chan struct{} { return c.pulse.Next() }

// Driven returns a channel that is closed when an adapter next begins to drive a session. Get it
// before [Catalog.Owner].
func (c *Catalog) Driven() <-chan struct{} { return c.driven.Next() }

// A Description is what a plugin says about itself.
type Description struct {
	Intents      []map[string]any
	WaitMatchers []map[string]any
	States       []map[string]any
	Predicates   []map[string]any
}

// Describe asks a plugin what it can do: its describe function, or the names of its functions when
// it has none. It runs in its own machine. Errors: *[PluginError], [ErrNoCode] in a *[NameError].
func (p *Plugin) Describe(ctx context.Context, log *slog.Logger) (*Description, error) {
	if p.Main == "" {
		return nil, &NameError{p.Manifest.Name, ErrNoCode}
	}
	m, err := newLuaMachine(p.Source, log, nil)
	if err != nil {
		return nil, err
	}
	return describe(ctx, p.Manifest.Name, m)
}

func describe(ctx context.Context, plugin string, m machine) (*Description, error) {
	d := &Description{}
	if !m.has("describe") {
		for _, name := range m.names() {
			entry := map[string]any{"name": name}
			switch {
			case name == "classify":
			case strings.HasSuffix(name, matcherSuffix):
				d.WaitMatchers = append(d.WaitMatchers, entry)
			default:
				d.Intents = append(d.Intents, entry)
			}
		}
		return d, nil
	}
	value, err := m.call(ctx, "describe", intentLimit, nil, nil)
	if err != nil {
		return nil, err
	}
	all := decode("description", value).members("intents", "wait_matchers", "states", "predicates")
	for key, to := range map[string]*[]map[string]any{
		"intents": &d.Intents, "wait_matchers": &d.WaitMatchers, "states": &d.States,
		"predicates": &d.Predicates,
	} {
		for _, e := range all.at(key).list(maxStateList) {
			entry, ok := e.V.(map[string]any)
			if name, _ := entry["name"].(string); !ok || name == "" {
				e.fail("an entry of %s has no name", key)
				continue
			}
			*to = append(*to, entry)
		}
	}
	if err := all.problem(plugin, "describe"); err != nil {
		return nil, err
	}
	return d, nil
}

// names returns the names of some entries of a description.
func names(entries []map[string]any) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e["name"].(string))
	}
	return out
}

// matcherSuffix ends the name of a function that returns a matcher.
const matcherSuffix = "_matcher"
