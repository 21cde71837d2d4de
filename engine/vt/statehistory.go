package vt

import (
	"bytes"
	"cmp"
	"math"
	"slices"
)

// newest returns h without its older blocks, as if they had been too many.
func (h history) newest() history {
	n := len(h.sealed)
	if len(h.tail.ends) == 0 {
		n = max(0, n-1)
	}
	h.lose(n)
	h.dropped = max(h.dropped, h.oldest())
	return h
}

// oldest returns the absolute number of the oldest line that is kept.
func (h *history) oldest() uint64 {
	v := h.view()
	return v.oldest()
}

// writable returns the writing side of what a screen shows of the scrollback.
func (h *History) writable() history {
	return history{sealed: h.sealed, tail: h.tail, dropped: h.dropped, next: h.next, cut: h.cut,
		cleared: h.cleared, edge: h.edge, lost: h.lost}
}

// history writes or reads the scrollback, and the lines that are kept beyond it.
func (c *codec) history(h *history) {
	const most = math.MaxInt / historyBytesPerLine
	limit := min(h.limit, most)
	if number(c, &limit, most, "scrollback"); c.loading {
		h.limit = limit
	}
	first := h.oldest()
	c.line(&first, "scrollback")
	oldest, n := first, c.count(len(h.sealed), 15, "scrollback")
	if c.loading && n > 0 {
		h.sealed = make([]*block, n)
		for i := range h.sealed {
			h.sealed[i] = &block{}
		}
	}
	for _, b := range h.sealed {
		c.block(b, &first)
		c.must(len(b.ends) > 0, "scrollback")
	}
	c.block(&h.tail, &first)
	if c.loading {
		h.next = first
		for _, b := range h.sealed {
			h.bytes += b.room()
		}
	}
	c.ends(&h.dropped, &h.cleared, &h.cut, &h.lost, oldest, h.next)
	c.must(h.next-h.dropped <= uint64(h.limit), "scrollback")
	c.sequence(&h.edge.Seq, "scrollback")
	c.line(&h.edge.Line, "scrollback")
}

// ends writes or reads where the scrollback ends, given the first line that is kept and the next.
func (c *codec) ends(dropped, cleared *uint64, cut *bool, lost *Edge, oldest, next uint64) {
	c.line(dropped, "scrollback")
	c.line(cleared, "scrollback")
	c.must(*dropped >= oldest && *dropped <= next && *cleared <= next, "scrollback")
	c.bools("scrollback", cut)
	c.sequence(&lost.Seq, "scrollback")
	c.line(&lost.Line, "scrollback")
}

// block writes or reads a block; next is the number of its first line, and then of the one after
// its last.
func (c *codec) block(b *block, next *uint64) {
	n := c.count(len(b.ends), 1+lineHead, "lines")
	if c.loading {
		b.first = *next
		b.ends = make([]uint32, n)
	}
	from := uint32(0)
	for i := range b.ends {
		size := b.ends[i] - from
		number(c, &size, math.MaxUint32, "lines")
		if c.loading && int(size) > len(c.b)-int(from) {
			c.fail("lines")
			return
		}
		from += size
		if c.loading {
			b.ends[i] = from
		}
	}
	*next += uint64(n)
	data := c.bytes(b.data, math.MaxInt, "lines")
	if c.loading {
		c.must(len(data) == int(from), "lines")
		if c.failed() {
			return
		}
		b.data = append(make([]byte, 0, len(data)), data...)
		for i := range b.ends {
			c.must(readLine(b.line(i)).good, "lines")
		}
	}
	// What a line may have grown its block to; memory is taken when the next one comes.
	room := b.room() - len(b.data)
	if number(c, &room, 2*len(b.data)+256<<10, "lines"); c.loading && room > 0 {
		b.size = len(b.data) + room
	}
	c.departures(b)
}

