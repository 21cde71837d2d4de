package picture

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/ptywright/ptywright/engine/vt"
)

// A Frame is what is drawn around a screen. Its measures follow the height of a cell.
type Frame string

const (
	FrameNone   Frame = "none"   // nothing; "" means the same
	FrameWindow Frame = "window" // a window with round corners, three buttons and a title
	FramePoster Frame = "poster" // such a window with its shadow on a coloured ground
)

// Frames are the names of all frames.
func Frames() []string {
	return []string{string(FrameNone), string(FrameWindow), string(FramePoster)}
}

// ParseFrame returns the frame of that name; "" is [FrameNone]. The error names them all.
func ParseFrame(name string) (Frame, error) {
	switch f := Frame(name); f {
	case "", FrameNone:
		return FrameNone, nil
	case FrameWindow, FramePoster:
		return f, nil
	}
	return "", fmt.Errorf("%.32q is not a frame: use none, window or poster", name)
}

func (f Frame) window() bool { return f == FrameWindow || f == FramePoster }

// Padding is how many pixels around the cells suit a frame: 16 within a window, else none.
func (f Frame) Padding() int {
	if f.window() {
		return 16
	}
	return 0
}

// A Chrome is a window and its ground with measures and colours of its own, in pixels. The zero value is
// a picture without any.
type Chrome struct {
	Bar     int         // height of the bar; 0: there is none
	Buttons ButtonStyle // in the bar
	Radius  int         // of the corners
	Margin  int         // around the window
	// Fill is the colour of the margin, and behind the corners. With an alpha of 0 a margin has the
	// colours of a poster, and without a margin nothing is behind the corners.
	Fill color.RGBA
}

// A ButtonStyle is how the three buttons of a bar look.
type ButtonStyle struct {
	Right bool // on the right of the bar, the first one outermost
	Rings bool // rings in one colour
}

// ChromeMax bounds each measure of a [Chrome], in pixels.
const ChromeMax = 1000

// A layout says where everything of a picture is, in pixels.
type layout struct {
	face       *face
	theme      *Theme
	title      string // cleaned
	rows, cols int
	pad        int // around the cells
	bar        int // height of a window's bar; 0: none
	margin     int // around a window
	radius     int // of its corners
	buttons    buttonLook
	ground     ground
}

// A buttonLook is where a window's buttons are in their bar.
type buttonLook struct {
	ButtonStyle
	first, step   int     // of the centres, from the side, and from one to the next
	radius, inner float64 // of the discs, and of the holes of rings
}

// A ground is what a window stands on.
type ground struct {
	from, to color.RGBA // from the upper left to the lower right corner; both transparent: nothing
	shadow   bool
}

func (g ground) empty() bool { return g.from.A == 0 }
func (g ground) plain() bool { return g.from == g.to && !g.shadow }

// layout returns that of a screen, with scale pixels for one.
func (o Options) layout(s *vt.Screen, scale float64) *layout {
	return o.layoutOf(s, s.Rows, s.Cols, scale)
}

// layoutOf is layout for a picture of another size than the screen's.
func (o Options) layoutOf(s *vt.Screen, rows, cols int, scale float64) *layout {
	l := &layout{face: o.Fonts.faceOf(o.metrics(scale)), theme: o.theme(s.Theme),
		rows: rows, cols: cols, pad: int(math.Round(float64(o.padding()) * scale)),
		title: titleText(o.clean(o.Title))}
	if o.Title == "" {
		l.title = titleText(o.clean(s.Title))
	}
	h := l.face.h
	switch {
	case o.Chrome != nil:
		l.chrome(o.Chrome, scale)
	case o.Frame.window():
		l.bar, l.radius = h*7/4, h/2
		l.buttons = buttonLook{first: h + 2, step: h * 10 / 9, radius: float64(h) / 3}
	}
	if o.Chrome == nil && o.Frame == FramePoster {
		l.margin, l.ground = h*3, l.posterGround()
		l.ground.shadow = true
	}
	l.pad = max(l.pad, l.radius) // no text in a corner
	return l
}

