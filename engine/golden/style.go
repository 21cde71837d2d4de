package golden

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/ptywright/ptywright/engine/vt"
)

// colours are the first 16 of the palette, by their place.
var colours = []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
	"bright-black", "bright-red", "bright-green", "bright-yellow", "bright-blue",
	"bright-magenta", "bright-cyan", "bright-white"}

// ColorWord names a colour: default, red, bright-red, the number of a palette entry from 16, or
// #rrggbb. It is the program's choice, not what a theme makes of it.
func ColorWord(c vt.Color) string {
	if i, ok := c.Index(); ok {
		if int(i) < len(colours) {
			return colours[i]
		}
		return strconv.Itoa(int(i))
	}
	if r, g, b, ok := c.RGB(); ok {
		return fmt.Sprintf("#%02x%02x%02x", r, g, b)
	}
	return "default"
}

// parseColor is ColorWord backwards.
func parseColor(word string) (vt.Color, bool) {
	if word == "default" {
		return 0, true
	}
	if i := slices.Index(colours, word); i >= 0 {
		return vt.IndexedColor(uint8(i)), true
	}
	if hex, ok := strings.CutPrefix(word, "#"); ok {
		v, err := strconv.ParseUint(hex, 16, 32)
		return vt.RGBColor(uint8(v>>16), uint8(v>>8), uint8(v)), err == nil && len(hex) == 6
	}
	i, err := strconv.ParseUint(word, 10, 8)
	return vt.IndexedColor(uint8(i)), err == nil
}

// attributes are the words of a style that is on or off.
var attributes = []struct {
	word string
	of   func(*vt.Style) *bool
}{
	{"bold", func(s *vt.Style) *bool { return &s.Bold }},
	{"dim", func(s *vt.Style) *bool { return &s.Dim }},
	{"italic", func(s *vt.Style) *bool { return &s.Italic }},
	{"inverse", func(s *vt.Style) *bool { return &s.Inverse }},
	{"strike", func(s *vt.Style) *bool { return &s.Strike }},
	{"hidden", func(s *vt.Style) *bool { return &s.Hidden }},
	{"blink", func(s *vt.Style) *bool { return &s.Blink }},
	{"overline", func(s *vt.Style) *bool { return &s.Overline }},
}

// underlines are the words after "underline=", by vt.UnderlineStyle; a single one has none.
var underlines = []vt.UnderlineStyle{vt.UnderlineDouble, vt.UnderlineCurly, vt.UnderlineDotted,
	vt.UnderlineDashed}

// StyleWords describes a style: "fg=green bg=#002b36 bold underline=curly link=https://go.dev"; ""
// for the default.
func StyleWords(s vt.Style) string {
	var words []string
	add := func(name string, c vt.Color) {
		if !c.IsDefault() {
			words = append(words, name+ColorWord(c))
		}
	}
	add("fg=", s.Foreground)
	add("bg=", s.Background)
	for _, a := range attributes {
		if *a.of(&s) {
			words = append(words, a.word)
		}
	}
	switch s.Underline {
	case vt.UnderlineNone:
	case vt.UnderlineSingle:
		words = append(words, "underline")
	default:
		words = append(words, "underline="+s.Underline.String())
	}
	add("underline-color=", s.UnderlineColor)
	if s.Link != "" {
		link := s.Link
		if strings.ContainsAny(link, " \"\\") || !printable(link) {
			link = strconv.Quote(link)
		}
		words = append(words, "link="+link)
	}
	return strings.Join(words, " ")
}

// ParseStyle is [StyleWords] backwards. Words may come in any order; "default" alone is the default
// style.
func ParseStyle(words string) (vt.Style, error) {
	var s vt.Style
	if strings.TrimSpace(words) == "default" {
		return s, nil
	}
	for rest := strings.TrimSpace(words); rest != ""; rest = strings.TrimLeft(rest, " ") {
		var word string
		if word, rest = cutWord(rest); !styleWord(&s, word) {
			return vt.Style{}, fmt.Errorf("unknown style %s: have %s, fg=COLOR, bg=COLOR, "+
				"underline-color=COLOR, link=URI; a colour is a name such as red or bright-red, "+
				"a palette number or #rrggbb", clip(word), strings.Join(styleNames(), ", "))
		}
	}
	return s, nil
}

// cutWord cuts the first word off; a link may be quoted.
func cutWord(s string) (word, rest string) {
	if quoted, ok := strings.CutPrefix(s, `link="`); ok {
		if q, err := strconv.QuotedPrefix(`"` + quoted); err == nil {
			return "link=" + q, quoted[len(q)-1:]
		}
	}
	word, rest, _ = strings.Cut(s, " ")
	return word, rest
}

func styleNames() []string {
	var names []string
	for _, a := range attributes {
		names = append(names, a.word)
	}
	names = append(names, "underline")
	for _, u := range underlines {
		names = append(names, "underline="+u.String())
	}
	return names
}

func styleWord(s *vt.Style, word string) bool {
	for _, a := range attributes {
		if a.word == word {
			*a.of(s) = true
			return true
		}
	}
	name, value, given := strings.Cut(word, "=")
	ok := true
	switch {
	case word == "underline":
		s.Underline = vt.UnderlineSingle
	case !given:
		return false
	case name == "underline":
		i := slices.IndexFunc(underlines, func(u vt.UnderlineStyle) bool { return u.String() == value })
		if ok = i >= 0; ok {
			s.Underline = underlines[i]
		}
	case name == "fg":
		s.Foreground, ok = parseColor(value)
	case name == "bg":
		s.Background, ok = parseColor(value)
	case name == "underline-color":
		s.UnderlineColor, ok = parseColor(value)
	case name == "link":
		if strings.HasPrefix(value, `"`) {
			unquoted, err := strconv.Unquote(value)
			s.Link, ok = unquoted, err == nil
		} else {
			s.Link = value
		}
	default:
		return false
	}
	return ok
}

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
	for word := range strings.FieldsSeq(StyleWords(s)) {
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
