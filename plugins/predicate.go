package plugins

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
)

// Brief is how long a wait that ends without a match waits for its plugin to explain: a cancelled
// wait is answered within 100 ms however busy the plugin is.
const Brief = 25 * time.Millisecond

// timedRecheck is how long after a look a plugin is asked again if it has read how long the screen
// was stable, and does not say itself when time alone could change its answer. It bounds how late
// such an answer is.
const timedRecheck = 50 * time.Millisecond

// endedRecheck is how long the last screen of an ended program must have been stable before time
// alone changes no more answers, which ends a wait: the bundled plugins ask for at most 300 ms. A
// plugin that needs more says recheck_ms.
const endedRecheck = time.Second

// Predicate makes a matcher of a plugin's predicate, which runs in the catalog's own instance of
// the plugin. Ctx is that of the matcher's request: when it ends, nobody waits for the plugin any
// longer. Errors: [ErrNoPlugin], [ErrNoCode] or [ErrNoPredicate] in a *[NameError], [ErrParams],
// *[PluginError], the cause of ctx's end.
func (c *Catalog) Predicate(ctx context.Context, plugin, function string,
	params any) (matchers.Matcher, error) {
	if err := checkParams(params); err != nil {
		return nil, err
	}
	p, err := c.Plugin(plugin)
	if err != nil {
		return nil, err
	}
	if p.Main == "" {
		return nil, &NameError{plugin, ErrNoCode}
	}
	m := &predicate{ctx: ctx, in: p.predicates, plugin: plugin, function: function, params: params}
	return m, m.check()
}

// ErrNoPredicate: the plugin exports no such function.
var ErrNoPredicate = errors.New("the plugin has no such predicate")

// bound runs predicates of an adapter's own plugin in the adapter's own instance, with its memory,
// and those of others in the catalog's. It serves one request.
type bound struct {
	a   *Adapter
	ctx context.Context
	m   machine // of the adapter; the caller is inside it
}

func (b bound) Predicate(plugin, function string, params any) (matchers.Matcher, error) {
	if plugin != "" && plugin != b.a.Plugin().Manifest.Name {
		return b.a.catalog.Predicate(b.ctx, plugin, function, params)
	}
	if !b.m.has(function) {
		return nil, &NameError{function, ErrNoPredicate}
	}
	return &predicate{ctx: b.ctx, in: b.a.lua, adapter: b.a, plugin: b.a.Plugin().Manifest.Name,
		function: function, params: params}, nil
}

// parse reads a matcher returned by the plugin, for the request of ctx. A plugin's texts say what a
// screen means, so by default they match the current screen.
func (a *Adapter) parse(ctx context.Context, m machine, tree any) (matchers.Matcher, error) {
	return matchers.Parse(tree,
		matchers.Options{Predicates: bound{a, ctx, m}, Scope: matchers.OnScreen})
}

// DefaultMatcher is the function that makes the matcher of a wait that does not name one.
const DefaultMatcher = "wait_turn" + matcherSuffix

// Matcher has the plugin make the matcher that a wait names; params may be nil. Errors:
// *[PluginError], or the cause of ctx's end.
func (a *Adapter) Matcher(ctx context.Context, function string,
	params map[string]any) (m matchers.Matcher, err error) {
	return a.matcher(ctx, function, params, a.session.View())
}

func (a *Adapter) matcher(ctx context.Context, function string, params map[string]any,
	v *engine.View) (m matchers.Matcher, err error) {
	if err := checkParams(params); err != nil {
		return nil, err
	}
	given := map[string]any{"completed_turn_stable_ms": completedStable.Milliseconds()}
	for k, v := range params {
		given[k] = v
	}
	name := a.Plugin().Manifest.Name
	err = a.lua.do(ctx, func(machine machine) error {
		if !machine.has(function) || !strings.HasSuffix(function, matcherSuffix) {
			return &PluginError{Plugin: name, Function: function, Kind: "missing",
				Message: "no such wait matcher; see plugin.describe"}
		}
		tree, err := machine.call(ctx, function, intentLimit, a.look(v), given)
		if err != nil {
			return err
		}
		if m, err = a.parse(ctx, machine, tree); err != nil {
			return resultError(name, function, "%v", err)
		}
		return nil
	})
	return m, err
}

