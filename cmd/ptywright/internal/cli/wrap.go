package cli

import (
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

// shownWidth is a text's width without its escape sequences.
func shownWidth(text string) int {
	return displaywidth.Options{ControlSequences: true}.String(text)
}
