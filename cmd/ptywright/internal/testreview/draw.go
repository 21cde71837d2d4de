package testreview

import (
	"fmt"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/vt"
)

// A layout is a way to look at two screens.
type layout int

const (
	split layout = iota // side by side
	stack               // one above the other
	blink               // one after the other, in the same place
	delta               // the rows that differ, old and new
	layouts
)

func (l layout) String() string { return [...]string{"side by side", "stacked", "blink", "diff"}[l] }

// frameRows are the lines around the screens: a head, three about what differs, and the keys.
const frameRows = 5

// fit returns the layout that shows most of an item in a window.
func fit(i *Item, rows, cols int) layout {
	if i.Old == nil || i.Seen == nil {
		return blink
	}
	w := max(width(i.Old), width(i.Seen))
	switch {
	case cols >= 2*w+gap:
		return split
	case rows-frameRows >= len(i.Old.Rows)+len(i.Seen.Rows)+2:
		return stack
	}
	return delta
}

// gap are the columns between two screens side by side.
const gap = 3

func width(f *golden.File) int {
	if f.Region != nil {
		return f.Region.Cols
	}
	return f.Width
}

// marks are the cells that differ, by row.
type marks map[int][]golden.Change

func marksOf(d *golden.Diff) marks {
	m := marks{}
	if d != nil {
		for _, c := range d.Changes {
			m[c.Row] = append(m[c.Row], c)
		}
	}
	return m
}

// has reports whether a cell differs.
func (m marks) has(row, col int) bool {
	for _, c := range m[row] {
		if col >= c.Col && col < c.End {
			return true
		}
	}
	return false
}

// Colours of the cells that differ: dark, so that what stands on them can be read.
var (
	oldGround = vt.RGBColor(0x58, 0x10, 0x10)
	newGround = vt.RGBColor(0x0c, 0x40, 0x1c)
	white     = vt.RGBColor(0xff, 0xff, 0xff)
)

// body returns the lines that show an item in so many columns. old says which of the two screens
// blinks.
func body(i *Item, l layout, cols int, old bool) []string {
	m := marksOf(i.Diff())
	before, after := i.Old, i.Seen
	switch {
	case before == nil && after == nil: // neither can be read
		return nil
	case l == blink || before == nil || after == nil:
		f, ground, name := after, newGround, "seen"
		if after == nil || old && before != nil {
			f, ground, name = before, oldGround, "golden"
		}
		return append([]string{caption(name, cols)}, sheet(f, m, 1, cols, ground)...)
	case l == split:
		w := (cols - gap) / 2
		left, right := sheet(before, m, 1, w, oldGround), sheet(after, m, w+gap+1, w, newGround)
		lines := []string{caption("golden", w) + column(w+1) + "   " + caption("seen", w)}
		for y := range max(len(left), len(right)) {
			line := column(w+1) + " │ "
			if y < len(left) {
				line = left[y] + line
			}
			if y < len(right) {
				line += right[y]
			}
			lines = append(lines, line)
		}
		return lines
	case l == stack:
		lines := append([]string{caption("golden", cols)}, sheet(before, m, 1, cols, oldGround)...)
		lines = append(lines, caption("seen", cols))
		return append(lines, sheet(after, m, 1, cols, newGround)...)
	}
	return deltaLines(before, after, m, cols)
}

// apart parts the cells that differ into those with another text, and those of which only the look
// differs: on a ground of ours that could not be seen.
func apart(before, after *golden.File, m marks) (text, look marks) {
	text, look = marks{}, marks{}
	at := func(cells []golden.Cell, x int) string {
		if x < len(cells) {
			return cells[x].Text
		}
		return " "
	}
	for y, changes := range m {
		var a, b []golden.Cell
		if y < len(before.Rows) {
			a = before.Cells(y)
		}
		if y < len(after.Rows) {
			b = after.Cells(y)
		}
		for _, c := range changes {
			for x := c.Col; x < c.End; x++ {
				one, to := golden.Change{Row: y, Col: x, End: x + 1}, text
				if at(a, x) == at(b, x) {
					to = look
				}
				to[y] = append(to[y], one)
			}
		}
	}
	return text, look
}

