package native

import (
	"context"
	"sync"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/redact"
)

// waitTree is what adapter.wait and the wait of adapter.turn have in common.
type waitTree struct {
	Intent    string         `json:"intent,omitempty" jsonschema:"one of the plugin's wait matchers; default wait_turn_matcher"`
	Params    map[string]any `json:"params,omitempty" jsonschema:"what the matcher needs"`
	TimeoutMS *int64         `json:"timeout_ms,omitempty" jsonschema:"default 120000; 0 looks once"`
	WaitID    *string        `json:"wait_id,omitempty" jsonschema:"a name for adapter.cancel_wait"`
	Since     *sincePosition `json:"since,omitempty" jsonschema:"only what came after it counts: a sequence, or the next of a wait's answer"`
	Latched   bool           `json:"latched,omitempty" jsonschema:"holds when the matcher held at any moment since, or from the wait's beginning on, not only when it looks"`
}

type adapterWaitParams struct {
	adapterParams
	readParams
	waitTree
}

type adapterWaitResult struct {
	State     *stateShape `json:"state"`
	Matched   outcome     `json:"matched"`
	WaitID    *string     `json:"wait_id,omitempty"`
	Sequence  uint64      `json:"sequence"`
	Next      string      `json:"next" jsonschema:"just behind what matched, for the since of a wait"`
	ElapsedMS int64       `json:"elapsed_ms"`
	latchedParts
}

// latchedParts are what the answer to a wait on an adapter has when it was latched.
type latchedParts struct {
	HeldAt *time.Time `json:"held_at,omitempty" jsonschema:"of a latched wait: when the matcher held, of which sequence and state are"`
	Missed bool       `json:"missed,omitzero" jsonschema:"of a latched wait: the matcher could not be asked about all that was shown"`
}

// adapterWait is the default timeout of a wait on an adapter: a turn of an agent takes minutes.
const adapterWait = 120 * time.Second

func (c *client) adapterWait(ctx context.Context, a *plugins.Adapter,
	p adapterWaitParams) (*adapterWaitResult, error) {
	ctx, end, err := c.waits.begin(ctx, a, p.WaitID)
	if err != nil {
		return nil, err
	}
	defer end()
	return c.wait(ctx, a, p.redactor(), &p.waitTree, engine.Latched(p.Latched))
}

// wait waits for a tree to match, on an adapter whose wait is registered by its id.
func (c *client) wait(ctx context.Context, a *plugins.Adapter, hide *redact.Redactor,
	p *waitTree, latched engine.WaitOption) (*adapterWaitResult, error) {
	timeout, err := milliseconds("timeout_ms", p.TimeoutMS, adapterWait)
	if err != nil {
		return nil, err
	}
	name := p.Intent
	if name == "" {
		name = plugins.DefaultMatcher
	}
	since, err := p.Since.of(a.Session())
	if err != nil {
		return nil, err
	}
	m, err := a.Matcher(ctx, name, p.Params)
	if err != nil {
		return nil, &intentError{err: err, look: adapterLook(a, a.Session().View(), hide)}
	}
	ended := &ended{matcher: m, look: func(v *engine.View, hide *redact.Redactor) *look {
		return adapterLook(a, v, hide)
	}, hide: hide, always: c.hide}
	out, err := a.Session().Wait(ctx, m, since, latched, engine.Within(timeout), c.by(),
		engine.Explained(ended.line), engine.Parked(func() { protocol.Yield(ctx) }))
	l := ended.shown(out.View)
	if p.Latched { // who was asked may have seen other sessions
		l.Secrets = func() []string { return append(a.Secrets(), a.Plugin().Secrets()...) }
	}
	whole := context.WithoutCancel(ctx)
	if err != nil {
		var done context.CancelFunc
		whole, done = context.WithTimeout(whole, plugins.Brief)
		defer done()
	}
	look := a.Look
	if out.View.Past {
		look = a.Recall
	}
	state := l.state(look(whole, out.View))
	if err != nil {
		why := ended.evidence(out)
		why.state = state
		return nil, &waitError{err: err, evidence: why}
	}
	r := &adapterWaitResult{
		State: state, Matched: *l.outcome(out.Match), WaitID: p.WaitID, Sequence: out.View.Sequence,
		Next: out.Next.String(), ElapsedMS: out.Elapsed.Milliseconds(),
	}
	if p.Latched {
		r.HeldAt, r.Missed = &out.View.At, out.Missed
	}
	return r, nil
}

