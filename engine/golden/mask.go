package golden

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/vt"
)

// A Mask covers what differs from run to run, and says what it has to look like: a mask that covers
// nothing is an error. What is covered stands in a file as «name», in as many cells as it has, or
// as «name…» when it takes the rest of its row. Its style is not compared.
type Mask struct {
	// Name is what stands in the file: small letters, digits and hyphens.
	Name string
	// Pattern is what is covered, wherever it is found: its first group, if it has one. Rows that
	// are wrapped are searched as one line. nil: Rect is covered.
	Pattern *regexp.Regexp
	// Rect is covered when Pattern is nil.
	Rect vt.Rect
	// From and To limit a Pattern to lines that begin in these rows; To is 0 for no limit, else
	// one more than the last row.
	From, To int
	// ToEnd covers what follows in the row, too: for texts whose length varies.
	ToEnd bool
}

// maxName bounds a mask's name: longer than most of what masks cover.
const maxName = 32

// String returns the mask as a file has it: `clock /\d\d:\d\d/ in row 1`.
func (m Mask) String() string {
	s := m.Name
	if m.Pattern == nil {
		return s + " rect " + m.Rect.String()
	}
	s += " /" + strings.ReplaceAll(m.Pattern.String(), "/", `\/`) + "/"
	if m.ToEnd {
		s += " to end"
	}
	switch {
	case m.To == m.From+1:
		s += " in row " + strconv.Itoa(m.From)
	case m.To > 0:
		s += fmt.Sprintf(" in rows %d-%d", m.From, m.To-1)
	}
	return s
}

// ParseMask is [Mask.String] backwards.
func ParseMask(s string) (Mask, error) {
	bad := func(format string, a ...any) (Mask, error) {
		return Mask{}, fmt.Errorf("mask: "+format, a...)
	}
	name, rest, _ := strings.Cut(strings.TrimSpace(s), " ")
	m := Mask{Name: name}
	if name == "" || len(name) > maxName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return bad("%s is not a name: use up to %d small letters, digits and hyphens",
			clip(name), maxName)
	}
	rest = strings.TrimSpace(rest)
	if rect, ok := strings.CutPrefix(rest, "rect "); ok {
		var err error
		if m.Rect, err = ParseRegion(rect); err != nil {
			return bad("%w", err)
		}
		return m, nil
	}
	pattern, rest, ok := locate.CutPattern(rest)
	if !ok {
		return bad("%s is not a /pattern/, closed by a slash, or \"rect ROW,COL ROWSxCOLS\"",
			clip(rest))
	}
	var err error
	if m.Pattern, err = regexp.Compile(pattern); err != nil {
		if fault := (*syntax.Error)(nil); errors.As(err, &fault) {
			return bad("%s: %s", fault.Code, clip(fault.Expr))
		}
		return bad("%w", err)
	}
	words := strings.Fields(rest)
	if len(words) >= 2 && words[0] == "to" && words[1] == "end" {
		m.ToEnd, words = true, words[2:]
	}
	switch {
	case len(words) == 0:
		return m, nil
	case len(words) != 3 || words[0] != "in" || words[1] != "row" && words[1] != "rows":
		return bad("%s after the pattern: have \"to end\", \"in row N\" and \"in rows N-M\"",
			clip(strings.Join(words, " ")))
	}
	first, last, isRange := strings.Cut(words[2], "-")
	if !isRange {
		last = first
	}
	from, err := strconv.ParseUint(first, 10, 16)
	to, err2 := strconv.ParseUint(last, 10, 16)
	if err != nil || err2 != nil || to < from {
		return bad("%s is not a row or a range of rows", clip(words[2]))
	}
	m.From, m.To = int(from), int(to)+1
	return m, nil
}

// MaxMasks bounds the masks that [File.Amend] takes: each searches every frame.
const MaxMasks = 64

// An AmendError says what of a request's masks and region is wrong: Path is masks, masks[i], region,
// or screen for what the file itself has.
type AmendError struct {
	Path string
	Err  error
}

// Error names both.
func (e *AmendError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *AmendError) Unwrap() error { return e.Err }

