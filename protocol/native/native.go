// Package native (no stability promise) is ptywright's own dialect: server.*, session.*, adapter.*
// and plugin.* over a shared engine. Make it with [New]; each connection has its own notification
// state and ordering, and all see the same sessions. The method table in table.go is what
// server.capabilities prints.
//
// All text leaves through a redactor, unless the request said "redact": false: wire.go builds every
// result that carries text of a program, and Error builds every message.
package native

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/redact"
)

// A Server is the dialect over one engine. It is a [protocol.Dialect].
type Server struct {
	*host.Host
	waits    waits
	hide     *redact.Redactor
	loads    bool // plugin.load and plugin.unload are granted
	limits   protocol.Limits
	matchers matchers.Options
	merged   atomic.Int64 // notifications that lost output
	opened   atomic.Int64 // connections
}

// Options configure a [Server].
type Options struct {
	Limits       protocol.Limits // printed by server.capabilities
	PluginLoad   bool            // allows plugin.load and plugin.unload, which run code from this machine's files
	MatcherDepth int             // levels of nested matchers; 0: matchers.MaxDepth
}

// New returns the dialect over the sessions, adapters and recordings of h.
func New(h *host.Host, o Options) *Server {
	return &Server{
		Host: h, hide: h.Redactor(), loads: o.PluginLoad, limits: o.Limits,
		matchers: matchers.Options{Depth: cmp.Or(o.MatcherDepth, matchers.MaxDepth)},
	}
}

// Open begins a connection.
func (s *Server) Open(c *protocol.Conn) protocol.Handler {
	ctx, stop := context.WithCancel(context.Background())
	cl := &client{Server: s, conn: c, ctx: ctx, stop: stop,
		number:  s.opened.Add(1),
		methods: make(map[string]protocol.Method, len(table)),
		leases:  map[engine.ID]*lease{}, frames: map[engine.ID]*shown{},
		ties: map[engine.ID]func() bool{}, owned: map[engine.ID]*engine.Session{}}
	cl.introduce("")
	for _, r := range table {
		m := protocol.Method{Name: r.name, Call: r.bind(cl)}
		if r.loads && !s.loads {
			m.Call = func(context.Context, json.RawMessage) (any, error) {
				return nil,
					&deniedError{r.name, errNoLoading}
			}
		}
		call := m.Call
		m.Call = func(ctx context.Context, params json.RawMessage) (any, error) {
			if cl.strict.Load() {
				if err := refuseUnknown(r.name, params); err != nil {
					return nil, err
				}
			}
			return call(ctx, params)
		}
		if r.key != nil {
			m.Key = func(params json.RawMessage) string { return r.key(cl, params) }
		}
		cl.methods[r.name] = m
	}
	return cl
}

// Merged counts the notifications so far that had lost output: their client was too slow.
func (s *Server) Merged() int64 { return s.merged.Load() }

type metricsResult struct {
	Text string `json:"text" jsonschema:"counts in the text format of Prometheus, version 0.0.4; nothing that a program wrote"`
}

func (c *client) serverMetrics(context.Context, struct{}) (metricsResult, error) {
	if c.Metrics == nil {
		return metricsResult{}, nil
	}
	return metricsResult{Text: c.Metrics()}, nil
}

// A client is one connection's state. It is a [protocol.Handler].
type client struct {
	*Server
	conn    *protocol.Conn
	methods map[string]protocol.Method
	ctx     context.Context // ends with the connection; the notifier's
	stop    context.CancelFunc
	number  int64 // of the connection, from 1
	called  atomic.Pointer[called]

	readsOnly atomic.Bool // set by server.set_access
	strict    atomic.Bool // set by server.set_strict

	mu sync.Mutex
	// protects the fields below
	notifier  *notifier // nil until server.set_notifications is first called
	notifying bool      // its last request
	eventing  bool      // likewise, of events
	leases    map[engine.ID]*lease
	frames    map[engine.ID]*shown // what the client has of sessions that it watches
	ties      map[engine.ID]func() bool
	owned     map[engine.ID]*engine.Session // those that end with the connection
}

