package tools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/protocol/mcp"
	"github.com/ptywright/ptywright/redact"
)

const adapterAbout = `Drive a program that ptywright has an adapter for, such as a coding agent's TUI: the adapter knows its states and how to submit to it.

{"action":"list"}   {"action":"start","plugin":"claude-code","cwd":"/src"}
{"action":"send","session":"s3","intent":"send_prompt","params":{"prompt":"Fix the failing test"}}
{"action":"wait","session":"s3"}   {"action":"state","session":"s3"}

list shows the adapters with their intents and the params of each ("?": may be left out). send performs an intent and says whether it was submitted; wait waits for the turn to end (intent names another of its matchers). Then read {"session":"s3"}; stop ends it.`

type adapterParams struct {
	Action    string            `json:"action" jsonschema:"list, start, send, wait or state"`
	Plugin    string            `json:"plugin,omitempty" jsonschema:"start: the adapter's name; list: only this one"`
	Session   string            `json:"session,omitempty" jsonschema:"send, wait, state: the session that start returned"`
	Intent    string            `json:"intent,omitempty" jsonschema:"send: what to do; wait: the matcher, default the end of the turn"`
	Params    map[string]any    `json:"params,omitempty" jsonschema:"what the intent or matcher needs"`
	Program   string            `json:"program,omitempty" jsonschema:"start: executable, default the adapter's"`
	Args      []string          `json:"args,omitempty" jsonschema:"start: arguments, default the adapter's"`
	Cwd       string            `json:"cwd,omitempty" jsonschema:"start: working directory"`
	Env       map[string]string `json:"env,omitempty" jsonschema:"start: variables to set"`
	Rows      int               `json:"rows,omitempty" jsonschema:"start: rows of the terminal"`
	Cols      int               `json:"cols,omitempty" jsonschema:"start: columns of the terminal"`
	Since     *position         `json:"since,omitempty" jsonschema:"wait: only what came after this sequence counts"`
	TimeoutMS *int              `json:"timeout_ms,omitempty" jsonschema:"wait: default and most 45000 a call, as a task up to a day; send: for the program to take it, default 5000"`
	budget
	rawAsked
}

type adapterResult struct {
	Session  string       `json:"session"`
	Adapter  string       `json:"adapter,omitempty"`
	Plugin   string       `json:"plugin,omitempty"`
	State    *stateInfo   `json:"state,omitempty"`
	Receipt  *receiptInfo `json:"receipt,omitempty" jsonschema:"what became of an intent"`
	Outcome  *waited      `json:"outcome,omitempty" jsonschema:"how the wait ended"`
	Sequence uint64       `json:"sequence,omitempty"`
	Screen   string       `json:"screen,omitempty"`
	Omitted  int          `json:"omitted_rows,omitempty"`
	Plugins  []pluginInfo `json:"plugins,omitempty"`
}

type stateInfo struct {
	State      string         `json:"state"`
	Confidence float64        `json:"confidence"`
	Evidence   string         `json:"evidence"`
	Source     string         `json:"source,omitempty"`
	Metadata   map[string]any `json:"metadata,omitempty"`
}

type receiptInfo struct {
	Written   int    `json:"written"`
	Echoed    *bool  `json:"echoed,omitempty"`
	Submitted *bool  `json:"submitted,omitempty"`
	Read      *bool  `json:"read,omitempty"`
	Evidence  string `json:"evidence,omitempty"`
	Retries   int    `json:"retries"`
	Sequence  uint64 `json:"since" jsonschema:"for since of wait"`
}

type pluginInfo struct {
	Plugin   string   `json:"plugin"`
	Program  string   `json:"program,omitempty"`
	Intents  []string `json:"intents" jsonschema:"each with the names of its params"`
	Matchers []string `json:"wait_matchers"`
	States   []string `json:"states"`
}

func (p *profile) adapter(ctx context.Context, req *sdk.CallToolRequest,
	in adapterParams) (*reply[adapterResult], error) {
	most, hide := in.or(screenBudget), in.redactor()
	mcp.Yield(ctx) // every action runs a plugin's code
	var r *adapterResult
	var err error
	switch in.Action {
	case "list":
		r, err = p.listPlugins(ctx, &in, hide)
	case "start":
		r, err = p.startAdapter(ctx, &in, hide, most)
	case "send":
		r, err = p.sendIntent(ctx, &in, hide, most)
	case "wait":
		r, err = p.waitAdapter(ctx, req, &in, hide, most)
	case "state":
		var a *plugins.Adapter
		if a, err = p.owner(in.Session, plugins.ScreenRead); err == nil {
			r = p.adapterState(ctx, a, a.Session().View(), hide, most)
		}
	default:
		err = bad("action", "expected list, start, send, wait or state")
	}
	if err != nil {
		return nil, err
	}
	return &reply[adapterResult]{text: r.text(), out: *r}, nil
}

