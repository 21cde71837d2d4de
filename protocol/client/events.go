package client

import (
	"context"
	"time"
)

// A SessionEvent is one thing that happened to a session: input, a wait, a command, a lease, a
// resize, what was hidden, an adapter's state, a bell, a title, the end. docs/wire.md has the kinds
// and their members. It never holds what was typed.
type SessionEvent struct {
	// ID stays the same while the event goes on; one that has ended or grown comes again with a
	// higher Seq.
	ID        uint64    `json:"event"`
	Seq       uint64    `json:"seq"`
	Kind      string    `json:"kind"`
	State     string    `json:"state"` // pending, running and held go on; "": it is a moment
	At        time.Time `json:"at"`
	Sequence  uint64    `json:"sequence"`
	Until     time.Time `json:"until"` // when it ended, or grew last; zero: it goes on
	Last      uint64    `json:"until_sequence"`
	By        string    `json:"by"` // who; "": not known
	What      string    `json:"what"`
	Text      string    `json:"text"`
	Evidence  string    `json:"evidence"` // of a wait: what matched or was lacking
	Previous  string    `json:"previous"`
	TimeoutMS int64     `json:"timeout_ms"` // of a wait; 0: no limit
	Bytes     int       `json:"bytes"`
	Keys      []string  `json:"keys"`
	Secret    bool      `json:"secret"`
	Count     int       `json:"count"`
	Number    uint64    `json:"number"`
	Rows      int       `json:"rows"`
	Cols      int       `json:"cols"`
	ExitCode  *int      `json:"exit_code"`
	Signal    string    `json:"signal"`
	Limit     string    `json:"limit"`
}

// GoesOn reports whether the event has not ended yet.
func (e *SessionEvent) GoesOn() bool {
	return e.State == "pending" || e.State == "running" || e.State == "held"
}

// Events returns what has happened to the session since an event was noted (0: all that is kept),
// secrets hidden, and what to pass next time. dropped says that some of it is not kept. Errors are
// *[Error], or of the connection.
func (s *Session) Events(ctx context.Context, since uint64) (events []SessionEvent, next uint64,
	dropped bool, err error) {
	var r struct {
		Events  []SessionEvent `json:"events"`
		Next    uint64         `json:"next"`
		Dropped bool           `json:"dropped"`
	}
	err = s.client.Call(ctx, "session.events", map[string]any{"session": s.ID(), "since": since}, &r)
	return r.Events, r.Next, r.Dropped, err
}
