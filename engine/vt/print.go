package vt

import "unicode/utf8"

// maxMarks bounds what is added to one character: combining marks, or the parts of a cluster. Text
// with more is not language (Unicode Stream-Safe Text Format allows 30 for any script, the longest
// emoji have 10); the rest is dropped.
const maxMarks = 16

// printASCII prints a run of bytes 0x20-0x7e.
func (t *Terminal) printASCII(p []byte) {
	if t.modes.insert || t.sides.set || t.charsets.active() != charsetASCII || t.charsets.single != 0 {
		for _, c := range p {
			t.last = t.charsets.active().translate(c)
			t.charsets.single = 0
			t.put(t.last, 1)
		}
		t.joint = joint{open: true}
		return
	}
	if t.tracked() {
		t.printTracked(p)
		return
	}
	t.printPlain(p)
}

// printPlain prints a run of ASCII where it is not to be inserted or translated, from margin to
// margin.
func (t *Terminal) printPlain(p []byte) {
	t.last = rune(p[len(p)-1])
	t.joint = joint{open: true}
	c := &t.cursor
	for len(p) > 0 {
		if c.pending {
			if t.modes.autoWrap {
				t.wrap()
			} else {
				c.pending = false
			}
		}
		room := t.cols - c.col
		n := len(p)
		if n >= room {
			n = room
			if !t.modes.autoWrap { // what does not fit is drawn over the last column
				t.writeASCII(c.col, p[:n])
				t.writeASCII(t.cols-1, p[len(p)-1:])
				c.col, c.pending = t.cols-1, true
				return
			}
		}
		t.writeASCII(c.col, p[:n])
		p = p[n:]
		c.col += n
		if n == room {
			c.col, c.pending = t.cols-1, true
		}
	}
}

// writeASCII puts p into the cursor's row; it must fit.
func (t *Terminal) writeASCII(x int, p []byte) {
	r := t.own(t.cursor.row, x)
	end := x + len(p)
	attr := t.pen.attr
	if r.rich {
		r.split(x)
		r.split(end)
	}
	if t.pen.underline != 0 || t.link != "" {
		attr |= r.addExtra(extra{t.pen.underline, t.link})
	}
	hi := uint64(t.pen.bg) | uint64(attr)<<32
	if hi|uint64(t.pen.fg) != 0 {
		r.rich = true
	}
	fg := uint64(t.pen.fg) << 32
	cells := r.cells[x:end]
	for i, c := range p[:len(cells)] {
		cells[i] = cell{fg | uint64(c), hi}
	}
	if end > r.n {
		r.n = end
	}
	if end == len(r.cells) {
		r.wrapped = false
	}
}

// split makes sure that no wide character straddles the boundary before column x: one half is about
// to be overwritten, the other becomes blank.
func (r *row) split(x int) {
	if x <= 0 || x >= r.n || r.cells[x].attr()&attrContinuation == 0 {
		return
	}
	for i := x - 1; i <= x; i++ {
		c := r.cells[i]
		r.cells[i] = makeCell(0, c.fg(), c.bg(), c.attr()&^(attrWide|attrContinuation))
	}
}

// print prints a character that is not ASCII.
func (t *Terminal) print(r rune) {
	p := props(r)
	class := p >> propClassShift & propClassMask
	if t.sides.set {
		t.work += workEarned
	}
	if r < 0xa0 { // C1 controls have no meaning in UTF-8 here, and no glyph
		return
	}
	if t.modes.graphemes {
		joined := t.joint.joins(class)
		t.joint = t.joint.after(class, joined)
		if joined {
			t.extend(r, p)
			return
		}
	} else {
		t.joint = joint{open: true}
	}
	w := int(p & propWidth)
	if w == 0 {
		t.addMark(r)
		return
	}
	t.last = r
	t.charsets.single = 0
	t.put(r, w)
}

