package record

import (
	"iter"
	"time"

	"github.com/ptywright/ptywright/engine"
)

// EventMark is the kind in [Recording.Moments] of a marker of the cast, whose label is its text.
const EventMark engine.EventKind = "marker"

// Moments are the last most events of the recording's session, each with the time in the recording
// at which it was noted: those that [Cast.Event] has written, and what any cast has: resizes,
// markers and the exit. Their texts are untrusted.
func (r *Recording) Moments(most int) iter.Seq2[time.Duration, engine.Event] {
	return func(yield func(time.Duration, engine.Event) bool) {
		n := 0
		for e := range r.Events() {
			if _, ok := momentOf(&e); ok {
				n++
			}
		}
		for e := range r.Events() {
			x, ok := momentOf(&e)
			if !ok {
				continue
			}
			if n--; n < most && !yield(e.At, x) {
				return
			}
		}
	}
}

func momentOf(e *Event) (x engine.Event, ok bool) {
	switch e.Kind {
	case EventSession:
		return e.Session()
	case EventResize:
		return engine.Event{Kind: engine.EventResize, Rows: e.Rows, Cols: e.Cols}, true
	case EventMarker:
		return engine.Event{Kind: EventMark, Text: e.Text}, true
	case EventExit:
		code := e.Exit
		return engine.Event{Kind: engine.EventExit, ExitCode: &code}, true
	}
	return engine.Event{}, false
}
