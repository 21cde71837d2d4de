package native

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/protocol"
)

// adapterParams are those of a method that takes only an adapter.
type adapterParams struct {
	Adapter *string `json:"adapter" jsonschema:"the adapter's id"`
}

// naming are params that name an adapter or a plugin, whose manifest grants the method's
// permissions.
type naming interface{ named() *string }

func (p adapterParams) named() *string { return p.Adapter }

// allow checks that a manifest grants what a method needs.
func allow(method string, m *plugins.Manifest, needs []plugins.Permission) error {
	if err := m.Require(needs...); err != nil {
		return &deniedError{method, err}
	}
	return nil
}

// A deniedError reports a method that the manifest, or a flag of the server, does not allow.
type deniedError struct {
	method string
	err    error
}

func (e *deniedError) Error() string {
	return "method " + e.method + " is not allowed: " + e.err.Error()
}
func (e *deniedError) Unwrap() error { return e.err }

// lastingBound is how long a plugin's code may delay the other requests of its connection. Most
// calls take microseconds, and the next request of a script should see their effect.
const lastingBound = 20 * time.Millisecond

// yieldLater makes a handler that runs a plugin's code give up its connection's turn when it takes
// long: it is slow, or queues for its plugin. Handlers that make an adapter or a plugin do not use
// it: the next request may name what they made.
func yieldLater(ctx context.Context) *time.Timer {
	return time.AfterFunc(lastingBound, func() { protocol.Yield(ctx) })
}

// onAdapter is a row whose requests queue behind unfinished ones of the same adapter or its
// session. The handler gets the adapter that a request names, after its manifest was checked.
func onAdapter[P naming, R any](
	name, about string, f func(*client, context.Context, *plugins.Adapter, P) (R, error),
	needs ...plugins.Permission,
) row {
	r := method(name, about, func(c *client, ctx context.Context, p P) (none R, err error) {
		defer yieldLater(ctx).Stop()
		if err := required("adapter", p.named()); err != nil {
			return none, err
		}
		a, err := c.Catalog.Adapter(*p.named())
		if err == nil {
			err = allow(name, a.Plugin().Manifest, needs)
		}
		if err != nil {
			return none, err
		}
		return f(c, ctx, a, p)
	})
	r.needs = needs
	r.queues = "adapter"
	member := protocol.KeyMember(r.queues)
	r.key = func(c *client, params json.RawMessage) string {
		if a, err := c.Catalog.Adapter(member(params)); err == nil {
			return string(a.Session().ID())
		}
		return ""
	}
	return r
}

// onTurn is onAdapter, except that an intent for the turn in progress does not queue behind it.
func onTurn[P naming, R any](
	name, about string, f func(*client, context.Context, *plugins.Adapter, P) (R, error),
	needs ...plugins.Permission,
) row {
	r := onAdapter(name, about, f, needs...)
	key, adapter, intent := r.key, protocol.KeyMember("adapter"), protocol.KeyMember("intent")
	r.key = func(c *client, params json.RawMessage) string {
		if a, err := c.Catalog.Adapter(adapter(params)); err == nil &&
			a.DuringTurn(intent(params)) {
			return ""
		}
		return key(c, params)
	}
	return r
}

type adapterListResult struct {
	Plugins []*plugins.Manifest `json:"plugins"`
}

func (c *client) adapterList(context.Context, hostParams) (adapterListResult, error) {
	r := adapterListResult{Plugins: []*plugins.Manifest{}}
	for _, p := range c.Catalog.Plugins() {
		r.Plugins = append(r.Plugins, c.Manifest(p))
	}
	return r, nil
}

type adapterLiveResult struct {
	Adapters []adapterRow `json:"adapters"`
	awayParts
}

type adapterRow struct {
	Adapter  string `json:"adapter"`
	Plugin   string `json:"plugin"`
	Session  string `json:"session"`
	Sequence uint64 `json:"sequence"`
	Finished bool   `json:"finished"`
	Hash     string `json:"sha256" jsonschema:"of the plugin's code that it runs"`
	Stale    string `json:"stale,omitempty" jsonschema:"why it does not run its plugin's newest code"`
}

func (c *client) adapterLive(context.Context, hostParams) (adapterLiveResult, error) {
	r := adapterLiveResult{Adapters: []adapterRow{}}
	for _, a := range c.Catalog.Adapters() {
		v := a.Session().View()
		r.Adapters = append(r.Adapters, adapterRow{
			Adapter: a.ID(), Plugin: a.Plugin().Manifest.Name, Session: string(v.Session),
			Sequence: v.Sequence, Finished: v.Exit != nil, Hash: a.Plugin().Hash, Stale: a.Stale(),
		})
	}
	return r, nil
}

