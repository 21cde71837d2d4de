// Package mockmodel stands in for model APIs in tests that drive real agents: it serves scripted
// answers on the loopback interface, streamed as server-sent events, and records the requests, so
// that a test knows for certain whether a prompt was submitted, how often, and with what text. It
// calls nothing. [New] is the entry point.
//
// Scenarios use holds instead of delays: a step or block with a hold waits until the test releases
// it, so that a test sees the state "the model is thinking" for as long as it needs, on any
// machine.
//
// It speaks three wires, as far as the agents use them. Anthropic's, for Claude Code and OpenCode:
// POST /v1/messages (streamed and whole), POST /v1/messages/count_tokens, GET /v1/models, and HEAD
// / for the connectivity check. OpenAI's, for Codex: POST /v1/responses (streamed). Gemini's: POST
// /v1beta/models/NAME with :streamGenerateContent, :generateContent and :countTokens. Everything
// else is answered with 404, and recorded too.
package mockmodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// maxBody bounds a request's body, in bytes. Claude Code's system prompt and tools take about 200
// KB; the rest leaves room for long conversations.
const maxBody = 32 << 20

// A Request is a request that the server received.
type Request struct {
	Method string
	Path   string // without the query
	Status int    // of the answer
	// The rest is only set for requests for an answer.

	Wire    Wire
	Model   string
	Side    bool     // has no tools, or wants JSON of a schema: the agent asks for itself, not for the user
	Match   string   // the conversation that answered; "" for none
	Step    int      // its step, from 0
	Typed   []string // all that the user typed in this conversation so far, in order
	Results []string // of the tools that the model used just before
	Stream  bool
}

// A Wire is the API that a request uses.
type Wire string

// The wires; a request that uses none of them, or does not ask for an answer, has "".
const (
	Anthropic Wire = "anthropic"
	OpenAI    Wire = "openai"
	Gemini    Wire = "gemini"
)

// String describes the request in one line.
func (r Request) String() string {
	return fmt.Sprintf("%s %s -> %d %q step %d of %q", r.Method, r.Path, r.Status, clip(r.Prompt()),
		r.Step, r.Match)
}

