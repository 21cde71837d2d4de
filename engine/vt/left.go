package vt

import (
	"math"
	"sort"
)

// Lines that scroll off the top of the main screen are kept for callers that wait for a text: a
// person watching would have seen one that came and went within a batch of output. The scrollback
// has most of them; leftKept keeps the newest whatever the scrollback does.

// leftKept is how many bytes of encoded lines are kept when the scrollback keeps fewer: without a
// scrollback, after the program has erased it, or when its lines are short. It is four of the
// largest batches of output: a waiter that wakes after each batch reads every line, and one that is
// late learns that it missed some. More would cost memory in sessions that want no scrollback.
const leftKept = 256 << 10

// An Edge is a point in the sequence of lines that leave the main screen at the top: lines after it
// left later than Seq, or at Seq with a number of at least Line. The zero Edge is before all of
// them.
type Edge struct{ Seq, Line uint64 }

// precedes reports whether a line that left at seq is after the edge.
func (e Edge) precedes(seq, line uint64) bool { return seq > e.Seq || seq == e.Seq && line >= e.Line }

// Edge returns the point up to which lines have left: pass it to [Screen.Left] of a later screen.
func (h History) Edge() Edge { return h.edge }

// A departure records when a line left the screen and when it was last written. One covers all
// lines up to the next, so a flood has one per batch.
type departure struct {
	seq   uint64 // of the batch in which it left
	wrote uint64 // of the batch that last wrote to it; 0: never
	line  uint32 // which of its block's lines is the first
	col   uint16 // leftmost column that was written then
	more  uint16 // 1 + index in block.more of a line that was written in several steps; 0: col is enough
}

// depart records the next line of the block.
func (b *block) depart(seq uint64, w *writes) {
	d := departure{seq: seq}
	if w.n > 0 {
		last := w.log[w.n-1]
		d.wrote, d.col = last.seq, uint16(last.col)
	}
	if w.n > 1 && len(b.more) < math.MaxUint16 {
		b.more = append(b.more, *w)
		d.more = uint16(len(b.more))
	} else if n := len(b.left); n > 0 {
		if last := &b.left[n-1]; last.seq == d.seq && last.wrote == d.wrote && last.col == d.col && last.more == 0 {
			return
		}
	}
	d.line = uint32(len(b.ends))
	b.left = append(b.left, d)
}

// undepart forgets the lines from i on. Later writes go to a fresh array: snapshots read this one.
func (b *block) undepart(i int) {
	n := len(b.left)
	for n > 0 && int(b.left[n-1].line) >= i {
		n--
	}
	b.left, b.more = b.left[:n:n], b.more[:len(b.more):len(b.more)]
}

// departed returns when line i left.
func (b *block) departed(i int) *departure {
	return &b.left[sort.Search(len(b.left), func(k int) bool { return int(b.left[k].line) > i })-1]
}

// writes returns when line i was written.
func (b *block) writes(i int) (w writes) {
	switch d := b.departed(i); {
	case d.more > 0:
		w = b.more[d.more-1]
	case d.wrote > 0:
		w.log[0], w.n = write{d.wrote, int(d.col)}, 1
	}
	return w
}

// wrapped reports whether line i continues in the next.
func (b *block) wrapped(i int) bool {
	_, wrapped, _ := splitLine(b.line(i))
	return wrapped
}

// joinedMost bounds how many rows of one logical line are reread when it continues: a program that
// never ends a line must not have all its rows reread for every new one.
const joinedMost = 200

// LeftOptions say what [Screen.Left] reads.
type LeftOptions struct {
	After   Edge   // lines that left after it
	Since   *Point // of these only what was written after it; nil: everything
	Context int    // bytes of the preceding lines, for expressions that span lines; ignored with Since
	// With Tail a line whose beginning alone has left is read to its end, on the screen. Without
	// Since it is read if rows of it left after Tail, which must not be after After; nil: no such
	// line is read.
	Tail  *Edge
	Reuse Passage // its memory is used for the answer
}

