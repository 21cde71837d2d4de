package vt

import "math/bits"

// FeedMoments is FeedToMark that also shows what was on the screen for a moment only. It calls look
// at each moment: right before an operation takes away (overwrites, erases, shifts, scrolls off or
// leaves behind on the other screen) a cell that was written since the moment before, before the
// title changes a second time, before a synchronized update begins when something was written, and
// at the end of one that has changed the screen. Within an update there are none. So each character
// that was ever printed outside of an update is on the screen at a moment, or at the end of p.
//
// Moments depend on the stream, not on how it was cut: the end of p is none, and what was written
// before it still counts afterwards. Only written cells count: erasing them and drawing again, as
// programs do frame by frame, gives one moment a frame, and a flood of lines about one a screen. The
// first call begins to keep track: what was written before it, or by other calls, does not count.
//
// The Screen has the Sequence of this call. It may be kept; look must not use t, which goes on exactly
// as with FeedToMark. None is left out, however many there are: a hostile program makes one with every
// other byte. Each costs a look at each row and a copy of those that have changed since the last, 12
// us and 24 KiB on the largest screen; what look does with it is for the caller to bound.
func (t *Terminal) FeedMoments(p []byte, look func(s *Screen)) (e Effect, rest []byte) {
	if t.moments == nil {
		t.moments = &moments{}
	}
	m := t.moments
	if len(m.rows) != t.rows || len(m.zero) != (t.cols+63)/64 {
		m.resize(t.rows, t.cols)
	}
	m.look = look
	defer func() { m.look = nil }()
	return t.FeedToMark(p)
}

// Seen says that whoever looks at moments has seen the screen as it is: what was written so far does
// not count for those to come.
func (t *Terminal) Seen() {
	if t.moments != nil {
		t.moments.reset()
	}
}

// moments keep track of the cells that were written since the last moment. A terminal's state does
// not include them: a fork and a terminal that is loaded begin without.
type moments struct {
	look  func(*Screen) // nil: FeedMoments does not run, and moments pass unseen
	rows  []ink         // of the grid that is shown: when it changes, none is written
	zero  []uint64
	epoch uint64 // counts the moments
	wrote bool   // a cell was written since the last one
	title bool   // the title was set
}

// ink says which cells of a row were written: those whose bits are set, in the epoch that it is of;
// and how the row was shown last.
type ink struct {
	epoch uint64
	cells []uint64
	sight sight
}

// A sight is what a moment has shown of a row. Rows that do not change between two moments cost
// nothing but a look at it: otherwise two bytes could cost as much as the largest screen.
type sight struct {
	sightKey
	shown *row
}

// sightKey is what that depends on: the row, what was shown before, in which frame, and whether on
// the other screen.
type sightKey struct {
	row, before *row
	frame       uint64
	switched    bool
}

func (m *moments) resize(rows, cols int) {
	*m = moments{
		look: m.look, epoch: m.epoch + 1,
		rows: make([]ink, rows), zero: make([]uint64, (cols+63)/64),
	}
	all := make([]uint64, rows*len(m.zero))
	for y := range m.rows {
		m.rows[y].cells, all = all[:len(m.zero):len(m.zero)], all[len(m.zero):]
	}
}

// reset makes everything count as not written.
func (m *moments) reset() {
	m.epoch++
	m.wrote, m.title = false, false
}

// row returns the ink of row y for writing.
func (m *moments) row(y int) []uint64 {
	r := &m.rows[y]
	if r.epoch != m.epoch {
		copy(r.cells, m.zero)
		r.epoch = m.epoch
	}
	return r.cells
}

// first returns the first of columns from..to-1 of row y that was written; to when none was.
func (m *moments) first(y, from, to int) int {
	r := &m.rows[y]
	if r.epoch != m.epoch || from >= to {
		return to
	}
	mask := ^uint64(0) << (from & 63)
	for i := from >> 6; i<<6 < to; i++ {
		if w := r.cells[i] & mask; w != 0 {
			return min(to, i<<6+bits.TrailingZeros64(w))
		}
		mask = ^uint64(0)
	}
	return to
}

// mark marks columns from..to-1 of row y as written.
func (m *moments) mark(y, from, to int) {
	if from >= to {
		return
	}
	m.wrote = true
	cells := m.row(y)
	for i := from >> 6; i<<6 < to; i++ {
		w := ^uint64(0)
		if lo := from - i<<6; lo > 0 {
			w <<= lo
		}
		if hi := to - i<<6; hi < 64 {
			w &= 1<<hi - 1
		}
		cells[i] |= w
	}
}

// moves gives rows top..bottom the ink of those n further down, or up when n is negative, in columns
// from..to-1; that of rows from elsewhere is gone.
func (m *moments) moves(top, bottom, n, from, to int) {
	if !m.wrote {
		return
	}
	if from == 0 && to >= len(m.zero)*64 { // whole rows
		m.turn(m.rows[top:bottom+1], n)
		return
	}
	y, end, step := top, bottom+1, 1
	if n < 0 {
		y, end, step = bottom, top-1, -1
	}
	for ; y != end; y += step {
		src := y + n
		there := src >= top && src <= bottom && m.rows[src].epoch == m.epoch
		if !there && m.rows[y].epoch != m.epoch {
			continue
		}
		cells := m.row(y)
		for x := from; x < to; x++ {
			w, bit := x>>6, uint64(1)<<(x&63)
			cells[w] &^= bit
			if there {
				cells[w] |= m.rows[src].cells[w] & bit
			}
		}
	}
}

