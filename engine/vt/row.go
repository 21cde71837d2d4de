package vt

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A row is one line of a grid. Rows are shared between the grid and snapshots, so only the frame
// that made a row may write to it (see Terminal.own).
type row struct {
	cells []cell
	n     int    // cells[n:] are blank in the default style
	arena []byte // text of the clusters, some of it no longer in use
	// extras are the links and underline colours of this row's cells, some no longer in use.
	extras  []extra
	changed uint64 // sequence at which the content last became visible
	frame   uint64 // frame that made the row; 0 for rows used in several places
	born    uint64 // frame that made a row used in several places
	pattern bool   // full of one cell by one sequence, and not written to since
	wrapped bool   // the line continues in the next row
	rich    bool   // a cell may be styled, wide, a cluster or not ASCII
	wrote   int    // 1 + the leftmost column that the current frame has written text to; 0: none
	writes  writes
	// cut is the row before it was cropped, when an alternate screen has become narrower: its cells
	// from len(cells) on are not shown. It is never written to. nil: nothing was cropped.
	cut *row
}

// nowhere is the column of a change that writes no text.
const nowhere = -1

// writes remembers from which column on a row was written after a sequence: for any sequence the
// leftmost column of everything written since. Both seq and col rise, as an older write to the
// right of a newer one adds no information.
type writes struct {
	log [4]write // more entries separate more steps of a line's history: prompt, echo, correction, answer
	n   int
}

type write struct {
	seq uint64
	col int
}

// stamp ends a frame: what it wrote was written at seq.
func (r *row) stamp(seq uint64) {
	if r.wrote == 0 {
		return
	}
	w, col := &r.writes, r.wrote-1
	for w.n > 0 && w.log[w.n-1].col >= col {
		w.n--
	}
	if w.n == len(w.log) { // merge the two oldest: better a little too much counts as new than too little
		w.log[1].col = w.log[0].col
		w.n = copy(w.log[:], w.log[1:])
	}
	w.log[w.n] = write{seq, col}
	w.n++
	r.wrote = 0
}

// since returns the leftmost column that text was written to after seq; nowhere when none was.
func (w *writes) since(seq uint64) int {
	for _, x := range w.log[:w.n] {
		if x.seq > seq {
			return x.col
		}
	}
	return nowhere
}

// last returns the sequence at which text was last written; 0: never, or not since the row came
// back.
func (w *writes) last() uint64 {
	if w.n == 0 {
		return 0
	}
	return w.log[w.n-1].seq
}

// rewrite is for a row that is rebuilt: its text was last written at seq.
func (w *writes) rewrite(seq uint64) {
	if *w = (writes{}); seq > 0 {
		w.log[0], w.n = write{seq, 0}, 1
	}
}

// An extra holds what few cells have and a cell has no room for.
type extra struct {
	underline Color
	link      string
}

func (r *row) cluster(content uint32) []byte {
	off, n := content&^uint32(clusterBit)>>clusterLenBits, content&clusterLenMax
	return r.arena[off : off+n]
}

func (r *row) extraOf(c cell) *extra {
	if i := c.attr() >> attrExtraShift; i != 0 {
		return &r.extras[i-1]
	}
	return nil
}

// clear makes a row blank in the default style, keeping its memory.
func (r *row) clear() {
	clear(r.cells[:r.n])
	clear(r.extras) // release the links
	r.n, r.arena, r.extras, r.wrapped, r.rich, r.pattern = 0, r.arena[:0], r.extras[:0], false, false, false
	r.wrote, r.writes, r.cut = 0, writes{}, nil
}

// copyFrom makes r equal to o, which has as many columns.
func (r *row) copyFrom(o *row) {
	if o.n < r.n {
		clear(r.cells[o.n:r.n])
	}
	copy(r.cells, o.cells[:o.n])
	clear(r.extras)
	r.n, r.wrapped, r.rich = o.n, o.wrapped, o.rich
	r.wrote, r.writes, r.cut = 0, o.writes, o.cut
	r.arena = append(r.arena[:0], o.arena...)
	r.extras = append(r.extras[:0], o.extras...)
}

// equal reports whether both rows show the same, whatever was cropped.
func (r *row) equal(o *row) bool {
	if r == o {
		return true
	}
	if r.wrapped != o.wrapped || len(r.cells) != len(o.cells) {
		return false
	}
	n := max(r.n, o.n)
	if len(r.arena)+len(r.extras)+len(o.arena)+len(o.extras) == 0 {
		return slices.Equal(r.cells[:n], o.cells[:n])
	}
	for i, a := range r.cells[:n] {
		b := o.cells[i]
		if a.fg() != b.fg() || a.bg() != b.bg() || a.attr()&^attrExtraMask != b.attr()&^attrExtraMask {
			return false
		}
		if ac, bc := a.content(), b.content(); ac&clusterBit == 0 {
			if ac != bc {
				return false
			}
		} else if bc&clusterBit == 0 || !bytes.Equal(r.cluster(ac), o.cluster(bc)) {
			return false
		}
		ax, bx := r.extraOf(a), o.extraOf(b)
		if (ax == nil) != (bx == nil) || ax != nil && *ax != *bx {
			return false
		}
	}
	return true
}

