// Package mcp (no stability promise) serves the Model Context Protocol: the official SDK over our
// own line reader, streamable HTTP on the loopback, and profiles, each of which is a vocabulary of
// tools over the engine.
//
// [New] makes a server of one profile; [Server.ServeLines] serves one client on a stream of lines
// and [Server.ServeHTTP] any number over HTTP, all with the same sessions. Every connection
// supports both eras of the protocol: the initialize handshake, and the stateless one of
// 2026-07-28.
//
// The profiles are the packages below this one. Nothing here knows a tool.
package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"unicode"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/redact"
)

// A Profile is one vocabulary: what the server says about itself, and its tools. One value serves
// every connection of a server, so its state is shared by them; a request's own connection is its
// Session.
type Profile struct {
	Implementation sdk.Implementation // serverInfo
	Options        sdk.ServerOptions  // capabilities, instructions, handlers; Logger is set by [New]

	// NotFound is the message of an error about an unknown method; "": the SDK's.
	NotFound string

	// Install adds tools, prompts, resources and middleware. It is called once, before the first
	// connection. A handler that is about to wait calls [Yield]; one that returns a Go error makes
	// it a *jsonrpc.Error, and any other becomes an internal error.
	Install func(s *sdk.Server)

	// Close is called once, when every connection is over and the sessions still exist. nil:
	// nothing to do.
	Close func()
}

// A Server serves one profile. Its methods may be called by any number of goroutines.
type Server struct {
	host    *host.Host
	hide    *redact.Redactor
	profile *Profile
	sdk     *sdk.Server

	ending context.Context // ends when the server is stopping, which ends waits over HTTP
	end    context.CancelCauseFunc
}

// New returns a server of profile p.
func New(h *host.Host, p *Profile) *Server {
	s := &Server{host: h, hide: h.Redactor(), profile: p}
	s.ending, s.end = context.WithCancelCause(context.Background())
	o := p.Options
	// The SDK logs every step of every connection at level info; errors reach its callers too.
	o.Logger = slog.New(slog.DiscardHandler)
	if o.Capabilities == nil {
		o.Capabilities = &sdk.ServerCapabilities{} // nil would advertise logging
	}
	s.sdk = sdk.NewServer(&p.Implementation, &o)
	p.Install(s.sdk)
	s.sdk.AddReceivingMiddleware(s.guard)
	return s
}

// Close ends the profile. All connections must be over.
func (s *Server) Close() {
	s.end(protocol.ErrShutdown)
	if s.profile.Close != nil {
		s.profile.Close()
	}
}

// guard wraps every handler: it gives it its connection's turn, refuses requests that the SDK
// cannot answer, turns a panic and a result that does not encode into an error, and redacts error
// messages.
func (s *Server) guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (r sdk.Result, err error) {
		if c, ok := ctx.Value(connKey{}).(*lineConn); ok {
			ctx = context.WithValue(ctx, turnKey{}, c.current())
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(s.ending, func() { cancel(protocol.ErrShutdown) })()
		if problem := badURI(req); problem != nil {
			return nil, problem
		}
		var failed error // the handler's own
		err = protocol.Guard(s.host.Log, method, func() error {
			if r, failed = next(ctx, method, req); failed != nil || r == nil {
				return nil
			}
			// The SDK does not answer a request whose result does not encode.
			_, err := json.Marshal(r)
			if err != nil {
				s.host.Log.Error("encode a result", "method", method, "error", err)
			}
			return err
		})
		switch {
		case err != nil:
			return nil, broken(method)
		case failed != nil:
			return nil, wireError(failed, s.hide)
		}
		return r, nil
	}
}

// broken is the answer to a request that failed through our fault. The cause is in the log.
func broken(method string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError,
		Message: "internal error in " + protocol.Quote(method, 64) + "; the server's log has more"}
}

// badURI refuses a resource URI with invalid characters, such as control characters. The SDK quotes
// it in an error's data as Go does and not as JSON does.
func badURI(req sdk.Request) error {
	var uri string
	switch p := req.GetParams().(type) {
	case *sdk.ReadResourceParams:
		if p != nil {
			uri = p.URI
		}
	case *sdk.SubscribeParams:
		if p != nil {
			uri = p.URI
		}
	case *sdk.UnsubscribeParams:
		if p != nil {
			uri = p.URI
		}
	}
	for _, r := range uri {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			wrong := &protocol.ParamError{Path: "uri", Expected: "a URI of printable characters",
				Got: fmt.Sprintf("one with U+%04X", r)}
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: wrong.Error()}
		}
	}
	return nil
}

// wireError makes any error fit to send: with a code, cut, and redacted.
func wireError(err error, hide *redact.Redactor) *jsonrpc.Error {
	e := asWire(err)
	e.Message = cut(hide.String(e.Message), maxErrorText)
	given := e.Data
	e.Data = nil // keep only JSON: an error with other data could not be sent at all
	var data any
	if json.Unmarshal(given, &data) == nil {
		if text, err := json.Marshal(plugins.Clean(data, hide.String)); err == nil {
			e.Data = text
		}
	}
	return e
}
