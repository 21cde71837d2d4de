package native

import (
	"context"
	"math"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/redact"
)

type sessionEventsParams struct {
	sessionParams
	readParams
	Since uint64 `json:"since,omitempty" jsonschema:"only events that were noted after this seq; default 0, all that are kept"`
	Max   *int64 `json:"max,omitempty" jsonschema:"the oldest so many; default 500"`
}

type sessionEventsResult struct {
	Events  []engine.Event `json:"events" jsonschema:"by seq: one that has ended or grown stands where that was noted"`
	Next    uint64         `json:"next" jsonschema:"for the next since"`
	Dropped bool           `json:"dropped,omitzero" jsonschema:"some after since are not kept"`
}

type eventParams struct {
	Session string       `json:"session"`
	Event   engine.Event `json:"event"`
	Dropped bool         `json:"dropped,omitzero" jsonschema:"some before it are not kept: the client was too slow"`
}

// defaultEvents is how many events are told without a count: as many as a session keeps.
const defaultEvents = 500

func (c *client) sessionEvents(_ context.Context, p sessionEventsParams) (sessionEventsResult, error) {
	most, err := count("max", p.Max, defaultEvents)
	if err != nil {
		return sessionEventsResult{}, err
	}
	s, err := c.session(p.sessionParams)
	if err != nil {
		return sessionEventsResult{}, err
	}
	events, next, dropped := s.Events(p.Since, most)
	c.clean(s, p.redactor(), events)
	return sessionEventsResult{Events: append([]engine.Event{}, events...), Next: next,
		Dropped: dropped}, nil
}

// clean redacts events in place.
func (c *client) clean(s *engine.Session, hide *redact.Redactor, events []engine.Event) {
	if len(events) == 0 {
		return
	}
	l := newLook(s.View(), hide, "none")
	if a := c.Catalog.Owner(s.ID()); a != nil {
		l.Secrets = a.Secrets
	}
	for i := range events {
		events[i] = events[i].Clean(l.Piece)
	}
}

// noted returns the newest event of each session.
func noted(e *engine.Engine) map[engine.ID]uint64 {
	all := map[engine.ID]uint64{}
	for _, s := range e.List() {
		_, all[s.ID()], _ = s.Events(math.MaxUint64, 0)
	}
	return all
}

// events writes what was noted of a session since the last pass. What goes on and ends between two
// passes is told once.
func (n *notifier) events(ctx context.Context, cur *cursor) error {
	if !n.filter.events {
		return nil
	}
	events, next, dropped := cur.session.Events(cur.noted, defaultEvents)
	cur.noted = next
	n.client.clean(cur.session, n.filter.hide, events)
	for i, e := range events {
		p := eventParams{Session: string(cur.session.ID()), Event: e, Dropped: dropped && i == 0}
		if err := n.notify(ctx, noteEvent, p); err != nil {
			return err
		}
	}
	return nil
}

// A lately is what a list tells of what happened to a session: what somebody looks for who has
// many.
type lately struct {
	Waits   []engine.Event `json:"waits,omitempty" jsonschema:"who waits for what: the oldest of the waits that are pending, at most 8"`
	Command *engine.Event  `json:"command,omitempty" jsonschema:"the command that runs, or ran last, in a shell that marks them"`
	Bell    *time.Time     `json:"bell,omitempty" jsonschema:"when it rang last"`
	Typed   *time.Time     `json:"typed,omitempty" jsonschema:"when somebody typed last"`
}

// mostWaits bounds the pending waits in a list.
const mostWaits = 8

// lately is what the session's events say.
func (c *client) lately(s *engine.Session, hide *redact.Redactor) (l lately) {
	events, _, _ := s.Events(0, math.MaxInt)
	var shown []engine.Event
	for i := range events {
		switch e := &events[i]; e.Kind {
		case engine.EventWait:
			if e.GoesOn() && len(shown) < mostWaits {
				shown = append(shown, *e)
			}
		case engine.EventCommand:
			l.Command = e
		case engine.EventBell:
			at := e.Until.UTC()
			l.Bell = &at
		case engine.EventInput:
			at := e.Until.UTC()
			l.Typed = &at
		}
	}
	if l.Command != nil {
		command := []engine.Event{*l.Command}
		c.clean(s, hide, command)
		l.Command = &command[0]
	}
	c.clean(s, hide, shown)
	l.Waits = shown
	return l
}
