package picture

import (
	"bytes"
	"compress/lzw"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/HugoSmits86/nativewebp"

	"github.com/ptywright/ptywright/engine/vt"
)

// A pixelAnimation draws the rows that change onto one picture, and writes the rectangle around them.
type pixelAnimation struct {
	o      AnimateOptions
	w      *boundedWriter
	format pixelFormat
	*painter
	last   *vt.Screen
	before *image.RGBA // what was written; transparent at first
}

// A pixelFormat writes pictures and their times.
type pixelFormat interface {
	// bounds are the shortest difference between two times that the format can say, the longest time
	// of a picture in such units, and the longest side of a picture in pixels.
	bounds() (unit time.Duration, most int, side int)
	head(w io.Writer, size image.Point, once bool) error
	// picture writes the part r of img, to be shown for units. What is the same as before need not be
	// written again.
	picture(w io.Writer, img, before *image.RGBA, r image.Rectangle, units int) error
	tail(w io.Writer) error
}

func (a *pixelAnimation) begin(s *vt.Screen, rows, cols int) (err error) {
	if a.painter, err = newPainter(a.o.layoutOf(s, rows, cols, a.o.scale()), s, a.o.Options); err != nil {
		return err
	}
	size := a.c.img.Rect.Size()
	if _, _, side := a.format.bounds(); size.X > side || size.Y > side {
		return &SizeError{Width: size.X, Height: size.Y, Most: side * side}
	}
	a.before = image.NewRGBA(a.c.img.Rect)
	return a.format.head(a.w, size, a.o.Once)
}

// frame draws what has changed, and writes it.
func (a *pixelAnimation) frame(s *vt.Screen, at, long time.Duration) error {
	var dirty image.Rectangle
	for y := range a.rows {
		if a.last == nil || y >= s.Rows != (y >= a.last.Rows) ||
			y < s.Rows && !a.o.sameRow(a.last, s, y) {
			dirty = dirty.Union(a.repaint(s, y))
		}
	}
	if a.last == nil {
		a.finish(a.c.img)
		dirty = a.c.img.Rect
	}
	a.last = s
	if dirty.Empty() { // only its time is to be written
		dirty = image.Rect(0, 0, 1, 1)
	}
	unit, most, _ := a.format.bounds()
	units := int((at+long+unit/2)/unit - (at+unit/2)/unit)
	for ; units > 0; units -= most {
		if err := a.format.picture(a.w, a.c.img, a.before, dirty, min(units, most)); err != nil {
			return err
		}
		draw.Draw(a.before, dirty, a.c.img, dirty.Min, draw.Src)
		dirty = image.Rect(0, 0, 1, 1)
	}
	return nil
}

// repaint draws row y again, and returns where that is. Glyphs may extend half a cell past its sides.
func (a *pixelAnimation) repaint(s *vt.Screen, y int) image.Rectangle {
	r := a.c.at(y, 0, a.cols)
	r.Min.X, r.Max.X = r.Min.X-a.face.w/2, r.Max.X+a.face.w/2
	r = r.Intersect(a.body())
	part := a.c
	part.img = a.c.img.SubImage(r).(*image.RGBA)
	part.fill(r, a.theme.ink(vt.Style{}, s.Modes.ReverseVideo).bg)
	if y < s.Rows {
		part.row(y, cellsOf(s, y)[:min(s.Cols, a.cols)], s.Modes.ReverseVideo)
		if x := a.o.cursorIn(s, y); x >= 0 && x < a.cols {
			part.drawCursor(s)
		}
	}
	return r
}

func (a *pixelAnimation) end(time.Duration) error { return a.format.tail(a.w) }

// A gifWriter writes a GIF89a picture by picture: image/gif needs all of them at once.
type gifWriter struct{}

func (gifWriter) bounds() (time.Duration, int, int) { return 10 * time.Millisecond, 0xffff, 0xffff }

func (gifWriter) head(w io.Writer, size image.Point, once bool) error {
	b := []byte("GIF89a")
	b = binary.LittleEndian.AppendUint16(b, uint16(size.X))
	b = binary.LittleEndian.AppendUint16(b, uint16(size.Y))
	b = append(b, 0, 0, 0)
	if !once {
		b = append(b, "\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"...)
	}
	_, err := w.Write(b)
	return err
}

