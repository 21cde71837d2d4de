package picture

import (
	"errors"
	"image"
	"image/color"
	"sort"
	"strconv"

	"github.com/ptywright/ptywright/engine/vt"
)

const (
	// tilesPixels bounds a picture of several screens as long as its text can be read: a display of
	// 3840x2160. Text shrinks before the picture gets larger than people look at and programs
	// accept.
	tilesPixels = 3840 * 2160
	// tileSizeMin is the font size, in pixels, at which a screen is only a shape, with cells of 1
	// by 2: for when there is no room for readable text.
	tileSizeMin = 1.0
	// labelSize is the font size of labels, in pixels, readable however small the screens are:
	// cells of 8 by 16.
	labelSize = 13.0
	labelMin  = 12 // cells of a label that always fit, even above a narrower screen
	tileGap   = 8  // pixels between two tiles, and around all of them
)

// A Tile is one of the screens of a picture.
type Tile struct {
	Label  string     // its name, above it in one line, cut to the tile's width
	Screen *vt.Screen // masked
}

// ErrNoScreen: there is no screen to draw.
var ErrNoScreen = errors.New("no screen to draw")

// Tiles draws several screens into one PNG, each under its label, from left to right and from top
// to bottom, in about the shape of a display. Text has the requested size, or less if the picture
// would exceed 8 million pixels; if it would become unreadable, the picture grows instead, up to
// [MaxPixels], and finally the screens shrink to mere shapes. Mask the screens before; o.Clean is
// applied to the labels, o.Padding goes around each screen. Errors: [ErrNoScreen], *[SizeError].
func Tiles(tiles []Tile, o Options) (data []byte, width, height int, err error) {
	img, err := tilesImage(tiles, o)
	if err != nil {
		return nil, 0, 0, err
	}
	data, err = encode(img)
	return data, img.Rect.Dx(), img.Rect.Dy(), err
}

// tilesImage is [Tiles] without the encoding.
func tilesImage(tiles []Tile, o Options) (*image.RGBA, error) {
	g, err := layTiles(tiles, o)
	if err != nil {
		return nil, err
	}
	theme := o.theme(vt.ThemeDark)
	img := image.NewRGBA(image.Rect(0, 0, g.width, g.height))
	desk := &canvas{img: img, theme: theme}
	desk.fill(img.Rect, blend(theme.Background, color.RGBA{A: 0xff}, 0.35))
	for i, t := range tiles {
		at := image.Pt(g.left[i%len(g.left)], g.top[i/len(g.left)])
		w, h := g.tile(t.Screen)
		g.label(img, image.Rect(0, 0, w, g.bar).Add(at), o.clean(t.Label), theme, o.Fonts)
		r := image.Rect(0, g.bar, w, h).Add(at)
		c := &canvas{img: img.SubImage(r).(*image.RGBA), missing: o.Missing, face: o.Fonts.face(g.size), theme: theme,
			origin: r.Min.Add(image.Pt(g.pad, g.pad))}
		c.fill(c.img.Rect, theme.ink(vt.Style{}, t.Screen.Modes.ReverseVideo).bg)
		c.screen(t.Screen, !o.NoCursor)
	}
	return img, nil
}

// A grid is the layout of tiles.
type grid struct {
	size          float64 // of the font
	pad, bar      int     // pixels around a screen, and the height of a label
	left, top     []int   // of each column and each row
	width, height int
}

// tile returns the size of a screen with its label.
func (g *grid) tile(s *vt.Screen) (w, h int) {
	cw, ch := cellSize(g.size)
	lw, _ := cellSize(labelSize)
	return max(s.Cols*cw+2*g.pad, labelMin*lw), s.Rows*ch + 2*g.pad + g.bar
}

// pixels is the number of pixels. It is not an int: some sizes that are tried overflow one.
func (g *grid) pixels() float64 { return float64(g.width) * float64(g.height) }

