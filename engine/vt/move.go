package vt

// Cursor movement, margins and tab stops. ECMA-48 8.3 (CUU and so on); margins as on the VT420.

// up moves the cursor up, stopping at the top margin when it starts inside the margins.
func (t *Terminal) up(n int) {
	limit := 0
	if t.cursor.row >= t.top {
		limit = t.top
	}
	t.cursor.row = max(limit, t.cursor.row-n)
	t.cursor.pending = false
}

func (t *Terminal) down(n int) {
	limit := t.rows - 1
	if t.cursor.row <= t.bottom {
		limit = t.bottom
	}
	t.cursor.row = min(limit, t.cursor.row+n)
	t.cursor.pending = false
}

func (t *Terminal) right(n int) {
	t.cursor.col = min(t.edge(), t.cursor.col+n)
	t.cursor.pending = false
}

// left moves the cursor to the left: BS and CUB. Past the last column it counts as on it, as in
// xterm; with reverse wraparound (mode 45) undoing the wrap is a step of its own, and from the
// first column of a row that continues the one above, the cursor goes to that row's end. Extended
// (mode 1045) it goes to the end of any row above, and from the top margin to the bottom one.
func (t *Terminal) left(n int) {
	c := &t.cursor
	n = min(n, t.cols+t.rows*(t.lastCol()-t.sides.left+2)) // the longest way, plus once around
	extended := t.modes.reverseWrapAny && t.modes.autoWrap
	reverse := extended || t.modes.reverseWrap && t.modes.autoWrap
	if reverse && c.pending {
		n--
	}
	c.pending = false
	limit := 0
	if c.col >= t.sides.left {
		limit = t.sides.left
	}
	for {
		k := min(n, c.col-limit)
		c.col -= k
		n -= k
		switch {
		case n == 0 || !reverse:
			return
		case extended && c.row == t.top:
			c.row = t.bottom
		case extended && c.row > 0:
			c.row--
		case extended || t.sides.set || c.row <= t.top || c.row > t.bottom || !t.grid.rows[c.row-1].wrapped:
			return
		default:
			c.row--
		}
		c.col = t.lastCol()
		limit = t.sides.left
		n--
	}
}

// moveTo places the cursor; row and col from zero, counted from the top and left margins in origin
// mode.
func (t *Terminal) moveTo(row, col int) {
	first, last := 0, t.rows-1
	if t.modes.origin {
		first, last = t.top, t.bottom
	}
	t.cursor.row = min(max(first+row, first), last)
	t.moveToCol(col)
}

// moveToCol is moveTo in the cursor's row.
func (t *Terminal) moveToCol(col int) {
	first, last := 0, t.cols-1
	if t.modes.origin {
		first, last = t.sides.left, t.lastCol()
	}
	t.cursor.col = min(max(first+col, first), last)
	t.cursor.pending = false
}

// setMargins is DECSTBM; top and bottom count from one. A region of fewer than two lines is
// refused.
func (t *Terminal) setMargins(top, bottom int) {
	bottom = min(bottom, t.rows)
	if top >= bottom {
		return
	}
	t.top, t.bottom = top-1, bottom-1
	t.moveTo(0, 0)
}

// lineFeed is LF and IND. What follows begins a new line, even where the row had wrapped into the
// next one before, as when an edited command line is abandoned in its first row.
func (t *Terminal) lineFeed() {
	t.indexing()
	if t.grid.rows[t.cursor.row].wrapped {
		t.breakWrap(t.cursor.row)
	}
	t.index()
	t.cursor.pending = false
}

// index moves down one row and scrolls at the bottom margin.
func (t *Terminal) index() {
	if t.cursor.row == t.bottom {
		if t.inSides() {
			t.scrollUp(t.top, t.bottom, 1, true)
		}
	} else if t.cursor.row < t.rows-1 {
		t.cursor.row++
	}
}

// reverseIndex moves up one row and scrolls at the top margin.
func (t *Terminal) reverseIndex() {
	if t.cursor.row == t.top {
		if t.inSides() {
			t.scrollDown(t.top, t.bottom, 1)
		}
	} else if t.cursor.row > 0 {
		t.cursor.row--
	}
}

// tabStops returns the stops for writing. Until a program sets or clears one none are stored: they
// are at every eighth column.
func (t *Terminal) tabStops() []bool {
	for x := len(t.tabs); x < t.cols; x++ {
		t.tabs = append(t.tabs, x%8 == 0)
	}
	return t.tabs
}

func (t *Terminal) isTab(x int) bool {
	if x < len(t.tabs) {
		return t.tabs[x]
	}
	return x%8 == 0
}

// tab moves n stops to the right, at most to the right margin or the last column.
func (t *Terminal) tab(n int) {
	c, last := &t.cursor, t.edge()
	for ; n > 0 && c.col < last; n-- {
		for c.col++; c.col < last && !t.isTab(c.col); c.col++ {
		}
	}
}

// backTab moves n stops to the left; the left margin stops it in origin mode only, as in xterm.
func (t *Terminal) backTab(n int) {
	c := &t.cursor
	c.pending = false
	first := 0
	if t.modes.origin {
		first = t.sides.left
	}
	for ; n > 0 && c.col > first; n-- {
		for c.col--; c.col > first && !t.isTab(c.col); c.col-- {
		}
	}
}

// clearTabs is TBC.
func (t *Terminal) clearTabs(mode int) {
	stops := t.tabStops()
	switch mode {
	case 0:
		stops[t.cursor.col] = false
	case 3:
		// Also past the right edge, where a later resize would show default stops.
		t.tabs = make([]bool, MaxSide)
	}
}
