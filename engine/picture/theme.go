package picture

import (
	"image/color"

	"github.com/ptywright/ptywright/engine/vt"
)

// A Theme gives the colours of a screen as RGBA.
type Theme struct {
	Foreground, Background color.RGBA // default text and background
	Cursor                 color.RGBA
	Palette                [256]color.RGBA // by number
}

// DarkTheme and LightTheme are the colours that a terminal of that theme reports to a program.
var (
	DarkTheme  = themeOf(vt.ThemeDark)
	LightTheme = themeOf(vt.ThemeLight)
)

// ThemeOf returns the theme with the colours of a terminal.
func ThemeOf(terminal vt.Theme) *Theme {
	if terminal == vt.ThemeLight {
		return LightTheme
	}
	return DarkTheme
}

func themeOf(terminal vt.Theme) *Theme {
	t := &Theme{
		Foreground: opaque(terminal.Foreground()), Background: opaque(terminal.Background()),
		Cursor: opaque(terminal.Cursor()),
	}
	for i := range t.Palette {
		t.Palette[i] = opaque(vt.PaletteColor(uint8(i)))
	}
	return t
}

// opaque returns the RGBA of a colour that is given as red, green and blue.
func opaque(c vt.Color) color.RGBA {
	r, g, b, _ := c.RGB()
	return color.RGBA{r, g, b, 0xff}
}

func rgb(c uint32) color.RGBA { return color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 0xff} }

// color returns the RGBA of c; def is the default.
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

// ink returns the colours of a style on a screen, with reverse video applied.
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

// mix is the colour of dim text: three parts text, two parts background.
func mix(a, b color.RGBA) color.RGBA {
	m := func(x, y uint8) uint8 { return uint8((int(x)*3 + int(y)*2) / 5) }
	return color.RGBA{m(a.R, b.R), m(a.G, b.G), m(a.B, b.B), 0xff}
}
