package record

import (
	"math/bits"
	"strconv"
	"time"
	"unicode/utf8"
)

// A clock makes the times of a cast: microseconds since its beginning that never decrease, in v3
// since the event before.
type clock struct {
	intervals bool
	cut       time.Duration // longest pause; 0: no limit
	now       time.Duration // of the last event
	lost      time.Duration // removed from pauses so far
	begun     bool          // an event has come: the pause before it is not cut
	written   time.Duration // time of the last event in the file
}

// at returns the time in the recording of an event d after its beginning.
func (c *clock) at(d time.Duration) time.Duration {
	if pause := d - c.lost - c.now; c.cut > 0 && c.begun && pause > c.cut {
		c.lost += pause - c.cut
	}
	c.begun = true
	c.now = max(c.now, (d - c.lost).Truncate(time.Microsecond))
	return c.now
}

// append writes the time of an event in seconds with six decimals.
func (c *clock) append(dst []byte, at time.Duration) []byte {
	at = max(at, c.written)
	d := at
	if c.intervals {
		d -= c.written
	}
	c.written = at
	us := d.Microseconds()
	dst = strconv.AppendInt(dst, us/1e6, 10)
	dst = append(dst, '.')
	for p := int64(1e5); p > 0; p /= 10 {
		dst = append(dst, '0'+byte(us/p%10))
	}
	return dst
}

const hex = "0123456789abcdef"

// appendJSON writes the inside of a JSON string (RFC 8259, section 7) of valid UTF-8. DEL and
// JavaScript's other line ends stay: a cast is JSON.
func appendJSON(dst []byte, s string) []byte {
	from := 0
	for i := 0; ; i++ {
		i = unescaped(s, i)
		dst = append(dst, s[from:i]...)
		if i == len(s) {
			return dst
		}
		from = i + 1
		switch c := s[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\b':
			dst = append(dst, '\\', 'b')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
}

// unescaped returns the index of the first byte from s[i] on that JSON must escape; the length of s
// when there is none. It checks eight bytes at once.
func unescaped(s string, i int) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(s); i += 8 {
		p := s[i : i+8]
		x := uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 | uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56
		// The high bit becomes set in a byte that is less than what is subtracted from it, and was
		// below 0x80.
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		if m := ((x-ones*0x20)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & high; m != 0 {
			return i + bits.TrailingZeros64(m)/8 // a borrow goes upwards, so the lowest is right
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// A utf8Joiner makes valid UTF-8 of pieces of output: a character that is cut in two is kept until
// it is whole (it is not on the screen before either), an invalid byte becomes U+FFFD, one for each
// maximal part (Unicode 3.9, D93b).
type utf8Joiner struct {
	kept [utf8.UTFMax]byte
	n    int
}

// join returns the whole characters.
func (u *utf8Joiner) join(p []byte) string {
	if u.n > 0 {
		p = append(u.kept[:u.n:u.n], p...)
		u.n = 0
	}
	if n := begun(p); utf8.Valid(p[:len(p)-n]) {
		u.n = copy(u.kept[:], p[len(p)-n:])
		return string(p[:len(p)-n])
	}
	out := make([]byte, 0, len(p))
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		if r != utf8.RuneError || n > 1 {
			out, p = append(out, p[:n]...), p[n:]
			continue
		}
		if !utf8.FullRune(p) {
			u.n = copy(u.kept[:], p)
			break
		}
		out = append(out, "\uFFFD"...)
		p = p[broken(p):]
	}
	return string(out)
}

// begun returns the length of the incomplete character at the end of p.
func begun(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if last := p[len(p)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// whole is join of the last text.
func (u *utf8Joiner) whole(p []byte) string {
	s := u.join(p)
	if u.n > 0 {
		s += "\uFFFD"
		u.n = 0
	}
	return s
}

// broken returns how many bytes at the beginning of p could have become one character.
func broken(p []byte) int {
	n := 1
	for n < len(p) && !utf8.FullRune(p[:n]) {
		n++
	}
	return max(1, n-1)
}
