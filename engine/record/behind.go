package record

import (
	"sync"
	"time"

	"github.com/ptywright/ptywright/engine"
)

// behindBytes bounds what a recording may be behind its session, in bytes of output and input. It covers what a program prints
// while a file system flushes; a flood fills any bound, and more of it is only lost when the server is killed.
const behindBytes = 1 << 20

// A behind shows a tap what happens in a session from a goroutine of its own. To redact what a program draws costs as much as to draw
// it, and the session need not wait for that as long as the recording keeps up: when behindBytes are waiting, it does. An error of
// the tap is told with what comes next, or by Close.
type behind struct {
	tap  engine.Tap
	news chan struct{} // holds at most one "something waits, or nothing more will come"
	room chan struct{} // holds at most one "what waited was taken"
	done chan struct{} // closed when the goroutine ends: closed or failed

	mu sync.Mutex
	// protects the fields below
	waiting happenings
	closed  bool
	err     error // of the tap
	told    bool  // err was
}

// happenings are things that happened, in order, and the bytes of all of them.
type happenings struct {
	list  []happening
	bytes []byte
}

type happening struct {
	at   time.Time
	kind byte // 'o', 'i', 'r', 'x', as in an asciicast
	n, m int  // bytes; rows and columns; the exit code
}

var (
	_ engine.InputTap = (*behind)(nil)
	_ engine.ExitTap  = (*behind)(nil)
)

func newBehind(t engine.Tap) *behind {
	b := &behind{tap: t, news: make(chan struct{}, 1), room: make(chan struct{}, 1), done: make(chan struct{})}
	go b.run()
	return b
}

func (b *behind) Output(at time.Time, p []byte) error {
	return b.put(happening{at: at, kind: 'o', n: len(p)}, p)
}

func (b *behind) Input(at time.Time, p []byte) error {
	return b.put(happening{at: at, kind: 'i', n: len(p)}, p)
}

func (b *behind) Resize(at time.Time, rows, cols int) error {
	return b.put(happening{at: at, kind: 'r', n: rows, m: cols}, nil)
}

func (b *behind) Exit(at time.Time, code int) error {
	return b.put(happening{at: at, kind: 'x', n: code}, nil)
}

// put adds an event and waits while there is no room for it. Calls come one at a time, as a tap's do.
func (b *behind) put(e happening, p []byte) error {
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

// Close returns when everything was shown and the tap is closed. The error is the first that was not told.
func (b *behind) Close() error {
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

// run shows what waits until nothing more comes or the tap fails.
func (b *behind) run() {
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

func (b *behind) show(now happenings) (err error) {
	rest := now.bytes
	for _, e := range now.list {
		switch e.kind {
		case 'o':
			err = b.tap.Output(e.at, rest[:e.n])
			rest = rest[e.n:]
		case 'i':
			if t, ok := b.tap.(engine.InputTap); ok {
				err = t.Input(e.at, rest[:e.n])
			}
			rest = rest[e.n:]
		case 'r':
			err = b.tap.Resize(e.at, e.n, e.m)
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

// signal says that there is news, unless that was said and not heard yet.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
