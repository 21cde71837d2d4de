package picture

import (
	"fmt"
	"image/color"
	"math"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/vt"
)

// TestThemesAreTheTerminals: a picture has the colours that the terminal tells a program.
func TestThemesAreTheTerminals(t *testing.T) {
	same := func(what string, got color.RGBA, want vt.Color) {
		t.Helper()
		if r, g, b, ok := want.RGB(); !ok || got != (color.RGBA{r, g, b, 0xff}) {
			t.Errorf("%s is %v, the terminal's is %s", what, got, want)
		}
	}
	for terminal, theme := range map[vt.Theme]*Theme{vt.ThemeDark: ThemeOf(vt.ThemeDark), vt.ThemeLight: ThemeOf(vt.ThemeLight)} {
		same("text", theme.Foreground, terminal.Foreground())
		same("paper", theme.Background, terminal.Background())
		same("the cursor", theme.Cursor, terminal.Cursor())
		for i, c := range theme.Palette {
			same("a colour of the palette", c, vt.PaletteColor(uint8(i)))
		}
	}
	same("orange", ThemeOf(vt.ThemeDark).Palette[208], vt.RGBColor(0xff, 0x87, 0x00))
	same("dark grey", ThemeOf(vt.ThemeDark).Palette[232], vt.RGBColor(8, 8, 8))
}

// TestPictureHasTheScreensTheme, unless it is given another.
func TestPictureHasTheScreensTheme(t *testing.T) {
	for _, c := range []struct {
		screen vt.Theme
		given  *Theme
		paper  string
	}{
		{vt.ThemeDark, nil, "#181818"}, {vt.ThemeLight, nil, "#fff"},
		{vt.ThemeDark, ThemeOf(vt.ThemeLight), "#fff"}, {vt.ThemeLight, ThemeOf(vt.ThemeDark), "#181818"},
	} {
		s := vt.New(2, 5, vt.Options{Theme: c.screen}).Snapshot()
		for _, format := range []string{"svg", "html"} {
			b, err := Draw(s, format, Options{Theme: c.given})
			if err != nil || !strings.Contains(string(b), c.paper) {
				t.Errorf("%s of a %s screen: %v, no %s in %.300s", format, c.screen, err, c.paper, b)
			}
		}
		img, err := Image(s, Options{Theme: c.given, Padding: 2})
		if err != nil {
			t.Fatal(err)
		}
		theme := c.given
		if theme == nil {
			theme = ThemeOf(c.screen)
		}
		if got := img.RGBAAt(0, 0); got != theme.Background {
			t.Errorf("paper %v, want %v", got, theme.Background)
		}
	}
}

// contrast is that of WCAG 2.2: 1 to 21.
func contrast(a, b color.RGBA) float64 {
	light := func(c color.RGBA) float64 {
		part := func(v uint8) float64 {
			x := float64(v) / 255
			if x <= 0.04045 {
				return x / 12.92
			}
			return math.Pow((x+0.055)/1.055, 2.4)
		}
		return 0.2126*part(c.R) + 0.7152*part(c.G) + 0.0722*part(c.B)
	}
	x, y := light(a), light(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestThemesCanBeRead: each of the sixteen colours is readable on its theme's paper, and one differs
// from the published colour only where that is not.
func TestThemesCanBeRead(t *testing.T) {
	known, light := 0, 0
	for _, name := range ThemeNames() {
		theme, err := ThemeNamed(name)
		must(t, err)
		least := 3.0
		switch {
		case name == "light":
			least = 4.5
		case name != "dark":
			known++
		}
		if theme.Terminal == vt.ThemeLight {
			light++
		}
		if c := contrast(theme.Foreground, theme.Background); c < 4 {
			t.Errorf("%s: text has %.2f:1", name, c)
		}
		term := vt.New(2, 8, vt.Options{})
		for i := range uint8(8) { // as programs choose them
			fmt.Fprintf(feeder{term}, "\x1b[1;%dH\x1b[%dma\x1b[2;%dH\x1b[%dma", i+1, 30+i, i+1, 90+i)
		}
		for i, drawn := range theme.Text {
			cell := term.Snapshot().Cell(i/8, i%8)
			if k := theme.ink(cell.Style, false); k.fg != drawn || k.bg != theme.Background {
				t.Errorf("%s: colour %d is drawn as %v on %v, want %v", name, i, k.fg, k.bg, drawn)
			}
			if c := contrast(drawn, theme.Background); c < least {
				t.Errorf("%s: colour %d has %.2f:1", name, i, c)
			}
			if drawn != theme.Palette[i] && contrast(theme.Palette[i], theme.Background) >= least {
				t.Errorf("%s: colour %d is changed though it can be read", name, i)
			}
		}
	}
	if known < 10 || light < 2 {
		t.Errorf("%d known themes, %d light ones", known, light)
	}
}

// TestGroundsKeepTheirColour: only text on the theme's own paper is changed.
func TestGroundsKeepTheirColour(t *testing.T) {
	term := vt.New(1, 3, vt.Options{})
	term.Feed([]byte("\x1b[30;42ma\x1b[0;33;40mb\x1b[0;7;30mc"))
	s, theme := term.Snapshot(), ThemeOf(vt.ThemeDark)
	for x, want := range []ink{
		{fg: theme.Palette[0], bg: theme.Palette[2]}, {fg: theme.Palette[3], bg: theme.Palette[0]},
		{fg: theme.Background, bg: theme.Text[0]},
	} {
		if got := theme.ink(s.Cell(0, x).Style, false); got.fg != want.fg || got.bg != want.bg {
			t.Errorf("cell %d: %v, want %v", x, got, want)
		}
	}
}

// A feeder writes to a terminal.
type feeder struct{ t *vt.Terminal }

func (f feeder) Write(p []byte) (int, error) { f.t.Feed(p); return len(p), nil }

// TestUnknownTheme: the error names those that there are.
func TestUnknownTheme(t *testing.T) {
	if _, err := ThemeNamed("pink"); err == nil || !strings.Contains(err.Error(), "dark, light, dracula") {
		t.Errorf("%v", err)
	}
}
