package ansi

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"
)

const (
	// maxEdited is how long a line may be, in bytes, to be overwritten. Progress bars are as wide
	// as a screen; with longer lines each byte of a hostile program could move the whole line. In a
	// longer line a carriage return ends it.
	maxEdited = 4 << 10
	// maxMoved bounds how many spaces one cursor movement to the right adds: a terminal stops at
	// its margin.
	maxMoved = 200
)

// A Plain makes plain text of a program's terminal output: no control sequences, lines end in LF,
// and an overwritten line, such as a progress bar, appears in its final state. It is not a
// terminal: what a full-screen program draws appears line by line, in the order in which it was
// drawn.
//
// The text is UTF-8 whatever the program writes: a character that is split between writes is held
// back until the rest comes, and invalid bytes become U+FFFD, one for each maximal subpart (Unicode
// 16.0, section 3.9).
//
// The text is the same however the output is split into writes. The zero value is ready to use.
type Plain struct {
	Raw bool // keep control sequences and carriage returns
	// Most is how long a line may grow, in bytes; at that length it is ended. 0: no limit.
	Most int

	text []byte
	line int // where in text the unfinished line begins
	at   int // where the next character goes; len(text) unless something moved it back
	// broken: a carriage return after more than maxEdited bytes, which ends the line unless a line
	// feed comes
	broken bool

	cut  Cutter
	last rune // what REP repeats

	split  [utf8.UTFMax]byte // an unfinished character
	nsplit int
}

// Write adds program output.
func (p *Plain) Write(b []byte) {
	for len(b) > 0 {
		kind, data, rest := Characters, b, []byte(nil)
		if !p.Raw {
			kind, data, rest = p.cut.Next(b)
		}
		b = rest
		switch kind {
		case Characters:
			p.characters(data)
			continue
		case None:
			return
		}
		if p.nsplit > 0 { // a sequence leaves it incomplete
			p.nsplit = 0
			p.take(utf8.RuneError)
		}
		switch {
		case kind == CSI:
			p.sequence(data)
		case kind == Escape && (data[0] == 'D' || data[0] == 'E'): // IND, NEL
			p.lineFeed()
		case kind == Escape && data[0] == 'M': // RI
			p.leaveLine()
		}
	}
}

// characters adds the characters outside of sequences.
func (p *Plain) characters(b []byte) {
	if p.nsplit > 0 {
		b = append(p.split[:p.nsplit:p.nsplit], b...)
		p.nsplit = 0
	}
	for len(b) > 0 {
		if n := p.run(b); n > 0 {
			b = b[n:]
			continue
		}
		if !utf8.FullRune(b) {
			p.nsplit = copy(p.split[:], b)
			return
		}
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			n = InvalidLen(b)
		}
		p.take(r)
		b = b[n:]
	}
}

// Text returns the text so far, including the unfinished line. It is valid until the next call.
func (p *Plain) Text() []byte { return p.text }

// Held returns the replacement for a character that will not be completed any more, or nothing.
func (p *Plain) Held() string {
	if p.nsplit > 0 {
		return string(utf8.RuneError)
	}
	return ""
}

// Lines removes the finished lines from the text and returns them.
func (p *Plain) Lines() string {
	lines := string(p.text[:p.line])
	p.Drop(p.line)
	return lines
}

// run adds the plain ASCII at the head of b at once, and returns its length.
func (p *Plain) run(b []byte) int {
	if p.at != len(p.text) || p.broken {
		return 0
	}
	most := len(b)
	if p.Most > 0 {
		most = min(most, p.Most-(len(p.text)-p.line))
	}
	n := 0
	for n < most && b[n] >= ' ' && b[n] < del {
		n++
	}
	if n > 0 {
		p.last = rune(b[n-1])
		p.add(b[:n]...)
	}
	return n
}

// add appends to the line when the cursor is at its end.
func (p *Plain) add(b ...byte) {
	p.text = append(p.text, b...)
	if p.at = len(p.text); p.Most > 0 && p.at-p.line >= p.Most {
		p.lineFeed()
	}
}

// take takes one character, or a control.
func (p *Plain) take(r rune) {
	switch {
	case p.Raw:
		p.text = utf8.AppendRune(p.text, r)
		p.line, p.at = len(p.text), len(p.text)
	case r < ' ' || r == del:
		p.control(r)
	case r < utf8.RuneSelf || r >= 0xa0: // C1 controls are not characters
		p.graphic(r)
	}
}

