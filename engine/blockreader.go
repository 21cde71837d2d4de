package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/vt"
)

// A BlockReader splits output at its shell's marks, by the rules of [Session.Blocks], without a
// session: in a recording, or in a tap. It keeps only the block under way and a terminal with its
// scrollback. What comes before the first mark, or everything when there is none, is a block with
// number 0 and no command, whose output is the text of the screen. It is not safe for concurrent
// use.
type BlockReader struct {
	fold
	done  func(Block)
	began time.Time // of the first output
	last  time.Time
}

// NewBlockReader returns a BlockReader for a terminal of this size. done is called with each ended
// block.
func NewBlockReader(rows, cols int, done func(Block)) *BlockReader {
	return &BlockReader{fold: fold{term: vt.New(rows, cols, vt.Options{})}, done: done}
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
	if r.began.IsZero() && len(p) > 0 {
		r.began = at
	}
	r.last = at
	unmarked := r.blocks.integration == ""
	for e := range r.steps(p, at) {
		if unmarked && r.blocks.integration != "" {
			unmarked = false
			x := e.Events[slices.IndexFunc(e.Events, func(x vt.Event) bool { return isMark(&x) })]
			r.unmarked(vt.Position{Line: x.Line, Col: x.Col}, at)
		}
		for _, b := range r.blocks.done {
			r.done(b)
		}
		r.blocks.done, r.blocks.bytes = nil, 0
	}
}

// Marked takes what the child wrote, as a [MarkTap] gets it: only the shell's own marks count.
func (r *BlockReader) Marked(at time.Time, p []byte, marks []Mark) {
	r.blocks.trusted = true
	r.own = func(end int) bool {
		_, found := slices.BinarySearchFunc(marks, end,
			func(m Mark, end int) int { return m.End - end })
		return found
	}
	r.Output(at, p)
	r.own = nil
}

// unmarked reports what came before the first mark, if anything did.
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

// Resize changes the terminal's size.
func (r *BlockReader) Resize(at time.Time, rows, cols int) {
	r.last = at
	r.resize(rows, cols, 0, 0, at)
}

// Exited notes, before [BlockReader.Close], that the program ended by itself: what bash prints on
// exit is not a command's output.
func (r *BlockReader) Exited() {
	if b := r.blocks.running; b != nil {
		r.blocks.printed.farewell(b.Command)
	}
}

// Close ends the block under way; a command that still runs has no end.
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