// departures writes or reads when the lines of a block left the screen and were written.
func (c *codec) departures(b *block) {
	n := c.count(len(b.left), 5, "lines that left")
	c.must((n > 0) == (len(b.ends) > 0) && n <= len(b.ends), "lines that left")
	k := c.count(len(b.more), 5, "lines that left")
	c.must(k <= math.MaxUint16, "lines that left")
	if c.failed() {
		return
	}
	if c.loading && n > 0 {
		b.left = make([]departure, n)
	}
	if c.loading && k > 0 {
		b.more = make([]writes, k)
	}
	for i := range b.left {
		d := &b.left[i]
		c.sequence(&d.seq, "lines that left")
		c.sequence(&d.wrote, "lines that left")
		number(c, &d.line, uint32(len(b.ends)-1), "lines that left")
		c.must(i == 0 && d.line == 0 || i > 0 && d.line > b.left[i-1].line, "lines that left")
		number(c, &d.col, MaxSide-1, "lines that left")
		number(c, &d.more, uint16(k), "lines that left")
	}
	for i := range b.more {
		c.writes(&b.more[i])
		c.must(b.more[i].n > 1, "lines that left")
	}
}

// held writes or reads the screen that is shown during a synchronized update; h is what was written
// or read of the scrollback. Rows that the update has not changed are named by their place.
func (c *codec) held(t *Terminal, h *history) {
	if c.loading {
		t.heldMade = &Screen{Rows: t.rows, Cols: t.cols,
			PixelWidth: t.pixelWidth, PixelHeight: t.pixelHeight,
			rows: make([]*row, t.rows), text: new(lazyText)}
	}
	s := t.heldMade
	c.shownCursor(&s.Cursor)
	c.shownModes(&s.Modes)
	c.text(&s.Title, titleMax, "title")
	c.bools("title", &s.TitleSet)
	number(c, &s.Theme, Theme(len(themes)-1), "theme")
	c.sequence(&s.Sequence, "sequence")
	rows := slices.Concat(t.main.rows, t.alt.rows)
	c.last = lastRow{}
	for y, r := range s.rows {
		place := placeOf(rows, r, y)
		if number(c, &place, len(rows), "held rows"); place > 0 && c.loading {
			r = rows[place-1]
			c.must(r.frame == 0 && r.born == 0, "held rows")
		} else if place == 0 {
			r = c.gridRow(r)
		}
		if c.failed() {
			return
		}
		if c.loading {
			s.rows[y] = r
		}
	}
	v := &s.history
	if c.newest {
		w := v.writable().newest()
		shown := w.view()
		v = &shown
	}
	c.heldHistory(v, h)
	if !c.loading || c.failed() {
		return
	}
	t.shown = visible{cursor: s.Cursor, modes: s.Modes, title: s.Title, titleSet: s.TitleSet,
		lines: v.next, dropped: v.cleared, goesOn: v.next != v.cleared && goesOn(v.sealed, &v.tail)}
	s.Modes.Synchronized = true
	if t.saved { // they are the rows that are shown
		t.before = slices.Clone(s.rows)
	}
}

// placeOf returns 1 + the index of r in rows, which is y if it can be; 0 when it is not there.
func placeOf(rows []*row, r *row, y int) int {
	if rows[y] == r {
		return y + 1
	}
	return slices.Index(rows, r) + 1
}

