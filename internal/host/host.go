// Package host (no stability promise) holds what every dialect of a server works with: the engine,
// the plugins, the known secrets, the recordings and the log.
//
// [New] makes a [Host] with an engine of its own, [Over] one for an existing engine. Dialects start
// programs with [Host.Spawn], adapters with [plugins.Catalog.Start], which uses it too: the secrets
// in a program's environment, from a client or a manifest, are known from before it starts until
// its session is closed.
//
// One goroutine: [Host.Spawn] starts one that has the rules of redaction compiled. It ends by
// itself within milliseconds, and nobody waits for it.
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

// A Host is shared by all dialects of a server. Its fields are set once and are safe for concurrent
// use.
type Host struct {
	Engine     *engine.Engine
	Catalog    *plugins.Catalog // plugins, and the adapters that drive sessions of the engine
	Known      *redact.Known    // values that are secret whatever they look like; dialects add more
	Recordings *record.Recordings
	Version    string // ptywright's
	Log        *slog.Logger
	Metrics    func() string // counts for a monitor, in the text format of Prometheus; nil: none
}

// New returns a host with an engine of its own. Lines typed when a program asks for a secret are
// added to known.
func New(o engine.Options, known *redact.Known) *Host {
	o.Typed, o.Asks = reading.Learn(known), redact.Asks
	h := Over(engine.New(o), known, o.Log)
	h.Version = o.Version
	return h
}

// Over returns a host for an engine, with the built-in plugins. known may be nil for no secrets
// known yet, log for [slog.Default].
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

// Redactor returns the redactor for everything that leaves: the default rules, and the known
// secrets.
func (h *Host) Redactor() *redact.Redactor { return redact.Default.With(h.Known) }

// Spawn starts a session as [engine.Engine.Spawn] does. The secrets in the environment that c sets
// are hidden everywhere until the session is closed. Errors are those of the engine, and
// *[redact.EnvLimitError].
func (h *Host) Spawn(ctx context.Context, c engine.Config) (*engine.Session, error) {
	// The first text to be redacted compiles the rules, 3 ms: let it be this one, while the program
	// starts.
	go redact.Default.String(" ")
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

// Manifest returns a plugin's manifest as clients may see it: the secrets that it passes to its
// program are hidden.
func (h *Host) Manifest(p *plugins.Plugin) *plugins.Manifest {
	m := *p.Manifest
	if m.Target == nil {
		return &m
	}
	v, target := reading.New(&engine.View{}, h.Redactor()), *m.Target
	target.Args, target.Env, target.RequiredEnv = v.Args(target.Program, target.Args),
		v.Env(target.Env), v.Env(target.RequiredEnv)
	target.Program = v.Clean(target.Program)
	m.Target = &target
	return &m
}
