package far

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ptywright/ptywright/protocol"
)

// A Hub is a [protocol.Dialect] in front of another one, which serves this machine: it sends what
// names a session of another host there. Make it with [New], and end it with [Hub.Close] once all
// its connections have ended.
type Hub struct {
	local protocol.Dialect
	model *Model
	hosts map[string]*host
	log   *slog.Logger
}

// New returns a hub of hosts in front of local. Names must differ, and be valid: see [CheckName].
func New(local protocol.Dialect, model *Model, hosts []Host, log *slog.Logger) (*Hub, error) {
	h := &Hub{local: local, model: model, hosts: map[string]*host{}, log: log}
	for _, one := range hosts {
		if err := CheckName(one.Name); err != nil {
			return nil, err
		}
		if h.hosts[one.Name] != nil {
			return nil, fmt.Errorf("host %s is there twice", one.Name)
		}
		h.hosts[one.Name] = &host{Host: one, hub: h}
	}
	return h, nil
}

// CheckName says what is wrong with the name of a host: it has 1 to 32 of a-z, 0-9 and -.
func CheckName(name string) error {
	if name == "" || len(name) > 32 || strings.ContainsFunc(name, func(c rune) bool {
		return c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}) {
		return fmt.Errorf("host %s: a name has 1 to 32 of a-z, 0-9 and -",
			protocol.Quote(name, 32))
	}
	return nil
}

// Close ends the links that are kept for the next client.
func (h *Hub) Close() {
	for _, one := range h.hosts {
		one.close()
	}
}

// names are those of all hosts, sorted.
func (h *Hub) names() []string { return slices.Sorted(maps.Keys(h.hosts)) }

// host finds a host.
func (h *Hub) host(name string) (*host, error) {
	if one := h.hosts[name]; one != nil {
		return one, nil
	}
	return nil, &UnknownHostError{Name: name, Known: h.names()}
}

// Open begins a connection.
func (h *Hub) Open(c *protocol.Conn) protocol.Handler {
	ctx, stop := context.WithCancel(context.Background())
	return &handler{hub: h, local: h.local.Open(c), conn: c, ctx: ctx, stop: stop,
		remotes: map[string]*remote{}}
}

// A handler is the hub's side of one client.
type handler struct {
	hub     *Hub
	local   protocol.Handler
	conn    *protocol.Conn
	ctx     context.Context // ends with the connection
	stop    context.CancelFunc
	running sync.WaitGroup
	alone   atomic.Bool // the client wants to see this machine only

	mu sync.Mutex
	// protects the fields below
	remotes  map[string]*remote
	settings []*call // for links to hosts that are needed later
}

// Close ends the client's links, or keeps them for the next.
func (h *handler) Close() {
	h.stop()
	h.mu.Lock()
	all := slices.Collect(maps.Values(h.remotes))
	h.mu.Unlock()
	for _, r := range all {
		r.close()
	}
	h.running.Wait()
	h.local.Close()
}

// Error maps errors of the hub, and leaves all others to the dialect behind it.
func (h *handler) Error(err error) *protocol.Error {
	if e := wireError(err); e != nil {
		return e
	}
	return h.local.Error(err)
}

// remote returns a host as this client sees it.
func (h *handler) remote(to *host) *remote {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.remotes[to.Name]
	if r == nil {
		r = newRemote(h, to)
		for _, s := range h.settings {
			r.set(s)
		}
		h.remotes[to.Name] = r
	}
	return r
}

// all returns every host as this client sees it, in the order of names.
func (h *handler) all() []*remote {
	var all []*remote
	for _, name := range h.hub.names() {
		all = append(all, h.remote(h.hub.hosts[name]))
	}
	return all
}

// live returns the hosts that this client has asked for something.
func (h *handler) live() []*remote {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []*remote
	for _, name := range slices.Sorted(maps.Keys(h.remotes)) {
		all = append(all, h.remotes[name])
	}
	return all
}