func (gifWriter) picture(w io.Writer, img, before *image.RGBA, r image.Rectangle, units int) error {
	pixels, colours := palette(img, before, r)
	bits := 1
	for 1<<bits < len(colours) {
		bits++
	}
	const keep = 1 << 2 // what is drawn stays
	b := []byte{0x21, 0xf9, 4, keep | 1}
	b = binary.LittleEndian.AppendUint16(b, uint16(units))
	b = append(b, 0, 0, 0x2c) // colour 0 is transparent
	for _, n := range []int{r.Min.X, r.Min.Y, r.Dx(), r.Dy()} {
		b = binary.LittleEndian.AppendUint16(b, uint16(n))
	}
	b = append(b, 0x80|byte(bits-1))
	for i := range 1 << bits {
		var c color.RGBA
		if i < len(colours) {
			c = colours[i]
		}
		b = append(b, c.R, c.G, c.B)
	}
	width := max(bits, 2)
	b = append(b, byte(width))
	var packed bytes.Buffer
	z := lzw.NewWriter(&packed, lzw.LSB, width)
	if _, err := z.Write(pixels); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	for packed.Len() > 0 {
		block := packed.Next(255)
		b = append(append(b, byte(len(block))), block...)
	}
	_, err := w.Write(append(b, 0))
	return err
}

func (gifWriter) tail(w io.Writer) error {
	_, err := w.Write([]byte{0x3b})
	return err
}

// palette returns a rectangle as numbers of up to 256 colours. 0 is for pixels that are the same as
// before, or transparent. Where there are more colours, those that differ least become the most frequent
// of them.
func palette(img, before *image.RGBA, r image.Rectangle) (pixels []byte, colours []color.RGBA) {
	counts := map[color.RGBA]int{}
	each := func(f func(i int, c color.RGBA)) {
		i := 0
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				if c := img.RGBAAt(x, y); c.A >= 0x80 && c != before.RGBAAt(x, y) {
					c.A = 0xff
					f(i, c)
				}
				i++
			}
		}
	}
	var last color.RGBA
	n := 0
	each(func(_ int, c color.RGBA) { // runs of a colour are looked up once
		if c != last && n > 0 {
			counts[last] += n
			n = 0
		}
		last = c
		n++
	})
	if n > 0 {
		counts[last] += n
	}
	index, colours := reduce(counts)
	pixels = make([]byte, r.Dx()*r.Dy())
	each(func(i int, c color.RGBA) { pixels[i] = index[c] })
	return pixels, colours
}

// reduce gives each colour a number from 1 to 255.
func reduce(counts map[color.RGBA]int) (index map[color.RGBA]byte, colours []color.RGBA) {
	all := make([]color.RGBA, 0, len(counts))
	for c := range counts {
		all = append(all, c)
	}
	// The most frequent come first: they stand for those that are like them. Then by value, so that
	// the same picture has the same bytes.
	slices.SortFunc(all, func(a, b color.RGBA) int {
		if n := counts[b] - counts[a]; n != 0 {
			return n
		}
		return bytes.Compare([]byte{a.R, a.G, a.B}, []byte{b.R, b.G, b.B})
	})
	for shift := uint(0); ; shift++ {
		alike := map[color.RGBA]byte{}
		index, colours = make(map[color.RGBA]byte, len(all)), []color.RGBA{{}}
		full := false
		for _, c := range all {
			key := color.RGBA{c.R >> shift, c.G >> shift, c.B >> shift, 0}
			n, ok := alike[key]
			if !ok {
				if len(colours) == 256 {
					full = true
					break
				}
				n = byte(len(colours))
				alike[key] = n
				colours = append(colours, c)
			}
			index[c] = n
		}
		if !full {
			return index, colours
		}
	}
}

// A webpWriter keeps the pictures until the end: a file begins with its length. Pictures are encoded
// side by side: one of 24 rows in many colours takes a processor 160 ms, and a GIF's 20.
type webpWriter struct {
	size    image.Point
	once    bool
	frames  bytes.Buffer
	pending []*webpPicture // oldest first, as many as there are processors
}

// A webpPicture is one that is being encoded.
type webpPicture struct {
	data []byte // its part of the file
	err  error
	done chan struct{} // closed when the others are there
}

// The container has 24 bits for a time in milliseconds, a picture 14 bits for a side (RFC 9649).
func (*webpWriter) bounds() (time.Duration, int, int) { return time.Millisecond, 1<<24 - 1, 1 << 14 }

func (w *webpWriter) head(_ io.Writer, size image.Point, once bool) error {
	w.size, w.once = size, once
	return nil
}

