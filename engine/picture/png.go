package picture

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"path/filepath"
	"strings"

	"github.com/ptywright/ptywright/engine/vt"
)

// MaxPixels bounds a picture in pixels: 128 MiB of memory while it is drawn. A screen of 1000x200
// in the default size has 32 million.
const MaxPixels = 32 << 20

// Sizes of text, in pixels. Smaller characters all look alike; larger cells cost over 64 KiB each.
const (
	FontSizeMin     = 6
	FontSizeMax     = 128
	DefaultFontSize = 15 // cells of 9 by 18
)

// A SizeError says that a picture would be too large. It is [ErrTooLarge].
type SizeError struct {
	Width, Height, Most int // pixels; Most limits Width times Height
	Screens             int // how many [Tiles] was to draw, in the smallest font; else 0
}

func (e *SizeError) Error() string {
	if e.Screens > 0 {
		return fmt.Sprintf("a picture of %d screens has at least %dx%d pixels, the limit is %d pixels; show fewer of them", e.Screens, e.Width, e.Height, e.Most)
	}
	return fmt.Sprintf("a picture of %dx%d pixels is too large, the limit is %d pixels; ask for a smaller font, scale or padding, or for fewer rows and columns",
		e.Width, e.Height, e.Most)
}
func (e *SizeError) Unwrap() error { return ErrTooLarge }

// Options say how a screen is drawn. The zero value draws it in its own theme, with text of 15
// pixels and the cursor.
type Options struct {
	Theme    *Theme  // nil: the screen's; dark for several screens
	FontSize float64 // pixels; 0: DefaultFontSize; clamped to FontSizeMin and FontSizeMax
	Fonts    *Fonts  // for what DejaVu Sans Mono lacks; nil: the built-in ones and the system's
	Padding  int     // pixels around the cells; clamped to 0..PaddingMax
	Frame    Frame   // around the screen; [Tiles] and ANSI have none
	Title    string  // in the frame's bar; "": the screen's
	Scale    float64 // pixels of the picture for one; 0: 1; clamped to ScaleMin and ScaleMax
	Chrome   *Chrome // in place of Frame; nil: none
	NoCursor bool    // draw no cursor, even where the program shows it
	// LineHeight is the height of a row, of what the font has; 0: 1. LetterSpacing is how many pixels
	// columns are further apart. Both are clamped to what leaves text that can be read.
	LineHeight, LetterSpacing float64
	// Missing is called for each character that no font has, once or more: it is drawn as a frame
	// with its number in it. Only PNG and animations of pixels have such characters; SVG and HTML
	// leave them to their readers' fonts.
	Missing func(r rune)
	// Clean is applied to the title and to links, which a mask does not reach; nil leaves them
	// unchanged.
	Clean func(text string) string
}

func (o Options) clean(text string) string {
	if o.Clean == nil || text == "" {
		return text
	}
	return o.Clean(text)
}

func (o Options) theme(of vt.Theme) *Theme {
	if o.Theme != nil {
		return o.Theme
	}
	return ThemeOf(of)
}

// size is the font size in pixels, rounded to a quarter.
func (o Options) size() float64 {
	size := o.FontSize
	if !(size > 0) {
		size = DefaultFontSize
	}
	return math.Round(min(max(size, FontSizeMin), FontSizeMax)*4) / 4
}

// Bounds of the measures of cells: rows of half a font's height overlap, and more than four heights
// between them look like several texts.
const (
	lineHeightMin, lineHeightMax = 0.5, 4
	letterSpacingMax             = 4 // widths of a cell
)

// metrics are those of a picture's cells.
func (o Options) metrics(scale float64) metrics {
	m := metrics{size: o.size() * scale, line: 1}
	if o.LineHeight > 0 {
		m.line = min(max(o.LineHeight, lineHeightMin), lineHeightMax)
	}
	if w, _ := cellSize(m.size); !math.IsNaN(o.LetterSpacing) {
		m.spacing = min(max(o.LetterSpacing*scale, -float64(w)/2), float64(w*letterSpacingMax))
	}
	return m
}

// FontName is the name of the font that text is drawn with.
const FontName = "DejaVu Sans Mono"

// FontSizeOK reports whether px is a valid font size: [FontSizeMin] to [FontSizeMax].
func FontSizeOK(px float64) bool { return px >= FontSizeMin && px <= FontSizeMax }

// Bounds of Options.
const (
	PaddingMax = 1000 // pixels
	ScaleMin   = 1
	ScaleMax   = 4
)

func (o Options) padding() int { return min(max(o.Padding, 0), PaddingMax) }

// scale is how many pixels there are for one.
func (o Options) scale() float64 {
	if !(o.Scale > 0) {
		return 1
	}
	return min(max(o.Scale, ScaleMin), ScaleMax)
}

// Size returns the size of the screen's [PNG] in pixels.
func Size(s *vt.Screen, o Options) (width, height int) { return o.layout(s, o.scale()).size() }

// ErrFormat is about a picture format that [Draw] does not know.
var ErrFormat = errors.New("is not a picture format: use png, svg, html or ansi; ansi is text, as a .txt file has it")

