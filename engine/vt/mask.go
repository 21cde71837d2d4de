package vt

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// historyJoin bounds the bytes of scrollback that Mask looks at above the first row: a secret that
// begins further up would be longer than any rule knows.
const historyJoin = 8 << 10

// aboveJoin bounds the rows of scrollback that make one line above the screen.
const aboveJoin = 64

// MaskPage is [Screen.Mask] for a find that has to see lines together, such as those of a private
// key: it gets all logical lines down to the last that is not blank, and returns what to cover in
// each. above returns the n-th line above the first, from 1 in rising order, and false where the
// scrollback ends; there is none above the alternate screen. When rows were joined, find is called
// a second time with the rows as they are.
func (s *Screen) MaskPage(find func(lines []string, above func(n int) (string, bool)) [][]Mask) *Screen {
	lines, groups, continued := s.logical()
	if len(lines) == 0 {
		return s
	}
	masks := find(lines, s.above(continued))
	var alone [][]Mask // by row, where rows were joined
	last := groups[len(groups)-1].last
	if continued > 0 || last >= len(groups) {
		rows := make([]string, last+1)
		var text []byte
		for y := range rows {
			text = s.AppendLine(text[:0], y)
			rows[y] = string(text)
		}
		alone = find(rows, s.above(0))
	}
	var m masker
	out := s
	for i, g := range groups {
		all := masks[i]
		joined := g.last > g.first || i == 0 && continued > 0
		if len(all) == 0 && (!joined || !slices.ContainsFunc(alone[g.first:g.last+1], hasMasks)) {
			continue
		}
		// Something has to be covered: only now it matters which cell holds which byte.
		m.join(s, g.first, g.last)
		if joined {
			for y := g.first; y <= g.last; y++ {
				from, _ := m.rowIn(y)
				for _, k := range alone[y] {
					all = append(all, Mask{from + k.Start, from + k.End, k.Text})
				}
			}
		}
		rows := m.apply(s.rows, all)
		if rows == nil {
			continue
		}
		if out == s {
			c := *s
			c.rows = append([]*row(nil), s.rows...)
			c.text = new(lazyText)
			out = &c
		}
		for y, r := range rows {
			out.rows[y] = r
		}
	}
	return out
}

// A rowGroup is the rows that make one logical line.
type rowGroup struct{ first, last int }

// logical returns the logical lines of the screen, the rows of each, and how many rows of
// scrollback the first continues. Blank rows at the end are omitted.
func (s *Screen) logical() (lines []string, groups []rowGroup, continued int) {
	rest := s.Text() // one logical line a line
	var text []byte
	for first := 0; first < len(s.rows) && rest != ""; {
		last := first
		for last < len(s.rows)-1 && s.rows[last].wrapped {
			last++
		}
		line, after, _ := strings.Cut(rest, "\n")
		rest = after
		if first == 0 && !s.Modes.AltScreen {
			for n := s.history.Len(); continued < n && s.history.Wrapped(n-1-continued); continued++ {
			}
		}
		if last > first || first == 0 && continued > 0 {
			text = s.appendJoined(text[:0], first, last)
			line = string(text)
		}
		lines, groups = append(lines, line), append(groups, rowGroup{first, last})
		first = last + 1
	}
	return lines, groups, continued
}

// above returns the lines of the scrollback from the newest up, without the first skip rows.
// Wrapped rows are joined.
func (s *Screen) above(skip int) func(n int) (string, bool) {
	if s.Modes.AltScreen {
		return func(int) (string, bool) { return "", false }
	}
	h := s.history
	var lines []string
	next := h.Len() - skip
	return func(n int) (string, bool) {
		for len(lines) < n {
			if next <= 0 {
				return "", false
			}
			from := next - 1
			for from > 0 && next-from < aboveJoin && h.Wrapped(from-1) {
				from--
			}
			var b strings.Builder
			for i := from; i < next; i++ {
				b.WriteString(h.Line(i))
			}
			lines = append(lines, b.String())
			next = from
		}
		return lines[n-1], true
	}
}

// A masker holds one logical line and where each of its cells begins.
type masker struct {
	text  []byte
	spots []spot
}

// A spot is a cell of the line: the byte at which its text begins.
type spot struct{ start, row, col, width int }

func hasMasks(masks []Mask) bool { return len(masks) > 0 }

// appendJoined appends rows first to last as one line, after the scrollback that continues in the
// first row of the screen.
func (s *Screen) appendJoined(dst []byte, first, last int) []byte {
	if first == 0 && !s.Modes.AltScreen {
		dst = s.history.appendContinued(dst)
	}
	for y := first; y <= last; y++ {
		dst = s.AppendRow(dst, y)
	}
	return dst
}

// join is appendJoined, recording where each cell begins.
func (m *masker) join(s *Screen, first, last int) {
	m.text, m.spots = m.text[:0], m.spots[:0]
	if first == 0 && !s.Modes.AltScreen {
		m.text = s.history.appendContinued(m.text)
	}
	for y := first; y <= last; y++ {
		r := s.rows[y]
		n := r.trimmed()
		if y < last {
			n = r.joinedWidth()
		}
		for x := 0; x < n; x++ {
			c := r.cells[x]
			if c.attr()&attrContinuation != 0 {
				continue
			}
			width := 1
			if c.attr()&attrWide != 0 {
				width = 2
			}
			m.spots = append(m.spots, spot{len(m.text), y, x, width})
			switch ch := c.content(); {
			case ch == 0:
				m.text = append(m.text, ' ')
			case ch < utf8.RuneSelf:
				m.text = append(m.text, byte(ch))
			case ch&clusterBit != 0:
				m.text = append(m.text, r.cluster(ch)...)
			default:
				m.text = utf8.AppendRune(m.text, rune(ch))
			}
		}
	}
}

