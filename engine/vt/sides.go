package vt

// Left and right margins: DECLRMM (mode 69) and DECSLRM, VT420. ECH, ED and EL ignore them.

// sides are the left and right margins, inclusive, from zero; the zero value is the whole width.
type sides struct {
	set         bool
	left, right int
}

// setSides is DECSLRM; left and right count from one. Margins of fewer than two columns are
// refused.
func (t *Terminal) setSides(left, right int) {
	right = min(right, t.cols)
	if left >= right {
		return
	}
	t.sides = sides{}
	if left > 1 || right < t.cols {
		t.sides = sides{true, left - 1, right - 1}
	}
	t.moveTo(0, 0)
}

// resetSides makes lines as wide as the screen again. A wrap that was pending at the right margin
// is cancelled.
func (t *Terminal) resetSides() {
	t.sides = sides{}
	t.cursor.pending = t.cursor.pending && t.cursor.col == t.cols-1
}

func (t *Terminal) resetMargins() {
	t.top, t.bottom = 0, t.rows-1
	t.resetSides()
}

// lastCol is the column of the right margin.
func (t *Terminal) lastCol() int {
	if t.sides.set {
		return t.sides.right
	}
	return t.cols - 1
}

// edge is where text from the cursor on ends: the right margin, or past it the last column.
func (t *Terminal) edge() int {
	if t.sides.set && t.cursor.col <= t.sides.right {
		return t.sides.right
	}
	return t.cols - 1
}

// inSides reports whether the cursor is between the left and right margins.
func (t *Terminal) inSides() bool {
	return !t.sides.set || t.cursor.col >= t.sides.left && t.cursor.col <= t.sides.right
}

// carriageReturn is CR: to the left margin, or from left of it to the first column.
func (t *Terminal) carriageReturn() {
	c := &t.cursor
	if c.pending = false; c.col < t.sides.left && !t.modes.origin {
		c.col = 0
	} else {
		c.col = t.sides.left
	}
}

// columnIndex is DECFI, or with -1 DECBI: one column on, and at the margin the columns move
// instead.
func (t *Terminal) columnIndex(n int) {
	switch c := &t.cursor; {
	case n > 0 && c.col == t.lastCol(), n < 0 && c.col == t.sides.left:
		t.shiftCols(t.sides.left, -n)
		c.pending = false
	case n > 0:
		t.right(1)
	default:
		t.left(1)
	}
}

// scrollSides moves what is between the margins, in rows top to bottom, up by n rows, or down when
// n is negative. None of it goes to the scrollback: it is not whole lines.
func (t *Terminal) scrollSides(top, bottom, n int) {
	from, to := t.sides.left, t.sides.right+1
	if !t.afford(top, bottom, to-from) {
		return
	}
	t.scrolling(top, bottom, n)
	t.breakWrap(top - 1)
	for y := top; y <= bottom; y++ {
		r := t.own(y, nowhere)
		r.wrapped = false
		if r.rich {
			r.split(from)
			r.split(to)
		}
	}
	y, end, step := top, bottom+1, 1
	if n < 0 {
		y, end, step = bottom, top-1, -1
	}
	for ; y != end; y += step {
		if src := y + n; src >= top && src <= bottom {
			t.copyCols(y, src, from, to)
			continue
		}
		r, e := t.grid.rows[y], t.erased()
		for x := from; x < to; x++ {
			r.cells[x] = e
		}
		r.rich = r.rich || t.pen.bg != 0
		r.n = max(r.n, to)
		r.shrink()
	}
}

// copyCols makes columns from..to-1 of row y, which is owned, those of row src. Text in them counts
// as written again.
func (t *Terminal) copyCols(y, src, from, to int) {
	r, s := t.grid.rows[y], t.grid.rows[src]
	if s.n > from {
		t.own(y, from)
	}
	r.take(s, from, min(to, max(s.n, r.n))) // beyond that both are blank
}

// take makes columns from..to-1 those of s.
func (r *row) take(s *row, from, to int) {
	if from >= to {
		return
	}
	r.rich = r.rich || s.rich
	r.n = max(r.n, to)
	if len(s.arena)+len(s.extras) == 0 {
		copy(r.cells[from:to], s.cells[from:to])
	} else {
		for x := from; x < to; x++ {
			c := s.cells[x]
			if ch := c.content(); ch&clusterBit != 0 {
				c.lo = c.lo&^0xffffffff | uint64(r.addCluster(s.cluster(ch)))
			}
			if e := s.extraOf(c); e != nil {
				c.hi = c.hi&^(attrExtraMask<<32) | uint64(r.addExtra(*e))<<32
			}
			r.cells[x] = c
		}
	}
	r.shrink()
}
