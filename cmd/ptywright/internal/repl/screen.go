package repl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/repl/edit"
	"github.com/ptywright/ptywright/protocol/client"
)

// A screen is a snapshot that is drawn when printed.
type screen struct {
	name string // of the session
	raw  map[string]any
	snap client.Snapshot
}

func (s *screen) String() string {
	return fmt.Sprintf("screen of %s, %dx%d", s.name, s.snap.Size.Rows, s.snap.Size.Cols)
}

// show draws the screen in a frame that fits the terminal: rows are cut at its width, and blank
// rows at the end are left out.
func (s *screen) show(on cli.Style, cols int) string {
	size := s.snap.Size
	inner := min(size.Cols, max(cols-2, 10))
	rows := s.rows(on, inner)
	head := fmt.Sprintf(" %s %dx%d ", cli.OneLine(s.name), size.Rows, size.Cols)
	if t := s.snap.Title; t != nil && *t != "" {
		head += "· " + cli.OneLine(*t) + " "
	}
	var foot []string
	if hidden := size.Rows - len(rows); hidden > 0 {
		foot = append(foot, fmt.Sprintf("%d blank rows", hidden))
	}
	if inner < size.Cols {
		foot = append(foot, fmt.Sprintf("%d of %d columns", inner, size.Cols))
	}
	if s.snap.AlternateScreen {
		foot = append(foot, "alternate screen")
	}
	if e := s.snap.Exit; e != nil {
		foot = append(foot, cli.OneLine(e.String()))
	}
	var b strings.Builder
	b.WriteString(on.As(cli.Dim, border("┌", head, inner, "┐")) + "\n")
	for _, row := range rows {
		b.WriteString(on.As(cli.Dim, "│") + row + on.As(cli.Dim, "│") + "\n")
	}
	tail := ""
	if len(foot) > 0 {
		tail = " " + strings.Join(foot, ", ") + " "
	}
	b.WriteString(on.As(cli.Dim, border("└", tail, inner, "┘")))
	return b.String()
}

func border(left, text string, inner int, right string) string {
	text = edit.Cut(text, inner)
	return left + text + strings.Repeat("─", max(inner-edit.Width(text), 0)) + right
}

// rows are the screen's rows up to the last that is not blank, each padded to cols columns.
func (s *screen) rows(on cli.Style, cols int) []string {
	if len(s.snap.Cells) == 0 { // without styles, as in evidence
		last := lastRow(s.snap.Lines)
		rows := make([]string, last)
		for i, text := range s.snap.Lines[:last] {
			text = edit.Cut(cli.OneLine(text), cols)
			rows[i] = text + strings.Repeat(" ", max(cols-edit.Width(text), 0))
		}
		return rows
	}
	last := max(lastRow(s.snap.Lines), min(s.snap.Cursor.Row+1, s.snap.Size.Rows))
	for _, c := range s.snap.Cells { // a row of coloured blanks is not blank
		if c.Style.Background != "default" && c.Style.Background != "" || c.Style.Inverse {
			last = max(last, c.Row+1)
		}
	}
	byRow := make([][]client.Cell, last)
	for _, c := range s.snap.Cells {
		if c.Row < last {
			byRow[c.Row] = append(byRow[c.Row], c)
		}
	}
	rows := make([]string, last)
	for i := range rows {
		p := pen{on: on, cols: cols, cursor: -1}
		if s.snap.Cursor.Visible && s.snap.Cursor.Row == i && s.snap.Exit == nil {
			p.cursor = s.snap.Cursor.Col
		}
		for _, run := range byRow[i] {
			p.fill(run.Col)
			sgr := sgrOf(run.Style)
			for _, r := range cli.OneLine(run.Text) {
				p.put(r, sgr)
			}
			p.fill(run.Col + run.Cols)
		}
		p.fill(cols)
		rows[i] = p.end()
	}
	return rows
}

func lastRow(lines []string) int {
	last := 0
	for i, l := range lines {
		if strings.TrimSpace(l) != "" {
			last = i + 1
		}
	}
	return last
}

// A pen draws one row.
type pen struct {
	b            strings.Builder
	on           cli.Style
	col, cols    int
	cursor       int // its column, -1: not on this row
	now          string
	marked, over bool // the cursor has been drawn; the row is full
}

// fill writes blanks up to a column.
func (p *pen) fill(to int) {
	for p.col < min(to, p.cols) {
		p.put(' ', "")
	}
}

// put draws a character if it fits.
func (p *pen) put(r rune, sgr string) {
	w := edit.Width(string(r))
	if p.over || p.col+w > p.cols {
		p.over = true
		return
	}
	if w > 0 && p.cursor >= p.col && p.cursor < p.col+w && !p.marked {
		p.marked = true
		sgr += ";7"
	}
	if p.on && sgr != p.now && w > 0 {
		p.b.WriteString("\x1b[0" + sgr + "m")
		p.now = sgr
	}
	p.b.WriteRune(r)
	p.col += w
}

func (p *pen) end() string {
	if p.now != "" {
		p.b.WriteString("\x1b[m")
	}
	p.b.WriteString(strings.Repeat(" ", p.cols-p.col)) // half of a wide character did not fit
	return p.b.String()
}

// sgrOf writes a style as SGR parameters, each after a semicolon. None of it is the program's text.
func sgrOf(s client.Style) string {
	var b strings.Builder
	for _, p := range []struct {
		on  bool
		sgr string
	}{{s.Bold, ";1"}, {s.Dim, ";2"}, {s.Italic, ";3"}, {s.Underline, ";4"}, {s.Blink, ";5"},
		{s.Inverse, ";7"}, {s.Hidden, ";8"}, {s.Strike, ";9"}, {s.Overline, ";53"}} {
		if p.on {
			b.WriteString(p.sgr)
		}
	}
	b.WriteString(colour(s.Foreground, 30))
	b.WriteString(colour(s.Background, 40))
	return b.String()
}

// colour writes idx:N and rgb:R:G:B, and nothing for default and unknown values. base is 30 or 40.
func colour(c string, base int) string {
	kind, value, _ := strings.Cut(c, ":")
	var n [3]int
	parts := strings.Split(value, ":")
	for i, p := range parts[:min(len(parts), 3)] {
		v, err := strconv.ParseUint(p, 10, 8)
		if err != nil {
			return ""
		}
		n[i] = int(v)
	}
	switch {
	case kind == "idx" && n[0] < 8:
		return ";" + strconv.Itoa(base+n[0])
	case kind == "idx":
		return fmt.Sprintf(";%d;5;%d", base+8, n[0])
	case kind == "rgb" && len(parts) == 3:
		return fmt.Sprintf(";%d;2;%d;%d;%d", base+8, n[0], n[1], n[2])
	}
	return ""
}
