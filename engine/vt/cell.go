package vt

import "strconv"

// A cell is one column of one row, 16 bytes without pointers, so that rows are copied, cleared and
// compared as plain memory and the garbage collector does not look into them. The zero cell is
// blank in the default style.
//
// lo: content in the low 32 bits, foreground above. hi: background in the low 32 bits, attributes
// above. Content is 0 (never written, or erased), a rune, or clusterBit with the place of a longer
// text in the row's arena.
type cell struct{ lo, hi uint64 }

const (
	attrBold uint32 = 1 << iota
	attrDim
	attrItalic
	attrBlink
	attrInverse
	attrHidden
	attrStrike
	attrOverline
	attrUnderline0 // three bits of UnderlineStyle
	attrUnderline1
	attrUnderline2
	attrProtected    // DECSCA: selective erase leaves it
	attrWide         // first column of a two-column character
	attrContinuation // second column of a two-column character
	attrSpacer       // last column, left blank when a wide character wrapped whole: not part of the line
)

const (
	attrUnderlineShift = 8
	attrUnderlineMask  = attrUnderline0 | attrUnderline1 | attrUnderline2
	// attrStyle are the attributes that a Style shows.
	attrStyle = attrBold | attrDim | attrItalic | attrBlink | attrInverse | attrHidden | attrStrike | attrOverline | attrUnderlineMask
	// The upper half of the attributes holds 1 + the index of the cell's extra in row.extras; 0 is
	// none.
	attrExtraShift = 16
	attrExtraMask  = 0xffff << attrExtraShift
)

// clusterBit marks content that does not fit one rune: bits 7-30 are the offset of the UTF-8 text
// in the row's arena, bits 0-6 its length. 127 bytes hold a base character and maxMarks marks.
const (
	clusterBit     = 1 << 31
	clusterLenBits = 7
	clusterLenMax  = 1<<clusterLenBits - 1
	clusterOffMax  = 1<<(31-clusterLenBits) - 1
)

func makeCell(content, fg, bg, attr uint32) cell {
	return cell{uint64(content) | uint64(fg)<<32, uint64(bg) | uint64(attr)<<32}
}

func (c cell) content() uint32 { return uint32(c.lo) }
func (c cell) fg() uint32      { return uint32(c.lo >> 32) }
func (c cell) bg() uint32      { return uint32(c.hi) }
func (c cell) attr() uint32    { return uint32(c.hi >> 32) }

// A Color is the terminal's default, one of 256 palette entries, or 24-bit RGB.
// The zero Color is the default.
type Color uint32

const (
	colorIndexed = 1 << 24
	colorRGB     = 2 << 24
)

// IndexedColor returns entry i of the 256-colour palette.
func IndexedColor(i uint8) Color { return Color(colorIndexed | uint32(i)) }

// RGBColor returns a 24-bit colour.
func RGBColor(r, g, b uint8) Color {
	return Color(colorRGB | uint32(r)<<16 | uint32(g)<<8 | uint32(b))
}

// IsDefault reports whether c is the terminal's default colour.
func (c Color) IsDefault() bool { return c == 0 }

// Index returns the palette entry of c, and whether c is one.
func (c Color) Index() (uint8, bool) { return uint8(c), c>>24 == 1 }

// RGB returns the parts of a 24-bit colour, and whether c is one.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c>>24 == 2
}

// String returns "default", "idx:N" or "rgb:R:G:B" with decimal parts.
func (c Color) String() string {
	b, _ := c.AppendText(nil)
	return string(b)
}

// AppendText appends what String returns. The error is always nil.
func (c Color) AppendText(b []byte) ([]byte, error) {
	part := func(shift int) { b = strconv.AppendUint(b, uint64(c>>shift&0xff), 10) }
	switch c >> 24 {
	case 1:
		b = append(b, "idx:"...)
		part(0)
	case 2:
		b = append(b, "rgb:"...)
		part(16)
		b = append(b, ':')
		part(8)
		b = append(b, ':')
		part(0)
	default:
		b = append(b, "default"...)
	}
	return b, nil
}

// UnderlineStyle is the parameter of SGR 4:n.
type UnderlineStyle uint8

const (
	UnderlineNone UnderlineStyle = iota
	UnderlineSingle
	UnderlineDouble
	UnderlineCurly
	UnderlineDotted
	UnderlineDashed
)

// String returns "none", "single", "double", "curly", "dotted" or "dashed".
func (u UnderlineStyle) String() string {
	names := [...]string{"none", "single", "double", "curly", "dotted", "dashed"}
	if int(u) < len(names) {
		return names[u]
	}
	return "none"
}

// A Style is how a cell is drawn. It is comparable: an encoder can keep what it made of one Style
// and compare the next with ==, or use it as a map key. The zero Style is the default.
type Style struct {
	Foreground, Background, UnderlineColor                      Color
	Bold, Dim, Italic, Inverse, Strike, Hidden, Blink, Overline bool
	Underline                                                   UnderlineStyle
	// Link is the URI of an OSC 8 hyperlink: at most 2 KiB, no control or bidi characters. Text of
	// the program: redact it like the screen.
	Link string
}

// A Cell is one column of a Screen.
type Cell struct {
	// Text is the character with its combining marks, "" for a cell that is empty (never written,
	// or erased; a space that was printed is " ") and for the second column of a wide character.
	Text string
	// Wide reports whether the character takes this column and the next.
	Wide bool
	// Continuation reports whether this is the second column of a wide character.
	Continuation bool
	Style        Style
}

// styleOf makes the Style of a cell of row r.
func (r *row) styleOf(c cell) Style {
	a := c.attr()
	if c.lo>>32 == 0 && c.bg() == 0 && a&(attrStyle|attrExtraMask) == 0 {
		return Style{}
	}
	s := Style{
		Foreground: Color(c.fg()), Background: Color(c.bg()),
		Bold: a&attrBold != 0, Dim: a&attrDim != 0, Italic: a&attrItalic != 0, Inverse: a&attrInverse != 0,
		Strike: a&attrStrike != 0, Hidden: a&attrHidden != 0, Blink: a&attrBlink != 0, Overline: a&attrOverline != 0,
		Underline: UnderlineStyle(a & attrUnderlineMask >> attrUnderlineShift),
	}
	if x := r.extraOf(c); x != nil {
		s.UnderlineColor, s.Link = x.underline, x.link
	}
	return s
}

// asciiText holds the one-character strings, so that reading an ASCII cell allocates nothing.
var asciiText = func() (t [128]string) {
	for i := range t {
		t[i] = string(rune(i))
	}
	return t
}()

// text returns the characters of a cell of row r.
func (r *row) text(c cell) string {
	ch := c.content()
	switch {
	case ch == 0: // never written, erased, or the second column of a wide character
		return ""
	case ch < 128:
		return asciiText[ch]
	case ch&clusterBit != 0:
		return string(r.cluster(ch))
	}
	return string(rune(ch))
}
