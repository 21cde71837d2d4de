package vt

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A codec writes a state, or reads one: the same code goes through a terminal in both directions,
// so what is read is what was written. Numbers are uvarints, sequences count back from the
// terminal's, and nothing is taken from memory before the bytes that it is for are there.
type codec struct {
	b       []byte // what was written, or what is left to be read
	loading bool
	all     int         // length of what is read
	err     *StateError // the first fault; what is read after it is zero

	t       *Terminal
	newest  bool // only the newest block of the scrollback is written
	scratch []byte
	last    lastRow
}

// fail refuses what is read; what names it. Nothing more is read.
func (c *codec) fail(what string) {
	if !c.loading || c.failed() {
		return
	}
	c.err = &StateError{Version: stateVersion, Offset: c.all - len(c.b), Part: what}
	c.b = nil
}

// must refuses what is read unless it is good.
func (c *codec) must(good bool, what string) {
	if c.loading && !good {
		c.fail(what)
	}
}

// failed reports whether something was refused.
func (c *codec) failed() bool { return c.err != nil }

// uint writes v, or returns what is read, which is at most most.
func (c *codec) uint(v, most uint64, what string) uint64 {
	if !c.loading {
		c.b = binary.AppendUvarint(c.b, v)
		return v
	}
	if c.failed() {
		return 0
	}
	v, n := binary.Uvarint(c.b)
	if n <= 0 || v > most {
		c.fail(what)
		return 0
	}
	c.b = c.b[n:]
	return v
}

// number writes a number that is not negative, or reads one of at most most.
func number[T ~int | ~int32 | ~uint8 | ~uint16 | ~uint32 | ~uint64](
	c *codec, p *T, most T, what string,
) {
	if v := c.uint(uint64(*p), uint64(most), what); c.loading {
		*p = T(v)
	}
}

// sequence writes how far a sequence is before the terminal's, or reads it.
func (c *codec) sequence(p *uint64, what string) {
	if v := c.uint(c.t.seq-*p, c.t.seq, what); c.loading {
		*p = c.t.seq - v
	}
}

// lineMost bounds line numbers, so that sums with them do not overflow.
const lineMost = math.MaxInt64 / 2

// line writes or reads the absolute number of a line.
func (c *codec) line(p *uint64, what string) { number(c, p, lineMost, what) }

// bools writes or reads up to 63 of them.
func (c *codec) bools(what string, all ...*bool) {
	var v uint64
	for i, p := range all {
		if *p {
			v |= 1 << i
		}
	}
	v = c.uint(v, 1<<len(all)-1, what)
	if c.loading {
		for i, p := range all {
			*p = v>>i&1 != 0
		}
	}
}

// count writes or reads how many there are of what takes at least size bytes each.
func (c *codec) count(n, size int, what string) int {
	n = int(c.uint(uint64(n), math.MaxInt32, what))
	if c.loading && n > len(c.b)/size {
		c.fail(what)
		return 0
	}
	return n
}

// bytes writes p, or returns what is read: part of the state, not to be kept.
func (c *codec) bytes(p []byte, most int, what string) []byte {
	n := c.count(len(p), 1, what)
	if !c.loading {
		c.b = append(c.b, p...)
		return p
	}
	if n > most {
		c.fail(what)
		return nil
	}
	p, c.b = c.b[:n:n], c.b[n:]
	return p
}

// text writes or reads a string that [Clean] has made.
func (c *codec) text(p *string, most int, what string) {
	if !c.loading {
		c.b = binary.AppendUvarint(c.b, uint64(len(*p)))
		c.b = append(c.b, *p...)
		return
	}
	*p = string(c.bytes(nil, most, what))
	c.must(Clean([]byte(*p), most) == *p, what)
}

// colour writes or reads a Color.
func (c *codec) colour(p *Color, what string) {
	number(c, p, math.MaxUint32, what)
	c.must(validColour(uint32(*p)), what)
}

// validColour reports whether v is a Color: the default, an entry of the palette or RGB.
func validColour(v uint32) bool {
	switch v >> 24 {
	case 0:
		return v == 0
	case 1:
		return v <= colorIndexed|math.MaxUint8
	}
	return v>>24 == 2
}

// A StateError says why [Load] refused a state.
type StateError struct {
	Version byte   // that it begins with; 0 when it is empty
	Offset  int    // of the fault, in bytes from its start
	Part    string // of the terminal, that is wrong there; "" when it is the version
}

// Error names the part that is wrong and where it is.
func (e *StateError) Error() string {
	if e.Part == "" {
		return fmt.Sprintf("load the state of a terminal: version %d is not known, only %d is: "+
			"it was written by another release, or is no state",
			e.Version, stateVersion)
	}
	return fmt.Sprintf("load the state of a terminal: it is damaged at byte %d (%s)", e.Offset, e.Part)
}
