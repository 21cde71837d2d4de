package testreport

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/internal/ansi"
)

// shownText makes a text safe to show anywhere: without escape sequences; line feeds stay, and other
// characters that would do something are shown by their codes.
func shownText(s string) string {
	return cli.Clean(ansi.Strip(strings.ToValidUTF8(s, "\ufffd")))
}

// oneLine is shownText on one line.
func oneLine(s string) string { return strings.ReplaceAll(shownText(s), "\n", `\n`) }

// visible writes what was typed, control characters by the names of their keys, and at most so many
// characters.
func visible(s string, most int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > most {
			b.WriteString("…")
			break
		}
		switch {
		case r == '\r' || r == '\n':
			b.WriteString("⏎")
		case r == '\t':
			b.WriteString("⇥")
		case r < ' ':
			b.WriteString("^" + string(r+'@'))
		case r == 0x7f:
			b.WriteString("⌫")
		case r == utf8.RuneError || !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// clip shortens a text to so many bytes, at the end of a line where there is one.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = strings.ToValidUTF8(s[:most], "")
	if i := strings.LastIndexByte(s, '\n'); i > most/2 {
		s = s[:i+1]
	}
	return s + "…\n"
}
