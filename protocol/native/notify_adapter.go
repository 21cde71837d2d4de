package native

import (
	"context"
	"math"
)

// A stateCursor is how far one adapter has been sent.
type stateCursor struct {
	events uint64 // see adapter.events
	state  string
}

// adapterStates returns how far each adapter is.
func (c *client) adapterStates() map[string]*stateCursor {
	all := map[string]*stateCursor{}
	for _, a := range c.Catalog.Adapters() {
		_, next, _ := a.Events(math.MaxUint64)
		all[a.ID()] = &stateCursor{}
		if next > 0 {
			all[a.ID()] = &stateCursor{next, a.State().State}
		}
	}
	return all
}

// adapters sends each adapter's state that differs from the one sent last. States between two
// passes are in adapter.events.
func (n *notifier) adapters(ctx context.Context) error {
	live := map[string]bool{}
	for _, a := range n.client.Catalog.Adapters() {
		live[a.ID()] = true
		cur, ok := n.states[a.ID()]
		if !ok {
			cur = &stateCursor{}
			n.states[a.ID()] = cur
		}
		if !n.filter.wants(a.Session(), a.ID()) {
			continue
		}
		s := a.State()
		_, next, _ := a.Events(math.MaxUint64)
		if next == 0 || s.State == cur.state && next == cur.events { // 0: it is being started
			continue
		}
		p := adapterChangedParams{
			Adapter: a.ID(), Plugin: a.Plugin().Manifest.Name, Session: string(a.Session().ID()),
			Sequence: s.Sequence, State: s.State, Previous: cur.state, Events: next,
		}
		cur.state, cur.events = s.State, next
		if n.filter.hide != nil {
			l := adapterLook(a, a.Session().View(), n.filter.hide)
			p.State, p.Previous = l.Piece(p.State), l.Piece(p.Previous)
		}
		if err := n.notify(ctx, noteAdapter, p); err != nil {
			return err
		}
	}
	for id := range n.states {
		if !live[id] {
			delete(n.states, id)
		}
	}
	return nil
}

type adapterChangedParams struct {
	Adapter  string `json:"adapter"`
	Plugin   string `json:"plugin"`
	Session  string `json:"session"`
	Sequence uint64 `json:"sequence"`
	State    string `json:"state" jsonschema:"the state's name"`
	Previous string `json:"previous,omitempty" jsonschema:"the state that was told last; the same when something else happened in the turn"`
	Events   uint64 `json:"events" jsonschema:"the seq of the newest event in adapter.events"`
}
