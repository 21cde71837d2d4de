package native

import (
	"context"
	"regexp"

	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/protocol"
)

type scrollbackParams struct {
	sessionParams
	readParams
	Start *int64 `json:"start,omitempty" jsonschema:"first line, from 0; default: the last count lines"`
	Count *int64 `json:"count,omitempty" jsonschema:"how many lines; default 100"`
	Form  string `json:"form,omitempty" jsonschema:"text (default): lines has strings, or runs: rows has styled text as in session.frame"`
}

type scrollbackResult struct {
	Lines   []string     `json:"lines" jsonschema:"with form runs none"`
	Rows    []styledLine `json:"rows,omitempty" jsonschema:"with form runs"`
	Start   int          `json:"start"`
	Count   int          `json:"count" jsonschema:"of the lines told: with form runs fewer than asked for when they are long"`
	Total   int          `json:"total"`
	Dropped uint64       `json:"dropped"`
}

// A styledLine is a line of the scrollback or the screen, encoded as a row of a frame.
type styledLine []byte

func (l styledLine) MarshalJSON() ([]byte, error) { return l, nil }

// maxStyled bounds the styled lines of one answer, in bytes: a line in which every cell has its own
// style takes 200 bytes a cell. A client continues from start + count.
const maxStyled = maxReply / 4

// maxLines bounds one answer; a client continues from start + count.
const maxLines = 100_000

// maxStart bounds a line's number: more than any session shows.
const maxStart = 1 << 40

func (c *client) sessionScrollback(_ context.Context,
	p scrollbackParams) (scrollbackResult, error) {
	var none scrollbackResult
	n, err := count("count", p.Count, 100)
	if err != nil {
		return none, err
	}
	start, err := count("start", p.Start, 0)
	if err != nil {
		return none, err
	}
	form, err := word("session.scrollback form", p.Form, "text")
	if err != nil {
		return none, err
	}
	s, err := c.session(p.sessionParams)
	if err != nil {
		return none, err
	}
	l := newLook(s.View(), p.redactor(), "none")
	all := l.Lines()
	total := all.Len()
	if p.Start == nil {
		start = max(0, total-n)
	}
	start = min(start, total)
	end := min(total, start+n)
	r := scrollbackResult{Lines: []string{}, Start: start, Total: total, Dropped: all.Dropped()}
	if form == "text" {
		r.Lines = all.Read(start, end)
		r.Count = len(r.Lines)
		return r, nil
	}
	size := 0
	for at := start; at < end && size < maxStyled; at = start + r.Count {
		for _, line := range all.ReadStyled(at, min(end, at+styledAtOnce)) {
			b := l.appendLine([]byte{'{'}, line.Wrapped, func(f func(vt.Stretch)) {
				for _, s := range line.Stretches {
					f(s)
				}
			})
			r.Rows = append(r.Rows, append(b, '}'))
			size += len(b)
		}
		r.Count = len(r.Rows)
	}
	return r, nil
}

// styledAtOnce is how many lines are styled before their size is looked at. They may pass the bound by
// as much as this many lines of [engine.MaxSide] cells take, which an answer has room for.
const styledAtOnce = 16

type searchParams struct {
	sessionParams
	readParams
	atParams
	Text  *string `json:"text,omitempty" jsonschema:"text to find; this or regex"`
	Regex *string `json:"regex,omitempty" jsonschema:"RE2 expression to find; this or text"`
	Max   *int64  `json:"max,omitempty" jsonschema:"most matches to return; default 50"`
}

type searchMatch struct {
	Line    int    `json:"line" jsonschema:"that it begins in, as in session.scrollback"`
	Col     int    `json:"col" jsonschema:"characters before it in that line"`
	EndLine int    `json:"end_line" jsonschema:"that it ends in: a later one when its text wraps"`
	EndCol  int    `json:"end_col" jsonschema:"characters in that line up to its end"`
	Text    string `json:"text" jsonschema:"the lines that it is in, joined; one line, unless it wraps"`
}

type searchResult struct {
	Matches   []searchMatch `json:"matches"`
	Total     int           `json:"total"`
	Truncated bool          `json:"truncated"`
	Dropped   uint64        `json:"dropped" jsonschema:"how many older lines are gone, as in session.scrollback"`
	Sequence  *uint64       `json:"sequence,omitempty" jsonschema:"with at: of the screen and the scrollback that were searched"`
	thenShape
}

// maxMatches bounds one answer.
const maxMatches = 10_000

func (c *client) sessionSearch(_ context.Context, p searchParams) (searchResult, error) {
	none := searchResult{}
	re, err := p.pattern()
	if err != nil {
		return none, err
	}
	most, err := count("max", p.Max, 50)
	if err != nil {
		return none, err
	}
	s, err := c.session(p.sessionParams)
	if err != nil {
		return none, err
	}
	v, then, err := p.view(s)
	if err != nil {
		return none, err
	}
	l := reading.New(v, p.redactor())
	lines := l.Lines()
	found, total := lines.Search(re, most)
	r := searchResult{Matches: make([]searchMatch, len(found)), Total: total,
		Truncated: total > len(found), Dropped: lines.Dropped(), thenShape: then.shape()}
	if then != nil {
		r.Sequence = &then.Sequence
	}
	for i, f := range found {
		r.Matches[i] = searchMatch(f)
	}
	return r, nil
}

// pattern returns what to search for.
func (p *searchParams) pattern() (*regexp.Regexp, error) {
	switch {
	case (p.Text == nil) == (p.Regex == nil):
		return nil, &protocol.ParamError{Expected: "either text or regex",
			Got: map[bool]string{true: "both", false: ""}[p.Text != nil]}
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
