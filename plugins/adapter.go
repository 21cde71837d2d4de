package plugins

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
)

// An Adapter is a plugin driving one session, under its manifest's permissions. Its methods may be
// called by any number of goroutines: only the plugin's code is exclusive, and each call of it is
// short.
type Adapter struct {
	id      string
	code    atomic.Pointer[code]
	session *engine.Session
	catalog *Catalog
	lua     *instance

	turn    chan struct{} // held by a turn, from its send to the end of its wait
	sending chan struct{} // held by an intent that is being performed
	stop    context.CancelFunc
	kept    chan struct{} // closed when keep has ended

	mu sync.Mutex
	// protects the fields below
	lastIntent string
	state      *State       // the newest; nil: nothing has been noted yet
	seen       *engine.View // the view it is about
	began      uint64       // sequence at which the newest intent began
	journal    journal
	stale      string // why it does not run its plugin's newest code; "": it does
}

// code is what an adapter runs. It is immutable, and replaced when the plugin is reloaded.
type code struct {
	*Plugin
	during     []string // intents that may be sent during a turn
	predicates []string // functions that are not intents
	exports    []string // all functions
}

// ID returns the adapter's name, unique for its catalog's lifetime: "e1", "e2" and so on.
func (a *Adapter) ID() string { return a.id }

// Plugin returns the plugin that drives it.
func (a *Adapter) Plugin() *Plugin { return a.code.Load().Plugin }

// DuringTurn reports whether the plugin allows an intent during a turn, such as cancel.
func (a *Adapter) DuringTurn(intent string) bool {
	return slices.Contains(a.code.Load().during, intent)
}

// Session returns the session that it drives.
func (a *Adapter) Session() *engine.Session { return a.session }

// StartOptions say how to start an adapter's program. Missing options default to the manifest's,
// then to the server's.
type StartOptions struct {
	Name    string   // of the session; "": none
	Tags    []string // likewise
	Program string
	Args    []string // nil: the manifest's; empty: none
	Dir     string
	Env     map[string]string // overrides the manifest's env, overridden by its required_env
	BaseEnv map[string]string // what both begin with; nil: the server's
	Size    pty.Size          // zero rows or columns: the manifest's, or else 40 and 120
	// Attended and Taps are the session's: see [engine.Config].
	Attended bool
	Taps     []engine.Tap
}

const (
	defaultRows = 40
	defaultCols = 120
)

// config builds the engine's configuration from the options and the manifest.
func (p *Plugin) config(o StartOptions) (engine.Config, error) {
	target := p.Manifest.Target
	if target == nil {
		target = &Target{}
	}
	c := engine.Config{
		Name: o.Name, Tags: o.Tags, BaseEnv: o.BaseEnv,
		Program: o.Program, Args: o.Args, Dir: o.Dir, Size: o.Size,
		ProgramStatus: p.Manifest.ProgramStatus, ShellIntegration: p.Manifest.ShellIntegration,
		MarksOptional: true, Attended: o.Attended, Taps: o.Taps, Kept: true,
		Env: maps.Clone(target.Env),
	}
	if c.Program == "" {
		c.Program = target.Program
	}
	if c.Program == "" {
		return c, &NameError{p.Manifest.Name, ErrNoProgram}
	}
	if c.Args == nil {
		c.Args = target.Args
	}
	if c.Env == nil {
		c.Env = map[string]string{}
	}
	maps.Copy(c.Env, o.Env)
	maps.Copy(c.Env, target.RequiredEnv)
	c.Size.Rows = firstOf(c.Size.Rows, uint16(target.Rows), defaultRows)
	c.Size.Cols = firstOf(c.Size.Cols, uint16(target.Cols), defaultCols)
	return c, nil
}

// firstOf returns the first value that is not zero.
func firstOf(values ...uint16) uint16 {
	i := slices.IndexFunc(values, func(v uint16) bool { return v != 0 })
	return values[max(i, 0)]
}

// ErrNoProgram: neither the caller nor the manifest names a program.
var ErrNoProgram = errors.New("name a program: the plugin's manifest has no default_target")

// Start starts a program under a plugin. The plugin's code is loaded first, and a plugin that does
// not load starts nothing. Errors: those of the catalog's [Spawner], *[PluginError],
// *[PermissionError], and [ErrNoPlugin], [ErrNoCode] or [ErrNoProgram] in a *[NameError].
func (c *Catalog) Start(ctx context.Context, plugin string, o StartOptions) (*Adapter, error) {
	p, err := c.hold(plugin)
	if err != nil {
		return nil, err
	}
	defer c.let(plugin)
	if err := p.Manifest.require(SessionSpawn, ""); err != nil {
		return nil, err
	}
	if p.Main == "" {
		return nil, &NameError{plugin, ErrNoCode}
	}
	config, err := p.config(o)
	if err != nil {
		return nil, err
	}
	a := &Adapter{
		catalog: c, lua: newInstance(p.Source, c.log), kept: make(chan struct{}),
		turn: make(chan struct{}, 1), sending: make(chan struct{}, 1),
	}
	if err := a.prepare(ctx, p); err != nil {
		return nil, err
	}
	if a.session, err = c.spawner.Spawn(ctx, config); err != nil {
		return nil, err
	}
	keeping, stop := context.WithCancel(context.Background())
	a.stop = stop
	c.mu.Lock()
	c.last++
	a.id = "e" + strconv.Itoa(c.last)
	c.adapters[a.id], c.owners[a.session.ID()] = a, a
	c.order = append(c.order, a)
	c.mu.Unlock()
	c.driven.Beat()
	a.Look(ctx, a.session.View())
	go a.keep(keeping)
	return a, nil
}

