package engine

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/ptywright/ptywright/internal/ansi"
)

// DefaultTranscriptChars is how many characters of output a session keeps by default: the 128 KiB
// of the specification. More keeps more for matchers and readers and costs up to four times as many
// bytes of memory per busy session; an idle session costs nothing.
const DefaultTranscriptChars = 128 << 10

// Offset is a position in everything a child has written, in bytes of UTF-8 text from its start.
// It never decreases and is never reused.
type Offset uint64

// A Transcript is the bounded tail of a session's output as text, escape sequences included.
// It is a value: later output never alters it. The zero value is empty.
type Transcript struct {
	text  []byte // retained text; its array is only ever written past this slice's end
	end   Offset // position after the last byte of text
	marks map[string]Offset
	cut   bool // text begins within a line
}

// Bounds returns the positions of the oldest retained byte and after the newest one.
func (t Transcript) Bounds() (oldest, newest Offset) {
	return t.end - Offset(len(t.text)), t.end
}

// Whole reports whether the retained text begins at the beginning of a line: with the child's first
// byte, or after a line feed.
func (t Transcript) Whole() bool { return !t.cut }

// Bytes returns the whole retained text. The caller must not modify it.
func (t Transcript) Bytes() []byte { return t.text }

// String returns the whole retained text.
func (t Transcript) String() string { return string(t.text) }

// Since returns the text written at or after off, and the position to pass next time. dropped
// reports that part of it was no longer retained; the text then begins at the oldest retained
// character. A position in the future gives no text. The text begins and ends on a character
// boundary when off was returned by Since or Bounds.
func (t Transcript) Since(off Offset) (text []byte, next Offset, dropped bool) {
	oldest, newest := t.Bounds()
	switch {
	case off >= newest:
		return nil, newest, false
	case off < oldest:
		return t.text, newest, true
	}
	return t.text[off-oldest:], newest, false
}

// Tail returns the last chars characters, or all there are.
func (t Transcript) Tail(chars int) string { return string(t.text[t.tail(chars):]) }

// TailFrom returns the position where [Transcript.Tail] begins.
func (t Transcript) TailFrom(chars int) Offset {
	oldest, _ := t.Bounds()
	return oldest + Offset(t.tail(chars))
}

// tail is the index of the last chars characters.
func (t Transcript) tail(chars int) int {
	i := len(t.text)
	if chars >= i { // every character has at least one byte
		return 0
	}
	for ; chars > 0 && i > 0; chars-- {
		n := 1
		if t.text[i-1] >= utf8.RuneSelf {
			_, n = utf8.DecodeLastRune(t.text[:i])
		}
		i -= n
	}
	return i
}

// Mark returns the position of label, and whether it is set.
func (t Transcript) Mark(label string) (Offset, bool) {
	off, ok := t.marks[label]
	return off, ok
}

// Marks returns every label with its position. The caller must not modify the map.
func (t Transcript) Marks() map[string]Offset { return t.marks }

// maxMarks is how many labels a transcript keeps. A plugin marks a handful a turn and re-marking
// overwrites, so 64 is far more than needed; the bound is there because labels come from clients.
const maxMarks = 64

// A recorder writes one transcript. Its session's lock protects it.
type recorder struct {
	limit int    // retained characters
	buf   []byte // backing array; buf[start:] is retained
	start int
	chars int // characters in buf[start:]
	end   Offset
	split [utf8.UTFMax]byte // an unfinished character at the end of the last write
	nsp   int
	marks map[string]Offset // replaced, never modified: transcripts share it
	cut   bool              // the last byte dropped was not a line feed
}

// value returns the transcript as it is now.
func (r *recorder) value() Transcript {
	return Transcript{text: r.buf[r.start:len(r.buf):len(r.buf)], end: r.end, marks: r.marks,
		cut: r.cut}
}

// mark sets label to the current end. It returns false when there are maxMarks other labels
// already.
func (r *recorder) mark(label string) bool {
	if _, ok := r.marks[label]; !ok && len(r.marks) >= maxMarks {
		return false
	}
	m := make(map[string]Offset, len(r.marks)+1)
	for k, v := range r.marks {
		m[k] = v
	}
	m[label] = r.end
	r.marks = m
	return true
}

// write appends p as text. A character that is split over two writes becomes whole; an invalid byte
// becomes U+FFFD, as the Unicode standard's chapter 3.9 recommends (one for each maximal subpart).
func (r *recorder) write(p []byte) {
	if r.nsp > 0 {
		p = r.join(p)
	}
	for len(p) > 0 {
		n := validPrefix(p)
		r.add(p[:n])
		p = p[n:]
		if len(p) == 0 {
			return
		}
		if !utf8.FullRune(p) {
			r.nsp = copy(r.split[:], p)
			return
		}
		r.add(replacement)
		p = p[ansi.InvalidLen(p):]
	}
}

// finish ends the text: an unfinished character becomes U+FFFD.
func (r *recorder) finish() {
	if r.nsp > 0 {
		r.nsp = 0
		r.add(replacement)
	}
}

