package golden

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/ptywright/ptywright/engine/vt"
)

// letters gives styles their letters. It is asked in the order of the cells, so that a style's
// letter depends on nothing that comes after it.
type letters struct {
	of   map[vt.Style]rune
	used map[rune]bool
	next int // of pool
}

func newLetters(like *File) letters {
	l := letters{map[vt.Style]rune{}, map[rune]bool{}, 0}
	if like != nil {
		for letter, s := range like.Legend {
			l.used[letter] = true
			if first, ok := l.of[s]; !ok || letter < first { // edited by hand: two mean the same
				l.of[s] = letter
			}
		}
	}
	return l
}

// letter returns the letter of a style: the one it has, else the first free one of the initials of
// its words, else the first free one of all. ok is false when none is left.
func (l *letters) letter(s vt.Style) (letter rune, ok bool) {
	if letter, ok := l.of[s]; ok {
		return letter, true
	}
	for _, initial := range initials(s) {
		if !l.used[initial] {
			l.of[s], l.used[initial] = initial, true
			return initial, true
		}
	}
	for ; l.next < len(pool()); l.next++ {
		if letter := pool()[l.next]; !l.used[letter] {
			l.of[s], l.used[letter] = letter, true
			return letter, true
		}
	}
	return 0, false
}

// initials are the letters that a reader would guess: of the foreground, the attributes, and then
// the background, small and then capital.
func initials(s vt.Style) []rune {
	var small []rune
	for word := range strings.FieldsSeq(s.String()) {
		name, value, _ := strings.Cut(word, "=")
		if name != "fg" && name != "bg" {
			value = name
		}
		value = strings.TrimPrefix(value, "bright-")
		if c := value[0]; 'a' <= c && c <= 'z' {
			small = append(small, rune(c))
		}
	}
	capital := slices.Clone(small)
	for i := range capital {
		capital[i] = unicode.ToUpper(capital[i])
	}
	return append(small, capital...)
}

// pool are all letters in the order in which they are given: ASCII, and for screens with hundreds
// of styles (pictures in 24-bit colour) letters that take one column and are written from left to
// right.
var pool = sync.OnceValue(func() []rune {
	var p []rune
	for c := rune('a'); c <= 'z'; c++ {
		p = append(p, c)
	}
	for c := rune('A'); c <= 'Z'; c++ {
		p = append(p, c)
	}
	for c := rune('0'); c <= '9'; c++ {
		p = append(p, c)
	}
	for c := rune(0xc0); c < 0x250; c++ {
		if unicode.IsLetter(c) {
			p = append(p, c)
		}
	}
	for c := rune(0x370); c < 0x530; c++ { // Greek and Cyrillic
		if unicode.IsLetter(c) {
			p = append(p, c)
		}
	}
	for c := rune(0x1401); c < 0x166d; c++ { // Canadian syllabics
		p = append(p, c)
	}
	for c := rune(0x1200); c < 0x1380; c++ { // Ethiopic
		if unicode.IsLetter(c) {
			p = append(p, c)
		}
	}
	return p
})
