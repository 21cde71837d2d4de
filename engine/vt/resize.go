package vt

// Resize changes the size of the screen; rows and cols are clamped to 1..MaxSide, the pixels are of
// the whole screen, 0 when not known.
//
// On the main screen, lines that the terminal had wrapped are wrapped anew, and the cursor keeps its
// character. When there are too many rows, those below the cursor go first, then rows move from the
// top to the scrollback; when there is room and the cursor is in the last row, they come back. The
// scrollback itself keeps its lines as they are, so that line numbers stay valid. The alternate
// screen is cut or padded: its program draws it again. A synchronized update ends, margins are reset.
// A row that is only moved or wrapped anew keeps its age (Screen.Changed).
//
// The Effect has the in-band report when the program asked for it (mode 2048).
func (t *Terminal) Resize(rows, cols, pixelWidth, pixelHeight int) Effect {
	t.begin()
	rows, cols = clampSide(rows), clampSide(cols)
	pixelWidth, pixelHeight = max(pixelWidth, 0), max(pixelHeight, 0)
	if rows == t.rows && cols == t.cols && pixelWidth == t.pixelWidth && pixelHeight == t.pixelHeight {
		return t.end()
	}
	t.release()
	t.syncSet = false
	t.pixelWidth, t.pixelHeight = pixelWidth, pixelHeight
	t.fresh = false
	t.effect.Dirty = true
	if rows != t.rows || cols != t.cols {
		t.resize(rows, cols)
	}
	if t.modes.inBandResize {
		t.reportSize()
	}
	return t.end()
}

// resize works between two frames: nothing is pending in the one under way.
func (t *Terminal) resize(rows, cols int) {
	t.free, t.blank, t.fill = nil, nil, nil
	t.joint = joint{}
	onAlt := t.grid == &t.alt
	cur := t.cursor
	if onAlt && t.main.saved.set { // where leaving by 1049 goes back to
		cur = t.main.saved.cursor
	}
	wider := cols != t.cols
	if wider {
		t.zero = make([]cell, cols)
		cur = t.reflow(cols, cur)
	}
	cur = t.refit(rows, cols, cur)
	if t.alt.rows != nil {
		t.cropAlt(rows, cols)
	}
	if onAlt {
		if t.main.saved.set {
			t.main.saved.cursor = cur
		}
	} else {
		t.cursor = cur
		t.main.saved.cursor = clampCursor(t.main.saved.cursor, rows, cols)
	}
	t.alt.saved.cursor = clampCursor(t.alt.saved.cursor, rows, cols)
	t.rows, t.cols = rows, cols
	t.resetMargins()
	t.cursor = clampCursor(t.cursor, rows, cols)
	t.blank = nil
	t.frame++
	t.shown = t.visible()
}

func clampCursor(c cursor, rows, cols int) cursor {
	c.row = min(max(c.row, 0), rows-1)
	c.pending = c.pending && c.col == cols-1
	c.col = min(c.col, cols-1)
	return c
}

// refit changes the number of rows of the main screen, which has the right columns already.
func (t *Terminal) refit(rows, cols int, cur cursor) cursor {
	all := append([]*row(nil), t.main.rows...)
	if over := len(all) - rows; over > 0 {
		below := min(over, len(all)-1-cur.row)
		all = all[:len(all)-below]
		if below > 0 && all[len(all)-1].wrapped {
			last := *all[len(all)-1]
			last.wrapped, last.frame = false, 0
			all[len(all)-1] = &last
		}
		for len(all) > rows {
			t.history.push(all[0], t.seq)
			all = all[1:]
			cur.row--
		}
	}
	if cur.row == len(all)-1 {
		for len(all) < rows {
			line := t.takeBack(cols)
			if line == nil {
				break
			}
			over := max(0, len(line)+len(all)-rows)
			for _, r := range line[:over] {
				t.history.push(r, t.seq)
			}
			all = append(line[over:], all...)
			cur.row += len(line) - over
		}
	}
	for len(all) < rows {
		all = append(all, t.blankRow())
	}
	t.main.rows = all
	return cur
}

// takeBack removes the newest line from the scrollback and wraps it to cols columns: the rows that it
// was wrapped into when it left belong to another width. nil when there is none.
func (t *Terminal) takeBack(cols int) []*row {
	var rows []*row
	for {
		r := t.history.pop()
		if r == nil {
			break
		}
		rows = append(rows, r)
		if !t.history.lastWrapped() || len(rows) == MaxSide {
			break
		}
	}
	if rows == nil {
		return nil
	}
	w := wrapper{cols: cols}
	for i := len(rows) - 1; i >= 0; i-- {
		w.addRow(rows[i], i == 0)
		w.wrote = max(w.wrote, rows[i].writes.last())
	}
	line := w.done()
	line[len(line)-1].wrapped = rows[0].wrapped // it may go on in the first row of the screen
	return line
}

// addRow copies what row r contributes to its line.
func (w *wrapper) addRow(r *row, last bool) {
	n := r.written()
	if !last {
		n = r.joinedWidth()
	}
	for x := range n {
		w.add(r, x)
	}
}

