package reading

import (
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
)

// Lines are a session's scrollback and, after it, its screen's rows, as one client may see them.
type Lines struct {
	view    *View
	history vt.History
	screen  []string
}

// Lines returns the lines of v: its scrollback and its screen.
func (v *View) Lines() *Lines {
	s := v.Raw.Screen
	n := &Lines{view: v, history: s.History(), screen: make([]string, s.Rows)}
	var row []byte
	for y := range n.screen {
		row = s.AppendRow(row[:0], y)
		n.screen[y] = string(row)
	}
	return n
}

// Len returns how many lines there are.
func (n *Lines) Len() int { return n.history.Len() + len(n.screen) }

// Dropped returns how many lines the scrollback has dropped.
func (n *Lines) Dropped() uint64 { return n.history.Dropped() }

// raw returns line i without blanks at its end, unless it continues in the next: then they are
// between two words of one line.
func (n *Lines) raw(i int) string {
	if h := n.history.Len(); i >= h {
		return n.screen[i-h]
	}
	return n.history.Line(i)
}

// wrapped reports whether line i continues in the next. The newest of the scrollback continues on
// the main screen: what is on the alternate one has nothing to do with it.
func (n *Lines) wrapped(i int) bool {
	s := n.view.Raw.Screen
	switch h := n.history.Len(); {
	case i+1 >= n.Len(), i == h-1 && s.Modes.AltScreen:
		return false
	case i >= h:
		return s.Wrapped(i - h)
	}
	return n.history.Wrapped(i)
}

// maxJoined bounds how many rows are joined to one line: a program that never ends a line must not
// make every read of one line a read of all.
const maxJoined = 200

// logical returns the lines that belong with line i, from the first to just after the last.
func (n *Lines) logical(i int) (from, to int) {
	from, to = i, i+1
	for from > 0 && i-from < maxJoined && n.wrapped(from-1) {
		from--
	}
	for to < n.Len() && to-i < maxJoined && n.wrapped(to-1) {
		to++
	}
	return from, to
}

// lookahead is how many lines of one that is wrapped over more than maxJoined are read twice, so
// that the end of one piece is judged together with what follows.
const lookahead = 20

// A piece is one logical line, or part of one that is wrapped over very many: rows from first up to
// next are shown, and are judged as part of those from from to end.
type piece struct{ from, first, next, end int }

// pieceAt returns the piece whose first shown row is i.
func (n *Lines) pieceAt(i int) piece {
	from, end := n.logical(i)
	p := piece{from, i, end, end}
	if end < n.Len() && n.wrapped(end-1) && end-lookahead > i {
		p.next -= lookahead
	}
	return p
}

// batch is how many logical lines are judged together: what is above them is read once for all.
const batch = 256

// pieces calls show with the redacted rows from line i on, a piece at a time, at least up to line
// to.
func (n *Lines) pieces(i, to int, show func(first int, rows []string)) {
	for i < to {
		var page []piece
		shown := 0
		for len(page) < batch+redact.ReachLines {
			p := n.pieceAt(i)
			if p.next < p.end && len(page) > 0 {
				break // it shares rows with the next, and is judged on its own
			}
			page = append(page, p)
			if i = p.next; shown == 0 && (i >= to || len(page) == batch) {
				shown = len(page)
			}
			if i >= n.Len() || p.next < p.end || shown > 0 && !redact.MayGoOn(n.raw(i-1)) {
				break
			}
		}
		if shown == 0 {
			shown = len(page)
		}
		i = page[shown-1].next
		for k, rows := range n.redacted(page)[:shown] {
			p := page[k]
			show(p.first, rows[p.first-p.from:p.next-p.from])
		}
	}
}

// above returns the logical lines above a line, nearest first, as [redact.Redactor.Page] needs
// them.
func (n *Lines) above(line int) func(k int) (string, bool) {
	var seen []string
	return func(k int) (string, bool) {
		for len(seen) < k && line > 0 {
			from, _ := n.logical(line - 1)
			from = max(from, line-maxJoined) // of a longer one, a piece
			var b strings.Builder
			for i := from; i < line; i++ {
				b.WriteString(n.raw(i))
			}
			seen, line = append(seen, b.String()), from
		}
		if k > len(seen) {
			return "", false
		}
		return seen[k-1], true
	}
}

