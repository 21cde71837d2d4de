package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
)

// A Column is one of a [Table]'s.
type Column struct {
	Title string
	// Least is how narrow the column may get, in columns of the screen, when the terminal is too
	// narrow for all: longer cells are cut. 0: cells are never cut.
	Least int
	// Path says that cells are paths: on a terminal they have ~ for the home folder, and keep their
	// end when they are cut.
	Path bool
	// Drop is when the column is left out of a terminal that is too narrow even so: the highest
	// first. 0: never.
	Drop int
	// Spare says that the column is left out when no cell has a text.
	Spare bool
	// Right says that cells stand at the right, as numbers do.
	Right bool
}

// A Cell is one text of a [Table], with its colour as an SGR parameter ("": none). It may be
// hostile: what would not stay in its place is shown by its code.
type Cell struct{ Text, SGR string }

// A Table prints rows below each other. On a terminal no row is wider than it: columns are cut, and
// then left out; elsewhere every cell is whole.
type Table struct {
	Columns []Column
	Bare    bool // without a line of titles
	Indent  int  // columns that stay empty at the left
	rows    [][]Cell
}

// Row adds a row: a cell a column, strings or [Cell] values. An empty one is printed as "-".
func (t *Table) Row(cells ...any) {
	row := make([]Cell, len(t.Columns))
	for i, c := range cells {
		switch c := c.(type) {
		case Cell:
			row[i] = c
		default:
			row[i] = Cell{Text: fmt.Sprint(c)}
		}
		row[i].Text = OneLine(row[i].Text)
	}
	t.rows = append(t.rows, row)
}

// gap is what is between two columns.
const gap = "  "

// Print prints the table for what w is: see [TerminalOf].
func (t *Table) Print(w io.Writer) error { return t.PrintFor(w, TerminalOf(w)) }

// PrintFor prints the table for a terminal. It prints nothing when there are no rows and no titles.
func (t *Table) PrintFor(w io.Writer, on Terminal) error {
	rows := t.rows
	if on.Cols > 0 {
		rows = t.tildes()
	}
	shown, widths := t.fit(rows, on.Cols)
	if !t.Bare {
		titles := make([]Cell, len(t.Columns))
		for i, c := range t.Columns {
			titles[i] = Cell{c.Title, Dim}
		}
		rows = slices.Concat([][]Cell{titles}, rows)
	}
	var b strings.Builder
	for _, row := range rows {
		line := strings.Repeat(" ", t.Indent)
		for k, i := range shown {
			cell := row[i]
			if cell.Text == "" && !t.Bare {
				cell = Cell{"-", Dim}
			}
			text := shorten(cell.Text, widths[i], t.Columns[i].Path, on)
			pad := strings.Repeat(" ", widths[i]-displaywidth.String(text))
			text = on.Style.As(cell.SGR, text)
			if t.Columns[i].Right {
				text, pad = pad+text, ""
			}
			if k < len(shown)-1 {
				text += pad + gap
			}
			line += text
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tildes are the rows with shorter paths.
func (t *Table) tildes() [][]Cell {
	rows := make([][]Cell, len(t.rows))
	for y, row := range t.rows {
		rows[y] = slices.Clone(row)
		for i, c := range t.Columns {
			if c.Path {
				rows[y][i].Text = tilde(row[i].Text)
			}
		}
	}
	return rows
}

// fit returns which columns are shown, and how wide each is, for a terminal's width; 0: no limit.
func (t *Table) fit(rows [][]Cell, cols int) (shown, widths []int) {
	widths = make([]int, len(t.Columns))
	wanted := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		some := false
		if !t.Bare {
			wanted[i] = displaywidth.String(c.Title)
		}
		for _, row := range rows {
			some = some || row[i].Text != ""
			wanted[i] = max(wanted[i], displaywidth.String(row[i].Text))
		}
		if widths[i] = wanted[i]; c.Least > 0 && cols > 0 {
			widths[i] = min(wanted[i], max(c.Least, displaywidth.String(c.Title)))
		}
		if some || !c.Spare {
			shown = append(shown, i)
		}
	}
	if cols == 0 {
		return shown, widths
	}
	left := func() int {
		room := cols - t.Indent - len(gap)*(len(shown)-1)
		for _, i := range shown {
			room -= widths[i]
		}
		return room
	}
	for left() < 0 {
		last := slices.MaxFunc(shown, func(a, b int) int {
			return t.Columns[a].Drop - t.Columns[b].Drop
		})
		if t.Columns[last].Drop == 0 || len(shown) == 1 {
			break
		}
		shown = slices.DeleteFunc(shown, func(i int) bool { return i == last })
	}
	for room, wider := left(), true; room > 0 && wider; { // what is left, one by one
		wider = false
		for _, i := range shown {
			if room > 0 && widths[i] < wanted[i] {
				widths[i]++
				room--
				wider = true
			}
		}
	}
	for k := len(shown) - 1; k >= 0 && left() < 0; k-- { // narrower than what is always shown
		widths[shown[k]] = max(1, widths[shown[k]]+left())
	}
	return shown, widths
}

// shorten cuts a text to a width, with an ellipsis.
func shorten(text string, width int, path bool, on Terminal) string {
	if displaywidth.String(text) <= width {
		return text
	}
	dots := "…"
	if !on.UTF8 && width > 3 {
		dots = "..."
	} else if !on.UTF8 {
		dots = "."
	}
	if !path {
		return displaywidth.TruncateString(text, width, dots)
	}
	rest, over := text, displaywidth.String(text)-(width-len([]rune(dots)))
	for g := displaywidth.StringGraphemes(text); over > 0 && g.Next(); {
		rest, over = rest[len(g.Value()):], over-g.Width()
	}
	return dots + rest
}

// Ago says how long something is past, in one unit: "12s ago", "3m ago", "2h ago", "5d ago". What
// lies in the future, as by another machine's clock, is "now".
func Ago(d time.Duration) string {
	if d < time.Second {
		return "now"
	}
	return Brief(d) + " ago"
}

// Brief is a duration in its largest unit, rounded down, from "0s" to days.
func Brief(d time.Duration) string {
	const day = 24 * time.Hour
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < day:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/day)
}

// tilde is a path with ~ for the user's home folder.
func tilde(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "" || home == string(os.PathSeparator) {
		return path
	}
	home = strings.TrimSuffix(home, string(os.PathSeparator))
	if rest, ok := strings.CutPrefix(path, home); ok &&
		(rest == "" || os.IsPathSeparator(rest[0])) {
		return "~" + rest
	}
	return path
}
