// Package host (no stability promise) is what every dialect of a server works with, as one value: the engine, the plugins, what
// is known to be secret, the recordings and the log.
//
// [New] makes a [Host] with an engine of its own, [Over] one for an engine that there is. Dialects start programs with
// [Host.Spawn], adapters with [plugins.Catalog.Start], which does so too: whatever secrets a program is given in its
// environment, by a client or by a manifest, are known from before it starts until its session is closed.
package host

import (
	"context"
	"log/slog"
	"maps"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/redact"
)

// A Host is shared by all dialects of a server. Its fields are set once, and used by any number of goroutines.
type Host struct {
	Engine     *engine.Engine
	Catalog    *plugins.Catalog // plugins, and the adapters that drive sessions of the engine
	Known      *redact.Known    // values that are secret whatever they look like; dialects add what they learn
	Recordings *record.Recordings
	Version    string // ptywright's
	Log        *slog.Logger
	Metrics    func() string // counts for a monitor, in the text format of Prometheus; nil: there are none
}

// New returns a host with an engine of its own. What is typed where a program asks for a secret is added to known.
func New(o engine.Options, known *redact.Known) *Host {
	o.Typed, o.Asks = reading.Learn(known), redact.Asks
	h := Over(engine.New(o), known, o.Log)
	h.Version = o.Version
	return h
}

// Over returns a host for an engine, with the built-in plugins. Nil stands for no secrets known yet, and for
// [slog.Default].
func Over(e *engine.Engine, known *redact.Known, log *slog.Logger) *Host {
	if known == nil {
		known = new(redact.Known)
	}
	if log == nil {
		log = slog.Default()
	}
	h := &Host{Engine: e, Known: known, Recordings: new(record.Recordings), Log: log}
	h.Catalog = plugins.NewCatalog(h, log)
	return h
}

// Redactor returns what everything that leaves passes: the default rules, and what is known.
func (h *Host) Redactor() *redact.Redactor { return redact.Default.With(h.Known) }

// Spawn starts a session as [engine.Engine.Spawn] does. The secrets in the environment that c gives the program are
// hidden everywhere until the session is closed. Errors are those of the engine, and *[redact.EnvLimitError].
func (h *Host) Spawn(ctx context.Context, c engine.Config) (*engine.Session, error) {
	env := map[string]string{}
	maps.Copy(env, c.BaseEnv)
	maps.Copy(env, c.Env)
	settle, err := h.Known.Lend(env)
	if err != nil {
		for _, t := range c.Taps {
			_ = t.Close() // nothing was written
		}
		return nil, err
	}
	s, err := h.Engine.Spawn(ctx, c)
	if err != nil {
		settle("", nil)
		return nil, err
	}
	settle(string(s.ID()), s.Closed())
	return s, nil
}

// Manifest returns a plugin's manifest as clients may see it: the secrets that it hands to its program are hidden.
func (h *Host) Manifest(p *plugins.Plugin) *plugins.Manifest {
	m := *p.Manifest
	if m.Target == nil {
		return &m
	}
	v, target := reading.New(&engine.View{}, h.Redactor()), *m.Target
	target.Args, target.Env, target.RequiredEnv = v.Args(target.Program, target.Args), v.Env(target.Env), v.Env(target.RequiredEnv)
	target.Program = v.Clean(target.Program)
	m.Target = &target
	return &m
}
