package ansi

import "strings"

// Sequence measures the escape sequence that begins with the ESC at s[i]: its length, and the range
// of its payload if it is a control string (OSC, DCS, APC, PM, SOS). A sequence that s does not end
// extends to the end of s. A [Cutter] ends strings where engine/vt does; here every terminal
// counts: see [EndsString].
func Sequence(s string, i int) (n, from, to int) {
	j := i + 1
	switch {
	case j == len(s):
	case s[j] == '[':
		for j++; j < len(s); j++ {
			switch c := s[j]; {
			case c >= '@' && c < del:
				return j + 1 - i, 0, 0
			case c > del, c == esc, c == can, c == sub:
				return j - i, 0, 0
			}
		}
	case strings.IndexByte("]P_^X", s[j]) >= 0:
		from = j + 1
		for to = from; to < len(s) && !EndsString(s, to); to++ {
		}
		switch j = to; {
		case j == len(s):
		case s[j] == 0xc2, s[j] == esc && j+1 < len(s) && s[j+1] == '\\':
			j += 2
		case s[j] != esc:
			j++
		}
	default:
		for j < len(s) && s[j] >= ' ' && s[j] < '0' {
			j++
		}
		if j < len(s) && s[j] >= '0' && s[j] < del {
			j++
		}
	}
	return j - i, from, to
}

// EndsString reports whether a control string ends at s[i], for some terminal: at ST, also as one
// character, BEL, which xterm accepts for it, CAN, SUB, or the ESC of another sequence.
func EndsString(s string, i int) bool {
	switch s[i] {
	case bel, can, sub, esc:
		return true
	case 0xc2:
		return i+1 < len(s) && s[i+1] == 0x9c
	}
	return false
}