// A predicate is a matcher that asks a plugin. An error of the plugin ends the wait.
type predicate struct {
	ctx      context.Context // of its request: whether somebody is still waiting
	in       *instance
	adapter  *Adapter // whose memory it sees; nil: none
	plugin   string
	function string
	params   any
}

// check reports whether the predicate exists.
func (p *predicate) check() error {
	return p.in.do(p.ctx, func(m machine) error {
		if m.has(p.function) {
			return nil
		}
		return &NameError{p.function, ErrNoPredicate}
	})
}

// String says in words what is waited for, without the params: a plugin may have taken them from
// the screen.
func (p *predicate) String() string { return p.plugin + " says " + p.function }

// Check asks the plugin. It blocks for other calls of the same instance, each of which has its
// limit, but not beyond the end of its request.
func (p *predicate) Check(v *engine.View) engine.Result {
	if old(v) {
		return engine.Result{}
	}
	a, err := p.ask(p.ctx, v)
	if err != nil {
		return engine.Result{Err: err}
	}
	if !a.matched {
		return engine.Result{Recheck: a.recheck}
	}
	return engine.Result{Match: &engine.Match{Kind: "lua", Plugin: p.plugin, Predicate: p.function,
		Evidence: a.evidence, Value: a.capture}}
}

// old reports whether nothing has come that counts for a wait with since. A predicate sees the
// whole screen, including older content: the plugin has to decide what is new on it.
func old(v *engine.View) bool { return v.Since.Set && v.Sequence <= v.Since.Last() }

// Explain asks the plugin again, unless others keep it busy: the wait has taken long enough.
func (p *predicate) Explain(v *engine.View, _ matchers.Shown) matchers.Explanation {
	e := matchers.Explanation{Type: "lua",
		Value: map[string]any{"plugin": p.plugin, "predicate": p.function}}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), Brief)
	defer cancel()
	a, err := p.ask(ctx, v)
	switch e.Held = err == nil && a.matched && !old(v); {
	case old(v):
		e.Why = fmt.Sprintf("nothing has changed after sequence %d", v.Since.Last())
	case err != nil && ctx.Err() != nil:
		e.Why = "the plugin is busy with other calls, and was not asked again"
	case err != nil:
		e.Err, e.Why = err, err.Error()
	case a.evidence != nil:
		e.Why = fmt.Sprint(a.evidence)
	default:
		e.Why = p.function + " says no, and returns no evidence"
		if e.Held {
			e.Why = p.function + " says yes"
		}
	}
	return e
}

// An answer is what a predicate returned.
type answer struct {
	matched           bool
	evidence, capture any
	recheck           time.Duration
}

func (p *predicate) ask(ctx context.Context, v *engine.View) (answer, error) {
	var l *look
	value, err := any(nil), error(nil)
	in, look := p.in, func() *look { return &look{view: v, secrets: &p.in.secrets} }
	if p.adapter != nil {
		in, look = p.adapter.recalling(v)
	}
	err = in.do(ctx, func(m machine) (err error) {
		l = look() // the adapter's newest, now that it is our turn
		l.params = p.params
		value, err = m.call(context.WithoutCancel(ctx), p.function, classifyLimit, l, nil)
		return err
	})
	if err != nil {
		return answer{}, err
	}
	var a answer
	switch x := value.(type) {
	case nil:
	case bool:
		a.matched = x
	default:
		d := decode("predicate's result", x).members("matched", "evidence", "capture", "recheck_ms")
		matched, ok := d.at("matched").V.(bool)
		if !ok {
			d.fail("a predicate must return true, false, nil or a table with matched = true or false")
		}
		a = answer{matched, d.at("evidence").V, d.at("capture").V,
			d.at("recheck_ms").duration(0, maxExpect)}
		if err := d.problem(p.plugin, p.function); err != nil {
			return answer{}, err
		}
	}
	if a.recheck == 0 && l.timed && (!v.Ended || v.StableFor() < endedRecheck) {
		a.recheck = timedRecheck
	}
	return a, nil
}
