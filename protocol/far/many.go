package far

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/protocol"
)

// waitMany is the wait for sessions of several hosts: each host is asked once, and judges its own.
const (
	waitMany    = "session.wait_many"
	noteMatched = "wait.matched"
)

// settleBound is how long a wait that is decided waits for what the other hosts have found: a round
// trip of most links, and nothing that a person notices.
const settleBound = 50 * time.Millisecond

var (
	errDecided = fmt.Errorf("%w: another host has decided the wait", protocol.ErrCancelled)
	errNobody  = fmt.Errorf("%w: nothing is selected there", protocol.ErrCancelled)
)

// A many is one session.wait_many.
type many struct {
	h        *handler
	ctx      context.Context
	q        query
	here     local
	until    string
	selects  bool
	parts    []*manyPart
	answered chan *manyPart
	empty    chan *manyPart // nothing is selected there
	looked   bool           // that was asked

	matched, ended, lacking []json.RawMessage
	waiting                 int
	lost                    []lostPart
	truncated               bool
}

// A manyPart is one machine's part of it.
type manyPart struct {
	remote *remote // nil: this machine
	params []member
	ids    []string // as the machine knows them; of a selection none
	call   *call
	stop   context.CancelCauseFunc
	empty  bool // nothing is selected there
	ended  bool

	// of its answer
	err     error // nil: it is satisfied
	code    int   // of an error that a server has answered with
	reason  string
	message string
	found   []member
}

// waitMany waits for sessions of several machines.
func (h *handler) waitMany(ctx context.Context, q query, here local) (any, error) {
	all, err := membersOf(q.params)
	if err != nil {
		return here(ctx, q.params)
	}
	w := &many{h: h, ctx: ctx, q: q, here: here, until: textOf(all, "until"),
		selects: find(all, "select") != nil}
	if w.until == "" {
		w.until = "any"
	}
	if err := w.split(all); err != nil {
		return nil, err
	}
	if len(w.parts) == 1 && w.parts[0].remote == nil {
		return here(ctx, objectOf(w.parts[0].params))
	}
	if len(w.parts) == 0 {
		return here(ctx, q.params) // which says what is wrong
	}
	w.answered = make(chan *manyPart, len(w.parts))
	w.empty = make(chan *manyPart, len(w.parts))
	for _, p := range w.parts {
		w.start(p)
	}
	protocol.Yield(ctx)
	defer func() {
		for _, p := range w.parts {
			p.stop(errDecided)
		}
	}()
	return w.wait()
}

