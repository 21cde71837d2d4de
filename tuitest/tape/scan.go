package tape

import (
	"fmt"
	"strings"
	"time"
)

// A scanner cuts a tape into words, as the parser asks for them.
type scanner struct {
	file, text string
	at         int // the next byte
	line       int // of it, from 1
	begin      int // where that line begins
}

// fail is an error at a byte, of this line or one before it.
func (s *scanner) fail(at int, format string, a ...any) *Error {
	line, begin := s.line, s.begin
	if at < begin {
		line -= strings.Count(s.text[at:begin], "\n")
		begin = strings.LastIndexByte(s.text[:at], '\n') + 1
	}
	return &Error{File: s.file, Line: line, Col: at - begin + 1, Msg: fmt.Sprintf(format, a...)}
}

// next goes to the next command and reports whether there is one.
func (s *scanner) next() bool {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '\n':
			s.at++
			s.line, s.begin = s.line+1, s.at
		case ' ', '\t', '\r':
			s.at++
		default:
			return true
		}
	}
	return false
}

// more skips blanks and reports whether something else than a comment stands on this line.
func (s *scanner) more() bool {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t' || s.text[s.at] == '\r') {
		s.at++
	}
	return s.at < len(s.text) && s.text[s.at] != '\n' && s.text[s.at] != '#'
}

// rest takes what is left of the line.
func (s *scanner) rest() string {
	from := s.at
	if n := strings.IndexByte(s.text[from:], '\n'); n >= 0 {
		s.at += n
	} else {
		s.at = len(s.text)
	}
	return strings.TrimRight(s.text[from:s.at], " \t\r")
}

// ends are the bytes that end a word.
const ends = " \t\r\n#\"'`"

// peek returns the word that comes next, "" before a quoted text and at the end of the line.
func (s *scanner) peek() string {
	if !s.more() {
		return ""
	}
	if n := strings.IndexAny(s.text[s.at:], ends); n >= 0 {
		return s.text[s.at : s.at+n]
	}
	return s.text[s.at:]
}

// word takes the word that comes next.
func (s *scanner) word() string {
	w := s.peek()
	s.at += len(w)
	return w
}

// quotes reports whether a quoted text comes next.
func (s *scanner) quotes() bool { return s.more() && strings.IndexByte("\"'`", s.text[s.at]) >= 0 }

// quoted takes a quoted text. Nothing escapes in it.
func (s *scanner) quoted() (string, *Error) {
	from := s.at
	end := strings.IndexByte(s.text[from+1:], s.text[from])
	if line := strings.IndexByte(s.text[from+1:], '\n'); end < 0 || line >= 0 && line < end {
		return "", s.fail(from, "a quote is not closed")
	}
	s.at = from + end + 2
	return s.text[from+1 : from+1+end], nil
}

// text takes a quoted text or a word; what is what it should be.
func (s *scanner) textOrWord(of, what string) (text string, col int, err *Error) {
	if !s.more() {
		return "", 0, s.fail(s.at, "%s wants %s", of, what)
	}
	col = s.at - s.begin + 1
	if s.quotes() {
		text, err = s.quoted()
	} else {
		text = s.word()
	}
	return text, col, err
}

// slashed reports whether an expression between slashes comes next.
func (s *scanner) slashed() bool { return s.more() && s.text[s.at] == '/' }

// regex takes an expression between slashes; a backslash before a slash does not end it.
func (s *scanner) regex() (string, *Error) {
	from := s.at
	for i := from + 1; i < len(s.text) && s.text[i] != '\n'; i++ {
		switch s.text[i] {
		case '\\':
			i++
		case '/':
			s.at = i + 1
			return s.text[from+1 : i], nil
		}
	}
	return "", s.fail(from, "an expression is not closed: it stands between two slashes on one line")
}

// maxJSON bounds a theme, in bytes: one has some 700.
const maxJSON = 16 << 10

// json takes an object of JSON, which may go over several lines.
func (s *scanner) json() (string, *Error) {
	from := s.at
	n := strings.IndexByte(s.text[from:], '}')
	if n < 0 || n > maxJSON {
		return "", s.fail(from, "the braces are not closed")
	}
	text := s.text[from : from+n+1]
	s.at += n + 1
	if lines := strings.Count(text, "\n"); lines > 0 {
		s.line, s.begin = s.line+lines, from+strings.LastIndexByte(text, '\n')+1
	}
	return text, nil
}

// maxTime bounds a time of a tape.
const maxTime = time.Hour

// time takes a time: 2s, 500ms, 1m, 1.5 or .5, which are seconds; the unit may stand by itself.
func (s *scanner) time(of string) (time.Duration, *Error) {
	if !s.more() {
		return 0, s.fail(s.at, "%s wants a time, such as 2s or 500ms", of)
	}
	at := s.at
	w := s.word()
	d, ok := parseTime(w)
	if !ok {
		return 0, s.fail(at, "%s is not a time of up to %v, such as 2s, 500ms, or 1.5, which are seconds",
			quote(w), maxTime)
	}
	if !strings.ContainsAny(w, "ms") {
		switch unit := s.peek(); unit {
		case "ms", "s", "m":
			if d, ok = parseTime(w + unit); !ok {
				return 0, s.fail(at, "%s is over %v", quote(w+unit), maxTime)
			}
			s.word()
		}
	}
	return d, nil
}

// parseTime reads a time without blanks.
func parseTime(s string) (time.Duration, bool) {
	if s == "" || strings.ContainsAny(s, "hnuµ+-_xXeEpPiI") && s != "" {
		return 0, false
	}
	if !strings.ContainsAny(s, "ms") {
		s += "s"
	}
	d, err := time.ParseDuration(s)
	return d, err == nil && d >= 0 && d <= maxTime
}
