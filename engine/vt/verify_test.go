package vt

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// verify says which invariant of the terminal does not hold, "" when all do.
func verify(t *Terminal) string {
	if t.rows < 1 || t.cols < 1 || t.rows > MaxSide || t.cols > MaxSide {
		return fmt.Sprintf("size %dx%d", t.rows, t.cols)
	}
	if c := t.cursor; c.row < 0 || c.row >= t.rows || c.col < 0 || c.col >= t.cols || c.pending && c.col != t.cols-1 && (!t.sides.set || c.col != t.sides.right) {
		return fmt.Sprintf("cursor %+v on %dx%d", c, t.rows, t.cols)
	}
	if t.top < 0 || t.bottom >= t.rows || t.top > t.bottom || t.top == t.bottom && t.rows > 1 {
		return fmt.Sprintf("margins %d..%d of %d", t.top, t.bottom, t.rows)
	}
	if len(t.grid.rows) != t.rows || len(t.main.rows) != t.rows {
		return fmt.Sprintf("%d and %d rows, want %d", len(t.grid.rows), len(t.main.rows), t.rows)
	}
	for _, g := range []*grid{&t.main, &t.alt} {
		for y, r := range g.rows {
			if s := verifyRow(r, t.cols); s != "" {
				return fmt.Sprintf("row %d: %s", y, s)
			}
			if r.frame > t.frame || r.changed > t.seq {
				return fmt.Sprintf("row %d: frame %d of %d, changed %d of %d", y, r.frame, t.frame, r.changed, t.seq)
			}
		}
	}
	seen := map[*row]int{}
	for _, r := range append(append(append([]*row(nil), t.main.rows...), t.alt.rows...), t.free...) {
		if seen[r]++; seen[r] > 1 && r.frame != 0 && r.frame > t.shared {
			return "a row that may be written stands in two places"
		}
	}
	h := t.history.view()
	if t.history.limit > 0 && h.Len() > t.history.limit {
		return fmt.Sprintf("%d lines of scrollback, limit %d", h.Len(), t.history.limit)
	}
	for i := range h.Len() {
		r := decodeRow(h.find(i))
		if s := verifyRow(r, len(r.cells)); s != "" {
			return fmt.Sprintf("scrollback line %d: %s", i, s)
		}
	}
	str := stringMax
	if strings.HasPrefix(string(t.parser.str), "52;") && t.parser.state == stateOSC {
		str = clipboardMax
	}
	if len(t.reply) > replyMax || len(t.title) > titleMax || len(t.link) > linkMax || len(t.parser.str) > str {
		return "a string is longer than its bound"
	}
	return ""
}

func verifyRow(r *row, cols int) string {
	if len(r.cells) != cols || r.n < 0 || r.n > cols {
		return fmt.Sprintf("%d cells (%d used), want %d", len(r.cells), r.n, cols)
	}
	if r.cut != nil {
		if len(r.cut.cells) <= cols || r.cut.cut != nil {
			return fmt.Sprintf("%d cells were %d, cut twice: %v", cols, len(r.cut.cells), r.cut.cut != nil)
		}
		if s := verifyRow(r.cut, len(r.cut.cells)); s != "" {
			return "before it was cut: " + s
		}
	}
	for x, c := range r.cells {
		ch, attr := c.content(), c.attr()
		if x >= r.n && c != (cell{}) {
			return fmt.Sprintf("column %d is not blank, but only %d are used", x, r.n)
		}
		if !r.rich && (ch >= 0x7f || c.lo>>32 != 0 || c.hi != 0) {
			return fmt.Sprintf("column %d is %x %x in a plain row", x, c.lo, c.hi)
		}
		if ch&clusterBit != 0 {
			off, n := ch&^uint32(clusterBit)>>clusterLenBits, ch&clusterLenMax
			if int(off+n) > len(r.arena) || !utf8.Valid(r.arena[off:off+n]) || utf8.RuneCount(r.arena[off:off+n]) > maxMarks+1 {
				return fmt.Sprintf("column %d: cluster %d+%d of %d", x, off, n, len(r.arena))
			}
		} else if ch != 0 && (ch < 0x20 || ch >= 0x7f && ch < 0xa0 || !utf8.ValidRune(rune(ch))) {
			return fmt.Sprintf("column %d holds %x", x, ch)
		}
		if i := attr >> attrExtraShift; int(i) > len(r.extras) {
			return fmt.Sprintf("column %d: extra %d of %d", x, i, len(r.extras))
		}
		wide := attr&attrWide != 0
		if wide && (x+1 >= cols || r.cells[x+1].attr()&attrContinuation == 0) {
			return fmt.Sprintf("column %d is half of a wide character", x)
		}
		if attr&attrContinuation != 0 && (x == 0 || r.cells[x-1].attr()&attrWide == 0 || ch != 0) {
			return fmt.Sprintf("column %d continues nothing", x)
		}
	}
	return ""
}

