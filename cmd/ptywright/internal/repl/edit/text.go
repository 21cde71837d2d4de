// Package edit is a line editor: it reads keys from a terminal and returns the entered text, with
// history, search, completion, highlighting, several lines and wide characters. [New] is the entry
// point.
//
// One goroutine does everything, the caller of [Editor.Line]: it handles keys, sizes and notices as
// they arrive and redraws the whole input after each. So a notice never meets half a drawing, and a
// resize is just another reason to draw. The editor wraps the rows itself, at the terminal's width,
// so it always knows which row the cursor is on and never has to ask the terminal, whose answer
// would mix with the input.
package edit

import (
	"strings"
	"unicode"

	"github.com/clipperhouse/displaywidth"
)

// tabWidth is the number of columns shown for a tab.
const tabWidth = 4

// width is the columns of a single character, as terminals count: zero for one that joins the one
// before.
func width(r rune) int {
	switch {
	case r == '\t':
		return tabWidth
	case r < ' ' || r == 0x7f:
		return 0
	}
	return displaywidth.Rune(r)
}

// Width is the columns of a text without line feeds.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += width(r)
	}
	return n
}

// Cut returns the start of s that fits into cols columns, with an ellipsis for the rest.
func Cut(s string, cols int) string {
	if Width(s) <= cols {
		return s
	}
	n := 0
	for i, r := range s {
		if n += width(r); n > cols-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// clean removes from a paste everything but text, line feeds and tabs.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// A buffer is the text being edited. The cursor is before a character, never between one and what
// joins it.
type buffer struct {
	text   []rune
	cursor int
}

// next is where the character at i ends.
func (b *buffer) next(i int) int {
	if i >= len(b.text) {
		return len(b.text)
	}
	for i++; i < len(b.text) && b.text[i] != '\n' && width(b.text[i]) == 0; i++ {
	}
	return i
}

// prev is where the character before i begins.
func (b *buffer) prev(i int) int {
	if i <= 0 {
		return 0
	}
	for i--; i > 0 && b.text[i] != '\n' && width(b.text[i]) == 0; i-- {
	}
	return i
}

// insert types text at the cursor.
func (b *buffer) insert(s string) { b.replace(b.cursor, b.cursor, s) }

// replace replaces the text between two positions with s, and moves the cursor after it.
func (b *buffer) replace(from, to int, s string) {
	tail := append([]rune(s), b.text[to:]...)
	b.text = append(b.text[:from:from], tail...)
	b.cursor = from + len([]rune(s))
}

// cut removes the text between two positions and returns it.
func (b *buffer) cut(from, to int) string {
	gone := string(b.text[from:to])
	b.replace(from, to, "")
	return gone
}

// lineStart and lineEnd bound the line that i is on.
func (b *buffer) lineStart(i int) int {
	for i > 0 && b.text[i-1] != '\n' {
		i--
	}
	return i
}

func (b *buffer) lineEnd(i int) int {
	for i < len(b.text) && b.text[i] != '\n' {
		i++
	}
	return i
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// wordStart is where the word before i begins, wordEnd where the word after i ends.
func (b *buffer) wordStart(i int) int {
	for i > 0 && !inWord(b.text[i-1]) {
		i--
	}
	for i > 0 && inWord(b.text[i-1]) {
		i--
	}
	return i
}

func (b *buffer) wordEnd(i int) int {
	for i < len(b.text) && !inWord(b.text[i]) {
		i++
	}
	for i < len(b.text) && inWord(b.text[i]) {
		i++
	}
	return i
}

// blankStart is where the non-blank text before i begins, for Ctrl-W.
func (b *buffer) blankStart(i int) int {
	for i > 0 && unicode.IsSpace(b.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(b.text[i-1]) {
		i--
	}
	return i
}

// vertical moves the cursor up or down by a line, and reports whether there was one. The column is
// kept if possible.
func (b *buffer) vertical(up bool) bool {
	start := b.lineStart(b.cursor)
	col := Width(string(b.text[start:b.cursor]))
	var to int
	switch end := b.lineEnd(b.cursor); {
	case up && start > 0:
		to = b.lineStart(start - 1)
	case !up && end < len(b.text):
		to = end + 1
	default:
		return false
	}
	for end, n := b.lineEnd(to), 0; to < end; {
		after := b.next(to)
		if n += Width(string(b.text[to:after])); n > col {
			break
		}
		to = after
	}
	b.cursor = to
	return true
}
