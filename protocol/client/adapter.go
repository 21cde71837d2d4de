package client

import (
	"context"
	"encoding/json"
	"time"
)

// An Adapter is a plugin that drives one program: it knows the program's states, and intents such
// as send_prompt. Errors of all methods are those of [Client.Call].
type Adapter struct {
	ID      string
	Session *Session // to read; only the adapter types
}

// Adapter starts a plugin's program; what config leaves out is as the plugin's manifest has it.
// plugin.describe lists a plugin's intents.
func (c *Client) Adapter(ctx context.Context, plugin string, config Config) (*Adapter, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	params := map[string]any{}
	if err := json.Unmarshal(text, &params); err != nil {
		return nil, err
	}
	params["plugin"] = plugin
	if config.Program == "" {
		delete(params, "program")
	}
	var r struct {
		Adapter string `json:"adapter"`
		Session string `json:"session"`
	}
	if err := c.Call(ctx, "adapter.start", params, &r); err != nil {
		return nil, err
	}
	return &Adapter{r.Adapter, c.Session(r.Session)}, nil
}

// A State is what a program is doing, as its adapter reads it.
type State struct {
	Name       string  `json:"state"`      // "ready", "thinking", "waiting_for_permission"
	Confidence float64 `json:"confidence"` // 0 to 1
	Evidence   string  `json:"evidence"`   // why, in a line for people
	Source     string  `json:"source"`     // what told it
	Sequence   uint64  `json:"sequence"`
	LastIntent string  `json:"last_intent"`
	// what the plugin knows besides: a dialog, its options
	Metadata   map[string]any `json:"metadata"`
	Candidates []struct {
		Name       string  `json:"state"`
		Confidence float64 `json:"confidence"`
	} `json:"candidates"` // other states that it may be
	Exit *Exit `json:"exit"` // nil: the program runs
}

// A Receipt says what became of an intent's input.
type Receipt struct {
	Written   int    `json:"written"`   // bytes
	Echoed    *bool  `json:"echoed"`    // the program shows it; nil: it is not known
	Submitted *bool  `json:"submitted"` // the program has taken it; nil: it is not known
	Read      *bool  `json:"read"`      // the program has read what was typed last; nil: it cannot be known
	Evidence  string `json:"evidence"`  // why, in a line for people
	Retries   int    `json:"retries"`
	Sequence  uint64 `json:"sequence"` // for a wait After it
}

// A Performed is an intent that was performed.
type Performed struct {
	State   State   `json:"state"`
	Receipt Receipt `json:"receipt"`
	// of a turn: nil when nothing was submitted, and so not waited for
	Matched *Outcome  `json:"matched"`
	Next    Position  `json:"next"`     // of a turn: just after what matched
	HeldAt  time.Time `json:"held_at"`  // of a turn with [Latched]: when it was over
	Missed  bool      `json:"missed"`   // of a turn with [Latched]: not every moment could be looked at
	Screen  *Snapshot `json:"snapshot"` // nil: what was to be submitted was
}

// State reads the program's state.
func (a *Adapter) State(ctx context.Context) (*State, error) {
	r, err := result[struct {
		State State `json:"state"`
	}](ctx, a.Session.client, "adapter.state", a.params(nil))
	if err != nil {
		return nil, err
	}
	return &r.State, nil
}

// Send performs an intent. The error's reason is [ErrIntentRefused] when the plugin does not
// perform it in this state; then nothing was typed.
func (a *Adapter) Send(
	ctx context.Context, intent string, params map[string]any,
) (*Performed, error) {
	p := a.params(performing(intent, params))
	return result[Performed](ctx, a.Session.client, "adapter.send", p)
}

// Turn performs an intent and waits for the program's turn to end, two minutes unless told
// otherwise, with no other client's intent between.
func (a *Adapter) Turn(
	ctx context.Context, intent string, params map[string]any, options ...TurnOption,
) (*Performed, error) {
	return result[Performed](ctx, a.Session.client, "adapter.turn", a.params(map[string]any{
		"send": performing(intent, params), "wait": turning(options),
	}))
}

// Wait waits for the program's turn to end, two minutes unless told otherwise, and returns the state
// that it is in then.
func (a *Adapter) Wait(ctx context.Context, options ...TurnOption) (*State, error) {
	r, err := result[struct {
		State State `json:"state"`
	}](ctx, a.Session.client, "adapter.wait", a.params(turning(options)))
	if err != nil {
		return nil, err
	}
	return &r.State, nil
}

// Close ends the program and all it started, and forgets both.
func (a *Adapter) Close(ctx context.Context) error {
	return a.Session.client.Call(ctx, "adapter.close", a.params(nil), nil)
}

// params adds the adapter to params.
func (a *Adapter) params(more map[string]any) map[string]any {
	if more == nil {
		more = map[string]any{}
	}
	more["adapter"] = a.ID
	return more
}

func performing(intent string, params map[string]any) map[string]any {
	p := map[string]any{"intent": intent}
	if params != nil {
		p["params"] = params
	}
	return p
}

func turning(options []TurnOption) map[string]any {
	p := map[string]any{}
	for _, o := range options {
		o.turns(p)
	}
	return p
}