// Left returns the text of the lines that left the main screen after an edge, including lines that
// the scrollback does not keep, while they last. A logical line is read from its beginning, even if
// some of its rows had left before; what is in Passage.Fresh left after the edge, or continues what
// did. The text costs about 20 ns per line of 80 columns. With Tail the last line may be returned
// repeatedly, until its end leaves the screen.
func (s *Screen) Left(o LeftOptions) Passage {
	h := &s.history
	p := Passage{Text: o.Reuse.Text[:0], Fresh: o.Reuse.Fresh[:0], marks: o.Reuse.marks[:0]}
	p.Missed = h.lost.Line > 0 && o.After.precedes(h.lost.Seq, h.lost.Line-1)
	first := h.firstLeft(o.After)
	tail := o.Tail != nil && s.goesOn()
	if tail && o.Since == nil {
		b, i := h.at(h.next - 1)
		tail = o.Tail.precedes(b.departed(i).seq, h.next-1)
	}
	if first == h.next && !tail {
		return p
	}
	for n := 0; n < joinedMost && first > h.oldest(); n++ {
		if b, i := h.at(first - 1); !b.wrapped(i) {
			break
		}
		first--
	}
	from := first
	for size := 0; o.Since == nil && from > h.oldest(); from-- {
		b, i := h.at(from - 1)
		if size += len(b.line(i)); size > o.Context {
			break
		}
	}
	w := passageWriter{Passage: p}
	for line := from; line < h.next; line++ {
		b, i := h.at(line)
		fresh, cut := 0, false
		if o.Since != nil {
			writes := b.writes(i)
			if fresh, cut = writes.fresh(line, *o.Since); fresh == nowhere {
				w.skip()
				continue
			}
		}
		text, wrapped, _ := splitLine(b.line(i))
		joined := wrapped
		if wrapped && o.Since != nil && line+1 < h.next {
			b, i := h.at(line + 1)
			writes := b.writes(i)
			next, _ := writes.fresh(line+1, *o.Since)
			joined = next != nowhere
		}
		if line < first {
			fresh = math.MaxInt
		}
		w.Open = wrapped && line+1 == h.next
		if fresh == 0 || fresh == math.MaxInt {
			w.encoded(text, line, joined, fresh == 0)
			continue
		}
		r := decodeRow(b.line(i))
		n := r.trimmed()
		if joined {
			n = len(r.cells)
		}
		w.row(r, line, n, fresh, cut, joined)
	}
	w.Tail = len(w.Text)
	if tail && w.Open {
		w.Open = false
		s.addTail(&w, o.Since)
	}
	return w.Passage
}

// goesOn reports whether the screen begins inside a line whose beginning has left.
func (s *Screen) goesOn() bool {
	h := &s.history
	if s.Modes.AltScreen || h.next == h.oldest() {
		return false
	}
	b, i := h.at(h.next - 1)
	return b.wrapped(i)
}

// addTail adds the rows of the screen that continue the newest line, with since only what was
// written after it.
func (s *Screen) addTail(w *passageWriter, since *Point) {
	for y, r := range s.rows {
		line, fresh, cut := s.history.next+uint64(y), 0, false
		if since != nil {
			if fresh, cut = r.writes.fresh(line, *since); fresh == nowhere || cut {
				return
			}
		}
		joined := r.wrapped && y+1 < len(s.rows)
		n := r.trimmed()
		if joined {
			n = r.joinedWidth()
		}
		counted := len(w.Fresh)
		if w.row(r, line, n, fresh, cut, joined); since == nil {
			w.Fresh = w.Fresh[:counted]
		}
		if !joined {
			return
		}
	}
}

// firstLeft returns the number of the first kept line that left after an edge; next when there is
// none.
func (h *History) firstLeft(after Edge) uint64 {
	left := func(line uint64) bool {
		b, i := h.at(line)
		return after.precedes(b.departed(i).seq, line)
	}
	n := int(h.next - h.oldest())
	if n == 0 || !left(h.next-1) { // nothing has, most of the time
		return h.next
	}
	return h.oldest() + uint64(sort.Search(n, func(k int) bool { return left(h.oldest() + uint64(k)) }))
}

// WrittenAt returns the sequence at which text was last written to a line that left the screen,
// given its absolute number; 0 when the line is not kept or has no text.
func (s *Screen) WrittenAt(line uint64) uint64 {
	h := &s.history
	if line < h.oldest() || line >= h.next {
		return 0
	}
	b, i := h.at(line)
	w := b.writes(i)
	return w.last()
}

// LeftAt returns the sequence at which a line left the screen, given its absolute number; 0 when it
// is not kept.
func (s *Screen) LeftAt(line uint64) uint64 {
	h := &s.history
	if line < h.oldest() || line >= h.next {
		return 0
	}
	b, i := h.at(line)
	return b.departed(i).seq
}
