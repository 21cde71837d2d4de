package engine

import (
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/vt"
)

// A BlockReader takes output apart at its shell's marks, by the rules of [Session.Blocks], where there is no session: in a
// recording, or in what a tap is shown. It keeps the block under way and a terminal with its scrollback, and no more. What comes
// before the first mark, or all when there is none, is a block without a command and with number 0, whose output is the text of the
// screen. It is not safe for concurrent use.
type BlockReader struct {
	term    *vt.Terminal
	blocks  blocks
	reports Reports
	done    func(Block)
	began   time.Time // of the first output
	last    time.Time
}

// NewBlockReader returns one for a terminal of this size. done is called with each block that ended.
func NewBlockReader(rows, cols int, done func(Block)) *BlockReader {
	return &BlockReader{term: vt.New(rows, cols, vt.Options{}), done: done}
}

// Integration says how the shell has marked its commands so far.
func (r *BlockReader) Integration() Integration {
	if r.blocks.integration == "" {
		return IntegrationNone
	}
	return r.blocks.integration
}

// Output takes what the child wrote. All marks in it count: which are the shell's own is not known.
func (r *BlockReader) Output(at time.Time, p []byte) {
	r.read(at, p, func(int) bool { return true })
}

// Marked takes what the child wrote, as a [MarkTap] is shown it: no mark counts but the shell's own.
func (r *BlockReader) Marked(at time.Time, p []byte, marks []Mark) {
	r.blocks.trusted = true
	r.read(at, p, func(end int) bool {
		for len(marks) > 0 && marks[0].End < end {
			marks = marks[1:]
		}
		return len(marks) > 0 && marks[0].End == end
	})
}

// read takes output; own tells whether a mark that ends there is the shell's.
func (r *BlockReader) read(at time.Time, p []byte, own func(end int) bool) {
	if r.began.IsZero() && len(p) > 0 {
		r.began = at
	}
	r.last = at
	for rest := p; len(rest) > 0; {
		e, behind := r.term.FeedToMark(rest)
		r.blocks.write(rest[:len(rest)-len(behind)])
		rest = behind
		r.take(e, at, func() bool { return own(len(p) - len(rest)) })
	}
}

func (r *BlockReader) take(e vt.Effect, at time.Time, own func() bool) {
	for i := range e.Events {
		x := &e.Events[i]
		if (x.Kind == vt.EventMark || x.Kind == vt.EventMark633) && !own() {
			continue
		}
		r.reports = r.reports.After(x)
		unmarked := r.blocks.integration == ""
		r.blocks.after(x, r.reports.Shell, at, r.term.Snapshot)
		if unmarked && r.blocks.integration != "" {
			r.unmarked(vt.Position{Line: x.Line, Col: x.Col}, at)
		}
	}
	for _, b := range r.blocks.done {
		r.done(b)
	}
	r.blocks.done, r.blocks.bytes = nil, 0
}

// unmarked tells what came before the first mark, if that is anything.
func (r *BlockReader) unmarked(to vt.Position, at time.Time) {
	s := r.term.Snapshot()
	text, whole := s.Between(vt.Position{}, to, MaxBlockOutput)
	if s.Modes.AltScreen { // of a program that never left it
		text = s.Text()
	}
	if text = strings.TrimRight(text, "\n"); strings.TrimSpace(text) != "" {
		r.done(Block{
			Output: text, Raw: text, Whole: whole, ScreenText: text, ScreenWhole: whole,
			Started: r.began, Ended: at,
		})
	}
}

// Resize tells of a new size.
func (r *BlockReader) Resize(at time.Time, rows, cols int) {
	r.last = at
	r.blocks.cut(cols, r.term.Snapshot())
	e := r.term.Resize(rows, cols, 0, 0)
	r.blocks.resume(r.term.Snapshot())
	r.take(e, at, func() bool { return false })
}

// Exited tells that the program has ended by itself, which [BlockReader.Close] then knows: what bash
// says at its own end is no command's output.
func (r *BlockReader) Exited() {
	if b := r.blocks.running; b != nil {
		r.blocks.printed.farewell(b.Command)
	}
}

// Close ends what is under way; a command that runs stays without an end.
func (r *BlockReader) Close() {
	s := r.term.Snapshot()
	if b := r.blocks.running; b != nil {
		r.blocks.running = nil
		r.blocks.show(b, s, end(s))
		r.done(*b)
	}
	if r.blocks.integration == "" {
		h := s.History()
		r.unmarked(vt.Position{Line: h.Dropped() + uint64(h.Len()+s.Rows)}, r.last)
	}
}
