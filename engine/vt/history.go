package vt

import (
	"encoding/binary"
	"sort"
	"strings"
	"unicode/utf8"
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

// Codes inside an encoded line. Cells never hold C0 characters, so these bytes are free.
const (
	codeBlank      = 0x00 // a cell never written
	codeWide       = 0x01 // the next character takes two columns
	codeCluster    = 0x02 // start of a text of more than one rune
	codeClusterEnd = 0x03
)

type block struct {
	first uint64 // absolute number of its first line
	data  []byte
	ends  []uint32    // end of each line in data
	left  []departure // when its lines left the screen, and when they were written
	more  []writes    // of lines that were written in several steps
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
	need := textMax(r)
	if len(h.tail.data)+need > cap(h.tail.data) {
		h.seal(need)
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

// seal closes the tail and opens a block that has room for at least need bytes.
func (h *history) seal(need int) {
	size := min(max(blockMin, 2*cap(h.tail.data)), blockMax)
	if len(h.tail.ends) > 0 {
		full := h.tail
		// A block that grew for one long line is cut to size; the usual one has little to give
		// back.
		if cap(full.data)-len(full.data) > len(full.data)/8+256 {
			full.data = append(make([]byte, 0, len(full.data)), full.data...)
		}
		h.bytes += cap(full.data)
		h.sealed = append(h.sealed, &full) // past what snapshots read
		for i, over := 0, h.bytes-h.limit*historyBytesPerLine; i < len(h.sealed) && over > 0; i++ {
			over -= cap(h.sealed[i].data)
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
		if bytes -= cap(h.sealed[n].data); bytes < leftKept {
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
		h.bytes -= cap(b.data)
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
// screen.
func (h *history) breakWrap() {
	b := &h.tail
	if len(b.ends) == 0 {
		if len(h.sealed) == 0 {
			return
		}
		b = h.sealed[len(h.sealed)-1]
	}
	i := len(b.ends) - 1
	if !b.wrapped(i) {
		return
	}
	seq, edge := b.departed(i).seq, h.edge
	r := h.takeNewest()
	r.wrapped = false
	h.push(r, seq)
	h.edge = edge // nothing has left
}

// takeNewest removes the newest line that is kept; there must be one.
func (h *history) takeNewest() *row {
	if len(h.tail.ends) == 0 {
		b := h.sealed[len(h.sealed)-1]
		h.bytes -= cap(b.data)
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
	h.tail.data = h.tail.data[:end:end]
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

// An encoded line is: four bytes, little-endian, of the text's length, shifted left by two, | 1
// when the line continues in the next, | 2 when styles follow; the text with the codes above; and
// what appendRun writes for each run of equally styled cells.
const (
	lineHead    = 4
	lineWrapped = 1
	lineStyled  = 2
	// cellTextMax is the most that a cell other than a cluster takes: codeWide and a rune; a
	// cluster takes two codes more than its bytes in the arena.
	cellTextMax = 1 + utf8.UTFMax
)

// textMax bounds the head and text of an encoded row.
func textMax(r *row) int {
	width := r.n
	if r.wrapped {
		width = len(r.cells)
	}
	if !r.rich {
		return lineHead + width
	}
	return lineHead + cellTextMax*width + len(r.arena)
}

// encodeRow appends an encoded row to dst, which has room for textMax.
func encodeRow(dst []byte, r *row) []byte {
	width := r.n
	head := uint32(0)
	if r.wrapped {
		width, head = r.joinedWidth(), lineWrapped
	} else {
		for width > 0 && r.cells[width-1] == (cell{}) {
			width--
		}
	}
	start := len(dst)
	cells := r.cells[:width]
	if !r.rich {
		dst = dst[:start+lineHead+width]
		out := dst[start+lineHead:]
		for i, c := range cells {
			out[i] = byte(c.lo)
		}
		binary.LittleEndian.PutUint32(dst[start:], uint32(width)<<2|head)
		return dst
	}
	k := encodeText(dst[start+lineHead:cap(dst)], r, cells)
	if width > 0 && (cells[0].lo>>32|cells[0].hi&^notStyle != 0 || sameStyle(cells) < width) {
		head |= lineStyled
	}
	dst = dst[:start+lineHead+k]
	binary.LittleEndian.PutUint32(dst[start:], uint32(k)<<2|head)
	if head&lineStyled != 0 {
		for link := ""; len(cells) > 0; {
			n := sameStyle(cells)
			dst, link = appendRun(dst, n, cells[0], r.extraOf(cells[0]), link)
			cells = cells[n:]
		}
	}
	return dst
}

const (
	// halves mark the columns of a wide character; notStyle masks what does not affect how a cell
	// is drawn.
	halves   = uint64(attrWide|attrContinuation) << 32
	notStyle = halves | uint64(attrProtected|attrSpacer)<<32
)

// sameStyle returns how many cells look like the first, apart from their text.
func sameStyle(cells []cell) int {
	lo, hi := cells[0].lo>>32, cells[0].hi&^notStyle
	for i, c := range cells {
		if c.lo>>32 != lo || c.hi&^notStyle != hi {
			return i
		}
	}
	return len(cells)
}

// encodeText writes the text of cells of row r and returns its length in bytes. It is separate from
// encodeRow, and the rare cases are separate from it, so that it runs in registers: half the time.
func encodeText(out []byte, r *row, cells []cell) (k int) {
	for _, c := range cells {
		ch := c.content()
		if c.hi&halves != 0 {
			if c.attr()&attrContinuation != 0 {
				continue
			}
			out[k] = codeWide
			k++
		}
		switch {
		case ch < utf8.RuneSelf:
			out[k] = byte(ch)
			k++
		case ch < 0x800:
			out[k], out[k+1] = 0xc0|byte(ch>>6), 0x80|byte(ch&0x3f)
			k += 2
		case ch < 0x10000:
			out[k], out[k+1], out[k+2] = 0xe0|byte(ch>>12), 0x80|byte(ch>>6&0x3f), 0x80|byte(ch&0x3f)
			k += 3
		default:
			k += encodeLong(out[k:], r, ch)
		}
	}
	return k
}

// encodeLong writes a content that is a cluster, or a character of four bytes.
func encodeLong(out []byte, r *row, content uint32) int {
	if content&clusterBit == 0 {
		return utf8.EncodeRune(out, rune(content))
	}
	out[0] = codeCluster
	n := 1 + copy(out[1:], r.cluster(content))
	out[n] = codeClusterEnd
	return n + 1
}

// A run of an encoded line is its columns and its attributes, two bytes each, and its colours, four
// bytes each. When the attributes include runExtra, the underline colour follows, four bytes, and
// the link: its length, or nothing with runSameLink, since it is the link of the run before.
const (
	runSize     = 12
	runSameLink = 1 << 14
	runExtra    = 1 << 15
)

// appendRun appends a run of n columns. link is the last one written.
func appendRun(dst []byte, n int, c cell, x *extra, link string) ([]byte, string) {
	attr := c.attr() & attrStyle
	if x != nil {
		attr |= runExtra
		if x.link == link {
			attr |= runSameLink
		}
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(n)|uint64(attr)<<16|uint64(c.fg())<<32)
	dst = binary.LittleEndian.AppendUint32(dst, c.bg())
	if x != nil {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(x.underline))
		if x.link != link {
			dst = binary.AppendUvarint(dst, uint64(len(x.link)))
			dst = append(dst, x.link...)
			link = x.link
		}
	}
	return dst, link
}

// splitLine returns the parts of an encoded line; nil gives empty parts.
func splitLine(line []byte) (text []byte, wrapped bool, runs []byte) {
	if len(line) < lineHead {
		return nil, false, nil
	}
	head := binary.LittleEndian.Uint32(line)
	end := lineHead + int(head>>2)
	return line[lineHead:end], head&lineWrapped != 0, line[end:]
}

// decodeRow makes a row exactly as wide as the line.
func decodeRow(line []byte) *row {
	text, wrapped, runs := splitLine(line)
	r := &row{wrapped: wrapped, rich: true, cells: make([]cell, 0, len(text))}
	for len(text) > 0 {
		attr, content := uint32(0), uint32(0)
		if text[0] == codeWide {
			attr = attrWide
			text = text[1:]
		}
		if text[0] == codeCluster {
			end := 1
			for text[end] != codeClusterEnd {
				end++
			}
			off := len(r.arena)
			r.arena = append(r.arena, text[1:end]...)
			content = clusterBit | uint32(off)<<clusterLenBits | uint32(end-1)
			text = text[end+1:]
		} else {
			c, size := utf8.DecodeRune(text)
			content = uint32(c)
			text = text[size:]
		}
		r.cells = append(r.cells, makeCell(content, 0, 0, attr))
		if attr == attrWide {
			r.cells = append(r.cells, makeCell(0, 0, 0, attrContinuation))
		}
	}
	r.n = len(r.cells)
	link := ""
	for i := 0; len(runs) > 0 && i < r.n; {
		n, attr := int(binary.LittleEndian.Uint16(runs)), uint32(binary.LittleEndian.Uint16(runs[2:]))
		fg, bg := binary.LittleEndian.Uint32(runs[4:]), binary.LittleEndian.Uint32(runs[8:])
		runs = runs[runSize:]
		if attr&runExtra != 0 {
			x := extra{underline: Color(binary.LittleEndian.Uint32(runs))}
			runs = runs[4:]
			if attr&runSameLink == 0 {
				size, k := binary.Uvarint(runs)
				link = string(runs[k : k+int(size)])
				runs = runs[k+int(size):]
			}
			x.link = link
			attr = attr&attrStyle | r.addExtra(x)
		}
		for end := min(i+n, r.n); i < end; i++ {
			c := r.cells[i]
			r.cells[i] = makeCell(c.content(), fg, bg, attr|c.attr())
		}
	}
	return r
}
