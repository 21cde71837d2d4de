package picture

import (
	"image"
	"math"
	"strings"
	"sync"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/vector"
)

const (
	// The font's measures as fractions of its size (table hhea of version 2.37): all glyphs have
	// the same width.
	fontAdvance = 1233.0 / 2048
	fontAscent  = 1901.0 / 2048
	fontDescent = 483.0 / 2048
	// slant of italics: 12 degrees, as the oblique cut has it.
	slant = 0.2126
)

// metrics are what the size of a cell follows from.
type metrics struct {
	size    float64 // of the font, in pixels
	line    float64 // height of a row, of what the font has
	spacing float64 // pixels between two columns
}

// A face is the fonts at one size, with the glyphs drawn so far. It is safe for concurrent use.
type face struct {
	metrics
	fonts    *Fonts
	w, h     int // of a cell, in pixels
	baseline int // from the cell's top

	mu sync.Mutex
	// protects the fields below
	glyphs map[glyph]drawing
	bytes  int
}

// A glyph is a character in a style.
type glyph struct {
	r            rune
	base         rune // that r is a mark of; 0: it is none
	bold, italic bool
	emoji        bool // rather than a text character
	several      bool // r stands for an emoji of several characters, in the emoji font
	cols         int  // 2 for wide ones
	room         int  // columns that it may fill: more than cols before a blank
}

// A drawing is a glyph's coverage.
type drawing struct {
	*image.Alpha
	missing bool // no font has the glyph
}

// glyphBytes bounds the cache of a face's glyphs: some 10,000 of 15 pixels.
const glyphBytes = 4 << 20

func newFace(fonts *Fonts, m metrics) *face {
	f := &face{metrics: m, fonts: fonts, glyphs: map[glyph]drawing{}}
	w, h := cellSize(m.size)
	f.w = max(1, w+int(math.Round(m.spacing)))
	f.h = max(1, int(math.Round(float64(h)*m.line)))
	f.baseline = int(math.Round((float64(f.h) + (fontAscent-fontDescent)*m.size) / 2))
	return f
}

// cellSize returns the size of a cell in pixels, for a font of a size in pixels.
func cellSize(size float64) (w, h int) {
	return max(1, int(math.Round(fontAdvance*size))),
		int(math.Ceil((fontAscent + fontDescent) * size))
}

// mask returns a character's coverage. Its bounds are relative to the cell's top left corner and
// may extend past the cell's sides. It never changes.
func (f *face) mask(g glyph) drawing {
	f.mu.Lock()
	m, ok := f.glyphs[g]
	f.mu.Unlock()
	if ok {
		return m
	}
	m.Alpha = boxMask(g.r, f.w*g.cols, f.h)
	if m.Alpha == nil {
		m.Alpha = f.outline(g)
	}
	if m.Alpha == nil {
		m = drawing{missing(g.r, f.w*g.cols, f.h), true}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bytes += len(m.Pix); f.bytes > glyphBytes {
		clear(f.glyphs)
		f.bytes = len(m.Pix)
	}
	f.glyphs[g] = m
	return m
}

// A shape is a glyph's outline, in pixels from the cell's top left corner.
type shape []segment

type segment struct {
	op   sfnt.SegmentOp
	args [3][2]float64
}

// points is how many arguments a segment has.
func (s segment) points() int { return [...]int{1, 1, 2, 3}[s.op] }

// shape returns the outline of a glyph, placed in its cell; ok is false when no font has it.
func (f *face) shape(g glyph) (out shape, ok bool) {
	t := f.fonts.choose(g)
	if t == nil {
		return nil, false
	}
	raw, advance, ok := t.load(g.r, f.size)
	if !ok {
		return nil, false
	}
	place := f.place(g, t, raw, advance)
	for _, s := range raw {
		n := segment{op: s.Op}
		for i := range n.points() {
			x, y := place(float64(s.Args[i].X)/64, float64(s.Args[i].Y)/64)
			if g.italic && t.kind == textFont {
				x -= (y - float64(f.baseline) + 0.36*f.size) * slant // around the middle of small letters
			}
			n.args[i] = [2]float64{x, y}
		}
		out = append(out, n)
	}
	return out, true
}

// place returns how an outline is moved into its cell, and made smaller if it has to be.
func (f *face) place(g glyph, t *typeface, raw sfnt.Segments,
	advance float64) func(x, y float64) (float64, float64) {
	w, h := float64(f.w*g.cols), float64(f.h)
	if t.kind == textFont {
		if t.main {
			advance = fontAdvance * f.size // of every glyph, the marks' included
		}
		scale, left := 1.0, 0.0
		if advance > w && !t.main { // cells are its width, rounded
			scale = w / advance
		}
		left = (w - advance*scale) / 2
		if advance == 0 && g.base != 0 { // a mark reaches back over what is before it
			b := f.fonts.choose(glyph{r: g.base, bold: g.bold, cols: g.cols})
			if b != nil {
				_, advance, _ = b.load(g.base, f.size)
				if advance > w {
					scale = w / advance
				}
				left = (w + advance*scale) / 2
			}
		}
		return func(x, y float64) (float64, float64) {
			return left + x*scale, float64(f.baseline) + y*scale
		}
	}
	x0, y0, x1, y1 := bounds(raw)
	bw, bh := max(x1-x0, 1e-3), max(y1-y0, 1e-3)
	if g.r >= 0xe0b0 && g.r <= 0xe0d7 { // parts of prompts, which meet their neighbours
		return func(x, y float64) (float64, float64) { return (x - x0) / bw * w, (y - y0) / bh * h }
	}
	w = float64(f.w * max(g.room, g.cols))
	scale := min(1, w/bw, h/bh)
	left, top := (w-bw*scale)/2, (h-bh*scale)/2
	if t.kind == symbolFont {
		top = min(max(float64(f.baseline)+(y0+y1-bh*scale)/2, 0), h-bh*scale)
	}
	return func(x, y float64) (float64, float64) {
		return left + (x-x0)*scale, top + (y-y0)*scale
	}
}

// bounds of an outline's points.
func bounds(raw sfnt.Segments) (x0, y0, x1, y1 float64) {
	x0, y0, x1, y1 = math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, s := range raw {
		for i := range (segment{op: s.Op}).points() {
			x, y := float64(s.Args[i].X)/64, float64(s.Args[i].Y)/64
			x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x), max(y1, y)
		}
	}
	return x0, y0, x1, y1
}

