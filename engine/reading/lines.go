package reading

import (
	"regexp"
	"slices"
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

// Lines returns the lines of v.
func (v *View) Lines() *Lines {
	return &Lines{view: v, history: v.Raw.Screen.History(), screen: v.Raw.Screen.Lines()}
}

// Len returns how many there are.
func (n *Lines) Len() int { return n.history.Len() + len(n.screen) }

// Dropped returns how many have left the bound.
func (n *Lines) Dropped() uint64 { return n.history.Dropped() }

func (n *Lines) raw(i int) string {
	if h := n.history.Len(); i >= h {
		return n.screen[i-h]
	}
	return n.history.Line(i)
}

// wrapped reports whether line i goes on in the next.
func (n *Lines) wrapped(i int) bool {
	if h := n.history.Len(); i >= h {
		return n.view.Raw.Screen.Wrapped(i - h)
	}
	return n.history.Wrapped(i)
}

// maxJoined bounds how many lines are seen as one: a program that never ends a line must not make every read of one
// line a read of all.
const maxJoined = 200

// logical returns the lines that belong with line i, as first and behind the last.
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

// lookahead is how many lines of one that is wrapped over more than maxJoined are seen twice, so that what stands at the
// end of one piece is judged together with what follows.
const lookahead = 20

// piece returns line i and those that belong with it, redacted: rows are those from i on, to the line behind them. A line
// that is wrapped over very many comes in pieces.
func (n *Lines) piece(i int) (rows []string, to int) {
	from, to := n.logical(i)
	rows = n.redacted(from, to)
	if to < n.Len() && n.wrapped(to-1) && to-lookahead > i {
		to -= lookahead
	}
	return rows[i-from : to-from], to
}

// Read returns lines from up to to, redacted: each is seen together with those it is wrapped over.
func (n *Lines) Read(from, to int) []string {
	out := make([]string, 0, to-from)
	for i := from; i < to; {
		rows, next := n.piece(i)
		out = append(out, rows[:min(next, to)-i]...)
		i = next
	}
	return out
}

// redacted returns the rows of one logical line with its secrets covered: each by the marker, cut or filled to as many
// characters, so that rows keep their length.
func (n *Lines) redacted(from, to int) []string {
	rows := make([]string, to-from)
	for i := range rows {
		rows[i] = n.raw(from + i)
	}
	if n.view.hide == nil {
		return rows
	}
	if from == 0 && n.history.Cut() { // it goes on from what was dropped
		rows[0] = HideHead(rows[0])
	}
	joined := strings.Join(rows, "")
	above := func(k int) (string, bool) {
		if k > from {
			return "", false
		}
		return n.raw(from - k), true
	}
	spans := n.view.hide.Page([]string{joined}, above)[0]
	if len(rows) > 1 { // rows may stand together by chance, and hide each other's meaning
		at := 0
		for _, r := range rows {
			for _, s := range n.view.hide.Spans(r) {
				spans = append(spans, redact.Span{Start: at + s.Start, End: at + s.End, Text: s.Text})
			}
			at += len(r)
		}
		slices.SortStableFunc(spans, func(a, b redact.Span) int { return a.Start - b.Start })
	}
	if len(spans) == 0 {
		return rows
	}
	covered := []rune(cover(joined, spans))
	for i, r := range rows {
		k := min(utf8.RuneCountInString(r), len(covered))
		if i == len(rows)-1 {
			k = len(covered)
		}
		rows[i] = string(covered[:k])
		covered = covered[k:]
	}
	return rows
}

// cover replaces spans of a line, sorted by where they begin, by as many characters each; at the line's end, where
// nothing follows, by the whole marker. Of what two of them cover the first has the say.
func cover(line string, spans []redact.Span) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s.End <= at {
			continue
		}
		if s.Start < at {
			s.Start, s.Text = at, ""
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

// fit cuts text to n characters, or fills it with spaces.
func fit(text string, n int) string {
	r := []rune(text)
	if len(r) >= n {
		return string(r[:n])
	}
	return text + strings.Repeat(" ", n-len(r))
}

// A Found is one match of a search.
type Found struct {
	Line int    // as [Lines.Read] counts
	Col  int    // characters before the match in its line
	Text string // the line that the match begins in
}

// Search returns the first matches, at most so many, and how many there are. What is redacted cannot be found.
func (n *Lines) Search(re *regexp.Regexp, most int) (found []Found, total int) {
	for i := 0; i < n.Len(); {
		rows, next := n.piece(i)
		joined := strings.Join(rows, "")
		for _, loc := range re.FindAllStringIndex(joined, -1) {
			if total++; len(found) >= most {
				continue
			}
			line, at := 0, loc[0]
			for line < len(rows)-1 && at >= len(rows[line]) {
				at -= len(rows[line])
				line++
			}
			col := utf8.RuneCountInString(rows[line][:min(at, len(rows[line]))])
			found = append(found, Found{Line: i + line, Col: col, Text: rows[line]})
		}
		i = next
	}
	return found, total
}
