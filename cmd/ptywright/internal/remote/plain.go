package remote

import (
	"strings"
	"unicode/utf8"

	"github.com/ptywright/ptywright/internal/ansi"
)

// lineBound is how long a line may grow before it is handed over without its end, in bytes. A program that never ends a
// line costs no more.
const lineBound = 64 << 10

// A Plain makes text of output: without escape sequences and control characters other than line feed and tab, as lines. A
// carriage return begins the line anew and a backspace takes a character away, as a progress bar or an edited line has
// it; what moves the cursor in other ways is for a screen, not for lines. Any cut of the same output comes out the same.
// The zero value is ready. It is not for several goroutines.
type Plain struct {
	line      []byte // the unfinished one
	bare      bool   // a carriage return came: more text begins the line anew
	sequences ansi.Stripper
	partial   []byte // the first bytes of a character
}

// Write takes more output and returns the lines that it completes, each with its line feed.
func (p *Plain) Write(output string) string {
	var out strings.Builder
	for _, c := range p.sequences.Append(nil, []byte(output)) {
		p.take(c, &out)
	}
	return out.String()
}

// Rest returns the unfinished line.
func (p *Plain) Rest() string {
	rest := string(p.line)
	p.line, p.bare, p.partial = nil, false, nil
	return rest
}

// take takes a byte outside of sequences.
func (p *Plain) take(c byte, out *strings.Builder) {
	if c < 0x80 {
		p.partial = nil // a character that was cut off is none
	}
	switch {
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
					p.take(c, out)
				}
			case r < 0xa0: // C1: no text, and a terminal may take it for more
				p.partial = nil
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
