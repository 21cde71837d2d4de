package remote

import (
	"strings"
	"unicode/utf8"
)

// lineBound is how long a line may grow before it is handed over without its end, in bytes. A program that never ends a
// line costs no more.
const lineBound = 64 << 10

// A Plain makes text of output: without escape sequences and control characters other than line feed and tab, as lines. A
// carriage return begins the line anew and a backspace takes a character away, as a progress bar or an edited line has
// it; what moves the cursor in other ways is for a screen, not for lines. Any cut of the same output comes out the same.
// The zero value is ready. It is not for several goroutines.
type Plain struct {
	line    []byte // the unfinished one
	bare    bool   // a carriage return came: more text begins the line anew
	state   plainState
	partial []byte // the first bytes of a character
}

type plainState byte

const (
	ground   plainState = iota
	escape              // ESC came
	between             // ESC and an intermediate: a final byte is to come
	sequence            // of CSI
	text                // of OSC, DCS, SOS, PM, APC: until BEL or ST
	textEnd             // ESC within
)

// Write takes more output and returns the lines that it completes, each with its line feed.
func (p *Plain) Write(output string) string {
	var out strings.Builder
	for i := range len(output) {
		p.take(output[i], &out)
	}
	return out.String()
}

// Rest returns the unfinished line.
func (p *Plain) Rest() string {
	rest := string(p.line)
	p.line, p.bare, p.partial = nil, false, nil
	return rest
}

func (p *Plain) take(c byte, out *strings.Builder) {
	switch p.state {
	case ground:
		p.ground(c, out)
	case escape:
		switch {
		case c == '[':
			p.state = sequence
		case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
			p.state = text
		case c >= 0x20 && c < 0x30:
			p.state = between
		case c != 0x1b:
			p.end(c, out)
		}
	case between:
		if c < 0x20 || c >= 0x30 {
			p.end(c, out)
		}
	case sequence:
		if c >= 0x40 && c < 0x7f || c == 0x1b || c == 0x18 || c == 0x1a {
			p.end(c, out)
		} else if c < 0x20 { // a control character within is performed
			p.ground(c, out)
		}
	case text:
		switch c {
		case 0x07, 0x18, 0x1a:
			p.state = ground
		case 0x1b:
			p.state = textEnd
		}
	case textEnd:
		p.state = ground
		if c != '\\' {
			p.state = escape
			p.take(c, out)
		}
	}
}

// end ends a sequence with its last byte, which may be a control of its own.
func (p *Plain) end(c byte, out *strings.Builder) {
	p.state = ground
	if c == 0x1b {
		p.state = escape
	} else if c < 0x20 {
		p.ground(c, out)
	}
}

// ground takes a byte outside of sequences.
func (p *Plain) ground(c byte, out *strings.Builder) {
	if c < 0x80 {
		p.partial = nil // a character that was cut off is none
	}
	switch {
	case c == 0x1b:
		p.state = escape
	case c == '\n':
		out.Write(p.line)
		out.WriteByte('\n')
		p.line, p.bare = p.line[:0], false
	case c == '\r':
		p.bare = true
	case c == '\b':
		_, n := utf8.DecodeLastRune(p.line)
		p.line = p.line[:len(p.line)-n]
	case c == '\t' || c >= 0x20 && c < 0x7f:
		p.put([]byte{c}, out)
	case c >= 0x80:
		p.partial = append(p.partial, c)
		if r, n := utf8.DecodeRune(p.partial); utf8.FullRune(p.partial) {
			switch {
			case r == utf8.RuneError && n == 1: // not one: what follows may begin another
				rest := p.partial[1:]
				p.partial = nil
				for _, c := range rest {
					p.ground(c, out)
				}
			case r < 0xa0: // C1
				p.partial = nil
				p.state = escape
				p.take(byte(r)-0x40, out)
			default:
				p.put(p.partial, out)
				p.partial = nil
			}
		}
	}
}

func (p *Plain) put(char []byte, out *strings.Builder) {
	if p.bare {
		p.line, p.bare = p.line[:0], false
	}
	p.line = append(p.line, char...)
	if len(p.line) >= lineBound {
		out.Write(p.line)
		out.WriteByte('\n')
		p.line = p.line[:0]
	}
}