// outline draws the font's glyph; nil when no font has it.
func (f *face) outline(g glyph) *image.Alpha {
	lines, ok := f.shape(g)
	if !ok {
		return nil
	}
	margin := f.w / 2 // slanted glyphs and marks extend past the cell
	w := f.w*max(g.cols, g.room) + 2*margin
	r := vector.NewRasterizer(w, f.h)
	for _, s := range lines {
		var p [3][2]float32
		for i, a := range s.args {
			p[i] = [2]float32{float32(a[0] + float64(margin)), float32(a[1])}
		}
		switch s.op {
		case sfnt.SegmentOpMoveTo:
			r.MoveTo(p[0][0], p[0][1])
		case sfnt.SegmentOpLineTo:
			r.LineTo(p[0][0], p[0][1])
		case sfnt.SegmentOpQuadTo:
			r.QuadTo(p[0][0], p[0][1], p[1][0], p[1][1])
		case sfnt.SegmentOpCubeTo:
			r.CubeTo(p[0][0], p[0][1], p[1][0], p[1][1], p[2][0], p[2][1])
		}
	}
	r.ClosePath()
	m := image.NewAlpha(image.Rect(0, 0, w, f.h))
	r.Draw(m, m.Rect, image.Opaque, image.Point{})
	m.Rect = m.Rect.Sub(image.Pt(margin, 0))
	return m
}

// path writes a shape as the d of an SVG path, moved by x and y.
func (s shape) path(x, y float64) string {
	var b strings.Builder
	for _, seg := range s {
		if b.Len() > 0 && seg.op == sfnt.SegmentOpMoveTo {
			b.WriteByte('z')
		}
		b.WriteByte("MLQC"[seg.op])
		for i := range seg.points() {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(number(x+seg.args[i][0]) + " " + number(y+seg.args[i][1]))
		}
	}
	if b.Len() > 0 {
		b.WriteByte('z')
	}
	return b.String()
}

// digits are the hexadecimal digits in three columns and five rows, one octal digit a row from the
// top.
var digits = [16]uint16{0o75557, 0o26227, 0o71747, 0o71717, 0o55711, 0o74717, 0o74757, 0o71111,
	0o75757, 0o75717, 0o75755, 0o65656, 0o74447, 0o65556, 0o74747, 0o74744}

// missing replaces a character that the font lacks: a frame with its number in it, as large as
// fits.
func missing(r rune, w, h int) *image.Alpha {
	p := newPlot(w, h)
	t := max(1, h/24)
	x0, y0, x1, y1 := t, t, w-t, h-t
	p.rect(x0, y0, x1, y1, 0xff)
	p.rect(x0+t, y0+t, x1-t, y1-t, 0)
	number := []int{}
	for n := int(r); n > 0 || len(number) < 4; n /= 16 {
		number = append([]int{n % 16}, number...)
	}
	if len(number)%2 == 1 {
		number = append([]int{0}, number...)
	}
	// Two rows of digits in a wide cell, otherwise rows of two.
	rows := 2
	if w < h*3/4 {
		rows = len(number) / 2
	}
	cols := len(number) / rows
	dot := min((x1-x0-2*t-1)/(4*cols), (y1-y0-2*t-1)/(6*rows))
	if dot < 1 {
		return p.Alpha // no room: only the frame
	}
	left, top := (w-dot*(4*cols-1))/2, (h-dot*(6*rows-1))/2
	for i, d := range number {
		x, y := left+i%cols*4*dot, top+i/cols*6*dot
		for bit := range 15 {
			if digits[d]>>(14-bit)&1 != 0 {
				px, py := x+bit%3*dot, y+bit/3*dot
				p.rect(px, py, px+dot, py+dot, 0xff)
			}
		}
	}
	return p.Alpha
}