// hold finds a plugin and keeps it from being unloaded until let is called.
func (c *Catalog) hold(plugin string) (*Plugin, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.plugins()[plugin]
	if !ok {
		return nil, &NameError{plugin, ErrNoPlugin}
	}
	c.starting[plugin]++
	return p, nil
}

func (c *Catalog) let(plugin string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.starting[plugin]--; c.starting[plugin] == 0 {
		delete(c.starting, plugin)
	}
}

// prepare asks the adapter's new instance what the adapter needs to know about its plugin.
func (a *Adapter) prepare(ctx context.Context, p *Plugin) error {
	return a.lua.do(ctx, func(m machine) error {
		code, err := p.code(ctx, m)
		if err == nil {
			a.code.Store(code)
		}
		return err
	})
}

// code asks a machine of the plugin what an adapter needs to know.
func (p *Plugin) code(ctx context.Context, m machine) (*code, error) {
	name := p.Manifest.Name
	if !m.has("classify") {
		return nil, resultError(name, "main chunk", "no function classify: an adapter needs one")
	}
	d, err := describe(ctx, name, m)
	if err != nil {
		return nil, err
	}
	c := &code{Plugin: p, predicates: names(d.Predicates), exports: m.names()}
	for _, e := range d.Intents {
		if during, _ := e["during_turn"].(bool); during {
			c.during = append(c.during, e["name"].(string))
		}
	}
	return c, nil
}

// Close ends the adapter's program and everything it started, and removes both adapter and session.
// Waits on it end. The error is that of [engine.Session.Close].
func (a *Adapter) Close(ctx context.Context) error {
	a.stop()
	err := a.session.Close(ctx)
	<-a.kept
	c := a.catalog
	c.mu.Lock()
	delete(c.adapters, a.id)
	delete(c.owners, a.session.ID())
	c.order = slices.DeleteFunc(c.order, func(x *Adapter) bool { return x == a })
	c.mu.Unlock()
	c.pulse.Beat()
	return err
}

// keepFloor is the minimum time between two looks that the host takes on its own. A change after a
// quiet period is seen at once; in a flood fifty adapters cost a tenth of a processor. A state that
// a client asks for is always fresh.
const keepFloor = 25 * time.Millisecond

// keep looks whenever the session has changed, so that states and events exist even when nobody
// asks. It ends with the session's output, or when ctx does.
func (a *Adapter) keep(ctx context.Context) {
	defer close(a.kept)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		changed := a.session.Changed() // taken before looking, so that no change is missed
		began := time.Now()
		v := a.session.View()
		s := a.Look(ctx, v)
		if v.Ended {
			return
		}
		var again <-chan time.Time
		if s.recheck > 0 {
			timer.Reset(s.recheck)
			again = timer.C
		}
		select {
		case <-changed:
		case <-again:
		case <-ctx.Done():
			return
		}
		if rest := keepFloor - time.Since(began); rest > 0 {
			timer.Reset(rest)
			select {
			case <-timer.C:
			case <-ctx.Done():
				return
			}
		}
	}
}

// look builds what the plugin sees of a view.
func (a *Adapter) look(v *engine.View) *look {
	a.mu.Lock()
	defer a.mu.Unlock()
	return &look{view: v, secrets: &a.lua.secrets, lastIntent: a.lastIntent, previous: a.state,
		last: a.seen, events: a.journal.last}
}

// Look has the plugin say what state a view shows. It never fails: a failing plugin is in
// [StateError]. The state is recorded as the adapter's newest, with its events, unless a newer view
// has been looked at. When ctx ends before the plugin is free, the result is the newest recorded
// state; a look that has begun is not interrupted, so that the plugin keeps its memory.
func (a *Adapter) Look(ctx context.Context, v *engine.View) *State {
	s := a.observe(ctx, v)
	for _, label := range s.Marks { // exceeding the session's limit on marks is the plugin's problem
		_, _ = a.session.Do(ctx, engine.MarkTranscript(label))
	}
	return s
}

// observe is Look without the marks.
func (a *Adapter) observe(ctx context.Context, v *engine.View) *State {
	var s *State
	err := a.lua.do(ctx, func(m machine) (err error) {
		l := a.look(v)
		if s, err = a.classify(context.WithoutCancel(ctx), m, l); err == nil {
			a.note(s, l)
		}
		return err
	})
	if err != nil {
		var p *PluginError
		if !errors.As(err, &p) { // the caller has gone
			return a.State()
		}
		s = a.failed(p, v)
		a.note(s, &look{view: v})
	}
	return s
}

