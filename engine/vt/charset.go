package vt

// A charset is what a G set holds (ISO 2022). Only sets that programs still use are mapped; any
// other counts as ASCII.
type charset uint8

const (
	charsetASCII charset = iota
	charsetGraphics
	charsetUK
)

// charsets are the four G sets and which of them is in use.
type charsets struct {
	g      [4]charset
	gl     uint8
	single uint8 // SS2, SS3: for the next character only; 0 for none
}

func (c *charsets) active() charset {
	if c.single != 0 {
		return c.g[c.single]
	}
	return c.g[c.gl]
}

// graphics is the DEC Special Graphics set, 0x5f-0x7e (DEC STD 070, table 5-14).
var graphics = [...]rune{
	' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼',
	'⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

func (c charset) translate(b byte) rune {
	switch {
	case c == charsetGraphics && b >= 0x5f && b <= 0x7e:
		return graphics[b-0x5f]
	case c == charsetUK && b == '#':
		return '£'
	}
	return rune(b)
}

// designate is SCS: final byte to set.
func (c *charsets) designate(g int, final byte) {
	switch final {
	case '0', '2':
		c.g[g] = charsetGraphics
	case 'A':
		c.g[g] = charsetUK
	default:
		c.g[g] = charsetASCII
	}
}
