package picture

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
)

// ANSI returns the screen as text with SGR and OSC 8 and no other sequences: fed to a fresh
// terminal of its size, it shows the same cells. Rows are joined by CR LF, except where one
// continues in the next; blank rows at the end are dropped. clean is applied to links; nil leaves
// them unchanged. Mask the screen before.
func ANSI(s *vt.Screen, clean func(link string) string) string {
	a := ansiWriter{o: Options{Clean: clean}}
	for y := range s.Rows {
		a.row(s, y)
	}
	return a.b.String()
}

// ANSIRow returns one row as [ANSI] writes it: written at the beginning of a blank line, with no
// style set, it shows the row and leaves no style set.
func ANSIRow(s *vt.Screen, y int, clean func(link string) string) string {
	a := ansiWriter{o: Options{Clean: clean}}
	cells := cellsOf(s, y)
	a.cells(cells[:written(cells)])
	a.sgr(vt.Style{})
	return a.b.String()
}

func cellsOf(s *vt.Screen, y int) []vt.Cell {
	cells := make([]vt.Cell, 0, s.Cols)
	s.EachCell(y, func(_ int, c vt.Cell) { cells = append(cells, c) })
	return cells
}

// written returns how many cells there are up to the last that differs from one never written to.
func written(cells []vt.Cell) int {
	n := len(cells)
	for n > 0 && blank(cells[n-1]) {
		n--
	}
	return n
}

// An ansiWriter writes cells as text.
type ansiWriter struct {
	b     strings.Builder
	o     Options
	style vt.Style
	owed  int // row ends, not written until something follows
	last  string
	// joined: the row before continues in this one.
	joined bool
}

// row writes one row. Blanks at its end in the default style are left out, unless the row continues
// in the next.
func (a *ansiWriter) row(s *vt.Screen, y int) {
	cells := cellsOf(s, y)
	joined := y+1 < s.Rows && s.Wrapped(y) && flows(cells, s, y)
	n := len(cells)
	if joined {
		if c := cells[n-1]; c.Text == "" && !c.Continuation { // what a wide character left over
			n--
		}
	} else if n = written(cells); a.joined { // a row is continued by writing in it
		n = max(n, 1)
	}
	a.joined = joined
	a.cells(cells[:n])
	if !joined {
		a.sgr(vt.Style{})
		a.last = ""
		a.owed++
	}
}

// flows reports whether the rows y and y+1 come out right when written without a line end between
// them.
func flows(cells []vt.Cell, s *vt.Screen, y int) bool {
	next, n := s.Cell(y+1, 0), len(cells)
	if next.Text == "" {
		return false
	}
	// A wide character leaves a column, in its own style.
	if end := cells[n-1]; end.Text == "" && !end.Continuation {
		if n--; !next.Wide || end.Style != next.Style || n < 2 ||
			cells[n-1].Text == "" && !cells[n-1].Continuation {
			return false
		}
	}
	if cells[n-1].Continuation {
		n--
	}
	return apart(cells[n-1].Text, next.Text)
}

// blank reports whether a cell looks like one never written to.
func blank(c vt.Cell) bool {
	return (c.Text == "" || c.Text == " ") && !c.Continuation && c.Style == (vt.Style{})
}

func (a *ansiWriter) cells(cells []vt.Cell) {
	for col, c := range cells {
		if !c.Continuation {
			a.cell(col, c)
		}
	}
}

// cell writes the cell in column col.
func (a *ansiWriter) cell(col int, c vt.Cell) {
	for ; a.owed > 0; a.owed-- {
		a.b.WriteString("\r\n")
	}
	text := c.Text
	if text == "" {
		text = " "
	}
	a.sgr(c.Style)
	if !apart(a.last, text) {
		// Written one after the other they would become one character, so the cursor is moved to
		// its column.
		a.b.WriteString("\x1b[" + strconv.Itoa(col+1) + "G")
	}
	a.b.WriteString(text)
	a.last = text
}

// apart reports whether two texts in neighbouring cells stay two when they are written together. In
// doubt it says no: only scripts pass in which no character joins its neighbours.
func apart(before, after string) bool {
	if before == "" || after == "" {
		return true
	}
	r, _ := utf8.DecodeRuneInString(after)
	l, _ := utf8.DecodeLastRuneInString(before)
	return stands(r) && stands(l)
}

// stands reports whether a character neither extends what is before it nor joins what follows (UAX
// #29: class Other, or a Hangul syllable beside another).
func stands(r rune) bool {
	switch {
	case r < 0x300:
		return r != 0xa9 && r != 0xae && r != 0xad
	case r < 0x530, r >= 0x2010 && r < 0x2028, r >= 0x2030 && r < 0x2060, r >= 0x2070 &&
		r < 0x20d0, r >= 0x2100 && r < 0x2cef,
		r >= 0x2e80 && r < 0xa48d, r >= 0xac00 && r < 0xd7a4, r >= 0xe000 &&
			r < 0xfb00, r >= 0xff00 && r < 0xff9e:
		return !unicode.In(r, unicode.M, unicode.Cf)
	}
	return r >= 0x20000 && r < 0x40000
}

