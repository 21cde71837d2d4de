// Package tools (no stability promise) is ptywright's own MCP profile: a few tools made for models,
// over the engine. [New] makes it.
//
// A model gets ten tools (start, send, wait, read, screenshot, run, sessions, stop, record,
// adapter), resources that show the same sessions, and a prompt that says how to use them. All text
// leaves through a redactor, unless the operator trusts clients with raw output and the request
// asks for it.
//
// A wait that times out does not fail: it says why it ended, what the screen shows and what is
// missing, and returns a handle to continue it.
package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol/mcp"
	"github.com/ptywright/ptywright/redact"
)

// instructions are what a client may show its model first.
const instructions = `Use terminal programs as a person would: start one, send text and keys, wait for what should come next, read the screen.

Typical: start {"program":"python3","args":["-q"]} -> s1; send {"session":"s1","text":"6*7","submit":true,"wait_for":{"text":">>> "}}; stop {"session":"s1"}.
For one shell command with its exit code: run {"command":"make test"}.

A wait that runs out of time is no error: it returns the screen, what is missing and a handle to go on with. Secrets are covered by [REDACTED]; never ask a person for a password in the chat: send {"session":..., "secret":"what is asked"} has them type it unseen.`

// New returns the profile. With raw the operator allows unredacted output; a request still has to
// ask for it.
func New(h *host.Host, raw bool) *mcp.Profile {
	p := &profile{Host: h, hide: h.Redactor(), raw: raw}
	p.ending, p.end = context.WithCancel(context.Background())
	p.watches = watches{profile: p}
	p.pages = pages{profile: p}
	return &mcp.Profile{
		Implementation: sdk.Implementation{Name: "ptywright", Title: "ptywright",
			Version: h.Version},
		Options: sdk.ServerOptions{
			Instructions:       instructions,
			Capabilities:       capabilities(),
			SubscribeHandler:   p.watches.subscribe,
			UnsubscribeHandler: p.watches.unsubscribe,
			CompletionHandler:  p.complete,
			SetCacheable:       cacheable,
		},
		Install: p.install,
		Close:   p.close,
	}
}

// capabilities are the server's. The lists of tools, prompts and resource templates never change.
func capabilities() *sdk.ServerCapabilities {
	c := &sdk.ServerCapabilities{
		Tools:       &sdk.ToolCapabilities{},
		Prompts:     &sdk.PromptCapabilities{},
		Resources:   &sdk.ResourceCapabilities{Subscribe: true},
		Completions: &sdk.CompletionCapabilities{},
	}
	c.AddExtension(tasksExtension, nil)
	return c
}

// listTTL is how long a client may cache a list, in milliseconds: an hour. It changes with the
// program alone.
const listTTL = 3_600_000

// cacheable says how long a client may cache a result. A session's screen and the list of sessions
// are never cached.
func cacheable(_ context.Context, r sdk.Request, c *sdk.Cacheable) {
	c.CacheScope = "private"
	switch r.(type) {
	case *sdk.ListToolsRequest, *sdk.ListPromptsRequest, *sdk.ListResourceTemplatesRequest:
		c.TTLMs = listTTL
	}
}

// A profile is the tools' state, shared by all connections.
type profile struct {
	*host.Host
	hide       *redact.Redactor
	raw        bool
	ending     context.Context // ends with the server
	end        context.CancelFunc
	questions  questions
	watches    watches
	tasks      tasks
	pages      pages
	background sync.WaitGroup // goroutines that outlive their request
}

// close ends the background goroutines.
func (p *profile) close() {
	p.end()
	p.pages.close()
	p.background.Wait()
}

