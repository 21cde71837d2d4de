package plugins

import (
	"context"
	"log/slog"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
)

// A Rehearsal shows a plugin a recording instead of a program: it is asked as often as by the host,
// under the same limits, and its states and events are recorded like an adapter's. Time is the
// recording's, so nothing waits and the result is the same each time. It is not safe for concurrent
// use.
type Rehearsal struct {
	adapter *Adapter
	stage   *engine.Stage
	began   time.Time
	at      time.Duration // the rehearsal's current time
	looked  time.Duration // when the plugin was last asked
	due     time.Duration // when to ask it next; negative: when something changes
	seen    func(at time.Duration, s *State, v *engine.View)
}

// Rehearse loads a plugin and shows it a blank screen at time 0. Seen is called for each look, in
// order. Errors: *[PluginError], [ErrNoCode] in a *[NameError].
func Rehearse(ctx context.Context, s *Source, rows, cols int, log *slog.Logger,
	seen func(at time.Duration, s *State, v *engine.View)) (*Rehearsal, error) {
	if s.Main == "" {
		return nil, &NameError{s.Manifest.Name, ErrNoCode}
	}
	c := &Catalog{log: log, loaded: map[string]*Plugin{}}
	p := c.add(s, s.Manifest.Name)
	began := time.Now() // only differences are used
	r := &Rehearsal{
		adapter: &Adapter{catalog: c, lua: newInstance(s, log)},
		stage:   engine.NewStage(rows, cols, began), began: began, seen: seen,
	}
	if err := r.adapter.prepare(ctx, p); err != nil {
		return nil, err
	}
	r.look(ctx)
	return r, nil
}

// Output shows what the program wrote at a time, Resize that its terminal got a size, and Exit that
// it ended. Times do not decrease; what the plugin wanted to be asked until then it is asked
// before.
func (r *Rehearsal) Output(ctx context.Context, at time.Duration, p []byte) {
	r.Advance(ctx, at)
	r.stage.Output(r.began.Add(r.at), p)
	r.change()
}

// Resize is documented at [Rehearsal.Output].
func (r *Rehearsal) Resize(ctx context.Context, at time.Duration, rows, cols int) {
	r.Advance(ctx, at)
	r.stage.Resize(r.began.Add(r.at), rows, cols)
	r.change()
}

// Exit is documented at [Rehearsal.Output].
func (r *Rehearsal) Exit(ctx context.Context, at time.Duration, code int) {
	r.Advance(ctx, at)
	r.stage.Exit(r.began.Add(r.at), code)
	r.change()
}

// change makes the plugin look as soon as the host would: see [keepFloor].
func (r *Rehearsal) change() { r.due = max(r.at, r.looked+keepFloor) }

// Advance advances the time to at, and has the plugin look whenever a look is due.
func (r *Rehearsal) Advance(ctx context.Context, at time.Duration) {
	for r.due >= 0 && r.due <= at && ctx.Err() == nil {
		r.at = max(r.at, r.due)
		r.look(ctx)
	}
	r.at = max(r.at, at)
}

func (r *Rehearsal) look(ctx context.Context) {
	v := r.View()
	s := r.adapter.observe(ctx, v)
	for _, label := range s.Marks {
		r.stage.Mark(label)
	}
	r.looked, r.due = r.at, -1
	if s.recheck > 0 && !v.Ended {
		r.due = r.at + max(s.recheck, keepFloor)
	}
	if r.seen != nil {
		r.seen(r.at, s, v)
	}
}

// View returns the current screen.
func (r *Rehearsal) View() *engine.View { return r.stage.View(r.began.Add(r.at)) }

// State returns what the plugin said last.
func (r *Rehearsal) State() *State { return r.adapter.State() }

// Events returns what has happened so far: see [Adapter.Events].
func (r *Rehearsal) Events() []Event {
	events, _, _ := r.adapter.Events(0)
	return events
}

// Explain is [Adapter.Explain] of the current screen.
func (r *Rehearsal) Explain(ctx context.Context) (*State, error) {
	return r.adapter.Explain(ctx, r.View())
}

// Describe returns what the plugin says about itself, and the names of all functions that it
// exports.
func (r *Rehearsal) Describe(ctx context.Context) (d *Description, exports []string, err error) {
	err = r.adapter.lua.do(ctx, func(m machine) error {
		exports = m.names()
		d, err = describe(ctx, r.adapter.Plugin().Manifest.Name, m)
		return err
	})
	return d, exports, err
}

// A Plan is what an intent would do.
type Plan struct {
	Actions   []string // kinds, in order
	Submit    []string // of the submission, if there is one
	Submitted bool     // there is a submission
}

// Plan has the plugin say what an intent does on the current screen, and checks the result as if it
// were to be performed. Errors: *[PluginError], *[PermissionError], [ErrParams].
func (r *Rehearsal) Plan(ctx context.Context, intent string, params map[string]any) (*Plan, error) {
	p, err := r.adapter.plan(ctx, SendOptions{Intent: intent, Params: params}, r.View())
	if err != nil {
		return nil, err
	}
	kinds := func(steps []step) []string {
		out := []string{}
		for _, s := range steps {
			out = append(out, s.kind)
		}
		return out
	}
	return &Plan{Actions: kinds(p.steps), Submit: kinds(p.submit()),
		Submitted: p.submission != nil}, nil
}

// Holds reports whether a wait of the plugin would end on the current screen, and why or why not.
// The error is a *[PluginError].
func (r *Rehearsal) Holds(ctx context.Context, wait string,
	params map[string]any) (holds bool, why string, err error) {
	v := r.View()
	m, err := r.adapter.matcher(ctx, wait, params, v)
	if err != nil {
		return false, "", err
	}
	e := m.Explain(v, matchers.Everything(v))
	return e.Held, e.Why, e.Err
}

// Recheck returns when the plugin wants to be asked again even if nothing changes; 0: never.
func (s *State) Recheck() time.Duration { return s.recheck }

// KeepFloor is the minimum time between two looks of the host: a recheck_ms below it has no effect.
const KeepFloor = keepFloor