// Recall has the plugin say what state a view of the past shows. Nothing is recorded. Like
// [Adapter.Look] it never fails.
func (a *Adapter) Recall(ctx context.Context, v *engine.View) (s *State) {
	in, look := a.recalling(v)
	err := in.do(ctx, func(m machine) (err error) {
		s, err = a.classify(context.WithoutCancel(ctx), m, look())
		return err
	})
	if p := (*PluginError)(nil); errors.As(err, &p) {
		return a.failed(p, v)
	} else if err != nil {
		return a.State()
	}
	return s
}

// recalling returns what is asked about a view for a wait, and makes what it sees: the adapter's
// own instance or, of what was shown before the newest intent began, one that has not seen what
// came later.
func (a *Adapter) recalling(v *engine.View) (*instance, func() *look) {
	a.mu.Lock()
	later := !v.Past || v.Sequence > a.began
	a.mu.Unlock()
	if later {
		return a.lua, func() *look { return a.look(v) }
	}
	return a.Plugin().predicates, func() *look { return &look{view: v, secrets: &a.lua.secrets} }
}

// classify calls the plugin's classifier.
func (a *Adapter) classify(ctx context.Context, m machine, l *look) (*State, error) {
	value, err := m.call(ctx, "classify", classifyLimit, l, nil)
	if err != nil {
		return nil, err
	}
	s, err := decodeState(a.Plugin().Manifest.Name, value)
	if err != nil {
		return nil, err
	}
	if len(s.Marks) > 0 { // the same permission as the action's
		if err := a.Plugin().Manifest.require(actionPermissions["mark_transcript"],
			"mark_transcript"); err != nil {
			return nil, resultError(a.Plugin().Manifest.Name, "classify", "%v", err)
		}
	}
	s.Sequence, s.LastIntent = l.view.Sequence, l.lastIntent
	if s.recheck == 0 && l.timed {
		s.recheck = timedRecheck
	}
	return s, nil
}

// failed is the state of a view that the plugin could not judge.
func (a *Adapter) failed(err *PluginError, v *engine.View) *State {
	s := failed(err)
	s.Sequence = v.Sequence
	a.mu.Lock()
	s.LastIntent = a.lastIntent
	a.mu.Unlock()
	return s
}

// note makes s the adapter's state. A late look only adds its events.
func (a *Adapter) note(s *State, l *look) {
	now := l.view.At
	a.mu.Lock()
	told := false
	var changed *engine.Event
	add := func(e Event) {
		e.At, e.Sequence = now, s.Sequence
		a.journal.add(e)
		told = true
	}
	for _, e := range s.events {
		add(e)
	}
	if a.state == nil || s.Sequence >= a.state.Sequence {
		if a.state == nil || a.state.State != s.State {
			e := Event{Kind: "state", State: s.State}
			if a.state != nil {
				e.Previous = a.state.State
			}
			add(e)
			changed = &engine.Event{Kind: engine.EventAdapter, Text: e.State, Previous: e.Previous,
				What: a.Plugin().Manifest.Name}
		}
		a.state, a.seen = s, l.view
	}
	a.mu.Unlock()
	if changed != nil && a.session != nil { // a rehearsal has none
		a.session.Note(changed)
	}
	if told {
		a.catalog.pulse.Beat()
	}
}

// unseen is the state of an adapter whose plugin has not looked yet: others can find it while it is
// starting.
var unseen = &State{State: StateUnknown, Evidence: "the plugin has not looked yet", Source: "host"}

// State returns the newest recorded state, never nil. It does not look: see [Adapter.Look].
func (a *Adapter) State() *State {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state == nil {
		return unseen
	}
	return a.state
}

// Events returns what has happened after event number since, the number to pass next time, and
// whether some events were dropped: the newest 1,024 are kept. The caller must not modify the
// events.
func (a *Adapter) Events(since uint64) (events []Event, next uint64, dropped bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	events, dropped = a.journal.since(since)
	return events, a.journal.last, dropped
}

// Explain has the plugin say what state a view shows and why: the rule that decided, those that
// nearly did, and the rows they looked at. Nothing is recorded. The error is a *[PluginError], or
// the cause of ctx's end.
func (a *Adapter) Explain(ctx context.Context, v *engine.View) (s *State, err error) {
	err = a.lua.do(ctx, func(m machine) error {
		l := a.look(v)
		l.explain = true
		s, err = a.classify(ctx, m, l)
		return err
	})
	return s, err
}

// isIntent reports whether clients may send this function's name as an intent.
func (a *Adapter) isIntent(m machine, name string) bool {
	return m.has(name) && name != "classify" && name != "describe" &&
		!strings.HasSuffix(name, matcherSuffix) &&
		!slices.Contains(a.code.Load().predicates, name)
}