// split finds the machines that are asked, and what.
func (w *many) split(all []member) error {
	since := map[string]json.RawMessage{}
	if text := find(all, "since"); text != nil && json.Unmarshal(text, &since) != nil {
		since = nil // it is refused where it is read
	}
	sinceOf := func(host string) []byte {
		of := map[string]json.RawMessage{}
		for id, at := range since {
			if name, rest, ok := strings.Cut(id, "/"); ok && name == host {
				of[rest] = at
			} else if !ok && host == "" {
				of[id] = at
			}
		}
		text, err := json.Marshal(of)
		if len(of) == 0 || err != nil {
			return nil
		}
		return text
	}
	add := func(host string, ids []string, member string, value any) error {
		p := &manyPart{ids: ids}
		if host != "" {
			one, err := w.h.hub.host(host)
			if err != nil {
				return err
			}
			p.remote = w.h.remote(one)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		p.params = with(with(all, "since", sinceOf(host)), member, text)
		w.parts = append(w.parts, p)
		return nil
	}
	if w.selects {
		return w.splitSelection(all, add)
	}
	var ids []string
	if json.Unmarshal(find(all, "sessions"), &ids) != nil {
		return nil
	}
	for id := range since {
		if !slices.Contains(ids, id) {
			return &protocol.ParamError{Path: "since", Expected: "only what is in sessions",
				Got: protocol.Got(id)}
		}
	}
	of, order := map[string][]string{}, []string{}
	for _, id := range ids {
		host, rest, ok := strings.Cut(id, "/")
		if !ok {
			host, rest = "", id
		}
		if of[host] == nil {
			order = append(order, host)
		}
		of[host] = append(of[host], rest)
	}
	for _, host := range order {
		if err := add(host, of[host], "sessions", of[host]); err != nil {
			return err
		}
	}
	return nil
}

// splitSelection asks every machine, or the one that a selection names with host or an adapter's
// id.
func (w *many) splitSelection(all []member,
	add func(host string, ids []string, member string, value any) error) error {
	selection, err := membersOf(find(all, "select"))
	if err != nil {
		return nil // it is refused where it is read
	}
	hosts := append([]string{""}, w.h.hub.names()...)
	if find(selection, "host") != nil {
		hosts = []string{textOf(selection, "host")}
		selection = with(selection, "host", nil)
	}
	if adapter := textOf(selection, "adapter"); adapter != "" {
		host, rest, ok := strings.Cut(adapter, "/")
		if !ok {
			host, rest = "", adapter
		}
		hosts = slices.DeleteFunc(hosts, func(name string) bool { return name != host })
		text, err := json.Marshal(rest)
		if err != nil {
			return err
		}
		selection = with(selection, "adapter", text)
		if len(hosts) == 0 {
			return errSplit
		}
	}
	for _, host := range hosts {
		if err := add(host, nil, "select", raw(objectOf(selection))); err != nil {
			return err
		}
	}
	return nil
}

// MarshalJSON returns the JSON that it is.
func (r raw) MarshalJSON() ([]byte, error) { return r, nil }

// start asks a machine.
func (w *many) start(p *manyPart) {
	w.ask(p, func() { w.answered <- p })
}

// ask asks a machine, and calls answered when p has its answer.
func (w *many) ask(p *manyPart, answered func()) {
	ctx, stop := context.WithCancelCause(w.ctx)
	p.stop = stop
	params := objectOf(p.params)
	if p.remote == nil {
		w.h.running.Go(func() {
			defer stop(nil)
			p.err = protocol.Guard(w.h.hub.log, w.q.name, func() error {
				result, err := w.here(ctx, params)
				return p.judge(w.h, result, err)
			})
			answered()
		})
		return
	}
	tells := textOf(p.params, "until") == "each"
	if tells {
		p.remote.tell(1)
	}
	p.call = newCall(w.q.name, w.q.row, params, p.ids)
	err := p.remote.submit(p.call)
	w.h.running.Go(func() {
		defer stop(nil)
		var a answer
		if err == nil {
			a, err = p.remote.await(ctx, p.call)
		}
		if tells {
			p.remote.tell(-1)
		}
		p.err = p.take(w.q.row, a, err)
		answered()
	})
}

// judge reads the answer of this machine.
func (p *manyPart) judge(h *handler, result any, err error) error {
	if err != nil {
		e := h.local.Error(err)
		p.code, p.reason, p.message = e.Code, e.Reason, e.Message
		result = e.Data
	}
	if result == nil {
		return err
	}
	text, encoding := protocol.Encode(result)
	if encoding != nil {
		return errors.Join(err, encoding)
	}
	found, syntax := membersOf(text)
	if syntax != nil {
		return errors.Join(err, syntax)
	}
	p.found = found
	return err
}

// take reads the answer of another machine.
func (p *manyPart) take(row *row, a answer, err error) error {
	var refused *refusal
	if errors.As(err, &refused) {
		refused.localize(p.ids)
		p.code, p.reason, p.message, p.found = refused.code, refused.reason, refused.message,
			refused.data
		return err
	}
	if err != nil {
		return err
	}
	text, err := p.remote.own(row, a)
	if err != nil {
		return err
	}
	p.found, err = membersOf(text)
	return err
}

// wait returns the answer once it is decided.
func (w *many) wait() (any, error) {
	for left := len(w.parts); left > 0; {
		var p *manyPart
		select {
		case p = <-w.answered:
		case p = <-w.empty:
			p.empty = true
			p.stop(errNobody)
			continue
		case <-w.ctx.Done():
			w.settle(left)
			return nil, w.failure(codeCancelled, "cancelled", "the wait was cancelled")
		}
		p.ended = true
		left--
		switch {
		case p.err == nil:
			w.note(p)
			if w.until == "any" {
				w.settle(left)
				return w.result(), nil
			}
			w.look()
		case p.empty:
		case p.code == codeTimeout, p.code == codeServerLost && p.found != nil:
			w.note(p)
			if p.code == codeServerLost && w.until == "all" {
				w.settle(left)
				return nil, w.failure(p.code, p.reason, p.message)
			}
		case p.code != 0: // the request is wrong, or the machine cannot
			return nil, p.err
		default:
			w.lose(p)
		}
	}
	return w.decided()
}

// look asks the machines that have not answered whether anything is selected there at all: one on
// which nothing is never answers that each session has matched. Those are not waited for.
func (w *many) look() {
	if !w.selects || w.looked {
		return
	}
	w.looked = true
	for _, p := range w.parts {
		if p.ended {
			continue
		}
		peek := &manyPart{remote: p.remote, params: with(p.params, "timeout_ms", []byte("0"))}
		peek.params = with(with(peek.params, "until", []byte(`"any"`)), "since", nil)
		peek.params = with(peek.params, "evidence", []byte(`"none"`))
		w.ask(peek, func() {
			if peek.found != nil && w.countOf(peek, "waiting")+w.countOf(peek, "matched") == 0 {
				w.empty <- p
			}
		})
	}
}

// decided is the answer when every machine has answered.
func (w *many) decided() (any, error) {
	satisfied, code, reason, message := 0, 0, "", ""
	for _, p := range w.parts {
		switch {
		case p.err == nil || p.empty:
			satisfied++
		case code == 0 || p.code == codeTimeout:
			code, reason, message = p.code, p.reason, p.message
		}
	}
	if satisfied == len(w.parts) {
		return w.result(), nil
	}
	if len(w.lost) > 0 || code == 0 || code == codeTimeout {
		all := len(w.matched) + w.waiting + len(w.ended)
		message = fmt.Sprintf("the wait timed out: it matched in %d of %d sessions", len(w.matched), all)
		if all == 0 {
			message = "the wait timed out: no session was there"
		}
		for _, l := range w.lost {
			message += "; host " + l.Host + " is " + l.Reason
		}
		code, reason = codeTimeout, "timeout"
	}
	return nil, w.failure(code, reason, message)
}

// settle takes what the machines that are still asked have found, for a moment.
func (w *many) settle(left int) {
	for _, p := range w.parts {
		if !p.ended {
			p.stop(errDecided)
		}
	}
	bound := time.NewTimer(settleBound)
	defer bound.Stop()
	for ; left > 0; left-- {
		select {
		case p := <-w.answered:
			p.ended = true
			if p.found != nil {
				w.note(p)
			} else {
				w.waiting += len(p.ids)
			}
		case <-bound.C:
			for _, p := range w.parts {
				if !p.ended {
					w.waiting += len(p.ids)
				}
			}
			return
		}
	}
}

// note adds what a machine has found.
func (w *many) note(p *manyPart) {
	for name, list := range map[string]*[]json.RawMessage{"matched": &w.matched, "ended": &w.ended,
		"lacking": &w.lacking} {
		var more []json.RawMessage
		_ = json.Unmarshal(find(p.found, name), &more) // without it there is nothing to add
		*list = append(*list, more...)
	}
	w.waiting += w.countOf(p, "waiting")
	var cut bool
	_ = json.Unmarshal(find(p.found, "truncated"), &cut)
	w.truncated = w.truncated || cut
}

// countOf returns a number that a machine has told, or the length of a list.
func (w *many) countOf(p *manyPart, name string) int {
	value := find(p.found, name)
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil && list != nil {
		return len(list)
	}
	var n int
	_ = json.Unmarshal(value, &n)
	return max(n, 0)
}

// lose notes a machine that was away. The sessions of a server that was started anew have ended.
func (w *many) lose(p *manyPart) {
	var late *timeoutError
	var another *ServerLostError
	switch {
	case errors.As(p.err, &late):
		w.lost = append(w.lost, late.lost)
		return
	case errors.As(p.err, &another):
		for _, id := range p.ids {
			text, _ := json.Marshal(map[string]any{"session": p.remote.host.Name + "/" + id,
				"exit": nil, "reason": reasonServerLost})
			w.ended = append(w.ended, text)
		}
		p.code, p.reason, p.message = codeServerLost, reasonServerLost, p.err.Error()
		return
	}
	name := "this one"
	if p.remote != nil {
		name = p.remote.host.Name
	}
	l := lostPart{Host: name, Sessions: []string{}, Since: map[string]uint64{}, Reason: "down"}
	for _, id := range p.ids {
		l.Sessions = append(l.Sessions, name+"/"+id)
	}
	var lost *LostError
	if errors.As(p.err, &lost) {
		l.ForMS = time.Since(lost.Since).Milliseconds()
	}
	w.lost = append(w.lost, l)
}

// members are what was found, as the wire has it.
func (w *many) members() []member {
	value := func(v any) json.RawMessage {
		text, err := json.Marshal(v)
		if err != nil { // what we decoded, or strings and numbers of ours
			return json.RawMessage("null")
		}
		return text
	}
	list := func(all []json.RawMessage) json.RawMessage {
		b := []byte{'['}
		for i, one := range all {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, one...)
		}
		return append(b, ']')
	}
	if w.lost == nil {
		w.lost = []lostPart{}
	}
	all := []member{{"matched", list(w.matched)}, {"waiting", value(w.waiting)},
		{"ended", list(w.ended)}, {"lost", value(w.lost)},
		{"complete", value(w.waiting == 0 && len(w.lost) == 0)}}
	if w.lacking != nil {
		all = append(all, member{"lacking", list(w.lacking)})
	}
	if w.truncated {
		all = append(all, member{"truncated", json.RawMessage("true")})
	}
	return all
}