// clip shortens text that is only for reading.
func clip(s string) string {
	const most = 80 // bytes: a line
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

// Prompt is the text that the user typed last, "" when there is none.
func (r Request) Prompt() string {
	if len(r.Typed) == 0 {
		return ""
	}
	return r.Typed[len(r.Typed)-1]
}

// A Server is the mock server. All methods are safe for concurrent use.
type Server struct {
	// URL is the value for ANTHROPIC_BASE_URL and GOOGLE_GEMINI_BASE_URL; append /v1 for OpenAI,
	// and for Anthropic where the agent expects a version.
	URL string

	script *Script
	http   *http.Server
	served chan error

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced when requests grows
	requests []Request
	failed   map[string]int // number of errors served, by conversation and step
	holds    map[string]chan struct{}
	messages int
}

// New starts a server on a free port of the loopback interface. Close must be called. Errors are
// those of the script and of [net.Listen].
func New(script []byte) (*Server, error) {
	parsed, err := parse(script)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{
		URL: "http://" + listener.Addr().String(), script: parsed, served: make(chan error, 1),
		changed: make(chan struct{}), failed: map[string]int{}, holds: map[string]chan struct{}{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.answers(Anthropic, readAnthropic, s.stream))
	mux.HandleFunc("POST /v1/responses", s.answers(OpenAI, readOpenAI, s.streamOpenAI))
	mux.HandleFunc("POST /v1beta/models/{call}", s.gemini)
	mux.HandleFunc("POST /v1/messages/count_tokens", s.countTokens)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("HEAD /{$}",
		func(w http.ResponseWriter, r *http.Request) { s.keep(r, Request{Status: http.StatusOK}) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.keep(r, Request{Status: http.StatusNotFound})
		writeError(w,
			&Error{Status: http.StatusNotFound, Type: "not_found_error", Message: "not found"})
	})
	s.http = &http.Server{Handler: mux}
	go func() { s.served <- s.http.Serve(listener) }()
	return s, nil
}

// Close ends all connections, held answers included, and waits until the server has stopped
// listening.
func (s *Server) Close() error {
	err := s.http.Close()
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// Requests returns all requests so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Submitted returns everything that the user typed, according to the conversation in the last
// request: text that was submitted twice is in it twice. Empty when nothing was submitted.
func (s *Server) Submitted() []string {
	all := s.Requests()
	for _, r := range slices.Backward(all) {
		if r.Wire != "" && !r.Side {
			return r.Typed
		}
	}
	return nil
}

// Wait blocks until wanted accepts a request, or ctx ends; the error then lists the requests that
// arrived instead.
func (s *Server) Wait(ctx context.Context, wanted func(Request) bool) (Request, error) {
	for seen := 0; ; {
		s.mu.Lock()
		requests, changed := s.requests, s.changed
		s.mu.Unlock()
		for ; seen < len(requests); seen++ {
			if wanted(requests[seen]) {
				return requests[seen], nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Request{},
				fmt.Errorf("wait for a request: %w; there were %s", ctx.Err(), requests)
		}
	}
}

// Release releases the hold of that name, for all that wait at it now or later.
func (s *Server) Release(name string) {
	hold := s.hold(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-hold:
	default:
		close(hold)
	}
}

// hold returns the channel that is closed when the name is released.
func (s *Server) hold(name string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds[name] == nil {
		s.holds[name] = make(chan struct{})
	}
	return s.holds[name]
}

// keep records a request.
func (s *Server) keep(r *http.Request, asked Request) {
	asked.Method, asked.Path = r.Method, r.URL.Path
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, asked)
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) countTokens(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return // the client went away
	}
	s.keep(r, Request{Status: http.StatusOK})
	writeJSON(w, http.StatusOK, map[string]int64{"input_tokens": n/4 + 1})
}

func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	s.keep(r, Request{Status: http.StatusOK})
	var data []map[string]string
	for _, m := range []struct{ id, name string }{
		{"claude-opus-4-8", "Claude Opus"}, {"claude-sonnet-4-6", "Claude Sonnet"},
		{"claude-haiku-4-5", "Claude Haiku"},
	} {
		data = append(data,
			map[string]string{"type": "model", "id": m.id, "display_name": m.name,
				"created_at": "2026-01-01T00:00:00Z"})
	}
	writeJSON(w, http.StatusOK,
		map[string]any{"data": data, "has_more": false, "first_id": data[0]["id"],
			"last_id": data[2]["id"]})
}

// A streamer answers with server-sent events. It ends early when the client goes away.
type streamer func(w http.ResponseWriter, r *http.Request, m message)

// answers handles the requests for an answer of one wire; read parses them.
func (s *Server) answers(wire Wire, read func(raw []byte) (*body, error),
	stream streamer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			return // the client went away
		}
		invalid := func(err error) {
			s.keep(r, Request{Status: http.StatusBadRequest})
			writeError(w,
				&Error{Status: http.StatusBadRequest, Type: "invalid_request_error",
					Message: "mock: " + err.Error()})
		}
		asked, err := read(raw)
		if err != nil {
			invalid(err)
			return
		}
		match, number, step, err := s.script.answer(asked, raw)
		if err != nil {
			invalid(err)
			return
		}
		typed, _ := asked.typed()
		kept := Request{
			Status: http.StatusOK, Wire: wire, Model: asked.Model, Side: len(asked.Tools) == 0,
			Match: match, Step: number, Typed: typed, Results: asked.results(),
			Stream: asked.Stream,
		}
		if s.fails(step.Error, fmt.Sprint(match, number)) {
			kept.Status = step.Error.Status
			s.keep(r, kept)
			writeError(w, step.Error)
			return
		}
		s.keep(r, kept)
		if !s.wait(r.Context(), step.Hold) {
			return
		}
		if kept.Side && step.Blocks == nil {
			step.Blocks = []Block{{Text: "ok"}}
		}
		s.mu.Lock()
		s.messages++
		m := message{number: s.messages, model: asked.Model, step: step}
		s.mu.Unlock()
		switch {
		case asked.Stream:
			stream(w, r, m)
		case wire == Gemini:
			writeJSON(w, http.StatusOK, m.geminiWhole())
		default:
			writeJSON(w, http.StatusOK, m.whole())
		}
	}
}

// fails reports whether this request is one of those that fail, and counts it.
func (s *Server) fails(e *Error, step string) bool {
	if e == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed[step]++
	return e.Times == 0 || s.failed[step] <= e.Times
}

// wait waits at a hold, "" for none, and reports whether the client is still there.
func (s *Server) wait(ctx context.Context, hold string) bool {
	if hold == "" {
		return true
	}
	select {
	case <-s.hold(hold):
		return true
	case <-ctx.Done():
		return false
	}
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("content-type", "application/json")
	w.Header().Set("request-id", "req_mock")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // a client that went away needs no answer
}

func writeError(w http.ResponseWriter, e *Error) {
	for name, value := range e.Headers {
		w.Header().Set(name, value)
	}
	writeJSON(w, e.Status,
		map[string]any{"type": "error", "request_id": "req_mock", "error": e.object()})
}

func (e *Error) object() map[string]string {
	return map[string]string{"type": e.Type, "message": strings.TrimSpace(e.Message)}
}
