package picture

import (
	"image"
	"math"
	"sync"

	"codeberg.org/go-fonts/dejavu/dejavusansmono"
	"codeberg.org/go-fonts/dejavu/dejavusansmonobold"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// faces are DejaVu Sans Mono, regular and bold. Italics are the same, slanted: the oblique cuts
// would add half a megabyte to the binary.
var faces = sync.OnceValue(func() (f [2]*sfnt.Font) {
	for i, ttf := range [][]byte{dejavusansmono.TTF, dejavusansmonobold.TTF} {
		var err error
		if f[i], err = sfnt.Parse(ttf); err != nil {
			panic(err) // the font is ours
		}
	}
	return f
})

const (
	// The font's measures as fractions of its size (table hhea of version 2.37): all glyphs have
	// the same width.
	fontAdvance = 1233.0 / 2048
	fontAscent  = 1901.0 / 2048
	fontDescent = 483.0 / 2048
	// slant of italics: 12 degrees, as the oblique cut has it.
	slant = 0.2126
)

// A face is the font at one size, with the glyphs drawn so far. It is safe for concurrent use.
type face struct {
	size     float64
	w, h     int // of a cell, in pixels
	baseline int // from the cell's top

	mu sync.Mutex
	// protects the fields below
	glyphs map[glyph]*image.Alpha
	bytes  int
}

// A glyph is a character in a style.
type glyph struct {
	r            rune
	bold, italic bool
	cols         int // 2 for wide ones
}

// facesMax and glyphBytes bound the cache of glyphs: four sizes with 4 MiB each, some 10,000 glyphs
// of 15 pixels.
const (
	facesMax   = 4
	glyphBytes = 4 << 20
)

var sizes = struct {
	mu sync.Mutex
	// protects the map
	faces map[float64]*face
}{faces: map[float64]*face{}}

// faceOf returns the face of a size in pixels.
func faceOf(size float64) *face {
	sizes.mu.Lock()
	defer sizes.mu.Unlock()
	f := sizes.faces[size]
	if f == nil {
		if len(sizes.faces) >= facesMax {
			clear(sizes.faces)
		}
		f = &face{size: size, glyphs: map[glyph]*image.Alpha{}}
		f.w, f.h = cellSize(size)
		f.baseline = int(math.Round((float64(f.h) + (fontAscent-fontDescent)*size) / 2))
		sizes.faces[size] = f
	}
	return f
}

// cellSize returns the size of a cell in pixels, for a font of a size in pixels.
func cellSize(size float64) (w, h int) {
	return max(1, int(math.Round(fontAdvance*size))),
		int(math.Ceil((fontAscent + fontDescent) * size))
}

// mask returns a character's coverage. Its bounds are relative to the cell's top left corner and
// may extend past the cell's sides. It never changes.
func (f *face) mask(g glyph) *image.Alpha {
	f.mu.Lock()
	m := f.glyphs[g]
	f.mu.Unlock()
	if m != nil {
		return m
	}
	m = boxMask(g.r, f.w*g.cols, f.h)
	if m == nil {
		m = f.outline(g)
	}
	if m == nil {
		m = missing(g.r, f.w*g.cols, f.h)
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

// has reports whether the font has a glyph for r.
func has(r rune) bool {
	var buf sfnt.Buffer
	i, err := faces()[0].GlyphIndex(&buf, r)
	return err == nil && i != 0
}

// outline draws the font's glyph; nil when it has none.
func (f *face) outline(g glyph) *image.Alpha {
	var buf sfnt.Buffer
	all := faces()
	font := all[0]
	if g.bold {
		font = all[1]
	}
	index, err := font.GlyphIndex(&buf, g.r)
	if err != nil || index == 0 {
		if font = all[0]; g.bold { // the bold cut has fewer
			index, err = font.GlyphIndex(&buf, g.r)
		}
		if err != nil || index == 0 {
			return nil
		}
	}
	segments, err := font.LoadGlyph(&buf, index, fixed.Int26_6(f.size*64), nil)
	if err != nil {
		return nil
	}
	margin := f.w / 2 // slanted glyphs and marks extend past the cell
	w := f.w*g.cols + 2*margin
	r := vector.NewRasterizer(w, f.h)
	left := float64(margin) + (float64(f.w*g.cols)-fontAdvance*f.size)/2
	at := func(p fixed.Point26_6) (x, y float32) {
		px, py := float64(p.X)/64, float64(p.Y)/64
		if g.italic {
			px -= (py + 0.36*f.size) * slant // around the middle of small letters
		}
		return float32(left + px), float32(float64(f.baseline) + py)
	}
	for _, s := range segments {
		x, y := at(s.Args[0])
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			r.MoveTo(x, y)
		case sfnt.SegmentOpLineTo:
			r.LineTo(x, y)
		case sfnt.SegmentOpQuadTo:
			x2, y2 := at(s.Args[1])
			r.QuadTo(x, y, x2, y2)
		case sfnt.SegmentOpCubeTo:
			x2, y2 := at(s.Args[1])
			x3, y3 := at(s.Args[2])
			r.CubeTo(x, y, x2, y2, x3, y3)
		}
	}
	r.ClosePath()
	m := image.NewAlpha(image.Rect(0, 0, w, f.h))
	r.Draw(m, m.Rect, image.Opaque, image.Point{})
	m.Rect = m.Rect.Sub(image.Pt(margin, 0))
	return m
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
