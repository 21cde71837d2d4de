package native

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/protocol"
)

type historyParams struct {
	sessionParams
	readParams
	Matcher   matcherTree `json:"matcher" jsonschema:"an object with type and, where the type needs one, value; it is asked about the screen of each moment"`
	Since     *moment     `json:"since,omitempty" jsonschema:"only moments after it; default: all that are kept"`
	Until     *moment     `json:"until,omitempty" jsonschema:"only moments up to it; default: up to now"`
	Which     string      `json:"which,omitempty" jsonschema:"first (default), last or all"`
	Max       *int64      `json:"max,omitempty" jsonschema:"most spans to return; default 50"`
	TimeoutMS *int64      `json:"timeout_ms,omitempty" jsonschema:"how long the matcher may take for one moment; default 30000"`
	Next      *mark       `json:"next,omitempty" jsonschema:"of an answer to the same question: goes on there"`
}

type historyResult struct {
	Spans    []span `json:"spans"`
	KeptFrom uint64 `json:"kept_from" jsonschema:"the oldest sequence that can be shown"`
	Complete bool   `json:"complete" jsonschema:"everything that was asked about was looked at: nothing of it was gone, and there is no next"`
	Next     *mark  `json:"next,omitempty" jsonschema:"there is more to look at: ask again with it"`
}

// A span is a stretch of time in which a matcher held.
type span struct {
	From     uint64    `json:"from"`
	To       *uint64   `json:"to"`
	FromAt   time.Time `json:"from_at"`
	ToAt     time.Time `json:"to_at"`
	MS       int64     `json:"ms"`
	Outcome  *outcome  `json:"outcome"`
	Snapshot *look     `json:"snapshot"`
}

// Bounds of one answer: the work for it is no longer than a request that does not wait may take,
// and what it says is easily read at once.
const (
	mostViews    = 1000
	mostWork     = 200 * time.Millisecond
	mostSpanText = 4 << 20 // bytes of snapshots
)

// A mark is where a search of the past goes on. It is a value: the server keeps nothing.
type mark struct {
	since, to uint64 // what is asked about: after since, up to to
	whole     bool   // since itself, too
	asked     place  // what the matcher was asked about last
	open      place  // where it began to hold, with held
	held      bool
	missed    bool // something that was asked about was gone
}

// A place is a view of the past: the end of a step, or a moment of it, from 1.
type place struct {
	seq, moment uint64
	after       time.Duration // so long after the view the matcher was asked about it
}

// MarshalJSON writes m in the form that UnmarshalJSON reads.
func (m *mark) MarshalJSON() ([]byte, error) {
	flags := 0
	for i, set := range []bool{m.whole, m.held, m.missed} {
		if set {
			flags |= 1 << i
		}
	}
	return fmt.Appendf(nil, `"h%d-%d-%d-%d-%d-%d-%d-%d-%d"`, m.since, m.to,
		m.asked.seq, m.asked.moment, m.asked.after, m.open.seq, m.open.moment, m.open.after,
		flags), nil
}

// UnmarshalJSON reads it.
func (m *mark) UnmarshalJSON(b []byte) error {
	text, ok := strings.CutPrefix(strings.Trim(string(b), `"`), "h")
	parts := strings.Split(text, "-")
	var n [9]uint64
	ok = ok && len(parts) == len(n)
	for i := 0; ok && i < len(n); i++ {
		v, err := strconv.ParseUint(parts[i], 10, 63)
		n[i], ok = v, err == nil
	}
	*m = mark{since: n[0], to: n[1], asked: place{n[2], n[3], time.Duration(n[4])},
		open:  place{n[5], n[6], time.Duration(n[7])},
		whole: n[8]&1 != 0, held: n[8]&2 != 0, missed: n[8]&4 != 0}
	if !ok || n[8] > 7 || m.asked.seq > m.to || m.asked.seq < m.since ||
		m.held && (m.open.seq > m.asked.seq || m.open.seq < m.since) {
		return &protocol.ParamError{Expected: "the next of an answer of session.history",
			Got: protocol.Got(strings.Trim(string(b), `"`))}
	}
	return nil
}

