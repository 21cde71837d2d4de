package repl

import (
	"strings"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/repl/edit"
)

// keywords are Lua's.
var keywords = map[string]bool{
	"and": true, "break": true, "do": true, "else": true, "elseif": true, "end": true,
	"false": true, "for": true, "function": true, "if": true, "in": true, "local": true,
	"nil": true, "not": true, "or": true, "repeat": true, "return": true, "then": true,
	"true": true, "until": true, "while": true,
}

// A token is a part of a Lua text: a name, a number, a string, a comment, or one character.
type token struct {
	kind       byte // n, 0, ", - or the character itself
	start, end int
}

// scan splits a text into tokens, whatever it contains: an unfinished one reaches to the end.
func scan(s string) []token {
	var all []token
	for i := 0; i < len(s); {
		start, kind := i, s[i]
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case strings.HasPrefix(s[i:], "--"):
			kind = '-'
			if n, ok := long(s[i+2:]); ok {
				i += 2 + n
			} else if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(s)
			}
		case c == '"' || c == '\'':
			kind = '"'
			for i++; i < len(s) && s[i] != c && s[i] != '\n'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(s))
		case c == '[':
			if n, ok := long(s[i:]); ok {
				kind, i = '"', i+n
			} else {
				i++
			}
		case c >= '0' && c <= '9':
			for kind = '0'; i < len(s) && (nameByte(s[i]) || s[i] == '.'); i++ {
			}
		case nameByte(c):
			for kind = 'n'; i < len(s) && nameByte(s[i]); i++ {
			}
		default:
			i++
		}
		all = append(all, token{kind, start, i})
	}
	return all
}

func nameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// long measures a long bracket, [[...]] or [==[...]==], at the start of s.
func long(s string) (n int, ok bool) {
	if s == "" || s[0] != '[' {
		return 0, false
	}
	level := 1
	for level < len(s) && s[level] == '=' {
		level++
	}
	if level >= len(s) || s[level] != '[' {
		return 0, false
	}
	closing := "]" + s[1:level] + "]"
	if end := strings.Index(s[level+1:], closing); end >= 0 {
		return level + 1 + end + len(closing), true
	}
	return len(s), true
}

// highlight colours a line.
func (c *console) highlight(text string) []edit.Span {
	if !c.style {
		return nil
	}
	if strings.HasPrefix(strings.TrimSpace(text), ":") {
		end := strings.IndexAny(strings.TrimLeft(text, " \t"), " \t\n")
		if end < 0 {
			end = len(text)
		} else {
			end += len(text) - len(strings.TrimLeft(text, " \t"))
		}
		return []edit.Span{{Start: 0, End: end, SGR: cli.Blue}}
	}
	var spans []edit.Span
	for _, t := range scan(text) {
		sgr := ""
		switch t.kind {
		case '"':
			sgr = cli.Green
		case '-':
			sgr = cli.Dim
		case '0':
			sgr = cli.Cyan
		case 'n':
			if keywords[text[t.start:t.end]] {
				sgr = "35"
			}
		}
		if sgr != "" {
			spans = append(spans, edit.Span{Start: t.start, End: t.end, SGR: sgr})
		}
	}
	return spans
}