// install adds everything to the SDK's server. The schemas of a tool are made from the types of its
// handler's arguments and result.
func (p *profile) install(s *sdk.Server) {
	p.watches.server = s
	yes, no := true, false
	reads := &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no}
	acts := &sdk.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &yes}
	add(p, s, &sdk.Tool{Name: "start", Title: "Start a program", Description: startAbout,
		Annotations: acts}, p.start)
	add(p, s, &sdk.Tool{Name: "send", Title: "Type, paste, press keys", Description: sendAbout,
		Annotations: acts}, p.send)
	add(p, s, &sdk.Tool{Name: "wait", Title: "Wait for what should come next",
		Description: waitAbout, Annotations: reads}, p.wait)
	add(p, s, &sdk.Tool{Name: "read", Title: "Read screen, output or scrollback",
		Description: readAbout, Annotations: reads}, p.read)
	add(p, s, &sdk.Tool{Name: "screenshot", Title: "Picture of the screen", Description: shotAbout,
		Annotations: &sdk.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no}}, p.screenshot)
	add(p, s, &sdk.Tool{Name: "run", Title: "Run one shell command", Description: runAbout,
		Annotations: acts}, p.run)
	add(p, s, &sdk.Tool{Name: "sessions", Title: "List sessions", Description: sessionsAbout,
		Annotations: reads}, p.sessions)
	add(p, s, &sdk.Tool{Name: "stop", Title: "End a session", Description: stopAbout,
		Annotations: &sdk.ToolAnnotations{DestructiveHint: &yes, IdempotentHint: true,
			OpenWorldHint: &no}}, p.stop)
	add(p, s, &sdk.Tool{Name: "record", Title: "Record a session", Description: recordAbout,
		Annotations: &sdk.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no}}, p.record)
	add(p, s, &sdk.Tool{Name: "adapter", Title: "Drive a TUI through its adapter",
		Description: adapterAbout, Annotations: acts}, p.adapter)
	p.addResources(s)
	p.addPrompts(s)
	p.addTasks(s)
}

// A reply is a tool's answer: words for the model, the same facts for programs, and more content
// such as a picture.
type reply[Out any] struct {
	text  string
	out   Out
	extra []sdk.Content
	ask   sdk.InputRequestMap // what to ask the client first; nil: nothing
	state string
}

// add registers a tool whose schemas are those of its types.
func add[In, Out any](p *profile, s *sdk.Server, t *sdk.Tool,
	f func(context.Context, *sdk.CallToolRequest, In) (*reply[Out], error)) {
	in, err := jsonschema.For[In](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[position](): {Types: []string{"integer", "string"}},
	}})
	if err != nil {
		panic("tools: " + t.Name + ": " + err.Error()) // never: our own type
	}
	out, err := jsonschema.For[Out](nil)
	if err != nil {
		panic("tools: " + t.Name + ": " + err.Error())
	}
	plain(in)
	plain(out)
	shown := in.CloneSchemas()
	if !p.raw { // if it is set anyway, the error says why
		delete(shown.Properties, "raw")
	}
	known := slices.Sorted(maps.Keys(shown.Properties))
	brief(t.Name, shown, out)
	t.InputSchema, t.OutputSchema = shown, out
	resolved, err := in.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		panic("tools: " + t.Name + ": " + err.Error())
	}
	s.AddTool(t, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var args In
		ctx = context.WithValue(ctx, byKey{}, caller(req))
		err := decode(req.Params.Arguments, resolved, known, &args)
		if err == nil {
			err = p.bind(&args)
		}
		if err != nil {
			return p.failed(err), nil
		}
		r, err := f(ctx, req, args)
		switch {
		case err != nil:
			return p.failed(err), nil
		case r.ask != nil:
			return &sdk.CallToolResult{InputRequests: r.ask, RequestState: r.state}, nil
		}
		structured, err := json.Marshal(r.out)
		if err != nil { // a value that a plugin made
			return p.failed(fmt.Errorf("encode the result: %w", err)), nil
		}
		content := r.extra
		if r.text != "" {
			content = append([]sdk.Content{&sdk.TextContent{Text: r.text}}, r.extra...)
		}
		return &sdk.CallToolResult{Content: content,
			StructuredContent: json.RawMessage(structured)}, nil
	})
}

// plain turns "null or X" into X, everywhere: null means absent in arguments and does not occur in
// results, and some clients accept only a single type.
func plain(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	for _, x := range s.Properties {
		plain(x)
	}
	if s.Items != nil {
		plain(s.Items)
	}
}

// told is the tool whose schemas describe what several tools share: a question, a session's state,
// how a wait ended.
const told = "wait"