type startParams struct {
	pluginParams
	Name    string            `json:"name,omitempty" jsonschema:"of the session, as of session.create"`
	Tags    []string          `json:"tags,omitempty" jsonschema:"likewise"`
	Program string            `json:"program,omitempty" jsonschema:"executable name or path; default the manifest's"`
	Args    []string          `json:"args,omitempty" jsonschema:"arguments; default the manifest's, an empty list is none"`
	Cwd     string            `json:"cwd,omitempty" jsonschema:"working directory; default the server's"`
	Env     map[string]string `json:"env,omitempty" jsonschema:"variables to set, over the manifest's env"`
	Base    map[string]string `json:"base_env,omitempty" jsonschema:"start from this environment instead of the server's, as of session.create"`
	sizeParams
	readParams
	hostParams
}

type resumeParams struct {
	startParams
	Prior string `json:"prior_adapter,omitempty" jsonschema:"an adapter to close first, if it is still live"`
}

type startResult struct {
	Adapter string      `json:"adapter"`
	Plugin  string      `json:"plugin"`
	Session string      `json:"session"`
	State   *stateShape `json:"state"`
}

func (c *client) adapterStart(ctx context.Context, plugin *plugins.Plugin,
	p startParams) (startResult, error) {
	var none startResult
	size, err := p.size()
	if err != nil {
		return none, err
	}
	if p.Rows == nil { // the manifest decides
		size.Rows = 0
	}
	if p.Cols == nil {
		size.Cols = 0
	}
	if err := cmp.Or(nameOf(p.Name), tagsOf(p.Tags)); err != nil {
		return none, err
	}
	a, err := c.Catalog.Start(ctx, plugin.Manifest.Name, plugins.StartOptions{
		Name: p.Name, Tags: p.Tags, Program: p.Program, Args: p.Args, Dir: p.Cwd, Env: p.Env, BaseEnv: p.Base,
		Size: size,
	})
	if err != nil {
		return none, err
	}
	l := adapterLook(a, a.Session().View(), p.redactor())
	return startResult{Adapter: a.ID(), Plugin: plugin.Manifest.Name,
		Session: string(a.Session().ID()), State: l.state(a.State())}, nil
}

func (c *client) adapterResume(ctx context.Context, plugin *plugins.Plugin,
	p resumeParams) (startResult, error) {
	if prior, err := c.Catalog.Adapter(p.Prior); err == nil {
		if err := allow("adapter.resume", prior.Plugin().Manifest,
			needsOf("adapter.close")); err != nil {
			return startResult{}, err
		}
		whole := context.WithoutCancel(ctx)
		if err := c.patiently(ctx, func() error { return prior.Close(whole) }); err != nil {
			return startResult{}, err
		}
	}
	return c.adapterStart(ctx, plugin, p.startParams)
}

type stateParams struct {
	adapterParams
	readParams
}

type stateResult struct {
	State *stateShape `json:"state"`
}

func (c *client) adapterState(ctx context.Context, a *plugins.Adapter,
	p stateParams) (stateResult, error) {
	v := a.Session().View()
	return stateResult{State: adapterLook(a, v, p.redactor()).state(a.Look(ctx, v))}, nil
}

// intentParams name one intent.
type intentParams struct {
	Intent *string        `json:"intent" jsonschema:"one of the plugin's intents; see plugin.describe"`
	Params map[string]any `json:"params,omitempty" jsonschema:"what the intent needs"`
}

type sendParams struct {
	adapterParams
	readParams
	intentParams
	TimeoutMS *int64 `json:"timeout_ms,omitempty" jsonschema:"for a turn under way to end, and for a program that does not read; default 5000"`
}

func (p *intentParams) options(ctx context.Context, path string,
	ms *int64) (plugins.SendOptions, error) {
	if err := required(path+"intent", p.Intent); err != nil {
		return plugins.SendOptions{}, err
	}
	timeout, err := milliseconds("timeout_ms", ms, engine.DefaultInputTimeout)
	if err != nil {
		return plugins.SendOptions{}, err
	}
	return plugins.SendOptions{
		Intent: *p.Intent, Params: p.Params, Timeout: max(timeout, time.Millisecond),
		Parked: func() { protocol.Yield(ctx) },
	}, nil
}

type sendResult struct {
	State    *stateShape     `json:"state"`
	Receipt  plugins.Receipt `json:"receipt"`
	Snapshot *look           `json:"snapshot,omitempty" jsonschema:"the screen, when what was to be submitted was not"`
}

func (c *client) adapterSend(ctx context.Context, a *plugins.Adapter,
	p sendParams) (sendResult, error) {
	var none sendResult
	o, err := p.options(ctx, "", p.TimeoutMS)
	if err != nil {
		return none, err
	}
	s, receipt, err := a.Send(ctx, o)
	typedBytes(ctx, receipt.Written, false)
	if err != nil {
		return none,
			&intentError{err: err, receipt: &receipt,
				look: adapterLook(a, a.Session().View(), p.redactor())}
	}
	l := adapterLook(a, a.Session().View(), p.redactor())
	return sendResult{State: l.state(s), Receipt: l.receipt(receipt),
		Snapshot: l.unless(receipt.Submitted)}, nil
}

// unless returns the look when a prompt should have been submitted and was not.
func (l *look) unless(submitted *bool) *look {
	if submitted == nil || *submitted {
		return nil
	}
	return l
}

