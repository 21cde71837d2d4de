package journal

import (
	"strings"
	"unicode/utf8"

	"github.com/ptywright/ptywright/internal/ansi"
)

// A stripper keeps the text of terminal output: no escape sequences, no control characters but tab
// and line feed. A backspace removes the character before it. Output may be cut anywhere. It is not
// a terminal: redrawn text appears twice.
type stripper struct {
	sequences ansi.Stripper
	text      []byte // without sequences, of the last call
}

// append appends the text of p to dst. Nothing before dst[from] is removed.
func (s *stripper) append(dst []byte, from int, p []byte) []byte {
	s.text = s.sequences.Append(s.text[:0], p)
	for p = s.text; len(p) > 0; p = p[1:] {
		n := 0
		for n < len(p) && p[n] >= ' ' && p[n] != 0x7f {
			n++
		}
		dst = append(dst, p[:n]...)
		if p = p[n:]; len(p) == 0 {
			break
		}
		switch p[0] {
		case '\n', '\t':
			dst = append(dst, p[0])
		case '\b':
			dst = takeBack(dst, from)
		}
	}
	return dst
}

// takeBack removes the last character after dst[from], unless that is the end of a line.
func takeBack(dst []byte, from int) []byte {
	if len(dst) == from || dst[len(dst)-1] == '\n' {
		return dst
	}
	_, n := utf8.DecodeLastRune(dst[from:])
	return dst[:len(dst)-n]
}

// plain is stripped text as valid UTF-8, without the control characters that are two bytes there
// (C1).
func plain(text []byte) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(text), "\uFFFD"))
}
