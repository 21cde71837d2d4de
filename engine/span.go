package engine

import (
	"iter"
	"time"
)

// A Span is a stretch of a session's past in which a matcher held without a break.
type Span struct {
	// From is the sequence of the first view in which it held, To that of the first later one in
	// which it no longer did. They are equal when it held only within one batch of output. To is 0
	// when it still held in the last view.
	From, To uint64
	// FromAt and ToAt are the times of these views, or between two views the time at which the
	// matcher said that it would hold. A span without an end lasts to the last view.
	FromAt, ToAt time.Time
	Match        *Match // what held in the first view
	View         *View  // the first view
	Open         bool   // it still held in the last view
}

// Length is how long the matcher held, as far as it was watched.
func (s *Span) Length() time.Duration { return s.ToAt.Sub(s.FromAt) }

// Spans asks a matcher each of a session's views, in order, and yields the spans in which it held,
// each as soon as it has ended. A matcher whose answer changes with time alone, such as that for a
// still screen, is asked between two views as well, when it says so ([Result].Recheck).
//
// A view that is in no wait remembers nothing: text counts only while it is on the screen, so a
// span ends when its text has scrolled off. What a program has written stays written: a matcher of
// output holds from then on.
//
// A matcher that can never answer ends the sequence with its error beside an empty span; what came
// before it is yielded.
func Spans(views iter.Seq[*View], m Matcher) iter.Seq2[Span, error] {
	return SpansAfter(nil, nil, views, m)
}

// SpansAfter is [Spans] that goes on after another: last is the view that was asked about last, nil
// when none was, and open the span that had begun and not ended by then, nil when m did not hold.
// A matcher that is not the one of before is asked about last once more.
func SpansAfter(last *View, open *Span, views iter.Seq[*View], m Matcher) iter.Seq2[Span, error] {
	return func(yield func(Span, error) bool) {
		var w spanning
		if last != nil {
			w.note(last, m.Check(last))
		}
		if open != nil {
			w.span, w.held = *open, true
		}
		for v := range views {
			for between := range w.between(v) {
				if !w.look(between, m, yield) {
					return
				}
			}
			if !w.look(v, m, yield) {
				return
			}
		}
		if w.held {
			w.span.ToAt, w.span.Open = w.last.At, true
			yield(w.span, nil)
		}
	}
}

// spanning is the state of [Spans] between two views.
type spanning struct {
	pacer
	span Span
	held bool // span has begun
}

// look asks about one view. It returns false when there is nothing more to do.
func (w *spanning) look(v *View, m Matcher, yield func(Span, error) bool) bool {
	r := m.Check(v)
	w.note(v, r)
	switch {
	case r.Err != nil:
		if w.held {
			w.span.ToAt, w.span.Open = v.At, true
			if !yield(w.span, nil) {
				return false
			}
		}
		yield(Span{}, r.Err)
		return false
	case r.Match != nil && !w.held:
		w.held = true
		w.span = Span{From: v.Sequence, FromAt: v.At, Match: r.Match, View: v}
	case r.Match == nil && w.held:
		w.held = false
		w.span.To, w.span.ToAt = v.Sequence, v.At
		return yield(w.span, nil)
	}
	return true
}