// formats are the formats of pictures, by their files' extensions.
var formats = map[string]string{
	".png": "png", ".svg": "svg", ".html": "html", ".htm": "html", ".ansi": "ansi", ".ans": "ansi",
	".txt": "ansi",
}

// A PathError says that a path does not match a picture's format: its extension is that of another
// kind of file, which it may be.
type PathError struct {
	Path   string
	Format string // as requested; "": by the path
}

// Error quotes only the extension.
func (e *PathError) Error() string {
	ext := filepath.Ext(e.Path)
	if len(ext) > 32 { // not a known one
		ext = ext[:32] + "..."
	}
	switch is := formats[strings.ToLower(ext)]; {
	case is != "" && e.Format != "":
		return fmt.Sprintf("ends in %q, the format is %s: leave the format out, give %s, or another extension", ext, e.Format, is)
	case e.Format != "":
		return fmt.Sprintf("ends in %q, which is not an extension of %s: give .%s, or no extension",
			ext, e.Format, e.Format)
	}
	return fmt.Sprintf("ends in %q, which is not a picture's extension: give .png, .svg, .html, .ansi or .txt, or none and a format", ext)
}

// FormatFor returns the format of a picture for path: format when it is given, else that of path's
// extension, png when path is empty or has no extension. So only a file whose name says that it is
// such a picture is replaced. Errors: [ErrFormat], *[PathError].
func FormatFor(format, path string) (string, error) {
	switch format {
	case "", "png", "svg", "html", "ansi":
	default:
		return "", fmt.Errorf("%.32q %w", format, ErrFormat)
	}
	ext := strings.ToLower(filepath.Ext(path))
	if ext == "" || ext == "." { // the latter names a folder, and is refused later
		return cmp.Or(format, "png"), nil
	}
	is := formats[ext]
	if is == "" || format != "" && is != format {
		return "", &PathError{path, format}
	}
	return is, nil
}

// Draw draws the screen as "png", "svg", "html" or "ansi". Mask it before. Errors are those of
// [PNG], [SVG] and [HTML], and [ErrFormat].
func Draw(s *vt.Screen, format string, o Options) ([]byte, error) {
	var text string
	var err error
	switch format {
	case "png":
		return PNG(s, o)
	case "svg":
		text, err = SVG(s, o)
	case "html":
		text, err = HTML(s, o)
	case "ansi":
		text = ANSI(s, o.Clean)
	default:
		err = fmt.Errorf("%.32q %w", format, ErrFormat)
	}
	return []byte(text), err
}

// PNG draws the screen as a PNG, with a cursor that does not blink. Text is DejaVu Sans Mono; see
// [Options].Fonts for the rest. Mask the screen before. The error is a *[SizeError].
func PNG(s *vt.Screen, o Options) ([]byte, error) {
	img, err := Image(s, o)
	if err != nil {
		return nil, err
	}
	return encode(img)
}

func encode(img *image.RGBA) ([]byte, error) {
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed} // half the time for 5 % more bytes
	if err := enc.Encode(&b, img); err != nil {
		return nil, fmt.Errorf("encode a picture: %w", err)
	}
	return b.Bytes(), nil
}

// Image is [PNG] without the encoding.
func Image(s *vt.Screen, o Options) (*image.RGBA, error) {
	p, err := newPainter(o.layout(s, o.scale()), s, o)
	if err != nil {
		return nil, err
	}
	p.c.screen(s, !o.NoCursor)
	p.finish(p.c.img)
	return p.c.img, nil
}

// A painter draws a picture: what is around its screen is drawn, once.
type painter struct {
	*layout
	c canvas
}

func newPainter(l *layout, s *vt.Screen, o Options) (*painter, error) {
	w, h, err := l.bounded()
	if err != nil {
		return nil, err
	}
	p := &painter{l, canvas{
		img: image.NewRGBA(image.Rect(0, 0, w, h)), face: l.face, theme: l.theme,
		origin: l.origin(), missing: o.Missing}}
	l.decorate(&p.c, l.theme.ink(vt.Style{}, s.Modes.ReverseVideo).bg)
	return p, nil
}

// A canvas is a picture being drawn, or the part of one that a screen gets.
type canvas struct {
	img     *image.RGBA
	face    *face
	theme   *Theme
	origin  image.Point // position of the first cell
	missing func(rune)  // is told of characters that no font has; nil: nobody is
}

// screen draws the cells of s. Their paper is drawn already.
func (c *canvas) screen(s *vt.Screen, cursor bool) {
	for y := range s.Rows {
		c.row(y, cellsOf(s, y), s.Modes.ReverseVideo)
	}
	if s.Cursor.Visible && cursor {
		c.drawCursor(s)
	}
}

// at returns the rectangle of cols cells from row y, column x on.
func (c *canvas) at(y, x, cols int) image.Rectangle {
	return image.Rect(x*c.face.w, y*c.face.h, (x+cols)*c.face.w, (y+1)*c.face.h).Add(c.origin)
}