// printRun prints the non-ASCII text at the start of p while it is simple: characters with a width
// of their own, mixed with single ASCII characters, that fit the row. It returns the rest, which
// may be all of p.
func (t *Terminal) printRun(p []byte) []byte {
	c := &t.cursor
	if c.pending || t.modes.insert || t.sides.set || t.modes.graphemes || t.charsets != (charsets{}) || t.tracked() {
		return p
	}
	// Nothing may be touched unless a character will be written: a partial one changes nothing yet,
	// and halving a wide one is not simple.
	cells := t.grid.rows[c.row].cells[c.col:]
	switch ch, _ := utf8.DecodeRune(p); int(props(ch) & propWidth) {
	case 1:
		if ch == utf8.RuneError || ch < 0xa0 || len(cells) < 2 {
			return p
		}
	case 2:
		if len(cells) < 3 || cells[1].attr()&attrWide != 0 {
			return p
		}
	default:
		return p
	}
	if cells[0].attr()&attrContinuation != 0 {
		return p
	}
	r := t.own(c.row, c.col)
	attr := t.pen.attr
	if t.pen.underline != 0 || t.link != "" {
		attr |= r.addExtra(extra{t.pen.underline, t.link})
	}
	r.rich = true
	fg := uint64(t.pen.fg) << 32
	hi := uint64(t.pen.bg) | uint64(attr)<<32
	cols, n, last := simpleRun(r.cells[c.col:], p, fg, hi)
	x := c.col + cols
	// The last character may have covered half of a wide one; r.n must include the columns
	// examined.
	if x < r.n && r.cells[x].attr()&attrContinuation != 0 {
		h := r.cells[x]
		r.cells[x] = makeCell(0, h.fg(), h.bg(), h.attr()&^attrContinuation)
	}
	c.col, r.n = x, max(r.n, x)
	t.last, t.joint = last, joint{open: true}
	return p[n:]
}

// simpleRun writes the characters at the start of p to cells in the given style and returns their
// columns and bytes, and the last character. It stops before a character that has no width, is not
// text, begins a longer run of ASCII, reaches the last column or would halve a wide character. As a
// separate function it runs in registers.
func simpleRun(cells []cell, p []byte, fg, hi uint64) (cols, n int, last rune) {
	for n < len(p) {
		ch, k := rune(p[n]), 1
		switch rest := p[n:]; {
		case ch >= 0xe1 && ch <= 0xec && len(rest) > 2 && rest[1]&0xc0 == 0x80 && rest[2]&0xc0 == 0x80:
			ch, k = ch&0x0f<<12|rune(rest[1]&0x3f)<<6|rune(rest[2]&0x3f), 3
		case ch >= 0xc2 && ch <= 0xdf && len(rest) > 1 && rest[1]&0xc0 == 0x80:
			ch, k = ch&0x1f<<6|rune(rest[1]&0x3f), 2
		case ch >= utf8.RuneSelf:
			if ch, k = utf8.DecodeRune(rest); ch == utf8.RuneError {
				return cols, n, last
			}
		case ch < 0x20 || ch == 0x7f || len(rest) > 1 && rest[1] < utf8.RuneSelf:
			return cols, n, last
		}
		w := int(props(ch) & propWidth)
		if w == 0 || ch < 0xa0 && k > 1 || cols+w >= len(cells) {
			break
		}
		if w == 2 {
			if cells[cols+1].hi&(uint64(attrWide)<<32) != 0 {
				break
			}
			cells[cols+1] = cell{fg, hi | uint64(attrContinuation)<<32}
			cells[cols] = cell{fg | uint64(ch), hi | uint64(attrWide)<<32}
		} else {
			cells[cols] = cell{fg | uint64(ch), hi}
		}
		cols += w
		n += k
		last = ch
	}
	return cols, n, last
}

