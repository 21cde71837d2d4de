package vt

import "unicode/utf8"

// The parser follows the state diagram of Paul Flo Williams (vt100.net/emu/dec_ansi_parser),
// preceded by UTF-8 decoding: C1 controls are recognised in their 7-bit form only, bytes 0x80-0x9f
// are parts of characters. Text is taken in runs rather than byte by byte.
type parser struct {
	state state
	utf8  utf8State

	// The current sequence.
	prefix        byte // one of < = > ? or 0
	intermediates [2]byte
	nInter        int
	params        [maxParams]int32
	nParams       int
	colon         uint32 // bit i: parameter i was separated from the one before by a colon
	overflow      bool   // a digit was seen after the last parameter that fits

	// The current string: OSC, DCS or title, cut at stringMax bytes, or clipboardMax for OSC 52.
	str     []byte
	strLong bool
	kind    stringKind // of one that is kept and is not an OSC
}

type stringKind uint8

const (
	kindSetting stringKind = iota // DECRQSS
	kindTermcap                   // XTGETTCAP
	kindTitle                     // ESC k of screen and tmux
)

type state uint8

const (
	stateGround state = iota
	stateEscape
	stateEscapeIntermediate
	stateCSIEntry // only the introducer was seen
	stateCSIParam
	stateCSIIntermediate
	stateCSIIgnore
	stateOSC
	stateDCSEntry
	stateDCSParam
	stateDCSIntermediate
	stateString // one that is kept: see stringKind
	stateSkip   // SOS, PM, APC or an unused DCS: everything up to the terminator
	stateOSCEscape
	stateStringEscape
	stateSkipEscape
)

const (
	// maxParams is the number of parameters kept; xterm keeps 30, the longest in use (SGR with
	// three RGB colours) has 18. More are read and dropped.
	maxParams = 32
	// maxParam bounds a parameter. No sequence gives a larger one a meaning, and sums cannot
	// overflow.
	maxParam = 65535
	// stringMax bounds the payload of an OSC or DCS that is kept, in bytes. The longest in use is a
	// link of 2 KiB; a clipboard has its own bound.
	stringMax = 8 << 10
)

// parse consumes p, up to the next mark if it should stop there, and returns the rest.
func (t *Terminal) parse(p []byte) (rest []byte) {
	s := &t.parser
	for len(p) > 0 && !t.marked { // a string, such as a mark, ends here and nowhere deeper
		switch s.state {
		case stateGround:
			p = t.ground(p)
		case stateCSIEntry, stateCSIParam, stateCSIIntermediate, stateCSIIgnore:
			p = t.csi(p)
		case stateOSC, stateString, stateSkip:
			p = t.stringBytes(p)
		default:
			t.step(p[0])
			p = p[1:]
		}
	}
	return p
}

// ground takes text and C0 controls up to the next ESC.
func (t *Terminal) ground(p []byte) []byte {
	s := &t.parser
	if s.utf8.need > 0 {
		p = t.continueRune(p)
	}
	for len(p) > 0 {
		c := p[0]
		switch {
		case c >= 0x20 && c < 0x7f:
			n := asciiLen(p)
			if t.sides.set {
				t.work += n * workEarned
			}
			t.printASCII(p[:n])
			p = p[n:]
		case c == 0x1b:
			s.state = stateEscape
			s.nInter = 0
			p = p[1:]
			if len(p) > 0 && p[0] == '[' {
				p = p[1:]
				if n := s.plainCSI(p); n > 0 {
					s.state = stateGround
					if final := p[n-1]; final == 'm' { // half of all sequences
						t.last = 0
						t.sgr()
					} else {
						t.dispatchCSI(final)
					}
					p = p[n:]
					break
				}
				t.beginCSI()
				p = t.csi(p)
			}
			if s.state != stateGround {
				return p
			}
		case c < 0x20:
			t.control(c)
			p = p[1:]
		case c == 0x7f:
			p = p[1:]
		default:
			if rest := t.printRun(p); len(rest) < len(p) {
				p = rest
				break
			}
			p = t.printUTF8(p)
		}
	}
	return p
}

// asciiLen returns the length of the run of printable ASCII at the start of p.
func asciiLen(p []byte) int {
	i := 0
	for ; i+8 <= len(p); i += 8 {
		w := uint64(p[i]) | uint64(p[i+1])<<8 | uint64(p[i+2])<<16 | uint64(p[i+3])<<24 |
			uint64(p[i+4])<<32 | uint64(p[i+5])<<40 | uint64(p[i+6])<<48 | uint64(p[i+7])<<56
		const ones = 0x0101010101010101
		// The top bit of a byte is set when it is under 0x20, is 0x7f, or is over: the carry of one
		// byte can only make the next look special, which the loop below puts right.
		if (w|(w-0x20*ones)|(w+ones))&(0x80*ones) != 0 {
			break
		}
	}
	for i < len(p) && p[i] >= 0x20 && p[i] < 0x7f {
		i++
	}
	return i
}

