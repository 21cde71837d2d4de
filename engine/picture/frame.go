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

// A layout says where everything of a picture is, in pixels.
type layout struct {
	face       *face
	theme      *Theme
	frame      Frame
	title      string // cleaned
	rows, cols int
	pad        int // around the cells
	bar        int // height of a window's bar
	margin     int // around a window
	radius     int // of its corners
}

// layout returns that of a screen, with scale pixels for one.
func (o Options) layout(s *vt.Screen, scale float64) *layout {
	return o.layoutOf(s, s.Rows, s.Cols, scale)
}

// layoutOf is layout for a picture of another size than the screen's.
func (o Options) layoutOf(s *vt.Screen, rows, cols int, scale float64) *layout {
	l := &layout{face: o.Fonts.face(o.size() * scale), theme: o.theme(s.Theme), frame: o.Frame,
		rows: rows, cols: cols, pad: int(math.Round(float64(o.padding()) * scale)),
		title: o.clean(o.Title)}
	if o.Title == "" {
		l.title = o.clean(s.Title)
	}
	if o.Frame.window() {
		l.bar, l.radius = l.face.h*7/4, l.face.h/2
		l.pad = max(l.pad, l.radius) // no text in a corner
	}
	if o.Frame == FramePoster {
		l.margin = l.face.h * 3
	}
	return l
}

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

// buttons are the centres of the discs in a window's bar, with their radius.
func (l *layout) buttons() (at [3]image.Point, radius float64) {
	first := l.window().Min.Add(image.Pt(l.face.h+2, l.bar/2))
	for i := range at {
		at[i] = first.Add(image.Pt(i*l.face.h*10/9, 0))
	}
	return at, float64(l.face.h) / 3
}

// buttonColours are those of a window's buttons, on every system alike: close, minimize, zoom.
var buttonColours = [3]uint32{0xff5f57, 0xfebc2e, 0x28c840}

// barColour is the colour of a window's bar, titleColour that of its title.
func (l *layout) barColour() color.RGBA {
	return blend(l.theme.Background, l.theme.Foreground, 0.08)
}
func (l *layout) titleColour() color.RGBA {
	return blend(l.theme.Background, l.theme.Foreground, 0.7)
}

// titleBox is where a window's title may be.
func (l *layout) titleBox() image.Rectangle {
	at, radius := l.buttons()
	r := l.window()
	side := at[2].X + int(radius) + l.face.w - r.Min.X
	return image.Rect(r.Min.X+side, r.Min.Y, r.Max.X-side, r.Min.Y+l.bar)
}

// ground are the colours of a poster, from its upper left to its lower right corner.
func (l *layout) ground() (from, to color.RGBA) {
	return blend(l.theme.Palette[4], l.theme.Background, 0.35),
		blend(l.theme.Palette[5], l.theme.Background, 0.35)
}

// Shadow of a poster's window: how dark, how far down, and its reach; the latter two in heights of a
// cell.
const (
	shadowPart  = 0.45
	shadowDown  = 0.5
	shadowReach = 1.25
)

// groundAt returns the colour of a poster behind the window.
func (l *layout) groundAt(x, y int) color.RGBA {
	w, h := l.size()
	from, to := l.ground()
	c := blend(from, to, (float64(x)/float64(w)+float64(y)/float64(h))/2)
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
	if l.frame == FramePoster {
		for y := range c.img.Rect.Dy() {
			for x := range c.img.Rect.Dx() {
				c.img.SetRGBA(x, y, l.groundAt(x, y))
			}
		}
	}
	c.fill(l.body(), paper)
	if !l.frame.window() {
		return
	}
	bar := l.window()
	bar.Max.Y = bar.Min.Y + l.bar
	c.fill(bar, l.barColour())
	at, radius := l.buttons()
	for i, p := range at {
		disc(c.img, float64(p.X), float64(p.Y), radius, rgb(buttonColours[i]))
	}
	if box := l.titleBox(); l.title != "" && box.Dx() >= 4*l.face.w {
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
	switch l.frame {
	case FrameWindow:
		roundCorners(img, l.window(), float64(l.radius), nil)
	case FramePoster:
		roundCorners(img, l.window(), float64(l.radius), l.groundAt)
	}
}
