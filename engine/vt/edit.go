package vt

// Erasing, inserting, deleting and scrolling.

// erased returns the cell that erasing leaves: blank in the background of the pen (BCE).
func (t *Terminal) erased() cell { return cell{hi: uint64(t.pen.bg)} }

// fillRow returns a row of erased cells that may be used in several places.
func (t *Terminal) fillRow() *row {
	if t.pen.bg == 0 {
		return t.blankRow()
	}
	return t.patternRow(t.erased())
}

// patternRow returns a row full of c that may be used in several places.
func (t *Terminal) patternRow(c cell) *row {
	if f := t.fill; f != nil && f.cells[0] == c {
		return f
	}
	r := &row{cells: make([]cell, t.cols), n: t.cols, rich: true, born: t.frame, pattern: true}
	if c.content() != 0 {
		r.wrote = 1
	}
	for x := range r.cells {
		r.cells[x] = c
	}
	t.fill = r
	return r
}

// replaceAll puts r, a row that is never written to, in place of rows from..to-1.
func (t *Terminal) replaceAll(from, to int, r *row) {
	for y := from; y < to; y++ {
		t.grid.rows[y] = r
	}
}

// eraseRows erases whole rows.
func (t *Terminal) eraseRows(from, to int) {
	if from >= to {
		return
	}
	t.taking(from, to-1, 0, t.cols)
	t.breakWrap(from - 1)
	var fill *row
	for y := from; y < to; y++ {
		r := t.grid.rows[y]
		if t.pen.bg == 0 {
			if r.n == 0 && !r.wrapped && r.cut == nil {
				continue
			}
			if r.frame == t.frame {
				r.clear()
				continue
			}
		}
		if fill == nil {
			t.touch()
			fill = t.fillRow()
		}
		t.grid.rows[y] = fill
	}
}

// breakWrap records that row y no longer continues in the next; -1 is the newest line of the
// scrollback.
func (t *Terminal) breakWrap(y int) {
	switch {
	case y < 0 && t.grid == &t.main:
		if t.history.breakWrap() {
			t.fresh = false // the last Screen has the line as it was
		}
	case y >= 0 && t.grid.rows[y].wrapped:
		t.own(y, nowhere).wrapped = false
	}
}

// eraseCols erases columns from..to-1 of row y.
func (t *Terminal) eraseCols(y, from, to int) {
	if from >= to {
		return
	}
	if from == 0 && to == t.cols {
		t.eraseRow(y)
		return
	}
	r := t.grid.rows[y]
	if t.pen.bg == 0 && from >= r.n && !(r.wrapped && to == t.cols) {
		return
	}
	t.taking(y, y, from, to)
	r = t.own(y, nowhere)
	r.split(from)
	r.split(to)
	if t.pen.bg == 0 {
		clear(r.cells[from:min(to, max(from, r.n))])
		if to >= r.n {
			r.n = min(r.n, from)
		}
	} else {
		e := t.erased()
		for x := from; x < to; x++ {
			r.cells[x] = e
		}
		r.n, r.rich = max(r.n, to), true
	}
	if to == t.cols {
		r.wrapped = false
	}
}

// eraseRow erases the whole of row y.
func (t *Terminal) eraseRow(y int) { t.eraseRows(y, y+1) }

// cursorEdge is the column where erasing to the right begins: after the cursor's when a wrap is
// pending, so that the character written there stays, as in xterm.js and tmux.
func (t *Terminal) cursorEdge() int {
	if t.cursor.pending {
		return t.cursor.col + 1
	}
	return t.cursor.col
}

// eraseInLine is EL.
func (t *Terminal) eraseInLine(mode int) {
	y := t.cursor.row
	switch mode {
	case 0:
		t.eraseCols(y, t.cursorEdge(), t.cols)
	case 1:
		t.eraseCols(y, 0, min(t.cursor.col+1, t.cols))
	case 2:
		t.eraseRow(y)
	}
}

