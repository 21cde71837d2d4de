package picture

import (
	"image/color"
	"regexp"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/vt"
)

// small is a screen with little on it.
func small(rows, cols int, text string) *vt.Screen {
	term := vt.New(rows, cols, vt.Options{})
	term.Feed([]byte("\x1b[?25l" + text))
	return term.Snapshot()
}

// TestChrome: margin, bar, buttons and corners are where the measures say, in each format.
func TestChrome(t *testing.T) {
	purple := color.RGBA{0x67, 0x4e, 0xff, 0xff}
	dark := ThemeOf(vt.ThemeDark)
	s := small(5, 40, "text")
	for name, buttons := range map[string]ButtonStyle{"discs": {}, "discs on the right": {Right: true},
		"rings": {Rings: true}, "rings on the right": {Right: true, Rings: true}} {
		o := Options{Fonts: ownFonts(), Theme: dark, Padding: 16,
			Chrome: &Chrome{Bar: 36, Radius: 10, Margin: 20, Fill: purple, Buttons: buttons}}
		img, err := Image(s, o)
		must(t, err)
		w, h := 40*9+2*(16+20), 5*18+2*(16+20)+36
		if size := img.Rect.Size(); size.X != w || size.Y != h {
			t.Fatalf("%s: %v, not %dx%d", name, size, w, h)
		}
		l := o.layout(s, 1)
		side := func(x int) int { // from the left, of what is on either side
			if buttons.Right {
				return w - 1 - x
			}
			return x
		}
		// A disc has a radius of 6 around 18 and then 36 (12 and 6 further) more; a ring one of 7.2,
		// with a hole of 5.8, and the next is 20 further.
		first, step := 20+18, 18
		hole := l.buttonColour(0)
		if buttons.Rings {
			step, hole = 20, l.barColour()
		}
		for what, at := range map[string]struct {
			x, y int
			want color.RGBA
		}{
			"the margin":           {5, 5, purple},
			"the margin below":     {w / 2, h - 3, purple},
			"behind the corner":    {21, 21, purple},
			"behind the last one":  {w - 22, h - 22, purple},
			"the bar":              {w / 2, 20 + 34, l.barColour()},
			"the paper":            {w / 2, 20 + 36 + 3, dark.Background},
			"the first button":     {side(first), 20 + 18, hole},
			"beside it":            {side(first - 9), 20 + 18, l.barColour()},
			"the first one's edge": {side(first - 5), 20 + 18, l.buttonColour(0)},
			"the third one's edge": {side(first + 2*step + 4), 20 + 18, map[bool]color.RGBA{true: l.barColour(), false: l.buttonColour(2)}[buttons.Rings]},
		} {
			if strings.Contains(what, "edge") && buttons.Rings {
				continue // a ring is thinner than two pixels, and drawn smoothly
			}
			if got := img.RGBAAt(at.x, at.y); got != at.want {
				t.Errorf("%s: %s has %v, not %v", name, what, got, at.want)
			}
		}
		svg, err := SVG(s, o)
		must(t, err)
		page, err := HTML(s, o)
		must(t, err)
		circles := map[bool]int{false: 3, true: 6}[buttons.Rings]
		for what, text := range map[string]string{"svg": svg, "html": page} {
			if n := strings.Count(text, "<circle "); n != circles {
				t.Errorf("%s: %d circles in the %s", name, n, what)
			}
			if !strings.Contains(text, "#674eff") {
				t.Errorf("%s: no fill in the %s", name, what)
			}
		}
		if !strings.Contains(svg, `rx="10"`) || !strings.Contains(page, "border-radius:10px") {
			t.Errorf("%s: square corners", name)
		}
	}
}