type turnParams struct {
	adapterParams
	readParams
	Send      *intentParams `json:"send" jsonschema:"the intent"`
	Wait      *waitTree     `json:"wait,omitempty" jsonschema:"what to wait for afterwards; default wait_turn_matcher, 120000 ms"`
	TimeoutMS *int64        `json:"timeout_ms,omitempty" jsonschema:"for another turn to end, and for a program that does not read; default 5000"`
}

type turnResult struct {
	State     *stateShape `json:"state"`
	Matched   *outcome    `json:"matched" jsonschema:"null when what was to be submitted was not: then nothing is waited for"`
	WaitID    *string     `json:"wait_id,omitempty"`
	Sequence  uint64      `json:"sequence"`
	Next      string      `json:"next,omitempty" jsonschema:"just behind what matched, for the since of a wait"`
	ElapsedMS *int64      `json:"elapsed_ms,omitempty" jsonschema:"of the wait"`
	latchedParts
	Receipt  plugins.Receipt `json:"receipt"`
	Snapshot *look           `json:"snapshot,omitempty" jsonschema:"the screen, when what was to be submitted was not"`
}

func (c *client) adapterTurn(ctx context.Context, a *plugins.Adapter,
	p turnParams) (*turnResult, error) {
	if p.Send == nil {
		return nil, &protocol.ParamError{Path: "send", Expected: "an object with intent"}
	}
	if p.Wait == nil {
		p.Wait = &waitTree{}
	}
	ctx, end, err := c.waits.begin(ctx, a, p.Wait.WaitID)
	if err != nil {
		return nil, err
	}
	defer end()
	o, err := p.Send.options(ctx, "send.", p.TimeoutMS)
	if err != nil {
		return nil, err
	}
	var r *turnResult
	err = a.Turn(ctx, o, func(send func() (*plugins.State, plugins.Receipt, error)) error {
		s, receipt, err := send()
		l := adapterLook(a, a.Session().View(), p.redactor())
		if err != nil {
			return &intentError{err: err, receipt: &receipt, look: l}
		}
		r = &turnResult{WaitID: p.Wait.WaitID, Receipt: l.receipt(receipt)}
		if r.Snapshot = l.unless(receipt.Submitted); r.Snapshot != nil {
			r.State, r.Sequence = l.state(s), l.Raw.Sequence
			return nil
		}
		latched := engine.WaitOption(engine.Latched(p.Wait.Latched))
		if p.Wait.Latched && p.Wait.Since == nil { // nothing passes between the intent and the wait
			from := receipt.Sequence
			if receipt.Submitted != nil { // up to there it was watched
				from = s.Sequence
			}
			latched = engine.LatchedFrom(from)
		}
		w, err := c.wait(ctx, a, p.redactor(), p.Wait, latched)
		if err != nil {
			return err
		}
		r.State, r.Matched, r.Sequence = w.State, &w.Matched, w.Sequence
		r.Next, r.ElapsedMS, r.latchedParts = w.Next, &w.ElapsedMS, w.latchedParts
		return nil
	})
	return r, err
}

// waits are the named waits on adapters. They belong to the server, so that any client can cancel
// one.
type waits struct {
	mu sync.Mutex
	// protects the fields below
	live map[string]namedWait
}

type namedWait struct {
	adapter string
	cancel  context.CancelCauseFunc
}

// begin registers a wait by its id, before anything can block. end removes it.
func (w *waits) begin(ctx context.Context, a *plugins.Adapter,
	id *string) (_ context.Context, end func(), err error) {
	if id == nil {
		return ctx, func() {}, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, taken := w.live[*id]; taken {
		return nil, nil,
			&paramError{path: "wait_id", reason: "wait_id_in_use",
				problem: "a wait of this id is under way"}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if w.live == nil {
		w.live = map[string]namedWait{}
	}
	w.live[*id] = namedWait{adapter: a.ID(), cancel: cancel}
	return ctx, func() {
		cancel(context.Canceled)
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.live, *id)
	}, nil
}

type cancelParams struct {
	WaitID *string `json:"wait_id" jsonschema:"as it was given to adapter.wait or adapter.turn"`
}

type cancelResult struct {
	Cancelled bool   `json:"cancelled"`
	Adapter   string `json:"adapter,omitempty"`
	WaitID    string `json:"wait_id,omitempty"`
}

func (c *client) adapterCancelWait(_ context.Context, p cancelParams) (cancelResult, error) {
	if err := required("wait_id", p.WaitID); err != nil {
		return cancelResult{}, err
	}
	c.waits.mu.Lock()
	w, ok := c.waits.live[*p.WaitID]
	c.waits.mu.Unlock()
	if !ok {
		return cancelResult{}, nil
	}
	w.cancel(protocol.ErrCancelled)
	return cancelResult{Cancelled: true, Adapter: w.adapter, WaitID: *p.WaitID}, nil
}
