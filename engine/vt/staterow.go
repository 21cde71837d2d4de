package vt

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"
)

// A row of a state is what it is (the flags below, and 1, so that 0 is left for a row that is like
// the one above), its columns, its stamps, and its cells as the scrollback writes them. What the
// scrollback has no use for follows: cells that are marked, and what was cropped.
const (
	rowWrapped = 1 << iota
	rowRich
	rowPattern
	rowClusters // its arena is not empty, with what is no longer in use: see afford
	rowExtras   // the same of its extras
	rowMarked   // has marked cells
	rowCut
	rowOwned // the frame under way may write to it
	rowBorn  // the frame under way made it, to be used in several places
	rowAll   = 1<<iota - 1
)

// lastRow is the row above.
type lastRow struct {
	at, end int  // where it was written
	row     *row // as it was read
}

// rows writes or reads the rows of a screen.
func (c *codec) rows(rows []*row) {
	c.last = lastRow{}
	for y := range rows {
		if rows[y] = c.gridRow(rows[y]); c.failed() {
			return
		}
	}
}

// gridRow writes or reads a row of a screen.
func (c *codec) gridRow(r *row) *row {
	if c.loading {
		if len(c.b) > 0 && c.b[0] == 0 {
			c.must(c.last.row != nil && c.last.row.frame != c.t.frame, "row like the one above")
			if !c.failed() {
				c.b = c.b[1:]
			}
			return c.last.row
		}
		c.last.row = &row{}
		c.row(c.last.row, c.t.cols, false)
		return c.last.row
	}
	at, last := len(c.b), c.last
	c.row(r, c.t.cols, false)
	if last.end > last.at && r.frame != c.t.frame && bytes.Equal(c.b[at:], c.b[last.at:last.end]) {
		c.b = append(c.b[:at], 0)
	} else {
		c.last = lastRow{at: at, end: len(c.b)}
	}
	return r
}

// row writes or reads a row of width columns; cropped: as it was before it was.
func (c *codec) row(r *row, width int, cropped bool) {
	plain := !c.loading && c.encodePlain(r)
	flags := int(c.uint(uint64(c.flags(r, plain))+1, rowAll+1, "row")) - 1
	now := flags & (rowOwned | rowBorn)
	c.must(flags >= 0 && (now == 0 || c.t.held && now != rowOwned|rowBorn), "row")
	c.must(!cropped || flags&(rowOwned|rowBorn|rowCut) == 0, "cropped row")
	c.must(flags&rowMarked == 0 || flags&rowRich != 0, "row")
	number(c, &r.n, width, "row")
	c.sequence(&r.changed, "row")
	c.writes(&r.writes)
	if now != 0 {
		number(c, &r.wrote, width, "row")
	}
	if c.loading {
		if c.failed() {
			return
		}
		r.wrapped, r.rich, r.pattern = flags&rowWrapped != 0, flags&rowRich != 0, flags&rowPattern != 0
		switch now {
		case rowOwned:
			r.frame = c.t.frame
		case rowBorn:
			r.born = c.t.frame
		}
	}
	c.cells(r, width, flags, plain)
	if flags&rowMarked != 0 {
		c.marked(r)
	}
	if flags&rowCut == 0 || c.failed() {
		return
	}
	if c.loading {
		r.cut = &row{}
	}
	was := len(r.cut.cells)
	number(c, &was, MaxSide, "cropped row")
	c.must(was > width, "cropped row")
	c.row(r.cut, was, true)
}

// flags returns what r is; plain: encodePlain has encoded it.
func (c *codec) flags(r *row, plain bool) (flags int) {
	for i, is := range [...]bool{
		r.wrapped, r.rich, r.pattern, len(r.arena) > 0, len(r.extras) > 0,
		!plain && slices.ContainsFunc(r.cells[:r.n], isMarked),
		r.cut != nil, r.frame == c.t.frame, r.born == c.t.frame,
	} {
		if is {
			flags |= 1 << i
		}
	}
	return flags
}

// writes writes or reads the stamps of a row.
func (c *codec) writes(w *writes) {
	number(c, &w.n, len(w.log), "stamps")
	for i := range w.n {
		x := &w.log[i]
		c.sequence(&x.seq, "stamps")
		number(c, &x.col, MaxSide-1, "stamps")
		c.must(i == 0 || x.seq >= w.log[i-1].seq && x.col > w.log[i-1].col, "stamps")
	}
}

