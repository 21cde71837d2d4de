package cli

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Colours and weights, as SGR parameters.
const (
	Red, Green, Yellow, Blue, Cyan, Dim, Bold = "31", "32", "33", "34", "36", "2", "1"
)

// A Style colours text, or leaves it alone.
type Style bool

// As is the text with SGR parameters set around it.
func (on Style) As(sgr, text string) string {
	if !on || text == "" || sgr == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[m"
}

// A Terminal is what a stream can show. The zero value is a stream that is not a terminal.
type Terminal struct {
	Cols  int   // columns; 0: not a terminal
	Moves bool  // understands escape sequences that move the cursor and erase
	Style Style // shows colours, and the user has not asked for none
	UTF8  bool  // shows more than ASCII
}

// TerminalOf looks whether a stream, such as [Stdio]'s, is a terminal. TERM=dumb has neither
// movement nor colour; NO_COLOR with any value turns colour off (no-color.org).
func TerminalOf(w io.Writer) Terminal {
	f, _ := w.(*os.File)
	if out, ok := w.(*Output); ok && out != nil {
		f = out.File
	}
	if f == nil || !term.IsTerminal(int(f.Fd())) {
		return Terminal{}
	}
	t := Terminal{Cols: 80, UTF8: utf8Locale()}
	if cols, _, err := term.GetSize(int(f.Fd())); err == nil && cols > 0 {
		t.Cols = cols
	}
	t.Moves = os.Getenv("TERM") != "dumb" && escapes(f)
	t.Style = Style(t.Moves && os.Getenv("NO_COLOR") == "")
	return t
}

// utf8Locale reports whether the environment names a locale of UTF-8, or none at all: terminals
// without one are of systems where it is UTF-8 all the same.
func utf8Locale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := os.Getenv(name); value != "" {
			value = strings.ToLower(value)
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return true
}
