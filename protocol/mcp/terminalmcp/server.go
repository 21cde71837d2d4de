// Package terminalmcp (no stability promise) is the Terminal MCP profile: the ten tools of Terminal
// MCP 0.5.1 and of its tools page over the engine, with its names, texts, limits and files, so that
// its users change one command and nothing else.
//
//   - [New] makes the [Server] with its default session; [Server.Call] calls a tool. It knows
//     neither the SDK nor a transport: package mcp serves it over those.
//   - [Tools], [Instructions], [PromptText] are what a client gets.
//   - [ServeProxy] serves a shared terminal on a socket, and [NewProxy] is the other end of it
//     (client mode).
//
// What leaves is redacted unless [Options] say otherwise. Defects of Terminal MCP that a client
// cannot depend on are not copied: docs/mcp-terminal.md has the list.
package terminalmcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol/mcp"
	"github.com/ptywright/ptywright/redact"
)

// The profile's name and version.
const (
	Name    = "terminal-mcp"
	Version = "0.5.1" // the release whose surface this is
)

// Defaults of [Options].
const (
	DefaultCols        = 120
	DefaultRows        = 40
	DefaultSessions    = 5
	DefaultSessionIdle = 600 * time.Second
	scrollback         = 1000 // lines that getContent reads above the screen
)

// inputTimeout is how long typing waits for a program that does not read. Clients give a call 60
// seconds; a shell that echoes a megabyte takes some.
const inputTimeout = 30 * time.Second

// Options say how a server works. The zero value is Terminal MCP's own.
type Options struct {
	Shell       string        // for sessions that name none; "": $SHELL, or the system's
	Cols, Rows  int           // likewise; 0: 120 and 40
	Sessions    int           // at a time, including the default one; 0: 5
	SessionIdle time.Duration // after which an unused session is ended; 0: 600 seconds; negative: never
	RecordDir   string        // of recordings; "": see RecordDir
	Taps        []engine.Tap  // of the default session
	Attended    bool          // it is shown on a person's terminal: see engine.Config
	Limits      *Limits       // of recordings whose call names none; nil: DefaultLimits
	Raw         bool          // redact nothing
}

// A Server is the profile's state, shared by all its clients. Its methods may be called by any
// number of goroutines.
type Server struct {
	*host.Host
	opts     Options
	redactor *redact.Redactor  // nil: nothing is hidden
	env      map[string]string // of every session

	mu sync.Mutex
	// protects the fields below
	terminals []*terminal // ours, by creation
	starting  int         // sessions being started, which count against the limit
	closed    bool
	recorder  recordings
}

// New returns a server over the sessions of h and starts its default session. Errors are those of
// [host.Host.Spawn].
func New(h *host.Host, o Options) (*Server, error) {
	if o.Cols <= 0 {
		o.Cols = DefaultCols
	}
	if o.Rows <= 0 {
		o.Rows = DefaultRows
	}
	if o.Sessions <= 0 {
		o.Sessions = DefaultSessions
	}
	if o.SessionIdle == 0 {
		o.SessionIdle = DefaultSessionIdle
	}
	if o.Limits == nil {
		o.Limits = &DefaultLimits
	}
	s := &Server{Host: h, opts: o, env: map[string]string{Marker: "1"}}
	if !o.Raw {
		s.redactor = h.Redactor()
	}
	if _, err := s.start("", o.Cols, o.Rows, true); err != nil {
		return nil, fmt.Errorf("start the default session: %w", err)
	}
	return s, nil
}

// Default returns the default session, even after it has ended.
func (s *Server) Default() *engine.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.terminals[0].session
}

// Close completes the recording and refuses further calls. The engine ends the sessions.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	for _, t := range s.terminals {
		t.rest()
	}
	s.mu.Unlock()
	s.stopActive(stopShutdown)
}

// A Content is one item of a result: a text, or a picture.
type Content struct {
	Type     string `json:"type"` // "text" or "image"
	Text     string `json:"text"`
	Data     []byte `json:"data,omitempty"`
	MimeType string `json:"mimeType,omitempty"`
}

// MarshalJSON writes the members of the type.
func (c Content) MarshalJSON() ([]byte, error) {
	if c.Type == "image" {
		return json.Marshal(members{{"type", c.Type}, {"data", c.Data}, {"mimeType", c.MimeType}})
	}
	return json.Marshal(members{{"type", c.Type}, {"text", c.Text}})
}

