package vt

import "strconv"

// sgr is SGR: ECMA-48 8.3.117, ITU-T T.416 for colours, kitty's underline styles.
func (t *Terminal) sgr() {
	s := &t.parser
	p := &t.pen
	if s.nParams == 0 {
		*p = pen{attr: p.attr & attrProtected}
		return
	}
	for i := 0; i < s.nParams; i++ {
		v := s.params[i]
		if int(v) >= len(sgrTable) {
			v = 10 // the default font: nothing
		}
		// Sub-parameters belong to the parameter before them.
		sub := 0
		if s.colon != 0 {
			for i+sub+1 < s.nParams && s.colon>>(i+sub+1)&1 != 0 {
				sub++
			}
		}
		c := &sgrTable[v]
		if sub > 0 && c.op != sgrUnderline && c.op != sgrExtended { // none is defined for the others
			i += sub
			continue
		}
		switch c.op {
		case sgrAttr:
			p.attr = p.attr&^c.off | c.on
		case sgrForeground:
			p.fg = c.on
		case sgrBackground:
			p.bg = c.on
		case sgrUnderline:
			if sub == 0 {
				p.attr = p.attr&^attrUnderlineMask | attrUnderline0
			} else if u := s.params[i+1]; u <= 5 {
				p.attr = p.attr&^attrUnderlineMask | uint32(u)<<attrUnderlineShift
			}
		case sgrExtended:
			c, used, ok := s.colour(i, sub)
			if sub == 0 {
				i += used
			}
			if !ok {
				break
			}
			switch v {
			case 38:
				p.fg = uint32(c)
			case 48:
				p.bg = uint32(c)
			default:
				p.underline = c
			}
		case sgrUnderlineDefault:
			p.underline = 0
		case sgrReset:
			*p = pen{attr: p.attr & attrProtected}
		}
		i += sub
	}
}

type sgrOp uint8

const (
	sgrNone             sgrOp = iota
	sgrAttr                   // take off's attributes away and add on's
	sgrForeground             // set it to on
	sgrBackground             // set it to on
	sgrUnderline              // its sub-parameter is the style
	sgrExtended               // a colour in more parameters or sub-parameters
	sgrUnderlineDefault       // the colour of underlines
	sgrReset
)

// sgrTable is what each parameter does.
var sgrTable = func() (table [223]struct {
	op      sgrOp
	off, on uint32
}) {
	for v, c := range sgrChange {
		if c.off|c.on != 0 {
			table[v].op, table[v].off, table[v].on = sgrAttr, c.off, c.on
		}
	}
	table[0].op, table[4].op, table[59].op = sgrReset, sgrUnderline, sgrUnderlineDefault
	for _, v := range []int{38, 48, 58} {
		table[v].op = sgrExtended
	}
	for _, first := range []int{30, 90} { // foreground, ten above them background
		for i := range 8 {
			c := colorIndexed | uint32(i)
			if first == 90 {
				c += 8 // the bright ones
			}
			table[first+i].op, table[first+i].on = sgrForeground, c
			table[first+10+i].op, table[first+10+i].on = sgrBackground, c
		}
	}
	table[39].op, table[49].op = sgrForeground, sgrBackground // 0: the default
	return table
}()

// sgrChange is what some parameters do to the attributes.
var sgrChange = [...]struct{ off, on uint32 }{
	1:  {0, attrBold},
	2:  {0, attrDim},
	3:  {0, attrItalic},
	5:  {0, attrBlink},
	6:  {0, attrBlink},
	7:  {0, attrInverse},
	8:  {0, attrHidden},
	9:  {0, attrStrike},
	21: {attrUnderlineMask, attrUnderline1}, // double
	22: {attrBold | attrDim, 0},
	23: {attrItalic, 0},
	24: {attrUnderlineMask, 0},
	25: {attrBlink, 0},
	27: {attrInverse, 0},
	28: {attrHidden, 0},
	29: {attrStrike, 0},
	53: {0, attrOverline},
	55: {attrOverline, 0},

	221: {attrBold, 0}, // kitty: 22 takes both away
	222: {attrDim, 0},
}

// colour reads what follows 38, 48 or 58 at parameter i: 5;n or 2;r;g;b, or with sub sub-parameters
// 5:n, 2:r:g:b or 2:space:r:g:b. used is the number of parameters consumed.
func (s *parser) colour(i, sub int) (c Color, used int, ok bool) {
	rest := s.params[i+1 : s.nParams]
	if sub > 0 {
		rest = rest[:sub]
	}
	if len(rest) == 0 {
		return 0, 0, false
	}
	switch rest[0] {
	case 5:
		if len(rest) < 2 {
			return 0, len(rest), false
		}
		return IndexedColor(uint8(rest[1])), 2, rest[1] <= 255
	case 2:
		v := rest[1:]
		if sub > 4 { // the colour space comes first
			v = v[1:]
		}
		if len(v) < 3 {
			return 0, len(rest), false
		}
		return RGBColor(uint8(v[0]), uint8(v[1]), uint8(v[2])), 4, v[0] <= 255 && v[1] <= 255 && v[2] <= 255
	}
	return 0, 1, false
}

// appendSGR appends the parameters that produce the pen, for DECRQSS.
func (p *pen) appendSGR(b []byte) []byte {
	b = append(b, '0')
	for _, c := range [...]struct {
		bit  uint32
		code string
	}{{attrBold, ";1"}, {attrDim, ";2"}, {attrItalic, ";3"}, {attrBlink, ";5"}, {attrInverse, ";7"}, {attrHidden, ";8"},
		{attrStrike, ";9"}, {attrOverline, ";53"}} {
		if p.attr&c.bit != 0 {
			b = append(b, c.code...)
		}
	}
	switch u := p.attr & attrUnderlineMask >> attrUnderlineShift; u {
	case 0:
	case 1:
		b = append(b, ";4"...)
	default:
		b = strconv.AppendUint(append(b, ";4:"...), uint64(u), 10)
	}
	b = appendColour(b, Color(p.fg), 30, 38)
	b = appendColour(b, Color(p.bg), 40, 48)
	return appendColour(b, p.underline, 0, 58)
}

// SGR returns the parameters of SGR that set the style, whatever was set before: "0;1;31". The link
// is not among them.
func (s Style) SGR() string {
	p := pen{fg: uint32(s.Foreground), bg: uint32(s.Background), underline: s.UnderlineColor,
		attr: uint32(s.Underline) << attrUnderlineShift}
	for _, a := range [...]struct {
		on  bool
		bit uint32
	}{{s.Bold, attrBold}, {s.Dim, attrDim}, {s.Italic, attrItalic}, {s.Blink, attrBlink},
		{s.Inverse, attrInverse}, {s.Hidden, attrHidden}, {s.Strike, attrStrike},
		{s.Overline, attrOverline}} {
		if a.on {
			p.attr |= a.bit
		}
	}
	return string(p.appendSGR(nil))
}

func appendColour(b []byte, c Color, low, extended int) []byte {
	i, indexed := c.Index()
	r, g, bl, rgb := c.RGB()
	num := func(sep byte, n int) { b = strconv.AppendInt(append(b, sep), int64(n), 10) }
	switch {
	case indexed && low != 0 && i < 8:
		num(';', low+int(i))
	case indexed && low != 0 && i < 16:
		num(';', low+60+int(i)-8)
	case indexed:
		num(';', extended)
		num(':', 5)
		num(':', int(i))
	case rgb:
		num(';', extended)
		num(':', 2)
		b = append(b, ':')
		num(':', int(r))
		num(':', int(g))
		num(':', int(bl))
	}
	return b
}