// turn moves rows up by n, or down when n is negative; those that come in have no ink.
func (m *moments) turn(rows []ink, n int) {
	switch last := len(rows) - 1; n {
	case 1: // each line of a flood
		in := rows[0]
		copy(rows, rows[1:])
		in.epoch = 0
		rows[last] = in
		return
	case -1:
		in := rows[last]
		copy(rows[1:], rows)
		in.epoch = 0
		rows[0] = in
		return
	}
	k := n
	if n < 0 {
		k += len(rows)
	}
	reverse(rows[:k])
	reverse(rows[k:])
	reverse(rows)
	in := rows[len(rows)-max(n, 0):]
	if n < 0 {
		in = rows[:-n]
	}
	for i := range in {
		in[i].epoch = 0
	}
}

func reverse(rows []ink) {
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
}

// tracked reports whether written cells are kept track of. Within a synchronized update they are
// not: nobody sees them.
func (t *Terminal) tracked() bool { return t.moments != nil && !t.held }

// moment shows the screen as it is, and makes everything count as not written.
func (t *Terminal) moment() {
	t.moments.reset()
	if t.moments.look == nil {
		return
	}
	rows := make([]*row, t.rows)
	for y := range rows {
		rows[y] = t.asShown(y)
	}
	t.moments.look(t.screenOf(t.visible(), rows))
}

// asShown returns row y as it would be if the frame ended here: see commit. A row that the frame has
// made is not written to any more, it is copied first; so what was found out about it holds until
// another takes its place.
func (t *Terminal) asShown(y int) *row {
	r, switched := t.grid.rows[y], t.shownOn != t.grid
	var before *row
	switch {
	case t.moved:
		if !switched && !t.made(r) {
			return r
		}
	case t.saved:
		before = t.before[y]
	}
	if before == r || !t.moved && !t.saved {
		return r
	}
	if r.frame == t.frame {
		r.frame, r.born = 0, t.frame
	}
	i := &t.moments.rows[y]
	if key := (sightKey{r, before, t.frame, switched}); i.sight.sightKey != key {
		i.sight = sight{key, t.settled(r, before, switched)}
	}
	return i.sight.shown
}

// settled returns r as commit leaves it where before was shown; nil: rows were moved.
func (t *Terminal) settled(r, before *row, switched bool) *row {
	changed := t.seq
	if before != nil && r.equal(before) {
		if !switched && r.wrote == 0 && r.cut == before.cut {
			return before
		}
		changed = before.changed
	}
	c := *r
	c.frame, c.changed = 0, changed
	c.stamp(t.seq)
	return &c
}

// leaving must be called before the whole screen goes.
func (t *Terminal) leaving() {
	if t.tracked() && (t.moments.wrote || t.moments.title) {
		t.moment()
	}
}

// taking must be called before columns from..to-1 of rows top..bottom are taken away.
func (t *Terminal) taking(top, bottom, from, to int) {
	if !t.tracked() || !t.moments.wrote {
		return
	}
	for y := top; y <= bottom; y++ {
		if t.moments.first(y, from, to) < to {
			t.moment()
			return
		}
	}
}

// writing must be called before columns from..to-1 of row y are written, and before the row is owned.
func (t *Terminal) writing(y, from, to int) {
	if t.tracked() {
		t.taking(y, y, from, to)
		t.moments.mark(y, from, to)
	}
}

// scrolling must be called before rows top..bottom move up by n, or down when n is negative.
func (t *Terminal) scrolling(top, bottom, n int) {
	if !t.tracked() || n == 0 {
		return
	}
	from, to := 0, len(t.moments.zero)*64
	if t.sides.set {
		from, to = t.sides.left, t.sides.right+1
	}
	if n > 0 {
		t.taking(top, top+n-1, from, to)
	} else {
		t.taking(bottom+n+1, bottom, from, to)
	}
	t.moments.moves(top, bottom, n, from, to)
}

// indexing must be called before the cursor moves down a row, and what is done for it.
func (t *Terminal) indexing() {
	if t.tracked() && t.cursor.row == t.bottom && t.inSides() {
		from, to := t.sides.left, t.lastCol()+1
		t.taking(t.top, t.top, from, to)
	}
}

// wrapping must be called before the next row is made to continue that of the cursor, with a
// character of up to two columns.
func (t *Terminal) wrapping() {
	t.indexing()
	y := t.cursor.row
	switch {
	case y == t.bottom && t.inSides(): // a blank row
		return
	case y != t.bottom && y < t.rows-1:
		y++
	}
	t.taking(y, y, t.sides.left, min(t.sides.left+2, t.cols))
}

// retitling must be called before the title becomes another one.
func (t *Terminal) retitling() {
	if t.tracked() {
		if t.moments.title {
			t.moment()
		}
		t.moments.title = true
	}
}

// Title returns the window title, as [Screen.Title] has it, and whether the program has set one.
func (t *Terminal) Title() (title string, set bool) { return t.title, t.titleSet }

// setTitle sets the title, as the program wants it.
func (t *Terminal) setTitle(title string, set bool) {
	if title != t.title || set != t.titleSet {
		t.retitling()
	}
	t.title, t.titleSet = title, set
}

// printTracked is printASCII, character by character where a moment may come, otherwise in runs.
func (t *Terminal) printTracked(p []byte) {
	c, m := &t.cursor, t.moments
	for len(p) > 0 {
		n := 1
		switch {
		case c.pending && t.modes.autoWrap: // the next row first
			t.wrap()
			continue
		case c.pending:
			t.writing(c.row, c.col, c.col+1)
		default:
			n = m.first(c.row, c.col, c.col+min(len(p), t.cols-c.col)) - c.col
			if n == 0 {
				t.moment()
				continue
			}
			m.mark(c.row, c.col, c.col+n)
		}
		t.printPlain(p[:n])
		p = p[n:]
	}
}
