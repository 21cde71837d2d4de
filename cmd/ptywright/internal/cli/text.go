package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// OneLine escapes what would break a line or move a cursor.
func OneLine(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < ' ' || r >= 0x7f && r < 0xa0:
			fmt.Fprintf(&b, `\x%02x`, r)
		case !unicode.IsPrint(r): // such as characters that change the text direction
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

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