// rowIn returns where the text of row y begins and ends in the line.
func (m *masker) rowIn(y int) (from, to int) {
	i := sort.Search(len(m.spots), func(i int) bool { return m.spots[i].row >= y })
	if i == len(m.spots) || m.spots[i].row != y {
		return 0, 0
	}
	from, to = m.spots[i].start, len(m.text)
	if j := sort.Search(len(m.spots), func(i int) bool { return m.spots[i].row > y }); j < len(m.spots) {
		to = m.spots[j].start
	}
	return from, to
}

// appendContinued appends the newest lines that continue in the first row of the screen.
func (h History) appendContinued(dst []byte) []byte {
	n, size := h.Len(), 0
	i := n
	for i > 0 && size < historyJoin && h.Wrapped(i-1) {
		i--
		size += len(h.Line(i))
	}
	for ; i < n; i++ {
		dst = append(dst, h.Line(i)...)
	}
	return dst
}

// apply returns the rows that differ with the masks applied, by number; nil when none does.
func (m *masker) apply(rows []*row, masks []Mask) map[int]*row {
	var out map[int]*row
	for _, k := range merged(masks) {
		from := sort.Search(len(m.spots), func(i int) bool { return m.end(i) > k.Start })
		to := sort.Search(len(m.spots), func(i int) bool { return m.spots[i].start >= k.End })
		if k.End <= k.Start || from >= to {
			continue
		}
		room := 0
		for _, p := range m.spots[from:to] {
			room += p.width
		}
		free := 0 // blank cells after the line, where a marker may continue
		if last := m.spots[to-1]; to == len(m.spots) {
			free = len(rows[last.row].cells) - last.col - last.width
		}
		fill := filling(k.Text, room, free)
		if out == nil {
			out = make(map[int]*row)
		}
		at := 0
		for i := from; i < to; i++ {
			p := m.spots[i]
			r := out[p.row]
			if r == nil {
				r = rows[p.row].clone()
				r.rich = true
				out[p.row] = r
			}
			end := p.col + p.width
			if i == len(m.spots)-1 {
				end = max(end, min(len(r.cells), end+len(fill)-at-p.width))
			}
			for x := p.col; x < end; x++ {
				r.put(x, fill, at)
				at++
			}
		}
	}
	return out
}

// hiding fills every hidden cell when the marker does not fit.
const hiding = '•'

// filling is what covers room cells, followed by free blank ones: the marker, or as many bullets as
// there are cells where the marker would be cut short, which reads as damage.
func filling(marker string, room, free int) []rune {
	fill := slices.DeleteFunc([]rune(marker), func(c rune) bool { return c < 0x20 || runeWidth(c) != 1 })
	if n := len(fill); n > 0 && n <= room+free {
		return fill
	}
	return slices.Repeat([]rune{hiding}, room)
}

// merged returns the masks in order, with overlapping ones merged: half a marker must not follow
// another.
func merged(masks []Mask) []Mask {
	if len(masks) < 2 {
		return masks
	}
	masks = slices.Clone(masks)
	slices.SortStableFunc(masks, func(a, b Mask) int { return a.Start - b.Start })
	out := masks[:1]
	for _, k := range masks[1:] {
		if last := &out[len(out)-1]; k.Start < last.End {
			last.End = max(last.End, k.End)
			continue
		}
		out = append(out, k)
	}
	return out
}

// put covers the cell in column x with character at of fill, or with a space past its end.
func (r *row) put(x int, fill []rune, at int) {
	ch := ' '
	if at < len(fill) {
		ch = fill[at]
	}
	c := r.cells[x]
	attr := c.attr() &^ (attrWide | attrContinuation | attrExtraMask)
	r.cells[x] = makeCell(uint32(ch), c.fg(), c.bg(), attr)
	r.n = max(r.n, x+1)
}

func (m *masker) end(i int) int {
	if i+1 < len(m.spots) {
		return m.spots[i+1].start
	}
	return len(m.text)
}

// clone returns a private copy of the row.
func (r *row) clone() *row {
	c := &row{cells: make([]cell, len(r.cells)), changed: r.changed}
	c.copyFrom(r)
	return c
}

// WithTexts returns the screen with its title and the targets of its links as f gives them: s itself
// when f changes none. f is called once for each text.
func (s *Screen) WithTexts(f func(text string) string) *Screen {
	out := s
	changed := func() *Screen {
		if out == s {
			c := *s
			c.rows = slices.Clone(s.rows)
			out = &c
		}
		return out
	}
	if s.Title != "" {
		if title := f(s.Title); title != s.Title {
			changed().Title = title
		}
	}
	var known map[string]string
	for y, r := range s.rows {
		fresh := false // the row of out is a copy
		for i, x := range r.extras {
			if x.link == "" {
				continue
			}
			link, ok := known[x.link]
			if !ok {
				if known == nil {
					known = make(map[string]string)
				}
				link = f(x.link)
				known[x.link] = link
			}
			if link == x.link {
				continue
			}
			if !fresh {
				changed().rows[y], fresh = r.clone(), true
			}
			out.rows[y].extras[i].link = link
		}
	}
	return out
}
