package vt

import "slices"

// Fork returns a terminal in the same state: fed the same, both go on alike, and neither sees what
// is done to the other. They share rows, scrollback and strings until one of them writes: a fork
// takes microseconds and 2 KiB, whatever it shows. It may be handed to another goroutine. The
// Effect of the last call stays with t.
func (t *Terminal) Fork() *Terminal {
	t.shared = t.frame - 1 // as when a Screen is made
	f := *t
	f.free, f.blank, f.fill = nil, nil, nil
	f.effect, f.reply, f.moments = Effect{}, nil, nil
	f.tabs = slices.Clone(t.tabs)
	f.titleStack = slices.Clone(t.titleStack)
	f.parser.str = nil
	if t.parser.keeps() {
		f.parser.str = slices.Clone(t.parser.str)
	}
	f.history = t.history.fork()
	f.grid, f.shownOn = f.gridOf(t, t.grid), f.gridOf(t, t.shownOn)
	f.main.rows, f.alt.rows = slices.Clone(t.main.rows), slices.Clone(t.alt.rows)
	f.before = slices.Clone(t.before)
	if t.held { // a frame is under way: what it has made is still written to
		twins := make(map[*row]*row)
		for _, rows := range [...][]*row{f.main.rows, f.alt.rows} {
			for y, r := range rows {
				if !t.made(r) {
					continue
				}
				if twins[r] == nil {
					twins[r] = r.twin()
				}
				rows[y] = twins[r]
			}
		}
	}
	return &f
}

// gridOf returns the grid of f that is g of t.
func (f *Terminal) gridOf(t *Terminal, g *grid) *grid {
	if g == &t.alt {
		return &f.alt
	}
	return &f.main
}

// twin returns a copy of r that is as old, and may be written to as r may.
func (r *row) twin() *row {
	c := *r
	c.cells, c.arena, c.extras = slices.Clone(r.cells), slices.Clone(r.arena), slices.Clone(r.extras)
	return &c
}

// keeps reports whether a string is under way that is kept.
func (s *parser) keeps() bool {
	switch s.state {
	case stateOSC, stateString, stateOSCEscape, stateStringEscape:
		return true
	}
	return false
}

// fork returns a history that goes on alike. The arrays of its newest block are those of h up to
// their ends, so the first line that is added copies them.
func (h *history) fork() history {
	f := *h
	f.sealed = slices.Clip(h.sealed)
	f.tail.size = h.tail.room()
	f.tail.data, f.tail.ends = slices.Clip(h.tail.data), slices.Clip(h.tail.ends)
	f.tail.left, f.tail.more = slices.Clip(h.tail.left), slices.Clip(h.tail.more)
	return f
}
