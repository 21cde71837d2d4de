package plugins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
)

const (
	// maxActions bounds the actions of one intent. The longest in the bundled plugins has some
	// thirty: one key per row.
	maxActions = 256
	// defaultExpect is how long an expect step waits by default: a key press is drawn within some
	// 50 ms, on a busy machine within a second.
	defaultExpect = 2 * time.Second
	// maxExpect bounds how long a plugin may make a client wait in one step.
	maxExpect = 30 * time.Second
	// underway is how many times its plugin's timeout a submission gets in addition once it has left
	// the input and is not seen taken. On a busy machine one prompt of twenty was reported as not
	// submitted after four seconds, and then was. More of it delays the report of a prompt that the
	// plugin does not recognise afterwards.
	underway = 3
	// maxRetries bounds how often a submission may be retried.
	maxRetries = 5
)

// A Receipt reports the outcome of an intent's input.
type Receipt struct {
	Written int `json:"written"` // bytes that the terminal has accepted
	// Echoed reports whether the input was seen on the screen, Submitted whether the program has
	// accepted it. Both are nil when the plugin does not say how to detect that.
	Echoed    *bool `json:"echoed"`
	Submitted *bool `json:"submitted"`
	// Read reports whether the program has read what was typed last; nil where that cannot be
	// known, see [engine.Receipt].
	Read     *bool  `json:"read"`
	Evidence string `json:"evidence"` // for people
	Retries  int    `json:"retries"`
	Sequence uint64 `json:"sequence"` // right before the first byte
}

// SendOptions say how an intent is sent.
type SendOptions struct {
	Intent  string
	Params  map[string]any
	Timeout time.Duration // for another client's turn to end, and for a program that does not read; 0: engine.DefaultInputTimeout
	Parked  func()        // called right before it blocks, each time; may be nil
}

func (o SendOptions) park() {
	if o.Parked != nil {
		o.Parked()
	}
}

// ErrTurn: a turn is in progress, and the intent may not be sent during a turn.
var ErrTurn = errors.New("a turn is under way on this adapter")

// An ExpectError reports an intent that stopped half-way because the program did not show what had
// to come next. Earlier steps are not undone; nothing more was sent.
type ExpectError struct {
	Intent  string
	Step    int // of the intent's actions, from 0
	View    *engine.View
	Matcher matchers.Matcher
	Elapsed time.Duration
	Err     error // engine.ErrTimeout, engine.ErrEnded ...
}

// Error names the intent and the step.
func (e *ExpectError) Error() string {
	return fmt.Sprintf("intent %s stopped before step %d: what it expects did not come, and nothing more was sent: %v", clip(e.Intent), e.Step+1, e.Err)
}

// Unwrap returns the cause.
func (e *ExpectError) Unwrap() error { return e.Err }

// A step is one action of an intent, something to wait for before the next, or steps under a
// condition.
type step struct {
	kind    string
	action  engine.Action
	expect  matchers.Matcher // not nil: wait for it
	timeout time.Duration
	then    []step // of a "when": performed only when expect matched in time
}

// A plan is what an intent wants to do.
type plan struct {
	steps      []step
	lastIntent *string
	submission *submission
}

// A submission is how a plugin proves that something was submitted.
type submission struct {
	echo, done, retryWhen matchers.Matcher // done is set; the others may be nil
	submit                []step
	undo                  []step // performed when nothing was submitted: removes the input
	retries               int
	timeout               time.Duration
}

// Send performs an intent and returns the outcome and the state afterwards. Intents of one adapter
// are performed one at a time; one that is not allowed during a turn waits for the turn to end.
// Errors: [ErrTurn], *[PluginError], *[PermissionError], *[ExpectError], those of
// [engine.Session.Do], or the cause of ctx's end. With an error the receipt says what was written
// before it.
func (a *Adapter) Send(ctx context.Context, o SendOptions) (*State, Receipt, error) {
	if o.Timeout <= 0 {
		o.Timeout = engine.DefaultInputTimeout
	}
	defer a.rested(ctx) // after the release
	if !a.DuringTurn(o.Intent) {
		release, err := take(ctx, a.turn, o)
		if err != nil {
			return nil, Receipt{}, err
		}
		defer release()
		a.renewed(ctx)
	}
	return a.send(ctx, o)
}

