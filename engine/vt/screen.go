package vt

import (
	"strings"
	"sync"
)

// CursorShape is what DECSCUSR (CSI Ps SP q) asks for.
type CursorShape uint8

const (
	CursorBlock CursorShape = iota
	CursorUnderline
	CursorBar
)

// String returns "block", "underline" or "bar".
func (c CursorShape) String() string {
	return [...]string{"block", "underline", "bar", "block"}[c&3]
}

// A Cursor is the position of the next character, from zero. With PendingWrap the last column has
// been written and the next character goes to the next row; Col is then the last column.
type Cursor struct {
	Row, Col             int
	Visible, PendingWrap bool
	Shape                CursorShape
	Blink                bool
	Style                uint8 // what DECSCUSR set last, 0 to 6; 0: it was not used, or asked for the default
}

// MouseTracking is which mouse events the program asked for.
type MouseTracking uint8

const (
	MouseOff    MouseTracking = iota
	MouseX10                  // DECSET 9: presses only, no modifiers
	MouseNormal               // DECSET 1000: presses and releases
	MouseButton               // DECSET 1002: and motion while a button is down
	MouseAny                  // DECSET 1003: and all motion
)

// String returns "none", "x10", "vt200", "drag" or "any", the words of xterm.js.
func (m MouseTracking) String() string {
	names := [...]string{"none", "x10", "vt200", "drag", "any"}
	if int(m) < len(names) {
		return names[m]
	}
	return "none"
}

// MouseEncoding is how mouse events are written.
type MouseEncoding uint8

const (
	MouseEncodingDefault MouseEncoding = iota // CSI M and three bytes; not beyond column 223
	MouseEncodingUTF8                         // DECSET 1005
	MouseEncodingSGR                          // DECSET 1006
	MouseEncodingURXVT                        // DECSET 1015
	MouseEncodingPixels                       // DECSET 1016
)

// Modes are the program's settings that clients may need.
type Modes struct {
	AltScreen        bool // 47, 1047, 1049
	AppCursor        bool // DECCKM
	AppKeypad        bool // DECKPAM, or DECSET 66
	BracketedPaste   bool // 2004
	FocusEvents      bool // 1004
	Mouse            MouseTracking
	MouseEncoding    MouseEncoding
	AlternateScroll  bool // 1007: the wheel sends cursor keys on the alternate screen
	AutoWrap         bool // DECAWM
	Origin           bool // DECOM
	Insert           bool // IRM
	NewLine          bool // LNM: enter sends CR LF
	ReverseVideo     bool // DECSCNM
	ReverseWrap      bool // 45
	InBandResize     bool // 2048
	GraphemeClusters bool // 2027
	Synchronized     bool // 2026: this is the last complete frame, an update is in progress
	BackarrowIsBS    bool // DECBKM
	ModifyOtherKeys  uint8
	KittyKeyboard    uint8 // progressive enhancement flags of the screen shown
}

// A Screen is what a terminal showed at one sequence. It is immutable and safe for any number of
// goroutines. It holds the program's text, unredacted.
type Screen struct {
	Rows, Cols              int
	PixelWidth, PixelHeight int // of the whole screen; 0 when not known
	Cursor                  Cursor
	Modes                   Modes
	// Title is the window title: at most 1 KiB, no control or bidi characters. TitleSet
	// distinguishes an empty title from one that was never set.
	Title    string
	TitleSet bool
	Theme    Theme // the terminal's
	// Sequence is the number of Feed, Resize, SetTheme and Release calls that led to this screen.
	Sequence uint64

	rows    []*row
	history History
	text    *lazyText
}

// lazyText is the rendered plain text, shared by the screens that show the same rows.
type lazyText struct {
	once sync.Once
	text string

	mu sync.Mutex
	// protects the field below
	asked *askedPassage
}

// askedPassage is the one that was asked for last.
type askedPassage struct {
	Passage
	since Point // after which
	all   bool  // since does not count
}