// A Result is the result of a call, failed or not. IsError is nil where Terminal MCP leaves the
// member out.
type Result struct {
	Content []Content `json:"content"`
	IsError *bool     `json:"isError,omitempty"`
}

func textResult(text string) *Result {
	return &Result{Content: []Content{{Type: "text", Text: text}}}
}

// told is a result that always has isError.
func told(text string, isError bool) *Result {
	r := textResult(text)
	r.IsError = &isError
	return r
}

// A call is one running call of a tool.
type call struct {
	ctx  context.Context
	args arguments
}

// Call calls a tool with its arguments, a JSON object; nil means none. Every failure is a result.
// It blocks while a program does not read its input, for at most 30 seconds, while a session is
// ended, and while a file is written.
func (s *Server) Call(ctx context.Context, name string, args json.RawMessage) *Result {
	t := find(name)
	if t == nil {
		return failure(s.hide("Unknown tool: " + name))
	}
	r, err := s.call(ctx, t, args)
	if err != nil {
		return failure(s.text(err))
	}
	return r
}

func (s *Server) call(ctx context.Context, t *tool, args json.RawMessage) (*Result, error) {
	a, err := decode(args, t.fields, t.optional)
	if err != nil {
		return nil, err
	}
	return t.call(s, &call{ctx: ctx, args: a})
}

// find returns the tool of that name, or nil.
func find(name string) *tool {
	for i := range tools {
		if tools[i].name == name {
			return &tools[i]
		}
	}
	return nil
}

// Errors with Terminal MCP's texts, which clients compare.
var (
	errNoDefault = errors.New("Session not initialized. Use getSessionAsync() or call initSession() first.") //nolint:staticcheck // its text
	errDisposed  = errors.New("Terminal session has been disposed")                                          //nolint:staticcheck // its text
	errClosed    = errors.New("TerminalManager has been disposed")                                           //nolint:staticcheck // its text
)

// failure is the result of a call that failed.
func failure(text string) *Result { return told("Error: "+text, true) }

// text is an error as clients see it.
func (s *Server) text(err error) string {
	switch {
	case errors.Is(err, engine.ErrClosed), errors.Is(err, engine.ErrNoSession):
		err = errDisposed
	case errors.Is(err, engine.ErrEngineClosed):
		err = errClosed
	}
	return s.hide(err.Error())
}

// hide redacts a text that is not on a screen.
func (s *Server) hide(text string) string {
	if s.redactor == nil {
		return text
	}
	return s.redactor.String(text)
}

func (s *Server) typeText(c *call) (*Result, error) {
	text := c.args.text("text")
	if err := s.send(c, text); err != nil {
		return nil, err
	}
	return textResult(fmt.Sprintf("Typed %d character(s) to terminal", units(text))), nil
}

func (s *Server) sendKey(c *call) (*Result, error) {
	name := c.args.text("key")
	b, err := encodeKey(name)
	if err != nil {
		return nil, err
	}
	if err := s.send(c, b); err != nil {
		return nil, err
	}
	return textResult("Sent key: " + name), nil
}

// send types text into the session that a call names.
func (s *Server) send(c *call, text string) error {
	t, err := s.terminal(c.args.text("sessionId"))
	if err != nil {
		return err
	}
	if err := s.owned(t); err != nil {
		return err
	}
	_, err = t.session.Do(c.ctx, engine.Text(text), engine.By("terminal-mcp"), engine.Within(inputTimeout),
		engine.Parked(func() { mcp.Yield(c.ctx) }))
	if errors.Is(err, engine.ErrEnded) {
		return t.ended()
	}
	return err
}

func (s *Server) clear(c *call) (*Result, error) {
	t, err := s.terminal(c.args.text("sessionId"))
	if err != nil {
		return nil, err
	}
	if err := s.owned(t); err != nil {
		return nil, err
	}
	if err := t.session.Clear(); err != nil {
		if errors.Is(err, engine.ErrEnded) {
			err = t.ended()
		}
		return nil, err
	}
	return textResult("Terminal cleared"), nil
}

// owned says why a client may not change a session.
func (s *Server) owned(t *terminal) error {
	if a := s.Catalog.Owner(t.session.ID()); a != nil {
		return fmt.Errorf("Session '%s' is driven by the adapter %s; use that", t.session.ID(), a.ID()) //nolint:staticcheck // as the other texts
	}
	return nil
}
