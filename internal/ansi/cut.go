package ansi

import (
	"bytes"
	"unicode/utf8"
)

// Kind says what a piece of output is.
type Kind byte

const (
	// Characters are outside of sequences, control characters included. Those within an escape or
	// control sequence are executed there, and come before it.
	Characters Kind = iota
	Escape          // ESC and a final byte; the data has the intermediates and that byte
	CSI             // a control sequence; the data follows ESC [
	OSC             // an operating system command; the data is its text, without control characters
	Skipped         // DCS, SOS, PM, APC, and any sequence that was aborted or is too long; no data
	None            // the output ended within a sequence
)

// A Cutter splits output into text and complete escape sequences. It ends sequences where engine/vt
// does: a non-ASCII character aborts all except strings, which CAN and SUB also end. As there, only
// 7-bit C1 controls are recognized. Output may be split anywhere; apart from where one text ends
// and the next begins, the pieces are the same. The zero value is ready to use.
type Cutter struct {
	state state
	data  []byte // of the current sequence
}

// maxData bounds the data of a sequence, in bytes. Browsers agree on links of at most 2 KiB; xterm
// takes 30 parameters.
const maxData = 8 << 10

type state byte

const (
	ground       state = iota
	escape             // ESC came
	intermediate       // ESC and an intermediate: a final byte follows
	csi                // ESC [
	osc                // ESC ]
	str                // DCS, SOS, PM, APC
	oscEscape          // ESC within an OSC: of ST, or of another sequence
	strEscape          // ESC within another string
)

const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	del = 0x7f
)

// Next takes the first piece of p, whose data is valid until the next call.
func (c *Cutter) Next(p []byte) (kind Kind, data, rest []byte) {
	if c.state == ground {
		switch n := bytes.IndexByte(p, esc); {
		case n < 0:
			return Characters, p, nil
		case n > 0:
			return Characters, p[:n], p[n:]
		}
		c.begin(escape)
		p = p[1:]
	}
	for i, b := range p {
		rest = p[i+1:]
		switch inString := c.state >= osc; {
		case c.state >= oscEscape && b == '\\':
			return c.end(c.state == oscEscape, OSC, rest)
		case c.state >= oscEscape:
			c.begin(escape)
			return Skipped, nil, p[i:]
		case inString && b == esc:
			c.state += oscEscape - osc
		case b == esc:
			c.begin(escape)
			return Skipped, nil, rest
		case b == can, b == sub:
			return c.end(false, Skipped, rest)
		case inString && c.state == osc && b == bel:
			return c.end(true, OSC, rest)
		case inString:
			if c.state == osc && b >= ' ' && b != del {
				c.keep(b)
			}
		case b >= utf8.RuneSelf:
			return c.end(false, Skipped, p[i:])
		case b < ' ':
			return Characters, p[i : i+1], rest
		case b == del:
		case c.state == escape && opens[b] != ground:
			c.begin(opens[b])
		default:
			c.keep(b)
			switch {
			case c.state == csi && b >= '@':
				return c.end(true, CSI, rest)
			case c.state != csi && b >= '0':
				return c.end(true, Escape, rest)
			case c.state == escape:
				c.state = intermediate
			}
		}
	}
	return None, nil, nil
}

// opens is what ESC and a byte begin.
var opens = [del]state{'[': csi, ']': osc, 'P': str, 'X': str, '^': str, '_': str}

func (c *Cutter) begin(s state) { c.state, c.data = s, c.data[:0] }

func (c *Cutter) keep(b byte) {
	if len(c.data) <= maxData {
		c.data = append(c.data, b)
	}
}

// end finishes a sequence: complete, or aborted.
func (c *Cutter) end(whole bool, kind Kind, left []byte) (_ Kind, data, rest []byte) {
	c.state = ground
	if !whole || len(c.data) > maxData {
		return Skipped, nil, left
	}
	return kind, c.data, left
}
