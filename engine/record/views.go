package record

import (
	"iter"
	"time"

	"github.com/ptywright/ptywright/engine"
)

// Views goes on to the recording's end, and yields each view that its session gave: the one before
// the first event, those at the moments within each output and after it, one after each other event
// that may show something, one when an update that did not end in time is shown, and one at the end.
// [Replay.Err] says whether it got there.
func (p *Replay) Views() iter.Seq[*engine.View] {
	return func(yield func(*engine.View) bool) {
		look := func() bool { return yield(p.stage.View(began.Add(p.now))) }
		if !look() {
			return
		}
		for p.next < p.rec.Len() {
			e := p.rec.Event(p.next)
			if due := p.stage.Due(); !due.IsZero() && due.Before(began.Add(e.At)) {
				if p.now = max(p.now, due.Sub(began)); !look() {
					return
				}
			}
			goesOn := true
			if _, ok := p.step(func(v *engine.View) bool { goesOn = yield(v); return goesOn }); !ok || !goesOn {
				return
			}
			if (e.Kind == EventResize || e.Kind == EventExit) && !look() {
				return
			}
		}
		look() // time alone may have changed an answer
	}
}

// A Span is an [engine.Span] of a recording, in its own time.
type Span struct {
	engine.Span
	From, To time.Duration // since the recording began
}

// When returns when a matcher held, in order: see [engine.Spans]. The error ends it: the matcher's,
// or that of [Replay.Err].
func (r *Recording) When(m engine.Matcher) iter.Seq2[Span, error] {
	return func(yield func(Span, error) bool) {
		p := newReplay(r)
		for s, err := range engine.Spans(p.Views(), m) {
			if err != nil {
				yield(Span{}, err)
				return
			}
			if s.Open && p.Err() != nil {
				break // its end is not known
			}
			if !yield(Span{Span: s, From: s.FromAt.Sub(began), To: s.ToAt.Sub(began)}, nil) {
				return
			}
		}
		if err := p.Err(); err != nil {
			yield(Span{}, err)
		}
	}
}
