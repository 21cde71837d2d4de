package engine

import (
	"unicode"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/pty"
)

// A secretLine gathers what is typed while a program reads a secret, as the terminal does until the line ends. The zero
// value is ready. It is not safe for concurrent use.
type secretLine struct {
	line  []byte
	from  int // where what answers the newest question begins
	asked int
}

// Reset forgets what was typed.
func (l *secretLine) Reset() { l.line, l.from = l.line[:0], 0 }

// Empty reports whether nothing of a line stands typed.
func (l *secretLine) Empty() bool { return len(l.line) == 0 }

// Note takes what is typed while no secret is read. A program that asks may switch echo off only after the answer was begun: then the
// line is a secret, from its beginning, if its end is typed under [secretLine.Type].
func (l *secretLine) Note(p []byte) {
	for _, c := range p {
		switch {
		case c == '\r', c == '\n', c == 0x03, c == 0x1b: // a line's end, an interrupt, or a key: what was typed is used
			l.Reset()
		case c == 0x7f, c == '\b':
			l.erase()
		case len(l.line) < pty.MaxLine:
			l.line = append(l.line, c)
		}
	}
}

// Type takes what is typed under a mode, as the answer to a question that asked counts, and tells each line when its end is in
// p: told before that is typed, nothing that the program does with it is seen first. A line that was begun under an earlier
// question is told whole and without that beginning: a program may, or may not, throw away what was typed before it asks.
func (l *secretLine) Type(p []byte, mode pty.LineMode, asked int, tell func(ways ...string)) {
	if asked != l.asked {
		l.asked, l.from = asked, len(l.line)
	}
	for _, c := range p {
		switch {
		case c == '\n', c == '\r' && mode.CRToNL, c != 0 && (c == mode.EOF || c == mode.EOL || c == mode.EOL2):
			if l.from > 0 && l.from < len(l.line) {
				tell(string(l.line), string(l.line[l.from:]))
			} else {
				tell(string(l.line))
			}
			l.Reset()
		case c != 0 && (c == mode.Kill || mode.Signals && (c == mode.Interrupt || c == mode.Quit || c == mode.Suspend)):
			l.Reset() // a signal throws away what is typed, too
		case c != 0 && c == mode.Erase:
			l.erase()
		case c != 0 && c == mode.WordErase:
			l.eraseWord()
		case len(l.line) < pty.MaxLine:
			l.line = append(l.line, c)
		}
	}
}

// erase takes away the last character.
func (l *secretLine) erase() {
	_, n := utf8.DecodeLastRune(l.line)
	l.line = l.line[:len(l.line)-n]
	l.from = min(l.from, len(l.line))
}

// eraseWord takes away the last word and what is behind it, as Linux does.
func (l *secretLine) eraseWord() {
	word := false
	for len(l.line) > 0 {
		r, _ := utf8.DecodeLastRune(l.line)
		letter := r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
		if word && !letter {
			return
		}
		word = word || letter
		l.erase()
	}
}
