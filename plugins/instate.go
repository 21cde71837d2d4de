package plugins

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
)

// InState makes a matcher that holds while an adapter says one of the states. of finds the adapter
// at each check, and returns nil while there is none: then nothing holds. Ctx is that of the
// matcher's request, as for [Catalog.Predicate].
//
// The adapter is asked as [Adapter.Look] asks it, and about a view of the past as [Adapter.Recall]
// does. In a flood it is asked once in 25 ms, as the host asks it by itself. With a position a state
// counts once something has come after it.
func InState(ctx context.Context, of func() *Adapter, states []string) matchers.Matcher {
	return &inState{ctx: ctx, of: of, states: slices.Clone(states)}
}

type inState struct {
	ctx    context.Context
	of     func() *Adapter
	states []string
	asked  time.Time // when the adapter was asked last and was in none of the states; zero: not yet
}

// String says in words what is waited for.
func (m *inState) String() string {
	words := m.states[0]
	for _, s := range m.states[1:] {
		words += " or " + s
	}
	return "its adapter says " + words
}

// Check asks the adapter. It blocks as a predicate does.
func (m *inState) Check(v *engine.View) engine.Result {
	a := m.of()
	if a == nil || old(v) {
		return engine.Result{}
	}
	early := keepFloor - v.At.Sub(m.asked)
	if early > 0 && !m.asked.IsZero() && !v.Past && !v.Ended {
		return engine.Result{Recheck: early}
	}
	s := m.look(m.ctx, a, v)
	r := engine.Result{Recheck: s.recheck}
	if v.Ended && v.StableFor() >= endedRecheck {
		r.Recheck = 0 // or the wait would never end with the session
	}
	if !slices.Contains(m.states, s.State) {
		if m.asked = v.At; v.Past {
			m.asked = time.Time{}
		}
		return r
	}
	r.Match = &engine.Match{Kind: "state", Text: s.State, Plugin: a.Plugin().Manifest.Name}
	if s.Evidence != "" {
		r.Match.Evidence = s.Evidence
	}
	return r
}

func (m *inState) look(ctx context.Context, a *Adapter, v *engine.View) *State {
	if v.Past {
		return a.Recall(ctx, v)
	}
	return a.Look(ctx, v)
}

// Explain says in which state the program is instead.
func (m *inState) Explain(v *engine.View, _ matchers.Shown) matchers.Explanation {
	value := make([]any, len(m.states)) // as in the tree
	for i, s := range m.states {
		value[i] = s
	}
	e := matchers.Explanation{Type: "state", Value: value}
	a := m.of()
	switch {
	case a == nil:
		e.Why = "no adapter drives the session"
		return e
	case old(v):
		e.Why = fmt.Sprintf("nothing has changed after sequence %d", v.Since.Last())
		return e
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), Brief)
	defer cancel()
	s := m.look(ctx, a, v)
	e.Held = slices.Contains(m.states, s.State)
	e.Why = "the state is " + s.State
	if s.Evidence != "" {
		e.Why += ": " + s.Evidence
	}
	return e
}
