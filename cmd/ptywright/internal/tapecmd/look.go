package tapecmd

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
	"github.com/ptywright/ptywright/tuitest/script"
	"github.com/ptywright/ptywright/tuitest/tape"
)

// A look is how a tape's pictures look.
type look struct {
	options picture.Options
	size    script.Size
	hide    *redact.Redactor
	rate    float64 // frames a second at most; 0: as animate has them
	speed   float64
	loop    float64 // where the film begins, 0 to 1
	blinks  bool    // the cursor does
	// drawn is called with how much of the film is drawn, goesOn reports whether it goes on.
	drawn  func(at time.Duration)
	goesOn func() bool
}

// A note is what people should know of a command: it is not done as VHS does it.
type note struct {
	at   tape.Command
	text string
}

// String says so, as compilers do.
func (n note) String() string { return fmt.Sprintf("%s: %s", n.at.Where(), n.text) }

// lookOf returns how a tape's pictures look, and what of its settings they do not show.
func lookOf(t *tape.Tape) (*look, []note) {
	h, late := t.Header()
	l := &look{speed: h.PlaybackSpeed, loop: h.LoopOffset / 100}
	known := new(redact.Known)
	known.AddEnv(os.Environ())
	for _, c := range t.Commands {
		if c.Kind == tape.Env {
			known.AddEnv([]string{c.Name + "=" + c.Text})
		}
	}
	l.hide = redact.Default.With(known)
	l.options.Clean = l.hide.String
	if l.loop >= 1 {
		l.loop = 0
	}
	ignored := l.window(&h)
	l.options.LineHeight, l.options.LetterSpacing = h.LineHeight, h.LetterSpacing
	var notes []note
	for _, c := range h.Given {
		switch c.Name {
		case "Framerate":
			l.rate = h.Framerate
		case "CursorBlink":
			l.blinks = h.CursorBlink
		}
		why := ignored[c.Name]
		if strings.HasPrefix(c.Name, "Subtitle") {
			why = "subtitles are not drawn"
		}
		if why != "" {
			notes = append(notes, note{c, fmt.Sprintf("Set %s is left out: %s", c.Name, why)})
		}
	}
	for _, c := range late {
		notes = append(notes, note{c, fmt.Sprintf("Set %s is left out: settings count before the first "+
			"other command, as in VHS", c.Name)})
	}
	told := map[tape.Kind]bool{}
	for _, c := range t.Commands {
		why := map[tape.Kind]string{
			tape.Scroll:   "pictures show the screen, not what has scrolled off",
			tape.Subtitle: "subtitles are not drawn",
		}[c.Kind]
		if why != "" && !told[c.Kind] {
			told[c.Kind] = true
			notes = append(notes, note{c, fmt.Sprintf("%s is left out: %s", c.Name, why)})
		}
	}
	if n := l.theme(&h); n != nil {
		notes = append(notes, *n)
	}
	l.options.FontSize = min(max(h.FontSize, picture.FontSizeMin), picture.FontSizeMax)
	l.options.Padding = int(h.Padding)
	l.size = l.sizeOf(&h)
	return l, notes
}

// window takes what is around the cells. It returns what of that is not drawn as the tape says, and why.
func (l *look) window(h *tape.Settings) (ignored map[string]string) {
	ignored = map[string]string{}
	if plain(h.FontFamily) != plain(picture.FontName) {
		ignored["FontFamily"] = "the font is " + picture.FontName + ", with others for what it lacks"
	}
	fill, isColor := tape.ParseColor(h.MarginFill)
	switch {
	case h.MarginFill == "" && h.Margin > 0:
		ignored["Margin"] = "it is drawn in the colour of MarginFill, which is not set, as in VHS"
	case h.MarginFill != "" && !isColor:
		ignored["MarginFill"] = "pictures are not drawn there, and a margin has colours of the theme"
	}
	if h.WindowBar == "" {
		ignored["WindowBarSize"] = "there is no bar without WindowBar, as in VHS"
	}
	if h.WindowBar == "" && h.BorderRadius == 0 && h.MarginFill == "" {
		return ignored
	}
	c := &picture.Chrome{Radius: int(h.BorderRadius)}
	if h.WindowBar != "" {
		c.Bar = int(h.WindowBarSize)
		c.Buttons.Right = strings.HasSuffix(h.WindowBar, "Right")
		c.Buttons.Rings = strings.HasPrefix(h.WindowBar, "Rings")
	}
	if h.MarginFill != "" {
		c.Margin = int(h.Margin)
	}
	if isColor {
		c.Fill = color.RGBA{uint8(fill >> 16), uint8(fill >> 8), uint8(fill), 0xff}
	}
	l.options.Chrome = c
	return ignored
}

// sizeOf returns how many cells fit into a picture of the tape's width and height.
func (l *look) sizeOf(h *tape.Settings) script.Size {
	o := l.options
	w0, h0 := picture.Size(&vt.Screen{}, o) // what stands around the cells
	w1, h1 := picture.Size(&vt.Screen{Rows: 1, Cols: 1}, o)
	side := func(pixels float64, around, cell int) int {
		return int(min(max(math.Floor((pixels-float64(around))/float64(cell)), 1), vt.MaxSide))
	}
	return script.Size{Rows: side(h.Height, h0, h1-h0), Cols: side(h.Width, w0, w1-w0)}
}

// baseTheme are the colours of what a theme leaves out.
func baseTheme() tape.Theme {
	d := picture.ThemeOf(vt.ThemeDark)
	t := tape.Theme{Foreground: number(d.Foreground), Background: number(d.Background),
		Cursor: number(d.Cursor)}
	for i := range t.Colors {
		t.Colors[i] = number(d.Palette[i])
	}
	return t
}

func number(c color.RGBA) uint32 { return uint32(c.R)<<16 | uint32(c.G)<<8 | uint32(c.B) }

// cubeStep is how far the levels of the colours 16 to 231 are apart, so that the last is white.
const cubeStep = 51

// theme takes the colours that a tape sets. Of a name only letters and digits count: VHS writes
// "Catppuccin Mocha" and "TokyoNight".
func (l *look) theme(h *tape.Settings) *note {
	if strings.HasPrefix(h.Theme, "{") {
		if t, err := tape.ParseTheme(h.Theme, baseTheme()); err == nil { // the tape's reader has read it
			l.options.Theme = picture.NewTheme(t.Foreground, t.Background, t.Colors, cubeStep)
			l.options.Theme.Cursor = color.RGBA{uint8(t.Cursor >> 16), uint8(t.Cursor >> 8),
				uint8(t.Cursor), 0xff}
			l.options.Theme.Terminal = vt.ThemeDark
			if light(l.options.Theme.Background) {
				l.options.Theme.Terminal = vt.ThemeLight
			}
		}
		return nil
	}
	for _, name := range picture.ThemeNames() {
		if plain(name) == plain(h.Theme) {
			l.options.Theme, _ = picture.ThemeNamed(name) // it has that name
			return nil
		}
	}
	for _, c := range h.Given {
		if c.Name == "Theme" && c.Text == h.Theme {
			return &note{c, fmt.Sprintf("the theme %q is not known, and the dark one is drawn: "+
				"spell it out as JSON, or name one of %s", h.Theme, strings.Join(picture.ThemeNames(), ", "))}
		}
	}
	return nil
}

// plain is a name without all but letters and digits.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// light reports whether a colour is nearer to white than to black: of what the eye takes for light,
// per mille of each colour (ITU-R BT.709).
func light(c color.RGBA) bool { return 213*int(c.R)+715*int(c.G)+72*int(c.B) > 1000*0x80 }
