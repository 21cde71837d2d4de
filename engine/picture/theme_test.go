package picture

import (
	"image/color"
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