// Method finds a method of the dialect behind the hub, and sends it where its ids are.
func (h *handler) Method(name string) (protocol.Method, bool) {
	m, ok := h.local.Method(name)
	row := h.hub.model.methods[name]
	if !ok || row == nil {
		return m, ok
	}
	call, key := m.Call, m.Key
	m.Call = func(ctx context.Context, params json.RawMessage) (any, error) {
		merged := mergeOf(name)
		if h.alone.Load() && name != setHosts {
			return call(ctx, params)
		}
		if mayRoute(params) && name != setNotifications && name != waitMany &&
			name != "server.hosts" { // they may name many
			to, err := h.route(row, params)
			if err != nil {
				return nil, err
			}
			if to.host != nil {
				return h.send(ctx, to, name, row)
			}
		}
		if merged != nil {
			return merged(h, ctx, query{name, row, params}, call)
		}
		return call(ctx, params)
	}
	if key != nil {
		m.Key = func(params json.RawMessage) string {
			if mayRoute(params) && !h.alone.Load() {
				if to, err := h.route(row, params); err != nil {
					return ""
				} else if to.host != nil {
					return to.key()
				}
			}
			return key(params)
		}
	}
	return m, true
}

// mayRoute reports whether params may name a host. Of those that cannot, nothing more is read.
func mayRoute(params []byte) bool {
	return bytes.IndexByte(params, '/') >= 0 || bytes.IndexByte(params, '\\') >= 0 ||
		bytes.Contains(params, []byte(`"host"`))
}

// A route is where a request goes.
type route struct {
	host   *host // nil: here
	params json.RawMessage
	ids    []string // as the host knows them
}

func (r route) key() string { return r.host.Name + "/" + strings.Join(r.ids, "/") }

// errSplit refuses a request whose ids are at several places.
var errSplit = &protocol.ParamError{Expected: "ids of one host", Got: "ids of several"}

// route finds where a request goes: to the host that its ids begin with, or that its member host
// names. Params that are not an object with single members stay here, where they are refused.
func (h *handler) route(row *row, params json.RawMessage) (route, error) {
	all, err := membersOf(params)
	if err != nil {
		return route{}, nil
	}
	var to route
	if row.hosts && find(all, "host") != nil {
		name := textOf(all, "host")
		if name == "" {
			return route{}, nil
		}
		if to.host, err = h.hub.host(name); err != nil {
			return route{}, err
		}
		all = with(all, "host", nil)
	}
	here := false
	to.params, err = row.params.rewrite(objectOf(all), func(id string) (string, error) {
		name, rest, ok := strings.Cut(id, "/")
		if !ok {
			here = true
			to.ids = append(to.ids, id)
			return id, nil
		}
		host, err := h.hub.host(name)
		if err != nil {
			return "", err
		}
		if to.host != nil && to.host != host {
			return "", errSplit
		}
		if here {
			return "", errSplit
		}
		to.host = host
		to.ids = append(to.ids, rest)
		return rest, nil
	})
	var unknown *UnknownHostError
	switch {
	case errors.As(err, &unknown), errors.Is(err, errSplit):
		return route{}, err
	case err != nil: // not JSON as it should be
		return route{}, nil
	}
	return to, nil
}

// send has a host answer a request.
func (h *handler) send(ctx context.Context, to route, name string, row *row) (any, error) {
	if act := protocol.ActOf(ctx); act != nil { // of this machine's audit; the host has its own
		act.Session = to.key()
	}
	r := h.remote(to.host)
	c := newCall(name, row, to.params, to.ids)
	c.alone = ctx.Done()
	a, err := r.do(ctx, c)
	return h.answered(r, c, row, a, err)
}

// answered turns a host's answer into ours.
func (h *handler) answered(r *remote, c *call, row *row, a answer, err error) (any, error) {
	var refused *refusal
	if errors.As(err, &refused) {
		refused.localize(c.ids)
	}
	if err != nil {
		return nil, err
	}
	result, err := r.own(row, a)
	if err != nil {
		return nil, err
	}
	return raw(result), nil
}

// own puts the host before the ids of a result. A result that is not one ends the link.
func (r *remote) own(row *row, a answer) ([]byte, error) {
	var ids []string
	prefix := prefixed(r.host.Name)
	result, err := row.result.rewrite(a.result, func(id string) (string, error) {
		ids = append(ids, id)
		return prefix(id)
	})
	if err == nil && result[0] != '{' {
		err = broke("a result of its is not an object")
	}
	if err != nil {
		err = notOurs(err)
		a.link.end(err)
		return nil, r.host.lost(err)
	}
	r.know(ids...)
	return result, nil
}
