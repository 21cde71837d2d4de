package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// An Adapter is a live adapter: a plugin that drives a session.
type Adapter struct {
	Adapter string `json:"adapter"`
	Plugin  string `json:"plugin"`
	Session string `json:"session"`
}

// A NoAdapterError reports a session that no adapter drives, or an unknown name.
type NoAdapterError struct {
	Name    string
	Session bool // Name is a session's
}

func (e *NoAdapterError) Error() string {
	if e.Session {
		return fmt.Sprintf("no adapter drives %s: spawn --adapter starts a program with one", e.Name)
	}
	return fmt.Sprintf("%.64q is neither a session nor an adapter; ptywright ls lists what there is", e.Name)
}

// Adapter finds the adapter with that id, or the one that drives the session with that id or name.
// Errors: *[NoAdapterError], and those of the client.
func (s *Server) Adapter(ctx context.Context, name string) (Adapter, error) {
	var live struct {
		Adapters []Adapter `json:"adapters"`
	}
	if err := s.Call(ctx, "adapter.live", nil, &live); err != nil {
		return Adapter{}, err
	}
	of := func(id string) (Adapter, bool) {
		i := slices.IndexFunc(live.Adapters, func(a Adapter) bool { return a.Adapter == id || a.Session == id })
		if i < 0 {
			return Adapter{}, false
		}
		return live.Adapters[i], true
	}
	if a, ok := of(name); ok {
		return a, nil
	}
	id, err := s.idOf(ctx, name)
	var unknown *client.Error
	switch {
	case errors.As(err, &unknown) && unknown.Reason == "unknown_session":
		return Adapter{}, &NoAdapterError{Name: name}
	case err != nil:
		return Adapter{}, err
	}
	if a, ok := of(id); ok {
		return a, nil
	}
	return Adapter{}, &NoAdapterError{name, true}
}

// A Started is the result of starting an adapter.
type Started struct {
	Adapter
	State json.RawMessage `json:"state"`
}

// StartAdapter starts a program with a plugin that drives it: the config's program, or else the
// plugin's. Only those members of config count that adapter.start has. Errors: those of
// adapter.start.
func (s *Server) StartAdapter(ctx context.Context, plugin string, config client.Config) (Started, error) {
	p := map[string]any{"plugin": plugin, "env": config.Env}
	if config.Cwd != "" {
		p["cwd"] = config.Cwd
	}
	if config.Program != "" {
		p["program"], p["args"] = config.Program, append([]string{}, config.Args...)
	}
	if config.BaseEnv != nil {
		p["base_env"] = config.BaseEnv
	}
	if config.Name != "" {
		p["name"] = config.Name
	}
	if len(config.Tags) > 0 {
		p["tags"] = config.Tags
	}
	if config.Host != "" {
		p["host"] = config.Host
	}
	if config.Rows > 0 {
		p["rows"] = config.Rows
	}
	if config.Cols > 0 {
		p["cols"] = config.Cols
	}
	var r Started
	return r, s.call(ctx, workBound, "adapter.start", p, &r)
}

// A State is what an adapter reports about its program, redacted.
type State struct {
	State    string         `json:"state"`
	Evidence string         `json:"evidence"`
	Metadata map[string]any `json:"metadata"`
	Exit     *client.Exit   `json:"exit"`
}

// Waits reports whether the program waits for an approval, a choice or an answer.
func (s *State) Waits() bool { return strings.HasPrefix(s.State, "waiting_for_") }

// Dialog is the id of the program's question; "": no question, or one without an id.
func (s *State) Dialog() string { return text(s.Metadata, "dialog_id") }

// text is the text at a path of members; "" when there is none.
func text(of map[string]any, path ...string) string {
	for _, name := range path[:len(path)-1] {
		of, _ = of[name].(map[string]any)
	}
	t, _ := of[path[len(path)-1]].(string)
	return t
}

// asked are the places in agents' metadata of a question, and of what it is about.
var asked = [][]string{
	{"permission", "title"}, {"permission", "command"}, {"permission", "path"}, {"permission", "url"}, {"permission", "question"},
	{"question", "question"}, {"trust", "path"}, {"login", "question"}, {"plan"}, {"plan", "text"}, {"error", "message"},
}

// Lines is a state for people: the state itself first, then the question, and the options with
// their numbers.
func (s *State) Lines() []string {
	lines := []string{s.State}
	for _, path := range asked {
		if t := strings.TrimSpace(text(s.Metadata, path...)); t != "" && !slices.Contains(lines, t) {
			lines = append(lines, strings.Split(t, "\n")...)
		}
	}
	options, _ := s.Metadata["options"].([]any)
	for i, o := range options {
		o, _ := o.(map[string]any)
		mark, number := "  ", any(i+1)
		if o["focused"] == true {
			mark = "> "
		}
		if o["index"] != nil {
			number = o["index"]
		}
		lines = append(lines, fmt.Sprintf("%s%v. %s", mark, number, text(o, "label")))
	}
	if id := s.Dialog(); id != "" {
		lines = append(lines, "dialog "+id)
	}
	if s.Exit != nil {
		lines = append(lines, s.Exit.String())
	}
	return lines
}

