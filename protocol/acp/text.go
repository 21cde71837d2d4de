package acp

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine"
)

const (
	// maxEdited is how long a line may be, in bytes, to be written over. Progress bars are as wide as a screen; with
	// longer lines a hostile program could have each of its bytes move all of the line. Behind one that is longer a
	// carriage return ends the line.
	maxEdited = 4 << 10
	// maxMoved bounds what one movement of the cursor to the right adds, in spaces: a terminal stops at its margin.
	maxMoved = columns
	// maxParams is how many bytes of a control sequence's parameters are kept: what we read has one number.
	maxParams = 16
)

// parser states: where in a control sequence (ECMA-48) the text is.
const (
	ground = iota
	escape
	escapeMore // behind an intermediate byte of an escape sequence
	csi
	str    // OSC, DCS, SOS, PM, APC: until ST; an OSC also until BEL
	strEsc // an ESC in one: ST, or the beginning of something else
)

// A plain makes plain text of what a program writes to a terminal: no control sequences, lines that end in LF, and a line
// that was written over as it was left, as of a progress bar. It is no terminal: what a full-screen program draws comes
// one line below the other, in the order in which it was drawn.
//
// Text is UTF-8 whatever the program writes: a character that is cut in two between writes is held back until the rest
// comes, and bytes that belong to no character become U+FFFD, one for each maximal subpart (Unicode 16.0, section 3.9).
//
// The text is the same however the output is cut into writes. The zero value is ready.
type plain struct {
	text []byte
	raw  bool // control sequences stay, and so do carriage returns

	line   int // where in text the unfinished line begins
	at     int // where the next character goes; len(text) unless something moved it back
	broken bool
	// broken: a carriage return behind a line over maxEdited, which ends it unless a line feed comes first

	state  int
	osc    bool
	params []byte
	last   rune // what REP repeats

	split  [utf8.UTFMax]byte // an unfinished character
	nsplit int
}

// write adds what the program wrote.
func (p *plain) write(b []byte) {
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
			n = engine.InvalidLen(b)
		}
		p.take(r)
		b = b[n:]
	}
}

// held returns what stands for a character that will not be completed any more: nothing when there is none.
func (p *plain) held() string {
	if p.nsplit > 0 {
		return string(utf8.RuneError)
	}
	return ""
}

// run adds the plain ASCII at the head of b at once, and returns how much that was.
func (p *plain) run(b []byte) int {
	if p.state != ground || p.at != len(p.text) || p.broken {
		return 0
	}
	n := 0
	for n < len(b) && b[n] >= ' ' && b[n] < 0x7f {
		n++
	}
	if n > 0 {
		p.text = append(p.text, b[:n]...)
		p.at = len(p.text)
		p.last = rune(b[n-1])
	}
	return n
}

// take takes one character, or a control.
func (p *plain) take(r rune) {
	if p.raw {
		p.text = utf8.AppendRune(p.text, r)
		p.line, p.at = len(p.text), len(p.text)
		return
	}
	switch {
	case r == 0x1b:
		if p.state == str {
			p.state = strEsc
			return
		}
		p.state = escape
		return
	case r == 0x18, r == 0x1a: // CAN and SUB end any sequence
		p.state = ground
		return
	}
	switch p.state {
	case str:
		if r == 0x07 && p.osc || r == 0x9c {
			p.state = ground
		}
		return
	case strEsc:
		p.state = escape
		if r == '\\' {
			p.state = ground
			return
		}
	}
	if r < ' ' || r == 0x7f { // executed also inside of a sequence
		p.control(r)
		return
	}
	switch p.state {
	case escape:
		p.escaped(r)
	case escapeMore:
		if r >= 0x30 {
			p.state = ground
		}
	case csi:
		if r < 0x40 {
			if len(p.params) < maxParams {
				p.params = append(p.params, byte(r))
			}
			return
		}
		p.state = ground
		if r < 0x7f {
			p.sequence(byte(r))
		}
	default:
		p.graphic(r)
	}
}

// escaped takes the character behind an ESC.
func (p *plain) escaped(r rune) {
	p.state = ground
	switch {
	case r == '[':
		p.state, p.params = csi, p.params[:0]
	case r == ']', r == 'P', r == 'X', r == '^', r == '_':
		p.state, p.osc = str, r == ']'
	case r < 0x30:
		p.state = escapeMore
	case r == 'D', r == 'E': // IND, NEL
		p.lineFeed()
	case r == 'M': // RI
		p.leaveLine()
	}
}

// graphic writes one character. C1 controls are none.
func (p *plain) graphic(r rune) {
	if r >= 0x80 && r < 0xa0 {
		return
	}
	if p.broken {
		p.lineFeed()
	}
	p.last = r
	if p.at == len(p.text) {
		p.text = utf8.AppendRune(p.text, r)
		p.at = len(p.text)
		return
	}
	_, old := utf8.DecodeRune(p.text[p.at:])
	var b [utf8.UTFMax]byte
	n := utf8.EncodeRune(b[:], r)
	p.text = slices.Replace(p.text, p.at, p.at+old, b[:n]...)
	p.at += n
}

func (p *plain) control(r rune) {
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
			p.text = append(p.text, '\t')
			p.at = len(p.text)
			return
		}
		p.tab()
	}
}

// tab moves to the next tab stop in a line that is written over. A tab that was written there stands for the columns up to
// its own.
func (p *plain) tab() {
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

// lineFeed ends the line behind its last character, wherever in it the cursor stands.
func (p *plain) lineFeed() {
	p.text = append(p.text, '\n')
	p.line, p.at, p.broken = len(p.text), len(p.text), false
}

// leaveLine is a movement to another row: what is written next does not belong to this line.
func (p *plain) leaveLine() {
	if len(p.text) > p.line {
		p.lineFeed()
	}
}

// back moves the cursor to the left, not in a line that is too long to be written over.
func (p *plain) back(n int) {
	if len(p.text)-p.line > maxEdited {
		return
	}
	for ; n > 0 && p.at > p.line; n-- {
		_, size := utf8.DecodeLastRune(p.text[p.line:p.at])
		p.at -= size
	}
}

// forward moves it to the right; behind the line's end that leaves spaces.
func (p *plain) forward(n int) {
	for n = min(n, maxMoved); n > 0; n-- {
		if p.at == len(p.text) {
			p.text = append(p.text, ' ')
			p.at = len(p.text)
			continue
		}
		_, size := utf8.DecodeRune(p.text[p.at:])
		p.at += size
	}
}

// sequence carries out what a control sequence means for one line.
func (p *plain) sequence(final byte) {
	n, err := strconv.Atoi(string(p.params))
	if err != nil {
		n = 0
		if len(p.params) > 0 && final != 'H' && final != 'f' {
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

// erase is EL: 0 to the line's end, 1 up to the cursor, 2 all of it.
func (p *plain) erase(what int) {
	switch what {
	case 0:
		p.text = p.text[:p.at]
	case 1:
		blank := bytes.Repeat([]byte(" "), utf8.RuneCount(p.text[p.line:p.at]))
		p.text = slices.Replace(p.text, p.line, p.at, blank...)
		p.at = p.line + len(blank)
	case 2: // what comes is written from the line's beginning: nearly always a CR stands beside it
		p.text, p.at, p.broken = p.text[:p.line], p.line, false
	}
}

// drop forgets the first n bytes of the text, which end with a character.
func (p *plain) drop(n int) {
	p.text = append(p.text[:0], p.text[n:]...)
	p.line, p.at = max(p.line-n, 0), max(p.at-n, 0)
}