// eraseInDisplay is ED. Mode 3 clears the scrollback (xterm).
func (t *Terminal) eraseInDisplay(mode int) {
	y := t.cursor.row
	if mode == 2 || mode == 0 && y == 0 && t.cursor.col == 0 {
		t.event(Event{Kind: EventErase})
	}
	switch mode {
	case 0:
		t.taking(y, y, t.cursorEdge(), t.cols)
		t.taking(y+1, t.rows-1, 0, t.cols)
		t.eraseInLine(0)
		t.eraseRows(y+1, t.rows)
	case 1:
		t.taking(y, y, 0, t.cursor.col+1)
		t.eraseRows(0, y)
		t.eraseInLine(1)
	case 2:
		t.eraseRows(0, t.rows)
	case 3:
		t.history.clear()
	}
}

// selectiveErase is DECSED and DECSEL: cells protected by DECSCA stay, the rest is erased as by ED
// and EL.
func (t *Terminal) selectiveErase(mode int, display bool) {
	first, last := t.cursor.row, t.cursor.row
	if display {
		if mode >= 1 {
			first = 0
		}
		if mode != 1 {
			last = t.rows - 1
		}
	}
	if mode > 2 {
		return
	}
	if display && !t.afford(first, last, t.cols) {
		return
	}
	t.taking(first, last, 0, t.cols)
	for y := first; y <= last; y++ {
		from, to := 0, t.cols
		if y == t.cursor.row {
			if mode == 0 {
				from = t.cursorEdge()
			} else if mode == 1 {
				to = t.cursor.col + 1
			}
		}
		for from < to {
			r, end := t.grid.rows[y], from
			for end < r.n && end < to && r.cells[end].attr()&attrProtected == 0 {
				end++
			}
			if end >= r.n {
				end = to
			}
			t.eraseCols(y, from, end)
			from = end + 1
		}
	}
}

// eraseCells is ECH.
func (t *Terminal) eraseCells(n int) {
	t.cursor.pending = false
	t.eraseCols(t.cursor.row, t.cursor.col, min(t.cols, t.cursor.col+n))
}

// insertCells makes room for n cells at the cursor: ICH, and IRM.
func (t *Terminal) insertCells(n int) {
	t.cursor.pending = false
	if t.inSides() {
		t.shiftRow(t.cursor.row, t.cursor.col, n)
	}
}

// deleteCells is DCH.
func (t *Terminal) deleteCells(n int) {
	t.cursor.pending = false
	if t.inSides() {
		t.shiftRow(t.cursor.row, t.cursor.col, -n)
	}
}

// shiftRow moves the cells of row y from column x up to the right margin by n columns, to the left
// when n is negative; vacated cells are erased.
func (t *Terminal) shiftRow(y, x, n int) {
	if t.grid.rows[y].n <= x && t.pen.bg == 0 {
		return
	}
	end := t.lastCol() + 1
	t.taking(y, y, x, end)
	r := t.own(y, nowhere)
	r.split(x)
	r.split(end)
	from, to := x, end // what is vacated
	if n < 0 {
		n = min(-n, end-x)
		r.split(x + n)
		copy(r.cells[x:end], r.cells[x+n:end])
		from = end - n
	} else {
		n = min(n, end-x)
		r.split(end - n)
		copy(r.cells[x+n:end], r.cells[x:end-n])
		to = x + n
	}
	e := t.erased()
	for i := from; i < to; i++ {
		r.cells[i] = e
	}
	r.n, r.wrapped = t.cols, r.wrapped && to != t.cols // what was pushed out had gone on
	r.rich = r.rich || t.pen.bg != 0
	r.shrink()
}

// shiftCols moves the columns from x on within the margins by n: SL, SR, DECIC and DECDC. With the
// cursor outside the margins it does nothing.
func (t *Terminal) shiftCols(x, n int) {
	if t.cursor.row < t.top || t.cursor.row > t.bottom || !t.afford(t.top, t.bottom, t.lastCol()+1-x) {
		return
	}
	t.taking(t.top, t.bottom, x, t.lastCol()+1)
	for y := t.top; y <= t.bottom; y++ {
		t.shiftRow(y, x, n)
	}
}

// shrink makes n as small as possible.
func (r *row) shrink() {
	for r.n > 0 && r.cells[r.n-1] == (cell{}) {
		r.n--
	}
}

// insertLines is IL: only inside the margins; the cursor goes to the first column.
func (t *Terminal) insertLines(n int) {
	if y := t.cursor.row; y >= t.top && y <= t.bottom && t.inSides() {
		t.scrollDown(y, t.bottom, n)
		t.cursor.col, t.cursor.pending = t.sides.left, false
	}
}

