package golden

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/ptywright/ptywright/engine/vt"
)

// A Cell is one column of a file's row.
type Cell struct {
	// Text is what stands there: " " for a blank, "" for the second column of a wide character.
	Text   string
	Style  vt.Style
	Masked bool // what stands there is a mask's name
}

// Cells returns the cells of a row, as many as the region has columns. A mask's name that reaches
// beyond them is cut off, and what no terminal shows (a file may have been written by hand) is
// shown as a blank.
func (f *File) Cells(row int) []Cell {
	cells := make([]Cell, f.region().Cols)
	var r Row
	if row >= 0 && row < len(f.Rows) {
		r = f.Rows[row]
	}
	// A terminal says which columns a text takes, as it did when the screen was written down.
	t := vt.New(1, min(len(cells)+maxName+3, vt.MaxSide), vt.Options{})
	t.Feed([]byte(f.clusters() + "\x1b[?7l" + tame(norm.NFC.String(r.Text))))
	t.Snapshot().EachCell(0, func(x int, c vt.Cell) {
		if x >= len(cells) {
			return
		}
		if cells[x].Text = c.Text; c.Text == "" && !c.Continuation || c.Wide && x+1 == len(cells) {
			cells[x].Text = " "
		}
	})
	letters := []rune(r.Styles)
	for i := range cells {
		cells[i].Style, cells[i].Masked = f.styleAt(letters, i)
	}
	return cells
}

// clusters turns on the mode in which clusters of characters are one, if the file has it.
func (f *File) clusters() string {
	if slices.Contains(strings.Fields(f.Modes), "clusters") {
		return "\x1b[?2027h"
	}
	return ""
}

// tame replaces characters that would do something to a terminal, or to the order of its text.
func tame(s string) string {
	return strings.Map(func(c rune) rune {
		if bidi(c) {
			return ' '
		}
		return c
	}, harmless(s))
}

// Screen returns a terminal's screen that shows the file: its rows, title and cursor. Where the
// file is of a region, the screen has the region's size. Cells under a mask are in the default
// style, but dim. restyle, unless it is nil, may give a cell of the region another style.
func (f *File) Screen(restyle func(row, col int, s vt.Style) vt.Style) *vt.Screen {
	g := f.region()
	t := vt.New(g.Rows, g.Cols, vt.Options{})
	var b strings.Builder
	b.WriteString(f.clusters())
	if f.HasTitle {
		b.WriteString("\x1b]2;" + tame(f.Title) + "\x1b\\")
	}
	for y := range g.Rows {
		var last vt.Style
		b.WriteString(normal)
		for x, c := range f.Cells(y) {
			if c.Text == "" {
				continue
			}
			if c.Masked {
				c.Style = vt.Style{Dim: true}
			}
			if restyle != nil {
				c.Style = restyle(y, x, c.Style)
			}
			if c.Text == " " && c.Style == (vt.Style{}) {
				continue // as blank as it is
			}
			if c.Style != last || x == 0 {
				last = c.Style
				b.WriteString(normal + "\x1b[" + c.Style.SGR() + "m" + hyperlink(c.Style))
			}
			// Each cell is addressed, so that no two of them become one character.
			b.WriteString("\x1b[" + strconv.Itoa(y+1) + ";" + strconv.Itoa(x+1) + "H" + c.Text)
		}
	}
	b.WriteString(normal)
	row, col, shown := f.cursor()
	b.WriteString("\x1b[" + strconv.Itoa(row-g.Row+1) + ";" + strconv.Itoa(col-g.Col+1) + "H")
	if !shown || row < g.Row || row >= g.Row+g.Rows || col < g.Col || col >= g.Col+g.Cols {
		b.WriteString("\x1b[?25l")
	}
	t.Feed([]byte(b.String()))
	return t.Snapshot()
}

// normal ends a link and selects the default style.
const normal = "\x1b]8;;\x1b\\\x1b[m"

// hyperlink begins the link of a style, if it has one.
func hyperlink(s vt.Style) string {
	if s.Link == "" {
		return ""
	}
	return "\x1b]8;;" + tame(s.Link) + "\x1b\\"
}

// cursor reads the words of f.Cursor.
func (f *File) cursor() (row, col int, shown bool) {
	at, _, _ := strings.Cut(f.Cursor, " ")
	row, col, err := parsePoint(at)
	return row, col, err == nil
}
