package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/protocol/loopback"
)

// Bounds of the HTTP server. A client is on this machine, and until it shows the token it may be
// anyone there.
const (
	// maxConns bounds connections that have shown the token: a client has one for each request, and
	// one for the server's messages. maxStrangers bounds those that have not.
	maxConns     = 256
	maxStrangers = 64
	// maxSessions bounds the sessions of the handshake era; the stateless one has none.
	maxSessions = 64
	// sessionIdle ends a session whose client sends nothing. Clients open another when theirs is
	// gone (404).
	sessionIdle = 30 * time.Minute
	// headTime bounds a request's headers, bodyTime its body, idleTime the pause before the next on
	// a connection, and writeTime how long the client may read nothing of an answer.
	headTime  = 5 * time.Second
	bodyTime  = 30 * time.Second
	idleTime  = 2 * time.Minute
	writeTime = 30 * time.Second
	// maxHead bounds the headers, in bytes: a hundred times an SDK's.
	maxHead = 32 << 10
)

// stateless is the first version without sessions. Versions compare as text.
const stateless = "2026-07-28"

// ServeHTTP serves clients of streamable HTTP at /mcp until ctx ends, and [host.Host.Metrics] at
// /metrics. A request needs the token; its Host, and its Origin if it has one, must be this
// listener's own. It closes l.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, token string) error {
	s.host.Known.Add(token)
	g := &gate{server: s, token: loopback.TokenOf(token), door: loopback.DoorOf(l.Addr())}
	o := sdk.StreamableHTTPOptions{
		Logger: nil, SessionTimeout: sessionIdle, MaxRequestBodyBytes: maxLine,
		PropagateRequestCancellation: true,
		DisableLocalhostProtection:   true, // the gate's is stricter
	}
	same := func(*http.Request) *sdk.Server { return s.sdk }
	g.legacy = sdk.NewStreamableHTTPHandler(same, &o)
	o.Stateless = true
	g.modern = sdk.NewStreamableHTTPHandler(same, &o)

	h := &http.Server{
		Handler: g, ReadHeaderTimeout: headTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHead,
		ErrorLog:    log.New(io.Discard, "", 0), // clients get their errors as responses
		ConnContext: loopback.ConnContext,
	}
	stop := context.AfterFunc(ctx, func() {
		s.end(context.Cause(ctx))
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushBound)
		defer cancel()
		if h.Shutdown(bound) != nil {
			h.Close()
		}
	})
	err := h.Serve(loopback.NewRoom(maxStrangers, maxConns).Listener(l))
	if !stop() { // already running
		<-s.ending.Done()
		h.Close()
	}
	for session := range s.sdk.Sessions() {
		session.Close()
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// versionHeader names the MCP version of a request, as its _meta does.
const versionHeader = "MCP-Protocol-Version"

// metricsPath is where the server's counts are.
const metricsPath = "/metrics"

// A gate admits requests, and determines their era.
type gate struct {
	server         *Server
	token          loopback.Token
	door           loopback.Door
	legacy, modern http.Handler
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status, problem := g.check(r); status != 0 {
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer realm="ptywright"`)
		}
		w.Header().Set("Connection", "close") // strangers must not hold the connections of clients with the token
		http.Error(w, problem, status)
		return
	}
	if r.URL.Path == metricsPath {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = io.WriteString(w, g.server.host.Metrics()) // the client may be gone
		return
	}
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(bodyTime)) // on an error there is no deadline, and the connection bound still holds
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxLine))
	if err != nil {
		status := http.StatusBadRequest
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "the request's body cannot be read, or has over 16 MiB", status)
		return
	}
	_ = c.SetReadDeadline(time.Time{}) // from here on a read only detects that the client is gone
	r.Body = io.NopCloser(bytes.NewReader(body))
	if r.Method == http.MethodPost {
		if problem := badBody(body, r.Header.Get(versionHeader)); problem != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(problem) // the client may be gone
			return
		}
	}
	w = &patientWriter{ResponseWriter: w, control: c}
	if modern(r, body) {
		g.modern.ServeHTTP(w, r)
		return
	}
	if r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" && g.full() {
		http.Error(w, fmt.Sprintf("%d sessions are open: end one with DELETE", maxSessions),
			http.StatusServiceUnavailable)
		return
	}
	g.legacy.ServeHTTP(w, r)
}

// check returns the status to refuse a request with, or 0.
func (g *gate) check(r *http.Request) (int, string) {
	if problem := g.door.Check(r); problem != "" {
		return http.StatusForbidden, problem
	}
	metrics := r.URL.Path == metricsPath && r.Method == http.MethodGet &&
		g.server.host.Metrics != nil
	if r.URL.Path != "/mcp" && !metrics {
		return http.StatusNotFound, "MCP is served at /mcp"
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || !g.token.Is(strings.TrimSpace(given)) {
		return http.StatusUnauthorized,
			"the bearer token is missing or wrong: it is in PTYWRIGHT_MCP_TOKEN, or was printed when the server started"
	}
	if err := loopback.Admit(r.Context()); err != nil {
		return http.StatusServiceUnavailable, err.Error()
	}
	return 0, ""
}

// full reports whether the limit of sessions is reached.
func (g *gate) full() bool {
	n := 0
	for range g.server.sdk.Sessions() {
		n++
	}
	return n >= maxSessions
}

// modern reports whether a request is of the stateless era: its header says so, or its _meta.
func modern(r *http.Request, body []byte) bool {
	if r.Header.Get(versionHeader) >= stateless {
		return true
	}
	return metaVersion(paramsOf(body)) != ""
}

func paramsOf(body []byte) json.RawMessage {
	var m struct {
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(body, &m) != nil { // a batch
		return nil
	}
	return m.Params
}

// badBody returns the answer to a body that is not a message, or whose version differs from the
// request's header or is not supported; else nil. The SDK's answer quotes it.
func badBody(body []byte, version string) []byte {
	r := &jsonrpc.Response{}
	if bad := badLine(body); bad != nil {
		r.Error = bad
	} else if _, batch := batchOf(body); batch { // the SDK applies the era's rule
		return nil
	} else if msg, bad := decode(body); bad != nil {
		r.Error = bad
	} else if m, ok := msg.(*jsonrpc.Request); ok {
		if asked := metaVersion(m.Params); asked != "" && asked != version {
			r.ID, r.Error = m.ID,
				&jsonrpc.Error{Code: sdk.CodeHeaderMismatch,
					Message: "the header " + versionHeader +
						" and the request's _meta name different versions of MCP: send the same one in both"}
		} else if bad := unknownVersion(m.Params); bad != nil {
			r.ID, r.Error = m.ID, bad
		}
	}
	if r.Error == nil {
		return nil
	}
	text, err := encode(r)
	if err != nil { // our own error
		panic("mcp: " + err.Error())
	}
	return text
}

// A patientWriter resets the write deadline for each piece of an answer.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (w *patientWriter) Write(p []byte) (int, error) {
	_ = w.control.SetWriteDeadline(time.Now().Add(writeTime))
	return w.ResponseWriter.Write(p)
}

// Unwrap lets a ResponseController find the flusher.
func (w *patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush sends what is written.
func (w *patientWriter) Flush() { _ = w.control.Flush() }
