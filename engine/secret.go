package engine

import (
	"unicode"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/pty"
)

// A secretLine gathers what is typed while a program reads a secret, as the terminal does until the
// line ends. The zero value is ready. It is not safe for concurrent use.
type secretLine struct {
	line  []byte
	from  int // where the answer to the newest question begins
	asked int
}

// Reset drops what was typed.
func (l *secretLine) Reset() { l.line, l.from = l.line[:0], 0 }

// Empty reports whether nothing of a line has been typed.
func (l *secretLine) Empty() bool { return len(l.line) == 0 }

// Note takes what is typed while no secret is read. A program that asks may switch echo off only
// after the answer was begun: then the whole line is a secret, if its end is typed under
// [secretLine.Type].
func (l *secretLine) Note(p []byte) {
	for _, c := range p {
		switch {
		// The end of a line, an interrupt, or a key: what was typed is used.
		case c == '\r', c == '\n', c == 0x03, c == 0x1b:
			l.Reset()
		case c == 0x7f, c == '\b':
			l.erase()
		case len(l.line) < pty.MaxLine:
			l.line = append(l.line, c)
		}
	}
}

// Type takes what is typed under a mode, as the answer to the question numbered asked, and passes
// each line to tell when its end is in p: before that is typed, so that nothing the program does
// with it is seen first. A line begun under an earlier question is passed whole and without that
// beginning: a program may or may not discard what was typed before it asks.
func (l *secretLine) Type(p []byte, mode pty.LineMode, asked int, tell func(ways ...string)) {
	if asked != l.asked {
		l.asked, l.from = asked, len(l.line)
	}
	for _, c := range p {
		switch {
		case c == '\n', c == '\r' && mode.CRToNL, c != 0 &&
			(c == mode.EOF || c == mode.EOL || c == mode.EOL2):
			if l.from > 0 && l.from < len(l.line) {
				tell(string(l.line), string(l.line[l.from:]))
			} else {
				tell(string(l.line))
			}
			l.Reset()
		case c != 0 &&
			(c == mode.Kill || mode.Signals &&
				(c == mode.Interrupt || c == mode.Quit || c == mode.Suspend)):
			l.Reset() // a signal discards what is typed too
		case c != 0 && c == mode.Erase:
			l.erase()
		case c != 0 && c == mode.WordErase:
			l.eraseWord()
		case len(l.line) < pty.MaxLine:
			l.line = append(l.line, c)
		}
	}
}

// erase removes the last character.
func (l *secretLine) erase() {
	_, n := utf8.DecodeLastRune(l.line)
	l.line = l.line[:len(l.line)-n]
	l.from = min(l.from, len(l.line))
}

// eraseWord removes the last word and what follows it, as Linux does.
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
