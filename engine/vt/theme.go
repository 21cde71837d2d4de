package vt

import (
	"bytes"
	"strconv"
)

// A Theme is the colours that a terminal reports to programs, and that pictures of a screen are
// drawn with. Programs cannot change it: colours set by OSC 4, 10, 11 and 12 are ignored, so that
// no answer contains anything that a program has sent.
type Theme uint8

const (
	ThemeDark  Theme = iota // light text on a dark background
	ThemeLight              // dark text on a light background
)

var themes = [...]struct {
	name                   string
	foreground, background Color
}{
	ThemeDark:  {"dark", RGBColor(0xd8, 0xd8, 0xd8), RGBColor(0x18, 0x18, 0x18)},
	ThemeLight: {"light", RGBColor(0x20, 0x20, 0x20), RGBColor(0xff, 0xff, 0xff)},
}

// ParseTheme returns the theme of that name, "dark" or "light"; ok is false for any other.
func ParseTheme(name string) (theme Theme, ok bool) {
	for i := range themes {
		if themes[i].name == name {
			return Theme(i), true
		}
	}
	return 0, false
}

// Themes returns the names of all themes.
func Themes() []string {
	names := make([]string, len(themes))
	for i := range themes {
		names[i] = themes[i].name
	}
	return names
}

// valid returns the theme itself, or the dark one for an invalid number.
func (t Theme) valid() Theme {
	if int(t) < len(themes) {
		return t
	}
	return ThemeDark
}

// String returns "dark" or "light".
func (t Theme) String() string { return themes[t.valid()].name }

// Foreground returns the colour of text in the default colour.
func (t Theme) Foreground() Color { return themes[t.valid()].foreground }

// Background returns the background colour.
func (t Theme) Background() Color { return themes[t.valid()].background }

// Cursor returns the colour of the cursor.
func (t Theme) Cursor() Color { return t.Foreground() }

// base16 are the first sixteen colours: hues of one lightness each, all legible on black and on
// white.
var base16 = [16]Color{
	0x000000, 0xcd3131, 0x0dbc79, 0xc9b40a, 0x2472c8, 0xbc3fbc, 0x11a8cd, 0xe5e5e5,
	0x666666, 0xf14c4c, 0x23d18b, 0xf5f543, 0x3b8eea, 0xd670d6, 0x29b8db, 0xffffff,
}

// PaletteColor returns entry i of the palette, the same in both themes: programs choose from it
// knowing neither. Those from 16 on are xterm's cube of 6x6x6 and its 24 greys, which programs rely
// on.
func PaletteColor(i uint8) Color {
	level := func(n uint8) uint8 {
		if n == 0 {
			return 0
		}
		return 55 + 40*n
	}
	switch {
	case i < 16:
		return colorRGB | base16[i]
	case i < 232:
		n := i - 16
		return RGBColor(level(n/36), level(n/6%6), level(n%6))
	}
	grey := 8 + 10*(i-232)
	return RGBColor(grey, grey, grey)
}

// SetTheme changes the theme. The Effect has the report for a program that asked for it (mode
// 2031).
func (t *Terminal) SetTheme(theme Theme) Effect {
	t.begin()
	if theme = theme.valid(); theme != t.theme {
		t.theme, t.fresh = theme, false
		t.effect.Dirty = true
		if t.modes.themeReports {
			t.reportTheme()
		}
	}
	return t.end()
}

// reportTheme says whether the theme is dark (1) or light (2): the answer to DSR 996 (contour's
// "Dark and Light Mode detection").
func (t *Terminal) reportTheme() { t.answer("\x1b[?997;%dn", int(t.theme)+1) }

// answerColour answers with a colour: head begins the sequence and names what it is the colour of;
// the answer ends as the query did.
func (t *Terminal) answerColour(head string, bel bool, c Color, numbers ...int) {
	end := "\x1b\\"
	if bel {
		end = "\a"
	}
	r, g, b, _ := c.RGB()
	numbers = append(numbers, int(r)*0x101, int(g)*0x101, int(b)*0x101)
	t.answer(head+";rgb:%04x/%04x/%04x"+end, numbers...)
}

// askPalette answers OSC 4: pairs of a number and a colour, where ? asks for it.
func (t *Terminal) askPalette(rest []byte, bel bool) {
	for len(rest) > 0 {
		var index, colour []byte
		index, rest, _ = bytes.Cut(rest, []byte{';'})
		colour, rest, _ = bytes.Cut(rest, []byte{';'})
		if i, err := strconv.ParseUint(string(index), 10, 8); err == nil && string(colour) == "?" {
			t.answerColour("\x1b]4;%d", bel, PaletteColor(uint8(i)), int(i))
		}
	}
}

// askColours answers OSC 10, 11 and 12: a colour for that number and one for each that follows,
// where ? asks for it.
func (t *Terminal) askColours(number int, rest []byte, bel bool) {
	for ; number <= 12; number++ {
		colour, after, more := bytes.Cut(rest, []byte{';'})
		if string(colour) == "?" {
			c := [...]Color{t.theme.Foreground(), t.theme.Background(), t.theme.Cursor()}[number-10]
			t.answerColour("\x1b]%d", bel, c, number)
		}
		if rest = after; !more {
			return
		}
	}
}
