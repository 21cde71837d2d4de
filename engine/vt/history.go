package vt

import (
	"sort"
	"strings"
)

// Scrollback is kept as text: lines are encoded one after the other into blocks that are never
// rewritten, so a History is a handful of words and readers need no lock. A line of 80 plain
// columns costs 88 bytes; as cells it would cost 1,280.
const (
	// blockMax is the size of a full block in bytes. Larger blocks waste more at their end and keep
	// more dropped lines alive, smaller ones cost more headers.
	blockMax = 16 << 10
	// blockMin is the size of the first block, for sessions that scroll a few lines only.
	blockMin = 1 << 10
	// historyBytesPerLine bounds the scrollback in bytes as well as lines: rows of a thousand
	// columns in a thousand colours must not cost a hundred times the usual.
	historyBytesPerLine = 1 << 10
)

type block struct {
	first uint64 // absolute number of its first line
	data  []byte
	ends  []uint32    // end of each line in data
	left  []departure // when its lines left the screen, and when they were written
	more  []writes    // of lines that were written in several steps
	size  int         // what data is to hold when its array is shared, or not made yet; see room
}

// history is the writing side. Sealed blocks never change, nor does the part of the slice that a
// snapshot holds.
type history struct {
	limit   int
	sealed  []*block
	tail    block
	dropped uint64 // absolute number of the oldest line of the scrollback; older ones may still be kept, see leftKept
	cleared uint64 // number of the line at the last clear, so that a clear is seen as a change
	cut     bool   // the line before the first one in a block, now dropped, continued in it
	next    uint64 // absolute number of the next line
	bytes   int    // of all sealed blocks
	edge    Edge   // of the newest line
	lost    Edge   // of the newest line that is no longer kept
}

// push encodes r, which leaves the screen at sequence seq, as the newest line.
func (h *history) push(r *row, seq uint64) {
	r.stamp(seq) // what the current frame has written
	if len(h.tail.data)+textMax(r) > cap(h.tail.data) {
		h.makeRoom(r)
	}
	h.tail.data = encodeRow(h.tail.data, r)
	h.tail.depart(seq, &r.writes)
	h.tail.ends = append(h.tail.ends, uint32(len(h.tail.data)))
	h.next++
	h.edge = Edge{Seq: seq, Line: h.next}
	if h.next-h.dropped > uint64(h.limit) {
		h.dropped++
		h.trim()
	}
}

// makeRoom makes room for r in the tail, or closes it and opens a block that has room. Which of the
// two depends on what r shows only, not on how it came to be: so a terminal that goes on from a
// written state keeps the same lines.
func (h *history) makeRoom(r *row) {
	need, b := textRoom(r), &h.tail
	switch room := b.room(); {
	case len(b.data)+need > room:
		h.seal(need)
	case room > cap(b.data):
		b.data, b.size = append(make([]byte, 0, room), b.data...), 0
	}
}

// room returns how many bytes the block is to hold before it is full: what counts against the
// bounds.
func (b *block) room() int { return max(b.size, cap(b.data)) }

// seal closes the tail and opens a block that has room for at least need bytes.
func (h *history) seal(need int) {
	size := min(max(blockMin, 2*h.tail.room()), blockMax)
	if len(h.tail.ends) > 0 {
		full := h.tail
		// A block that grew for one long line is cut to size; the usual one has little to give
		// back.
		if full.room()-len(full.data) > len(full.data)/8+256 {
			full.data, full.size = append(make([]byte, 0, len(full.data)), full.data...), 0
		}
		h.bytes += full.room()
		h.sealed = append(h.sealed, &full) // past what snapshots read
		for i, over := 0, h.bytes-h.limit*historyBytesPerLine; i < len(h.sealed) && over > 0; i++ {
			over -= h.sealed[i].room()
			h.dropped = max(h.dropped, h.after(i))
		}
		h.trim()
	}
	h.tail = block{first: h.next, data: make([]byte, 0, max(size, need)), ends: make([]uint32, 0, len(h.tail.ends)+8), left: make([]departure, 0, 4)}
}

// after returns the number of the first line after sealed block i.
func (h *history) after(i int) uint64 { return h.sealed[i].first + uint64(len(h.sealed[i].ends)) }

// trim drops blocks whose lines have all left the scrollback, except the newest: see leftKept.
func (h *history) trim() {
	n, bytes := 0, h.bytes
	for n < len(h.sealed) && h.after(n) <= h.dropped {
		if bytes -= h.sealed[n].room(); bytes < leftKept {
			break
		}
		n++
	}
	h.lose(n)
}

// lose drops the n oldest sealed blocks.
func (h *history) lose(n int) {
	if n == 0 {
		return
	}
	for _, b := range h.sealed[:n] {
		h.bytes -= b.room()
	}
	last := h.sealed[n-1]
	_, h.cut, _ = splitLine(last.line(len(last.ends) - 1))
	h.lost = Edge{Seq: last.left[len(last.left)-1].seq, Line: h.after(n - 1)}
	h.sealed = append([]*block(nil), h.sealed[n:]...)
}

// clear empties the scrollback. Waiters may not have seen its last lines yet: see leftKept.
func (h *history) clear() {
	h.dropped, h.cleared = h.next, h.next
	h.trim()
}

// pop removes the newest line and returns it as a row of at least its own width.
func (h *history) pop() *row {
	if h.next == h.dropped {
		return nil
	}
	return h.takeNewest()
}

