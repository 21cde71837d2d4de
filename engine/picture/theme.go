package picture

import (
	_ "embed" // themes.json
	"encoding/json"
	"fmt"
	"image/color"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
)

// A Theme gives the colours of a screen as RGBA.
type Theme struct {
	Foreground, Background color.RGBA // default text and background
	Cursor                 color.RGBA
	Palette                [256]color.RGBA // by number
	// Text are the first sixteen colours as text on Background, where each can be read: the published
	// ones, unless their contrast is below 3:1.
	Text     [16]color.RGBA
	Terminal vt.Theme // what a terminal with these colours tells programs: dark or light
}

//go:embed themes.json
var themesJSON string

// A namedTheme is a theme of themes.json.
type namedTheme struct {
	*Theme
	name string
}

// themes are the themes by name, dark and light first.
var themes = sync.OnceValue(func() (all []namedTheme) {
	type hex = string
	var data struct {
		Themes []struct {
			Name                           string
			Light                          bool
			Foreground, Background, Cursor hex
			Palette                        [16]hex
			Text                           map[string]hex
		}
	}
	if err := json.Unmarshal([]byte(themesJSON), &data); err != nil {
		panic(err) // the data is ours
	}
	parse := func(text hex) color.RGBA {
		n, err := strconv.ParseUint(strings.TrimPrefix(text, "#"), 16, 24)
		if err != nil {
			panic(err)
		}
		return rgb(uint32(n))
	}
	for _, d := range data.Themes {
		t := &Theme{Foreground: parse(d.Foreground), Background: parse(d.Background),
			Cursor: parse(d.Cursor)}
		if d.Light {
			t.Terminal = vt.ThemeLight
		}
		for i := range t.Palette {
			t.Palette[i] = opaque(vt.PaletteColor(uint8(i)))
		}
		for i, c := range d.Palette {
			t.Palette[i], t.Text[i] = parse(c), parse(c)
			if c, ok := d.Text[strconv.Itoa(i)]; ok {
				t.Text[i] = parse(c)
			}
		}
		all = append(all, namedTheme{t, d.Name})
	}
	return all
})

// ThemeNames are the names of all themes; "dark" and "light" come first.
func ThemeNames() (names []string) {
	for _, t := range themes() {
		names = append(names, t.name)
	}
	return names
}

// ThemeNamed returns the theme of that name. The error names them all.
func ThemeNamed(name string) (*Theme, error) {
	i := slices.IndexFunc(themes(), func(t namedTheme) bool { return t.name == name })
	if i < 0 {
		return nil, fmt.Errorf("%.32q is not a theme: use one of %s", name,
			strings.Join(ThemeNames(), ", "))
	}
	return themes()[i].Theme, nil
}

// ThemeOf returns the theme with the colours of a terminal.
func ThemeOf(terminal vt.Theme) *Theme {
	t, err := ThemeNamed(terminal.String())
	if err != nil {
		panic(err) // themes.json has both
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
	if n, ok := s.Foreground.Index(); ok && n < 16 && s.Background.IsDefault() && !reversed {
		i.fg = t.Text[n]
	}
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

// inkOf is ink for a cell's text: lines, blocks and the parts of prompts are no text, and meet grounds
// of the same colour.
func (t *Theme) inkOf(s vt.Style, text string, reversed bool) ink {
	if r, _ := utf8.DecodeRuneInString(text); !s.Inverse && (isBox(r) || r >= 0xe0b0 && r <= 0xe0d7) {
		if n, ok := s.Foreground.Index(); ok {
			s.Foreground = opaqueColor(t.Palette[n])
		}
	}
	return t.ink(s, reversed)
}

// opaqueColor is a colour as cells have it.
func opaqueColor(c color.RGBA) vt.Color { return vt.RGBColor(c.R, c.G, c.B) }

// mix is the colour of dim text: three parts text, two parts background.
func mix(a, b color.RGBA) color.RGBA {
	m := func(x, y uint8) uint8 { return uint8((int(x)*3 + int(y)*2) / 5) }
	return color.RGBA{m(a.R, b.R), m(a.G, b.G), m(a.B, b.B), 0xff}
}
