package vt

import (
	"fmt"
	"slices"
	"sort"
)

// A Rect is a rectangle of cells: rows Row to Row+Rows-1 and columns Col to Col+Cols-1, from zero.
type Rect struct{ Row, Col, Rows, Cols int }

// String returns "row,column rowsxcolumns".
func (r Rect) String() string { return fmt.Sprintf("%d,%d %dx%d", r.Row, r.Col, r.Rows, r.Cols) }

// A Span is a stretch of cells of one row: columns Col to End-1.
type Span struct{ Row, Col, End int }

// A Line is a logical line: rows that continue in one another, as one text, with the cells in which
// its characters stand. The zero Line is empty.
type Line struct {
	text  []byte
	cells []lineCell
}

// A lineCell is a character of a line: its first byte, and the columns that it takes.
type lineCell struct {
	at int
	Span
}

// Append adds a character, or any text that counts as one, and its cells.
func (l *Line) Append(text string, s Span) {
	l.cells = append(l.cells, lineCell{len(l.text), s})
	l.text = append(l.text, text...)
}

// Text is what the line shows: blank cells as spaces, those at its end included. A blank column left
// by a wide character that wrapped whole is not part of it.
func (l *Line) Text() string { return string(l.text) }

// Rows returns the line's first row and its last.
func (l *Line) Rows() (first, last int) {
	if len(l.cells) == 0 {
		return 0, 0
	}
	return l.cells[0].Row, l.cells[len(l.cells)-1].Row
}

// EachCell calls f for each character of the line.
func (l *Line) EachCell(f func(text string, s Span)) {
	for i, c := range l.cells {
		end := len(l.text)
		if i+1 < len(l.cells) {
			end = l.cells[i+1].at
		}
		f(string(l.text[c.at:end]), c.Span)
	}
}

// Spans returns the cells that bytes start to end of the text take, a span for each row. A character
// that is partly in the range counts whole.
func (l *Line) Spans(start, end int) []Span {
	var out []Span
	for i := l.cell(start); i < len(l.cells) && l.cells[i].at < end; i++ {
		c := l.cells[i]
		if n := len(out); n > 0 && out[n-1].Row == c.Row {
			out[n-1].End = c.End
		} else {
			out = append(out, c.Span)
		}
	}
	return out
}

// Whole reports whether bytes start to end of the text are whole characters: neither end lies
// within one, such as between a letter and its accent.
func (l *Line) Whole(start, end int) bool {
	begins := func(at int) bool {
		return at == len(l.text) || len(l.cells) > 0 && l.cells[l.cell(at)].at == at
	}
	return begins(start) && begins(end)
}

// cell returns the cell that byte at belongs to.
func (l *Line) cell(at int) int {
	return max(0, sort.Search(len(l.cells), func(i int) bool { return l.cells[i].at > at })-1)
}

// LinesIn returns the logical lines of a rectangle of the screen, from top to bottom; r is cut to the
// screen. Rows are joined where r has all columns: what continues in the next row does so at the
// screen's edge. A wide character of which r has only one half is blank.
func (s *Screen) LinesIn(r Rect) []Line {
	top, bottom := max(r.Row, 0), min(r.Row+r.Rows, s.Rows)
	left, right := max(r.Col, 0), min(r.Col+r.Cols, s.Cols)
	whole := left == 0 && right == s.Cols
	var lines []Line
	for y := top; y < bottom; y++ {
		var l Line
		for ; ; y++ {
			joined := whole && y+1 < bottom && s.rows[y].wrapped
			l.row(s.rows[y], y, left, right, joined)
			if !joined {
				break
			}
		}
		lines = append(lines, l)
	}
	return lines
}

// row appends columns left to right-1 of a row.
func (l *Line) row(r *row, y, left, right int, joined bool) {
	l.cells = slices.Grow(l.cells, right-left)
	l.text = slices.Grow(l.text, right-left)
	for x := left; x < right; x++ {
		c := r.cells[x]
		a, end, text := c.attr(), x+1, r.text(c)
		switch {
		case a&attrContinuation != 0 && x > left, joined && a&attrSpacer != 0:
			continue
		case a&attrWide != 0:
			if end++; end > right {
				end, text = right, ""
			}
		}
		if text == "" {
			text = " "
		}
		l.Append(text, Span{y, x, end})
	}
}
