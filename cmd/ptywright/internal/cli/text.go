package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Clean makes text safe to show: line feeds stay, tabs become blanks, and other characters that
// would move the cursor or change colours or text direction are shown by their codes.
func Clean(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteRune(r)
		case r == '\t':
			b.WriteString("    ")
		case r < ' ' || r >= 0x7f && r < 0xa0:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unicode.IsPrint(r) || unicode.Is(unicode.Mn, r) || r == 0x200d || r == 0xfe0f ||
			r == '\u00a0' || r == '\u3000':
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Words joins the words that stand behind a session or a file on a command line into the text that
// they are, as echo does: several blanks need quotes. All commands that take a text there
// do it so; a flag says it where the words may mean something else, too.
func Words(words ...string) string { return strings.Join(words, " ") }

// OneLine is [Clean] for text that must stay on one line.
func OneLine(s string) string { return strings.ReplaceAll(Clean(s), "\n", `\n`) }

// PrintLines prints rows of a screen. Rows from our instances contain no control characters.
func PrintLines(w io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, Quiet(line)); err != nil {
			return err
		}
	}
	return nil
}

// Quiet replaces control characters, which the rows of a screen do not have.
func Quiet(line string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return '�'
		}
		return r
	}, line)
}