// graphic writes one character.
func (p *Plain) graphic(r rune) {
	if p.broken {
		p.lineFeed()
	}
	p.last = r
	var b [utf8.UTFMax]byte
	n := utf8.EncodeRune(b[:], r)
	if p.at == len(p.text) {
		p.add(b[:n]...)
		return
	}
	_, old := utf8.DecodeRune(p.text[p.at:])
	p.text = slices.Replace(p.text, p.at, p.at+old, b[:n]...)
	p.at += n
}

func (p *Plain) control(r rune) {
	switch r {
	case '\n', '\v', '\f':
		p.lineFeed()
	case '\r':
		if len(p.text)-p.line > maxEdited {
			p.broken = true
			return
		}
		p.at = p.line
	case '\b':
		p.back(1)
	case '\t':
		if p.broken {
			p.lineFeed()
		}
		if p.at == len(p.text) {
			p.add('\t')
			return
		}
		p.tab()
	}
}

// tab moves to the next tab stop in a line that is being overwritten. An existing tab counts for
// the columns up to its own stop.
func (p *Plain) tab() {
	column, stop := 0, 0
	for i, r := range string(p.text[p.line:]) {
		if p.line+i == p.at {
			stop = (column/8 + 1) * 8
		}
		if stop > 0 && column >= stop {
			p.at = p.line + i
			return
		}
		column++
		if r == '\t' {
			column = (column + 7) / 8 * 8
		}
	}
	p.at = len(p.text)
	p.forward(max(stop-column, 0))
}

// lineFeed ends the line after its last character, wherever in it the cursor is.
func (p *Plain) lineFeed() {
	p.text = append(p.text, '\n')
	p.line, p.at, p.broken = len(p.text), len(p.text), false
}

// leaveLine is a movement to another row: later output does not belong to this line.
func (p *Plain) leaveLine() {
	if len(p.text) > p.line {
		p.lineFeed()
	}
}

// back moves the cursor to the left, except in a line too long to be overwritten.
func (p *Plain) back(n int) {
	if len(p.text)-p.line > maxEdited {
		return
	}
	for ; n > 0 && p.at > p.line; n-- {
		_, size := utf8.DecodeLastRune(p.text[p.line:p.at])
		p.at -= size
	}
}

// forward moves it to the right; past the line's end that adds spaces.
func (p *Plain) forward(n int) {
	for n = min(n, maxMoved); n > 0; n-- {
		if p.at == len(p.text) {
			p.add(' ')
			continue
		}
		_, size := utf8.DecodeRune(p.text[p.at:])
		p.at += size
	}
}

// sequence applies a control sequence's effect on one line.
func (p *Plain) sequence(seq []byte) {
	params, final := seq[:len(seq)-1], seq[len(seq)-1]
	n, err := strconv.Atoi(string(params))
	if err != nil {
		n = 0
		if len(params) > 0 && final != 'H' && final != 'f' {
			return // a private one, or with several parameters: none of those below
		}
	}
	count := max(n, 1)
	switch final {
	case 'C', 'a':
		p.forward(count)
	case 'D':
		p.back(count)
	case 'G', '`':
		if len(p.text)-p.line <= maxEdited {
			p.at = p.line
			p.forward(count - 1)
		}
	case 'K':
		p.erase(n)
	case 'J':
		if n == 0 {
			p.erase(0)
		}
	case 'b':
		if p.last != 0 {
			for range min(count, maxMoved) {
				p.graphic(p.last)
			}
		}
	case 'A', 'B', 'E', 'F', 'H', 'f', 'd':
		p.leaveLine()
	}
}

// erase is EL, except in a line too long to be overwritten: 0 to the line's end, 1 up to the
// cursor, 2 all of it.
func (p *Plain) erase(what int) {
	if len(p.text)-p.line > maxEdited {
		return
	}
	switch what {
	case 0:
		p.text = p.text[:p.at]
	case 1:
		blank := bytes.Repeat([]byte(" "), utf8.RuneCount(p.text[p.line:p.at]))
		p.text = slices.Replace(p.text, p.line, p.at, blank...)
		p.at = p.line + len(blank)
	case 2: // later text starts at the line's beginning: a CR nearly always accompanies it
		p.text, p.at = p.text[:p.line], p.line
	}
}

// Drop removes the first n bytes of the text, which end with a character.
func (p *Plain) Drop(n int) {
	p.text = append(p.text[:0], p.text[n:]...)
	p.line, p.at = max(p.line-n, 0), max(p.at-n, 0)
}
