package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ptywright/ptywright/internal/ansi"
	"github.com/ptywright/ptywright/redact/internal/rules"
)

const esc = 0x1b

// A reading is a line as somebody may read it.
type reading struct {
	text   string
	at     []int32 // where in the line each byte is; nil: they follow each other from base on
	base   int
	closed bool // more text does not continue it: it is a control string that has ended
	apart  bool // it was put together from all over the line; -1 is a blank that is nowhere
}

// readings makes the readings of the line that are needed and calls judge with each: whole is true
// for the characters that are left without control sequences. Where the cursor moves back there is
// one of what is left after overwriting, where it is placed there are the resulting rows, and each
// control string (a title, a link) is one.
func (s *scan) readings(n need, judge func(rd reading, whole bool)) {
	if plain(s.line) {
		judge(reading{text: s.line}, true)
		return
	}
	moved, placed := true, s.sight.placed // as the first look saw, or as reading shows
	if n&needText != 0 {
		moved, placed = s.read(false, func(from, to int) {
			if start, is := clipboardIn(s.line, from, to); is {
				s.hideClipboard(start, to)
			} else {
				judge(reading{text: s.line[from:to], base: from, closed: to < len(s.line)}, false)
			}
		})
		judge(s.made(), true)
	}
	if moved && n&needOver != 0 {
		if s.read(true, func(int, int) {}); s.busy() {
			judge(s.made(), false)
		}
	}
	if placed && n&needRows != 0 {
		s.rows(judge)
	}
}

// made returns the reading that read has made.
func (s *scan) made() reading {
	s.came = append(s.came, int32(len(s.line)))
	return reading{text: string(s.clean), at: s.came}
}

// plain reports whether line contains nothing that a reader must see through.
func plain(line string) bool {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c < 0x20 && c != '\t', c == 0x7f:
			return false
		case c >= 0xc2 && invisible(line, i) > 0:
			return false
		}
	}
	return true
}

// invisible returns the length of the character at i if it takes no cell and is not part of a word:
// C1 controls, characters that Unicode ignores by default (zero-width and directional marks,
// variation selectors, tags, fillers), and marks that combine with the character before. A secret
// can be broken up with them, by accident or not.
func invisible(s string, i int) int {
	if !mayHide[s[i]] || i+1 == len(s) {
		return 0
	}
	d := s[i+1]
	switch s[i] { // frequent characters of some languages are decided by the second byte
	case 0xe1: // U+1000-1FFF
		if d != 0x85 && d != 0x9e && d != 0xa0 && d != 0xaa && d != 0xab && d != 0xb7 {
			return 0
		}
	case 0xe2: // U+2000-2FFF
		if d != 0x80 && d != 0x81 && d != 0x83 {
			return 0
		}
	case 0xe3: // U+3000-3FFF: kana
		if d != 0x85 {
			return 0
		}
	case 0xef: // U+F000-FFFF: full-width forms
		if d < 0xb8 || d == 0xbc || d == 0xbd {
			return 0
		}
	case 0xf0: // U+10000-3FFFF: pictographs
		if d != 0x9b && d != 0x9d {
			return 0
		}
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if r == utf8.RuneError || !unicode.Is(unseen, r) {
		return 0
	}
	return n
}

// mayHide has the first bytes of the characters that invisible knows.
var mayHide = [256]bool{
	0xc2: true, 0xcc: true, 0xcd: true, 0xd2: true, 0xd8: true, 0xe1: true, 0xe2: true, 0xe3: true,
	0xef: true, 0xf0: true, 0xf3: true,
}

// unseen is Default_Ignorable_Code_Point of Unicode 16 (DerivedCoreProperties.txt), C1 controls,
// interlinear marks and the blocks of combining marks that fit any script.
var unseen = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x80, Hi: 0x9f, Stride: 1}, {Lo: 0xad, Hi: 0xad, Stride: 1},
		{Lo: 0x300, Hi: 0x36f, Stride: 1}, {Lo: 0x483, Hi: 0x489, Stride: 1},
		{Lo: 0x61c, Hi: 0x61c, Stride: 1}, {Lo: 0x115f, Hi: 0x1160, Stride: 1},
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, {Lo: 0x180b, Hi: 0x180f, Stride: 1},
		{Lo: 0x1ab0, Hi: 0x1aff, Stride: 1}, {Lo: 0x1dc0, Hi: 0x1dff, Stride: 1},
		{Lo: 0x200b, Hi: 0x200f, Stride: 1}, {Lo: 0x202a, Hi: 0x202e, Stride: 1},
		{Lo: 0x2060, Hi: 0x206f, Stride: 1}, {Lo: 0x20d0, Hi: 0x20ff, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, {Lo: 0xfe00, Hi: 0xfe0f, Stride: 1},
		{Lo: 0xfe20, Hi: 0xfe2f, Stride: 1}, {Lo: 0xfeff, Hi: 0xfeff, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, {Lo: 0xfff0, Hi: 0xfffb, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1},
		{Lo: 0x1d173, Hi: 0x1d17a, Stride: 1}, {Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}},
	LatinOffset: 2,
}

