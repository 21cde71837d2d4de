package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// oneLine escapes what would break a line or move a cursor.
func oneLine(s string) string {
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

// printLines prints rows of a screen. Rows from our instances contain no control characters.
func printLines(w io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, quiet(line)); err != nil {
			return err
		}
	}
	return nil
}

// quiet replaces control characters, which the rows of a screen do not have.
func quiet(line string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return '�'
		}
		return r
	}, line)
}