// put prints one character of one or two columns at the cursor.
func (t *Terminal) put(ch rune, width int) {
	c := &t.cursor
	if c.pending {
		if t.modes.autoWrap {
			t.wrap()
		} else {
			c.pending = false
		}
	}
	edge := t.edge()
	if width == 2 && c.col == edge {
		// It moves to the next row whole; the column it leaves stays blank.
		if !t.modes.autoWrap || t.cols < 2 {
			return
		}
		t.taking(c.row, c.row, c.col, c.col+1)
		r := t.own(c.row, nowhere)
		r.split(c.col)
		r.split(c.col + 1) // with side margins the row continues
		r.set(c.col, makeCell(0, t.pen.fg, t.pen.bg, t.pen.attr|attrSpacer))
		r.rich = true
		t.wrap()
		edge = t.edge()
	}
	if t.modes.insert {
		t.insertCells(width)
	}
	t.writing(c.row, c.col, c.col+width)
	r := t.own(c.row, c.col)
	if r.rich {
		r.split(c.col)
		r.split(c.col + width)
	}
	attr := t.pen.attr
	if t.pen.underline != 0 || t.link != "" {
		attr |= r.addExtra(extra{t.pen.underline, t.link})
	}
	r.rich = true
	end := c.col + width
	if end > r.n {
		r.n = end
	}
	if end >= len(r.cells) {
		r.wrapped = false
	}
	if width == 2 {
		r.cells[c.col] = makeCell(uint32(ch), t.pen.fg, t.pen.bg, attr|attrWide)
		r.cells[c.col+1] = makeCell(0, t.pen.fg, t.pen.bg, attr|attrContinuation)
	} else {
		r.cells[c.col] = makeCell(uint32(ch), t.pen.fg, t.pen.bg, attr)
	}
	c.col = end
	if end > edge {
		c.col, c.pending = edge, true
	}
}

// set writes one cell and keeps n up to date.
func (r *row) set(x int, c cell) {
	r.cells[x] = c
	if x >= r.n && c != (cell{}) {
		r.n = x + 1
	}
}

// wrap continues in the next row. Between side margins the rows do not become one line.
func (t *Terminal) wrap() {
	t.wrapping()
	c := &t.cursor
	if (c.row == t.bottom || c.row < t.rows-1) && !t.sides.set {
		t.own(c.row, nowhere).wrapped = true
	}
	t.index()
	c.col, c.pending = t.sides.left, false
}

// target returns the column of the character before the cursor, -1 when there is none in this row.
func (t *Terminal) target() int {
	x := t.cursor.col
	if !t.cursor.pending {
		x--
	}
	r := t.grid.rows[t.cursor.row]
	if x > 0 && r.cells[x].attr()&attrContinuation != 0 {
		x--
	}
	return x
}

// addMark adds a character without width to the one before the cursor. Without one it is dropped,
// as no cell could hold it.
func (t *Terminal) addMark(ch rune) {
	if x := t.target(); x >= 0 {
		t.append(x, ch)
	}
}

// append adds a character to the text of a cell; a blank cell takes none.
func (t *Terminal) append(x int, ch rune) {
	if t.grid.rows[t.cursor.row].cells[x].content() == 0 {
		return
	}
	r := t.own(t.cursor.row, x)
	c := r.cells[x]
	var buf [clusterLenMax + utf8.UTFMax]byte
	text := buf[:0]
	if v := c.content(); v&clusterBit != 0 {
		text = append(text, r.cluster(v)...)
	} else {
		text = utf8.AppendRune(text, rune(v))
	}
	if utf8.RuneCount(text) > maxMarks || len(text)+utf8.UTFMax > clusterLenMax {
		return
	}
	if t.tracked() { // the character is there with its marks
		t.moments.mark(t.cursor.row, x, x+1)
	}
	text = utf8.AppendRune(text, ch)
	c.lo = c.lo&^0xffffffff | uint64(r.addCluster(text))
	r.cells[x] = c
}

