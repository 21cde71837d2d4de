package record

import (
	"fmt"
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
)

// began is when a replayed program started. A stage has no clock, but its times are not zero.
var began = time.Unix(0, 0)

// A Replay shows a recording's screens in order. It is not safe for concurrent use.
type Replay struct {
	rec   *Recording
	next  int // event
	now   time.Duration
	stage *engine.Stage

	resized int64 // cells, of the sizes before and after
	size    int64 // cells of the terminal
	err     error
}

// NewReplay returns a replay before the first event.
func NewReplay(rec *Recording) *Replay {
	p := &Replay{rec: rec}
	p.rewind()
	return p
}

func (p *Replay) rewind() {
	p.stage = engine.NewStage(p.rec.Rows, p.rec.Cols, began)
	p.next, p.now = 0, 0
	p.resized, p.size, p.err = 0, int64(p.rec.Rows)*int64(p.rec.Cols), nil
}

// Step moves to the next event and returns it; false when there is none, or it cannot continue: see
// Err.
func (p *Replay) Step() (Event, bool) {
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
		p.stage.Output(at, []byte(e.Text))
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
func (p *Replay) Seek(at time.Duration) {
	if at < p.now {
		p.rewind()
	}
	for p.next < p.rec.Len() && p.rec.Event(p.next).At <= at {
		if p.resized > resizeFold && p.overtaken(at) {
			p.next++
		} else if _, ok := p.Step(); !ok {
			return
		}
	}
	p.now = max(p.now, at)
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
	p := NewReplay(r)
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