func (c *canvas) fill(r image.Rectangle, to color.RGBA) {
	draw.Draw(c.img, r, image.NewUniform(to), image.Point{}, draw.Src)
}

// row draws the background first and then text, since glyphs may extend into the next cell.
func (c *canvas) row(y int, cells []vt.Cell, reversed bool) {
	for x := 0; x < len(cells); {
		n := x + 1
		for n < len(cells) && cells[n].Style == cells[x].Style {
			n++
		}
		if s := cells[x].Style; !s.Background.IsDefault() || s.Inverse {
			c.fill(c.at(y, x, n-x), c.theme.ink(s, reversed).bg)
		}
		x = n
	}
	for x, cell := range cells {
		if !cell.Continuation {
			c.cell(y, x, cell, c.theme.inkOf(cell.Style, cell.Text, reversed), blankAt(cells, x+1))
		}
	}
}

// blankAt reports whether a column shows no text.
func blankAt(cells []vt.Cell, x int) bool {
	return x < len(cells) && !cells[x].Continuation && strings.TrimSpace(cells[x].Text) == ""
}

// cell draws a character and its lines; an icon may be wider than its cell before a blank one.
func (c *canvas) cell(y, x int, cell vt.Cell, k ink, blank bool) {
	cols := 1
	if cell.Wide {
		cols = 2
	}
	r := c.at(y, x, cols)
	if !cell.Style.Hidden && cell.Text != "" && cell.Text != " " {
		paint := image.NewUniform(k.fg)
		for _, p := range c.face.parts(cell, blank) {
			m := c.face.mask(p.glyph)
			if m.missing && c.missing != nil {
				c.missing(p.r)
			}
			at := r.Min.Add(image.Pt(p.col*c.face.w, 0))
			draw.DrawMask(c.img, m.Rect.Add(at), paint, image.Point{}, m, m.Rect.Min, draw.Over)
		}
	}
	if st := shown(cell.Style); st.Underline != 0 || st.Strike || st.Overline {
		c.lines(r, x, st, k)
	}
}

// lines draws the lines under, through and over a cell.
func (c *canvas) lines(r image.Rectangle, x int, s vt.Style, k ink) {
	t := max(1, c.face.h/18)
	under := min(r.Min.Y+c.face.baseline+t+1, r.Max.Y-t)
	at := func(y int, to color.RGBA) { c.fill(image.Rect(r.Min.X, y, r.Max.X, y+t), to) }
	switch s.Underline {
	case vt.UnderlineSingle:
		at(under, k.line)
	case vt.UnderlineDouble:
		second := min(under+2*t, r.Max.Y-t)
		at(second-2*t, k.line)
		at(second, k.line)
	case vt.UnderlineDotted, vt.UnderlineDashed:
		on, period := t, 2*t
		if s.Underline == vt.UnderlineDashed {
			on, period = max(2, c.face.w/2), max(3, c.face.w*3/4)
		}
		for px := r.Min.X; px < r.Max.X; px++ {
			if (px-c.origin.X)%period < on {
				c.fill(image.Rect(px, under, px+1, under+t), k.line)
			}
		}
	case vt.UnderlineCurly:
		high := float64(max(1, (r.Max.Y-under-t)/2+1)) // amplitude: as much as there is room for
		for px := r.Min.X; px < r.Max.X; px++ {
			wave := math.Sin(2 * math.Pi * float64(px-c.origin.X) / float64(c.face.w))
			y := min(under+int(math.Round(high/2+wave*high/2)), r.Max.Y-t)
			c.fill(image.Rect(px, y, px+1, y+t), k.line)
		}
	}
	if s.Strike {
		at(r.Min.Y+c.face.baseline-int(0.26*c.face.size), k.fg)
	}
	if s.Overline {
		at(r.Min.Y, k.fg)
	}
}

// drawCursor draws the cursor over the cell.
func (c *canvas) drawCursor(s *vt.Screen) {
	y, x := s.Cursor.Row, s.Cursor.Col
	cell := s.Cell(y, x)
	if cell.Continuation && x > 0 {
		x--
		cell = s.Cell(y, x)
	}
	cols := 1
	if cell.Wide {
		cols = 2
	}
	r := c.at(y, x, cols)
	t := max(2, c.face.h/9)
	switch s.Cursor.Shape {
	case vt.CursorUnderline:
		c.fill(image.Rect(r.Min.X, r.Max.Y-t, r.Max.X, r.Max.Y), c.theme.Cursor)
	case vt.CursorBar:
		c.fill(image.Rect(r.Min.X, r.Min.Y, r.Min.X+t, r.Max.Y), c.theme.Cursor)
	default:
		k := c.theme.ink(cell.Style, s.Modes.ReverseVideo)
		c.fill(r, c.theme.Cursor)
		sub := *c
		// The glyph in the cursor's colours, clipped to it.
		sub.img = c.img.SubImage(r).(*image.RGBA)
		sub.cell(y, x, cell, ink{fg: k.bg, bg: c.theme.Cursor, line: k.bg}, false)
	}
}
