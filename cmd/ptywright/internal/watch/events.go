package watch

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/redact"
)

const (
	// eventRest is how long the list waits for more when a session has noted an event: typing and
	// waits come many in a second, and marks are for a glance.
	eventRest = time.Second
	// changedStep is how exactly a list tells when a screen last changed: a list that differs with
	// every line of output would be sent for each.
	changedStep = 5 * time.Second
	// maxPast bounds the events of a recording that a page gets: the newest.
	maxPast = 5000
)

type eventsParams struct {
	named
	Since *uint64 `json:"since,omitempty"` // the seq that the page has; nil: it has not asked yet
}

// events waits for events of a session that the page does not have. The first answer does not wait: a
// session may have none.
func (p *page) events(ctx context.Context, q eventsParams) (any, error) {
	for asked := false; ; asked = true {
		seq, noted := p.index.noted(q.Session)
		if !asked || q.Since != nil && seq > *q.Since {
			var r struct {
				Events  []json.RawMessage `json:"events"`
				Next    uint64            `json:"next"`
				Dropped bool              `json:"dropped,omitempty"`
			}
			if err := p.native.Call(ctx, "session.events", q, &r); err != nil {
				return nil, err
			}
			if len(r.Events) > 0 || q.Since == nil {
				return r, nil
			}
		}
		select {
		case <-noted:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// noted returns the newest event of a session that was told of, and a channel that is closed when
// one of any session is told of.
func (x *index) noted(session string) (seq uint64, next <-chan struct{}) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seqs[session], x.news
}

// note takes an event: whoever reads those of its session is woken, and the list read soon.
func (x *index) note(session string, seq uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seqs[session] = seq
	close(x.news)
	x.news = make(chan struct{})
	if x.soon == nil {
		x.soon = time.AfterFunc(eventRest, func() {
			x.mu.Lock()
			x.soon = nil
			x.mu.Unlock()
			x.touch()
		})
	}
}

// A moment is an event of a recording as a page gets it: in the shape of the wire's events.
type moment struct {
	AtMS  float64 `json:"at_ms"` // in the recording
	Event any     `json:"event"`
}

// momentsOf are the newest events of a recording, as many as a page gets.
func momentsOf(rec *record.Recording, hide *redact.Redactor) (all []moment) {
	for at, e := range rec.Moments(maxPast) {
		all = append(all, moment{milliseconds(at), e.Clean(hide.String)})
	}
	return all
}
