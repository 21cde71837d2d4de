package far

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/protocol"
)

const (
	// listBound is how long hosts may take for what is asked of all: longer than a handshake of ssh
	// takes, and shorter than a command waits for a list.
	listBound = 6 * time.Second
	// awayBound is listBound for a host that could not be reached the last time, so that one host
	// that is off does not make every list slow.
	awayBound = time.Second
)

// errLateList is the cause of the end of a host's time for a list.
var errLateList = errors.New("it has not answered in time for a list")

// listBound is how long the host may take for what is asked of all.
func (h *host) listBound() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return awayBound
	}
	return listBound
}

const (
	// setting is how the methods begin that say something of the connection.
	setting          = "server.set_"
	setNotifications = "server.set_notifications"
	setHosts         = "server.set_hosts"
	setClient        = "server.set_client"
)

type (
	// A local calls the dialect behind the hub.
	local = func(context.Context, json.RawMessage) (any, error)
	// A merge answers a request that concerns several hosts.
	merge = func(h *handler, ctx context.Context, q query, here local) (any, error)
)

// A query is a request that concerns several hosts.
type query struct {
	name   string
	row    *row
	params json.RawMessage
}

// merges are the methods that concern several hosts when they name none. Those that say something
// of the connection are among them whatever they are called after their beginning: see mergeOf.
var merges = map[string]merge{
	"session.list":        (*handler).lists,
	"session.record_list": (*handler).lists,
	"session.forget":      (*handler).lists,
	"adapter.live":        (*handler).lists,
	"adapter.cancel_wait": (*handler).cancelWait,
	"server.hosts":        (*handler).hosts,
	setNotifications:      (*handler).notifications,
	setHosts:              (*handler).seeing,
	waitMany:              (*handler).waitMany,
}

// mergeOf returns the merge of a method; nil: it concerns one host.
func mergeOf(name string) merge {
	if m := merges[name]; m != nil {
		return m
	}
	if strings.HasPrefix(name, setting) {
		return (*handler).set
	}
	return nil
}

// A part is what one host said.
type part struct {
	remote *remote
	call   *call
	answer answer
	err    error
}

// ask asks hosts, all at the same time, and returns what each said within listBound.
func (h *handler) ask(ctx context.Context, hosts []*remote, with func(*remote) *call) []part {
	parts := make([]part, len(hosts))
	for i, r := range hosts {
		c := with(r)
		parts[i] = part{remote: r, call: c, err: r.submit(c)}
	}
	protocol.Yield(ctx)
	ended := make(chan struct{})
	under := 0
	for i := range parts {
		p := &parts[i]
		if p.err != nil {
			continue
		}
		under++
		go func() { // ends soon after its bound
			bound, cancel := context.WithTimeoutCause(ctx, p.remote.host.listBound(), errLateList)
			defer cancel()
			p.answer, p.err = p.remote.await(bound, p.call)
			if errors.Is(p.err, errLateList) {
				p.err = p.remote.expired(p.call)
			}
			ended <- struct{}{}
		}()
	}
	for range under {
		<-ended
	}
	return parts
}

// An awayHost is a host that a list is without.
type awayHost struct {
	Host  string    `json:"host"`
	State Link      `json:"state"`
	Since time.Time `json:"since"`
	Error string    `json:"error"`
}

func (p part) away() awayHost {
	a := awayHost{Host: p.remote.host.Name, State: LinkDown, Since: time.Now().UTC(),
		Error: protocol.Message(p.err.Error())}
	var unreachable *UnreachableError
	var lost *LostError
	switch {
	case errors.As(p.err, &unreachable):
		a.Since, a.Error = unreachable.Since.UTC(), protocol.Message(unreachable.Err.Error())
	case errors.As(p.err, &lost):
		a.Since, a.Error = lost.Since.UTC(), protocol.Message(lost.Err.Error())
	}
	if p.remote.state() == LinkSilent {
		a.State = LinkSilent
	}
	return a
}

