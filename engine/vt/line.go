package vt

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// Codes inside an encoded line. Cells never hold C0 characters, so these bytes are free.
const (
	codeBlank      = 0x00 // a cell never written
	codeWide       = 0x01 // the next character takes two columns
	codeCluster    = 0x02 // start of a text of more than one rune
	codeClusterEnd = 0x03
)

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

// textRoom is textMax by what the row shows, whatever it has shown before. It is no higher, and room
// for the head and text.
func textRoom(r *row) int {
	cells := r.cells[:r.encodedWidth()]
	plain, clusters := true, 0
	for _, c := range cells {
		ch := c.content()
		plain = plain && ch < utf8.RuneSelf && c.lo>>32|c.hi == 0
		if ch&clusterBit != 0 {
			clusters += int(ch & clusterLenMax)
		}
	}
	if plain {
		return lineHead + len(cells)
	}
	return lineHead + cellTextMax*len(cells) + clusters
}

// encodedWidth returns how many columns of the row are encoded.
func (r *row) encodedWidth() int {
	if r.wrapped {
		return r.joinedWidth()
	}
	width := r.n
	for width > 0 && r.cells[width-1] == (cell{}) {
		width--
	}
	return width
}

// encodeRow appends an encoded row to dst, which has room for textRoom.
func encodeRow(dst []byte, r *row) []byte {
	width, head := r.encodedWidth(), uint32(0)
	if r.wrapped {
		head = lineWrapped
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
			for n < len(cells) && r.sameLook(cells[0], cells[n]) {
				n += sameStyle(cells[n:])
			}
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

// sameLook reports whether two cells with extras look the same, wherever those are kept.
func (r *row) sameLook(a, b cell) bool {
	const other = notStyle | uint64(attrExtraMask)<<32
	x, y := r.extraOf(a), r.extraOf(b)
	return x != nil && y != nil && a.lo>>32 == b.lo>>32 && (a.hi^b.hi)&^other == 0 && *x == *y
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

// A lineRun is what appendRun writes.
type lineRun struct {
	cols                    int
	attr, fg, bg, underline uint32
	link                    []byte
}

// splitRun returns the first run and the others; false when there is no whole one.
func splitRun(runs []byte) (r lineRun, rest []byte, ok bool) {
	if len(runs) < runSize {
		return r, nil, false
	}
	r.cols = int(binary.LittleEndian.Uint16(runs))
	r.attr = uint32(binary.LittleEndian.Uint16(runs[2:]))
	r.fg, r.bg = binary.LittleEndian.Uint32(runs[4:]), binary.LittleEndian.Uint32(runs[8:])
	if runs = runs[runSize:]; r.attr&runExtra == 0 {
		return r, runs, true
	}
	if len(runs) < 4 {
		return r, nil, false
	}
	r.underline = binary.LittleEndian.Uint32(runs)
	if runs = runs[4:]; r.attr&runSameLink != 0 {
		return r, runs, true
	}
	size, n := binary.Uvarint(runs)
	if n <= 0 || size > uint64(len(runs)-n) {
		return r, nil, false
	}
	end := n + int(size)
	r.link = runs[n:end]
	return r, runs[end:], true
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
	text, wrapped, _ := splitLine(line)
	r := &row{wrapped: wrapped, rich: true}
	r.decode(line, make([]cell, 0, len(text)))
	return r
}

// decode gives r the cells of an encoded line, appended to cells, and what they refer to.
func (r *row) decode(line []byte, cells []cell) {
	text, _, runs := splitLine(line)
	r.cells = cells
	for len(text) > 0 {
		attr, content := uint32(0), uint32(0)
		if text[0] == codeWide {
			attr = attrWide
			text = text[1:]
		}
		switch c := text[0]; {
		case c == codeCluster:
			end := 1
			for text[end] != codeClusterEnd {
				end++
			}
			off := len(r.arena)
			r.arena = append(r.arena, text[1:end]...)
			content = clusterBit | uint32(off)<<clusterLenBits | uint32(end-1)
			text = text[end+1:]
		case c < utf8.RuneSelf:
			content, text = uint32(c), text[1:]
		default:
			c, size := utf8.DecodeRune(text)
			content, text = uint32(c), text[size:]
		}
		r.cells = append(r.cells, makeCell(content, 0, 0, attr))
		if attr == attrWide {
			r.cells = append(r.cells, makeCell(0, 0, 0, attrContinuation))
		}
	}
	r.n = len(r.cells)
	link := ""
	for i := 0; len(runs) > 0 && i < r.n; {
		var run lineRun
		run, runs, _ = splitRun(runs)
		attr := run.attr
		if attr&runExtra != 0 {
			if attr&runSameLink == 0 {
				link = string(run.link)
			}
			attr = attr&attrStyle | r.addExtra(extra{Color(run.underline), link})
		}
		for end := min(i+run.cols, r.n); i < end; i++ {
			c := r.cells[i]
			r.cells[i] = makeCell(c.content(), run.fg, run.bg, attr|c.attr())
		}
	}
}

// A lineInfo is what an encoded line is.
type lineInfo struct {
	good    bool // it can be decoded
	wrapped bool
	plain   bool // ASCII without styles
	cols    int
}

// readLine looks through an encoded line that may come from anywhere.
func readLine(line []byte) (l lineInfo) {
	if len(line) < lineHead {
		return l
	}
	n := int(binary.LittleEndian.Uint32(line) >> 2)
	if n > len(line)-lineHead {
		return l
	}
	text, wrapped, runs := splitLine(line)
	l = lineInfo{wrapped: wrapped, plain: len(runs) == 0}
	for len(text) > 0 {
		n, cols := 1, 1
		if text[0] == codeWide {
			cols, text = 2, text[1:]
			if len(text) == 0 || text[0] == codeBlank {
				return l
			}
		}
		switch c := text[0]; {
		case c == codeBlank || c >= 0x20 && c < 0x7f:
		case c == codeCluster:
			n = bytes.IndexByte(text, codeClusterEnd) + 1
			if n < 3 || !validCluster(text[1:n-1]) {
				return l
			}
		default:
			var r rune
			if r, n = utf8.DecodeRune(text); n == 1 || !printable(r) {
				return l
			}
		}
		l.plain = l.plain && cols == 1 && text[0] < 0x7f && text[0] != codeCluster
		text = text[n:]
		if l.cols += cols; l.cols > MaxSide {
			return l
		}
	}
	styled := line[0]&lineStyled != 0
	l.good = styled == (len(runs) > 0) && (!styled || validRuns(runs, l.cols))
	return l
}

// validCluster reports whether a cell can hold text.
func validCluster(text []byte) bool {
	if len(text) > clusterLenMax || !utf8.Valid(text) || utf8.RuneCount(text) > maxMarks+1 {
		return false
	}
	for _, r := range string(text) {
		if !printable(r) {
			return false
		}
	}
	return true
}

// validRuns reports whether runs are the styles of so many columns.
func validRuns(runs []byte, cols int) bool {
	for len(runs) > 0 {
		r, rest, ok := splitRun(runs)
		if !ok || r.cols == 0 || r.cols > cols || !validColour(r.fg) || !validColour(r.bg) ||
			r.attr&^(runExtra|runSameLink) != validStyle(r.attr) {
			return false
		}
		if r.attr&runExtra == 0 {
			if r.attr&runSameLink != 0 {
				return false
			}
		} else if !validColour(r.underline) || len(r.link) > linkMax ||
			Clean(r.link, linkMax) != string(r.link) {
			return false
		}
		cols -= r.cols
		runs = rest
	}
	return cols == 0
}