// utf8State is a partly read character.
type utf8State struct {
	r      rune
	need   uint8 // bytes to come
	lo, hi byte  // bounds of the next byte
}

// start begins a character with its first byte; false when no character begins with it.
func (u *utf8State) start(c byte) bool {
	u.lo, u.hi = 0x80, 0xbf
	switch {
	case c >= 0xc2 && c <= 0xdf:
		u.r, u.need = rune(c&0x1f), 1
	case c >= 0xe0 && c <= 0xef:
		u.r, u.need = rune(c&0x0f), 2
		if c == 0xe0 {
			u.lo = 0xa0 // overlong
		} else if c == 0xed {
			u.hi = 0x9f // surrogates
		}
	case c >= 0xf0 && c <= 0xf4:
		u.r, u.need = rune(c&0x07), 3
		if c == 0xf0 {
			u.lo = 0x90
		} else if c == 0xf4 {
			u.hi = 0x8f
		}
	default:
		u.need = 0
		return false
	}
	return true
}

// next takes one more byte; false when it does not belong to the character.
func (u *utf8State) next(c byte) bool {
	if c < u.lo || c > u.hi {
		return false
	}
	u.lo, u.hi = 0x80, 0xbf
	u.r = u.r<<6 | rune(c&0x3f)
	u.need--
	return true
}

// continueRune continues a character whose first bytes came before. Invalid input is shown as
// U+FFFD, one for each maximal part (Unicode 3.9, D93b), and swallows nothing.
func (t *Terminal) continueRune(p []byte) []byte {
	u := &t.parser.utf8
	for len(p) > 0 && u.need > 0 {
		if !u.next(p[0]) {
			u.need = 0
			t.print(utf8.RuneError)
			return p
		}
		p = p[1:]
		if u.need == 0 {
			t.print(u.r)
		}
	}
	return p
}

// printUTF8 prints the character at the start of p, whose first byte is not ASCII.
func (t *Terminal) printUTF8(p []byte) []byte {
	if r, n := utf8.DecodeRune(p); n > 1 {
		t.print(r)
		return p[n:]
	}
	if !t.parser.utf8.start(p[0]) {
		t.print(utf8.RuneError)
		return p[1:]
	}
	return t.continueRune(p[1:])
}

// step takes one byte in the short-lived states.
func (t *Terminal) step(c byte) {
	s := &t.parser
	switch s.state {
	case stateOSCEscape, stateStringEscape, stateSkipEscape:
		// ESC ends a string whatever follows; a backslash makes that the proper terminator (ST).
		from := s.state
		s.state = stateEscape
		s.nInter = 0
		if c == '\\' {
			s.state = stateGround
			switch from {
			case stateOSCEscape:
				t.osc(false)
			case stateStringEscape:
				t.stringEnd()
			}
			return
		}
		t.step(c)
		return
	case stateDCSEntry, stateDCSParam, stateDCSIntermediate:
		t.dcsStep(c)
		return
	}
	// ESC and ESC intermediate.
	switch {
	case c == 0x1b:
		s.state = stateEscape
		s.nInter = 0
	case c == 0x18 || c == 0x1a:
		s.state = stateGround
	case c < 0x20:
		t.control(c)
	case c < 0x30:
		if s.nInter < len(s.intermediates) {
			s.intermediates[s.nInter] = c
		}
		s.nInter++
		s.state = stateEscapeIntermediate
	case c == 0x7f:
	case c >= 0x80:
		// No longer a sequence; the byte starts text.
		s.state = stateGround
		t.printUTF8([]byte{c})
	default:
		inter := s.state == stateEscapeIntermediate
		s.state = stateGround
		if inter {
			t.escapeIntermediate(c)
			return
		}
		switch c {
		case '[':
			t.beginCSI()
		case ']':
			t.beginString(stateOSC)
		case 'P':
			t.beginCSI()
			s.state = stateDCSEntry
		case 'X', '^', '_':
			t.beginString(stateSkip)
		case 'k':
			s.kind = kindTitle
			t.beginString(stateString)
		default:
			t.escape(c)
		}
	}
}

func (t *Terminal) beginCSI() {
	s := &t.parser
	s.state = stateCSIEntry
	s.prefix, s.nInter, s.nParams, s.colon, s.overflow = 0, 0, 0, 0, false
	s.params[0] = 0
}