// Amend is [File.With] for masks and a region ("" for none) as texts, from outside: compiles refuses
// expressions that are too costly, also those of the file. Errors are *[AmendError].
func (f *File) Amend(masks []string, region string, compiles func(pattern string) error) (*File, error) {
	var given []Mask
	for i, s := range masks {
		m, err := ParseMask(s)
		if err != nil {
			return nil, &AmendError{fmt.Sprintf("masks[%d]", i), err}
		}
		given = append(given, m)
	}
	var rect *vt.Rect
	if region != "" {
		r, err := ParseRegion(region)
		if err != nil {
			return nil, &AmendError{"region", err}
		}
		rect = &r
	}
	f = f.With(given, rect)
	if len(f.Masks) > MaxMasks {
		return nil, &AmendError{"masks",
			fmt.Errorf("%d with those of the file, at most %d are allowed", len(f.Masks), MaxMasks)}
	}
	for i, m := range f.Masks {
		if m.Pattern == nil {
			continue
		}
		if err := compiles(m.Pattern.String()); err != nil {
			where := "screen"
			if i < len(given) {
				where = fmt.Sprintf("masks[%d]", i)
			}
			return nil, &AmendError{where, fmt.Errorf("mask %s: %w", m.Name, err)}
		}
	}
	return f, nil
}

// A MaskError says that a mask covered nothing.
type MaskError struct{ Mask Mask }

// Error says so.
func (e *MaskError) Error() string {
	return "mask " + e.Mask.String() + " covers nothing on the screen: mend or remove it"
}

// A cover is what a mask covers of one row.
type cover struct {
	vt.Span
	name string
	open bool // to the end of the row
}

// shown returns what stands for a cover of so many cells.
func (c cover) shown(cells int) string {
	switch {
	case c.open:
		return "«" + c.name + "…»"
	case cells >= len(c.name)+2:
		return "«" + c.name + strings.Repeat("·", cells-len(c.name)-2) + "»"
	case cells >= 2:
		return "«" + c.name[:cells-2] + "»"
	}
	return "«"
}

// coversOf applies masks to a screen. Where two cover the same cell, the first one does.
func coversOf(s *vt.Screen, masks []Mask) ([]cover, error) {
	if len(masks) == 0 {
		return nil, nil
	}
	taken := make([]bool, s.Rows*s.Cols)
	var out []cover
	var lines []vt.Line
	for _, m := range masks {
		var found []cover
		if m.Pattern == nil {
			found = rect(s, m)
		} else {
			if lines == nil {
				lines = s.LinesIn(vt.Rect{Rows: s.Rows, Cols: s.Cols})
			}
			for i := range lines {
				l := &lines[i]
				if first, _ := l.Rows(); m.To == 0 || first >= m.From && first < m.To {
					found = append(found, m.find(s, l)...)
				}
			}
		}
		if len(found) == 0 {
			return nil, &MaskError{m}
		}
		for _, c := range found {
			for from := c.Col; from < c.End; from++ { // the free stretches of it
				if taken[c.Row*s.Cols+from] {
					continue
				}
				to := from
				for to < c.End && !taken[c.Row*s.Cols+to] {
					taken[c.Row*s.Cols+to] = true
					to++
				}
				out = append(out, cover{vt.Span{Row: c.Row, Col: from, End: to}, c.name, c.open})
				from = to
			}
		}
	}
	slices.SortFunc(out, func(a, b cover) int {
		return cmp.Or(a.Row-b.Row, a.Col-b.Col)
	})
	return out, nil
}

// rect covers a rectangle, as far as it is on the screen.
func rect(s *vt.Screen, m Mask) []cover {
	var out []cover
	r := m.Rect
	for y := max(r.Row, 0); y < min(r.Row+r.Rows, s.Rows); y++ {
		if from, to := max(r.Col, 0), min(r.Col+r.Cols, s.Cols); from < to {
			out = append(out, cover{vt.Span{Row: y, Col: from, End: to}, m.Name, false})
		}
	}
	return out
}

// find returns what the mask's pattern covers of a line.
func (m Mask) find(s *vt.Screen, l *vt.Line) []cover {
	var out []cover
	for _, at := range m.Pattern.FindAllStringSubmatchIndex(strings.TrimRight(l.Text(), " "), -1) {
		from, to := at[0], at[1]
		if len(at) > 2 {
			from, to = at[2], at[3]
		}
		if from < 0 || from == to {
			continue
		}
		for _, span := range l.Spans(from, to) {
			if m.ToEnd {
				span.End = s.Cols
			}
			out = append(out, cover{span, m.Name, m.ToEnd})
		}
		if m.ToEnd { // what else is found in the row is covered
			break
		}
	}
	return out
}