func (w *webpWriter) picture(out io.Writer, img, before *image.RGBA, r image.Rectangle,
	units int) error {
	r.Min.X, r.Min.Y = r.Min.X&^1, r.Min.Y&^1 // places are given in twos
	p, part := &webpPicture{done: make(chan struct{})}, changed(img, before, r)
	w.pending = append(w.pending, p)
	go func() {
		defer close(p.done)
		p.encode(part, r, units)
	}()
	if len(w.pending) < runtime.GOMAXPROCS(0) {
		return nil
	}
	return w.collect(out, len(w.pending)-1)
}

// encode makes the part of a file that has a picture.
func (p *webpPicture) encode(part image.Image, r image.Rectangle, units int) {
	var one bytes.Buffer
	if err := nativewebp.Encode(&one, part, nil); err != nil {
		p.err = fmt.Errorf("encode a picture: %w", err)
		return
	}
	image := one.Bytes()[12:] // without the file's own header
	if len(image)%2 == 1 {
		image = append(image, 0)
	}
	var b []byte
	for _, n := range []int{r.Min.X / 2, r.Min.Y / 2, r.Dx() - 1, r.Dy() - 1, units} {
		b = append(b, byte(n), byte(n>>8), byte(n>>16))
	}
	b = append(b, 0) // blended with what is there, and it stays
	p.data = chunk("ANMF", append(b, image...))
}

// collect takes the oldest pictures, until at most so many are left. After an error none is left.
func (w *webpWriter) collect(out io.Writer, left int) (err error) {
	for len(w.pending) > left {
		p := w.pending[0]
		w.pending = w.pending[1:]
		<-p.done
		if err == nil {
			err = p.err
		}
		w.frames.Write(p.data)
		if err == nil && w.frames.Len() > out.(*boundedWriter).left {
			err = errFull
		}
		if err != nil {
			left = 0
		}
	}
	return err
}

// changed is the part r of img, transparent where it is as before. It has a palette where 256 colours are
// enough, as they mostly are: the encoder then tries no predictions, which takes it most of its time.
func changed(img, before *image.RGBA, r image.Rectangle) image.Image {
	size := image.Rect(0, 0, r.Dx(), r.Dy())
	few := image.NewPaletted(size, color.Palette{color.RGBA{}})
	index := map[color.RGBA]uint8{{}: 0}
	var last color.RGBA
	var number uint8 // of last
	for y := range r.Dy() {
		for x := range r.Dx() {
			c := img.RGBAAt(r.Min.X+x, r.Min.Y+y)
			if c == before.RGBAAt(r.Min.X+x, r.Min.Y+y) {
				continue
			}
			if c != last {
				n, known := index[c]
				if !known && len(few.Palette) == 256 {
					return manyChanged(img, before, r)
				}
				if !known {
					n = uint8(len(few.Palette))
					few.Palette = append(few.Palette, c)
					index[c] = n
				}
				last, number = c, n
			}
			few.Pix[y*few.Stride+x] = number
		}
	}
	return few
}

// manyChanged is changed for more colours than a palette has.
func manyChanged(img, before *image.RGBA, r image.Rectangle) image.Image {
	part := image.NewNRGBA(image.Rect(0, 0, r.Dx(), r.Dy()))
	for y := range r.Dy() {
		for x := range r.Dx() {
			if c := img.RGBAAt(r.Min.X+x, r.Min.Y+y); c != before.RGBAAt(r.Min.X+x, r.Min.Y+y) {
				part.Set(x, y, c)
			}
		}
	}
	return part
}

func (w *webpWriter) tail(out io.Writer) error {
	if err := w.collect(out, 0); err != nil {
		return err
	}
	const animated, transparent = 1 << 1, 1 << 4
	b := []byte{animated | transparent, 0, 0, 0}
	for _, n := range []int{w.size.X - 1, w.size.Y - 1} {
		b = append(b, byte(n), byte(n>>8), byte(n>>16))
	}
	loops := []byte{0, 0, 0, 0, 0, 0} // a transparent ground; forever
	if w.once {
		loops[4] = 1
	}
	head := append(append([]byte("WEBP"), chunk("VP8X", b)...), chunk("ANIM", loops)...)
	file := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(head)+w.frames.Len()))
	if _, err := out.Write(append(file, head...)); err != nil {
		return err
	}
	_, err := out.Write(w.frames.Bytes())
	return err
}

// chunk is a part of a RIFF file.
func chunk(name string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(data)))
	if b = append(b, data...); len(data)%2 == 1 {
		b = append(b, 0)
	}
	return b
}
