package vt

import (
	"bytes"
	"math"
	"slices"
	"sort"
	"unicode"
	"unicode/utf8"
)

// A Point is a moment in what a terminal shows: after all that was written up to batch Seq or, with
// Within, after what that batch wrote up to a place. Points are ordered by time, and within a batch
// in reading order.
type Point struct {
	Seq    uint64
	Within bool
	At     Position // on the alternate screen rows count as if it were below the scrollback, too
}

// Before reports whether p is earlier than q.
func (p Point) Before(q Point) bool {
	switch {
	case p.Seq != q.Seq:
		return p.Seq < q.Seq
	case !p.Within || !q.Within:
		return p.Within && !q.Within
	case p.At.Line != q.At.Line:
		return p.At.Line < q.At.Line
	}
	return p.At.Col < q.At.Col
}

// fresh returns the leftmost column of a line that was written after p; nowhere when none was. With
// cut, what is left of it came before p and is not part of what is read.
func (w *writes) fresh(line uint64, p Point) (col int, cut bool) {
	col = w.since(p.Seq)
	if !p.Within || line < p.At.Line || p.Seq == 0 {
		return col, false
	}
	switch within := w.since(p.Seq - 1); {
	case within == nowhere:
		return col, false
	case line > p.At.Line:
		return within, false
	case col == nowhere || col > max(within, p.At.Col):
		return max(within, p.At.Col), within < p.At.Col
	}
	return col, false
}

// lastIn returns the batch that last wrote to the columns left of end; 0 when none is known.
func (w *writes) lastIn(end int) uint64 {
	for i := w.n - 1; i >= 0; i-- {
		if w.log[i].col < end {
			return w.log[i].seq
		}
	}
	return 0
}

// A Passage is a text that a terminal shows or has shown: logical lines joined by "\n", trailing
// blanks trimmed.
type Passage struct {
	Text []byte
	// Fresh are the pieces of Text that count, in order; the text between them is there to be read
	// with them: a prompt before the input.
	Fresh  []Range
	Missed bool // lines that belong to it are lost
	Open   bool // its last line continues in a row that is not part of it
	Tail   int  // of lines that left the screen: the text from this byte on is still on it
	marks  []textMark
}

// A textMark says which line a text shows from a byte on, and from which of its columns.
type textMark struct {
	at, col int
	line    uint64
}

// markAt returns the mark of the row that byte i belongs to.
func (p *Passage) markAt(i int) textMark {
	return p.marks[max(0, sort.Search(len(p.marks), func(k int) bool { return p.marks[k].at > i })-1)]
}

// Row returns the absolute number of the row that byte i of the text belongs to, and how many bytes
// of that row precede it. Rows count from the terminal's first ever, as in [Event].
func (p *Passage) Row(i int) (line uint64, before int) {
	if len(p.marks) == 0 {
		return 0, i
	}
	m := p.markAt(i)
	return m.line, i - m.at
}

// UpTo returns the text before a byte of a row, as returned by Row; all of it when the row is not
// there.
func (p *Passage) UpTo(line uint64, before int) []byte {
	i := sort.Search(len(p.marks), func(k int) bool { return p.marks[k].line >= line })
	if i == len(p.marks) || p.marks[i].line != line {
		return p.Text
	}
	return p.Text[:min(p.marks[i].at+before, len(p.Text))]
}

// Start returns where the text begins.
func (p *Passage) Start() Position {
	if len(p.marks) == 0 {
		return Position{}
	}
	return Position{Line: p.marks[0].line, Col: p.marks[0].col}
}

// And returns p followed by q, which begins with the row after those of p.
func (p Passage) And(q Passage) Passage {
	if len(p.Text) > 0 && !p.Open && len(q.Text) > 0 {
		p.Text = append(p.Text, '\n')
	}
	at := len(p.Text)
	p.Text = append(p.Text, q.Text...)
	for _, r := range q.Fresh {
		p.Fresh = append(p.Fresh, Range{r.Start + at, r.End + at})
	}
	for _, m := range q.marks {
		m.at += at
		p.marks = append(p.marks, m)
	}
	return p
}

