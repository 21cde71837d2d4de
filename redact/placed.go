package redact

import (
	"unicode/utf8"

	"github.com/ptywright/ptywright/internal/ansi"
)

// Programs that draw with cursor moves write the pieces of a line in any order, with other text in
// between. What a screen shows can be judged in place; bytes cannot. So the rows that the moves of
// one line (or of a window of a Stream) produce are assembled and judged, each when it is about to
// be overwritten, and at the end.

const (
	maxPlacedRow = 500        // rows further down are not assembled; terminals have fewer
	maxPlacedCol = maxColumns // nor are columns further right
	// maxWrittenCol is how far a row that continues from there is assembled: a screen wraps it, and
	// a key in base64 has some thousand characters.
	maxWrittenCol = 8 << 10
	// rewritten is how many cells of a row may change before it is judged in its earlier state:
	// fewer than give a secret away.
	rewritten = 8
)

// placing is the assembled rows, by number from 0.
type placing struct {
	rows     []placedRow
	row, col int
	touched  []int
}

// placedRow is one row: each cell's character as a place in the line, 0 where nothing was written.
type placedRow struct {
	cells   []placedCell
	fresh   bool // something was written since it was judged
	changed int  // how many of its characters were overwritten since
}

type placedCell struct {
	at   int32 // in the line
	size uint8 // bytes; 0: blank
	row  bool  // written since the row was judged
}

// cursor has the final bytes of the control sequences that move the cursor across the page.
var cursor = func() (set [256]bool) {
	for _, c := range "HfdGABCDEF`" {
		set[c] = true
	}
	return set
}()

// rows calls judge with the rows that the line produces, or those that a first look has named.
func (s *scan) rows(judge func(reading, bool)) {
	g, line := &s.grid, s.line
	g.row, g.col = maxPlacedRow, 0
	for i := 0; i < len(line); {
		c := line[i]
		switch {
		case c == esc:
			n, _, _ := ansi.Sequence(line, i)
			g.move(line[i : i+n])
			i += n
		case c == '\b':
			g.col = max(0, g.col-1)
			i++
		case c == '\r':
			g.col = 0
			i++
		case c < 0x20 || c == 0x7f:
			i++
		case c >= 0xc2 && invisible(line, i) > 0:
			i += invisible(line, i)
		default:
			end := runEnd(line, i)
			wanted := s.everyRow || s.sight.busy[g.row]
			if wanted {
				s.makeRoom(i, end, judge)
			}
			for i < end {
				ch, n := utf8.DecodeRuneInString(line[i:])
				if cols := width(ch); wanted {
					g.place(i, n, cols)
				} else if g.col < maxWrittenCol {
					g.col += cols
				}
				i += n
			}
		}
	}
	for _, row := range g.touched {
		s.row(row, judge)
		g.rows[row].cells = g.rows[row].cells[:0]
	}
	g.touched = g.touched[:0]
}

// width is how many columns a character takes: two for those of East Asia and most pictographs. An
// error shifts what follows by a column, and splits one piece in two.
func width(c rune) int {
	switch {
	case c < 0x300:
		return 1
	case c <= 0x36f:
		return 0
	case c >= 0x1100 &&
		(c <= 0x115f || c >= 0x2e80 && c <= 0xa4cf || c >= 0xac00 && c <= 0xd7a3 || c >= 0xf900 &&
			c <= 0xfaff ||
			c >= 0xfe30 && c <= 0xfe6f || c >= 0xff00 && c <= 0xff60 || c >= 0x1f300 && c <= 0x1faff ||
			c >= 0x20000 && c <= 0x3fffd):
		return 2
	}
	return 1
}

// move follows a control sequence (ECMA-48: CUP, HVP, VPA, CHA, CUU, CUD, CUF, CUB, CNL, CPL).
func (g *placing) move(seq string) {
	if final, n, more := csi(seq); more < 2 {
		g.step(final, n[0], n[1])
	}
}

// step follows a control sequence with final and its first two parameters, 0 where they are not
// given.
func (g *placing) step(final byte, first, second int) {
	one := max(1, first)
	switch final {
	case 'H', 'f':
		g.row, g.col = one-1, max(1, second)-1
	case 'd':
		g.row = one - 1
	case 'G', '`':
		g.col = one - 1
	case 'A':
		g.row = max(0, g.row-one)
	case 'B':
		g.row += one
	case 'C':
		g.col += one
	case 'D':
		g.col = max(0, g.col-one)
	case 'E':
		g.row, g.col = g.row+one, 0
	case 'F':
		g.row, g.col = max(0, g.row-one), 0
	}
	g.row, g.col = min(g.row, maxPlacedRow), min(g.col, maxPlacedCol)
}

// runEnd returns where the run of text that begins at line[i] ends.
func runEnd(line string, i int) int {
	for i++; i < len(line); i++ {
		c := line[i]
		if c < 0x20 || c == 0x7f || c >= 0xc2 && invisible(line, i) > 0 {
			break
		}
	}
	return i
}

// makeRoom judges the current state of the row that the run line[i:end] goes to, if the run
// overwrites enough of it to turn it into a different text.
func (s *scan) makeRoom(i, end int, judge func(reading, bool)) {
	g, line := &s.grid, s.line
	if g.row >= len(g.rows) {
		return
	}
	row := &g.rows[g.row]
	changed := 0
	for col := g.col; i < end && col < len(row.cells); {
		ch, n := utf8.DecodeRuneInString(line[i:])
		old := row.cells[col]
		cols := width(ch)
		if cols > 0 && old.row && old.size > 0 &&
			line[old.at:int(old.at)+int(old.size)] != line[i:i+n] {
			changed++
		}
		col += cols
		i += n
	}
	if row.changed += changed; row.changed > rewritten {
		s.row(g.row, judge)
	}
}

// place writes the character at line[at:at+size] at the cursor. One that has no column is in the
// cell before, hidden or not.
func (g *placing) place(at, size, cols int) {
	if g.col >= maxWrittenCol || cols == 0 {
		return
	}
	for len(g.rows) <= g.row {
		g.rows = append(g.rows, placedRow{})
	}
	row := &g.rows[g.row]
	if len(row.cells) == 0 {
		g.touched = append(g.touched, g.row)
		row.fresh, row.changed = false, 0
	}
	for len(row.cells) < g.col+cols {
		row.cells = append(row.cells, placedCell{})
	}
	row.cells[g.col] = placedCell{int32(at), uint8(size), true}
	if cols == 2 {
		row.cells[g.col+1] = placedCell{}
	}
	row.fresh = true
	g.col += cols
}

// row calls judge with the current state of a row, unless it was judged before. Blank cells are
// spaces: their content on the screen was written before.
func (s *scan) row(n int, judge func(reading, bool)) {
	row, line := &s.grid.rows[n], s.line
	if !row.fresh {
		return
	}
	row.fresh, row.changed = false, 0
	s.clean, s.came = s.clean[:0], s.came[:0]
	wide := false
	for i := range row.cells {
		c := &row.cells[i]
		c.row = false
		if c.size == 0 {
			if !wide {
				s.clean, s.came = append(s.clean, ' '), append(s.came, -1)
			}
			wide = false
			continue
		}
		for k := range int(c.size) {
			s.clean, s.came = append(s.clean, line[int(c.at)+k]), append(s.came, c.at+int32(k))
		}
		ch, _ := utf8.DecodeRuneInString(line[c.at:])
		wide = width(ch) == 2
	}
	if s.busy() {
		judge(reading{text: string(s.clean), at: s.came, apart: true}, false)
	}
}
