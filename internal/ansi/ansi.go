// Package ansi makes text of a program's terminal output without a terminal: [Strip] removes the
// escape sequences, and nothing more. Text that the program overwrote appears twice; for what was
// on the screen use engine/vt.
//
// It makes no promise to other programs: they use package engine.
package ansi

import (
	"strings"
	"unicode/utf8"
)

// A Stripper removes escape sequences from output, including one that never ends. Everything else
// stays, control characters too. Output may be split anywhere; see [Cutter]. The zero value is
// ready to use.
type Stripper struct{ cut Cutter }

// Append appends what remains of p to dst.
func (s *Stripper) Append(dst, p []byte) []byte {
	for len(p) > 0 {
		kind, text, rest := s.cut.Next(p)
		if kind == Characters {
			dst = append(dst, text...)
		}
		p = rest
	}
	return dst
}

// Strip removes the escape sequences from a text; see [Stripper].
func Strip(text string) string {
	if strings.IndexByte(text, esc) < 0 {
		return text
	}
	var s Stripper
	return string(s.Append(make([]byte, 0, len(text)), []byte(text)))
}

// Valid is output as UTF-8: invalid bytes become U+FFFD, one for each maximal subpart (Unicode
// 16.0, section 3.9).
func Valid(p []byte) string {
	if utf8.Valid(p) {
		return string(p)
	}
	out := make([]byte, 0, len(p)+len(p)/8)
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		if r == utf8.RuneError && n == 1 {
			n = InvalidLen(p)
			out = append(out, "\uFFFD"...)
		} else {
			out = append(out, p[:n]...)
		}
		p = p[n:]
	}
	return string(out)
}

// InvalidLen returns how many bytes at the head of p, which does not begin with a complete
// character, are one maximal subpart of an ill-formed sequence: p[0] and the following ones while
// they could still have become one character. One U+FFFD replaces them (Unicode 16.0, section 3.9).
func InvalidLen(p []byte) int {
	n := 1
	for n < len(p) && n < utf8.UTFMax && !utf8.FullRune(p[:n]) {
		n++
	}
	if n > 1 && utf8.FullRune(p[:n]) {
		n-- // the last byte is the one that broke it
	}
	return n
}