// Read returns lines from up to to, redacted: each is judged together with those it is wrapped
// over.
func (n *Lines) Read(from, to int) []string {
	out := make([]string, 0, to-from)
	n.pieces(from, to,
		func(first int, rows []string) { out = append(out, rows[:min(len(rows), to-first)]...) })
	return out
}

// A Styled is a line with the styles of its cells.
type Styled struct {
	Stretches []vt.Stretch
	Wrapped   bool // it continues in the next line
}

// ReadStyled is [Lines.Read] with styles. What is hidden has the default one.
func (n *Lines) ReadStyled(from, to int) []Styled {
	out := make([]Styled, 0, to-from)
	for i, shown := range n.Read(from, to) {
		i += from
		s := Styled{Wrapped: n.wrapped(i)}
		add := func(t vt.Stretch) { s.Stretches = append(s.Stretches, t) }
		if h := n.history.Len(); i >= h {
			n.view.Raw.Screen.EachStretch(i-h, add)
		} else {
			n.history.EachStretch(i, add)
		}
		if shown != n.raw(i) {
			s.Stretches = restyled(shown, s.Stretches)
		}
		out = append(out, s)
	}
	return out
}

// restyled returns stretches with the text shown instead of their own. Characters that stayed keep
// their style; the text of the others is nowhere in the result.
func restyled(shown string, all []vt.Stretch) (out []vt.Stretch) {
	rest := []rune(shown)
	put := func(text []rune, cols int, as vt.Stretch) {
		if len(text) > 0 {
			as.Text, as.Cols = string(text), cols
			out = append(out, as)
		}
	}
	for _, s := range all {
		text := []rune(s.Text)
		here := rest[:min(len(text), len(rest))]
		rest = rest[len(here):]
		if slices.Equal(here, text) {
			out = append(out, s)
			continue
		}
		if s.Cluster { // it is hidden as a whole
			text = nil
		}
		for i := 0; i < len(here); {
			j, same := i, i < len(text) && here[i] == text[i]
			for j < len(here) && (j < len(text) && here[j] == text[j]) == same {
				j++
			}
			if same {
				put(here[i:j], (j-i)*s.Cols/len(text), s)
			} else {
				put(here[i:j], j-i, vt.Stretch{})
			}
			i = j
		}
	}
	put(rest, len(rest), vt.Stretch{})
	col := 0
	for i := range out {
		out[i].Col = col
		col += out[i].Cols
	}
	return out
}

// redacted returns the rows of each piece with its secrets hidden: each secret is replaced by the
// marker, cut or padded to as many characters, so that rows keep their length.
func (n *Lines) redacted(page []piece) [][]string {
	all := make([][]string, len(page))
	joined := make([]string, len(page))
	for k, p := range page {
		for i := p.from; i < p.end; i++ {
			all[k] = append(all[k], n.raw(i))
		}
		joined[k] = strings.Join(all[k], "")
	}
	if n.view.hide == nil {
		return all
	}
	above := n.above(page[0].from)
	for k, spans := range n.view.hide.Page(joined, above) {
		rows := all[k]
		if len(rows) > 1 { // rows may be adjacent by chance, and hide each other's meaning
			at := 0
			for _, r := range rows {
				for _, s := range n.view.hide.Spans(r) {
					spans = append(spans,
						redact.Span{Start: at + s.Start, End: at + s.End, Text: s.Text})
				}
				at += len(r)
			}
			slices.SortStableFunc(spans, func(a, b redact.Span) int { return a.Start - b.Start })
		}
		lost := page[k].from == 0 && n.history.Cut() // it continues from what was dropped
		if lost && len(rows) > 1 {
			spans = append([]redact.Span{{End: head(joined[k]), Text: redact.DefaultReplacement}},
				spans...)
		}
		if len(spans) == 0 && !lost {
			continue
		}
		covered := []rune(cover(joined[k], spans))
		for i, r := range rows {
			w := min(utf8.RuneCountInString(r), len(covered))
			if i == len(rows)-1 {
				w = len(covered)
			}
			rows[i] = string(covered[:w])
			covered = covered[w:]
		}
		if lost && len(rows) == 1 {
			rows[0] = HideHead(rows[0])
		}
	}
	return all
}

