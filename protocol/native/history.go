package native

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/redact"
)

// lines are a session's scrollback and, after it, its screen's rows, as one request may see them.
type lines struct {
	look    *look
	history vt.History
	screen  []string
}

func newLines(l *look) *lines {
	return &lines{look: l, history: l.view.Screen.History(), screen: l.view.Screen.Lines()}
}

func (n *lines) len() int { return n.history.Len() + len(n.screen) }

func (n *lines) raw(i int) string {
	if h := n.history.Len(); i >= h {
		return n.screen[i-h]
	}
	return n.history.Line(i)
}

// wrapped reports whether line i goes on in the next.
func (n *lines) wrapped(i int) bool {
	if h := n.history.Len(); i >= h {
		return n.look.view.Screen.Wrapped(i - h)
	}
	return n.history.Wrapped(i)
}

// maxJoined bounds how many lines are seen as one: a program that never ends a line must not make every read of one
// line a read of all.
const maxJoined = 200

// logical returns the lines that belong with line i, as first and behind the last.
func (n *lines) logical(i int) (from, to int) {
	from, to = i, i+1
	for from > 0 && i-from < maxJoined && n.wrapped(from-1) {
		from--
	}
	for to < n.len() && to-i < maxJoined && n.wrapped(to-1) {
		to++
	}
	return from, to
}

// lookahead is how many lines of one that is wrapped over more than maxJoined are seen twice, so that what stands at the
// end of one piece is judged together with what follows.
const lookahead = 20

// piece returns line i and those that belong with it, redacted: rows are those from i on, to the line behind them. A line
// that is wrapped over very many comes in pieces.
func (n *lines) piece(i int) (rows []string, to int) {
	from, to := n.logical(i)
	rows = n.redacted(from, to)
	if to < n.len() && n.wrapped(to-1) && to-lookahead > i {
		to -= lookahead
	}
	return rows[i-from : to-from], to
}

// read returns lines from up to to, redacted: each is seen together with those it is wrapped over.
func (n *lines) read(from, to int) []string {
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
func (n *lines) redacted(from, to int) []string {
	rows := make([]string, to-from)
	for i := range rows {
		rows[i] = n.raw(from + i)
	}
	if n.look.hide == nil {
		return rows
	}
	if from == 0 && n.history.Cut() { // it goes on from what was dropped
		rows[0] = hideHead(rows[0])
	}
	joined := strings.Join(rows, "")
	above := func(k int) (string, bool) {
		if k > from {
			return "", false
		}
		return n.raw(from - k), true
	}
	spans := n.look.hide.Page([]string{joined}, above)[0]
	if len(rows) > 1 { // rows may stand together by chance, and hide each other's meaning
		at := 0
		for _, r := range rows {
			for _, s := range n.look.hide.Spans(r) {
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

type scrollbackParams struct {
	sessionParams
	readParams
	Start *int64 `json:"start,omitempty" jsonschema:"first line, from 0; default: the last count lines"`
	Count *int64 `json:"count,omitempty" jsonschema:"how many lines; default 100"`
}

type scrollbackResult struct {
	Lines   []string `json:"lines"`
	Start   int      `json:"start"`
	Count   int      `json:"count"`
	Total   int      `json:"total"`
	Dropped uint64   `json:"dropped"`
}

// maxLines bounds one answer; a client reads on from start + count.
const maxLines = 100_000

func (c *client) sessionScrollback(_ context.Context, p scrollbackParams) (scrollbackResult, error) {
	var none scrollbackResult
	hide, err := c.redactor(&p.readParams)
	if err != nil {
		return none, err
	}
	n, err := count("count", p.Count, 100, 0, maxLines)
	if err != nil {
		return none, err
	}
	start, err := count("start", p.Start, 0, 0, 1<<40)
	if err != nil {
		return none, err
	}
	s, err := c.session(p.sessionParams)
	if err != nil {
		return none, err
	}
	all := newLines(&look{view: s.View(), hide: hide})
	total := all.len()
	if p.Start == nil {
		start = max(0, total-n)
	}
	start = min(start, total)
	text := all.read(start, min(total, start+n))
	return scrollbackResult{Lines: text, Start: start, Count: len(text), Total: total, Dropped: all.history.Dropped()}, nil
}

type searchParams struct {
	sessionParams
	readParams
	Text  *string `json:"text,omitempty" jsonschema:"text to find; this or regex"`
	Regex *string `json:"regex,omitempty" jsonschema:"RE2 expression to find; this or text"`
	Max   *int64  `json:"max,omitempty" jsonschema:"most matches to return; default 50"`
}

type searchMatch struct {
	Line int    `json:"line" jsonschema:"as in session.scrollback"`
	Col  int    `json:"col" jsonschema:"characters before the match in its line"`
	Text string `json:"text" jsonschema:"the line that the match begins in"`
}

type searchResult struct {
	Matches   []searchMatch `json:"matches"`
	Total     int           `json:"total"`
	Truncated bool          `json:"truncated"`
}

// maxMatches bounds one answer.
const maxMatches = 10_000

func (c *client) sessionSearch(_ context.Context, p searchParams) (searchResult, error) {
	none := searchResult{}
	hide, err := c.redactor(&p.readParams)
	if err != nil {
		return none, err
	}
	re, err := p.pattern()
	if err != nil {
		return none, err
	}
	most, err := count("max", p.Max, 50, 0, maxMatches)
	if err != nil {
		return none, err
	}
	s, err := c.session(p.sessionParams)
	if err != nil {
		return none, err
	}
	all := newLines(&look{view: s.View(), hide: hide})
	r := searchResult{Matches: []searchMatch{}}
	for i := 0; i < all.len(); {
		rows, next := all.piece(i)
		search(re, rows, i, most, &r)
		i = next
	}
	r.Truncated = r.Total > len(r.Matches)
	return r, nil
}

// pattern returns what to search for.
func (p *searchParams) pattern() (*regexp.Regexp, error) {
	switch {
	case (p.Text == nil) == (p.Regex == nil):
		return nil, &protocol.ParamError{Expected: "either text or regex", Got: map[bool]string{true: "both", false: ""}[p.Text != nil]}
	case p.Text != nil && *p.Text == "":
		return nil, required("text", p.Text)
	case p.Text != nil:
		return regexp.Compile(regexp.QuoteMeta(*p.Text))
	}
	re, err := matchers.Compile(*p.Regex)
	if err != nil {
		return nil, &paramError{path: "regex", reason: "invalid_params", problem: err.Error()}
	}
	return re, nil
}

// search adds the matches in rows, which begin at line from. What is redacted cannot be found.
func search(re *regexp.Regexp, rows []string, from, most int, r *searchResult) {
	joined := strings.Join(rows, "")
	for _, loc := range re.FindAllStringIndex(joined, -1) {
		if r.Total++; len(r.Matches) >= most {
			continue
		}
		line, at := 0, loc[0]
		for line < len(rows)-1 && at >= len(rows[line]) {
			at -= len(rows[line])
			line++
		}
		col := utf8.RuneCountInString(rows[line][:min(at, len(rows[line]))])
		r.Matches = append(r.Matches, searchMatch{Line: from + line, Col: col, Text: rows[line]})
	}
}