// owner finds the adapter that drives a session, and needs a permission of its manifest.
func (p *profile) owner(session string, needs plugins.Permission) (*plugins.Adapter, error) {
	s, err := p.session(session)
	if err != nil {
		return nil, err
	}
	a := p.Catalog.Owner(s.ID())
	if a == nil {
		return nil, fmt.Errorf("session %s is driven by no adapter: use send and wait, or start one with action start", s.ID())
	}
	return a, a.Plugin().Manifest.Require(needs)
}

// view returns what an adapter's client may see of its session.
func view(a *plugins.Adapter, v *engine.View, hide *redact.Redactor) *reading.View {
	l := reading.New(v, hide)
	l.Secrets = a.Secrets
	return l
}

func (p *profile) listPlugins(ctx context.Context, in *adapterParams,
	hide *redact.Redactor) (*adapterResult, error) {
	r := &adapterResult{Plugins: []pluginInfo{}}
	for _, plugin := range p.Catalog.Plugins() {
		m := p.Manifest(plugin)
		if in.Plugin != "" && in.Plugin != m.Name {
			continue
		}
		info := pluginInfo{Plugin: m.Name, Intents: []string{}, Matchers: []string{},
			States: []string{}}
		if m.Target != nil {
			info.Program = m.Target.Program
		}
		if d, err := plugin.Describe(ctx, p.Log); err == nil { // without code it still has a name
			info.Intents, info.Matchers, info.States = listed(d.Intents), listed(d.WaitMatchers),
				listed(d.States)
		}
		r.Plugins = append(r.Plugins, info)
	}
	if in.Plugin != "" && len(r.Plugins) == 0 {
		return nil, fmt.Errorf("%w %q", plugins.ErrNoPlugin, in.Plugin)
	}
	return r, nil
}

