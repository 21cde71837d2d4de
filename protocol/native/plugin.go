package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/protocol"
)

type pluginCapabilitiesResult struct {
	Permissions []plugins.Permission `json:"permissions"`
	EmbeddedLua bool                 `json:"embedded_lua"`
	WASM        bool                 `json:"wasm"`
	Builtin     []*plugins.Manifest  `json:"builtin_plugins"`
	Loading     bool                 `json:"plugin_load" jsonschema:"whether plugin.load, plugin.reload and plugin.unload are granted"`
}

func (c *client) pluginCapabilities(context.Context, none) (pluginCapabilitiesResult, error) {
	r := pluginCapabilitiesResult{Permissions: plugins.Permissions(), EmbeddedLua: true,
		Loading: c.loads}
	for _, p := range c.Catalog.Plugins() {
		if p.Builtin {
			r.Builtin = append(r.Builtin, c.Manifest(p))
		}
	}
	return r, nil
}

// A manifestTree is an undecoded manifest: it is checked more strictly than params are.
type manifestTree struct{ json.RawMessage }

type validateParams struct {
	Manifest manifestTree `json:"manifest" jsonschema:"what would stand in manifest.toml"`
}

type validateResult struct {
	Valid bool `json:"valid"`
}

func (c *client) pluginValidate(_ context.Context, p validateParams) (validateResult, error) {
	if len(p.Manifest.RawMessage) == 0 {
		return validateResult{}, &protocol.ParamError{Path: "manifest", Expected: "an object"}
	}
	m := &plugins.Manifest{}
	if err := jsonv2.Unmarshal(p.Manifest.RawMessage, m,
		jsonv2.RejectUnknownMembers(true)); err != nil {
		var e *jsonv2.SemanticError
		problem := "it cannot be read"
		key := ""
		if errors.As(err, &e) {
			key = e.JSONPointer.LastToken()
			problem = "it has the wrong type, or is not known"
		}
		return validateResult{},
			&plugins.ManifestError{Key: fmt.Sprintf("%.32s", key), Err: errors.New(problem)}
	}
	return validateResult{Valid: true}, m.Validate()
}

type pluginParams struct {
	Plugin *string `json:"plugin" jsonschema:"the plugin's name"`
}

func (p pluginParams) named() *string { return p.Plugin }

// onPlugin is a row whose handler gets the plugin that a request names, after its manifest was
// checked.
func onPlugin[P naming, R any](
	name, about string, f func(*client, context.Context, *plugins.Plugin, P) (R, error),
	needs ...plugins.Permission,
) row {
	r := method(name, about, func(c *client, ctx context.Context, p P) (none R, err error) {
		if err := required("plugin", p.named()); err != nil {
			return none, err
		}
		plugin, err := c.Catalog.Plugin(*p.named())
		if err == nil {
			err = allow(name, plugin.Manifest, needs)
		}
		if err != nil {
			return none, err
		}
		return f(c, ctx, plugin, p)
	})
	r.needs = needs
	return r
}

type describeResult struct {
	Plugin       string            `json:"plugin"`
	Manifest     *plugins.Manifest `json:"manifest"`
	Hash         string            `json:"sha256" jsonschema:"of the manifest and the files that were loaded"`
	Builtin      bool              `json:"builtin"`
	Intents      []map[string]any  `json:"intents"`
	WaitMatchers []map[string]any  `json:"wait_matchers"`
	States       []map[string]any  `json:"states"`
	Predicates   []map[string]any  `json:"predicates"`
	Broken       *brokenShape      `json:"reload_error" jsonschema:"why the plugin's files, which have changed, are not what runs"`
	Stale        []staleShape      `json:"stale_adapters" jsonschema:"adapters that run older code of the plugin"`
}

type brokenShape struct {
	At      time.Time `json:"at"`
	Message string    `json:"message"`
}

type staleShape struct {
	Adapter string `json:"adapter"`
	Why     string `json:"why"`
}

func (c *client) pluginDescribe(ctx context.Context, plugin *plugins.Plugin,
	p pluginParams) (*describeResult, error) {
	d := &plugins.Description{}
	if plugin.Main != "" {
		var err error
		if d, err = plugin.Describe(ctx, c.Log); err != nil {
			return nil, err
		}
	}
	list := func(entries []map[string]any) []map[string]any {
		if entries == nil {
			return []map[string]any{}
		}
		return entries
	}
	r := &describeResult{
		Plugin: *p.Plugin, Manifest: c.Manifest(plugin), Hash: plugin.Hash, Builtin: plugin.Builtin,
		Intents: list(d.Intents), WaitMatchers: list(d.WaitMatchers), States: list(d.States),
		Predicates: list(d.Predicates),
		Stale:      []staleShape{},
	}
	if b := c.Catalog.Broken(*p.Plugin); b != nil {
		r.Broken = &brokenShape{b.At, c.hide.String(b.Err.Error())}
	}
	for _, a := range c.Catalog.Adapters() {
		if why := a.Stale(); why != "" && a.Plugin().Manifest.Name == *p.Plugin {
			r.Stale = append(r.Stale, staleShape{a.ID(), why})
		}
	}
	return r, nil
}

// errNoLoading reports that the server was started without --allow-plugin-load.
var errNoLoading = errors.New("this server does not load plugins for clients: start it with --allow-plugin-load")

type loadParams struct {
	Path *string `json:"manifest_path" jsonschema:"path of a manifest.toml, relative to the server's working directory"`
}

type loadResult struct {
	Plugin string `json:"plugin"`
	Hash   string `json:"sha256"`
}

func (c *client) pluginLoad(_ context.Context, p loadParams) (loadResult, error) {
	if err := required("manifest_path", p.Path); err != nil {
		return loadResult{}, err
	}
	plugin, err := c.Catalog.Load(*p.Path)
	if err != nil {
		return loadResult{}, err
	}
	return loadResult{Plugin: plugin.Manifest.Name, Hash: plugin.Hash}, nil
}

type reloadResult struct {
	Plugin   string         `json:"plugin"`
	Hash     string         `json:"sha256"`
	Changed  bool           `json:"changed" jsonschema:"the files are others than those that ran"`
	Adapters []reloadedLive `json:"adapters" jsonschema:"the plugin's live adapters that ran older code"`
}

type reloadedLive struct {
	Adapter  string `json:"adapter"`
	Switched bool   `json:"switched" jsonschema:"it runs the new code, and has forgotten what the old knew"`
	Why      string `json:"why,omitempty" jsonschema:"why it runs the old code"`
}

func (c *client) pluginReload(ctx context.Context, _ *plugins.Plugin,
	p pluginParams) (*reloadResult, error) {
	done, err := c.Catalog.Reload(ctx, *p.Plugin)
	if err != nil {
		return nil, err
	}
	r := &reloadResult{Plugin: *p.Plugin, Hash: done.Plugin.Hash, Changed: done.Changed,
		Adapters: []reloadedLive{}}
	for _, l := range done.Live {
		r.Adapters = append(r.Adapters, reloadedLive{l.Adapter.ID(), l.Switched, l.Stale})
	}
	return r, nil
}

type unloadResult struct {
	Unloaded bool `json:"unloaded"`
}

func (c *client) pluginUnload(_ context.Context, _ *plugins.Plugin,
	p pluginParams) (unloadResult, error) {
	return unloadResult{Unloaded: true}, c.Catalog.Unload(*p.Plugin)
}
