package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A word is one argument of a verb: pieces that stand as they are, and variables between them.
type word struct {
	pieces []piece
	col    int  // where it begins in its line, from 0
	bare   bool // it has neither quotes nor variables
}

// A piece of a word: text, or the name of a variable.
type piece struct {
	text     string
	variable bool
}

// expand returns the word with its variables' values.
func (w word) expand(value func(name string) string) string {
	var b strings.Builder
	for _, p := range w.pieces {
		if p.variable {
			b.WriteString(value(p.text))
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// plain returns a word without variables; ok is false for others.
func (w word) plain() (text string, ok bool) {
	ok = true
	text = w.expand(func(name string) string { ok = false; return name })
	return text, ok
}

// A wordError is an error in a line, with its place.
type wordError struct {
	col int // from 0
	msg string
}

func (e *wordError) Error() string { return e.msg }

// wordsOf splits a line, from a byte on, into words: they are separated by blanks; what stands in
// 'single quotes' is as it is, with two of them for one; in "double quotes" it is as in Go; and elsewhere
// $NAME and ${NAME} are variables. A # at the beginning of a word begins a comment.
func wordsOf(line string, at int) ([]word, error) {
	var out []word
	for {
		for at < len(line) && isBlank(line[at]) {
			at++
		}
		if at == len(line) || line[at] == '#' {
			return out, nil
		}
		w := word{col: at}
		var err error
		if at, err = w.read(line, at); err != nil {
			return nil, err
		}
		w.bare = !strings.ContainsAny(line[w.col:at], `'"$`)
		out = append(out, w)
	}
}

// shellWords are those that a shell takes for its own when they are not quoted.
var shellWords = []string{"&&", "||", "|", ">", ">>", "<", "&", ";", "2>", "2>&1", "&>"}

// shellNote is what people should know of the words of a command: those that look like a shell's are
// arguments of the program. "" where none does.
func shellNote(words []word) string {
	for _, w := range words {
		text, _ := w.plain()
		if w.bare && (slices.Contains(shellWords, text) || len(text) > 1 && strings.HasSuffix(text, ";")) {
			return fmt.Sprintf("%s is an argument of the program, since no shell reads the line: sh -c '...' runs one",
				text)
		}
	}
	return ""
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// read reads the word that begins at a byte and returns where it ends.
func (w *word) read(line string, at int) (int, error) {
	var plain strings.Builder
	begun := false // plain is a piece, if an empty one
	add := func(text string) {
		plain.WriteString(text)
		begun = true
	}
	finish := func() {
		if begun {
			w.pieces = append(w.pieces, piece{text: plain.String()})
			plain.Reset()
			begun = false
		}
	}
	for at < len(line) && !isBlank(line[at]) {
		switch line[at] {
		case '\'':
			begin := at
			add("")
			for at++; ; at++ {
				if at == len(line) {
					return 0, &wordError{begin, "a single quote is not closed"}
				}
				if line[at] == '\'' {
					if at++; at == len(line) || line[at] != '\'' {
						break
					}
				}
				_, n := utf8.DecodeRuneInString(line[at:])
				add(line[at : at+n])
				at += n - 1
			}
		case '"':
			q, err := strconv.QuotedPrefix(line[at:])
			if err != nil {
				return 0, &wordError{at, "a double quote is not closed, or holds an escape that Go " +
					"does not have: single quotes take everything as it is"}
			}
			text, _ := strconv.Unquote(q) // it is a quoted text
			add(text)
			at += len(q)
		case '$':
			name, n := variable(line[at:])
			if n == 0 {
				add("$")
				at++
				break
			}
			if name == "" {
				return 0, &wordError{at, "a variable has no name, or its brace is not closed: $NAME or ${NAME}"}
			}
			finish()
			w.pieces = append(w.pieces, piece{name, true})
			at += n
		default:
			_, n := utf8.DecodeRuneInString(line[at:])
			add(line[at : at+n])
			at += n
		}
	}
	finish()
	return at, nil
}

// variable reads $NAME or ${NAME}, which takes n bytes; n is 0 for a dollar sign alone, and name ""
// for braces that are wrong.
func variable(s string) (name string, n int) {
	rest, braces := strings.CutPrefix(s[1:], "{")
	end := 0
	for end < len(rest) && (rest[end] == '_' || 'a' <= rest[end]|0x20 && rest[end]|0x20 <= 'z' ||
		end > 0 && '0' <= rest[end] && rest[end] <= '9') {
		end++
	}
	switch {
	case braces && end > 0 && end < len(rest) && rest[end] == '}':
		return rest[:end], end + 3
	case braces:
		return "", 2
	case end == 0:
		return "", 0
	}
	return rest[:end], end + 1
}

// uncommented returns a line, from a byte on, without its comment and the blanks at its ends, and
// where that begins. Within quotes, and within an expression that begins a word or stands behind a
// parenthesis, # begins no comment.
func uncommented(line string, at int) (text string, begin int) {
	for at < len(line) && isBlank(line[at]) {
		at++
	}
	end := at
	for i := at; i < len(line); i++ {
		first := i == at || isBlank(line[i-1]) || line[i-1] == '('
		switch c := line[i]; {
		case c == '#' && first:
			return strings.TrimRight(line[at:i], " \t"), at
		case c == '\'':
			if n := strings.IndexByte(line[i+1:], '\''); n >= 0 {
				i += n + 1
			}
		case c == '"':
			if q, err := strconv.QuotedPrefix(line[i:]); err == nil {
				i += len(q) - 1
			}
		case c == '/' && first:
			if n := closing(line[i:]); n > 0 {
				i += n
			}
		}
		end = min(i+1, len(line))
	}
	return strings.TrimRight(line[at:end], " \t"), at
}

// closing returns where the slash is that closes an expression; 0: nowhere.
func closing(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '/':
			return i
		}
	}
	return 0
}

// A Size is a terminal's.
type Size struct{ Rows, Cols int }

// String returns rows and columns: "24x80".
func (s Size) String() string { return fmt.Sprintf("%dx%d", s.Rows, s.Cols) }
