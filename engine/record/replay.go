package record

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/vt"
)

const (
	// resizeFold is after how many resized cells (of the sizes before and after) Seek skips sizes
	// that another follows at once, before any output: 128 resizes of 1000x1000, or 70,000 of
	// 24x80; a third of a second. Until then every size is applied, since each may cut off text.
	resizeFold = 256 << 20
	// resizeMax bounds the total of cells that a replay resizes. Each costs about a nanosecond:
	// this many take some five seconds.
	resizeMax = 4 << 30

	// keyframeEvery is how much output lies between two places to which a replay can go back at
	// once: half of it takes a millisecond to show again.
	keyframeEvery = 256 << 10
	// keyframeBytes bounds roughly what those places take together. When it is reached, every other
	// one is given up: going back in a larger recording takes longer, in one of 512 MiB some 20 ms.
	keyframeBytes = 64 << 20
)

// began is when a replayed program started. A stage has no clock, but its times are not zero.
var began = time.Unix(0, 0)

// A Replay shows a recording's screens, in order or at any time. For going back it keeps copies of
// itself in what it has shown, 64 MiB of them at most. It is not safe for concurrent use.
type Replay struct {
	place
	rec *Recording
	err error

	most   int // bytes of all copies, roughly
	every  int // bytes of output between two of them; 0: none are kept
	copies []place
}

// A place is where a replay is.
type place struct {
	next  int // event
	now   time.Duration
	stage *engine.Stage

	resized int64 // cells, of the sizes before and after
	size    int64 // cells of the terminal
	shown   int   // bytes of output
	bytes   int   // that it takes as a copy
}

// NewReplay returns a replay before the first event.
func NewReplay(rec *Recording) *Replay {
	p := newReplay(rec)
	p.every, p.most = keyframeEvery, keyframeBytes
	return p
}

// newReplay returns a replay that keeps no copies of itself.
func newReplay(rec *Recording) *Replay {
	p := &Replay{rec: rec}
	p.jump(-1)
	return p
}

// copyAt is the index of the last copy up to a time; -1: there is none.
func (p *Replay) copyAt(at time.Duration) int {
	return sort.Search(len(p.copies), func(i int) bool { return p.copies[i].now > at }) - 1
}

// jump goes to a copy, or with -1 to the beginning.
func (p *Replay) jump(n int) {
	p.err = nil
	if n < 0 {
		p.place = place{stage: engine.NewStage(p.rec.Rows, p.rec.Cols, began),
			size: int64(p.rec.Rows) * int64(p.rec.Cols)}
		return
	}
	p.place = p.copies[n]
	p.stage = p.stage.Fork()
}

// keep copies the replay, if it is time. Its place is one that does not depend on where the replay
// was told to go.
func (p *Replay) keep() {
	last := 0
	if n := len(p.copies); n > 0 {
		last = p.copies[n-1].shown
	}
	if p.every == 0 || p.shown-last < p.every || p.resized > resizeFold {
		return
	}
	c := p.place
	c.stage = p.stage.Fork()
	c.bytes = c.stage.Bytes()
	if p.copies = append(p.copies, c); p.total() <= p.most {
		return
	}
	thin := p.copies[:0]
	for i := 1; i < len(p.copies); i += 2 {
		thin = append(thin, p.copies[i])
	}
	clear(p.copies[len(thin):])
	p.copies = thin
	p.every *= 2
}

// total is what the copies take, as if they shared nothing.
func (p *Replay) total() (n int) {
	for i := range p.copies {
		n += p.copies[i].bytes
	}
	return n
}

// Step moves to the next event and returns it; false when there is none, or it cannot continue: see
// Err.
func (p *Replay) Step() (Event, bool) { return p.step(nil) }

