package edit

import (
	"fmt"
	"math"
	"strings"
)

// A Span is a part of a text, in bytes, and its SGR parameters, such as "1;34".
type Span struct {
	Start, End int
	SGR        string
}

// A drawing is rows to write, each within the terminal's width.
type drawing struct {
	rows     []string
	widths   [][]int // of the characters of each row that have one
	row, col int     // of the cursor
}

// layout wraps prompt and text at cols.
func layout(first, more, promptSGR, text string, cursor int, spans []Span, cols int) drawing {
	var d drawing
	var b strings.Builder
	var widths []int
	col, style, at := 0, "", ""
	end := func() {
		if style != "" {
			b.WriteString("\x1b[m")
			style = ""
		}
		d.rows, d.widths = append(d.rows, b.String()), append(d.widths, widths)
		b.Reset()
		col, widths = 0, nil
	}
	put := func(r rune, sgr string) {
		w := width(r)
		if col+w > cols {
			end()
		}
		if sgr != style {
			b.WriteString("\x1b[m")
			if style = sgr; sgr != "" {
				b.WriteString("\x1b[" + sgr + "m")
			}
		}
		if r == '\t' {
			b.WriteString(strings.Repeat(" ", tabWidth))
		} else {
			b.WriteRune(r)
		}
		col += w
		if w > 0 {
			widths = append(widths, w)
		}
	}
	prompt := func(s string) {
		for _, r := range s {
			put(r, promptSGR)
		}
	}
	prompt(first)
	next := 0 // of spans
	for i, r := range text {
		for next < len(spans) && spans[next].End <= i {
			next++
		}
		at = ""
		if next < len(spans) && spans[next].Start <= i {
			at = spans[next].SGR
		}
		if r != '\n' && col+width(r) > cols || i == cursor && col >= cols {
			end()
		}
		if i == cursor {
			d.row, d.col = len(d.rows), col
		}
		if r == '\n' {
			end()
			prompt(more)
			continue
		}
		put(r, at)
	}
	if cursor >= len(text) {
		if col >= cols {
			end()
		}
		d.row, d.col = len(d.rows), col
	}
	if b.Len() > 0 || len(d.rows) <= d.row {
		end()
	}
	return d
}

// A painter remembers what it has drawn, to draw something else in its place.
type painter struct {
	widths [][]int // of the characters of each row, up to the cursor's
	col    int     // the cursor's
}

// erase moves to the start of the drawing and clears from there. A terminal that became narrower
// has wrapped the drawn rows, as nearly all terminals do; on one that truncates them, rows above
// are cleared, too. Where terminals differ, the lower row is used: leftovers do less harm than the
// loss of a line of the user's.
func (p *painter) erase(b *strings.Builder, cols int) {
	up := 0
	for i, row := range p.widths {
		if i == len(p.widths)-1 {
			up += wrapped(row, p.col, cols)
		} else {
			up += wrapped(row, math.MaxInt, cols) + 1
		}
	}
	b.WriteString("\r")
	if up > 0 {
		fmt.Fprintf(b, "\x1b[%dA", up)
	}
	b.WriteString("\x1b[J")
	p.widths, p.col = nil, 0
}

// wrapped returns in which row the column of a drawn row is, from 0, on a terminal that has wrapped
// it at cols: where a character does not fit, it begins a row. Behind the last character, the cursor
// waits in its row. On a wide one that left a column free, it stays in some terminals and follows in
// others: the lesser row is returned.
func wrapped(widths []int, column, cols int) (row int) {
	at, col := 0, 0
	for _, w := range widths {
		on := at >= column
		if on && col < cols {
			break
		}
		if col+w > cols {
			row, col = row+1, 0
		}
		if on {
			break
		}
		at, col = at+w, col+w
	}
	return row
}

// draw draws d and, below it, the rows of a menu, in at most rows rows: of a longer text the part
// around the cursor.
func (p *painter) draw(b *strings.Builder, d drawing, below []string, rows int) {
	below = below[:min(len(below), max(rows-2, 0))]
	from, to := 0, len(d.rows)
	if most := max(rows-len(below)-1, 1); to > most {
		from = min(max(d.row-most/2, 0), to-most)
		to = from + most
	}
	b.WriteString(strings.Join(d.rows[from:to], "\r\n"))
	for _, row := range below {
		b.WriteString("\r\n" + row)
	}
	if up := to - 1 - d.row + len(below); up > 0 {
		fmt.Fprintf(b, "\x1b[%dA", up)
	}
	fmt.Fprintf(b, "\r\x1b[%dG", d.col+1)
	p.widths, p.col = d.widths[from:d.row+1], d.col
}