func (s *Screen) row(y int) *row {
	if y < 0 || y >= len(s.rows) {
		return nil
	}
	return s.rows[y]
}

// Text returns the screen as plain text: rows trimmed after their last non-blank and joined by
// "\n", wrapped rows joined without it, blank rows at the end dropped. It is rendered on first use
// and cached.
func (s *Screen) Text() string {
	s.text.once.Do(func() { s.text.text = joinRows(s.rows) })
	return s.text.text
}

// A Range is a piece of a text, in bytes.
type Range struct{ Start, End int }

// TextSince is Text of only those rows that text was written to after sequence seq, even if it was
// the same text; other rows do not contribute. A wrapped row is joined to the next when both were
// written. What is new in each is in fresh, in order: from the leftmost column written, so that
// earlier text, such as a prompt before the input, can be distinguished from what came after.
func (s *Screen) TextSince(seq uint64) (text string, fresh []Range) {
	p := s.Passage(&Point{Seq: seq})
	return string(p.Text), p.Fresh
}

// joinRows renders the rows.
func joinRows(rows []*row) string {
	size := 0
	for _, r := range rows {
		size += r.n + len(r.arena) + 1
		if r.rich {
			size += r.n // most non-ASCII characters take two or three bytes
		}
	}
	out := make([]byte, 0, size)
	newlines := 0 // written when text follows
	for i, r := range rows {
		joined := i+1 < len(rows) && r.wrapped
		n := r.trimmed()
		if joined {
			n = r.joinedWidth()
		}
		if n > 0 {
			for range newlines {
				out = append(out, '\n')
			}
			newlines = 0
			out = r.appendText(out, n)
		}
		if !joined {
			newlines++
		}
	}
	return string(out)
}

// Lines returns one string per row, without trailing blanks.
func (s *Screen) Lines() []string {
	lines := make([]string, len(s.rows))
	var buf []byte
	for y := range s.rows {
		buf = s.AppendLine(buf[:0], y)
		lines[y] = string(buf)
	}
	return lines
}

// AppendLine appends one row as in [Screen.Lines]; nothing for a row that does not exist.
func (s *Screen) AppendLine(b []byte, row int) []byte {
	r := s.row(row)
	if r == nil {
		return b
	}
	return r.appendText(b, r.trimmed())
}

// AppendRow appends what one row has of its logical line: as [Screen.AppendLine], with the blanks at
// its end where it continues in the next row. Nothing for a row that does not exist.
func (s *Screen) AppendRow(b []byte, row int) []byte {
	r := s.row(row)
	if r == nil || !r.wrapped || row+1 == len(s.rows) {
		return s.AppendLine(b, row)
	}
	return r.appendText(b, r.joinedWidth())
}

// Changed returns the sequence at which the row's content last changed. It moves with the row when
// the row scrolls. 0 for a row that was never written, or that does not exist.
func (s *Screen) Changed(row int) uint64 {
	if r := s.row(row); r != nil {
		return r.changed
	}
	return 0
}

// SameRow reports whether a row is the very one that another screen of the terminal has there:
// nothing was written to it, cleared or masked between the two. A row that is not the same may
// still look the same. It costs nothing.
func (s *Screen) SameRow(row int, other *Screen) bool { return s.MovedRow(row, other, row) }

// MovedRow is [Screen.SameRow] for a row that the other screen has elsewhere, at row from.
func (s *Screen) MovedRow(row int, other *Screen, from int) bool {
	r := s.row(row)
	return r != nil && r == other.row(from)
}

// Wrapped reports whether the row continues in the next one.
func (s *Screen) Wrapped(row int) bool {
	r := s.row(row)
	return r != nil && r.wrapped
}

// Cell returns one cell; an empty one outside the screen.
func (s *Screen) Cell(row, col int) Cell {
	r := s.row(row)
	if r == nil || col < 0 || col >= len(r.cells) {
		return Cell{}
	}
	return r.cell(r.cells[col])
}

