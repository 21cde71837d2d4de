package record

import (
	"slices"
	"sync"
	"time"

	"github.com/ptywright/ptywright/engine"
)

// behindBytes bounds how far a recording may be behind its session, in bytes of output and input.
// It covers what a program prints while a file system flushes; a flood fills any bound, and a
// larger one only means that more is lost when the server is killed.
const behindBytes = 1 << 20

// A Behind is a tap that calls another from a goroutine of its own. Redacting a program's output
// costs as much as drawing it, and the session need not wait for that while the recording keeps up:
// it waits only when 1 MiB is queued. An error of the tap is returned by the next call, or by
// Close. See [NewBehind].
type Behind struct {
	tap  engine.Tap
	news chan struct{} // holds at most one "something waits, or nothing more will come"
	room chan struct{} // holds at most one "the queue was taken"
	done chan struct{} // closed when the goroutine ends: closed or failed

	mu sync.Mutex
	// protects the fields below
	waiting happenings
	closed  bool
	err     error // of the tap
	told    bool  // err was returned
}

// happenings are events, in order, and the bytes of all of them.
type happenings struct {
	list  []happening
	bytes []byte
}

type happening struct {
	at   time.Time
	kind byte // 'o', 'i', 'r', 'x', as in an asciicast; 'p': event
	n, m int  // bytes; rows and columns; the exit code
	// marks of output; few batches have any.
	marks []engine.Mark
	event *engine.Event
}

var (
	_ engine.InputTap = (*Behind)(nil)
	_ engine.ExitTap  = (*Behind)(nil)
	_ engine.MarkTap  = (*Behind)(nil)
	_ engine.EventTap = (*Behind)(nil)
)

// NewBehind returns a tap that passes all its calls to t, in order. Its Close waits until that is
// done, and closes t; it must be called, as a session does.
func NewBehind(t engine.Tap) *Behind {
	b := &Behind{tap: t, news: make(chan struct{}, 1), room: make(chan struct{}, 1),
		done: make(chan struct{})}
	go b.run()
	return b
}

// Done returns a channel that is closed after the last call of the tap.
func (b *Behind) Done() <-chan struct{} { return b.done }

// Output is [Behind.Marked] without a mark.
func (b *Behind) Output(at time.Time, p []byte) error { return b.Marked(at, p, nil) }

// Marked is passed as output to a tap that takes no marks.
func (b *Behind) Marked(at time.Time, p []byte, marks []engine.Mark) error {
	return b.put(happening{at: at, kind: 'o', n: len(p), marks: slices.Clone(marks)}, p)
}

// Input is passed to a tap that wants it.
func (b *Behind) Input(at time.Time, p []byte) error {
	return b.put(happening{at: at, kind: 'i', n: len(p)}, p)
}

// Resize is passed unchanged.
func (b *Behind) Resize(at time.Time, rows, cols int) error {
	return b.put(happening{at: at, kind: 'r', n: rows, m: cols}, nil)
}

// Exit is passed to a tap that wants it.
func (b *Behind) Exit(at time.Time, code int) error {
	return b.put(happening{at: at, kind: 'x', n: code}, nil)
}

// Event is passed to a tap that wants it.
func (b *Behind) Event(e engine.Event) error {
	if _, ok := b.tap.(engine.EventTap); !ok {
		return nil
	}
	// It takes some of the room: a storm of events is bounded as a flood of output is.
	return b.put(happening{at: noted(&e), kind: eventLetter, n: eventRoom, event: &e},
		make([]byte, eventRoom))
}

// eventRoom is about how many bytes an event takes.
const eventRoom = 512

// put adds an event and waits while there is no room for it. Calls come one at a time, as a tap's
// do.
func (b *Behind) put(e happening, p []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.err == nil && len(b.waiting.bytes) > 0 && len(b.waiting.bytes)+len(p) > behindBytes {
		b.mu.Unlock()
		select {
		case <-b.room:
		case <-b.done:
		}
		b.mu.Lock()
	}
	if b.err != nil {
		b.told = true
		return b.err
	}
	b.waiting.list = append(b.waiting.list, e)
	b.waiting.bytes = append(b.waiting.bytes, p...)
	signal(b.news)
	return nil
}

// Close returns when all events were passed and the tap is closed. The error is the first that was
// not returned before.
func (b *Behind) Close() error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	signal(b.news)
	<-b.done
	err := b.tap.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil && !b.told {
		b.told = true
		return b.err
	}
	return err
}

// run passes on what waits until nothing more comes or the tap fails.
func (b *Behind) run() {
	defer close(b.done)
	var now happenings
	for {
		b.mu.Lock()
		now, b.waiting = b.waiting, happenings{list: now.list[:0], bytes: now.bytes[:0]}
		closed := b.closed
		b.mu.Unlock()
		signal(b.room)
		if len(now.list) == 0 {
			if closed {
				return
			}
			now = happenings{} // a quiet session keeps no buffers
			<-b.news
			continue
		}
		if err := b.show(now); err != nil {
			b.mu.Lock()
			b.err = err
			b.mu.Unlock()
			return
		}
	}
}

func (b *Behind) show(now happenings) (err error) {
	rest := now.bytes
	for _, e := range now.list {
		switch e.kind {
		case 'o':
			if t, ok := b.tap.(engine.MarkTap); ok {
				err = t.Marked(e.at, rest[:e.n], e.marks)
			} else {
				err = b.tap.Output(e.at, rest[:e.n])
			}
			rest = rest[e.n:]
		case 'i':
			if t, ok := b.tap.(engine.InputTap); ok {
				err = t.Input(e.at, rest[:e.n])
			}
			rest = rest[e.n:]
		case 'r':
			err = b.tap.Resize(e.at, e.n, e.m)
		case eventLetter:
			err = b.tap.(engine.EventTap).Event(*e.event)
			rest = rest[e.n:]
		case 'x':
			if t, ok := b.tap.(engine.ExitTap); ok {
				err = t.Exit(e.at, e.n)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// signal sends a signal unless one is pending.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
