package record

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/picture"
)

const (
	// LoadMax bounds a cast to be loaded, in bytes: twice the default size of a recording. 530 MB
	// of long events took 1.1 GB of memory to load, half of it text and half garbage not yet
	// collected.
	LoadMax = 2 * DefaultMaxBytes
	// EventsMax bounds the events of a cast to be loaded: more than a recording of DefaultMaxBytes
	// has when each of them is a single character. 13 million of them took 0.47 GB of memory to
	// load (16 bytes each).
	EventsMax = 16 << 20
	// chunkEvents is how many events are kept together: enough to make the cost of a chunk (100
	// bytes, and the unused room of its text) negligible.
	chunkEvents = 1024
)

// A Recording is a whole cast in memory, at most [LoadMax] bytes and [EventsMax] events. It is
// immutable and safe for concurrent use.
type Recording struct {
	Header
	Truncated bool // the last line was cut off and left out

	chunks []chunk // each but the last has chunkEvents
}

// A chunk is a run of events.
type chunk struct {
	events []kept
	text   *strings.Builder // of all of them
}

// kept is an event in 16 bytes; its numbers are read from its text.
type kept struct {
	at time.Duration
	// end is the end of its text, which begins at the end of the one before. LoadMax is below
	// 4 GiB.
	end  uint32
	kind EventKind
}

// Load reads a cast of version 1, 2 or 3, at most [LoadMax] bytes and [EventsMax] events. Errors
// are *[CastError], around [picture.ErrTooLarge] when it is larger, or the reader's.
func Load(r io.Reader) (*Recording, error) { return loadSome(r, EventsMax) }

// loadSome is Load of at most most events.
func loadSome(r io.Reader, most int) (*Recording, error) {
	in := &io.LimitedReader{R: r, N: LoadMax + 1}
	c, err := NewReader(in)
	if err != nil {
		return nil, err
	}
	rec := &Recording{Header: c.Header}
	for {
		e, err := c.Next()
		switch {
		case in.N <= 0:
			return nil,
				c.bad(fmt.Sprintf("the cast is longer than %d bytes", LoadMax), picture.ErrTooLarge)
		case errors.Is(err, io.EOF):
			rec.Truncated = c.Truncated
			return rec, nil
		case err != nil:
			return nil, err
		case rec.Len() == most:
			return nil,
				c.bad(fmt.Sprintf("the cast has more than %d events", most), picture.ErrTooLarge)
		}
		rec.add(e)
	}
}

func (r *Recording) add(e Event) {
	n := len(r.chunks)
	if n == 0 || len(r.chunks[n-1].events) == chunkEvents {
		r.chunks = append(r.chunks,
			chunk{events: make([]kept, 0, chunkEvents), text: new(strings.Builder)})
		n++
	}
	c := &r.chunks[n-1]
	c.text.WriteString(e.Text)
	c.events = append(c.events, kept{at: e.At, end: uint32(c.text.Len()), kind: e.Kind})
}

// Len is the number of events.
func (r *Recording) Len() int {
	n := len(r.chunks)
	if n == 0 {
		return 0
	}
	return (n-1)*chunkEvents + len(r.chunks[n-1].events)
}

// Event returns event i, from 0 to Len-1.
func (r *Recording) Event(i int) Event {
	c := &r.chunks[i/chunkEvents]
	i %= chunkEvents
	k, from := c.events[i], uint32(0)
	if i > 0 {
		from = c.events[i-1].end
	}
	e := Event{At: k.at, Kind: k.kind, Text: c.text.String()[from:k.end]}
	switch e.Kind {
	case EventResize:
		e.Rows, e.Cols = sizeOf(e.Text)
	case EventExit:
		e.Exit, _ = strconv.Atoi(e.Text) // it was parsed before
	}
	return e
}

// Events are all events in order.
func (r *Recording) Events() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for i := range r.Len() {
			if !yield(r.Event(i)) {
				return
			}
		}
	}
}

// Duration is the time of the last event.
func (r *Recording) Duration() time.Duration {
	if n := r.Len(); n > 0 {
		return r.Event(n - 1).At
	}
	return 0
}

// LimitIdle returns the recording with pauses of at most limit. It shares the text.
func (r *Recording) LimitIdle(limit time.Duration) *Recording {
	out := *r
	out.chunks = slices.Clone(r.chunks)
	var last, lost time.Duration
	for i := range out.chunks {
		c := &out.chunks[i]
		c.events = slices.Clone(c.events)
		for j := range c.events {
			k := &c.events[j]
			if pause := k.at - last; pause > limit {
				lost += pause - limit
			}
			last = k.at
			k.at -= lost
		}
	}
	return &out
}