func (l *look) receipt(r plugins.Receipt) plugins.Receipt {
	r.Evidence = l.Piece(r.Evidence)
	return r
}

// An intentError is an error of a plugin, or of the actions it asked for, which may quote the
// screen.
type intentError struct {
	err     error
	receipt *plugins.Receipt // of an intent
	look    *look
}

func (e *intentError) Error() string { return e.err.Error() }
func (e *intentError) Unwrap() error { return e.err }

type adapterSnapshotParams struct {
	adapterParams
	screenParts
}

func (c *client) adapterSnapshot(_ context.Context, a *plugins.Adapter,
	p adapterSnapshotParams) (*look, error) {
	return p.read(a.Session(), &atParams{})
}

type adapterTranscriptParams struct {
	adapterParams
	outputParts
}

func (c *client) adapterTranscript(_ context.Context, a *plugins.Adapter,
	p adapterTranscriptParams) (transcriptResult, error) {
	return p.read(a.Session())
}

type inspectResult struct {
	Adapter        string      `json:"adapter"`
	Plugin         string      `json:"plugin"`
	Session        string      `json:"session"`
	State          *stateShape `json:"state"`
	PlainText      string      `json:"plain_text"`
	BodyText       string      `json:"body_text"`
	StatusText     string      `json:"status_text"`
	TranscriptTail string      `json:"transcript_tail"`
	Sequence       uint64      `json:"sequence"`
}

// inspectBytes is how much of the transcript adapter.inspect shows, in bytes.
const inspectBytes = 4096

func (c *client) adapterInspect(ctx context.Context, a *plugins.Adapter,
	p stateParams) (*inspectResult, error) {
	v := a.Session().View()
	l := adapterLook(a, v, p.redactor())
	text := l.Screen().Text()
	body, status := plugins.SplitStatus(text)
	return &inspectResult{
		Adapter: a.ID(), Plugin: a.Plugin().Manifest.Name, Session: string(v.Session),
		State: l.state(a.Look(ctx, v)), PlainText: text, BodyText: body, StatusText: status,
		TranscriptTail: lastBytes(l.Tail(inspectBytes), inspectBytes), Sequence: v.Sequence,
	}, nil
}

func (c *client) adapterClose(ctx context.Context, a *plugins.Adapter,
	_ adapterParams) (closeResult, error) {
	whole := context.WithoutCancel(ctx) // half a close would leak
	return closeResult{Closed: true}, c.patiently(ctx, func() error { return a.Close(whole) })
}

type eventsParams struct {
	adapterParams
	readParams
	Since uint64 `json:"since,omitempty" jsonschema:"the next of the last answer; default 0, everything that is kept"`
}

type eventsResult struct {
	Events  []plugins.Event `json:"events"`
	Next    uint64          `json:"next" jsonschema:"for the next since"`
	Dropped bool            `json:"dropped,omitzero" jsonschema:"part of it had left the bound"`
}

func (c *client) adapterEvents(_ context.Context, a *plugins.Adapter,
	p eventsParams) (eventsResult, error) {
	events, next, dropped := a.Events(p.Since)
	l := adapterLook(a, a.Session().View(), p.redactor())
	r := eventsResult{Events: make([]plugins.Event, len(events)), Next: next, Dropped: dropped}
	for i, e := range events {
		r.Events[i] = e
		if l.Redacted() {
			r.Events[i] = e.Clean(l.Piece)
		}
	}
	return r, nil
}

type explainResult struct {
	State   *stateShape       `json:"state"`
	Rule    string            `json:"rule" jsonschema:"that decided"`
	Nearly  []plugins.Nearly  `json:"nearly" jsonschema:"rules of which something held"`
	Rows    []explainRow      `json:"rows" jsonschema:"what they looked at"`
	Sources []plugins.Witness `json:"sources" jsonschema:"what each source says"`
}

type explainRow struct {
	Row  int    `json:"row" jsonschema:"from 0"`
	Text string `json:"text"`
}

func (c *client) adapterExplain(ctx context.Context, a *plugins.Adapter,
	p stateParams) (*explainResult, error) {
	v := a.Session().View()
	l := adapterLook(a, v, p.redactor())
	s, err := a.Explain(ctx, v)
	if err != nil {
		return nil, &intentError{err: err, look: l}
	}
	if l.Redacted() {
		s = s.Clean(l.Piece)
	}
	r := &explainResult{State: l.state(s), Rule: s.Rule, Nearly: s.Nearly, Sources: s.Sources,
		Rows: []explainRow{}}
	lines := l.Screen().Lines()
	told := map[int]bool{}
	add := func(rows []int) {
		for _, row := range rows {
			if row >= 0 && row < len(lines) && !told[row] {
				told[row] = true
				r.Rows = append(r.Rows, explainRow{row, lines[row]})
			}
		}
	}
	add(s.Rows)
	for _, n := range s.Nearly {
		add(n.Rows)
	}
	if r.Nearly == nil {
		r.Nearly = []plugins.Nearly{}
	}
	if r.Sources == nil {
		r.Sources = []plugins.Witness{}
	}
	return r, nil
}