// Logical returns the lines of the text that bytes from start to end belong to.
func (p *Passage) Logical(start, end int) (from, to int) {
	from = bytes.LastIndexByte(p.Text[:start], '\n') + 1
	if i := bytes.IndexByte(p.Text[end:], '\n'); i >= 0 {
		return from, end + i
	}
	return from, len(p.Text)
}

// A passageWriter builds a passage row by row.
type passageWriter struct {
	Passage
	begun    bool
	newlines int // to be written when text follows
}

// skip leaves out a row: the rows above and below it are not adjacent.
func (w *passageWriter) skip() {
	if w.begun && w.newlines == 1 {
		w.newlines++
	}
}

// begin begins a row that has text.
func (w *passageWriter) begin(line uint64, col int) {
	for range w.newlines {
		w.Text = append(w.Text, '\n')
	}
	w.newlines, w.begun = 0, true
	w.marks = append(w.marks, textMark{at: len(w.Text), line: line, col: col})
}

// end ends a row; joined reports whether the next row continues its line.
func (w *passageWriter) end(joined bool) {
	if !joined && w.begun {
		w.newlines++
	}
}

// row adds the first n columns of r, of which those from fresh on count. With cut the others are
// left out.
func (w *passageWriter) row(r *row, line uint64, n, fresh int, cut, joined bool) {
	from := 0
	if cut {
		from = min(fresh, n)
	}
	if n > from {
		w.begin(line, from)
		w.Text = r.appendCols(w.Text, from, min(fresh, n))
		start := len(w.Text)
		w.Text = r.appendCols(w.Text, min(fresh, n), n)
		w.Fresh = append(w.Fresh, Range{start, len(w.Text)})
	}
	w.end(joined)
}

// encoded adds the text of a line of the scrollback; all of it counts, or none.
func (w *passageWriter) encoded(text []byte, line uint64, joined, counts bool) {
	if !joined {
		text = trimBlanks(text)
	}
	if len(text) > 0 {
		w.begin(line, 0)
		start := len(w.Text)
		w.Text = appendDecoded(w.Text, text)
		switch n := len(w.Fresh); {
		case !counts:
		case n > 0 && w.Fresh[n-1].End >= start-1: // one piece with the line above
			w.Fresh[n-1].End = len(w.Text)
		default:
			w.Fresh = append(w.Fresh, Range{start, len(w.Text)})
		}
	}
	w.end(joined)
}

// trimBlanks trims white space and cells never written from the end of an encoded text.
func trimBlanks(text []byte) []byte {
	for len(text) > 0 {
		switch c := text[len(text)-1]; {
		case c == ' ' || c == codeBlank:
			text = text[:len(text)-1]
		case c < utf8.RuneSelf:
			return text
		default:
			r, n := utf8.DecodeLastRune(text)
			if !unicode.IsSpace(r) {
				return text
			}
			text = text[:len(text)-n]
			if len(text) > 0 && text[len(text)-1] == codeWide {
				text = text[:len(text)-1]
			}
		}
	}
	return text
}

// appendDecoded appends an encoded text without its codes.
func appendDecoded(dst, text []byte) []byte {
	start := len(dst)
	dst = append(dst, text...)
	out := dst[start:]
	i := 0
	for i < len(out) && out[i] > codeClusterEnd {
		i++
	}
	if i == len(out) {
		return dst
	}
	k := i
	for _, c := range out[i:] {
		if c == codeBlank {
			c = ' '
		}
		if c > codeClusterEnd {
			out[k] = c
			k++
		}
	}
	return dst[:start+k]
}

// appendCols appends the text of the columns from up to to.
func (r *row) appendCols(dst []byte, from, to int) []byte {
	if from >= to {
		return dst
	}
	written := max(from, min(to, r.n))
	part := row{cells: r.cells[from:written], n: written - from, arena: r.arena, rich: r.rich}
	return part.appendText(dst, to-from)
}