// lists puts the lists of all hosts behind those of this machine. A request that names a session,
// or this machine as host, stays here.
func (h *handler) lists(ctx context.Context, q query, here local) (any, error) {
	all, err := membersOf(q.params)
	if err != nil {
		return here(ctx, q.params)
	}
	own := find(all, "session") != nil || find(all, "host") != nil
	result, err := here(ctx, objectOf(with(all, "host", nil)))
	if err != nil || own {
		return result, err
	}
	text, err := protocol.Encode(result)
	if err != nil {
		return nil, err
	}
	merged, err := membersOf(text)
	if err != nil {
		return nil, err
	}
	away := []awayHost{}
	for _, p := range h.ask(ctx, h.all(), func(*remote) *call {
		return newCall(q.name, q.row, q.params, nil)
	}) {
		var theirs []member
		if p.err == nil {
			var text []byte
			if text, p.err = p.remote.own(q.row, p.answer); p.err == nil {
				theirs, p.err = membersOf(text)
			}
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if p.err != nil {
			away = append(away, p.away())
			continue
		}
		for i, m := range merged {
			merged[i].value = joined(m.value, find(theirs, m.name))
		}
	}
	if len(away) > 0 {
		text, err := json.Marshal(away)
		if err != nil {
			return nil, err
		}
		merged = with(merged, "away", text)
	}
	return raw(objectOf(merged)), nil
}

// joined returns one list of two; what is none is left out.
func joined(a, b json.RawMessage) json.RawMessage {
	inside := func(list json.RawMessage) []byte {
		list = bytes.TrimSpace(list)
		if len(list) < 2 || list[0] != '[' {
			return nil
		}
		return bytes.TrimSpace(list[1 : len(list)-1])
	}
	one, two := inside(a), inside(b)
	switch {
	case len(two) == 0:
		return a
	case len(one) == 0:
		return b
	}
	return slices.Concat([]byte("["), one, []byte(","), two, []byte("]"))
}

// cancelWait cancels a wait by its wait_id, wherever it is: the client chose the id, and may not
// say the host.
func (h *handler) cancelWait(ctx context.Context, q query, here local) (any, error) {
	result, err := here(ctx, q.params)
	if err != nil || len(h.live()) == 0 {
		return result, err
	}
	done := func(text []byte) bool {
		var r struct {
			Cancelled bool `json:"cancelled"`
		}
		return json.Unmarshal(text, &r) == nil && r.Cancelled
	}
	if text, err := protocol.Encode(result); err != nil || done(text) {
		return result, err
	}
	for _, p := range h.ask(ctx, h.live(), func(*remote) *call {
		return newCall(q.name, q.row, q.params, nil)
	}) {
		if p.err != nil {
			continue
		}
		if text, err := p.remote.own(q.row, p.answer); err == nil && done(text) {
			return raw(text), nil
		}
	}
	return result, nil
}

// set says something of the connection to this machine and, once it is taken, to all hosts: those
// whose links are there, and the others when they get one.
func (h *handler) set(ctx context.Context, q query, here local) (any, error) {
	result, err := here(ctx, q.params)
	if err != nil {
		return nil, err
	}
	c := &call{method: q.name, params: bytes.Clone(q.params)}
	h.mu.Lock()
	h.settings = append(slices.DeleteFunc(h.settings,
		func(s *call) bool { return s.method == c.method }), c)
	h.mu.Unlock()
	for _, r := range h.live() {
		r.set(c)
	}
	return result, nil
}

// seeing has the connection see this machine alone, or the others, too. Hubs say it to each other:
// two that know each other would otherwise ask in circles.
func (h *handler) seeing(ctx context.Context, q query, here local) (any, error) {
	result, err := here(ctx, q.params)
	if err == nil {
		var of struct {
			Hosts bool `json:"hosts"`
		}
		_ = json.Unmarshal(q.params, &of) // it was judged here
		h.alone.Store(!of.Hosts)
	}
	return result, err
}

// nowhere is the id of no session: a filter with it lets nothing through.
const nowhere = "/"

// notifications subscribes at this machine and at hosts: at all of them, or at those whose sessions
// or adapters are named. A host that is away is subscribed to when its link is there.
func (h *handler) notifications(ctx context.Context, q query, here local) (any, error) {
	all, err := membersOf(q.params)
	if err != nil {
		return here(ctx, q.params)
	}
	var on bool
	_ = json.Unmarshal(find(all, "enabled"), &on) // anything else is refused here
	ids := map[string][]string{}
	for _, name := range []string{"sessions", "adapters"} {
		var list []string
		if json.Unmarshal(find(all, name), &list) == nil {
			ids[name] = list
		}
	}
	split := map[string]map[string][]string{} // by host, "" is here
	for kind, list := range ids {
		for _, id := range list {
			host, rest, ok := strings.Cut(id, "/")
			if !ok {
				host, rest = "", id
			} else if _, err := h.hub.host(host); err != nil {
				return nil, err
			}
			if split[host] == nil {
				split[host] = map[string][]string{}
			}
			split[host][kind] = append(split[host][kind], rest)
		}
	}
	filtered := len(split) > 0
	forHost := func(host string) json.RawMessage {
		if !filtered {
			return q.params
		}
		of := all
		for _, kind := range []string{"sessions", "adapters"} {
			text, _ := json.Marshal(split[host][kind])
			if len(split[host][kind]) == 0 {
				text = nil
			}
			of = with(of, kind, text)
		}
		if split[host] == nil {
			of = with(of, "sessions", []byte(`["`+nowhere+`"]`))
		}
		return objectOf(of)
	}
	result, err := here(ctx, forHost(""))
	if err != nil {
		return nil, err
	}
	hosts := h.live()
	if on {
		hosts = h.all()
	}
	h.ask(ctx, slices.DeleteFunc(hosts, func(r *remote) bool {
		wanted := on && (!filtered || split[r.host.Name] != nil)
		was := r.listens.Swap(wanted)
		if wanted {
			r.want(&call{method: q.name, params: withoutSince(forHost(r.host.Name))})
		} else {
			r.want(nil)
		}
		return !wanted && !was
	}), func(r *remote) *call {
		params := forHost(r.host.Name)
		if !r.listens.Load() {
			params = json.RawMessage(`{"enabled":false}`)
		}
		c := newCall(q.name, q.row, params, nil)
		c.again = never // the link that comes has it from the settings
		return c
	})
	text, err := protocol.Encode(result)
	if err != nil {
		return nil, err
	}
	answer, err := membersOf(text)
	if err != nil {
		return nil, err
	}
	for kind, list := range ids {
		if len(list) > 0 {
			text, _ := json.Marshal(list)
			answer = with(answer, kind, text)
		} else {
			answer = with(answer, kind, nil)
		}
	}
	if _, ok := split[""]; filtered && !ok && len(ids["sessions"]) == 0 {
		answer = with(answer, "sessions", nil)
	}
	return raw(objectOf(answer)), nil
}

// withoutSince takes out what would be told a second time.
func withoutSince(params json.RawMessage) json.RawMessage {
	all, err := membersOf(params)
	if err != nil {
		return params
	}
	return objectOf(with(all, "since", nil))
}

// A hostInfo is what the hub knows about a host.
type hostInfo struct {
	Host     string     `json:"host"`
	State    Link       `json:"state"`
	Version  string     `json:"version,omitempty"`
	Sessions *int       `json:"sessions,omitempty"`
	RoundMS  *float64   `json:"round_trip_ms,omitempty"`
	Since    *time.Time `json:"since,omitempty"`
	Error    string     `json:"error,omitempty"`
}

// hosts lists all hosts; with check it asks each of them.
func (h *handler) hosts(ctx context.Context, q query, here local) (any, error) {
	if _, err := here(ctx, q.params); err != nil { // it judges the params
		return nil, err
	}
	var of struct {
		Check bool   `json:"check"`
		Host  string `json:"host"`
	}
	if err := protocol.Decode(q.params, &of); err != nil {
		return nil, err
	}
	remotes := h.all()
	if of.Host != "" {
		one, err := h.hub.host(of.Host)
		if err != nil {
			return nil, err
		}
		remotes = []*remote{h.remote(one)}
	}
	infos := make([]hostInfo, len(remotes))
	if of.Check {
		for _, r := range remotes {
			r.retry()
		}
		for i, p := range h.ask(ctx, remotes, func(*remote) *call {
			return newCall("session.list", h.hub.model.methods["session.list"], []byte("{}"), nil)
		}) {
			infos[i] = p.remote.info()
			var n int
			if p.err == nil {
				n, p.err = countOf(p.answer.result)
			}
			if p.err != nil {
				away := p.away()
				infos[i].State, infos[i].Since, infos[i].Error = away.State, &away.Since, away.Error
				continue
			}
			infos[i].Sessions = &n
			infos[i].RoundMS = roundTrip(ctx, p.answer.link)
		}
		return struct {
			Hosts []hostInfo `json:"hosts"`
		}{infos}, ctx.Err()
	}
	for i, r := range remotes {
		infos[i] = r.info()
	}
	return struct {
		Hosts []hostInfo `json:"hosts"`
	}{infos}, nil
}

// countOf counts the sessions of an answer to session.list.
func countOf(result json.RawMessage) (int, error) {
	var list struct {
		Sessions []string `json:"sessions"`
	}
	if err := json.Unmarshal(result, &list); err != nil {
		return 0, broke("its list of sessions is not one")
	}
	return len(list.Sessions), nil
}

// roundTrip measures how long a question and its answer take; nil: there is no answer.
func roundTrip(ctx context.Context, l *link) *float64 {
	answered := make(chan struct{}, 1)
	began := time.Now()
	l.ping(func(answer) { answered <- struct{}{} })
	bound := time.NewTimer(lateBound)
	defer bound.Stop()
	select {
	case <-answered:
		ms := float64(time.Since(began).Microseconds()) / 1000
		return &ms
	case <-bound.C:
	case <-l.ended:
	case <-ctx.Done():
	}
	return nil
}