// trim frees the room for more: nothing will be written any more.
func (r *recorder) trim() {
	r.buf, r.start = append(make([]byte, 0, len(r.buf)-r.start), r.buf[r.start:]...), 0
}

var replacement = []byte("\uFFFD")

// join completes the unfinished character with the beginning of p and returns the rest of p.
func (r *recorder) join(p []byte) []byte {
	had := r.nsp
	c := append([]byte(nil), r.split[:had]...)
	for i := 0; i < len(p) && !utf8.FullRune(c); i++ {
		c = append(c, p[i])
	}
	if !utf8.FullRune(c) {
		r.nsp = copy(r.split[:], c)
		return nil
	}
	r.nsp = 0
	if _, n := utf8.DecodeRune(c); n > 1 {
		r.add(c)
		return p[n-had:]
	}
	// The character was cut short: its bytes become one U+FFFD, the byte that ended it is read
	// again.
	r.add(replacement)
	return p[ansi.InvalidLen(c)-had:]
}

// validPrefix returns how many bytes at the beginning of p are whole, valid UTF-8. It decodes the
// most frequent forms itself: utf8.Valid takes three times as long for text of three bytes a
// character, and does not say where the valid text ends.
func validPrefix(p []byte) int {
	i := 0
	for i < len(p) {
		if len(p)-i >= 8 && binary.LittleEndian.Uint64(p[i:])&(0x80*0x0101010101010101) == 0 {
			i += 8
			continue
		}
		for i < len(p) && p[i] < utf8.RuneSelf {
			i++
		}
		for i < len(p) && p[i] >= utf8.RuneSelf {
			switch c := p[i]; {
			case c >= 0xe1 && c <= 0xec && len(p)-i > 2 && p[i+1]&0xc0 == 0x80 &&
				p[i+2]&0xc0 == 0x80:
				i += 3
			case c >= 0xc2 && c <= 0xdf && len(p)-i > 1 && p[i+1]&0xc0 == 0x80:
				i += 2
			default:
				_, n := utf8.DecodeRune(p[i:])
				if n == 1 {
					return i
				}
				i += n
			}
		}
	}
	return i
}

// add appends whole characters and drops the oldest.
func (r *recorder) add(p []byte) {
	r.end += Offset(len(p))
	n := runeCount(p)
	if n >= r.limit { // only the tail of p stays
		if k := runePrefix(p, n-r.limit); k > 0 {
			r.cut = p[k-1] != '\n'
			p = p[k:]
		} else if len(r.buf) > r.start {
			r.cut = r.buf[len(r.buf)-1] != '\n'
		}
		r.reserve(len(p), len(r.buf)) // drop everything retained
		r.buf = append(r.buf, p...)
		r.chars = r.limit
		return
	}
	if over := r.chars + n - r.limit; over > 0 {
		if kept := r.buf[r.start:]; r.chars == len(kept) { // ASCII: each byte is a character
			r.start += over
		} else {
			r.start += runePrefix(kept, over)
		}
		r.cut = r.buf[r.start-1] != '\n'
		r.chars -= over
	}
	r.reserve(len(p), r.start)
	r.buf = append(r.buf, p...)
	r.chars += n
}

// reserve makes room for n more bytes after buf, moving buf[start:] to a fresh array when there is
// none: transcripts that were handed out keep the old one. A fresh array has room for as much again
// as the bound, so that a byte is moved once on average, however small the writes.
func (r *recorder) reserve(n, start int) {
	r.start = start
	if cap(r.buf)-len(r.buf) >= n {
		return
	}
	kept := r.buf[start:]
	size := 2*(len(kept)+n) + 512 // doubles from a small size; an idle session stays small
	if full := 2*r.limit + 64<<10; r.limit < 1<<30 && size > full && full >= len(kept)+n {
		size = full
	}
	b := make([]byte, len(kept), size)
	copy(b, kept)
	r.buf, r.start = b, 0
}

// runeCount counts the characters of valid UTF-8, eight bytes at a time: all bytes but continuation
// bytes (10xxxxxx).
func runeCount(p []byte) int {
	n := len(p)
	for len(p) >= 8 {
		n -= continuations(binary.LittleEndian.Uint64(p))
		p = p[8:]
	}
	for _, c := range p {
		if c&0xC0 == 0x80 {
			n--
		}
	}
	return n
}

func continuations(w uint64) int {
	return bits.OnesCount64(w >> 7 & ^(w >> 6) & 0x0101010101010101)
}

// runePrefix returns how many bytes the first chars characters of valid UTF-8 take.
func runePrefix(p []byte, chars int) int {
	i := 0
	for chars > 8 && len(p)-i >= 8 {
		chars -= 8 - continuations(binary.LittleEndian.Uint64(p[i:]))
		i += 8
	}
	for i < len(p) && (chars > 0 || p[i]&0xC0 == 0x80) {
		if p[i]&0xC0 != 0x80 {
			chars--
		}
		i++
	}
	return i
}