// addCluster stores text and returns the content that refers to it. live bounds the arena: when it
// holds more than twice as much, the rest is garbage and is dropped.
func (r *row) addCluster(text []byte) uint32 {
	if len(text) > clusterLenMax {
		text = text[:clusterLenMax]
		for !utf8.Valid(text) { // cut between characters
			text = text[:len(text)-1]
		}
	}
	// 4 bytes a column is what a line of ordinary combining text needs; a row of full clusters is
	// compacted more often, and never grows past twice its live text.
	if len(r.arena)+len(text) > cap(r.arena) && len(r.arena) > 4*len(r.cells)+256 {
		text = slices.Clone(text)
		r.compactArena()
	}
	off := len(r.arena)
	r.arena = append(r.arena, text...)
	r.rich = true
	return clusterBit | uint32(off)<<clusterLenBits | uint32(len(text))
}

// compactArena drops text that no cell refers to.
func (r *row) compactArena() {
	live := make([]byte, 0, len(r.arena)/2+clusterLenMax)
	for i, c := range r.cells[:r.n] {
		if ch := c.content(); ch&clusterBit != 0 {
			off := len(live)
			live = append(live, r.cluster(ch)...)
			r.cells[i].lo = c.lo&^0xffffffff | clusterBit | uint64(off)<<clusterLenBits | uint64(ch&clusterLenMax)
		}
	}
	if cap(live)-len(live) < len(live) { // room, so that the next compaction is far off
		live = slices.Grow(live, len(live)+clusterLenMax)
	}
	r.arena = live
}

// addExtra stores x and returns the attribute bits that refer to it.
func (r *row) addExtra(x extra) uint32 {
	for i := len(r.extras) - 1; i >= max(0, len(r.extras)-8); i-- {
		if r.extras[i] == x {
			return uint32(i+1) << attrExtraShift
		}
	}
	if len(r.extras) > 2*len(r.cells)+64 {
		r.compactExtras()
	}
	r.extras = append(r.extras, x)
	r.rich = true
	return uint32(len(r.extras)) << attrExtraShift
}

// compactExtras drops extras that no cell refers to.
func (r *row) compactExtras() {
	var live []extra
	index := make([]uint32, len(r.extras)+1)
	for i, c := range r.cells[:r.n] {
		old := c.attr() >> attrExtraShift
		if old == 0 {
			continue
		}
		if index[old] == 0 {
			live = append(live, r.extras[old-1])
			index[old] = uint32(len(live))
		}
		r.cells[i].hi = c.hi&^(attrExtraMask<<32) | uint64(index[old])<<(32+attrExtraShift)
	}
	r.extras = live
}

// trimmed returns the number of columns up to the last one that is not blank. All white space is
// blank, no-break and ideographic spaces too: at the end of a row it is invisible.
func (r *row) trimmed() int {
	n := r.n
	for n > 0 {
		c := r.cells[n-1]
		if ch := c.content(); ch == 0 {
			if c.attr()&attrContinuation != 0 && r.cells[n-2].content() != 0x3000 {
				break
			}
		} else if ch != ' ' && (ch < 0x80 || ch&clusterBit != 0 || !unicode.IsSpace(rune(ch))) {
			break
		}
		n--
	}
	return n
}

// joinedWidth returns the number of columns that a wrapped row contributes to the logical line: all
// of them, except the last when a wide character did not fit there.
func (r *row) joinedWidth() int {
	n := len(r.cells)
	if n == 0 { // a line of the scrollback
		return 0
	}
	if r.cells[n-1].attr()&attrSpacer != 0 {
		return n - 1
	}
	return n
}

// appendText appends the text of the first n columns.
func (r *row) appendText(dst []byte, n int) []byte {
	blank := 0
	if n > r.n {
		n, blank = r.n, n-r.n
	}
	if !r.rich {
		start := len(dst)
		dst = slices.Grow(dst, n+blank)[:start+n]
		out := dst[start:]
		for i, c := range r.cells[:n] {
			ch := byte(c.lo)
			if ch == 0 {
				ch = ' '
			}
			out[i] = ch
		}
	} else {
		for _, c := range r.cells[:n] {
			ch := c.content()
			switch {
			case ch == 0:
				if c.attr()&attrContinuation == 0 {
					dst = append(dst, ' ')
				}
			case ch < utf8.RuneSelf:
				dst = append(dst, byte(ch))
			case ch&clusterBit != 0:
				dst = append(dst, r.cluster(ch)...)
			default:
				dst = utf8.AppendRune(dst, rune(ch))
			}
		}
	}
	for range blank {
		dst = append(dst, ' ')
	}
	return dst
}
