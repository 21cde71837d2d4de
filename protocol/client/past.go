package client

import (
	"context"
	"encoding/json"
	"time"
)

// Then is what a read [At] a [Moment] says of it beside its sequence.
type Then struct {
	ShownAt    time.Time `json:"shown_at"`     // when the session came to the sequence; zero: it is now
	KeptFrom   uint64    `json:"kept_from"`    // the oldest sequence that can be shown
	KeptFromAt time.Time `json:"kept_from_at"` // when the session came to that
}

// A Moment is one of a session's past: [At] a sequence, [Ago], or [AtTime]. It is an option of
// [Session.Screen].
type Moment struct{ value any }

// At is the moment at which the session had come to a sequence.
func At(sequence uint64) Moment { return Moment{sequence} }

// Ago is a time before now, to the millisecond; the server counts from when it gets the request.
func Ago(d time.Duration) Moment {
	return Moment{map[string]int64{"ago_ms": max(d, 0).Milliseconds()}}
}

// AtTime is a time by the server's clock.
func AtTime(t time.Time) Moment { return Moment{map[string]time.Time{"time": t}} }

// MarshalJSON writes m as the wire has it.
func (m Moment) MarshalJSON() ([]byte, error) { return json.Marshal(m.value) }

// IsZero reports whether m is no moment.
func (m Moment) IsZero() bool { return m.value == nil }

func (m Moment) reads(p *readParams) { p.At = m }

// HistoryOptions say what [Session.History] looks at, and which spans it returns.
type HistoryOptions struct {
	Since Moment // only moments after it; zero: all that are kept
	Until Moment // only moments up to it; zero: up to now
	First bool   // only the first span
	Last  bool   // only the last one
	Max   int    // at most so many; 0: all
	// Timeout is how long the matcher may take for one moment; 0: 30 seconds.
	Timeout    time.Duration
	Unredacted bool
}

// A History is what [Session.History] has found.
type History struct {
	Spans    []Span
	KeptFrom uint64 // the oldest sequence that could be shown
	// Complete: all that was asked about was looked at. Otherwise part of it had been dropped.
	Complete bool
}

// A Span is a stretch of time in which a matcher held.
type Span struct {
	From     uint64        // the first sequence in which it held
	To       *uint64       // the first one after it in which it did not; nil: it held to the end
	FromAt   time.Time     // when the session came to From
	ToAt     time.Time     // when it came to To, or to the end of what was looked at
	Held     time.Duration // how long that is, to the millisecond
	Outcome  Outcome       // what matched first
	Snapshot Snapshot      // the screen on which it did
}

// UnmarshalJSON reads a span of session.history.
func (s *Span) UnmarshalJSON(b []byte) error {
	var w struct {
		From     uint64    `json:"from"`
		To       *uint64   `json:"to"`
		FromAt   time.Time `json:"from_at"`
		ToAt     time.Time `json:"to_at"`
		MS       int64     `json:"ms"`
		Outcome  Outcome   `json:"outcome"`
		Snapshot Snapshot  `json:"snapshot"`
	}
	err := json.Unmarshal(b, &w)
	*s = Span{w.From, w.To, w.FromAt, w.ToAt, millis(w.MS), w.Outcome, w.Snapshot}
	return err
}

type historyParams struct {
	named
	Matcher   Matcher `json:"matcher"`
	Since     Moment  `json:"since,omitzero"`
	Until     Moment  `json:"until,omitzero"`
	Which     string  `json:"which"`
	Max       int     `json:"max,omitempty"`
	TimeoutMS int64   `json:"timeout_ms,omitempty"`
	Redact    *bool   `json:"redact,omitempty"`
	Next      string  `json:"next,omitempty"`
}

type historyResult struct {
	Spans    []Span `json:"spans"`
	KeptFrom uint64 `json:"kept_from"`
	Complete bool   `json:"complete"`
	Next     string `json:"next"`
}

// History returns when m held in the session's past, and for how long, in order. The question is
// about the screen at each moment, also at those of what a program drew and wiped at once. It makes
// as many requests as that takes, each of which does a bounded amount of work.
//
// Errors: [ErrMomentNotKept], [ErrInvalidMatcher], [ErrTimeout] when m takes too long for one
// moment.
func (s *Session) History(ctx context.Context, m Matcher, o HistoryOptions) (*History, error) {
	p := historyParams{named: s.named(), Matcher: m, Since: o.Since, Until: o.Until, Which: "all",
		TimeoutMS: o.Timeout.Milliseconds()}
	switch {
	case o.First:
		p.Which = "first"
	case o.Last:
		p.Which = "last"
	}
	if o.Timeout > 0 && p.TimeoutMS == 0 {
		p.TimeoutMS = 1
	}
	if o.Unredacted {
		p.Redact = new(bool)
	}
	h := &History{}
	for {
		if o.Max > 0 && !o.Last {
			p.Max = min(o.Max-len(h.Spans), 50)
		}
		r, err := result[historyResult](ctx, s.client, "session.history", p)
		if err != nil {
			return nil, err
		}
		if o.Last && len(r.Spans) > 0 {
			h.Spans = nil
		}
		h.Spans = append(h.Spans, r.Spans...)
		h.KeptFrom, h.Complete = r.KeptFrom, r.Complete
		enough := o.First && len(h.Spans) > 0 || o.Max > 0 && !o.Last && len(h.Spans) >= o.Max
		if r.Next == "" || enough {
			return h, nil
		}
		p.Next = r.Next
	}
}