// cover replaces spans of a line, sorted by their beginning, by as many characters each; at the
// line's end, where nothing follows, by the whole marker. Overlapping ones become one, with the
// marker of the first.
func cover(line string, spans []redact.Span) string {
	var b strings.Builder
	at := 0
	for i := 0; i < len(spans); {
		s := spans[i]
		for i++; i < len(spans) && spans[i].Start < s.End; i++ {
			s.End = max(s.End, spans[i].End)
		}
		b.WriteString(line[at:s.Start])
		if s.End == len(line) {
			b.WriteString(s.Text)
		} else {
			b.WriteString(fit(s.Text, utf8.RuneCountInString(line[s.Start:s.End])))
		}
		at = s.End
	}
	b.WriteString(line[at:])
	return b.String()
}

// fit pads a marker with spaces to n characters. A longer one would be cut, which looks like
// damage: bullets replace it.
func fit(marker string, n int) string {
	if missing := n - utf8.RuneCountInString(marker); missing >= 0 && marker != "" {
		return marker + strings.Repeat(" ", missing)
	}
	return strings.Repeat("•", n)
}

// A Found is one match of a search. It may go on over the ends of rows that continue in one another.
type Found struct {
	Line    int    // that it begins in, as counted by [Lines.Read]
	Col     int    // characters before it in that line
	EndLine int    // that it ends in
	EndCol  int    // characters in that line up to its end
	Text    string // the lines that it is in, joined: one line, unless it goes on in others
}

// maxSearched bounds, in bytes, how much of one logical line is searched at once: a program that
// never ends a line must not make a search copy all that is kept. It is hundreds of screens; only a
// match over such a bound is not found.
const maxSearched = 1 << 20

// Search returns the first matches, at most most of them, and how many there are. Rows that continue
// in one another are one text, and ^ and $ its ends. Redacted text cannot be found.
func (n *Lines) Search(re *regexp.Regexp, most int) (found []Found, total int) {
	s := searched{re: re, most: most}
	n.pieces(0, n.Len(), func(first int, rows []string) {
		s.add(first, rows)
		if last := first + len(rows) - 1; !n.wrapped(last) || s.text.Len() > maxSearched {
			s.end()
		}
	})
	s.end()
	return s.found, s.total
}

// A searched is one logical line of a search, and what was found before it.
type searched struct {
	re    *regexp.Regexp
	most  int
	found []Found
	total int

	first  int // the number of its first row
	starts []int
	text   strings.Builder
}

// add adds rows to the line; first is the number of the first.
func (s *searched) add(first int, rows []string) {
	if len(s.starts) == 0 {
		s.first = first
	}
	for _, r := range rows {
		s.starts = append(s.starts, s.text.Len())
		s.text.WriteString(r)
	}
}

// end searches the line, and begins another.
func (s *searched) end() {
	if len(s.starts) == 0 {
		return
	}
	text := s.text.String()
	for _, loc := range s.re.FindAllStringIndex(text, -1) {
		if s.total++; len(s.found) >= s.most {
			continue
		}
		from := s.row(loc[0])
		to := max(from, s.row(loc[1]-1))
		end := len(text)
		if to+1 < len(s.starts) {
			end = s.starts[to+1]
		}
		s.found = append(s.found, Found{
			Line: s.first + from, Col: utf8.RuneCountInString(text[s.starts[from]:loc[0]]),
			EndLine: s.first + to, EndCol: utf8.RuneCountInString(text[s.starts[to]:loc[1]]),
			Text: text[s.starts[from]:end],
		})
	}
	s.starts = s.starts[:0]
	s.text = strings.Builder{} // its text is part of what was found
}

// row returns the row of the line that a byte of its text is in.
func (s *searched) row(at int) int {
	return max(0, sort.Search(len(s.starts), func(i int) bool { return s.starts[i] > at })-1)
}
