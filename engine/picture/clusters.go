package picture

import (
	_ "embed" // emoji-sequences.txt.gz
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/ptywright/ptywright/engine/vt"
)

//go:embed fonts/emoji-sequences.txt.gz
var emojiSequences string

// firstSequence is the character of the first line of emojiSequences in the emoji font.
const firstSequence = 0x100000

// sequences are the emoji of several characters that the emoji font draws, and the character for
// private use that each of them has there.
var sequences = sync.OnceValue(func() map[string]rune {
	all := map[string]rune{}
	next := rune(firstSequence)
	for line := range strings.Lines(string(unpack(emojiSequences))) {
		var key []rune
		for _, hex := range strings.Fields(line) {
			n, err := strconv.ParseUint(hex, 16, 21)
			if err != nil {
				panic(err) // the data is ours
			}
			key = append(key, rune(n))
		}
		all[string(key)] = next
		next++
	}
	return all
})

// sequence returns the character of the emoji font for several that make one emoji: as they are, or
// without the tones of skin; 0: it draws no such emoji.
func sequence(runes []rune) rune {
	if len(runes) < 2 {
		return 0
	}
	plain := slices.DeleteFunc(slices.Clone(runes), func(r rune) bool { return r == variation })
	if r := sequences()[string(plain)]; r != 0 {
		return r
	}
	toneless := slices.DeleteFunc(plain, tone)
	return sequences()[string(toneless)]
}

// joiner joins emoji to one; variation says that a character is an emoji, and changes nothing else.
const joiner, variation = 0x200d, 0xfe0f

// tone reports whether r is the skin's tone of the emoji before it.
func tone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// A part is a glyph of a cell and the column in it where it begins.
type part struct {
	glyph
	col int
}

// parts returns the glyphs of a cell that are drawn on top of each other: the base and its marks.
// Joiners, selectors and skin tones have no picture. Several characters that make one emoji are that
// one when the emoji font has it, else the first, of a flag the two letters.
func (f *face) parts(cell vt.Cell, blank bool) (out []part) {
	cols := 1
	if cell.Wide {
		cols = 2
	}
	first := glyph{cols: cols, bold: cell.Style.Bold, italic: cell.Style.Italic}
	runes := []rune(cell.Text)
	first.emoji = cell.Wide && (slices.Contains(runes, variation) || runes[0] >= 0x1f000)
	if r := sequence(runes); r != 0 {
		first.r, first.several = r, true
		return []part{{first, 0}}
	}
	for i, r := range runes {
		g := first
		g.r = r
		switch {
		case r == joiner:
			return out
		case r >= 0xfe00 && r <= variation || tone(r) && i > 0:
			continue
		case regional(r):
			if i < 2 && len(runes) > 1 {
				g.cols = 1
				out = append(out, part{g, i})
			} else if i == 0 {
				out = append(out, part{g, 0})
			}
			continue
		case i == 0:
			if blank && cols == 1 && private(r) {
				g.room = 2
			}
		case !unicode.Is(unicode.M, r) && f.fonts.choose(glyph{r: r}) == nil:
			continue
		default:
			g.base = runes[0]
		}
		out = append(out, part{g, 0})
	}
	return out
}

// regional reports whether r is half a flag.
func regional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// private reports whether r is of a private use area: an icon.
func private(r rune) bool {
	return r >= 0xe000 && r < 0xf900 || r >= 0xf0000 && r <= unicode.MaxRune
}
