package native

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/redact"
)

type waitParams struct {
	sessionParams
	readParams
	Matcher   matcherTree    `json:"matcher" jsonschema:"an object with type and, where the type needs one, value"`
	TimeoutMS *int64         `json:"timeout_ms,omitempty" jsonschema:"default 30000; 0 looks once"`
	Since     *sincePosition `json:"since,omitempty" jsonschema:"only what came after it counts: a sequence, or the next of a wait's answer"`
	Latched   bool           `json:"latched,omitempty" jsonschema:"holds when the matcher held at any moment since, or from the wait's beginning on, not only when it looks"`
	Cells     string         `json:"cells,omitempty" jsonschema:"none (default), full or runs"`
}

func (c *client) sessionWait(ctx context.Context, p waitParams) (*waitResult, error) {
	cells, err := word("cells", p.Cells, "none")
	if err != nil {
		return nil, err
	}
	value, err := tree("matcher", p.Matcher.RawMessage)
	if err != nil {
		return nil, err
	}
	asking := &asking{catalog: c.Catalog, ctx: ctx}
	defer asking.stop()
	o := c.matchers
	o.Predicates, o.Locators.Guesser = asking, asking
	o.Screen = shownBy(p.redactor(), asking)
	m, err := matchers.Parse(value, o)
	if err != nil {
		return nil, err
	}
	timeout, err := milliseconds("timeout_ms", p.TimeoutMS, engine.DefaultWait)
	if err != nil {
		return nil, err
	}
	s, err := c.session(p.sessionParams)
	if gone := (*engine.ForgottenError)(nil); errors.As(err, &gone) {
		if out := gone.Answer(m); out != nil {
			return &waitResult{look: newLook(out.View, p.redactor(), cells), outcome: out,
				forgotten: true}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	since, err := p.Since.of(s)
	if err != nil {
		return nil, err
	}
	ended := &ended{matcher: m, look: func(v *engine.View, hide *redact.Redactor) *look {
		l := newLook(v, hide, cells)
		l.Secrets = asking.secrets()
		return l
	}, hide: p.redactor(), always: c.hide}
	out, err := s.Wait(ctx, m, since, engine.Latched(p.Latched), engine.Within(timeout), c.by(),
		engine.Explained(ended.line), engine.Parked(func() { protocol.Yield(ctx) }))
	l := ended.shown(out.View)
	if err != nil {
		return nil, &waitError{err: err, evidence: ended.evidence(out)}
	}
	return &waitResult{look: l, outcome: out, latched: p.Latched}, nil
}

// An ended is what there is to say of a wait that has ended: to its client, and in one line to those
// who read the session's events. What both need is made once.
type ended struct {
	matcher matchers.Matcher
	look    func(v *engine.View, hide *redact.Redactor) *look
	hide    *redact.Redactor // the client's; nil: it sees all
	always  *redact.Redactor // for others
	made    *look            // for the client
	why     *matchers.Explanation
}

// shown is the last view, as the client may see it.
func (e *ended) shown(v *engine.View) *look {
	if e.made == nil {
		e.made = e.look(v, e.hide)
	}
	return e.made
}

// evidence is the client's, of a wait without a match.
func (e *ended) evidence(out *engine.Outcome) *evidence {
	l := e.shown(out.View)
	if e.why == nil {
		why := e.matcher.Explain(out.View, l.shown())
		e.why = &why
	}
	return &evidence{look: l, elapsed: out.Elapsed, quiet: out.View.At.Sub(out.View.Changed),
		missed: out.Missed, matcher: *e.why}
}

// line is an [engine.Explained].
func (e *ended) line(out *engine.Outcome, err error) string {
	if err == nil && reading.SaidAll(out.Match) {
		return ""
	}
	l, x := e.shown(out.View), e
	if e.hide == nil { // the client sees what others must not
		l = e.look(out.View, e.always)
		x = &ended{matcher: e.matcher, look: e.look, hide: e.always, made: l}
	}
	if err == nil {
		return l.Matched(out.Match)
	}
	return l.Lacked(x.evidence(out).matcher)
}

// asking finds the predicates of one wait. With the first of them the request runs a plugin's code:
// see lastingBound.
type asking struct {
	catalog *plugins.Catalog
	ctx     context.Context
	timer   *time.Timer
	asked   []*plugins.Plugin
}

// Predicate finds one.
func (a *asking) Predicate(plugin, function string, params any) (matchers.Matcher, error) {
	a.begin()
	m, err := a.catalog.Predicate(a.ctx, plugin, function, params)
	if err != nil {
		return nil, err
	}
	a.note(plugin)
	return m, nil
}

// begin is called before a plugin is asked.
func (a *asking) begin() {
	if a.timer == nil {
		a.timer = yieldLater(a.ctx)
	}
}

// note notes a plugin that is asked.
func (a *asking) note(plugin string) {
	if p, err := a.catalog.Plugin(plugin); err == nil && !slices.Contains(a.asked, p) {
		a.asked = append(a.asked, p)
	}
}

// secrets returns the secrets that the plugins have seen, for a look; nil when no plugin is asked.
func (a *asking) secrets() func() []string {
	if a.asked == nil {
		return nil
	}
	return func() []string {
		var all []string
		for _, p := range a.asked {
			all = append(all, p.Secrets()...)
		}
		return all
	}
}

func (a *asking) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
