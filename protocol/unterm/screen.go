package unterm

import (
	"context"
	"strings"
)

type rowInfo struct {
	Row  uint64 `json:"row"`
	Text string `json:"text"`
}

type screenRead struct {
	Cells      []rowInfo  `json:"cells"`
	Cursor     cursorInfo `json:"cursor"`
	Cols       int        `json:"cols"`
	Rows       int        `json:"rows"`
	Scrollback int        `json:"scrollback_rows"`
}

func readScreen(_ context.Context, s *reader, at *pane, _ params) (any, error) {
	l := s.look(at.session)
	screen := l.Screen()
	r := screenRead{
		Cursor: cursorOf(l.Raw), Cols: screen.Cols, Rows: screen.Rows,
		Scrollback: screen.History().Len() + screen.Rows,
	}
	for i, row := range screen.Lines() {
		r.Cells = append(r.Cells, rowInfo{topOf(l.Raw) + uint64(i), rowText(row)})
	}
	return r, nil
}

type screenText struct {
	Lines  []string   `json:"lines"`
	Cursor cursorInfo `json:"cursor"`
	Cols   int        `json:"cols"`
	Rows   int        `json:"rows"`
}

func textScreen(_ context.Context, s *reader, at *pane, _ params) (any, error) {
	l := s.look(at.session)
	r := screenText{Lines: rowTexts(l.Screen().Lines()), Cursor: cursorOf(l.Raw),
		Cols: l.Raw.Screen.Cols, Rows: l.Raw.Screen.Rows}
	r.Cursor.Visible = nil
	return r, nil
}

func rowTexts(rows []string) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = rowText(row)
	}
	return out
}

type screenCursor struct {
	cursorInfo
	Shape string `json:"shape"`
}

// shapes are the names of DECSCUSR's parameters.
var shapes = [...]string{"Default", "BlinkingBlock", "SteadyBlock", "BlinkingUnderline",
	"SteadyUnderline", "BlinkingBar", "SteadyBar"}

func cursorScreen(_ context.Context, s *reader, at *pane, _ params) (any, error) {
	v := at.session.View()
	return screenCursor{cursorOf(v), shapes[min(int(v.Screen.Cursor.Style), len(shapes)-1)]}, nil
}

type scrolled struct {
	Lines  []string `json:"lines"`
	Offset uint64   `json:"offset"` // as requested
	Count  int      `json:"count"`
}

// scrollScreen returns rows by their numbers. Rows that are no longer kept are replaced by the
// oldest that are; past the last there are none.
func scrollScreen(_ context.Context, s *reader, at *pane, p params) (any, error) {
	lines := s.look(at.session).Lines()
	r := scrolled{}
	r.Offset, _ = p.number("offset")
	from := uint64(0)
	if r.Offset > lines.Dropped() {
		from = min(r.Offset-lines.Dropped(), uint64(lines.Len()))
	}
	to := min(int(from)+p.count("count", 100, maxRows), lines.Len())
	r.Lines = rowTexts(lines.Read(int(from), to))
	r.Count = len(r.Lines)
	return r, nil
}

type searched struct {
	Matches []rowInfo `json:"matches"`
	Total   int       `json:"total"`
}

// searchStep is how many rows are redacted at a time: a search that has found enough reads no
// further.
const searchStep = 1024

// searchScreen searches for a text row by row from the oldest, which is number 0 here.
func searchScreen(_ context.Context, s *reader, at *pane, p params) (any, error) {
	pattern, err := p.needText("pattern", "Missing 'pattern'")
	if err != nil {
		return nil, err
	}
	lines := s.look(at.session).Lines()
	most := p.count("max_results", 50, maxRows)
	r := searched{Matches: []rowInfo{}}
	for from := 0; from < lines.Len() && len(r.Matches) < most; from += searchStep {
		for i, row := range lines.Read(from, min(from+searchStep, lines.Len())) {
			if len(r.Matches) < most && strings.Contains(row, pattern) {
				r.Matches = append(r.Matches, rowInfo{uint64(from + i), rowText(row)})
			}
		}
	}
	r.Total = len(r.Matches)
	return r, nil
}

// errorPatterns are Unterm's, in its order: the first that matches a row wins.
var errorPatterns = []string{
	"error:", "Error:", "ERROR:", "error[", "fatal:", "Fatal:", "FATAL:", "panic:", "PANIC:",
	"not found", "command not found", "Permission denied", "permission denied",
	"No such file or directory", "failed", "FAILED", "traceback", "Traceback", "Exception",
	"exception:", "segfault", "Segmentation fault",
}

type foundError struct {
	rowInfo
	Pattern string `json:"pattern"`
}

type foundErrors struct {
	Has    bool         `json:"has_errors"`
	Errors []foundError `json:"errors"`
}

func detectErrors(_ context.Context, s *reader, at *pane, _ params) (any, error) {
	l := s.look(at.session)
	r := foundErrors{Errors: []foundError{}}
	for i, row := range l.Screen().Lines() {
		for _, pattern := range errorPatterns {
			if strings.Contains(row, pattern) {
				r.Errors = append(r.Errors,
					foundError{rowInfo{topOf(l.Raw) + uint64(i), strings.TrimSpace(row)}, pattern})
				break
			}
		}
	}
	r.Has = len(r.Errors) > 0
	return r, nil
}
