package vt

import "unsafe"

// Bytes returns roughly how much memory the terminal uses: both screens and the scrollback, except
// what Screens that were handed out share with it. It visits each row of the screens but no line of
// the scrollback: microseconds.
func (t *Terminal) Bytes() int {
	const blockHead, rowHead = int(unsafe.Sizeof(block{})), int(unsafe.Sizeof(row{}))
	n := int(unsafe.Sizeof(*t)) + len(t.tabs)
	for _, b := range t.history.sealed {
		n += blockHead + cap(b.data) + 4*cap(b.ends)
	}
	n += cap(t.history.tail.data) + 4*cap(t.history.tail.ends)
	seen := make(map[*row]bool, 2*t.rows) // erased rows are one row in many places
	for _, rows := range [...][]*row{t.main.rows, t.alt.rows, t.free, t.before} {
		for _, r := range rows {
			for ; r != nil && !seen[r]; r = r.cut {
				seen[r] = true
				n += rowHead + cap(r.cells)*int(unsafe.Sizeof(cell{})) + cap(r.arena) + cap(r.extras)*int(unsafe.Sizeof(extra{}))
			}
		}
	}
	return n
}