// heldHistory writes or reads the scrollback that is shown during a synchronized update. It has
// most blocks in common with the one that the update adds to.
func (c *codec) heldHistory(v *History, h *history) {
	first := v.oldest()
	c.line(&first, "held scrollback")
	oldest, n := first, c.count(len(v.sealed), 1, "held scrollback")
	if c.loading && n > 0 {
		v.sealed = make([]*block, n)
	}
	for i, b := range v.sealed {
		place := 0
		if !c.loading {
			place = h.place(b)
		}
		number(c, &place, len(h.sealed), "held scrollback")
		switch {
		case place == 0:
			if c.loading {
				b = &block{}
			}
			c.block(b, &first)
			c.must(len(b.ends) > 0, "held scrollback")
		default:
			b = h.sealed[place-1]
			c.must(b.first == first, "held scrollback")
			first += uint64(len(b.ends))
		}
		if c.failed() {
			return
		}
		if c.loading {
			v.sealed[i] = b
		}
	}
	begins := !c.loading && h.tail.beginsWith(&v.tail)
	if c.bools("held scrollback", &begins); begins {
		c.beginning(&v.tail, &h.tail)
		c.must(v.tail.first == first, "held scrollback")
		first += uint64(len(v.tail.ends))
	} else {
		c.block(&v.tail, &first)
	}
	if c.loading {
		v.next = first
	}
	c.ends(&v.dropped, &v.cleared, &v.cut, &v.lost, oldest, v.next)
	c.sequence(&v.edge.Seq, "held scrollback")
	if c.loading {
		v.edge.Line = v.next
	}
}

// place returns 1 + the index of sealed block b; 0 when it is none.
func (h *history) place(b *block) int {
	i, _ := slices.BinarySearchFunc(h.sealed, b.first, func(x *block, first uint64) int {
		return cmp.Compare(x.first, first)
	})
	if i < len(h.sealed) && h.sealed[i] == b {
		return i + 1
	}
	return 0
}

// beginsWith reports whether b began as o, before lines were added.
func (b *block) beginsWith(o *block) bool {
	return b.first == o.first && bytes.HasPrefix(b.data, o.data) && begins(b.ends, o.ends) &&
		begins(b.left, o.left) && begins(b.more, o.more)
}

func begins[T comparable](a, b []T) bool { return len(a) >= len(b) && slices.Equal(a[:len(b)], b) }

// beginning writes or reads how much of b, which began as o, was there.
func (c *codec) beginning(o, b *block) {
	ends, left, more := len(o.ends), len(o.left), len(o.more)
	number(c, &ends, len(b.ends), "held scrollback")
	number(c, &left, len(b.left), "held scrollback")
	number(c, &more, len(b.more), "held scrollback")
	c.must((ends > 0) == (left > 0), "held scrollback")
	if !c.loading || c.failed() {
		return
	}
	*o = block{first: b.first, ends: b.ends[:ends:ends],
		left: b.left[:left:left], more: b.more[:more:more]}
	if ends > 0 {
		o.data = b.data[:b.ends[ends-1]:b.ends[ends-1]]
	}
	for _, d := range o.left {
		c.must(int(d.line) < ends && int(d.more) <= more, "held scrollback")
	}
}

func (c *codec) shownCursor(p *Cursor) {
	number(c, &p.Row, c.t.rows-1, "cursor")
	number(c, &p.Col, c.t.cols-1, "cursor")
	c.bools("cursor", &p.Visible, &p.PendingWrap, &p.Blink)
	number(c, &p.Shape, CursorBar, "cursor's style")
	number(c, &p.Style, 6, "cursor's style")
}

// shownModes writes or reads the modes as shown, but for Synchronized, which is set.
func (c *codec) shownModes(m *Modes) {
	c.bools("modes",
		&m.AltScreen, &m.AppCursor, &m.AppKeypad, &m.BracketedPaste, &m.FocusEvents, &m.AlternateScroll,
		&m.AutoWrap, &m.Origin, &m.Insert, &m.NewLine, &m.ReverseVideo, &m.ReverseWrap, &m.InBandResize,
		&m.GraphemeClusters, &m.BackarrowIsBS)
	number(c, &m.Mouse, MouseAny, "mouse mode")
	number(c, &m.MouseEncoding, MouseEncodingPixels, "mouse mode")
	number(c, &m.ModifyOtherKeys, 2, "modified keys")
	number(c, &m.KittyKeyboard, kittyAllFlags, "keyboard flags")
}