// sgr changes the style. Each change begins from none, so that a row cut out of the text stays
// right.
func (a *ansiWriter) sgr(to vt.Style) {
	if to == a.style {
		return
	}
	if to.Link != a.style.Link {
		a.b.WriteString("\x1b]8;;" + a.o.clean(to.Link) + "\x1b\\")
	}
	link := to.Link
	to.Link, a.style.Link = "", ""
	if to != a.style {
		a.b.WriteString("\x1b[0")
		for _, p := range [...]struct {
			on   bool
			code string
		}{{to.Bold, ";1"}, {to.Dim, ";2"}, {to.Italic, ";3"}, {to.Blink, ";5"}, {to.Inverse, ";7"},
			{to.Hidden, ";8"},
			{to.Strike, ";9"}, {to.Overline, ";53"}, {to.Underline == vt.UnderlineSingle, ";4"}} {
			if p.on {
				a.b.WriteString(p.code)
			}
		}
		if to.Underline > vt.UnderlineSingle {
			a.b.WriteString(";4:" + strconv.Itoa(int(to.Underline)))
		}
		a.b.WriteString(colorSGR(to.Foreground, 30))
		a.b.WriteString(colorSGR(to.Background, 40))
		a.b.WriteString(colorSGR(to.UnderlineColor, 50))
		a.b.WriteByte('m')
	}
	a.style = to
	a.style.Link = link
}

// colorSGR returns the parameters that set a colour: low is 30 for the foreground, 40 for the
// background, 50 for underlines, which have no short forms.
func colorSGR(c vt.Color, low int) string {
	if r, g, b, ok := c.RGB(); ok {
		// Only the form with colons: readers that do not know it would take the numbers for
		// attributes.
		if low == 50 {
			return ";58:2::" + strconv.Itoa(int(r)) + ":" + strconv.Itoa(int(g)) + ":" +
				strconv.Itoa(int(b))
		}
		return ";" + strconv.Itoa(low+8) + ";2;" + strconv.Itoa(int(r)) + ";" +
			strconv.Itoa(int(g)) + ";" + strconv.Itoa(int(b))
	}
	i, ok := c.Index()
	switch {
	case !ok:
		return ""
	case low == 50:
		return ";58:5:" + strconv.Itoa(int(i))
	case i < 8:
		return ";" + strconv.Itoa(low+int(i))
	case i < 16:
		return ";" + strconv.Itoa(low+60+int(i)-8)
	}
	return ";" + strconv.Itoa(low+8) + ";5;" + strconv.Itoa(int(i))
}

// Restore returns the sequences that make a fresh terminal of the screen's size show it: its cells,
// cursor, title and the modes that a screen knows. It leaves out margins, tabs and the style of
// what is written next. clean is applied to the title and to links; nil leaves them unchanged.
func Restore(s *vt.Screen, clean func(text string) string) string {
	var b strings.Builder
	mode := func(on bool, number string) {
		if on {
			b.WriteString("\x1b[?" + number + "h")
		}
	}
	m := s.Modes
	if s.TitleSet {
		b.WriteString("\x1b]2;" + Options{Clean: clean}.clean(s.Title) + "\x1b\\")
	}
	mode(m.AltScreen, "1049")
	mode(m.ReverseVideo, "5")
	b.WriteString(ANSI(s, clean))
	mode(m.GraphemeClusters, "2027")
	mode(m.AppCursor, "1")
	mode(m.BracketedPaste, "2004")
	mode(m.FocusEvents, "1004")
	mode(m.AlternateScroll, "1007")
	mode(m.ReverseWrap, "45")
	if m.AppKeypad {
		b.WriteString("\x1b=")
	}
	if m.Insert {
		b.WriteString("\x1b[4h")
	}
	if m.NewLine {
		b.WriteString("\x1b[20h")
	}
	if !m.AutoWrap {
		b.WriteString("\x1b[?7l")
	}
	if n, ok := mouseModes[m.Mouse]; ok {
		mode(true, n)
	}
	if n, ok := mouseEncodings[m.MouseEncoding]; ok {
		mode(true, n)
	}
	b.WriteString("\x1b[" + strconv.Itoa(s.Cursor.Row+1) + ";" + strconv.Itoa(s.Cursor.Col+1) + "H")
	if s.Cursor.Style != 0 || s.Cursor.Blink { // DECSCUSR 0 blinks, a fresh terminal does not
		b.WriteString("\x1b[" + strconv.Itoa(int(s.Cursor.Style)) + " q")
	}
	if !s.Cursor.Visible {
		b.WriteString("\x1b[?25l")
	}
	return b.String()
}

var mouseModes = map[vt.MouseTracking]string{vt.MouseX10: "9", vt.MouseNormal: "1000",
	vt.MouseButton: "1002", vt.MouseAny: "1003"}

var mouseEncodings = map[vt.MouseEncoding]string{vt.MouseEncodingUTF8: "1005",
	vt.MouseEncodingSGR:   "1006",
	vt.MouseEncodingURXVT: "1015", vt.MouseEncodingPixels: "1016"}