// AdapterState returns the state of an adapter's program, and the server's own JSON for it.
func (s *Server) AdapterState(ctx context.Context, a Adapter) (State, json.RawMessage, error) {
	return stateIn(s.adapterCall(ctx, 0, "adapter.state", a, nil))
}

// adapterCall calls a method of an adapter.
func (s *Server) adapterCall(ctx context.Context, takes time.Duration, method string, a Adapter, more map[string]any) (json.RawMessage, error) {
	p := map[string]any{"adapter": a.Adapter}
	maps.Copy(p, more)
	var raw json.RawMessage
	err := s.call(ctx, takes+workBound, method, p, &raw)
	return raw, err
}

// stateIn reads the state from an answer.
func stateIn(raw json.RawMessage, err error) (State, json.RawMessage, error) {
	var r struct {
		State State `json:"state"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	return r.State, raw, err
}

// A Turn is the result of waiting for the end of a turn.
type Turn struct {
	State    State            `json:"state"`
	Answer   string           `json:"-"` // as far as the plugin read one
	Refused  string           `json:"-"` // why the prompt was not submitted; "": it was
	Evidence *client.Evidence `json:"-"` // of a wait that failed
	Raw      json.RawMessage  `json:"-"`
}

// prompts are the intents that submit a prompt, and the parameter that takes its text.
var prompts = []struct{ intent, param string }{{"send_prompt", "prompt"}, {"run", "command"}, {"eval", "code"}}

// starting is the state of a program that is not yet ready for its first prompt.
const starting = "starting"

// errNoPrompt: the plugin has no intent that takes a text and starts a turn.
var errNoPrompt = errors.New("it takes no prompt: ptywright adapter send performs what it has, and plugin.describe lists that")

// Ask submits a prompt to an adapter's program and waits, for at most limit, until its turn is over
// or it asks for something itself. It first waits, within the same limit, for a program that is
// still starting. Errors: that the plugin takes no prompt, and those of adapter.state, adapter.wait
// and adapter.turn.
func (s *Server) Ask(ctx context.Context, a Adapter, what string, limit time.Duration) (Turn, error) {
	var d struct {
		Intents []struct {
			Name string `json:"name"`
		} `json:"intents"`
	}
	if err := s.Call(ctx, "plugin.describe", map[string]any{"plugin": a.Plugin}, &d); err != nil {
		return Turn{}, err
	}
	for _, p := range prompts {
		for _, i := range d.Intents {
			if i.Name == p.intent {
				began := time.Now()
				if state, _, err := s.AdapterState(ctx, a); err != nil {
					return Turn{}, err
				} else if state.State == starting {
					if t, err := s.AwaitTurn(ctx, a, limit); err != nil {
						return t, err
					}
					limit = max(limit-time.Since(began), time.Millisecond)
				}
				return turnOf(s.adapterCall(ctx, limit, "adapter.turn", a, map[string]any{
					"send": map[string]any{"intent": p.intent, "params": map[string]any{p.param: what}},
					"wait": map[string]any{"timeout_ms": limit.Milliseconds()},
				}))
			}
		}
	}
	return Turn{}, fmt.Errorf("plugin %s: %w", a.Plugin, errNoPrompt)
}

// AwaitTurn waits, for at most limit, until no turn is in progress or the program asks for
// something. Errors: those of adapter.wait.
func (s *Server) AwaitTurn(ctx context.Context, a Adapter, limit time.Duration) (Turn, error) {
	return turnOf(s.adapterCall(ctx, limit, "adapter.wait", a, map[string]any{"timeout_ms": limit.Milliseconds()}))
}

// turnOf reads the answer to a wait for a turn.
func turnOf(raw json.RawMessage, err error) (Turn, error) {
	t := Turn{Raw: raw}
	var e *client.Error
	if errors.As(err, &e) {
		if t.Evidence = e.Evidence(); t.Evidence != nil {
			t.Raw = e.Data
		}
	}
	if t.Raw == nil {
		return t, err
	}
	var r struct {
		Matched captured `json:"matched"`
		Receipt struct {
			Submitted *bool  `json:"submitted"`
			Evidence  string `json:"evidence"`
		} `json:"receipt"`
	}
	if jerr := errors.Join(json.Unmarshal(t.Raw, &t), json.Unmarshal(t.Raw, &r)); jerr != nil {
		return t, errors.Join(err, jerr)
	}
	if r.Receipt.Submitted != nil && !*r.Receipt.Submitted {
		t.Refused = "it was not submitted: " + r.Receipt.Evidence
	}
	if t.Answer = text(r.Matched.object(), "output"); t.Answer == "" {
		t.Answer = text(t.State.Metadata, "turn", "text")
	}
	return t, err
}

// A captured is the part of an outcome that a plugin captured.
type captured struct {
	Capture json.RawMessage `json:"capture"`
	Matched json.RawMessage `json:"matched"` // of any: the alternative that held
}

// depth bounds how deep an outcome is followed: the server's matchers are at most as deep.
const depth = 32

// object is the captured value if it is an object; else nil.
func (c captured) object() (o map[string]any) {
	for range depth {
		if json.Unmarshal(c.Capture, &o) == nil && o != nil {
			return o
		}
		var inner captured
		if json.Unmarshal(c.Matched, &inner) != nil {
			return nil
		}
		c = inner
	}
	return nil
}

// Perform performs an intent. The answer and the errors are those of adapter.send.
func (s *Server) Perform(ctx context.Context, a Adapter, intent string, params map[string]any) (State, json.RawMessage, error) {
	return stateIn(s.adapterCall(ctx, 0, "adapter.send", a, map[string]any{"intent": intent, "params": params}))
}

// An AdapterEvent is an event of a turn, and the server's own JSON for it.
type AdapterEvent struct {
	Seq  uint64    `json:"seq"`
	Kind string    `json:"kind"`
	At   time.Time `json:"at"`
	Raw  json.RawMessage
}

// Say is the event for people: its kind, and what it is about.
func (e AdapterEvent) Say() string {
	var members map[string]any
	if json.Unmarshal(e.Raw, &members) != nil {
		return e.Kind
	}
	line := e.Kind
	for _, name := range []string{"previous", "state", "name", "id", "status", "summary", "category", "message", "text", "input", "result"} {
		switch v := members[name].(type) {
		case nil:
		case string:
			if v != "" {
				line += " " + v
			}
		default:
			if b, err := json.Marshal(v); err == nil {
				line += " " + string(b)
			}
		}
	}
	return line
}

// Events passes the events after since, 0 for all that are kept, to tell; with follow also those to
// come, until the program has ended or ctx has. dropped says that events before this one are no
// longer kept. Errors: tell's, those of adapter.events and [client.ErrClosed].
func (s *Server) Events(ctx context.Context, a Adapter, since uint64, follow bool, tell func(e AdapterEvent, dropped bool) error) error {
	changed, over := make(chan struct{}, 1), make(chan struct{}, 1)
	wake := func(c chan struct{}) {
		select {
		case c <- struct{}{}:
		default:
		}
	}
	if follow {
		s.Listen(func(e client.Event) {
			if e.Session != a.Session {
				return
			}
			if wake(changed); e.Method == "session.exited" {
				wake(over)
			}
		})
		p := map[string]any{"enabled": true, "adapters": []string{a.Adapter}, "sessions": []string{a.Session}}
		if err := s.Call(ctx, "server.set_notifications", p, nil); err != nil {
			return err
		}
	}
	for last := false; ; {
		raw, err := s.adapterCall(ctx, 0, "adapter.events", a, map[string]any{"since": since})
		if err != nil {
			return err
		}
		var r struct {
			Events  []json.RawMessage `json:"events"`
			Next    uint64            `json:"next"`
			Dropped bool              `json:"dropped"`
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		for i, one := range r.Events {
			e := AdapterEvent{Raw: one}
			if err := json.Unmarshal(one, &e); err != nil {
				return err
			}
			if err := tell(e, r.Dropped && i == 0); err != nil {
				return err
			}
		}
		since = r.Next
		if !follow || last {
			return nil
		}
		state, _, err := s.AdapterState(ctx, a)
		if err != nil {
			return err
		}
		if last = state.Exit != nil; last {
			continue // the events until then
		}
		select {
		case <-changed:
		case <-over:
			last = true
		case <-s.Done():
			return client.ErrClosed
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// A Plugin is a plugin that can drive programs, and the server's own JSON for it.
type Plugin struct {
	Name   string `json:"name"`
	Target *struct {
		Program string   `json:"program"`
		Args    []string `json:"args"`
	} `json:"default_target"`
	Raw json.RawMessage `json:"-"`
}

// Plugins returns the server's plugins.
func (s *Server) Plugins(ctx context.Context) ([]Plugin, error) {
	var r struct {
		Plugins []json.RawMessage `json:"plugins"`
	}
	if err := s.Call(ctx, "adapter.list", nil, &r); err != nil {
		return nil, err
	}
	all := make([]Plugin, len(r.Plugins))
	for i, raw := range r.Plugins {
		if err := json.Unmarshal(raw, &all[i]); err != nil {
			return nil, err
		}
		all[i].Raw = raw
	}
	return all, nil
}
