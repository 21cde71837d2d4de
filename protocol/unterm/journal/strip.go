package journal

import (
	"strings"
	"unicode/utf8"
)

// A stripper takes terminal output apart, and keeps what is text: no CSI, OSC, DCS, SOS, PM or APC sequence, charset or other escape,
// no control character but tab and line feed. A backspace takes back the character before it. Output may be cut anywhere.
// It is no terminal: what a program draws over again stands there twice.
type stripper struct {
	state strip
}

type strip byte

const (
	ground strip = iota
	escape
	escapeMore   // behind an intermediate: the designation of a charset
	controlSeq   // CSI
	stringSeq    // OSC, DCS, SOS, PM, APC
	stringEscape // an ESC in one: the first half of ST
)

const (
	esc = 0x1b
	can = 0x18
	sub = 0x1a
)

// append appends the text of p to dst. Nothing before dst[from] is taken back.
func (s *stripper) append(dst []byte, from int, p []byte) []byte {
	for i := 0; i < len(p); i++ {
		c := p[i]
		if s.state == ground {
			n := i
			for n < len(p) && p[n] >= ' ' && p[n] != 0x7f {
				n++
			}
			if dst = append(dst, p[i:n]...); n == len(p) {
				break
			}
			i, c = n, p[n]
		}
		switch {
		case s.state == stringEscape && c == '\\':
			s.state = ground
		case c == esc && s.state == stringSeq:
			s.state = stringEscape
		case c == esc:
			s.state = escape
		case c == can || c == sub:
			s.state = ground
		case s.state == stringSeq:
			if c == '\a' {
				s.state = ground
			}
		case s.state == escape || s.state == stringEscape: // which was no ST, but another sequence
			s.state = afterEscape(c)
		case s.state == escapeMore && c >= ' ':
			if c >= '0' {
				s.state = ground
			}
		case s.state == controlSeq && c >= ' ':
			if c >= '@' && c != 0x7f {
				s.state = ground
			}
		default: // a control character, which is executed within a sequence, too
			switch c {
			case '\n', '\t':
				dst = append(dst, c)
			case '\b':
				dst = takeBack(dst, from)
			}
		}
	}
	return dst
}

func afterEscape(c byte) strip {
	switch {
	case c == '[':
		return controlSeq
	case strings.IndexByte("]PX^_", c) >= 0:
		return stringSeq
	case c >= ' ' && c < '0':
		return escapeMore
	case c < ' ':
		return escape
	}
	return ground
}

// takeBack removes the last character behind dst[from], unless that is the end of a line.
func takeBack(dst []byte, from int) []byte {
	if len(dst) == from || dst[len(dst)-1] == '\n' {
		return dst
	}
	_, n := utf8.DecodeLastRune(dst[from:])
	return dst[:len(dst)-n]
}

// plain is stripped text as valid UTF-8, without the control characters that are two bytes there (C1).
func plain(text []byte) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(text), "\uFFFD"))
}
