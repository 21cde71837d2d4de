package record

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// A clock makes the times of a cast: microseconds since its beginning that never go back, in v3 since the event before.
type clock struct {
	intervals bool
	cut       time.Duration // pauses are cut to this; 0: they are not
	now       time.Duration // of the last thing that happened
	lost      time.Duration // cut from pauses so far
	begun     bool          // something happened: the pause before that is not cut
	written   time.Duration // time of the last event in the file
}

// at returns the time in the recording of something that happened d after its beginning.
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

// appendJSON writes valid UTF-8 as a JSON string (RFC 8259, section 7). DEL and what JavaScript takes for line ends stay: a
// cast is JSON.
func appendJSON(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
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
	return append(append(dst, s[from:]...), '"')
}

// A utf8Joiner makes valid UTF-8 of pieces of output: a character that is cut in two is kept until it is whole (it is not on
// the screen before either), a byte that belongs to none becomes U+FFFD, one for each maximal part (Unicode 3.9, D93b).
type utf8Joiner struct {
	kept [utf8.UTFMax]byte
	n    int
}

// join returns what is whole.
func (u *utf8Joiner) join(p []byte) string {
	if u.n == 0 && utf8.Valid(p) {
		return string(p)
	}
	p = append(u.kept[:u.n:u.n], p...)
	u.n = 0
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

// whole is join of text that nothing follows.
func (u *utf8Joiner) whole(p []byte) string {
	s := u.join(p)
	if u.n > 0 {
		s += "\uFFFD"
		u.n = 0
	}
	return s
}

// broken returns how many bytes at the head of p could have become one character.
func broken(p []byte) int {
	n := 1
	for n < len(p) && !utf8.FullRune(p[:n]) {
		n++
	}
	return max(1, n-1)
}
