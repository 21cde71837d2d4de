package plugins

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A ReloadError says why a plugin's files could not replace the running code, which continues.
type ReloadError struct {
	Plugin string
	At     time.Time
	Err    error
}

// Error names the plugin.
func (e *ReloadError) Error() string {
	return fmt.Sprintf("plugin %s was not loaded again, and runs as it was: %v", e.Plugin, e.Err)
}

// Unwrap returns the cause.
func (e *ReloadError) Unwrap() error { return e.Err }

// A Reload is the result of reloading a plugin.
type Reload struct {
	Plugin  *Plugin
	Changed bool   // its files differ from those that ran
	Live    []Live // its adapters
}

// A Live is an adapter at the time its plugin was reloaded.
type Live struct {
	Adapter  *Adapter
	Switched bool   // it runs the new code, and has lost the old code's memory
	Stale    string // why it still runs the old one
}

// Reload reads a plugin's files again. New adapters run the new code at once, and so do live ones
// that can safely switch: between turns, and when the new code has every function that a current
// wait may call. Others are tried again after the turn, and before the next, and report why until
// then: see [Adapter.Stale]. Files that do not load change nothing; see [Catalog.Broken].
//
// Errors: [ErrNoPlugin] or [ErrBuiltin] in a *[NameError], or a *[ReloadError] around those of
// [Catalog.Load].
func (c *Catalog) Reload(ctx context.Context, name string) (*Reload, error) {
	old, err := c.Plugin(name)
	switch {
	case err != nil:
		return nil, err
	case old.Builtin:
		return nil, &NameError{name, ErrBuiltin}
	}
	source, err := c.reread(ctx, old)
	c.mu.Lock()
	switch {
	case c.plugins()[name] != old: // unloaded, or reloaded by somebody else
		c.mu.Unlock()
		return nil, &NameError{name, ErrNoPlugin}
	case err != nil:
		broken := &ReloadError{name, time.Now(), err}
		c.broken[name] = broken
		c.mu.Unlock()
		c.log.Warn("a plugin's files changed and do not load: it runs as it was", "plugin", name,
			"error", err)
		return nil, broken
	}
	delete(c.broken, name)
	r := &Reload{Plugin: old, Changed: source.Hash != old.Hash}
	if r.Changed {
		r.Plugin = c.add(source, old.Path)
	}
	var live []*Adapter
	for _, a := range c.order {
		if a.Plugin().Manifest.Name == name && a.Plugin() != r.Plugin {
			live = append(live, a)
		}
	}
	watched := c.watched
	c.mu.Unlock()
	watched.add(r.Plugin) // its entrypoint may be in another folder now
	for _, a := range live {
		stale := a.renew(ctx, r.Plugin, false)
		r.Live = append(r.Live, Live{a, stale == "", stale})
		if stale != "" {
			c.log.Warn("an adapter runs its plugin's older code", "plugin", name, "adapter", a.ID(),
				"why", stale)
		}
	}
	if r.Changed {
		c.log.Info("a plugin was loaded again", "plugin", name, "sha256", r.Plugin.Hash)
	}
	return r, nil
}

// reread reads a plugin's files and checks whether they are usable.
func (c *Catalog) reread(ctx context.Context, old *Plugin) (*Source, error) {
	source, err := Open(old.Path)
	if err != nil {
		return nil, err
	}
	if now := source.Manifest.Name; now != old.Manifest.Name {
		return nil, &ManifestError{Key: "name",
			Err: fmt.Errorf("it says %q now: load it as another plugin", clip(now))}
	}
	if source.Main == "" || source.Hash == old.Hash {
		return source, nil
	}
	m, err := newLuaMachine(source, c.log, nil)
	if err != nil {
		return nil, err
	}
	if source.Manifest.Kind == KindAdapter {
		_, err = (&Plugin{Source: source}).code(ctx, m)
	}
	return source, err
}