// plainCSI reads the common control sequence at once, numbers separated by semicolons and a final
// byte, and returns its length; 0 when p begins with any other sequence or holds only part of one.
func (s *parser) plainCSI(p []byte) int {
	v, n := int32(0), 0
	for i, c := range p {
		switch d := c - '0'; {
		case d <= 9:
			v = min(v*10+int32(d), maxParam)
		case c == ';' && n < maxParams-1:
			s.params[n] = v
			v = 0
			n++
		case c >= 0x40 && c <= 0x7e:
			s.params[n] = v
			s.prefix, s.nInter, s.nParams, s.colon, s.overflow = 0, 0, n+1, 0, false
			if i == 0 {
				s.nParams = 0
			}
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

// csi takes the bytes of a control sequence after ESC [.
func (t *Terminal) csi(p []byte) []byte {
	s := &t.parser
	for i, c := range p {
		switch {
		case c >= '0' && c <= ';': // digits, colon, semicolon
			if s.state == stateCSIEntry {
				s.state = stateCSIParam
				s.nParams = 1
			}
			switch {
			case s.state != stateCSIParam:
				s.state = stateCSIIgnore
			case c <= '9':
				s.digit(c)
			default:
				s.separator(c)
			}
		case c >= 0x40 && c <= 0x7e:
			ignore := s.state == stateCSIIgnore
			s.state = stateGround
			if !ignore {
				t.dispatchCSI(c)
			}
			return p[i+1:]
		case c >= 0x3c && c <= 0x3f:
			if s.state == stateCSIEntry {
				s.prefix = c
				s.state = stateCSIParam
				s.nParams = 1
			} else {
				s.state = stateCSIIgnore
			}
		case c >= 0x20 && c <= 0x2f:
			if s.state == stateCSIIgnore {
				break
			}
			s.state = stateCSIIntermediate
			if s.nInter < len(s.intermediates) {
				s.intermediates[s.nInter] = c
			}
			s.nInter++
		case c == 0x1b:
			s.state = stateEscape
			s.nInter = 0
			return p[i+1:]
		case c == 0x18 || c == 0x1a:
			s.state = stateGround
			return p[i+1:]
		case c < 0x20:
			t.control(c)
		case c == 0x7f:
		default: // text: the sequence was cut off
			s.state = stateGround
			return p[i:]
		}
	}
	return nil
}

func (s *parser) digit(c byte) {
	if s.overflow {
		return
	}
	v := &s.params[s.nParams-1]
	*v = min(*v*10+int32(c-'0'), maxParam)
}

func (s *parser) separator(c byte) {
	if s.nParams == maxParams {
		s.overflow = true
		return
	}
	if c == ':' {
		s.colon |= 1 << s.nParams
	}
	s.params[s.nParams] = 0
	s.nParams++
}

// param returns parameter i, or def when it is missing or 0.
func (s *parser) param(i, def int) int {
	if i < s.nParams && s.params[i] != 0 {
		return int(s.params[i])
	}
	return def
}

// dcsStep takes the head of a device control string: parameters, intermediates, final byte.
func (t *Terminal) dcsStep(c byte) {
	s := &t.parser
	switch {
	case c == 0x1b:
		s.state = stateEscape
		s.nInter = 0
	case c == 0x18 || c == 0x1a:
		s.state = stateGround
	case c < 0x20 || c == 0x7f:
	case c < 0x30:
		if s.nInter < len(s.intermediates) {
			s.intermediates[s.nInter] = c
		}
		s.nInter++
		s.state = stateDCSIntermediate
	case c < 0x40:
		if s.state == stateDCSIntermediate || c >= 0x3c && s.state == stateDCSParam {
			t.beginString(stateSkip)
			return
		}
		s.state = stateDCSParam
		s.nParams = max(s.nParams, 1)
		switch {
		case c >= 0x3c:
			s.prefix = c
		case c >= 0x3a:
			s.separator(c)
		default:
			s.digit(c)
		}
	default:
		// Only DECRQSS (DCS $ q) and XTGETTCAP (DCS + q) are used here; sixel, tmux's control mode
		// and everything else are discarded.
		switch i := s.intermediates[0]; {
		case c != 'q' || s.nInter != 1 || s.prefix != 0 || i != '$' && i != '+':
			t.beginString(stateSkip)
			return
		case i == '$':
			s.kind = kindSetting
		default:
			s.kind = kindTermcap
		}
		t.beginString(stateString)
	}
}

func (t *Terminal) beginString(st state) {
	s := &t.parser
	s.state = st
	s.str, s.strLong = s.str[:0], false
}

// stringBytes takes the payload of a string up to its end: ST, and for OSC also BEL.
func (t *Terminal) stringBytes(p []byte) []byte {
	s := &t.parser
	for i, c := range p {
		if c >= 0x20 {
			continue
		}
		switch {
		case c == 0x1b, c == 0x18, c == 0x1a, c == 0x07 && s.state == stateOSC:
			s.keepLast(p[:i])
			from := s.state
			s.state = stateGround
			switch {
			case c == 0x07:
				t.osc(true)
			case c != 0x1b:
			case from == stateOSC:
				s.state = stateOSCEscape
			case from == stateString:
				s.state = stateStringEscape
			default:
				s.state = stateSkipEscape
			}
			return p[i+1:]
		}
	}
	s.keep(p)
	return nil
}