// TestChromeWithoutFill: without a colour nothing is behind the corners, and a margin has colours of
// the theme. The measures are bounded.
func TestChromeWithoutFill(t *testing.T) {
	s := small(5, 40, "text")
	o := Options{Fonts: ownFonts(), Theme: ThemeOf(vt.ThemeDark), Chrome: &Chrome{Radius: 20}}
	img, err := Image(s, o)
	must(t, err)
	if c := img.RGBAAt(0, 0); c.A != 0 {
		t.Errorf("behind the corner is %v", c)
	}
	if c := img.RGBAAt(20, 1); c != o.Theme.Background {
		t.Errorf("the paper is %v", c)
	}
	o.Chrome = &Chrome{Margin: 10}
	img, err = Image(s, o)
	must(t, err)
	if a, b := img.RGBAAt(2, 2), img.RGBAAt(img.Rect.Dx()-3, img.Rect.Dy()-3); a == b || a.A != 0xff || b.A != 0xff {
		t.Errorf("the margin is %v and %v", a, b)
	}
	o.Chrome = &Chrome{}
	plain, err := Image(s, o)
	must(t, err)
	if w, h := plain.Rect.Dx(), plain.Rect.Dy(); w != 40*9 || h != 5*18 {
		t.Errorf("without anything it has %dx%d pixels", w, h)
	}
	for _, c := range []*Chrome{{Bar: 1 << 30, Radius: 1 << 30, Margin: 1 << 30}, {Bar: -5, Radius: -5, Margin: -5}} {
		o.Chrome = c
		if w, h := Size(s, o); w < 40*9 || h < 5*18 || w > 40*9+4*ChromeMax || h > 5*18+5*ChromeMax {
			t.Errorf("%+v: %dx%d pixels", c, w, h)
		}
	}
}

// TestCellsApart: rows and columns are as far apart as asked, boxes still join, and text is where its
// cell is.
func TestCellsApart(t *testing.T) {
	s := small(3, 4, "┌──┐\r\n│ab│\r\n└──┘")
	for _, c := range []struct {
		line, spacing float64
		w, h          int // of a cell
	}{{0, 0, 9, 18}, {1.5, 3, 12, 27}, {0.8, -2, 7, 14}, {100, 1e9, 9 + 4*9, 4 * 18}, {0.01, -1e9, 4, 9}} {
		o := Options{Fonts: ownFonts(), Theme: ThemeOf(vt.ThemeDark), LineHeight: c.line, LetterSpacing: c.spacing}
		img, err := Image(s, o)
		must(t, err)
		if size := img.Rect.Size(); size.X != 4*c.w || size.Y != 3*c.h {
			t.Errorf("%+v: %v", c, size)
			continue
		}
		ink := o.Theme.Background
		for y := c.h / 2; y < 3*c.h-c.h/2-1; y++ { // the box's left side, from corner to corner
			found := false
			for x := range c.w {
				found = found || img.RGBAAt(x, y) != ink
			}
			if !found {
				t.Errorf("%+v: a gap in the box, in line %d", c, y)
				break
			}
		}
		svg, err := SVG(s, o)
		must(t, err)
		at := regexp.MustCompile(`<tspan x="(\d+)" textLength="(\d+)"([^>]*)>ab<`).FindStringSubmatch(svg)
		if at == nil {
			t.Errorf("%+v: no text in %s", c, svg)
			continue
		}
		if stretched := strings.Contains(at[3], "lengthAdjust"); stretched != (c.spacing == 0) {
			t.Errorf("%+v: %s", c, at[0])
		}
		page, err := HTML(s, o)
		must(t, err)
		if strings.Contains(page, "letter-spacing") != (c.spacing != 0) {
			t.Errorf("%+v: letters in HTML are not apart", c)
		}
	}
}

// TestTitleIsBounded: a title of any length is cut in every format, and has no control characters.
func TestTitleIsBounded(t *testing.T) {
	s := small(3, 40, "text")
	for _, frame := range []Frame{FrameNone, FrameWindow} {
		o := Options{Fonts: ownFonts(), Frame: frame, Title: "\x1b]0;a\u202etitle\n" + strings.Repeat("x", 10<<20)}
		for _, format := range []string{"png", "svg", "html"} {
			data, err := Draw(s, format, o)
			must(t, err)
			if len(data) > 64<<10 {
				t.Errorf("%s, %s: %d bytes", format, frame, len(data))
			}
			if format != "png" && strings.ContainsAny(string(data), "\x1b\u202e") {
				t.Errorf("%s, %s: control characters", format, frame)
			}
		}
	}
}