func (c *client) sessionHistory(ctx context.Context, p historyParams) (*historyResult, error) {
	defer yieldLater(ctx).Stop()
	which, err := word("which", p.Which, whichFirst)
	if err != nil {
		return nil, err
	}
	most, err := count("session.history max", p.Max, 50)
	if err != nil {
		return nil, err
	}
	timeout, err := milliseconds("timeout_ms", p.TimeoutMS, engine.DefaultWait)
	if err != nil {
		return nil, err
	}
	value, err := tree("matcher", p.Matcher.RawMessage)
	if err != nil {
		return nil, err
	}
	asking := &asking{catalog: c.Catalog, ctx: ctx}
	defer asking.stop()
	o := c.matchers
	o.Predicates, o.States, o.Locators.Guesser = asking, asking, asking
	o.Scope = matchers.OnScreen
	o.Screen = shownBy(p.redactor(), asking)
	m, err := matchers.Parse(value, o)
	if err != nil {
		return nil, err
	}
	s, err := c.session(p.sessionParams)
	if err != nil {
		return nil, err
	}
	asking.session = s
	h := &search{s: s, m: m, ctx: ctx, timeout: timeout, began: time.Now(), toNow: p.Until == nil}
	if p.Next != nil {
		h.mark = *p.Next
	} else if err := h.start(p.Since, p.Until); err != nil {
		return nil, err
	}
	look := func(v *engine.View) *look {
		l := newLook(v, p.redactor(), "none")
		l.Secrets = asking.secrets()
		return l
	}
	r := &historyResult{Spans: []span{}}
	size := 0
	for found, err := range h.spans(p.Next != nil) {
		switch {
		case err != nil:
			return nil, h.failure(err, look)
		case found.Open && h.full:
			continue // the next answer has its end
		}
		l := look(found.View)
		x := span{From: found.From, FromAt: found.FromAt.UTC(), ToAt: found.ToAt.UTC(),
			MS: found.Length().Milliseconds(), Outcome: l.outcome(found.Match), Snapshot: l}
		if !found.Open {
			x.To = &found.To
		}
		if which == whichLast {
			r.Spans = r.Spans[:0]
		}
		r.Spans = append(r.Spans, x)
		size += l.guess()
		if which == whichFirst || found.Open {
			break
		}
		if which == whichAll && (len(r.Spans) == most || size > mostSpanText) {
			h.full = true
			break
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r.KeptFrom = s.Kept()
	r.Complete = !h.missed && !h.full
	if h.full {
		r.Next = &h.mark
	}
	return r, nil
}

// The values of which.
const (
	whichFirst = "first"
	whichLast  = "last"
	whichAll   = "all"
)

// A search is one call of session.history. It is the matcher that was sent, watched, so that
// another call can go on where this one ended.
type search struct {
	mark
	s       *engine.Session
	m       matchers.Matcher
	ctx     context.Context
	timeout time.Duration // for one question
	began   time.Time
	toNow   bool // the screen has been as it is up to now

	checked time.Time    // when the matcher was asked last
	shown   *engine.View // the view that was yielded last, which is at a place
	at      place
	shownAt time.Time // without after
	askedAt time.Time // of the view of asked, likewise
	views   int       // that were yielded
	full    bool      // there is no time for more of them
}

// start finds out what is asked about.
func (h *search) start(since, until *moment) error {
	kept, newest := h.s.Kept(), h.s.Sequence()
	h.since, h.to, h.whole = kept, newest, true
	if since != nil {
		seq, err := since.of(h.s)
		var gone *engine.PastTimeError
		switch {
		case errors.As(err, &gone) && gone.At.Before(gone.KeptAt):
			h.missed = !gone.Begun
		case err != nil:
			return err
		case seq > newest:
			return &engine.PastError{Sequence: seq, Kept: kept, Newest: newest}
		case seq < kept:
			h.missed = seq+1 < kept
		default:
			h.since, h.whole = seq, false
		}
	}
	if until != nil {
		seq, err := until.of(h.s)
		switch {
		case err != nil:
			return err
		case seq > newest || seq < kept:
			return &engine.PastError{Sequence: seq, Kept: kept, Newest: newest}
		}
		h.to = max(seq, h.since)
	}
	h.asked.seq = h.since
	return nil
}

// spans yields the spans that are found now. With again the search goes on after another call.
func (h *search) spans(again bool) iter.Seq2[engine.Span, error] {
	var last *engine.View
	var open *engine.Span
	base := h.viewOf(place{seq: h.since})
	if base != nil && (again || !h.whole) {
		h.checked = time.Now()
		h.m.Check(base) // what counts from the first view on, such as a bell, counts from here
	}
	if again {
		last = h.viewOf(h.asked)
		if h.held {
			if v := h.viewOf(h.open); v != nil && last != nil {
				h.checked = time.Now()
				if r := h.m.Check(v); r.Match != nil {
					open = &engine.Span{From: v.Sequence, FromAt: v.At, Match: r.Match, View: v}
				}
			}
		}
		h.held = open != nil
		h.missed = h.missed || last == nil
		if last != nil {
			h.shown, h.at, h.shownAt = last, h.asked, last.At.Add(-h.asked.after)
		}
	} else if h.whole && base == nil {
		h.missed = true
	}
	return engine.SpansAfter(last, open, h.past(base, again), h)
}

// viewOf returns a view of the past, at the time at which the matcher was asked about it; nil when
// it is gone.
func (h *search) viewOf(p place) *engine.View {
	var v *engine.View
	if p.moment == 0 {
		v, _ = h.s.At(p.seq)
	} else {
		n := uint64(0)
		for m := range h.s.Past(p.seq-1, p.seq) {
			if n++; n == p.moment && m.Moment && m.Sequence == p.seq {
				v = m
				break
			}
		}
	}
	if v == nil {
		return nil
	}
	v = v.With(h.goesOn)
	v.At = v.At.Add(p.after)
	return v
}

// past yields the views that are to be looked at, as long as there is time. base is the view of
// since.
func (h *search) past(base *engine.View, again bool) iter.Seq[*engine.View] {
	return func(yield func(*engine.View) bool) {
		show := func(v *engine.View, at place, now time.Time) bool {
			if h.views > 0 && (h.views == mostViews || time.Since(h.began) > mostWork) ||
				h.ctx.Err() != nil {
				h.full = true
				return false
			}
			h.views++
			h.shown, h.at, h.shownAt = v.With(h.goesOn), at, v.At
			if !now.IsZero() {
				h.shown.At = now
			}
			return yield(h.shown)
		}
		newest := base
		if h.whole && !again && base != nil &&
			!show(base, place{seq: h.since}, time.Time{}) {
			return
		}
		// A step of which some moments are left is made once more.
		from, next, skip := h.asked.seq, h.asked.seq+1, uint64(0)
		if h.asked.moment > 0 {
			from, next, skip = from-1, from, h.asked.moment
		}
		at := place{seq: next}
		for v := range h.s.Past(from, h.to) {
			if v.Sequence != at.seq {
				at = place{seq: v.Sequence}
			}
			h.missed = h.missed || v.Sequence > next
			if next = v.Sequence; v.Moment {
				if at.moment++; v.Sequence == from+1 && at.moment <= skip {
					continue
				}
			} else {
				next++
				at.moment = 0
			}
			newest = v
			if !show(v, at, time.Time{}) {
				return
			}
		}
		h.missed = h.missed || next <= h.to
		if newest == nil {
			newest = h.viewOf(place{seq: h.to})
		}
		if h.toNow && newest != nil && newest.Sequence == h.to && h.s.Sequence() == h.to {
			show(newest, place{seq: h.to}, time.Now())
		}
	}
}

// Check asks the matcher, and notes where it began to hold.
func (h *search) Check(v *engine.View) engine.Result {
	h.checked = time.Now()
	r := h.m.Check(v)
	if v == h.shown {
		h.asked, h.askedAt = h.at, h.shownAt
	}
	h.asked.after = v.At.Sub(h.askedAt)
	if r.Match != nil && !h.held {
		h.open = h.asked
	}
	h.held = r.Match != nil
	return r
}

// goesOn is the patience of the matcher.
func (h *search) goesOn() bool {
	return h.ctx.Err() == nil && time.Since(h.checked) < max(h.timeout, time.Millisecond)
}

// failure is the error of a matcher that has none of the answers, with the view it was asked about.
func (h *search) failure(err error, look func(*engine.View) *look) error {
	switch {
	case h.ctx.Err() != nil:
		return context.Cause(h.ctx)
	case errors.Is(err, engine.ErrInterrupted):
		err = fmt.Errorf("%w: the matcher took longer than %v for sequence %d alone: "+
			"give it a larger timeout_ms, or make it simpler", engine.ErrTimeout, h.timeout,
			h.shown.Sequence)
	}
	l := look(h.shown)
	return &waitError{err: err, evidence: &evidence{look: l, elapsed: time.Since(h.began),
		quiet: h.shown.At.Sub(h.shown.Changed), matcher: h.m.Explain(h.shown, l.shown())}}
}