func (w *many) result() raw { return objectOf(w.members()) }

func (w *many) failure(code int, reason, message string) error {
	return &refusal{code: code, reason: reason, message: message, data: w.members()}
}

// renewMany goes on where the sessions of the call were when it began: those that matched since are
// found, as the wait is latched.
func (c *call) renewMany(all []member) []member {
	if c.sinces == nil || !plain(all) {
		if find(all, "since") != nil {
			all = with(all, "latched", []byte("true"))
		}
		c.probed = !plain(all)
		return all
	}
	since := map[string]json.RawMessage{}
	_ = json.Unmarshal(find(all, "since"), &since) // what the client gave, which the far server has read
	names := c.ids
	if names == nil {
		for id := range c.sinces {
			if isNumbered(id) {
				names = append(names, id)
			}
		}
	}
	for _, name := range names {
		if at, ok := c.sinces[name]; ok && since[name] == nil {
			since[name], _ = json.Marshal(at)
		}
	}
	text, err := json.Marshal(since)
	if err != nil {
		return all
	}
	return with(with(all, "since", text), "latched", []byte("true"))
}

// tell counts the waits whose clients get each match as it comes.
func (r *remote) tell(n int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.telling.Add(n) == 0 {
		r.told = nil
	}
}

// firstMatch reports whether a match is new to its wait: one that is asked again finds it again.
func (r *remote) firstMatch(params []byte) bool {
	var of struct {
		Wait    string `json:"wait"`
		Session string `json:"session"`
	}
	if json.Unmarshal(params, &of) != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := of.Wait + "\x00" + of.Session
	if r.told[key] || len(r.told) >= mostKnown {
		return false
	}
	if r.told == nil {
		r.told = map[string]bool{}
	}
	r.told[key] = true
	return true
}
