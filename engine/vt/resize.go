package vt

// Resize changes the size of the screen; rows and cols are clamped to 1..MaxSide, the pixels are
// those of the whole screen, 0 when not known.
//
// On the main screen, lines that the terminal had wrapped are rewrapped, and the cursor keeps its
// character. When there are too many rows, those below the cursor go first, then rows move from the
// top to the scrollback; when there is room and the cursor is in the last row, they come back. The
// scrollback itself keeps its lines unchanged, so that line numbers stay valid. The saved cursor of
// the main screen keeps its character too. The alternate screen is cropped or padded: its program
// redraws it. If it does not, the cropped columns come back when there is room again, except in
// lines that were erased or scrolled in since. A synchronized update ends, margins are reset. A row
// that is only moved, rewrapped or cropped keeps its age (Screen.Changed).
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

// resize works between two frames: nothing is pending in the current one.
func (t *Terminal) resize(rows, cols int) {
	t.free, t.blank, t.fill = nil, nil, nil
	if t.moments != nil {
		t.moments.resize(rows, cols)
	}
	t.joint = joint{}
	onAlt := t.grid == &t.alt
	cur, saved := t.cursor, t.main.saved.cursor
	if onAlt && t.main.saved.set { // where leaving by 1049 returns to
		cur = saved
	}
	if cols != t.cols {
		t.zero = make([]cell, cols)
		t.reflow(cols, &cur, &saved)
	}
	row := cur.row
	cur = t.refit(rows, cols, cur)
	saved.row += cur.row - row
	if t.alt.rows != nil {
		t.cropAlt(rows, cols)
	}
	if !onAlt {
		t.cursor = cur
	} else {
		saved = cur
	}
	if t.main.saved.set {
		t.main.saved.cursor = clampCursor(saved, rows, cols)
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

// refit changes the number of rows of the main screen, whose columns are already right.
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

// takeBack removes the newest line from the scrollback and wraps it to cols columns: its old rows
// belong to another width. nil when there is none.
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
	line[len(line)-1].wrapped = rows[0].wrapped // it may continue in the first row of the screen
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

// fit returns r, cropped or padded to cols columns. The cropped part is kept for when there is room
// again.
func fit(r *row, cols int) *row {
	if len(r.cells) == cols {
		return r
	}
	r = r.whole()
	c := &row{cells: make([]cell, cols), changed: r.changed, rich: r.rich, writes: r.writes}
	c.n = copy(c.cells, r.cells[:r.n])
	c.arena = append([]byte(nil), r.arena...)
	c.extras = append([]extra(nil), r.extras...)
	if r.n > cols {
		c.cut = r
		if last := &c.cells[cols-1]; last.attr()&attrWide != 0 { // its other half is cut off
			*last = makeCell(0, last.fg(), last.bg(), last.attr()&^attrWide|attrSpacer)
			c.rich = true
		}
	}
	c.shrink()
	return c
}

// whole returns r with its cropped columns. Neither r nor the result may be written to any more.
func (r *row) whole() *row {
	if r.cut == nil {
		return r
	}
	x, width := len(r.cells), len(r.cut.cells)
	w := &row{cells: make([]cell, width), changed: r.changed, writes: r.writes}
	w.take(r, 0, x)
	w.take(r.cut, x, width)
	switch next := r.cut.cells[x]; {
	case next.attr()&attrContinuation == 0:
	case r.cells[x-1].attr()&attrSpacer != 0 && r.cut.cells[x-1].attr()&attrWide != 0:
		w.take(r.cut, x-1, x) // nothing was written over the half that did not fit
	default:
		w.cells[x] = makeCell(0, next.fg(), next.bg(), w.cells[x].attr()&^attrContinuation)
		w.shrink()
	}
	return w
}

// cropAlt crops or pads the alternate screen. Rows below the cursor go first, then rows at the top;
// when it is not shown it has no cursor, and all go from below.
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

// reflow changes the number of columns of the main screen, and moves cursors with their characters.
// The resulting number of rows depends on the lines; refit corrects it.
func (t *Terminal) reflow(cols int, cursors ...*cursor) {
	all := t.main.rows
	// The line that continues in the first row is taken back whole, or a screenful of it.
	var head []*row
	for len(head) < MaxSide && t.history.lastWrapped() {
		head = append([]*row{t.history.pop()}, head...)
	}
	all = append(head, all...)
	from := make([]cursor, len(cursors)) // where they were
	for i, c := range cursors {
		from[i] = *c
		from[i].row += len(head)
	}
	var out []*row
	for first := 0; first < len(all); {
		last := first
		for last < len(all)-1 && all[last].wrapped {
			last++
		}
		w := wrapper{cols: cols, marks: make([]mark, len(cursors))}
		for y := first; y <= last; y++ {
			r := all[y]
			n := r.written()
			if y < last {
				n = r.joinedWidth()
			}
			w.changed = max(w.changed, r.changed)
			w.wrote = max(w.wrote, r.writes.last())
			for x := range n {
				for i, c := range from {
					if y == c.row && x == c.col && !c.pending {
						w.mark(i)
					}
				}
				w.add(r, x)
				for i, c := range from {
					if y == c.row && x == c.col && c.pending {
						w.mark(i)
					}
				}
			}
			for i, c := range from {
				if m := &w.marks[i]; y == c.row && !m.set { // past the end of the line
					w.mark(i)
					m.col = min(m.col+c.col-n, max(m.col, cols-1))
				}
			}
		}
		for i, m := range w.marks {
			if m.set {
				*cursors[i] = w.place(m, len(out))
			}
		}
		out = append(out, w.done()...)
		first = last + 1
	}
	t.main.rows = out
}

// written returns the number of columns up to the last character; erased cells after it, whatever
// their background, are not part of the line.
func (r *row) written() int {
	n := r.n
	for n > 0 && r.cells[n-1].content() == 0 && r.cells[n-1].attr()&attrContinuation == 0 {
		n--
	}
	return n
}

// A wrapper lays out the cells of one logical line in rows.
type wrapper struct {
	cols    int
	rows    []*row
	x       int // next column in the last row
	changed uint64
	wrote   uint64 // sequence at which text was last written to any of the rows
	marks   []mark
}

// A mark is a cursor's place in a line: one of its rows, and a column or the width.
type mark struct {
	set      bool
	row, col int
}

func (w *wrapper) line() []*row {
	if len(w.rows) == 0 {
		w.rows = append(w.rows, &row{cells: make([]cell, w.cols)})
	}
	return w.rows
}

// mark records that cursor i is where the next cell goes.
func (w *wrapper) mark(i int) { w.marks[i] = mark{true, len(w.line()) - 1, w.x} }

// place returns where a cursor is, given the number of rows before the line. Right after a full row
// it is with the next character in the next row or, when there is none, still after the last one
// with a wrap pending.
func (w *wrapper) place(m mark, before int) cursor {
	switch {
	case m.col < w.cols:
		return cursor{row: before + m.row, col: m.col}
	case m.row+1 < len(w.rows):
		return cursor{row: before + m.row + 1}
	}
	return cursor{row: before + m.row, col: w.cols - 1, pending: true}
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
	if width > w.cols { // a single column: no wide character fits
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

// done returns the rows. They are as old as the newest row they were made from.
func (w *wrapper) done() []*row {
	for _, r := range w.line() {
		r.shrink()
		r.changed = w.changed
		r.writes.rewrite(w.wrote)
	}
	return w.rows
}