// under is a line with a mark under each cell of a row that differs; "": none does.
func (m marks) under(row, cols int) string {
	line := []byte{}
	for _, c := range m[row] {
		for x := c.Col; x < min(c.End, cols); x++ {
			for len(line) <= x {
				line = append(line, ' ')
			}
			line[x] = '^'
		}
	}
	return string(line)
}

// deltaLines are the rows that differ, as they were and as they are, with a row around them.
func deltaLines(before, after *golden.File, m marks, cols int) []string {
	text, look := apart(before, after, m)
	old, now := sheet(before, text, 3, cols-2, oldGround), sheet(after, text, 3, cols-2, newGround)
	differs := func(y int) bool { return len(m[y]) > 0 }
	var lines []string
	gone := false // rows were left out
	for y := range max(len(old), len(now)) {
		switch {
		case differs(y):
			if y < len(old) {
				lines = append(lines, "- "+old[y])
			}
			if y < len(now) {
				lines = append(lines, "+ "+now[y])
			}
			if under := look.under(y, cols-2); under != "" {
				lines = append(lines, "\x1b[2m  "+under+"\x1b[m")
			}
			gone = false
		case differs(y-1) || differs(y+1):
			lines = append(lines, "  "+now[y])
			gone = false
		case !gone:
			lines = append(lines, "\x1b[2m  …\x1b[m")
			gone = true
		}
	}
	return lines
}

func caption(text string, cols int) string { return "\x1b[2m" + cut(text, cols) + "\x1b[m" }

// column moves to a column, from 1.
func column(n int) string { return fmt.Sprintf("\x1b[%dG", n) }

// sheet returns the lines of a screen that begins in column left of the window and is cut to cols;
// cells that differ stand on ground.
func sheet(f *golden.File, m marks, left, cols int, ground vt.Color) []string {
	lines := make([]string, len(f.Rows))
	for y := range f.Rows {
		lines[y] = paint(f.Cells(y), left, cols, func(x int) vt.Color {
			if m.has(y, x) {
				return ground
			}
			return 0
		})
	}
	return lines
}

// paint writes cells.
func paint(cells []golden.Cell, left, cols int, ground func(x int) vt.Color) string {
	var b strings.Builder
	var last vt.Style
	for x, c := range cells[:min(cols, len(cells))] {
		if c.Text == "" {
			continue
		}
		if x+1 == cols && x+1 < len(cells) && cells[x+1].Text == "" { // half of a wide character
			c.Text = " "
		}
		if c.Style.Link = ""; c.Masked {
			c.Style = vt.Style{Dim: true}
		}
		if g := ground(x); g != 0 {
			c.Style.Background, c.Style.Inverse = g, false
			if c.Style.Foreground.IsDefault() {
				c.Style.Foreground = white
			}
		}
		if c.Style != last {
			b.WriteString("\x1b[" + c.Style.SGR() + "m")
			last = c.Style
		}
		b.WriteString(c.Text)
		if len(c.Text) > 1 { // this terminal may take another width for it
			b.WriteString(column(left + x + displaywidth.String(c.Text)))
		}
	}
	return b.String() + "\x1b[m"
}

// cut shortens a text to so many columns.
func cut(s string, cols int) string {
	s = cli.OneLine(s)
	if displaywidth.String(s) <= cols {
		return s
	}
	var b strings.Builder
	n := 1 // the ellipsis
	for g := displaywidth.StringGraphemes(s); g.Next(); {
		if n += g.Width(); n > cols {
			break
		}
		b.WriteString(g.Value())
	}
	return b.String() + "…"
}