func (r *row) cell(c cell) Cell {
	a := c.attr()
	return Cell{Text: r.text(c), Wide: a&attrWide != 0, Continuation: a&attrContinuation != 0, Style: r.styleOf(c)}
}

// EachCell calls f for each column of a row, in order.
func (s *Screen) EachCell(row int, f func(col int, c Cell)) {
	if r := s.row(row); r != nil {
		r.eachCell(len(r.cells), f)
	}
}

// eachCell makes the Style of a run of equal cells once. width -1 means the written part.
func (r *row) eachCell(width int, f func(col int, c Cell)) {
	if width < 0 {
		width = r.n
	}
	var last cell
	var style Style
	for col, c := range r.cells[:width] {
		if c.lo>>32 != last.lo>>32 || c.hi != last.hi {
			style, last = r.styleOf(c), c
		}
		a := c.attr()
		f(col, Cell{Text: r.text(c), Wide: a&attrWide != 0, Continuation: a&attrContinuation != 0, Style: style})
	}
}

// A Run is a stretch of equally styled cells of one row.
type Run struct {
	Col, Cols int
	Text      string // of all its cells; blank cells are spaces
	Style     Style
}

// EachRun calls f for each run of equally styled cells of a row, from the first column up to the
// last one that is not blank in the default style.
func (s *Screen) EachRun(y int, f func(Run)) {
	if r := s.row(y); r != nil {
		r.eachRun(r.styledWidth(), f)
	}
}

// styledWidth is the number of columns up to the last that is not blank in the default style.
func (r *row) styledWidth() int {
	n := r.n
	for n > 0 && (r.cells[n-1].lo == 0 || r.cells[n-1].lo == ' ') && r.cells[n-1].hi&^(uint64(attrSpacer)<<32) == 0 {
		n--
	}
	return n
}

// eachRun calls f for each run of the first n columns.
func (r *row) eachRun(n int, f func(Run)) {
	var text []byte
	for i := 0; i < n; {
		style := r.styleOf(r.cells[i])
		j, key := i+1, r.cells[i]
		for j < n && r.cells[j].lo>>32 == key.lo>>32 && (r.cells[j].hi^key.hi)&^notStyle == 0 {
			j++
		}
		text = text[:0]
		part := row{cells: r.cells[i:j], n: j - i, arena: r.arena, rich: r.rich}
		text = part.appendText(text, j-i)
		f(Run{Col: i, Cols: j - i, Text: string(text), Style: style})
		i = j
	}
}

// History returns the scrollback as of this screen.
func (s *Screen) History() History { return s.history }

// String returns the text, so that a Screen prints as its content.
func (s *Screen) String() string { return s.Text() }

// A Mask says that Text replaces bytes Start to End of a line.
type Mask struct {
	Start, End int
	Text       string
}

// Mask returns a copy of the screen with everything that find returns covered: redaction. find gets
// each logical line that is not blank: wrapped rows are joined, attributes are dropped, and the
// first row of the screen is seen together with the scrollback lines that it continues (none of
// which are shown). The cells of a masked range are filled with Mask.Text, cut to their width or
// padded with spaces; at the end of a line the text continues over the blank cells after it. A
// partly masked cell is masked whole. Links on masked cells are removed. When nothing was found the
// same Screen is returned. Joined rows are also looked at one by one: they may be adjacent by
// chance, and hide each other's meaning.
//
// find is called from the caller's goroutine only; ranges outside the line are cut, empty ones
// ignored, and where ranges overlap the earlier in the result wins.
func (s *Screen) Mask(find func(line string) []Mask) *Screen {
	return s.MaskPage(func(lines []string, _ func(int) (string, bool)) [][]Mask {
		out := make([][]Mask, len(lines))
		for i, line := range lines {
			if strings.TrimSpace(line) != "" {
				out[i] = find(line)
			}
		}
		return out
	})
}
