// Package ansi makes text of what a program wrote to a terminal, without a terminal: escape
// sequences are cut out, and that is all. What a program drew over stands there twice; for what
// stood on the screen there is engine/vt.
//
// It is no promise to other programs: see package engine for those.
package ansi

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A Stripper cuts escape sequences out of output: CSI, OSC, DCS, SOS, PM, APC and all others that
// begin with ESC, one that never ends included. Everything else stays, control characters too. It
// ends sequences where engine/vt does: control characters within a CSI are executed there and stay
// here, a character that is not ASCII breaks one off. As there, C1 controls are known in their
// 7-bit form alone. Output may be cut anywhere. The zero value is ready.
type Stripper struct{ state state }

type state byte

const (
	ground       state = iota
	escape             // ESC came
	intermediate       // ESC and an intermediate: a final byte is to come
	csi                // ESC [
	osc                // ESC ]: until BEL, CAN, SUB or ESC
	str                // DCS, SOS, PM, APC: until CAN, SUB or ESC
)

const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	del = 0x7f
)

// Append appends what stays of p to dst.
func (s *Stripper) Append(dst, p []byte) []byte {
	for len(p) > 0 {
		switch s.state {
		case ground:
			n := bytes.IndexByte(p, esc)
			if n < 0 {
				return append(dst, p...)
			}
			dst = append(dst, p[:n]...)
			s.state = escape
			p = p[n+1:]
			continue
		case osc, str:
			n := s.skip(p)
			p = p[n:]
			continue
		}
		c := p[0]
		p = p[1:]
		switch {
		case c == esc:
			s.state = escape
		case c == can || c == sub:
			s.state = ground
		case c >= utf8.RuneSelf: // text: the sequence was broken off
			s.state = ground
			dst = append(dst, c)
		case c < ' ':
			dst = append(dst, c)
		case c == del:
		default:
			s.state = s.state.after(c)
		}
	}
	return dst
}

// skip takes the bytes of a control string up to what ends it, and returns how many those are.
func (s *Stripper) skip(p []byte) int {
	for i, c := range p {
		switch {
		case c == esc: // with what follows it is ST, or another sequence
			s.state = escape
			return i + 1
		case c == can, c == sub, c == bel && s.state == osc:
			s.state = ground
			return i + 1
		}
	}
	return len(p)
}

// after is the state behind a printable ASCII character of an escape or control sequence.
func (s state) after(c byte) state {
	switch {
	case s == csi && c < '@', s != csi && c < '0':
		if s == escape {
			return intermediate
		}
		return s
	case s != escape:
		return ground
	}
	switch c {
	case '[':
		return csi
	case ']':
		return osc
	case 'P', 'X', '^', '_':
		return str
	}
	return ground
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
