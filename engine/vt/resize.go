package vt

// Resize changes the size of the screen; rows and cols are clamped to 1..MaxSide, the pixels are of
// the whole screen, 0 when not known.
//
// On the main screen lines that were wrapped by the terminal are wrapped anew; the rows around the
// cursor stay, rows that do not fit go to the scrollback and come back when there is room, and the
// cursor keeps its character. The alternate screen is cut or padded: its program draws it again. A
// synchronized update ends. Margins are reset, as in xterm.
//
// The Effect has the in-band report when the program asked for it (mode 2048).
func (t *Terminal) Resize(rows, cols, pixelWidth, pixelHeight int) Effect {
	t.begin()
	rows, cols = clampSide(rows), clampSide(cols)
	pixelWidth, pixelHeight = max(pixelWidth, 0), max(pixelHeight, 0)
	same := rows == t.rows && cols == t.cols
	if same && pixelWidth == t.pixelWidth && pixelHeight == t.pixelHeight {
		return t.end()
	}
	t.release()
	t.pixelWidth, t.pixelHeight = pixelWidth, pixelHeight
	t.fresh = false
	t.effect.Dirty = true
	if !same {
		t.resize(rows, cols)
	}
	if t.modes.inBandResize {
		t.reportSize()
	}
	return t.end()
}

func (t *Terminal) resize(rows, cols int) {
	old := t.grid.rows
	onAlt := t.grid == &t.alt
	t.free = nil
	t.joint = joint{}
	main := t.cursor
	if onAlt {
		main = t.main.saved.cursor // where 1049 will go back to
	}
	if cols != t.cols {
		t.zero = make([]cell, cols)
		main = t.reflow(rows, cols, main)
	} else {
		main = t.refit(rows, cols, main)
	}
	if onAlt {
		if t.main.saved.set {
			t.main.saved.cursor = main
		}
		t.crop(rows, cols)
	} else {
		t.cursor = main
		t.main.saved.cursor = clampCursor(t.main.saved.cursor, rows, cols)
	}
	t.alt.saved.cursor = clampCursor(t.alt.saved.cursor, rows, cols)
	t.rows, t.cols = rows, cols
	t.top, t.bottom = 0, rows-1
	t.cursor = clampCursor(t.cursor, rows, cols)
	// Rows that are the very same keep their age; any other counts as changed.
	kept := make(map[*row]bool, len(old))
	for _, r := range old {
		kept[r] = true
	}
	for y, r := range t.grid.rows {
		if !kept[r] && r.n > 0 {
			r = t.own(y)
			r.changed = t.seq
		}
	}
	t.saved, t.moved, t.blank = false, false, nil
	clear(t.before)
	t.before = t.before[:0]
	t.frame++
	t.shown = t.visible()
}

func clampCursor(c cursor, rows, cols int) cursor {
	c.row = min(max(c.row, 0), rows-1)
	if c.col >= cols {
		c.col = cols - 1
	}
	c.pending = c.pending && c.col == cols-1
	return c
}

// refit changes the number of rows of the main screen. Blank rows below the cursor go first, then
// rows at the top move to the scrollback; when there is more room they come back.
func (t *Terminal) refit(rows, cols int, cur cursor) cursor {
	g := &t.main
	if rows < len(g.rows) {
		last := len(g.rows)
		for last > rows && last > cur.row+1 && g.rows[last-1].trimmed() == 0 {
			last--
		}
		for len(g.rows) > rows && last > rows {
			t.history.push(g.rows[0])
			g.rows = g.rows[1:]
			last--
			cur.row--
		}
		g.rows = append([]*row(nil), g.rows[:rows]...)
		return cur
	}
	var back []*row
	for len(back)+len(g.rows) < rows {
		r := t.history.pop()
		if r == nil {
			break
		}
		back = append(back, fit(r, cols))
	}
	all := make([]*row, 0, rows)
	for i := len(back) - 1; i >= 0; i-- {
		all = append(all, back[i])
	}
	all = append(all, g.rows...)
	cur.row += len(back)
	for len(all) < rows {
		all = append(all, t.blankRow())
	}
	g.rows = all
	return cur
}

// fit cuts or pads a row to cols columns.
func fit(r *row, cols int) *row {
	if len(r.cells) == cols {
		return r
	}
	c := &row{cells: make([]cell, cols), changed: r.changed, wrapped: r.wrapped && len(r.cells) < cols, rich: true}
	r2 := *r
	r2.cells = append([]cell(nil), r.cells...)
	r2.split(cols)
	c.n = copy(c.cells, r2.cells[:min(r2.n, len(r2.cells))])
	c.arena = append([]byte(nil), r.arena...)
	c.extras = append([]extra(nil), r.extras...)
	c.shrink()
	return c
}

