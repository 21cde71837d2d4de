package record

import (
	"image/color"

	"github.com/ptywright/ptywright/engine/vt"
)

// A Theme is what the colours of a screen look like.
type Theme struct {
	Foreground, Background color.RGBA // default text and paper
	Cursor                 color.RGBA
	Palette                [256]color.RGBA // by number
}

// DarkTheme and LightTheme differ in paper and text and in nothing else: programs choose from the palette knowing neither.
var (
	DarkTheme  = theme(rgb(0xd8d8d8), rgb(0x181818))
	LightTheme = theme(rgb(0x202020), rgb(0xffffff))
)

// base16 are the first sixteen colours: hues of one lightness each, all to be read on black and on white.
var base16 = [16]uint32{
	0x000000, 0xcd3131, 0x0dbc79, 0xc9b40a, 0x2472c8, 0xbc3fbc, 0x11a8cd, 0xe5e5e5,
	0x666666, 0xf14c4c, 0x23d18b, 0xf5f543, 0x3b8eea, 0xd670d6, 0x29b8db, 0xffffff,
}

func theme(fg, bg color.RGBA) *Theme {
	t := &Theme{Foreground: fg, Background: bg, Cursor: fg}
	for i, c := range base16 {
		t.Palette[i] = rgb(c)
	}
	// xterm's cube of 6x6x6 and its 24 greys, which programs count on.
	level := func(i int) uint8 {
		if i == 0 {
			return 0
		}
		return uint8(55 + 40*i)
	}
	for i := range 216 {
		t.Palette[16+i] = color.RGBA{level(i / 36), level(i / 6 % 6), level(i % 6), 0xff}
	}
	for i := range 24 {
		g := uint8(8 + 10*i)
		t.Palette[232+i] = color.RGBA{g, g, g, 0xff}
	}
	return t
}

func rgb(c uint32) color.RGBA { return color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 0xff} }

// color returns what c looks like; def is the default.
func (t *Theme) color(c vt.Color, def color.RGBA) color.RGBA {
	if i, ok := c.Index(); ok {
		return t.Palette[i]
	}
	if r, g, b, ok := c.RGB(); ok {
		return color.RGBA{r, g, b, 0xff}
	}
	return def
}

// An ink is how the cells of one style are drawn.
type ink struct {
	fg, bg color.RGBA
	line   color.RGBA // of the underline
}

// ink returns the colours of a style on a screen, reverse video and all.
func (t *Theme) ink(s vt.Style, reversed bool) ink {
	fg, bg := t.Foreground, t.Background
	if reversed {
		fg, bg = bg, fg
	}
	i := ink{fg: t.color(s.Foreground, fg), bg: t.color(s.Background, bg)}
	if s.Inverse {
		i.fg, i.bg = i.bg, i.fg
	}
	if s.Dim {
		i.fg = mix(i.fg, i.bg)
	}
	if s.Hidden {
		i.fg = i.bg
	}
	i.line = t.color(s.UnderlineColor, i.fg)
	if s.Hidden {
		i.line = i.bg
	}
	return i
}

// mix is what dim text looks like: three parts text, two parts paper.
func mix(a, b color.RGBA) color.RGBA {
	m := func(x, y uint8) uint8 { return uint8((int(x)*3 + int(y)*2) / 5) }
	return color.RGBA{m(a.R, b.R), m(a.G, b.G), m(a.B, b.B), 0xff}
}
