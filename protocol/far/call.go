package far

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ptywright/ptywright/protocol"
)

const (
	// answerBound is how long a host may take for a request without a timeout of its own, unless
	// it shows that it is alive. Commands give a server ten seconds: with less here and lateBound,
	// what they say names the host, and not this server.
	answerBound = 6 * time.Second
	// lateBound is how long after its timeout an answer may come: it has to cross the link. As long
	// again a host may take for a sign of life.
	lateBound = 2 * time.Second
	// cancelBound is how long a cancelled request waits for the far server's evidence.
	cancelBound = time.Second
)

// A resend says what becomes of a call whose link ends before its answer.
type resend int

const (
	never  resend = iota // it may have been done: LostError
	always               // it is sent again as it is
	latch                // it is a wait, and finds what held meanwhile
)

// A call is one request to a host.
type call struct {
	method string
	params json.RawMessage
	again  resend
	within time.Duration   // of its timeout_ms; 0: it has none
	ids    []string        // that it names, as the host knows them
	owns   bool            // a session that it makes ends with the connection
	alone  <-chan struct{} // closed when the one request that waits for it has been answered
	answer chan answer
	on     func(answer) // instead of answer; must not block

	// protected by remote.mu and, for a call of a link, written before it is sent
	charge  int               // of remote.size
	began   time.Time         // first sent
	id      uint64            // of link
	link    *link             // nil: not sent
	since   *uint64           // where a wait without a since began
	sinces  map[string]uint64 // likewise of session.wait_many, by id and by name
	probed  bool              // that was asked for, or need not be
	twin    *call             // the same wait, latched since then
	dropped bool              // nobody waits for it
}

// An answer is a host's to one call.
type answer struct {
	result json.RawMessage
	err    error
	link   *link // that it came by; nil: it is not the host's
}

// newCall makes a call of a method with its params, without prefixes.
func newCall(method string, r *row, params json.RawMessage, ids []string) *call {
	c := &call{method: method, params: params, ids: ids, answer: make(chan answer, 1)}
	if r == nil {
		return c
	}
	all, err := membersOf(params)
	if err != nil {
		return c // the far server says what is wrong
	}
	c.owns = textOf(all, "owner") != ""
	if c.within = r.within; c.within > 0 {
		var ms float64
		if json.Unmarshal(find(all, "timeout_ms"), &ms) == nil {
			c.within = max(time.Duration(ms)*time.Millisecond, time.Millisecond)
		}
	}
	switch {
	case method == waitMany:
		c.again = latch
		c.probed = !plain(all)
	case method == "session.wait", method == "adapter.wait":
		c.again = latch
		if find(all, "since") != nil {
			c.probed = true // there is nothing to ask for
		}
	case r.reads:
		c.again = always
	case method == "session.input" && textOf(all, "id") != "":
		c.again = always // the far server types it once
	}
	return c
}

// copied returns a setting to send, whose answer nobody waits for.
func (c *call) copied() *call {
	return &call{method: c.method, params: c.params, on: func(answer) {}}
}

// deliver gives the call its one answer; others are dropped.
func (c *call) deliver(a answer) {
	if c.on != nil {
		c.on(a)
		return
	}
	select {
	case c.answer <- a:
	default:
	}
}

// probe returns the call that asks where a wait begins, nil for one that needs none.
func (c *call) probe(r *remote) *call {
	ask := map[string]any{"details": true}
	switch {
	case c.probed || c.on != nil:
		return nil
	case c.method == "session.wait" && len(c.ids) == 1:
		ask["session"] = c.ids[0]
	case c.method != waitMany:
		return nil
	}
	c.probed = true
	params, _ := json.Marshal(ask)
	return &call{method: "session.list", params: params, on: func(a answer) {
		var list struct {
			Details []struct {
				Session  string  `json:"session"`
				Name     string  `json:"name"`
				Sequence *uint64 `json:"sequence"`
			} `json:"details"`
		}
		if a.err != nil || json.Unmarshal(a.result, &list) != nil {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if c.method == "session.wait" {
			if len(list.Details) == 1 {
				c.since = list.Details[0].Sequence
			}
			return
		}
		c.sinces = map[string]uint64{}
		for _, d := range list.Details {
			if d.Sequence != nil {
				c.sinces[d.Session] = *d.Sequence
				if d.Name != "" {
					c.sinces[d.Name] = *d.Sequence
				}
			}
		}
	}}
}

// renew prepares a call for another link, and returns the calls to send: itself, and the latched
// twin of a wait that says no since. The twin counts only what is new since the wait began, which
// is not what a wait without a since asks; whatever both mean alike is found by one of them.
func (c *call) renew(r *remote, now time.Time) []*call {
	all, err := membersOf(c.params)
	if err != nil || c.began.IsZero() {
		return []*call{c}
	}
	if c.within > 0 {
		left := max(c.within-now.Sub(c.began), time.Millisecond)
		ms := strconv.AppendInt(nil, left.Milliseconds(), 10)
		all = with(all, "timeout_ms", ms)
	}
	if c.method == waitMany {
		all = c.renewMany(all)
	} else if c.again == latch && find(all, "since") != nil {
		all = with(all, "latched", []byte("true"))
	}
	c.params = objectOf(all)
	switch {
	case c.method != "session.wait", find(all, "since") != nil, negates(all):
		return []*call{c}
	case c.since == nil:
		c.probed = true
		return []*call{c, c.recall(r, now)}
	}
	return []*call{c, c.latched(r, all)}
}

// latched returns the twin of a wait whose beginning is known.
func (c *call) latched(r *remote, all []member) *call {
	all = with(all, "since", strconv.AppendUint(nil, *c.since, 10))
	c.twin = &call{method: c.method, params: objectOf(with(all, "latched", []byte("true"))),
		on: func(a answer) {
			if a.err == nil {
				r.finish(c, a)
			}
		}}
	return c.twin
}

// recall returns a call that asks what a session was like when a wait began whose link ended before
// that was known, and sends the wait's twin then.
func (c *call) recall(r *remote, now time.Time) *call {
	const rounding = 2 // milliseconds: both sides count whole ones
	ago := now.Sub(c.began).Milliseconds() + rounding
	params, _ := json.Marshal(map[string]any{"session": c.ids[0], "cells": "none",
		"at": map[string]int64{"ago_ms": ago}})
	return &call{method: "session.snapshot", params: params, on: func(a answer) {
		var then struct {
			Sequence *uint64 `json:"sequence"`
		}
		if a.err != nil || json.Unmarshal(a.result, &then) != nil || then.Sequence == nil {
			return // it is not kept: the wait finds what is shown, and what comes
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		all, err := membersOf(c.params)
		if err == nil && r.pending[c] && c.link != nil && c.link == r.link {
			c.since = then.Sequence
			r.link.send(c.latched(r, all))
		}
	}}
}

// kinds calls f with the type of each matcher of a tree.
func kinds(v any, f func(kind string)) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			kinds(e, f)
		}
	case map[string]any:
		if kind, ok := v["type"].(string); ok {
			f(kind)
		}
		for _, e := range v {
			kinds(e, f)
		}
	}
}