// Broken returns why a plugin's files are not what runs; nil when they are, as far as is known.
func (c *Catalog) Broken(name string) *ReloadError {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken[name]
}

// Stale returns why the adapter does not run its plugin's newest code, "" when it does.
func (a *Adapter) Stale() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stale
}

// renewed makes the adapter run its plugin's newest code if it can. It is called with the turn
// held.
func (a *Adapter) renewed(ctx context.Context) {
	if a.Stale() == "" {
		return
	}
	if p, err := a.catalog.Plugin(a.Plugin().Manifest.Name); err == nil {
		a.renew(ctx, p, true)
	}
}

// renew makes the adapter run other code of its plugin, and returns why not, "" when it does. It
// waits for at most one call of the old code.
func (a *Adapter) renew(ctx context.Context, p *Plugin, held bool) (stale string) {
	for {
		stale = a.switchTo(ctx, p, held)
		a.mu.Lock()
		a.stale = stale
		a.mu.Unlock()
		// The obstacle may be gone before it was recorded, and files may have changed again.
		newest, err := a.catalog.Plugin(p.Manifest.Name)
		if err != nil || newest == a.Plugin() || stale != "" && (!passing(stale) || a.busy(held)) {
			break
		}
		p = newest
	}
	a.catalog.pulse.Beat()
	if stale == "" {
		a.Look(ctx, a.session.View())
	}
	return stale
}

// Why an adapter runs its plugin's older code for a while.
const (
	staleTurn   = "a turn is under way: it changes behind it"
	staleIntent = "an intent is being performed: it changes behind it"
)

func passing(stale string) bool { return stale == staleTurn || stale == staleIntent }

// busy reports whether a turn, unless the caller holds it, or an intent is under way.
func (a *Adapter) busy(held bool) bool { return !held && len(a.turn) > 0 || len(a.sending) > 0 }

// rested makes the adapter run newer code that a turn or an intent delayed. It is called after the
// release.
func (a *Adapter) rested(ctx context.Context) {
	if !passing(a.Stale()) || a.busy(false) {
		return
	}
	if p, err := a.catalog.Plugin(a.Plugin().Manifest.Name); err == nil {
		a.renew(context.WithoutCancel(ctx), p, false)
	}
}

func (a *Adapter) switchTo(ctx context.Context, p *Plugin, held bool) (stale string) {
	if !held {
		select {
		case a.turn <- struct{}{}:
			defer func() { <-a.turn }()
		default:
			return staleTurn
		}
	}
	select {
	case a.sending <- struct{}{}:
		defer func() { <-a.sending }()
	default:
		return staleIntent
	}
	if a.Plugin() == p { // somebody else was faster
		return ""
	}
	old := a.code.Load()
	if p.Main == "" {
		return "the plugin has no code any more: close the adapter"
	}
	if !sameProgram(old.Manifest, p.Manifest) {
		return "its program was started otherwise than the manifest says now: close the adapter and start another"
	}
	m, err := newLuaMachine(p.Source, a.catalog.log, &a.lua.secrets)
	if err != nil { // it was made a moment ago
		return err.Error()
	}
	code, err := p.code(ctx, m)
	if err != nil {
		return err.Error()
	}
	for _, name := range old.exports {
		if !slices.Contains(code.exports, name) {
			return fmt.Sprintf("the new code has no function %s, which a wait may ask: close the adapter and start another", clip(name))
		}
	}
	if err := a.lua.renew(ctx, p.Source); err != nil {
		return err.Error()
	}
	a.code.Store(code)
	return ""
}

// sameProgram reports whether a program started by one manifest is what another wants.
func sameProgram(a, b *Manifest) bool {
	required := func(m *Manifest) map[string]string {
		if m.Target == nil {
			return nil
		}
		return m.Target.RequiredEnv
	}
	return maps.Equal(required(a), required(b)) && a.ProgramStatus == b.ProgramStatus &&
		a.ShellIntegration == b.ShellIntegration
}
