package acp

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/redact"
)

// Shapes of protocol version 1 (schema 1.21). Decoding is as lenient as the schema says: an
// optional member of another type counts as absent, an element of another type is dropped, a
// required member of another type is refused.

// versionV1 is the protocolVersion of this file.
const versionV1 = 1

// Codes of version 1 besides those of JSON-RPC 2.0.
const (
	codeNotFound  = -32002 // resource not found
	codeCancelled = -32800 // the request was cancelled
)

type createV1 struct {
	SessionID       *string                `json:"sessionId"`
	Command         *string                `json:"command"`
	Args            list[string]           `json:"args"`
	Env             list[variableV1]       `json:"env"`
	Cwd             optional[string]       `json:"cwd"`
	OutputByteLimit optional[float64]      `json:"outputByteLimit"`
	Meta            optional[createMetaV1] `json:"_meta"`
}

type variableV1 struct {
	Name  *string `json:"name"`
	Value *string `json:"value"`
}

// createMetaV1 is what an agent that knows ptywright may add to the protocol: {"ptywright":
// {"stdin": "terminal", "raw": true}}.
type createMetaV1 struct {
	Ptywright optional[ptywrightV1] `json:"ptywright"`
}

type ptywrightV1 struct {
	Stdin optional[string] `json:"stdin"`
	Raw   optional[bool]   `json:"raw"`
}

type createdV1 struct {
	TerminalID string         `json:"terminalId"`
	Meta       map[string]any `json:"_meta"`
}

type terminalV1 struct {
	SessionID  *string `json:"sessionId"`
	TerminalID *string `json:"terminalId"`
}

type outputV1 struct {
	Output     string  `json:"output"`
	Truncated  bool    `json:"truncated"`
	ExitStatus *exitV1 `json:"exitStatus,omitzero"`
}

// exitV1 has either a code or a signal, and null for the other.
type exitV1 struct {
	ExitCode *int    `json:"exitCode"`
	Signal   *string `json:"signal"`
}

func exitOfV1(e *engine.Exit) *exitV1 {
	switch {
	case e == nil:
		return nil
	case e.Signal != "":
		return &exitV1{Signal: &e.Signal}
	}
	code := e.Status() // 255 where the system has lost it
	return &exitV1{ExitCode: &code}
}

// optional is a member that falls back to absent.
type optional[T any] struct {
	value T
	given bool
}