// A called is what a client has said that it is, with server.set_client, and with the number of its
// connection who it is in the events of sessions: of several that are called the same, each is told
// apart, and none can pass for another.
type called struct {
	title string // "": it has not said
	by    engine.By
}

type clientParams struct {
	Name *string `json:"name" jsonschema:"the program, for others to read: with its number in events, and as the holder of leases; at most 64 characters of it"`
}

type clientResult struct {
	Name string `json:"name" jsonschema:"as it is kept"`
}

// setClient notes what the client says that it is. Nothing verifies it.
func (c *client) setClient(_ context.Context, p clientParams) (clientResult, error) {
	if err := required("name", p.Name); err != nil {
		return clientResult{}, err
	}
	if strings.ContainsFunc(*p.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return clientResult{}, &protocol.ParamError{Path: "name",
			Expected: "a name of printable characters", Got: protocol.Got(*p.Name)}
	}
	c.introduce(*p.Name)
	return clientResult{c.title()}, nil
}

// introduce notes what the client is called; "": it has not said.
func (c *client) introduce(title string) {
	clean := engine.PlainLine(title, c.hide.String)
	if all := []rune(clean); len(all) > maxTitle {
		clean = string(all[:maxTitle])
	}
	c.called.Store(&called{clean,
		engine.By(fmt.Sprintf("%s %d", cmp.Or(clean, "client"), c.number))})
}

// maxTitle bounds what a client may be called, in characters: it is shown in a line of a list, as
// the holder of a lease is.
const maxTitle = 64

// title is what the client has said that it is; "": nothing.
func (c *client) title() string { return c.called.Load().title }

// by is who the client is in events.
func (c *client) by() engine.By { return c.called.Load().by }

// tie drops everything that is kept for the client about a session once that is closed or
// forgotten. It is called with mu held, before anything is kept.
func (c *client) tie(s *engine.Session) {
	id := s.ID()
	if c.ties[id] != nil {
		return
	}
	c.ties[id] = s.AfterClose(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.leases, id)
		delete(c.frames, id)
		delete(c.owned, id)
		delete(c.ties, id)
	})
}

// own makes a session end with the connection.
func (c *client) own(s *engine.Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tie(s)
	c.owned[s.ID()] = s
}

// endOwned ends the connection's own sessions, all in parallel, and returns when nothing of them is
// left.
func (c *client) endOwned() {
	c.mu.Lock()
	owned := slices.Collect(maps.Values(c.owned))
	c.mu.Unlock()
	var all sync.WaitGroup
	for _, s := range owned {
		all.Go(func() {
			if err := s.End(context.Background(), engine.LimitOwner); err != nil {
				c.Log.Warn("a session could not be ended with its client", "session",
					string(s.ID()), "error", err)
			}
		})
	}
	all.Wait()
}

// untie removes all ties: the connection is over.
func (c *client) untie() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, stop := range c.ties {
		stop()
	}
	clear(c.ties)
	clear(c.frames)
}

func (c *client) Method(name string) (protocol.Method, bool) {
	m, ok := c.methods[name]
	return m, ok
}

// Close releases the connection's leases, ends its own sessions, and ends the notifier once it has
// sent what is pending.
func (c *client) Close() {
	c.release()
	c.endOwned()
	c.untie()
	c.mu.Lock()
	n := c.notifier
	c.mu.Unlock()
	c.stop()
	if n != nil {
		<-n.done
	}
}

// session finds the session that a request names.
func (c *client) session(p sessionParams) (*engine.Session, error) {
	if err := required("session", p.Session); err != nil {
		return nil, err
	}
	s, err := c.Engine.Session(engine.ID(*p.Session))
	switch {
	case errors.As(err, new(*engine.ForgottenError)):
		return nil, err
	case err != nil:
		return nil, &sessionError{id: *p.Session, err: err}
	}
	return s, nil
}

// free finds the session that a request names, for actions that only its adapter may do when it has
// one.
func (c *client) free(p sessionParams) (*engine.Session, error) {
	s, err := c.session(p)
	if err != nil {
		return nil, err
	}
	if a := c.Catalog.Owner(s.ID()); a != nil {
		return nil, &ownedError{session: string(s.ID()), adapter: a.ID()}
	}
	return s, nil
}