// breakWrap records that the newest line, in the scrollback or not, no longer continues on the
// screen. It reports whether it did.
func (h *history) breakWrap() bool {
	b := newestBlock(h.sealed, &h.tail)
	i := len(b.ends) - 1
	if i < 0 || !b.wrapped(i) {
		return false
	}
	seq, edge := b.departed(i).seq, h.edge
	r := h.takeNewest()
	r.wrapped = false
	h.push(r, seq)
	h.edge = edge // nothing has left
	return true
}

// newestBlock returns the block of the newest line that is kept; an empty one when there is none.
func newestBlock(sealed []*block, tail *block) *block {
	if n := len(sealed); n > 0 && len(tail.ends) == 0 {
		return sealed[n-1]
	}
	return tail
}

// goesOn reports whether the newest line that is kept continues on the screen.
func goesOn(sealed []*block, tail *block) bool {
	b := newestBlock(sealed, tail)
	return len(b.ends) > 0 && b.wrapped(len(b.ends)-1)
}

// takeNewest removes the newest line that is kept; there must be one.
func (h *history) takeNewest() *row {
	if len(h.tail.ends) == 0 {
		b := h.sealed[len(h.sealed)-1]
		h.bytes -= b.room()
		h.sealed = h.sealed[: len(h.sealed)-1 : len(h.sealed)-1]
		h.tail = *b
	}
	i := len(h.tail.ends) - 1
	r := decodeRow(h.tail.line(i))
	r.writes = h.tail.writes(i)
	// Clipped, so that the next push does not overwrite bytes that a snapshot still reads.
	end := uint32(0)
	if i > 0 {
		end = h.tail.ends[i-1]
	}
	h.tail.data, h.tail.size = h.tail.data[:end:end], 0
	h.tail.ends = h.tail.ends[:i:i]
	h.tail.undepart(i)
	h.next--
	return r
}

// lastWrapped reports whether the newest line continues in the first row of the screen.
func (h *history) lastWrapped() bool {
	v := h.view()
	n := v.Len()
	return n > 0 && v.Wrapped(n-1)
}

func (h *history) view() History {
	return History{sealed: h.sealed, tail: h.tail, dropped: h.dropped, next: h.next, cut: h.cut,
		cleared: h.cleared, edge: Edge{Seq: h.edge.Seq, Line: h.next}, lost: h.lost}
}

func (b *block) line(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = b.ends[i-1]
	}
	return b.data[start:b.ends[i]]
}

// A History is the scrollback as of one snapshot: lines that left the top of the main screen,
// oldest first, as many as the bound allows. It is a value; later output never alters it, and any
// number of goroutines may read it. Lines keep the width they had when they left the screen.
type History struct {
	sealed  []*block
	tail    block
	dropped uint64
	next    uint64
	cut     bool
	cleared uint64
	edge    Edge
	lost    Edge
}

// Len returns the number of lines kept.
func (h History) Len() int { return int(h.next - h.dropped) }

// Dropped returns how many older lines are gone. Dropped()+i is the absolute number of line i, and
// Dropped()+Len() that of the screen's first row; Event.Line counts the same way.
func (h History) Dropped() uint64 { return h.dropped }

// Cut reports whether line 0 continues one that was dropped: its beginning is missing. With no
// lines kept it says the same of the screen's first row.
func (h History) Cut() bool {
	switch {
	case h.dropped == h.cleared:
		return false
	case h.dropped > h.oldest():
		b, i := h.at(h.dropped - 1)
		_, wrapped, _ := splitLine(b.line(i))
		return wrapped
	}
	return h.cut
}

// oldest returns the absolute number of the oldest line that is kept, in the scrollback or not.
func (h *History) oldest() uint64 {
	if len(h.sealed) > 0 {
		return h.sealed[0].first
	}
	return h.tail.first
}

// at returns the block of a kept line, given by its absolute number, and the line's index in it.
func (h *History) at(line uint64) (b *block, i int) {
	if b = &h.tail; line < b.first {
		b = h.sealed[sort.Search(len(h.sealed), func(k int) bool { return h.sealed[k].first > line })-1]
	}
	return b, int(line - b.first)
}

// find returns the encoded line i.
func (h *History) find(i int) []byte {
	if i < 0 || i >= h.Len() {
		return nil
	}
	b, k := h.at(h.dropped + uint64(i))
	return b.line(k)
}

// Line returns the text of line i, without trailing blanks unless it continues in the next line; ""
// when there is no such line.
func (h History) Line(i int) string {
	text, wrapped, _ := splitLine(h.find(i))
	if strings.IndexFunc(string(text), func(r rune) bool { return r <= codeClusterEnd }) < 0 {
		if !wrapped {
			text = trimSpaces(text)
		}
		return string(text)
	}
	out := make([]byte, 0, len(text))
	for _, c := range text {
		if c == codeBlank {
			out = append(out, ' ')
		} else if c > codeClusterEnd {
			out = append(out, c)
		}
	}
	if !wrapped {
		out = trimSpaces(out)
	}
	return string(out)
}

// Wrapped reports whether line i continues in line i+1 (for the last line: in the screen's first
// row).
func (h History) Wrapped(i int) bool {
	_, wrapped, _ := splitLine(h.find(i))
	return wrapped
}

// EachCell calls f for each column of line i up to the last one that was written.
func (h History) EachCell(i int, f func(col int, c Cell)) {
	if line := h.find(i); line != nil {
		decodeRow(line).eachCell(-1, f)
	}
}

func trimSpaces(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}
