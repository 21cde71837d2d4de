package help

import (
	"html"
	"iter"
	"strings"
	"unicode"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/internal/lazy"
)

// A pageLine is a line of a page; code says that it stands in a fenced block, or fences one.
type pageLine struct {
	text string
	code bool
}

// proseLines are the lines of a page.
func proseLines(text string) iter.Seq[pageLine] {
	return func(yield func(pageLine) bool) {
		fenced := false
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			fence := strings.HasPrefix(strings.TrimSpace(line), "```")
			if !yield(pageLine{line, fenced || fence}) {
				return
			}
			fenced = fenced != fence
		}
	}
}

// headingLevel is 1 for "# text", 0 for what is no heading.
func headingLevel(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n == 0 || n > 6 || !strings.HasPrefix(line[n:], " ") {
		return 0
	}
	return n
}

// anchorOf is how links name a heading, as code hosts make it.
func anchorOf(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimLeft(heading, "# ")) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			b.WriteRune(r)
		}
	}
	return b.String()
}

// A renderer turns a page into text for a terminal.
type renderer struct {
	out  strings.Builder
	on   cli.Terminal
	cols int
	held []string // lines of a paragraph or an item, not written yet
	hang string   // before its lines but the first
	rows [][]string
}

// render is a page for a terminal: paragraphs filled, headings, code and emphasis as the terminal
// shows them, tables as wide as it is. It knows the Markdown that the pages are written in.
func render(text string, on cli.Terminal) string {
	r := &renderer{on: on, cols: min(on.Cols, readable)}
	for line := range proseLines(text) {
		r.line(line)
	}
	r.end()
	return r.out.String()
}

func (r *renderer) line(l pageLine) {
	trimmed := strings.TrimSpace(l.text)
	if !strings.HasPrefix(trimmed, "|") || l.code {
		r.table()
	}
	switch {
	case l.code:
		r.end()
		if !strings.HasPrefix(trimmed, "```") {
			r.out.WriteString("    " + r.on.Style.As(cli.Green, cli.OneLine(l.text)) + "\n")
		}
	case trimmed == "":
		r.end()
		r.out.WriteString("\n")
	case picture().MatchString(trimmed): // one for dark and one for light pages: what it shows is said
		if m := alt().FindStringSubmatch(trimmed); m != nil {
			r.held = append(r.held, "["+html.UnescapeString(m[1])+"]")
		}
	case headingLevel(l.text) > 0:
		r.end()
		r.out.WriteString(r.words(cli.Bold, strings.TrimLeft(l.text, "# ")) + "\n")
	case strings.HasPrefix(trimmed, "|"):
		r.end()
		r.rows = append(r.rows, cellsOf(trimmed))
	case item().MatchString(l.text):
		r.end()
		mark := item().FindString(l.text)
		r.hang = strings.Repeat(" ", len(mark))
		r.held = []string{l.text}
	default:
		r.held = append(r.held, trimmed)
	}
}

var (
	item = lazy.Regexp(`^ *(?:[-*]|\d+\.) +`)
	span = lazy.Regexp("!?\\[([^\\]]*)\\]\\(([^)]*)\\)|`([^`]+)`|\\*\\*([^*]+)\\*\\*")
	// picture is a line of a picture that is written as HTML, and alt what such a line says of it.
	picture = lazy.Regexp(`^</?(?:picture|source|img)\b[^>]*>$`)
	alt     = lazy.Regexp(`\balt="([^"]*)"`)
	// bar is a | between cells, rather than one in a cell, which is written \|.
	bar = lazy.Regexp(`(?:[^\\])\|`)
)

// end writes the paragraph or item that was read, and a table.
func (r *renderer) end() {
	if r.held == nil {
		return
	}
	text := r.inline(strings.Join(r.held, " "))
	r.out.WriteString(cli.Wrap(text, r.cols, len(r.hang)) + "\n")
	r.held, r.hang = nil, ""
}

// inline styles code, emphasis and links. A link into these pages shows where ptywright docs finds
// it.
func (r *renderer) inline(text string) string {
	return span().ReplaceAllStringFunc(text, func(s string) string {
		m := span().FindStringSubmatch(s)
		switch {
		case m[3] != "":
			if !r.on.Style {
				return s
			}
			return r.words(cli.Cyan, m[3])
		case m[4] != "":
			return r.words(cli.Bold, m[4])
		case strings.HasPrefix(s, "!"):
			return "[" + m[1] + "]"
		}
		label := r.inline(m[1])
		switch target := m[2]; {
		case strings.HasPrefix(target, "http"):
			return label + " <" + target + ">"
		default:
			return label
		}
	})
}

// words styles each word by itself, so that wrapped lines are whole.
func (r *renderer) words(sgr, text string) string {
	all := strings.Split(text, " ")
	for i, w := range all {
		all[i] = r.on.Style.As(sgr, w)
	}
	return strings.Join(all, " ")
}

// cellsOf are the cells of a table's row.
func cellsOf(row string) []string {
	row = strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|")
	var cells []string
	for row != "" {
		cell := row
		if at := bar().FindStringIndex(row); at != nil {
			cell, row = row[:at[1]-1], row[at[1]:]
		} else {
			row = ""
		}
		cells = append(cells, strings.ReplaceAll(strings.TrimSpace(cell), `\|`, "|"))
	}
	return cells
}

// table writes a table: each row as its first cell with the others below it, which any terminal has
// room for.
func (r *renderer) table() {
	rows := r.rows
	r.rows = nil
	if len(rows) < 2 {
		return
	}
	titles := rows[0]
	for _, row := range rows[2:] { // behind the titles and their line
		for i, cell := range row {
			switch {
			case cell == "":
			case i == 0:
				r.out.WriteString(cli.Wrap("  "+r.words(cli.Bold, r.inline(cell)), r.cols, 2) + "\n")
			default:
				if len(row) > 2 && i < len(titles) && titles[i] != "" {
					cell = titles[i] + ": " + cell
				}
				r.out.WriteString(cli.Wrap("      "+r.inline(cell), r.cols, 0) + "\n")
			}
		}
	}
}