// Proportions of a bar of a given height, so that tapes look as their authors know them: a disc has a
// third of the bar across, and half of that is between two; a ring has two fifths, and a hole of four
// fifths.
const (
	discPart, ringPart = 1.0 / 6, 1.0 / 5
	gapPart            = 1.0 / 6
	holePart           = 4.0 / 5
)

// chrome takes the measures of a chrome.
func (l *layout) chrome(c *Chrome, scale float64) {
	px := func(n int) int { return int(math.Round(float64(min(max(n, 0), ChromeMax)) * scale)) }
	l.bar, l.radius, l.margin = px(c.Bar), px(c.Radius), px(c.Margin)
	bar := float64(l.bar)
	look := buttonLook{ButtonStyle: c.Buttons, first: l.bar / 2, radius: bar * discPart}
	if c.Buttons.Rings {
		look.radius = bar * ringPart
		look.inner = look.radius * holePart
	}
	look.step = int(math.Round(2*look.radius + bar*gapPart))
	l.buttons = look
	switch {
	case c.Fill.A != 0:
		fill := color.RGBA{c.Fill.R, c.Fill.G, c.Fill.B, 0xff}
		l.ground = ground{from: fill, to: fill}
	case l.margin > 0:
		l.ground = l.posterGround()
	}
}

// titleMost bounds a title, of a window or of a tile, in bytes: more than the widest has room for.
const titleMost = 4 << 10

// titleText is a title as a picture has it: one line of text.
func titleText(s string) string { return vt.Clean([]byte(s), titleMost) }

// size of the picture in pixels. It is not checked.
func (l *layout) size() (w, h int) {
	return l.cols*l.face.w + 2*(l.pad+l.margin), l.rows*l.face.h + 2*(l.pad+l.margin) + l.bar
}

// bounded is size, or a *[SizeError].
func (l *layout) bounded() (w, h int, err error) {
	if w, h = l.size(); w*h > MaxPixels {
		return 0, 0, &SizeError{Width: w, Height: h, Most: MaxPixels}
	}
	return w, h, nil
}

// windowed reports whether the picture has a window, and not only cells on paper.
func (l *layout) windowed() bool { return l.bar > 0 || l.radius > 0 || l.margin > 0 }

// window is the rectangle of the window, or of the whole picture.
func (l *layout) window() image.Rectangle {
	w, h := l.size()
	return image.Rect(0, 0, w, h).Inset(l.margin)
}

// body is the window without its bar.
func (l *layout) body() image.Rectangle {
	r := l.window()
	r.Min.Y += l.bar
	return r
}

// origin is where the first cell is.
func (l *layout) origin() image.Point { return l.body().Min.Add(image.Pt(l.pad, l.pad)) }

// buttonsAt are the centres of the buttons in a window's bar.
func (l *layout) buttonsAt() (at [3]image.Point) {
	r := l.window()
	for i := range at {
		x := r.Min.X + l.buttons.first + i*l.buttons.step
		if l.buttons.Right {
			x = r.Min.X + r.Max.X - x
		}
		at[i] = image.Pt(x, r.Min.Y+l.bar/2)
	}
	return at
}

// buttonColours are those of a window's buttons, on every system alike: close, minimize, zoom.
var buttonColours = [3]uint32{0xff5f57, 0xfebc2e, 0x28c840}

// buttonColour is the colour of a button.
func (l *layout) buttonColour(i int) color.RGBA {
	if l.buttons.Rings {
		return blend(l.theme.Background, l.theme.Foreground, 0.35)
	}
	return rgb(buttonColours[i])
}

// barColour is the colour of a window's bar, titleColour that of its title.
func (l *layout) barColour() color.RGBA {
	return blend(l.theme.Background, l.theme.Foreground, 0.08)
}
func (l *layout) titleColour() color.RGBA {
	return blend(l.theme.Background, l.theme.Foreground, 0.7)
}