// encodePlain encodes the cells of a row of ASCII, in styles without links, to be written; false: it
// is no such row. Most rows are, and looking at each cell once makes a state twice as fast.
func (c *codec) encodePlain(r *row) bool {
	cells := r.cells[:r.n]
	for n := len(cells); n > 0 && cells[n-1] == (cell{}); n-- {
		cells = cells[:n-1]
	}
	c.scratch = slices.Grow(c.scratch[:0], lineHead+len(cells))[:lineHead+len(cells)]
	text := c.scratch[lineHead:]
	style, from, styled := cell{}, 0, false
	for x, p := range cells {
		if p.content() >= utf8.RuneSelf {
			return false
		}
		text[x] = byte(p.lo)
		if p.lo>>32 == style.lo>>32 && p.hi == style.hi {
			continue
		}
		if p.hi&notPlain != 0 {
			return false
		}
		if x > from {
			c.scratch, _ = appendRun(c.scratch, x-from, style, nil, "")
			text = c.scratch[lineHead : lineHead+len(cells)] // it may have moved
		}
		style, from, styled = p, x, true
	}
	head := uint32(len(cells)) << 2
	if styled {
		c.scratch, _ = appendRun(c.scratch, len(cells)-from, style, nil, "")
		head |= lineStyled
	}
	binary.LittleEndian.PutUint32(c.scratch, head)
	return true
}

// notPlain are the attributes of cells that encodePlain leaves to encodeRow.
const notPlain = halves | uint64(attrMarks|attrExtraMask)<<32

// cells writes or reads the cells of a row up to the last one that is not blank; plain: they are
// encoded.
func (c *codec) cells(r *row, width, flags int, plain bool) {
	if !c.loading {
		if r.n > 0 {
			if !plain {
				part := row{cells: r.cells[:r.n], n: r.n, arena: r.arena, extras: r.extras, rich: r.rich}
				c.scratch = encodeRow(slices.Grow(c.scratch[:0], textRoom(&part)), &part)
			}
			c.bytes(c.scratch, 0, "")
		}
		return
	}
	if r.n == 0 && width == c.t.cols && r.frame == 0 {
		r.cells = c.t.zero // not written to
	} else {
		r.cells = make([]cell, width)
	}
	if r.n > 0 {
		line := c.bytes(nil, math.MaxInt, "cells")
		l := readLine(line)
		c.must(l.good && !l.wrapped && l.cols <= r.n && (l.plain || r.rich), "cells")
		if c.failed() {
			return
		}
		n := r.n
		r.decode(line, r.cells[:0])
		r.cells, r.n = r.cells[:width], n
	}
	c.must(len(r.arena) == 0 || flags&rowClusters != 0, "cells")
	c.must(len(r.extras) == 0 || flags&rowExtras != 0, "cells")
	if flags&rowClusters != 0 && len(r.arena) == 0 {
		r.arena = []byte{' '}
	}
	if flags&rowExtras != 0 && len(r.extras) == 0 {
		r.extras = make([]extra, 1)
	}
}

// attrMarks are the attributes of a cell that the scrollback does not keep.
const attrMarks = attrProtected | attrSpacer

func isMarked(c cell) bool { return c.attr()&attrMarks != 0 }

// marked writes or reads which cells are protected or a spacer: runs of them, each after a gap, up
// to one of no cells.
func (c *codec) marked(r *row) {
	for x := 0; ; {
		gap, n, marks := 0, 0, uint32(0)
		if !c.loading {
			gap, n, marks = r.markedFrom(x)
		}
		if number(c, &n, r.n-x, "marked cells"); n == 0 {
			return
		}
		number(c, &gap, r.n-x-n, "marked cells")
		number(c, &marks, attrMarks, "marked cells")
		c.must(marks != 0 && marks&^attrMarks == 0, "marked cells")
		if c.failed() {
			return
		}
		x += gap
		for end := x + n; x < end; x++ {
			if p := &r.cells[x]; c.loading {
				c.must(marks&attrSpacer == 0 || p.content() == 0 && p.hi&halves == 0, "marked cells")
				p.hi |= uint64(marks) << 32
			}
		}
	}
}

// markedFrom returns the first run of equally marked cells from column x on: how many columns come
// before it, how many it has, and its marks.
func (r *row) markedFrom(x int) (gap, n int, marks uint32) {
	cells := r.cells[x:r.n]
	for gap < len(cells) && !isMarked(cells[gap]) {
		gap++
	}
	if gap == len(cells) {
		return 0, 0, 0
	}
	marks = cells[gap].attr() & attrMarks
	for gap+n < len(cells) && cells[gap+n].attr()&attrMarks == marks {
		n++
	}
	return gap, n, marks
}
