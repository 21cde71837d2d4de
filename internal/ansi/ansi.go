// Package ansi makes text of what a program wrote to a terminal, without a terminal: escape
// sequences are cut out, and that is all. What a program drew over stands there twice; for what
// stood on the screen there is engine/vt.
//
// It is no promise to other programs: see package engine for those.
package ansi

import (
	"strings"
	"unicode/utf8"
)

// A Stripper cuts escape sequences out of output, one that never ends included. Everything else
// stays, control characters too. Output may be cut anywhere; see [Cutter]. The zero value is ready.
type Stripper struct{ cut Cutter }

// Append appends what stays of p to dst.
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

// Strip cuts the escape sequences out of a text; see [Stripper].
func Strip(text string) string {
	if strings.IndexByte(text, esc) < 0 {
		return text
	}
	var s Stripper
	return string(s.Append(make([]byte, 0, len(text)), []byte(text)))
}

// Valid is output as UTF-8: what belongs to no character becomes U+FFFD, one for each maximal
// subpart (Unicode 16.0, section 3.9).
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

// InvalidLen returns how many bytes at the head of p, which does not begin with a whole character,
// are one maximal subpart of an ill-formed sequence: p[0] and those that follow as long as they
// could still have become one character. What stands for them is one U+FFFD (Unicode 16.0, section
// 3.9).
func InvalidLen(p []byte) int {
	n := 1
	for n < len(p) && n < utf8.UTFMax && !utf8.FullRune(p[:n]) {
		n++
	}
	if n > 1 && utf8.FullRune(p[:n]) {
		n-- // the last byte is what broke it
	}
	return n
}
