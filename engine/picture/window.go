package picture

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/draw"

	"github.com/ptywright/ptywright/engine/vt"
)

// WindowOptions say how a window with a screen in it is drawn. Measures are in units of Scale
// pixels.
type WindowOptions struct {
	Scale                    float64 // pixels a unit
	CellWidth, CellHeight    float64
	Left, Right, Top, Bottom float64 // around the cells
	Radius                   float64 // of the corners, outside of which the picture is transparent
	Buttons                  []Button
	Theme                    *Theme
}

// A Button is a disc in the bar of a window.
type Button struct {
	X, Y, Radius float64 // X and Y are its centre
	RGB          uint32
}

// NewTheme returns a theme of text and paper, sixteen colours, and a cube of 6x6x6 colours whose
// levels are step apart.
func NewTheme(foreground, background uint32, base [16]uint32, step uint8) *Theme {
	t := *ThemeOf(vt.ThemeDark)
	t.Foreground, t.Background, t.Cursor = rgb(foreground), rgb(background), rgb(foreground)
	for i, c := range base {
		t.Palette[i], t.Text[i] = rgb(c), rgb(c)
	}
	for i := range uint8(216) {
		t.Palette[16+int(i)] = color.RGBA{i / 36 * step, i / 6 % 6 * step, i % 6 * step, 0xff}
	}
	return &t
}

// Window draws the screen as a PNG of a window, without the cursor. Cells may have a fractional
// size: they are drawn at the next size that the font has, and scaled. Mask the screen before. The
// error is a *[SizeError].
func Window(s *vt.Screen, o WindowOptions) ([]byte, error) {
	px := func(units float64) int { return int(math.Round(units * o.Scale)) }
	width := px(float64(s.Cols)*o.CellWidth + o.Left + o.Right)
	height := px(float64(s.Rows)*o.CellHeight + o.Top + o.Bottom)
	if width*height > MaxPixels {
		return nil, &SizeError{Width: width, Height: height, Most: MaxPixels}
	}
	cells, err := Image(s,
		Options{Theme: o.Theme, FontSize: o.CellWidth * o.Scale / fontAdvance, NoCursor: true})
	if err != nil {
		return nil, err
	}
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	paper := o.Theme.ink(vt.Style{}, s.Modes.ReverseVideo).bg
	draw.Draw(img, img.Rect, image.NewUniform(paper), image.Point{}, draw.Src)
	at := image.Rect(px(o.Left), px(o.Top), px(o.Left+float64(s.Cols)*o.CellWidth),
		px(o.Top+float64(s.Rows)*o.CellHeight))
	draw.CatmullRom.Scale(img, at, cells, cells.Rect, draw.Src, nil)
	for _, b := range o.Buttons {
		disc(img, b.X*o.Scale, b.Y*o.Scale, b.Radius*o.Scale, rgb(b.RGB))
	}
	roundCorners(img, img.Rect, o.Radius*o.Scale, nil)
	return encode(img)
}

// inside is how much of the pixel at x, y is in the disc around mx, my: 0 to 1, with the arc
// approximated by a straight edge.
func inside(x, y int, mx, my, radius float64) float64 {
	d := radius - math.Hypot(float64(x)+0.5-mx, float64(y)+0.5-my)
	return min(max(d+0.5, 0), 1)
}

func disc(img *image.RGBA, mx, my, radius float64, c color.RGBA) {
	for y := int(my - radius - 1); y <= int(my+radius+1); y++ {
		for x := int(mx - radius - 1); x <= int(mx+radius+1); x++ {
			if !(image.Point{X: x, Y: y}).In(img.Rect) {
				continue
			}
			part := inside(x, y, mx, my, radius)
			below := img.RGBAAt(x, y)
			blend := func(a,
				b uint8) uint8 {
				return uint8(math.Round(float64(a)*part + float64(b)*(1-part)))
			}
			img.SetRGBA(x, y,
				color.RGBA{blend(c.R, below.R), blend(c.G, below.G), blend(c.B, below.B), 0xff})
		}
	}
}

// roundCorners replaces what is outside of the round corners of r: by what outside says, or, when it
// is nil, by nothing.
func roundCorners(img *image.RGBA, r image.Rectangle, radius float64,
	outside func(x, y int) color.RGBA) {
	n := min(int(math.Ceil(radius)), r.Dx()/2, r.Dy()/2)
	for y := range n {
		for x := range n {
			part := inside(x, y, radius, radius, radius)
			for _, p := range [...]image.Point{
				{X: r.Min.X + x, Y: r.Min.Y + y}, {X: r.Max.X - 1 - x, Y: r.Min.Y + y},
				{X: r.Min.X + x, Y: r.Max.Y - 1 - y}, {X: r.Max.X - 1 - x, Y: r.Max.Y - 1 - y},
			} {
				var o color.RGBA
				if outside != nil {
					o = outside(p.X, p.Y)
				}
				c := img.RGBAAt(p.X, p.Y)
				mix := func(a, b uint8) uint8 { // premultiplied
					return uint8(math.Round(float64(a)*part + float64(b)*(1-part)))
				}
				img.SetRGBA(p.X, p.Y,
					color.RGBA{mix(c.R, o.R), mix(c.G, o.G), mix(c.B, o.B), mix(c.A, o.A)})
			}
		}
	}
}