// Turn holds the adapter's turn while f runs: meanwhile other clients can only send intents that
// are allowed during a turn. Errors: [ErrTurn], the cause of ctx's end, or what f returns. f sends
// with the function it gets.
func (a *Adapter) Turn(ctx context.Context, o SendOptions,
	f func(send func() (*State, Receipt, error)) error) error {
	if o.Timeout <= 0 {
		o.Timeout = engine.DefaultInputTimeout
	}
	release, err := take(ctx, a.turn, o)
	if err != nil {
		return err
	}
	defer a.rested(ctx)
	defer release()
	a.renewed(ctx)
	return f(func() (*State, Receipt, error) { return a.send(ctx, o) })
}

// take waits for a token, at most for o.Timeout.
func take(ctx context.Context, token chan struct{}, o SendOptions) (release func(), err error) {
	release = func() { <-token }
	select {
	case token <- struct{}{}:
		return release, nil
	default:
	}
	o.park()
	timer := time.NewTimer(o.Timeout)
	defer timer.Stop()
	select {
	case token <- struct{}{}:
		return release, nil
	case <-timer.C:
		return nil, ErrTurn
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (a *Adapter) send(ctx context.Context, o SendOptions) (*State, Receipt, error) {
	release, err := take(ctx, a.sending, o)
	if err != nil {
		return nil, Receipt{}, err
	}
	defer release()
	p, err := a.plan(ctx, o, a.session.View())
	if err != nil {
		return nil, Receipt{}, err
	}
	r := Receipt{Sequence: a.session.Sequence()}
	a.mu.Lock()
	a.began = r.Sequence
	a.mu.Unlock()
	since, err := a.perform(ctx, o, p.steps, &r, nil)
	if err != nil {
		var stopped *ExpectError
		if errors.As(err, &stopped) && p.submission != nil {
			a.undo(ctx, o, p.submission, &r)
		}
		return nil, r, err
	}
	if p.submission != nil {
		if err := a.submit(ctx, o, p.submission, &r, since); err != nil {
			return nil, r, err
		}
	}
	if p.lastIntent != nil && (r.Submitted == nil || *r.Submitted) {
		a.mu.Lock()
		a.lastIntent = *p.lastIntent
		a.mu.Unlock()
	}
	return a.Look(ctx, a.session.View()), r, nil
}

// plan has the plugin say what an intent does on a view.
func (a *Adapter) plan(ctx context.Context, o SendOptions, v *engine.View) (p *plan, err error) {
	name := a.Plugin().Manifest.Name
	params := o.Params
	if params == nil {
		params = map[string]any{}
	}
	if err := checkParams(params); err != nil {
		return nil, err
	}
	err = a.lua.do(ctx, func(m machine) error {
		if !a.isIntent(m, o.Intent) {
			return &PluginError{Plugin: name, Function: o.Intent, Kind: "missing",
				Message: a.noIntent(m)}
		}
		value, err := m.call(ctx, o.Intent, intentLimit, a.look(v), params)
		if err != nil {
			return err
		}
		p, err = a.decodePlan(ctx, m, o.Intent, value)
		return err
	})
	return p, err
}

// noIntent lists the existing intents for a client that asked for another.
func (a *Adapter) noIntent(m machine) string {
	var known []string
	for _, f := range m.names() {
		if a.isIntent(m, f) {
			known = append(known, f)
		}
	}
	return "no such intent; known intents: " + strings.Join(known, ", ")
}

// decodePlan reads what an intent returned, and refuses what the manifest does not allow before
// anything is performed.
func (a *Adapter) decodePlan(ctx context.Context, machine machine, intent string,
	value any) (*plan, error) {
	d := decode("result", value).members("actions", "last_intent", "submission")
	p := &plan{}
	if !d.at("actions").Given {
		d.fail("the result has no actions: give a list, which may be empty")
	}
	p.steps = a.steps(ctx, machine, d.at("actions"))
	if v := d.at("last_intent"); v.Given {
		text := v.text(maxWord)
		p.lastIntent = &text
	}
	if m := d.at("submission"); m.Given {
		m.members("echo", "submit", "done", "retry_when", "retries", "timeout_ms", "undo")
		p.submission = &submission{
			echo:      a.optional(ctx, machine, m.at("echo")),
			done:      a.optional(ctx, machine, m.at("done")),
			retryWhen: a.optional(ctx, machine, m.at("retry_when")),
			submit:    a.steps(ctx, machine, m.at("submit")),
			undo:      a.steps(ctx, machine, m.at("undo")),
			retries:   int(m.at("retries").number(0, maxRetries)),
			timeout:   m.at("timeout_ms").duration(defaultExpect, maxExpect),
		}
		if p.submission.done == nil {
			m.fail("the submission has no done: say how it looks when it was submitted")
		}
	}
	if err := d.problem(a.Plugin().Manifest.Name, intent); err != nil {
		return nil, err
	}
	for _, steps := range [][]step{p.steps, p.submit(), p.undo()} {
		for _, s := range steps {
			for _, s := range slices.Concat(s.then, []step{s}) {
				if err := a.allowed(intent, s); err != nil {
					return nil, err
				}
			}
		}
	}
	return p, nil
}

func (p *plan) submit() []step {
	if p.submission == nil {
		return nil
	}
	return p.submission.submit
}

func (p *plan) undo() []step {
	if p.submission == nil {
		return nil
	}
	return p.submission.undo
}

// duration reads milliseconds.
func (d decoder) duration(absent, most time.Duration) time.Duration {
	if d.V == nil {
		return absent
	}
	return time.Duration(d.Number(0, float64(most.Milliseconds()))) * time.Millisecond
}

// optional reads a matcher that may be missing.
func (a *Adapter) optional(ctx context.Context, m machine, d decoder) matchers.Matcher {
	if d.V == nil {
		return nil
	}
	matcher, err := a.parse(ctx, m, d.V)
	if err != nil {
		d.Fail(err)
	}
	return matcher
}

func (a *Adapter) steps(ctx context.Context, machine machine, actions decoder) []step {
	var out []step
	for i, d := range actions.list(maxActions) {
		s := step{kind: d.at("type").text(maxWord)}
		v := d.at("value")
		var err error
		switch s.kind {
		case "expect":
			v.members("matcher", "timeout_ms")
			s.timeout = v.at("timeout_ms").duration(defaultExpect, maxExpect)
			s.expect, err = a.parse(ctx, machine, v.at("matcher").V)
		case "when":
			v.members("matcher", "actions", "timeout_ms")
			s.timeout = v.at("timeout_ms").duration(0, maxExpect)
			s.expect, err = a.parse(ctx, machine, v.at("matcher").V)
			s.then = a.steps(ctx, machine, v.at("actions"))
			if slices.ContainsFunc(s.then, func(s step) bool { return s.kind == "when" }) {
				d.fail("action %d: a when holds another: put one behind the other", i+1)
			}
		default:
			s.action, err = engine.ParseAction(d.V)
		}
		if err != nil {
			d.fail("action %d: %w", i+1, err)
		}
		out = append(out, s)
	}
	return out
}

// actionPermissions are the permissions that actions need; every action is listed.
var actionPermissions = map[string]Permission{
	"text": InputWrite, "paste": InputWrite, "bracketed_paste": InputWrite,
	"stream_text": InputWrite, "key": InputWrite, "mouse": InputWrite,
	"click": InputWrite, "drag": InputWrite, "scroll": InputWrite, "interrupt": InputWrite,
	"eof": InputWrite, "theme": InputWrite, "signal": SessionKill, "kill": SessionKill, "resize": SessionResize,
	"expect": MatcherWait, "when": MatcherWait, "mark_transcript": TranscriptRead,
}

func (a *Adapter) allowed(intent string, s step) error {
	m := a.Plugin().Manifest
	p, ok := actionPermissions[s.kind]
	if !ok {
		return resultError(m.Name, intent, "the action %s is not for plugins", clip(s.kind))
	}
	return m.require(p, s.kind)
}

// perform executes the steps in order, adds to the receipt, and returns the sequence right before
// the last step that wrote something: since, when none did. Only what comes after that sequence
// meets a step's expectation.
func (a *Adapter) perform(ctx context.Context, o SendOptions, steps []step, r *Receipt,
	since *engine.Position) (*engine.Position, error) {
	last := len(steps) - 1 // that acts: it answers when it was read
	for last >= 0 && steps[last].action == nil {
		last--
	}
	for i, s := range steps {
		if s.kind == "when" {
			from := since
			if s.timeout == 0 {
				from = nil // checked on the current screen
			}
			held, _, err := a.await(ctx, o, s.expect, from, s.timeout)
			if err == nil && held {
				since, err = a.perform(ctx, o, s.then, r, since)
			}
			if err != nil {
				return since, err
			}
			continue
		}
		if s.expect != nil {
			out, err := a.session.Wait(ctx, s.expect, since, engine.Within(s.timeout), engine.Unnoted{},
				engine.Parked(o.Parked))
			if err != nil {
				return since,
					&ExpectError{Intent: o.Intent, Step: i, View: out.View, Matcher: s.expect,
						Elapsed: out.Elapsed, Err: err}
			}
			continue
		}
		how := []engine.DoOption{engine.Within(o.Timeout), a.by(), engine.Parked(o.Parked)}
		if i == last {
			how = append(how, engine.UntilRead{})
		}
		done, err := a.session.Do(ctx, s.action, how...)
		r.Written += done.Written
		if err != nil {
			return since, err
		}
		if done.Written > 0 {
			r.Read = done.Read
			since = engine.After(done.Sequence)
		}
	}
	return since, nil
}

// submit makes sure that the input is submitted, and reports whether it was. A missing confirmation
// is not an error: the receipt reports it.
func (a *Adapter) submit(ctx context.Context, o SendOptions, s *submission, r *Receipt,
	since *engine.Position) error {
	submitted, echoed := false, false
	r.Submitted = &submitted
	if s.echo != nil {
		r.Echoed = &echoed
		held, why, err := a.await(ctx, o, s.echo, since, s.timeout)
		if err != nil {
			return err
		}
		if !held {
			r.Evidence = "what was typed did not appear, so it was not submitted: " + why
			r.Evidence += a.undo(ctx, o, s, r)
			return nil
		}
		echoed = true
	}
	for {
		since, err := a.perform(ctx, o, s.submit, r, engine.After(a.session.Sequence()))
		if err != nil {
			return err
		}
		held, why, err := a.await(ctx, o, s.done, since, s.timeout)
		if err != nil {
			return err
		}
		stands := false
		if !held && s.retryWhen != nil {
			if stands, _, err = a.await(ctx, o, s.retryWhen, nil, 0); err != nil {
				return err
			}
			if !stands { // it may be on its way
				held, why, err = a.await(ctx, o, s.done, since, underway*s.timeout)
				if err != nil {
					return err
				}
			}
		}
		if held {
			submitted = true
			r.Evidence = why
			return nil
		}
		if s.retryWhen == nil || stands && r.Retries >= s.retries {
			r.Evidence = fmt.Sprintf("not submitted after %d tries: %s", r.Retries+1, why)
			r.Evidence += a.undo(ctx, o, s, r)
			return nil
		}
		// Only while the screen shows that a second try cannot answer anything else.
		if !stands {
			r.Evidence = "not submitted, and not tried again, since the screen no longer shows what was typed: " + why
			r.Evidence += a.undo(ctx, o, s, r)
			return nil
		}
		r.Retries++
	}
}

// undo removes input that was not submitted, where the plugin says how, and returns what to add to
// the evidence.
func (a *Adapter) undo(ctx context.Context, o SendOptions, s *submission, r *Receipt) string {
	if len(s.undo) == 0 {
		return ""
	}
	if _, err := a.perform(ctx, o, s.undo, r, nil); err != nil {
		return fmt.Sprintf("; it could not be taken back: %v", err)
	}
	return "; it was taken back"
}

// by is who types and waits, in the session's events.
func (a *Adapter) by() engine.By { return engine.By("plugin " + a.Plugin().Manifest.Name) }

// await waits for a matcher and reports the outcome. The error is that of a wait that ended for any
// reason but its timeout.
func (a *Adapter) await(ctx context.Context, o SendOptions, m matchers.Matcher,
	since *engine.Position, timeout time.Duration) (held bool, why string, err error) {
	out, err := a.session.Wait(ctx, m, since, engine.Within(timeout), engine.Unnoted{},
		engine.Parked(o.Parked))
	switch {
	case err == nil:
		return true, evidence(out.Match), nil
	case errors.Is(err, engine.ErrTimeout), errors.Is(err, engine.ErrEnded):
		e := m.Explain(out.View, matchers.Everything(out.View))
		return false, fmt.Sprintf("%v: %s", err, e.Why), nil
	}
	return false, "", err
}

// evidence says in words what matched.
func evidence(m *engine.Match) string {
	switch {
	case m.Evidence != nil:
		return fmt.Sprint(m.Evidence)
	case m.Text != "":
		return m.Kind + " " + m.Text
	case m.Capture != "":
		return m.Kind + " " + m.Capture
	case len(m.Parts) > 0:
		return evidence(m.Parts[0])
	}
	return m.Kind
}