// listed makes one word of each function that a plugin describes: a name, and its params in
// parentheses, optional ones with a question mark.
func listed(all []map[string]any) []string {
	words := []string{}
	for _, d := range all {
		name, _ := d["name"].(string)
		if name == "" {
			continue
		}
		schema, _ := d["params_schema"].(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		params := slices.Sorted(maps.Keys(properties))
		for i, param := range params {
			if !slices.Contains(required, any(param)) {
				params[i] += "?"
			}
		}
		if len(params) > 0 {
			name += "(" + strings.Join(params, ", ") + ")"
		}
		words = append(words, name)
	}
	return words
}

// inWords rewrites an error of a plugin in terms of tools, not of the plugin's files.
func inWords(err error) error {
	var of *plugins.PluginError
	if !errors.As(err, &of) {
		return err
	}
	hint := fmt.Sprintf("adapter {\"action\":\"list\",\"plugin\":%q} names what there is, with params", of.Plugin)
	switch {
	case of.Kind == "missing":
		return fmt.Errorf("the adapter %s has no %q: %s", of.Plugin, of.Function, hint)
	case of.Code != "":
		return fmt.Errorf("the adapter %s refused %s (%s): %s; %s", of.Plugin, of.Function, of.Code,
			of.Message, hint)
	}
	return fmt.Errorf("the adapter %s broke in %s (%s): %s; read the screen, and drive the program by hand in a session of its own if that stays", of.Plugin, of.Function, of.Kind, of.Message)
}

func (p *profile) startAdapter(ctx context.Context, in *adapterParams, hide *redact.Redactor,
	most int) (*adapterResult, error) {
	if in.Plugin == "" {
		return nil, bad("plugin", "expected the adapter's name: see action list")
	}
	if in.Rows < 0 || in.Rows > engine.MaxSide || in.Cols < 0 || in.Cols > engine.MaxSide {
		return nil, bad("rows", "rows and cols are integers from 1 to %d", engine.MaxSide)
	}
	a, err := p.Catalog.Start(ctx, in.Plugin, plugins.StartOptions{
		Program: in.Program, Args: in.Args, Dir: in.Cwd, Env: in.Env,
		Size: pty.Size{Rows: uint16(in.Rows), Cols: uint16(in.Cols)},
	})
	if err != nil {
		return nil, err
	}
	return p.adapterState(ctx, a, a.Session().View(), hide, most), nil
}

// adapterState describes an adapter at one moment.
func (p *profile) adapterState(ctx context.Context, a *plugins.Adapter, v *engine.View,
	hide *redact.Redactor, most int) *adapterResult {
	l := view(a, v, hide)
	r := &adapterResult{
		Session: string(v.Session), Adapter: a.ID(), Plugin: a.Plugin().Manifest.Name,
		Sequence: v.Sequence, State: stateOf(l, a.Look(ctx, v)),
	}
	r.Screen, r.Omitted = screenText(l, most)
	return r
}

func stateOf(l *reading.View, s *plugins.State) *stateInfo {
	if l.Redacted() {
		s = s.Clean(l.Piece)
	}
	return &stateInfo{State: s.State, Confidence: s.Confidence, Evidence: s.Evidence,
		Source: s.Source, Metadata: s.Metadata}
}

func (p *profile) sendIntent(ctx context.Context, in *adapterParams, hide *redact.Redactor,
	most int) (*adapterResult, error) {
	a, err := p.owner(in.Session, plugins.InputWrite)
	if err != nil {
		return nil, err
	}
	if in.Intent == "" {
		return nil, bad("intent", "expected what to do: see action list")
	}
	timeout, err := timeoutOf(ctx, in.TimeoutMS, engine.DefaultInputTimeout)
	if err != nil {
		return nil, err
	}
	_, receipt, err := a.Send(ctx,
		plugins.SendOptions{Intent: in.Intent, Params: in.Params,
			Timeout: max(timeout, time.Millisecond), Parked: parked(ctx)})
	l := view(a, a.Session().View(), hide)
	if err != nil {
		return nil, errors.New(l.Piece(inWords(err).Error())) // it may quote the screen
	}
	r := p.adapterState(ctx, a, l.Raw, hide, most)
	r.Receipt = &receiptInfo{
		Written: receipt.Written, Echoed: receipt.Echoed, Submitted: receipt.Submitted,
		Read:     receipt.Read,
		Evidence: l.Piece(receipt.Evidence), Retries: receipt.Retries, Sequence: receipt.Sequence,
	}
	return r, nil
}

func (p *profile) waitAdapter(ctx context.Context, req *sdk.CallToolRequest, in *adapterParams,
	hide *redact.Redactor, most int) (*adapterResult, error) {
	a, err := p.owner(in.Session, plugins.MatcherWait)
	if err != nil {
		return nil, err
	}
	timeout, err := timeoutOf(ctx, in.TimeoutMS, waitCap)
	if err != nil {
		return nil, err
	}
	name := in.Intent
	if name == "" {
		name = plugins.DefaultMatcher
	}
	m, err := a.Matcher(ctx, name, in.Params)
	if err != nil {
		return nil, errors.New(view(a, a.Session().View(), hide).Piece(inWords(err).Error()))
	}
	s := a.Session()
	stop := p.progress(ctx, req, s, timeout)
	out, err := s.Wait(ctx, m, in.Since.engine(), engine.Within(timeout), by(ctx))
	stop()
	whole, done := context.WithTimeout(context.WithoutCancel(ctx), plugins.Brief)
	defer done()
	r := p.adapterState(whole, a, out.View, hide, most)
	w := p.told(view(a, out.View, hide),
		&answer{outcome: out, err: err, matcher: m, found: &predicates{}}, &asked{session: s.ID()})
	if w.Wait != "" { // a plugin's matcher cannot be kept: it is looked up by name again
		p.questions.take(w.Wait)
		w.Wait = ""
	}
	r.Outcome = &w
	return r, nil
}

// text is the result in words.
func (r *adapterResult) text() string {
	var b strings.Builder
	for _, x := range r.Plugins {
		fmt.Fprintf(&b, "%s (%s): intents %s; wait matchers %s; states %s\n", x.Plugin, x.Program,
			strings.Join(x.Intents, ", "), strings.Join(x.Matchers, ", "),
			strings.Join(x.States, ", "))
	}
	if r.Session == "" {
		return strings.TrimSuffix(b.String(), "\n")
	}
	fmt.Fprintf(&b, "[%s · %s · state %s · %s]\n", r.Session, r.Plugin, r.State.State,
		r.State.Evidence)
	if x := r.Receipt; x != nil {
		switch {
		case x.Submitted == nil:
			fmt.Fprintf(&b, "Sent %d bytes. %s\n", x.Written, x.Evidence)
		case *x.Submitted:
			fmt.Fprintf(&b,
				"Submitted. %s\nNext: adapter {\"action\":\"wait\",\"session\":%q,\"since\":%d}.\n",
				x.Evidence, r.Session, x.Sequence)
		default:
			fmt.Fprintf(&b, "NOT submitted. %s\n", x.Evidence)
		}
	}
	if r.Outcome != nil {
		b.WriteString(r.Outcome.text() + "\n")
		if r.Outcome.Reason == "timeout" {
			fmt.Fprintf(&b, "To go on waiting: adapter {\"action\":\"wait\",\"session\":%q}.\n",
				r.Session)
		}
	}
	if r.Omitted > 0 {
		fmt.Fprintf(&b, "(%d rows above are left out)\n", r.Omitted)
	}
	b.WriteString(r.Screen)
	return b.String()
}