// crop cuts or pads the alternate screen. Rows below the cursor go first, then rows at the top.
func (t *Terminal) crop(rows, cols int) {
	g := &t.alt
	from := 0
	if rows < len(g.rows) {
		from = max(0, t.cursor.row-rows+1)
		t.cursor.row -= from
	}
	all := make([]*row, rows)
	for y := range all {
		if from+y < len(g.rows) {
			all[y] = fit(g.rows[from+y], cols)
		} else {
			all[y] = &row{cells: make([]cell, cols), born: t.frame}
		}
	}
	g.rows = all
}

// reflow changes the number of columns of the main screen, and of rows with it: logical lines are
// put together and wrapped anew. Scrollback is left as it is, but for the line that goes on in the
// first row of the screen, and for what comes back from it.
func (t *Terminal) reflow(rows, cols int, cur cursor) cursor {
	old := t.main.rows
	// Take back the rows that the first row continues, a screenful at most.
	var head []*row
	for len(head) < MaxSide && t.history.lastWrapped() {
		head = append(head, t.history.pop())
	}
	all := make([]*row, 0, len(head)+len(old))
	for i := len(head) - 1; i >= 0; i-- {
		all = append(all, head[i])
	}
	all = append(all, old...)
	cur.row += len(head)

	last := len(all) // rows in use: up to the cursor at least
	for last > cur.row+1 && all[last-1].trimmed() == 0 {
		last--
	}
	var out []*row
	place := cur
	for y := 0; y < last; {
		end := y
		for end < last-1 && all[end].wrapped {
			end++
		}
		w := wrapper{cols: cols}
		for i := y; i <= end; i++ {
			n := all[i].n
			if i < end {
				n = all[i].joinedWidth()
			}
			for x := 0; x < n || i == cur.row && x <= cur.col; x++ {
				if i == cur.row && x == cur.col {
					place.row, place.col = w.at(all[i], x, cur.pending)
					place.row += len(out)
				}
				if x < n {
					w.add(all[i], x)
				}
			}
		}
		lines := w.done()
		// The cursor may stand behind the end of its line.
		if cur.row >= y && cur.row <= end {
			for place.row >= len(out)+len(lines) {
				lines = append(lines, &row{cells: make([]cell, cols)})
			}
		}
		out = append(out, lines...)
		y = end + 1
	}
	place.pending = cur.pending && place.col == cols-1 && out[place.row].cells[cols-1].content() != 0
	// The last rows are the screen. Where there is room, older lines come back.
	for len(out) > rows {
		if place.row == len(out)-1-(len(out)-rows) && false {
			break
		}
		t.history.push(out[0])
		out = out[1:]
		place.row--
	}
	t.main.rows = out
	if place.row < 0 { // more text below the cursor than the screen has rows
		place.row = 0
	}
	return t.refit(rows, cols, place)
}

// A wrapper lays cells out in rows of a width.
type wrapper struct {
	cols int
	rows []*row
	x    int
}

func (w *wrapper) line() *row {
	if len(w.rows) == 0 {
		w.rows = append(w.rows, &row{cells: make([]cell, w.cols)})
	}
	return w.rows[len(w.rows)-1]
}

func (w *wrapper) wrap() {
	w.line().wrapped = true
	w.rows = append(w.rows, &row{cells: make([]cell, w.cols)})
	w.x = 0
}

// at returns where the cell that is added next goes.
func (w *wrapper) at(r *row, x int, pending bool) (row, col int) {
	width := 1
	if x < len(r.cells) && r.cells[x].attr()&attrWide != 0 {
		width = 2
	}
	y := max(len(w.rows)-1, 0)
	if w.x+width > w.cols {
		return y + 1, 0
	}
	return y, w.x
}

// add copies cell x of r.
func (w *wrapper) add(r *row, x int) {
	c := r.cells[x]
	width := 1
	if c.attr()&attrWide != 0 {
		width = 2
	}
	if c.attr()&attrContinuation != 0 {
		return
	}
	if width > w.cols { // one column: nothing wide fits
		c, width = makeCell(0, c.fg(), c.bg(), c.attr()&^attrWide), 1
	}
	if w.x+width > w.cols {
		w.wrap()
	}
	out := w.line()
	attr := c.attr() &^ attrExtraMask
	if e := r.extraOf(c); e != nil {
		attr |= out.addExtra(*e)
	}
	ch := c.content()
	if ch&clusterBit != 0 {
		ch = out.addCluster(r.cluster(ch))
	}
	out.rich = out.rich || r.rich
	out.cells[w.x] = makeCell(ch, c.fg(), c.bg(), attr)
	if width == 2 {
		out.cells[w.x+1] = makeCell(0, c.fg(), c.bg(), attr&^attrWide|attrContinuation)
	}
	w.x += width
	out.n = max(out.n, w.x)
}

func (w *wrapper) done() []*row {
	w.line()
	for _, r := range w.rows {
		r.shrink()
	}
	return w.rows
}
