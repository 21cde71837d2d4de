package cli

import (
	"io"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Wrap breaks a text at blanks into lines of at most cols columns. Each line of the text keeps its
// indentation, and lines that follow from it are indented by hang more; a word that is longer than a
// line has one of its own. cols below 1 is no limit.
func Wrap(text string, cols, hang int) string {
	if cols < 1 {
		return text
	}
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		body := strings.TrimLeft(line, " ")
		indent := len(line) - len(body)
		b.WriteString(line[:indent])
		at, fresh := indent, true
		for len(body) > 0 {
			// A word with the blanks before it: those within a line stay, as behind a full stop.
			word := strings.TrimLeft(body, " ")
			gap := len(body) - len(word)
			if end := strings.IndexByte(word, ' '); end >= 0 {
				word = word[:end]
			}
			body = body[gap+len(word):]
			width := shownWidth(word)
			if !fresh && word != "" && at+gap+width > cols {
				b.WriteString("\n" + strings.Repeat(" ", indent+hang))
				at, gap = indent+hang, 0
			}
			if word != "" {
				b.WriteString(strings.Repeat(" ", gap) + word)
			}
			at, fresh = at+gap+width, false
		}
	}
	return b.String()
}

// Say prints a line for people. On a terminal that is too narrow for it the line is broken at blanks,
// and what follows is indented by hang; elsewhere it is one line, for programs that read lines. The
// error is that of w.
func Say(w io.Writer, line string, hang int) error {
	_, err := io.WriteString(w, Wrap(line, TerminalOf(w).Cols, hang)+"\n")
	return err
}

// Rows puts short texts beside each other, two blanks between them, on as few rows of at most cols
// columns as they need. A text is never divided: one that is wider has a row of its own.
func Rows(texts []string, cols int) (rows []string) {
	width := 0 // of the last row
	for _, text := range texts {
		w := shownWidth(text)
		if len(rows) > 0 && width+len(gap)+w <= cols {
			rows[len(rows)-1] += gap + text
			width += len(gap) + w
			continue
		}
		rows, width = append(rows, text), w
	}
	return rows
}

// shownWidth is a text's width without its escape sequences.
func shownWidth(text string) int {
	return displaywidth.Options{ControlSequences: true}.String(text)
}
