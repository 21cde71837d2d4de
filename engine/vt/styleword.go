package vt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// colours are the first 16 of the palette, by their place.
var colours = []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
	"bright-black", "bright-red", "bright-green", "bright-yellow", "bright-blue",
	"bright-magenta", "bright-cyan", "bright-white"}

// Word names a colour as people do: default, red, bright-red, the number of a palette entry from 16, or
// #rrggbb. It is the program's choice, not what a theme makes of it.
func (c Color) Word() string {
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

// parseColor is Word backwards.
func parseColor(word string) (Color, bool) {
	if word == "default" {
		return 0, true
	}
	if i := slices.Index(colours, word); i >= 0 {
		return IndexedColor(uint8(i)), true
	}
	if hex, ok := strings.CutPrefix(word, "#"); ok {
		v, err := strconv.ParseUint(hex, 16, 32)
		return RGBColor(uint8(v>>16), uint8(v>>8), uint8(v)), err == nil && len(hex) == 6
	}
	i, err := strconv.ParseUint(word, 10, 8)
	return IndexedColor(uint8(i)), err == nil
}

// attributes are the words of a style that is on or off.
var attributes = []struct {
	word string
	of   func(*Style) *bool
}{
	{"bold", func(s *Style) *bool { return &s.Bold }},
	{"dim", func(s *Style) *bool { return &s.Dim }},
	{"italic", func(s *Style) *bool { return &s.Italic }},
	{"inverse", func(s *Style) *bool { return &s.Inverse }},
	{"strike", func(s *Style) *bool { return &s.Strike }},
	{"hidden", func(s *Style) *bool { return &s.Hidden }},
	{"blink", func(s *Style) *bool { return &s.Blink }},
	{"overline", func(s *Style) *bool { return &s.Overline }},
}

// underlines are the words after "underline=", by UnderlineStyle; a single one has none.
var underlines = []UnderlineStyle{UnderlineDouble, UnderlineCurly, UnderlineDotted,
	UnderlineDashed}

// String describes a style in words: "fg=green bg=#002b36 bold underline=curly link=https://go.dev"; ""
// for the default.
func (s Style) String() string {
	var words []string
	add := func(name string, c Color) {
		if !c.IsDefault() {
			words = append(words, name+c.Word())
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
	case UnderlineNone:
	case UnderlineSingle:
		words = append(words, "underline")
	default:
		words = append(words, "underline="+s.Underline.String())
	}
	add("underline-color=", s.UnderlineColor)
	if s.Link != "" {
		link := s.Link
		if strings.ContainsAny(link, " \"\\") || strings.ContainsFunc(link, func(c rune) bool { return !unicode.IsPrint(c) }) {
			link = strconv.Quote(link)
		}
		words = append(words, "link="+link)
	}
	return strings.Join(words, " ")
}

// ParseStyle is [Style.String] backwards. Words may come in any order; "default" alone is the default
// style.
func ParseStyle(words string) (Style, error) {
	var s Style
	if strings.TrimSpace(words) == "default" {
		return s, nil
	}
	for rest := strings.TrimSpace(words); rest != ""; rest = strings.TrimLeft(rest, " ") {
		var word string
		if word, rest = cutWord(rest); !styleWord(&s, word) {
			if r := []rune(word); len(r) > 32 { // an error quotes no more
				word = string(r[:32]) + "…"
			}
			return Style{}, fmt.Errorf("unknown style %s: have %s, fg=COLOR, bg=COLOR, "+
				"underline-color=COLOR, link=URI; a colour is a name such as red or bright-red, "+
				"a palette number or #rrggbb", strconv.Quote(word), strings.Join(styleNames(), ", "))
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

func styleWord(s *Style, word string) bool {
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
		s.Underline = UnderlineSingle
	case !given:
		return false
	case name == "underline":
		i := slices.IndexFunc(underlines, func(u UnderlineStyle) bool { return u.String() == value })
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