// titleBox is where a window's title may be; empty: there is none, or no room for one.
func (l *layout) titleBox() image.Rectangle {
	r := l.window()
	side := l.buttons.first + 2*l.buttons.step + int(l.buttons.radius) + l.face.w
	box := image.Rect(r.Min.X+side, r.Min.Y, max(r.Max.X-side, r.Min.X+side), r.Min.Y+l.bar)
	if l.title == "" || box.Dx() < 4*l.face.w || l.bar < l.face.h {
		return image.Rectangle{}
	}
	return box
}

// posterGround are the colours of a poster.
func (l *layout) posterGround() ground {
	return ground{from: blend(l.theme.Palette[4], l.theme.Background, 0.35),
		to: blend(l.theme.Palette[5], l.theme.Background, 0.35)}
}

// Shadow of a poster's window: how dark, how far down, and its reach; the latter two in heights of a
// cell.
const (
	shadowPart  = 0.45
	shadowDown  = 0.5
	shadowReach = 1.25
)

// groundAt returns the colour of the ground behind the window.
func (l *layout) groundAt(x, y int) color.RGBA {
	if l.ground.plain() {
		return l.ground.from
	}
	w, h := l.size()
	c := blend(l.ground.from, l.ground.to, (float64(x)/float64(w)+float64(y)/float64(h))/2)
	if !l.ground.shadow {
		return c
	}
	// The distance from a rectangle with round corners (negative inside).
	r, radius := l.window(), float64(l.radius)
	dx := math.Abs(float64(x)+.5-float64(r.Min.X+r.Max.X)/2) - float64(r.Dx())/2 + radius
	dy := math.Abs(float64(y)+.5-float64(r.Min.Y+r.Max.Y)/2-shadowDown*float64(l.face.h)) -
		float64(r.Dy())/2 + radius
	far := math.Hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0) - radius
	reach := shadowReach * float64(l.face.h)
	part := min(max(.5-far/(2*reach), 0), 1)
	return blend(c, color.RGBA{A: 0xff}, shadowPart*part*part*(3-2*part))
}

// decorate draws everything but the cells: the ground, the window and its bar.
func (l *layout) decorate(c *canvas, paper color.RGBA) {
	switch {
	case l.ground.empty():
	case l.ground.plain():
		c.fill(c.img.Rect, l.ground.from)
	default:
		for y := range c.img.Rect.Dy() {
			for x := range c.img.Rect.Dx() {
				c.img.SetRGBA(x, y, l.groundAt(x, y))
			}
		}
	}
	c.fill(l.body(), paper)
	if l.bar == 0 {
		return
	}
	bar := l.window()
	bar.Max.Y = bar.Min.Y + l.bar
	c.fill(bar, l.barColour())
	for i, p := range l.buttonsAt() {
		disc(c.img, float64(p.X), float64(p.Y), l.buttons.radius, l.buttonColour(i))
		if l.buttons.Rings {
			disc(c.img, float64(p.X), float64(p.Y), l.buttons.inner, l.barColour())
		}
	}
	if box := l.titleBox(); !box.Empty() {
		theme := *l.theme
		theme.Background, theme.Foreground = l.barColour(), l.titleColour()
		cells := titleCells(l.title, box.Dx()/l.face.w)
		line := &canvas{img: c.img.SubImage(box).(*image.RGBA), face: l.face, theme: &theme,
			missing: c.missing, origin: image.Pt(
				box.Min.X+(box.Dx()-len(cells)*l.face.w)/2, box.Min.Y+(l.bar-l.face.h)/2)}
		line.row(0, cells, false)
	}
}

// finish makes the corners of a window round.
func (l *layout) finish(img *image.RGBA) {
	switch {
	case l.radius == 0:
	case l.ground.empty():
		roundCorners(img, l.window(), float64(l.radius), nil)
	default:
		roundCorners(img, l.window(), float64(l.radius), l.groundAt)
	}
}