// Passage returns the screen's text with the information needed to locate a piece of it. With since
// it holds only the rows written to after that point; nil: all of it, as in [Screen.Text]. Those who
// ask the same one after another share it: it is not to be modified.
func (s *Screen) Passage(since *Point) Passage {
	return s.text.passage(since, func() Passage { return s.passage(since) })
}

// passage returns the one that was asked for last, if it is the same, or else makes it.
func (l *lazyText) passage(since *Point, read func() Passage) Passage {
	l.mu.Lock()
	defer l.mu.Unlock()
	var at Point
	if since != nil {
		at = *since
	}
	if a := l.asked; a == nil || a.since != at || a.all != (since == nil) {
		l.asked = &askedPassage{read(), at, since == nil}
	}
	return l.asked.Passage
}

func (s *Screen) passage(since *Point) Passage {
	w := passageWriter{Passage: Passage{marks: make([]textMark, 0, len(s.rows))}}
	size := 0
	for _, r := range s.rows {
		if since == nil || r.writes.last() >= since.Seq {
			size += r.n + 1
		}
	}
	w.Text, w.Fresh = make([]byte, 0, size), make([]Range, 0, len(s.rows))
	fresh := func(i int) (col int, cut bool) {
		if since == nil {
			return 0, false
		}
		return s.rows[i].writes.fresh(s.history.next+uint64(i), *since)
	}
	for i, r := range s.rows {
		col, cut := fresh(i)
		if col == nowhere {
			w.skip()
			continue
		}
		joined := i+1 < len(s.rows) && r.wrapped
		if joined {
			next, _ := fresh(i + 1)
			joined = next != nowhere
		}
		n := r.trimmed()
		if joined {
			n = r.joinedWidth()
		}
		w.begun = w.begun || since == nil // blank rows at the top are part of the whole text
		w.row(r, s.history.next+uint64(i), n, col, cut, joined)
	}
	p := w.Passage // what is appended to it must not be written where others read
	p.Text, p.Fresh, p.marks = slices.Clip(p.Text), slices.Clip(p.Fresh), slices.Clip(p.marks)
	return p
}

// lineRow returns a line that is or was on the screen, and when it was written; nil when it is not
// kept.
func (s *Screen) lineRow(line uint64) (*row, writes) {
	h := &s.history
	switch {
	case line >= h.next:
		if r := s.row(int(line - h.next)); r != nil {
			return r, r.writes
		}
	case line >= h.oldest():
		b, i := h.at(line)
		return decodeRow(b.line(i)), b.writes(i)
	}
	return nil, writes{}
}

// Behind returns the point right after the bytes from start to end of a passage of s: what was
// written after the newest of them, or by the same batch further on.
func (s *Screen) Behind(p *Passage, start, end int) Point {
	if len(p.marks) == 0 {
		return Point{Seq: s.Sequence}
	}
	at := Point{Within: true}
	first, last := p.markAt(start), p.markAt(max(start, end-1))
	for line := first.line; line <= last.line; line++ {
		r, w := s.lineRow(line)
		if r == nil {
			continue
		}
		col := math.MaxInt
		if line == last.line {
			col = r.colAt(last.col, end-last.at)
			at.At = Position{Line: line, Col: col}
		}
		at.Seq = max(at.Seq, w.lastIn(col))
	}
	if at.Seq == 0 { // unknown when it was written
		return Point{Seq: s.Sequence}
	}
	return at
}

// colAt returns the column after the first n bytes of the text from column col on.
func (r *row) colAt(col, n int) int {
	if !r.rich { // one byte per column
		return min(col+n, len(r.cells))
	}
	for ; n > 0 && col < len(r.cells); col++ {
		c := r.cells[col]
		switch {
		case c.attr()&attrContinuation != 0:
		case c.content() == 0:
			n--
		default:
			n -= len(r.text(c))
		}
	}
	for col < len(r.cells) && r.cells[col].attr()&attrContinuation != 0 {
		col++ // the other half of a wide character
	}
	return col
}