// deleteLines is DL.
func (t *Terminal) deleteLines(n int) {
	if y := t.cursor.row; y >= t.top && y <= t.bottom && t.inSides() {
		t.scrollUp(y, t.bottom, n, false)
		t.breakWrap(t.bottom - min(n, t.bottom-y+1))
		t.cursor.col, t.cursor.pending = t.sides.left, false
	}
}

// scrollUp moves rows top..bottom up by n. Rows that leave the top of the main screen go to the
// scrollback when keep is set.
func (t *Terminal) scrollUp(top, bottom, n int, keep bool) {
	n = min(n, bottom-top+1)
	if t.sides.set {
		t.scrollSides(top, bottom, n)
		return
	}
	t.scrolling(top, bottom, n)
	t.moving()
	rows := t.grid.rows
	if top > 0 {
		t.breakWrap(top - 1)
	} else if keep && t.grid == &t.main {
		for _, r := range rows[:n] {
			t.history.push(r, t.seq)
		}
	}
	if n == 1 {
		r := rows[top]
		copy(rows[top:bottom], rows[top+1:bottom+1])
		rows[bottom] = t.vacated(r)
		return
	}
	for _, r := range rows[top : top+n] {
		t.recycle(r)
	}
	copy(rows[top:bottom+1], rows[top+n:bottom+1])
	t.replaceAll(bottom-n+1, bottom+1, t.fillRow())
}

// scrollDown moves rows top..bottom down by n; rows that leave at the bottom are lost.
func (t *Terminal) scrollDown(top, bottom, n int) {
	n = min(n, bottom-top+1)
	if t.sides.set {
		t.scrollSides(top, bottom, -n)
		return
	}
	t.scrolling(top, bottom, -n)
	t.moving()
	t.breakWrap(top - 1)
	rows := t.grid.rows
	for _, r := range rows[bottom-n+1 : bottom+1] {
		t.recycle(r)
	}
	copy(rows[top+n:bottom+1], rows[top:bottom+1-n])
	t.replaceAll(top, top+n, t.fillRow())
	t.breakWrap(bottom)
}

// vacated turns a row that scrolled out into the blank one that takes its place.
func (t *Terminal) vacated(r *row) *row {
	if r.frame <= t.shared || t.pen.bg != 0 {
		t.recycle(r)
		if t.pen.bg == 0 && len(t.free) > 0 {
			return t.newRow()
		}
		return t.fillRow()
	}
	r.clear()
	r.frame, r.changed = t.frame, 0
	return r
}

// Most sequences cost no more than one row. Those that move or look at every cell of a screen have
// to be paid for: each control, each sequence except SGR and, between side margins, each character
// earns work; a sequence that cannot pay is dropped. So a megabyte of them costs about a second on
// the largest screen. On a screen of 24 by 80 half of all sequences may be expensive ones, and only
// a flood ever runs out.
const (
	// workEarned is in cells. Moving a cell takes 0.4 ns, or workText times as long when it has
	// text in the arena or extras; a row takes as long as workRow cells.
	workEarned = 1 << 10
	workText   = 16
	workRow    = 32
	// More cells than workCached, 1 MiB, no longer fit a core's cache and take workMemory times as
	// long.
	workCached = 64 << 10
	workMemory = 4
	// workSaved bounds the saved work: four times the largest screen.
	workSaved = 4 * workMemory * MaxSide * MaxSide
)

// afford reports whether width cells of each row from top to bottom can be paid for, and pays.
func (t *Terminal) afford(top, bottom, width int) bool {
	if t.work < (bottom-top+1)*workRow { // not even looked at
		return false
	}
	cost := 0
	for _, r := range t.grid.rows[top : bottom+1] {
		if n := min(width, r.n) + workRow; len(r.arena)+len(r.extras) > 0 {
			cost += workText * n
		} else {
			cost += n
		}
	}
	if cost > workCached {
		cost *= workMemory
	}
	return t.pay(cost)
}

// pay reports whether that much work is saved up, and takes it.
func (t *Terminal) pay(cost int) bool {
	if t.work = min(t.work, workSaved); t.work < cost {
		return false
	}
	t.work -= cost
	return true
}
