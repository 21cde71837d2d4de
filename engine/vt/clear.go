package vt

// Clear makes the cursor's row the first one, blanks all others and drops the scrollback, without
// notifying the program: what "clear" in a terminal window's menu does. The cursor keeps its
// column; modes and margins stay. The alternate screen has no scrollback; clearing it keeps that of
// the main screen. A synchronized update ends.
func (t *Terminal) Clear() Effect {
	t.begin()
	t.release()
	if t.moments != nil {
		t.moments.reset()
	}
	n := t.cursor.row
	rows := t.grid.rows
	if t.grid == &t.main { // as if it had scrolled out: lines keep their numbers
		for _, r := range rows[:n] {
			t.history.push(r, t.seq)
		}
		t.history.clear()
	}
	if n > 0 {
		t.moving()
		copy(rows, rows[n:])
		t.replaceAll(len(rows)-n, len(rows), t.blankRow())
		t.cursor.row = 0
	}
	kept := t.pen
	t.pen = pen{} // the program did not erase this, so its colour does not apply
	t.breakWrap(0)
	t.eraseRows(1, len(rows))
	t.pen = kept
	t.joint = joint{}
	return t.end()
}
