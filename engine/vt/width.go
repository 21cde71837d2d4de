package vt

//go:generate go run gen_tables.go

// props returns what the tables know of r: width, grapheme class, wide with U+FE0F, narrow with
// U+FE0E.
func props(r rune) byte {
	if uint32(r) >= uint32(len(pageOf))<<7 {
		return 1
	}
	return runeProps[int(pageOf[r>>7])<<7|int(r&127)]
}

const (
	propWidth      = 0x03
	propClassShift = 2
	propClassMask  = 0x0f
	propEmojiWide  = 0x40
	propTextNarrow = 0x80
)

// runeWidth returns the columns of r on its own, as wcwidth counts with current Unicode: 0 for
// combining marks and format characters, 2 for East Asian Wide, Fullwidth and emoji.
func runeWidth(r rune) int { return int(props(r) & propWidth) }

// A joint is the state of the grapheme cluster rules (UAX #29, GB3-GB13) after the last printed
// character. The zero joint is a boundary.
type joint struct {
	class     byte
	open      bool  // a character was printed and only styling came since
	pict      bool  // pictographic, then any number of extenders: GB11
	regionals bool  // an odd number of regional indicators: GB12, GB13
	conjunct  uint8 // GB9c: 1 after a consonant, 2 when a linker followed
}

// joins reports whether a character of class c continues the cluster.
func (j joint) joins(c byte) bool {
	if !j.open {
		return false
	}
	switch c {
	case classExtend, classExtendPlain, classLinker, classZWJ, classSpacingMark: // GB9, GB9a
		return j.class != classControl
	case classControl:
		return false
	}
	switch j.class {
	case classPrepend: // GB9b
		return true
	case classL: // GB6
		return c == classL || c == classV || c == classLV || c == classLVT
	case classLV, classV: // GB7
		return c == classV || c == classT
	case classLVT, classT: // GB8
		return c == classT
	}
	switch c {
	case classConsonant:
		return j.conjunct == 2
	case classPictographic:
		return j.pict && j.class == classZWJ
	case classRegional:
		return j.regionals
	}
	return false
}

// after returns the state after a character of class c; joined reports whether it continued the
// cluster.
func (j joint) after(c byte, joined bool) joint {
	n := joint{class: c, open: true}
	switch c {
	case classPictographic:
		n.pict = true
	case classExtend, classExtendPlain, classLinker, classZWJ:
		n.pict = joined && j.pict && j.class != classZWJ
		switch {
		case !joined || j.conjunct == 0 || c == classExtendPlain:
		case c == classLinker:
			n.conjunct = 2
		default:
			n.conjunct = j.conjunct
		}
	case classRegional:
		n.regionals = !joined || !j.regionals // one that joined a Prepend is the first of a pair
	case classConsonant:
		n.conjunct = 1
	}
	return n
}