// extend continues the cluster before the cursor (mode 2027). The cluster is as wide as its widest
// part, and wide with U+FE0F where emoji presentation exists, or as a flag. An emoji that U+FE0E
// turns into text becomes narrow (kitty, ghostty).
func (t *Terminal) extend(ch rune, p byte) {
	x := t.target()
	if x < 0 {
		return
	}
	old := t.grid.rows[t.cursor.row].cells[x]
	if old.content() == 0 {
		return
	}
	t.append(x, ch)
	if v := old.content(); ch == 0xfe0e && v&clusterBit == 0 && props(rune(v))&propTextNarrow != 0 {
		t.narrow(x)
		return
	}
	wide := p&propWidth == 2 || p>>propClassShift&propClassMask == classRegional
	if ch == 0xfe0f {
		v := old.content()
		wide = v&clusterBit == 0 && props(rune(v))&propEmojiWide != 0
	}
	if !wide || old.attr()&attrWide != 0 {
		return
	}
	t.widen(x)
}

// narrow makes the wide character at column x, the last one printed, one column wide; the cursor
// follows.
func (t *Terminal) narrow(x int) {
	r := t.own(t.cursor.row, x)
	if r.cells[x].attr()&attrWide == 0 {
		return
	}
	c := r.cells[x]
	r.cells[x].hi &^= uint64(attrWide) << 32
	r.cells[x+1] = makeCell(0, c.fg(), c.bg(), c.attr()&^attrWide)
	r.shrink()
	t.cursor.col, t.cursor.pending = x+1, false
}

// widen makes the character at column x, the last one printed, two columns wide.
func (t *Terminal) widen(x int) {
	c, edge := &t.cursor, t.edge()
	if x < edge {
		t.writing(c.row, x+1, x+2)
	}
	if x >= edge && t.modes.autoWrap && t.cols >= 2 {
		t.wrapping()
	}
	r := t.own(c.row, x)
	old := r.cells[x]
	if x < edge {
		r.split(x + 2)
		r.cells[x].hi |= uint64(attrWide) << 32
		r.set(x+1, makeCell(0, old.fg(), old.bg(), old.attr()|attrContinuation))
		c.col, c.pending = x+2, false
		if c.col > edge {
			c.col, c.pending = edge, true
		}
		return
	}
	if !t.modes.autoWrap || t.cols < 2 {
		return
	}
	// It no longer fits: the whole cluster moves to the next row.
	v := old.content()
	var text []byte
	if v&clusterBit != 0 {
		text = append(text, r.cluster(v)...)
	}
	extras := r.extraOf(old)
	r.cells[x] = cell{}
	t.wrap()
	x, edge = c.col, t.edge()
	t.writing(c.row, x, x+2)
	n := t.own(c.row, x)
	n.split(x)
	n.split(x + 2)
	attr := old.attr() &^ attrExtraMask
	if extras != nil {
		attr |= n.addExtra(*extras)
	}
	if text != nil {
		v = n.addCluster(text)
	}
	n.rich = true
	n.set(x, makeCell(v, old.fg(), old.bg(), attr|attrWide))
	n.set(x+1, makeCell(0, old.fg(), old.bg(), attr|attrContinuation))
	c.col = x + 2
	if c.col > edge {
		c.col, c.pending = edge, true
	}
}

// repeatMax bounds REP. Programs repeat within a row; a longer count only serves to keep the
// terminal busy, and now costs no more than a thousand bytes of text.
const repeatMax = MaxSide

// repeat is REP: the last printed character again, n times. Where it is not simple text, it goes
// one by one and has to be paid for.
func (t *Terminal) repeat(n int) {
	ch := t.last
	t.last = 0
	if ch == 0 {
		return
	}
	n = min(n, t.rows*t.cols, repeatMax)
	w := runeWidth(ch)
	each := workText
	if t.modes.insert {
		each = t.cols
	}
	if simple := ch < 0x80 && !t.modes.insert && !t.sides.set; !simple && !t.pay(n*each) {
		return
	}
	if ch < 0x80 && !t.modes.insert {
		var buf [256]byte
		for i := range buf {
			buf[i] = byte(ch)
		}
		saved := t.charsets
		t.charsets = charsets{}
		for n > 0 {
			k := min(n, len(buf))
			t.printASCII(buf[:k])
			n -= k
		}
		t.charsets = saved
	} else if w > 0 {
		for range n {
			t.put(ch, w)
		}
	}
	t.last = 0
}
