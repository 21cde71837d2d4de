package vt

import (
	"bytes"
	"unicode/utf8"
)

// keep adds to the current string. Invalid UTF-8 becomes U+FFFD as in text, so a string is the
// same whether its bytes come from the program or from a transcript. Strings that are skipped are
// not kept.
func (s *parser) keep(p []byte) {
	if s.state == stateSkip {
		return
	}
	u := &s.utf8
	for len(p) > 0 {
		if u.need > 0 {
			if !u.next(p[0]) {
				u.need = 0
				s.add(replacement)
				continue
			}
			if p = p[1:]; u.need == 0 {
				var buf [utf8.UTFMax]byte
				s.add(utf8.AppendRune(buf[:0], u.r))
			}
			continue
		}
		n := validLen(p)
		s.add(p[:n])
		if p = p[n:]; len(p) > 0 {
			if !u.start(p[0]) {
				s.add(replacement)
			}
			p = p[1:]
		}
	}
}

// keepLast is keep at the end of the string: a character that was begun will not be finished.
func (s *parser) keepLast(p []byte) {
	s.keep(p)
	if s.utf8.need > 0 {
		s.utf8.need = 0
		s.add(replacement)
	}
}

// replacement is U+FFFD, which stands for invalid UTF-8.
var replacement = []byte("\uFFFD")

// validLen returns how many bytes at the start of p are whole characters.
func validLen(p []byte) int {
	i := 0
	for i < len(p) {
		if n := asciiLen(p[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		i += n
	}
	return i
}

// add adds whole characters to the current string, up to its bound. A string that was cut takes no
// more.
func (s *parser) add(p []byte) {
	if s.strLong {
		return
	}
	if n := len(clipboardPrefix) - len(s.str); n > 0 { // its kind is determined by its beginning
		n = min(n, len(p))
		s.str = append(s.str, p[:n]...)
		p = p[n:]
	}
	limit := stringMax
	if s.state == stateOSC && bytes.HasPrefix(s.str, clipboardPrefix) {
		limit = clipboardMax
	}
	if n := limit - len(s.str); len(p) > n {
		for n > 0 && !utf8.RuneStart(p[n]) {
			n--
		}
		p, s.strLong = p[:n], true
	}
	s.str = append(s.str, p...)
}