// layTiles chooses the largest font with which the picture is small enough, and the number of
// columns.
func layTiles(tiles []Tile, o Options) (*grid, error) {
	if len(tiles) == 0 {
		return nil, ErrNoScreen
	}
	at := func(quarters int) *grid { return layAt(tiles, float64(quarters)/4, o.padding()) }
	from, to, most := 4*FontSizeMin, int(4*o.size()), float64(tilesPixels)
	if at(from).pixels() > most {
		from, to, most = int(4*tileSizeMin), from, MaxPixels
		if g := at(from); g.pixels() > most {
			return nil,
				&SizeError{Width: g.width, Height: g.height, Most: MaxPixels, Screens: len(tiles)}
		}
	}
	// The size before the first that is too large still fits.
	return at(from + sort.Search(to-from,
		func(i int) bool { return at(from+1+i).pixels() > most })), nil
}

// layAt arranges tiles in a font of a size so that they fit the smallest display of 16 by 10.
func layAt(tiles []Tile, size float64, pad int) *grid {
	_, lh := cellSize(labelSize)
	g := grid{size: size, pad: pad, bar: lh + 4}
	ws, hs := make([]int, len(tiles)), make([]int, len(tiles))
	for i, t := range tiles {
		ws[i], hs[i] = g.tile(t.Screen)
	}
	need := func(g *grid) float64 { return max(float64(g.width)/16, float64(g.height)/10) }
	var best *grid
	// With many columns one more hardly changes the shape.
	for cols := 1; cols <= len(tiles); cols += 1 + cols/16 {
		next := g
		next.place(ws, hs, cols)
		if best == nil || need(&next) < need(best) {
			best = &next
		}
	}
	return best
}

// place puts tiles of the given sizes into cols columns, each as wide as its widest tile, with rows
// as high as their highest.
func (g *grid) place(ws, hs []int, cols int) {
	g.left, g.top = make([]int, cols), make([]int, (len(ws)+cols-1)/cols)
	for i := range ws {
		g.left[i%cols] = max(g.left[i%cols], ws[i])
		g.top[i/cols] = max(g.top[i/cols], hs[i])
	}
	sum := func(sizes []int) (end int) {
		end = tileGap
		for i, n := range sizes {
			sizes[i] = end
			end += n + tileGap
		}
		return end
	}
	g.width, g.height = sum(g.left), sum(g.top)
}

// label draws a title bar. A terminal measures the text: it knows the width of characters.
func (g *grid) label(img *image.RGBA, r image.Rectangle, text string, theme *Theme,
	fonts *Fonts) {
	f := fonts.face(labelSize)
	paper, ink := blend(theme.Background, theme.Foreground, 0.22),
		blend(theme.Background, theme.Foreground, 0.9)
	bar := *theme
	bar.Background, bar.Foreground = paper, ink
	c := &canvas{img: img.SubImage(r).(*image.RGBA), face: f, theme: &bar,
		origin: r.Min.Add(image.Pt(f.w/2, 2))}
	c.fill(r, paper)

	c.row(0, titleCells(text, max(1, r.Dx()/f.w-1)), false)
}

// titleCells returns a title's cells, at most cols: an ellipsis ends one that is longer. A terminal
// measures the text: it knows the width of characters.
func titleCells(text string, cols int) []vt.Cell {
	term := vt.New(1, vt.MaxSide, vt.Options{Scrollback: -1})
	term.Feed([]byte("\x1b[?7l\x1b[?25l" + titleText(text)))
	s := term.Snapshot()
	if s.Cursor.Col > cols || s.Cursor.PendingWrap {
		term.Feed([]byte("\x1b[" + strconv.Itoa(cols) + "G…\x1b[K"))
		s = term.Snapshot()
	}
	cells := make([]vt.Cell, 0, cols)
	s.EachCell(0, func(x int, cell vt.Cell) {
		if x < min(cols, s.Cursor.Col) {
			cells = append(cells, cell)
		}
	})
	return cells
}

// blend returns the colour at part of the way from a to b.
func blend(a, b color.RGBA, part float64) color.RGBA {
	m := func(x, y uint8) uint8 { return uint8(float64(x) + (float64(y)-float64(x))*part + 0.5) }
	return color.RGBA{m(a.R, b.R), m(a.G, b.G), m(a.B, b.B), 0xff}
}
