package record

import (
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/vt"
)

// frameBound is how long a synchronized update (mode 2026) may hide the screen: as in a live session.
const frameBound = 150 * time.Millisecond

// A Replay shows a recording's screens in order. It is not safe for concurrent use.
type Replay struct {
	rec    *Recording
	next   int // event
	now    time.Duration
	term   *vt.Terminal
	held   bool          // a synchronized update is under way
	since  time.Duration // and has been since
	update uint64        // which one
}

// NewReplay returns a replay before the first event.
func NewReplay(rec *Recording) *Replay {
	p := &Replay{rec: rec}
	p.rewind()
	return p
}

func (p *Replay) rewind() {
	p.term = vt.New(p.rec.Rows, p.rec.Cols, vt.Options{})
	p.next, p.now, p.held, p.update = 0, 0, false, 0
}

// Step goes on to the next event and returns it; false when there is none.
func (p *Replay) Step() (Event, bool) {
	if p.next == p.rec.Len() {
		return Event{}, false
	}
	e := p.rec.Event(p.next)
	p.next++
	p.wait(e.At)
	switch e.Kind {
	case EventOutput:
		p.took(p.term.Feed([]byte(e.Text)))
	case EventResize:
		p.took(p.term.Resize(e.Rows, e.Cols, 0, 0))
	case EventExit: // nobody will end an update any more
		p.release()
	}
	return e, true
}

// Seek goes to a time of the recording, forward or back: every event up to it has happened.
func (p *Replay) Seek(at time.Duration) {
	if at < p.now {
		p.rewind()
	}
	for p.next < p.rec.Len() && p.rec.Event(p.next).At <= at {
		p.Step()
	}
	p.wait(at)
}

// At is the time that the replay is at.
func (p *Replay) At() time.Duration { return p.now }

// Screen returns what a session showed at this time.
func (p *Replay) Screen() *vt.Screen { return p.term.Snapshot() }

// wait lets time pass.
func (p *Replay) wait(until time.Duration) {
	if p.held && until-p.since >= frameBound {
		p.release()
	}
	p.now = max(p.now, until)
}

func (p *Replay) release() {
	if p.held {
		p.term.Release()
		p.held = false
	}
}

func (p *Replay) took(e vt.Effect) {
	if !e.Held {
		p.held = false
		return
	}
	if u := p.term.Updates(); !p.held || u != p.update {
		p.held, p.update, p.since = true, u, p.now
	}
}

// At returns the screen as it was at a time of the recording; beyond the end the last one.
func (r *Recording) At(at time.Duration) *vt.Screen {
	p := NewReplay(r)
	p.Seek(at)
	return p.Screen()
}

// Text returns the whole recording as a reader of the terminal would have it in the end: the scrollback and the screen as
// lines of plain text, soft-wrapped ones joined, each with a line feed.
func (r *Recording) Text() string {
	p := NewReplay(r)
	p.Seek(timeMax * time.Second)
	return screenText(p.Screen())
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