// fit returns r, cut or padded to cols columns.
func fit(r *row, cols int) *row {
	if len(r.cells) == cols {
		return r
	}
	c := &row{cells: make([]cell, cols), changed: r.changed, rich: r.rich, writes: r.writes}
	c.n = copy(c.cells, r.cells[:r.n])
	if c.n == cols && c.cells[cols-1].attr()&attrWide != 0 { // its other half is cut off
		last := c.cells[cols-1]
		c.cells[cols-1] = makeCell(0, last.fg(), last.bg(), last.attr()&^attrWide)
	}
	c.arena = append([]byte(nil), r.arena...)
	c.extras = append([]extra(nil), r.extras...)
	c.wrapped = r.wrapped && len(r.cells) < cols && r.n == cols
	c.shrink()
	return c
}

// cropAlt cuts or pads the alternate screen. Rows below the cursor go first, then rows at the top; all
// below when it is not shown, as it has no cursor then.
func (t *Terminal) cropAlt(rows, cols int) {
	old := t.alt.rows
	from := 0
	if t.grid == &t.alt {
		from = max(0, min(t.cursor.row-rows+1, len(old)-rows))
		t.cursor.row -= from
	}
	t.alt.rows = make([]*row, rows)
	for y := range t.alt.rows {
		if from+y < len(old) {
			t.alt.rows[y] = fit(old[from+y], cols)
		} else {
			t.alt.rows[y] = t.blankRow()
		}
	}
}

// reflow changes the number of columns of the main screen. How many rows come out of it depends on
// the lines; refit puts that right.
func (t *Terminal) reflow(cols int, cur cursor) cursor {
	all := t.main.rows
	// The line that goes on in the first row is taken back whole, or a screenful of it.
	var head []*row
	for len(head) < MaxSide && t.history.lastWrapped() {
		head = append([]*row{t.history.pop()}, head...)
	}
	all = append(head, all...)
	cur.row += len(head)
	var out []*row
	place := cur
	for first := 0; first < len(all); {
		last := first
		for last < len(all)-1 && all[last].wrapped {
			last++
		}
		w := wrapper{cols: cols}
		for y := first; y <= last; y++ {
			r := all[y]
			n := r.written()
			if y < last {
				n = r.joinedWidth()
			}
			w.changed = max(w.changed, r.changed)
			w.wrote = max(w.wrote, r.writes.last())
			for x := range n {
				if y == cur.row && x == cur.col && !cur.pending {
					w.mark()
				}
				w.add(r, x)
				if y == cur.row && x == cur.col && cur.pending {
					w.mark()
				}
			}
			if y == cur.row && !w.marked { // behind the end of the line
				w.mark()
				w.at = min(w.at+cur.col-n, max(w.at, cols-1))
			}
		}
		if w.marked {
			place = w.place(len(out))
		}
		out = append(out, w.done()...)
		first = last + 1
	}
	t.main.rows = out
	return place
}

// written returns the number of columns up to the last character; erased cells behind it, whatever
// their background, are not part of the line.
func (r *row) written() int {
	n := r.n
	for n > 0 && r.cells[n-1].content() == 0 && r.cells[n-1].attr()&attrContinuation == 0 {
		n--
	}
	return n
}

// A wrapper lays the cells of one logical line out in rows.
type wrapper struct {
	cols    int
	rows    []*row
	x       int // next column in the last row
	changed uint64
	wrote   uint64 // sequence at which text was last written to any of the rows
	marked  bool
	y, at   int // where the cursor is: a row of rows, and a column or the width
}

func (w *wrapper) line() []*row {
	if len(w.rows) == 0 {
		w.rows = append(w.rows, &row{cells: make([]cell, w.cols)})
	}
	return w.rows
}

// mark says that the cursor stands where the next cell goes.
func (w *wrapper) mark() { w.marked, w.y, w.at = true, len(w.line())-1, w.x }

// place returns where the cursor is, given the number of rows in front of the line. Right behind a
// full row it is with the next character in the next row or, when there is none, still behind the
// last one with a wrap pending.
func (w *wrapper) place(before int) cursor {
	switch {
	case w.at < w.cols:
		return cursor{row: before + w.y, col: w.at}
	case w.y+1 < len(w.rows):
		return cursor{row: before + w.y + 1}
	}
	return cursor{row: before + w.y, col: w.cols - 1, pending: true}
}

// add copies cell x of r.
func (w *wrapper) add(r *row, x int) {
	c := r.cells[x]
	if c.attr()&attrContinuation != 0 {
		return
	}
	width := 1
	if c.attr()&attrWide != 0 {
		width = 2
	}
	if width > w.cols { // a single column: nothing wide fits
		c, width = cell{}, 1
	}
	out := w.line()[len(w.rows)-1]
	if w.x+width > w.cols {
		out.wrapped = true
		if w.x < w.cols {
			out.cells[w.x], out.n, out.rich = makeCell(0, 0, 0, attrSpacer), w.cols, true
		}
		out = &row{cells: make([]cell, w.cols)}
		w.rows = append(w.rows, out)
		w.x = 0
	}
	attr := c.attr() &^ (attrExtraMask | attrSpacer)
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
	out.n = w.x
}

// done returns the rows. They are as old as the newest row that went into them.
func (w *wrapper) done() []*row {
	for _, r := range w.line() {
		r.shrink()
		r.changed = w.changed
		r.writes.rewrite(w.wrote)
	}
	return w.rows
}