// step is Step; the views within and after output are shown to show, unless it is nil.
func (p *Replay) step(show func(*engine.View) bool) (Event, bool) {
	if p.next == p.rec.Len() || p.err != nil {
		return Event{}, false
	}
	e := p.rec.Event(p.next)
	if e.Kind == EventResize {
		size := int64(e.Rows) * int64(e.Cols)
		if p.resized += p.size + size; p.resized > resizeMax {
			p.err = fmt.Errorf("replay a recording: at %v the number of cells that were resized, more than %d, %w", e.At, int64(resizeMax), picture.ErrTooLarge)
			return Event{}, false
		}
		p.size = size
	}
	p.next++
	p.now = max(p.now, e.At)
	switch at := began.Add(p.now); e.Kind {
	case EventOutput:
		if show != nil {
			p.stage.Moments(at, []byte(e.Text), show)
		} else {
			p.stage.Output(at, []byte(e.Text))
		}
		p.shown += len(e.Text)
		p.keep()
	case EventResize:
		p.stage.Resize(at, e.Rows, e.Cols)
	case EventExit:
		p.stage.Exit(at, e.Exit)
	}
	return e, true
}

// Err is why the replay cannot continue: a recording that resizes its terminal endlessly, an error
// around [picture.ErrTooLarge]. Going back clears it.
func (p *Replay) Err() error { return p.err }

// Seek goes to a time of the recording, forward or back: every event up to it has happened, unless
// Err says why not. In a recording that resizes its terminal very often, only the last of several
// sizes in a row is applied.
func (p *Replay) Seek(at time.Duration) { _ = p.SeekContext(context.Background(), at) }

// seekEvents is after how many events SeekContext looks at its context: a millisecond or two.
const seekEvents = 1 << 10

// SeekContext is [Replay.Seek] that stops when ctx ends: going far in a large recording takes seconds.
// The error is the cause of that; the replay is then at an earlier time.
func (p *Replay) SeekContext(ctx context.Context, at time.Duration) error {
	n := p.copyAt(at)
	if at < p.now || n >= 0 && p.copies[n].next > p.next {
		p.jump(n)
	}
	for p.next < p.rec.Len() && p.rec.Event(p.next).At <= at {
		if p.next%seekEvents == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if p.resized > resizeFold && p.overtaken(at) {
			p.next++
		} else if _, ok := p.Step(); !ok {
			return nil
		}
	}
	p.now = max(p.now, at)
	return nil
}

// overtaken reports whether the next event is a size that another follows by then, with nothing
// visible in between.
func (p *Replay) overtaken(by time.Duration) bool {
	if p.rec.Event(p.next).Kind != EventResize {
		return false
	}
	for i := p.next + 1; i < p.rec.Len(); i++ {
		switch e := p.rec.Event(i); {
		case e.At > by || e.Kind == EventOutput || e.Kind == EventExit:
			return false
		case e.Kind == EventResize:
			return true
		}
	}
	return false
}

// At is the replay's current time.
func (p *Replay) At() time.Duration { return p.now }

// Screen returns what the session showed at that time.
func (p *Replay) Screen() *vt.Screen { return p.stage.View(began.Add(p.now)).Screen }

// At returns the screen at a time of the recording; after the end the last one. The error is that
// of [Replay.Err].
func (r *Recording) At(at time.Duration) (*vt.Screen, error) {
	p := newReplay(r)
	p.Seek(at)
	if err := p.Err(); err != nil {
		return nil, err
	}
	return p.Screen(), nil
}

// Text returns the whole recording as text at its end: the scrollback and the screen as lines of
// plain text, soft-wrapped ones joined, each with a line feed. The error is that of [Replay.Err].
func (r *Recording) Text() (string, error) {
	s, err := r.At(timeMax * time.Second)
	if err != nil {
		return "", err
	}
	return screenText(s), nil
}

// screenText is the scrollback and the screen in lines.
func screenText(s *vt.Screen) string {
	var b strings.Builder
	h := s.History()
	for i := range h.Len() {
		b.WriteString(h.Line(i))
		if !h.Wrapped(i) {
			b.WriteByte('\n')
		}
	}
	b.WriteString(s.Text())
	text := strings.TrimRight(b.String(), "\n")
	if text == "" {
		return ""
	}
	return text + "\n"
}