// lacks reports whether a matcher's tree is one, and has no matcher of these types.
func lacks(all []member, types ...string) bool {
	var matcher any
	if json.Unmarshal(find(all, "matcher"), &matcher) != nil {
		return false
	}
	ok := true
	kinds(matcher, func(kind string) { ok = ok && !slices.Contains(types, kind) })
	return ok
}

// negates reports whether a matcher may hold since something is not there, or for reasons of a
// plugin.
func negates(all []member) bool { return !lacks(all, "not", "lua") }

// plain reports whether a matcher holds for what is new alone exactly when it holds for all that is
// shown, given that it did not hold before: not when several things have to be there.
func plain(all []member) bool { return lacks(all, "not", "lua", "all", "screen") }

// do sends a call and returns its answer. It gives up the connection's turn once the call is sent
// or stands in the order in which it will be.
func (r *remote) do(ctx context.Context, c *call) (answer, error) {
	if err := r.submit(c); err != nil {
		return answer{}, err
	}
	protocol.Yield(ctx)
	return r.await(ctx, c)
}

// await returns the answer to a call that was submitted.
func (r *remote) await(ctx context.Context, c *call) (answer, error) {
	bound := answerBound
	if c.within > 0 {
		bound = c.within + lateBound
	}
	timer := time.NewTimer(bound)
	defer timer.Stop()
	defer r.forget(c)
	var nudged time.Time
	for {
		select {
		case a := <-c.answer:
			return a, a.err
		case <-ctx.Done():
			return r.cancel(c, context.Cause(ctx))
		case <-timer.C:
			switch {
			case nudged.IsZero() && r.nudge():
				nudged = time.Now()
				timer.Reset(lateBound)
			case !nudged.IsZero() && r.heardSince(nudged): // this takes its time
				nudged = time.Time{}
				timer.Reset(answerBound)
			default:
				return answer{}, r.expired(c)
			}
		}
	}
}

// expired is the error of a call whose host was away when its time was over.
func (r *remote) expired(c *call) error {
	r.mu.Lock()
	sent, link := !c.began.IsZero(), r.link
	why, away := r.whyLocked()
	began, since := c.began, map[string]uint64{}
	if began.IsZero() {
		began = r.asked
	}
	for _, id := range c.ids {
		full := r.host.Name + "/" + id
		if seq, ok := r.sequences[id]; ok {
			since[full] = seq
		} else if seq, ok := c.sinces[id]; ok {
			since[full] = seq
		} else if c.since != nil {
			since[full] = *c.since
		}
	}
	r.mu.Unlock()
	if c.again == latch {
		state := "down"
		if link != nil {
			state = string(LinkSilent)
		}
		lost := lostPart{Host: r.host.Name, Since: since, Reason: state,
			ForMS: time.Since(away).Milliseconds(), Sessions: []string{}}
		for _, id := range c.ids {
			lost.Sessions = append(lost.Sessions, r.host.Name+"/"+id)
		}
		return &timeoutError{elapsed: c.within, lost: lost}
	}
	if !sent {
		return &UnreachableError{Host: r.host.Name, Since: away, Err: why}
	}
	return &LostError{Host: r.host.Name, Since: away, Err: why}
}

// cancel ends a call whose client does not want it any longer, and returns the far server's answer
// if it comes soon: of a wait it has the evidence.
func (r *remote) cancel(c *call, cause error) (answer, error) {
	r.mu.Lock()
	link, id := c.link, c.id
	live := link != nil && r.link == link
	r.mu.Unlock()
	if !live {
		return answer{}, cause
	}
	if errors.Is(cause, protocol.ErrPeerGone) { // nobody reads the evidence
		link.cancel(id)
		return answer{}, cause
	}
	link.cancel(id)
	bound := time.NewTimer(cancelBound)
	defer bound.Stop()
	select {
	case a := <-c.answer:
		var refused *refusal
		if errors.As(a.err, &refused) && refused.code == codeCancelled {
			return a, fmt.Errorf("%w", a.err)
		}
		return a, a.err
	case <-link.ended:
	case <-bound.C:
	}
	return answer{}, cause
}

// finish delivers the answer of a wait's twin, and ends the wait itself.
func (r *remote) finish(c *call, a answer) {
	c.deliver(a)
	r.mu.Lock()
	link, id := c.link, c.id
	r.mu.Unlock()
	if link != nil {
		link.cancel(id)
	}
}