// UnmarshalJSONFrom takes a value of type T, and treats any other as absent.
func (o *optional[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	var v T
	if raw.Kind() != 'n' && jsonv2.Unmarshal(raw, &v) == nil {
		o.value, o.given = v, true
	}
	return nil
}

// list is an array that drops elements of another type.
type list[T any] []T

// UnmarshalJSONFrom takes the elements of type T of an array, and none of anything else.
func (l *list[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	var all []jsontext.Value
	if raw.Kind() != '[' || jsonv2.Unmarshal(raw, &all) != nil {
		return nil
	}
	for _, one := range all {
		var v T
		if one.Kind() != 'n' && jsonv2.Unmarshal(one, &v) == nil {
			*l = append(*l, v)
		}
	}
	return nil
}

type initializedV1 struct {
	ProtocolVersion    int            `json:"protocolVersion"`
	ClientCapabilities map[string]any `json:"clientCapabilities"`
	AgentCapabilities  map[string]any `json:"agentCapabilities"`
	AgentInfo          map[string]any `json:"agentInfo"`
	AuthMethods        []string       `json:"authMethods"`
}

// methodsV1 is the table of version 1.
func methodsV1(h *Terminals, c *protocol.Conn) []protocol.Method {
	return []protocol.Method{
		{Name: "initialize", Needs: protocol.RightRead, Call: func(context.Context, json.RawMessage) (any, error) {
			// The peer may be an agent that looks for a client's capabilities, or a client that
			// tries us as an agent: the answer has both, whatever it says about itself.
			return initializedV1{
				ProtocolVersion:    versionV1,
				ClientCapabilities: map[string]any{"terminal": true},
				AgentCapabilities:  map[string]any{},
				AgentInfo:          map[string]any{"name": "ptywright", "version": h.host.Version},
				AuthMethods:        []string{},
			}, nil
		}},
		{Name: "terminal/create", Needs: protocol.RightAdmin, Call: protocol.Bind(h.createV1)},
		{Name: "terminal/output", Needs: protocol.RightRead,
			Call: h.onV1(func(_ context.Context, t *Terminal) (any, error) {
				text, truncated, exit := t.Output()
				return outputV1{text, truncated, exitOfV1(exit)}, nil
			})},
		{Name: "terminal/wait_for_exit", Needs: protocol.RightRead,
			Call: h.onV1(func(ctx context.Context, t *Terminal) (any, error) {
				select {
				case h.waits <- struct{}{}:
					defer func() { <-h.waits }()
				default:
					return nil,
						&protocol.LimitError{What: "requests that wait for an exit",
							Limit: cap(h.waits)}
				}
				protocol.Yield(ctx)
				exit, err := t.Wait(ctx)
				if err != nil {
					return nil, err
				}
				return exitOfV1(exit), nil
			})},
		{Name: "terminal/kill", Needs: protocol.RightAdmin,
			Call: h.onV1(func(ctx context.Context, t *Terminal) (any, error) {
				protocol.Yield(ctx)
				return struct{}{}, t.Kill(ctx)
			})},
		{Name: "terminal/release", Needs: protocol.RightAdmin,
			Call: protocol.Bind(func(ctx context.Context, p terminalV1) (any, error) {
				session, id, err := p.names()
				if err != nil {
					return nil, err
				}
				t, err := h.Release(session, id)
				if t == nil {
					return struct{}{}, err
				}
				t.act(ctx)
				protocol.Yield(ctx)
				return struct{}{}, t.Close(ctx)
			})},
		{Name: "$/cancel_request", Call: protocol.Bind(func(_ context.Context, p struct {
			RequestID jsontext.Value `json:"requestId"`
		}) (any, error) {
			if k := p.RequestID.Kind(); k != '"' && k != '0' && k != 'n' {
				return nil, &protocol.ParamError{Path: "requestId", Expected: "the id of a request"}
			}
			c.Cancel(json.RawMessage(p.RequestID))
			return struct{}{}, nil
		})},
	}
}

// act tells an audit which session a request acts on.
func (t *Terminal) act(ctx context.Context) {
	if a := protocol.ActOf(ctx); a != nil {
		a.Session = string(t.run.ID())
	}
}

func (h *Terminals) createV1(ctx context.Context, p createV1) (createdV1, error) {
	if p.SessionID == nil {
		return createdV1{}, &protocol.ParamError{Path: "sessionId", Expected: "a string"}
	}
	if p.Command == nil || *p.Command == "" {
		return createdV1{},
			&protocol.ParamError{Path: "command", Expected: "a program", Got: "nothing"}
	}
	s := Spec{Session: *p.SessionID, Command: *p.Command, Args: p.Args, Env: map[string]string{},
		Dir: p.Cwd.value, Limit: -1}
	for _, v := range p.Env {
		if v.Name != nil && v.Value != nil {
			s.Env[*v.Name] = *v.Value
		}
	}
	if n := p.OutputByteLimit.value; p.OutputByteLimit.given && n >= 0 && n == math.Trunc(n) { // 5.0 is a whole number, too
		s.Limit = int(min(n, 1<<30))
	}
	ours := p.Meta.value.Ptywright.value
	s.Input, s.Raw = ours.Stdin.value == "terminal", ours.Raw.value
	if a := protocol.ActOf(ctx); a != nil { // of a command line its first word: the rest is arguments
		a.Program, _, _ = strings.Cut(strings.TrimSpace(s.Command), " ")
	}
	t, err := h.Create(s)
	if err != nil {
		return createdV1{}, err
	}
	t.act(ctx)
	return createdV1{TerminalID: t.id,
		Meta: map[string]any{"ptywright": map[string]any{"session": string(t.run.ID())}}}, nil
}

// names returns the required members of a request about a terminal.
func (p terminalV1) names() (session, id string, err error) {
	switch {
	case p.SessionID == nil:
		return "", "", &protocol.ParamError{Path: "sessionId", Expected: "a string"}
	case p.TerminalID == nil:
		return "", "", &protocol.ParamError{Path: "terminalId", Expected: "a string"}
	}
	return *p.SessionID, *p.TerminalID, nil
}

// onV1 is a row about one terminal.
func (h *Terminals) onV1(f func(context.Context, *Terminal) (any,
	error)) func(context.Context, json.RawMessage) (any, error) {
	return protocol.Bind(func(ctx context.Context, p terminalV1) (any, error) {
		session, id, err := p.names()
		if err != nil {
			return nil, err
		}
		t, err := h.Find(session, id)
		if err != nil {
			return nil, err
		}
		t.act(ctx)
		return f(ctx, t)
	})
}

// errorV1 maps any error to what goes on the wire. No other function writes a code of version 1.
func errorV1(err error, hide *redact.Redactor) *protocol.Error {
	e := protocol.Standard(err)
	if e == nil {
		e = &protocol.Error{Code: protocol.CodeInternal, Reason: "internal_error",
			Message: err.Error()}
	}
	var (
		start *pty.StartError
		limit *engine.LimitError
		env   *engine.EnvError
		many  *redact.EnvLimitError
		alive *pty.SurvivorsError
	)
	switch {
	case errors.Is(err, protocol.ErrCancelled):
		e.Code, e.Reason = codeCancelled, "cancelled"
	case errors.Is(err, ErrNotFound):
		e.Code, e.Reason = codeNotFound, "unknown_terminal"
	case errors.As(err, &env):
		e.Code, e.Reason = protocol.CodeInvalidParams, "invalid_environment"
	case errors.As(err, &many):
		e.Code, e.Reason = protocol.CodeInvalidParams, "too_many_secrets"
	case errors.As(err, &limit):
		e.Reason = "limit_exceeded"
	case errors.As(err, &start):
		e.Reason = "cannot_start"
	case errors.As(err, &alive):
		e.Reason = "unkillable"
	case errors.Is(err, engine.ErrEngineClosed), errors.Is(err, ErrClosed):
		e.Reason = "shutting_down"
	}
	e.Message = hide.String(e.Message)
	if e.Code == protocol.CodeInternal { // where reference implementations put the cause
		e.Data = map[string]any{"details": e.Message}
	}
	return e
}