// dump returns output that paints what the screen shows: feeding it to a terminal of the same size
// gives the same cells.
func dump(s *Screen) []byte {
	var b strings.Builder
	b.WriteString("\x1b[?7l")
	for y := range s.Rows {
		if last := s.Cell(y, s.Cols-1); !last.Wide && s.Cols > 1 && runeWidth(firstRune(last.Text)) == 2 {
			// It became narrow further to the left, and was moved.
			fmt.Fprintf(&b, "\x1b[%d;%dH\x1b[?2027h\x1b[%sm\x1b]8;;%s\x1b\\", y+1, s.Cols-1, sgrOf(last.Style), last.Style.Link)
			b.WriteString(protection(s.rows[y].cells[s.Cols-1]) + last.Text)
			fmt.Fprintf(&b, "\x1b[%d;%dH\x1b[m\x1b[@", y+1, s.Cols-1)
		}
		for x := 0; x < s.Cols; x++ {
			c := s.rows[y].cells[x]
			if x == s.Cols-1 && x > 0 && c.attr()&attrWide == 0 && runeWidth(firstRune(s.Cell(y, x).Text)) == 2 {
				continue
			}
			if c == (cell{}) || c.attr()&attrContinuation != 0 {
				continue
			}
			view := s.Cell(y, x)
			fmt.Fprintf(&b, "\x1b[%d;%dH\x1b[%sm\x1b]8;;%s\x1b\\", y+1, x+1, sgrOf(view.Style), view.Style.Link)
			b.WriteString(protection(c))
			if c.content() != 0 {
				// A cluster that is more than a character and its marks needs mode 2027.
				runes := []rune(view.Text)
				clusters := view.Wide != (runeWidth(runes[0]) == 2)
				for _, r := range runes[1:] {
					clusters = clusters || runeWidth(r) != 0
				}
				b.WriteString(map[bool]string{true: "\x1b[?2027h", false: "\x1b[?2027l"}[clusters])
				b.WriteString(view.Text)
				continue
			}
			// An erased cell has the background only, or all that a character had that it was half
			// of. A space looks the same.
			b.WriteString("\x1b[\"q ")
		}
	}
	return []byte(b.String())
}

// firstRune returns the first character of text, a blank when there is none.
func firstRune(text string) rune {
	for _, r := range text {
		return r
	}
	return ' '
}

// protection is the DECSCA that a cell was written with.
func protection(c cell) string {
	if c.attr()&attrProtected != 0 {
		return "\x1b[1\"q"
	}
	return "\x1b[\"q"
}

func sgrOf(s Style) string {
	p := pen{fg: uint32(s.Foreground), bg: uint32(s.Background), underline: s.UnderlineColor}
	for bit, on := range map[uint32]bool{attrBold: s.Bold, attrDim: s.Dim, attrItalic: s.Italic, attrBlink: s.Blink,
		attrInverse: s.Inverse, attrHidden: s.Hidden, attrStrike: s.Strike, attrOverline: s.Overline} {
		if on {
			p.attr |= bit
		}
	}
	p.attr |= uint32(s.Underline) << attrUnderlineShift
	return string(p.appendSGR(nil))
}

// show draws a screen for a failure message.
func show(s *Screen) string {
	var b strings.Builder
	for y := range s.Rows {
		b.WriteString(strconv.Itoa(y) + " " + dumpRow(s, y) + "\n")
	}
	return b.String()
}