// brief removes from a tool's schemas what another tool's describe, and what no client needs: every
// model pays for them in every conversation. Results may have more members than the schema.
func brief(tool string, in, out *jsonschema.Schema) {
	open(out)
	if tool == told {
		return
	}
	if q := in.Properties["wait_for"]; q != nil {
		for _, x := range q.Properties {
			x.Description = ""
		}
		q.Description += "; each as in " + told
	}
	for name, x := range out.Properties {
		if commonOut[name] {
			x.Description, x.Properties, x.Required = "", nil, nil
		}
	}
}

// commonOut are the members of results that wait's schema describes.
var commonOut = func() map[string]bool {
	names := map[string]bool{"outcome": true}
	for _, t := range []reflect.Type{reflect.TypeFor[status](), reflect.TypeFor[shown]()} {
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			names[name] = true
		}
	}
	return names
}()

// open allows more members than a schema has.
func open(s *jsonschema.Schema) {
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
		s.AdditionalProperties = nil
	}
	for _, x := range s.Properties {
		open(x)
	}
	if s.Items != nil {
		open(s.Items)
	}
}

// rawAsked is in the params of every tool that shows text of a program.
type rawAsked struct {
	Raw bool `json:"raw,omitempty" jsonschema:"show secrets too; only when the server was started with --trust-raw"`

	bound bool
	hide  *redact.Redactor
}

// redactor returns the redactor of a result; nil shows it unchanged. It panics when the params were
// not bound.
func (a *rawAsked) redactor() *redact.Redactor {
	if !a.bound {
		panic("tools: nobody has looked what to hide")
	}
	return a.hide
}

// bind makes the redactor, where a tool has one, and checks the budget.
func (p *profile) bind(params any) error {
	if b, ok := params.(interface{ within() error }); ok {
		if err := b.within(); err != nil {
			return err
		}
	}
	if a, ok := params.(interface{ bind(*profile) error }); ok {
		return a.bind(p)
	}
	return nil
}

func (a *rawAsked) bind(p *profile) error {
	switch {
	case !a.Raw:
		a.hide = p.hide
	case !p.raw:
		return errNoRaw
	}
	a.bound = true
	return nil
}

// session finds the session that a tool is given.
func (p *profile) session(id string) (*engine.Session, error) {
	s, err := p.Engine.Session(engine.ID(id))
	switch {
	case errors.As(err, new(*engine.ForgottenError)):
		return nil, err
	case err != nil:
		return nil, &sessionError{id: id, live: p.ids()}
	}
	return s, nil
}

// free finds the session that a tool is given, for actions that only its adapter may do when it has
// one.
func (p *profile) free(id string) (*engine.Session, error) {
	s, err := p.session(id)
	if err == nil && p.Catalog.Owner(s.ID()) != nil {
		return nil, &ownedError{id}
	}
	return s, err
}

// ids lists the current sessions.
func (p *profile) ids() []string {
	var ids []string
	for _, s := range p.Engine.List() {
		ids = append(ids, string(s.ID()))
	}
	return ids
}

// look is a session as one request may see it.
func (p *profile) look(s *engine.Session, hide *redact.Redactor) *reading.View {
	l := reading.New(s.View(), hide)
	if a := p.Catalog.Owner(s.ID()); a != nil {
		l.Secrets = a.Secrets
	}
	return l
}

// byKey is where the context of a tool's call has who called it.
type byKey struct{}

// maxCaller bounds what is kept of a client's name, in bytes: others read it in a line of a list.
const maxCaller = 64

// caller is who called a tool, for others to read: what the client calls itself.
func caller(req *sdk.CallToolRequest) engine.By {
	name := ""
	if req.Session != nil {
		if about := req.Session.InitializeParams(); about != nil && about.ClientInfo != nil {
			name = vt.Clean([]byte(about.ClientInfo.Name), maxCaller)
		}
	}
	return engine.By(strings.TrimSpace("mcp " + name))
}

// by is who called the tool whose context this is, for the events of sessions.
func by(ctx context.Context) engine.By {
	who, _ := ctx.Value(byKey{}).(engine.By)
	return who
}

// parked lets the connection's next request start during a wait, or an action that blocks.
func parked(ctx context.Context) engine.Parked { return func() { mcp.Yield(ctx) } }