// read fills s.clean with the characters of the line without its control sequences, and s.came with
// where each is. payload is called with the range of each control string's content.
//
// Without overwrite, characters follow each other as they were written and CR is a hard break,
// unless it only wraps. With it, CR, BS and the cursor keys' sequences move, later text replaces
// earlier text, and EL cuts: a line editor's corrections. read reports whether anything in line
// moved the cursor back, which is when the second reading differs from the first, and whether
// anything moved it across the page, which is when rows have to be read: see placed.go.
func (s *scan) read(overwrite bool, payload func(from, to int)) (moved, placed bool) {
	s.clean, s.came = s.clean[:0], s.came[:0]
	line, cur := s.line, 0
	put := func(c byte, at int) {
		if cur == len(s.clean) {
			s.clean, s.came = append(s.clean, c), append(s.came, int32(at))
		} else {
			s.clean[cur], s.came[cur] = c, int32(at)
		}
		cur++
	}
	for i := 0; i < len(line); {
		c := line[i]
		switch {
		case c == esc:
			n, from, to := ansi.Sequence(line, i)
			if from < to {
				payload(from, to)
			}
			back, cut := motion(line[i : i+n])
			moved = moved || back > 0
			placed = placed || n > 2 && line[i+1] == '[' && cursor[line[i+n-1]]
			if overwrite {
				cur = s.move(cur, back)
				if cut {
					s.clean, s.came = s.clean[:cur], s.came[:cur]
				}
			}
			i += n
		case c == '\b':
			moved = true
			if overwrite {
				cur = s.move(cur, 1)
			}
			i++
		case c == '\r' && overwrite:
			cur = 0
			i++
		case c == '\r' && wraps(line, i):
			// The character before it was written to reach the next row and is written again.
			moved = true
			if cur > 0 {
				cur--
				s.clean, s.came = s.clean[:cur], s.came[:cur]
			}
			i++
		case c == '\r':
			moved = true
			put('\n', i)
			i++
		case c < 0x20 && c != '\t' && c != '\n' || c == 0x7f:
			i++
		case c >= 0xc2 && invisible(line, i) > 0:
			i += invisible(line, i)
		default:
			if cur < len(s.clean) && (c >= 0x80 || s.clean[cur] >= 0x80) {
				// Cells and bytes diverge here; drop the old text rather than mix the two.
				s.clean, s.came = s.clean[:cur], s.came[:cur]
			}
			put(c, i)
			i++
		}
	}
	return moved, placed
}

// wraps reports whether the CR at line[i] is how a line editor moves to the next row: zsh writes a
// space, CR and what follows; bash and zsh write the next character, CR, and that character again
// (readline 8.2, zsh 5.9, on a terminal with am and xenl).
func wraps(line string, i int) bool {
	if i == 0 || i+1 >= len(line) {
		return false
	}
	before, after := line[i-1], line[i+1]
	return before == ' ' && after != '\n' || before == after && after > ' '
}

// move returns the place in s.clean that is back characters left of cur, or -back right of it.
func (s *scan) move(cur, back int) int {
	// The steps that a character's bytes may take, also in text that is not UTF-8.
	inside := func(i, from int) bool {
		return i < len(s.clean) && !utf8.RuneStart(s.clean[i]) && max(i-from, from-i) < utf8.UTFMax
	}
	for ; back > 0 && cur > 0; back-- {
		from := cur
		for cur--; cur > 0 && inside(cur, from); cur-- {
		}
	}
	for ; back < 0 && cur < len(s.clean); back++ {
		from := cur
		for cur++; inside(cur, from); cur++ {
		}
	}
	return cur
}

// maxColumns bounds what one sequence moves, and so its cost; no terminal is wider.
const maxColumns = 1000

// csi reads a control sequence: its last byte, and the first two of its numbers, 0 where they are
// not given. more is how many semicolons it has; 2 for one with anything else, or for another
// sequence.
func csi(seq string) (final byte, n [2]int, more int) {
	if len(seq) < 3 || seq[1] != '[' {
		return 0, n, 2
	}
	for _, c := range []byte(seq[2 : len(seq)-1]) {
		switch {
		case c == ';' && more == 0:
			more = 1
		case rules.IsDigit(c) && more < 2:
			n[more] = min(n[more]*10+int(c-'0'), maxColumns)
		default:
			more = 2
		}
	}
	return seq[len(seq)-1], n, more
}

// motion returns how many columns a control sequence moves the cursor left (negative: right) and
// whether it erases to the end of the line. Other sequences do not move within a line.
func motion(seq string) (back int, cut bool) {
	switch final, n, more := csi(seq); {
	case more > 0:
	case final == 'D':
		return max(1, n[0]), false
	case final == 'C':
		return -max(1, n[0]), false
	case final == 'K':
		return 0, n[0] == 0
	}
	return 0, false
}

// stripped is text without the bytes that a reader sees through.
func stripped(text string) string {
	if plain(text) {
		return text
	}
	s := scan{line: text}
	s.read(false, func(int, int) {})
	return strings.Trim(string(s.clean), "\n")
}

// longRun is a quick check whether a line, or a reading of it, has at least least consecutive
// characters of a set.
func longRun(line string, in *[256]bool, least int) bool {
	run := 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case in[c]:
			if run++; run == least {
				return true
			}
		case c == esc:
			n, _, _ := ansi.Sequence(line, i)
			i += n - 1
		case c < 0x20 && c != '\t', c == 0x7f: // every reading omits it, or begins with it
		case c >= 0xc2 && invisible(line, i) > 0:
			i += invisible(line, i) - 1
		default:
			if run = 0; len(line)-i <= least {
				return false
			}
		}
	}
	return false
}

// mayBeLone is a quick check whether a line may by itself belong to a private key: see
// [rules.Lone].
func mayBeLone(line string) bool { return longRun(line, &rules.KeySet.Members, 64) }

// mayReadDotted is [rules.MayBeDotted] for a line with control sequences, which are in no reading.
// payloads: there are control strings among them, with blanks or without.
func mayReadDotted(line string, payloads bool) bool {
	if dot := strings.IndexByte(line, '.'); dot < 0 || strings.IndexByte(line[dot+1:], '.') < 0 {
		return false
	}
	if from, end := rules.NextLong(line, 0, &rules.Ink, rules.DottedLen); from == end && !payloads {
		return false
	}
	return longRun(line, &rules.DottedSet.Members, rules.DottedLen)
}
