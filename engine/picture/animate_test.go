package picture

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/image/vp8l"
	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/vt"
)

// A still is a frame of an animation.
type still struct {
	long   time.Duration
	screen *vt.Screen
}

func film(all []still) iter.Seq2[time.Duration, *vt.Screen] {
	return func(yield func(time.Duration, *vt.Screen) bool) {
		for _, s := range all {
			if !yield(s.long, s.screen) {
				return
			}
		}
	}
}

// typed are the screens of a program: each text, and how it looks 100 ms long.
func typed(rows, cols int, texts ...string) (all []still) {
	term := vt.New(rows, cols, vt.Options{})
	for _, text := range texts {
		term.Feed([]byte(text))
		all = append(all, still{100 * time.Millisecond, term.Snapshot()})
	}
	return all
}

// A seen is what a reader of an animation sees, and how long.
type seen struct {
	long time.Duration
	img  *image.RGBA
}

// seenOf decodes a GIF or a WebP as a browser shows it. Pictures that look like the one before are one.
func seenOf(t testing.TB, format string, data []byte) (all []seen) {
	add := func(canvas *image.RGBA, long time.Duration) {
		if n := len(all); n > 0 && bytes.Equal(all[n-1].img.Pix, canvas.Pix) {
			all[n-1].long += long
			return
		}
		all = append(all, seen{long, &image.RGBA{Pix: bytes.Clone(canvas.Pix), Stride: canvas.Stride, Rect: canvas.Rect}})
	}
	if format == "gif" {
		g, err := gif.DecodeAll(bytes.NewReader(data))
		must(t, err)
		canvas := image.NewRGBA(image.Rect(0, 0, g.Config.Width, g.Config.Height))
		for i, p := range g.Image {
			draw.Draw(canvas, p.Rect, p, p.Rect.Min, draw.Over)
			add(canvas, time.Duration(g.Delay[i])*10*time.Millisecond)
		}
		return all
	}
	u24 := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
	if string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" || int(binary.LittleEndian.Uint32(data[4:])) != len(data)-8 {
		t.Fatalf("no WebP: %.16q, %d bytes", data, len(data))
	}
	var canvas *image.RGBA
	for rest := data[12:]; len(rest) > 0; {
		name, n := string(rest[:4]), int(binary.LittleEndian.Uint32(rest[4:]))
		body := rest[8 : 8+n]
		rest = rest[8+n+n%2:]
		switch name {
		case "VP8X":
			canvas = image.NewRGBA(image.Rect(0, 0, u24(body[4:])+1, u24(body[7:])+1))
		case "ANMF":
			at := image.Pt(2*u24(body), 2*u24(body[3:]))
			if string(body[16:20]) != "VP8L" {
				t.Fatalf("a picture is %q", body[16:20])
			}
			img, err := vp8l.Decode(bytes.NewReader(body[24 : 24+binary.LittleEndian.Uint32(body[20:])]))
			must(t, err)
			if size := img.Bounds().Size(); size != image.Pt(u24(body[6:])+1, u24(body[9:])+1) {
				t.Fatalf("a picture of %v", size)
			}
			draw.Draw(canvas, img.Bounds().Add(at), img, image.Point{}, draw.Over)
			add(canvas, time.Duration(u24(body[12:]))*time.Millisecond)
		}
	}
	return all
}

// reals are the frames of a real program's morning.
func reals(t testing.TB) (all []still) {
	all = typed(24, 80, "\x1b[32m$\x1b[m make", " test\r\n", "\x1b[?25l┌──┐ \x1b[44m⏺ \uf015 \x1b[m", "\x1b[?25h\x1b[4 q")
	for _, name := range []string{"mc/menu-24x80", "htop/start-24x80", "vim/vsplit-unicode-24x80"} {
		all = append(all, still{430 * time.Millisecond, recorded(t, name)})
	}
	return append(all, all[1])
}

// TestAnimationShowsItsFrames: decoded as a browser does, each frame of a GIF and of a WebP is the
// picture of its screen, for its time.
func TestAnimationShowsItsFrames(t *testing.T) {
	purple := color.RGBA{0x67, 0x4e, 0xff, 0xff}
	around := map[string]Options{
		"none":   {Frame: FrameNone},
		"window": {Frame: FrameWindow, Padding: FrameWindow.Padding()},
		"poster": {Frame: FramePoster, Padding: FramePoster.Padding()},
		"chrome": {Chrome: &Chrome{Bar: 30, Radius: 25, Margin: 40, Fill: purple}, LineHeight: 1.4,
			LetterSpacing: 2, Padding: 3},
		"round": {Chrome: &Chrome{Radius: 40}, LineHeight: 0.8, LetterSpacing: -2},
	}
	for _, format := range []string{"gif", "webp"} {
		for name, options := range around {
			all := reals(t)
			o := AnimateOptions{Options: options}
			o.Fonts, o.Title, o.Theme = ownFonts(), "reals", ThemeOf(vt.ThemeDark)
			var b bytes.Buffer
			var told time.Duration
			o.Progress = func(at time.Duration) { told = at }
			must(t, Animate(&b, format, film(all), o))
			got := seenOf(t, format, b.Bytes())
			if len(got) != len(all) {
				t.Fatalf("%s, %s: %d frames, want %d", format, name, len(got), len(all))
			}
			var sum time.Duration
			for i, s := range all {
				want, err := Image(s.screen, o.Options)
				must(t, err)
				if got[i].long != s.long {
					t.Errorf("%s, %s: frame %d has %v, want %v", format, name, i, got[i].long, s.long)
				}
				if far := farthest(got[i].img, want); far > map[string]int{"gif": 72, "webp": 0}[format] {
					t.Errorf("%s, %s: frame %d differs by %d", format, name, i, far)
				}
				if name == "round" && got[i].img.RGBAAt(1, 1).A != 0 {
					t.Errorf("%s: the corner is not transparent", format)
				}
				sum += s.long
			}
			if told != sum {
				t.Errorf("%s, %s: told of %v of %v", format, name, told, sum)
			}
		}
	}
}

// farthest is how far the colours of two pictures are apart, where both are opaque.
func farthest(a, b *image.RGBA) (far int) {
	if a.Rect != b.Rect {
		return math.MaxInt
	}
	for i := 0; i < len(a.Pix); i += 4 {
		if b.Pix[i+3] != 0xff {
			continue
		}
		for k := range 4 {
			far = max(far, int(a.Pix[i+k])-int(b.Pix[i+k]), int(b.Pix[i+k])-int(a.Pix[i+k]))
		}
	}
	return far
}

// TestAnimationsOfAnything: whatever a program draws, each frame of an animation is the picture of its
// screen, and the text of an SVG is that of its screens.
func TestAnimationsOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(1, 10).Draw(t, "cols")
		term := vt.New(rows, cols, vt.Options{})
		var all []still
		for range rapid.IntRange(1, 6).Draw(t, "frames") {
			term.Feed([]byte(enginetest.Anything(rows, cols).Draw(t, "output")))
			all = append(all, still{time.Duration(rapid.IntRange(20, 3000).Draw(t, "ms")) * time.Millisecond, term.Snapshot()})
		}
		o := AnimateOptions{Options: Options{Fonts: ownFonts(), FontSize: 8, Theme: ThemeOf(vt.ThemeDark), NoCursor: rapid.Bool().Draw(t, "no cursor")}}
		ends := map[time.Duration]*vt.Screen{} // what is shown at a time
		var at time.Duration
		for _, s := range all {
			ends[at+s.long/2] = s.screen
			at += s.long
		}
		var b bytes.Buffer
		if err := Animate(&b, "svg", film(all), o); err != nil {
			t.Fatal(err)
		}
		play := readSVG(t, b.Bytes())
		if d := play.long - at; d < -time.Millisecond || d > time.Millisecond {
			t.Fatalf("it lasts %v, want %v", play.long, at)
		}
		for at, s := range ends {
			for y, want := range s.Lines() {
				if got := play.row(y, at); strings.TrimSpace(got) != strings.TrimSpace(want) {
					t.Fatalf("at %v row %d is %q, want %q\n%s", at, y, got, want, b.Bytes())
				}
			}
		}
		b.Reset()
		if err := Animate(&b, "gif", film(all), o); err != nil {
			t.Fatal(err)
		}
		if _, err := gif.DecodeAll(&b); err != nil {
			t.Fatal(err)
		}
	})
}

// A played is an SVG animation as a browser plays it.
type played struct {
	long  time.Duration
	rows  []*svgStrip
	parts map[string]string
}

// An svgStrip is a row: the text at each height, and which height is shown when.
type svgStrip struct {
	class string
	texts map[int]string
	steps []struct {
		part float64
		top  int
	}
}

// row is the text of a row at a time.
func (p *played) row(y int, at time.Duration) string {
	s := p.rows[y]
	top := 0
	for _, step := range s.steps {
		if step.part/100*float64(p.long) <= float64(at) {
			top = step.top
		}
	}
	return s.texts[top]
}

// readSVG reads the parts of an animation that decide what is seen, and fails when it holds what an
// <img> would not play.
func readSVG(t interface{ Fatalf(string, ...any) }, data []byte) *played {
	p := &played{parts: map[string]string{}}
	d := xml.NewDecoder(bytes.NewReader(data))
	var style, id string
	var row *svgStrip
	depth, top := 0, 0
	attr := func(e xml.StartElement, name string) string {
		for _, a := range e.Attr {
			if a.Name.Local == name {
				return a.Value
			}
		}
		return ""
	}
	var inStyle, inTitle bool
	var tops []int
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		switch e := tok.(type) {
		case xml.StartElement:
			depth++
			tops = append(tops, top)
			switch e.Name.Local {
			case "script", "foreignObject", "image", "a", "animate", "set":
				t.Fatalf("an element %s", e.Name.Local)
			case "style":
				inStyle = true
			case "title":
				inTitle = true
			case "svg":
				switch i := attr(e, "id"); {
				case i != "": // shared
					id = i
				case attr(e, "x") != "": // the window of a row
					row, top = &svgStrip{texts: map[int]string{}}, 0
					p.rows = append(p.rows, row)
				case depth > 1: // a place of a strip
					top, _ = strconv.Atoi(attr(e, "y"))
				}
			case "g":
				if c := attr(e, "class"); c != "" && row != nil {
					row.class = c
				}
			case "use":
				at, _ := strconv.Atoi(attr(e, "y"))
				row.texts[at] += p.parts[strings.TrimPrefix(attr(e, "href"), "#")]
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#") {
					t.Fatalf("an attribute %s", a.Name.Local)
				}
			}
		case xml.CharData:
			switch {
			case inStyle:
				style += string(e)
			case inTitle:
			case row != nil:
				row.texts[top] += strings.Trim(string(e), "\n")
			case id != "":
				p.parts[id] += strings.Trim(string(e), "\n")
			}
		case xml.EndElement:
			depth--
			top, tops = tops[len(tops)-1], tops[:len(tops)-1]
			switch e.Name.Local {
			case "style":
				inStyle = false
			case "title":
				inTitle = false
			case "defs":
				id = ""
			}
		}
	}
	var seconds float64
	if _, err := fmt.Sscanf(style, ".s{animation:%fs", &seconds); err != nil {
		t.Fatalf("no time in %.200s", style)
	}
	p.long = time.Duration(seconds * float64(time.Second))
	for _, s := range p.rows {
		_, name, _ := strings.Cut(s.class, "s r")
		if name == "" {
			continue
		}
		_, frames, ok := strings.Cut(style, "@keyframes k"+name+"{")
		if !ok {
			t.Fatalf("row %s has no keyframes", name)
		}
		for _, f := range strings.Split(frames, "}") {
			var step struct {
				part float64
				top  int
			}
			if n, _ := fmt.Sscanf(f, "%f%%{transform:translateY(%dpx)", &step.part, &step.top); n != 2 {
				break
			}
			step.top = -step.top
			s.steps = append(s.steps, step)
		}
	}
	return p
}

// TestSVGAnimationIsSmall: what is drawn once is there once, wherever it moves.
func TestSVGAnimationIsSmall(t *testing.T) {
	var texts []string
	for i := range 200 { // scrolling text: each line is shown in twenty rows
		texts = append(texts, fmt.Sprintf("\r\n%04d-%s", i, strings.Repeat("long text ", 6)))
	}
	var b bytes.Buffer
	must(t, Animate(&b, "svg", film(typed(20, 80, texts...)), AnimateOptions{Options: Options{NoCursor: true}}))
	for i := range 200 {
		if n := strings.Count(b.String(), fmt.Sprintf("%04d-long", i)); n != 1 {
			t.Fatalf("line %d is there %d times", i, n)
		}
	}
	if b.Len() > 400<<10 {
		t.Errorf("%d bytes", b.Len())
	}
}

// TestAnimationBounds: nothing is larger than it may be, and the error says what to do.
func TestAnimationBounds(t *testing.T) {
	long := func(yield func(time.Duration, *vt.Screen) bool) { // endless
		term := vt.New(24, 80, vt.Options{})
		for i := 0; ; i++ {
			fmt.Fprintf(feeder{term}, "\x1b[3%dm%d %x\r\n", i%8, i, i*i*i)
			if !yield(40*time.Millisecond, term.Snapshot()) {
				return
			}
		}
	}
	for _, format := range []string{"svg", "gif", "webp"} {
		var b bytes.Buffer
		err := Animate(&b, format, long, AnimateOptions{MaxBytes: 200_000, Options: Options{FontSize: 8}})
		var le *LongError
		if !errors.As(err, &le) || !errors.Is(err, ErrTooLarge) || le.Most != 200_000 || le.At <= 0 || b.Len() > 200_000 {
			t.Errorf("%s: %v, %d bytes", format, err, b.Len())
		}
		if err := Animate(&b, format, film(nil), AnimateOptions{}); !errors.Is(err, ErrNoFrame) {
			t.Errorf("%s: %v", format, err)
		}
		var se *SizeError
		err = Animate(&b, format, film(typed(1000, 1000, "x")), AnimateOptions{Options: Options{FontSize: 40}})
		if !errors.As(err, &se) {
			t.Errorf("%s: %v", format, err)
		}
		if err := Animate(failing{}, format, film(typed(2, 9, "x")), AnimateOptions{}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s: %v", format, err)
		}
	}
	if err := Animate(io.Discard, "mp4", film(nil), AnimateOptions{}); !errors.Is(err, ErrAnimation) {
		t.Error(err)
	}
}

// A failing writer takes nothing.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// TestAnimationTimes: frames that look the same are one, those that are too brief are left out, and
// rounding does not add up.
func TestAnimationTimes(t *testing.T) {
	screens := typed(2, 20, "a", "", "b", "c", "d\x1b[?25l")
	all := []still{{1004 * time.Millisecond, screens[0].screen}, {7 * time.Millisecond, screens[1].screen},
		{19 * time.Millisecond, screens[2].screen}, {1004 * time.Millisecond, screens[3].screen}, {-time.Second, screens[4].screen}}
	var b bytes.Buffer
	must(t, Animate(&b, "gif", film(all), AnimateOptions{}))
	got := seenOf(t, "gif", b.Bytes())
	if len(got) != 3 || got[0].long != 1010*time.Millisecond || got[1].long != 1020*time.Millisecond || got[2].long != 20*time.Millisecond {
		t.Errorf("%d frames: %v", len(got), got)
	}
	for once, loops := range map[bool]int{false: 0, true: -1} {
		b.Reset()
		must(t, Animate(&b, "gif", film(all), AnimateOptions{Once: once}))
		g, err := gif.DecodeAll(&b)
		must(t, err)
		if g.LoopCount != loops {
			t.Errorf("once %v: repeated %d times", once, g.LoopCount)
		}
	}
	b.Reset() // longer than a picture of a GIF may be shown
	must(t, Animate(&b, "gif", film([]still{{20 * time.Minute, screens[0].screen}}), AnimateOptions{}))
	if got := seenOf(t, "gif", b.Bytes()); len(got) != 1 || got[0].long != 20*time.Minute {
		t.Errorf("%d frames", len(got))
	}
}

// TestAnimationOfSizes: a screen that grows is cut, one that shrinks leaves paper.
func TestAnimationOfSizes(t *testing.T) {
	term := vt.New(3, 10, vt.Options{})
	term.Feed([]byte("\x1b[?25lone\r\ntwo\r\nthree"))
	all := []still{{time.Second, term.Snapshot()}}
	term.Resize(5, 20, 0, 0)
	term.Feed([]byte("\x1b[5;1Hbelow\x1b[1;8Hbeyond"))
	all = append(all, still{time.Second, term.Snapshot()})
	term.Resize(2, 5, 0, 0)
	all = append(all, still{time.Second, term.Snapshot()})
	o := AnimateOptions{Options: Options{Fonts: ownFonts()}}
	for _, format := range []string{"gif", "webp", "svg"} {
		var b bytes.Buffer
		must(t, Animate(&b, format, film(all), o))
		if format == "svg" {
			if p := readSVG(t, b.Bytes()); len(p.rows) != 3 || p.row(2, 2500*time.Millisecond) != "" || p.row(2, 500*time.Millisecond) != "three" {
				t.Errorf("%s", b.Bytes())
			}
			continue
		}
		got := seenOf(t, format, b.Bytes())
		w, h := Size(all[0].screen, o.Options)
		if len(got) != 3 || got[0].img.Rect != image.Rect(0, 0, w, h) {
			t.Fatalf("%s: %d frames of %v", format, len(got), got[0].img.Rect)
		}
		paper := ThemeOf(vt.ThemeDark).Background
		for x := range w {
			for y := h * 2 / 3; y < h; y++ {
				if got[2].img.RGBAAt(x, y) != paper {
					t.Fatalf("%s: ink at %d,%d after the screen has shrunk", format, x, y)
				}
			}
		}
	}
}

// TestReduceColours: however many colours there are, 255 stand for them, the most frequent ones
// exactly.
func TestReduceColours(t *testing.T) {
	counts := map[color.RGBA]int{{1, 2, 3, 0xff}: 1 << 20}
	for i := range 5000 {
		counts[color.RGBA{uint8(i), uint8(i >> 4), uint8(i * 7), 0xff}] += 1 + i%3
	}
	index, colours := reduce(counts)
	if len(colours) > 256 || colours[index[color.RGBA{1, 2, 3, 0xff}]] != (color.RGBA{1, 2, 3, 0xff}) {
		t.Errorf("%d colours", len(colours))
	}
	for c := range counts {
		if index[c] == 0 {
			t.Fatalf("%v is transparent", c)
		}
	}
}

// TestAnimationFormat is that of the path, unless another is asked for.
func TestAnimationFormat(t *testing.T) {
	for _, c := range []struct{ format, path, want, problem string }{
		{"", "a.svg", "svg", ""}, {"", "a.GIF", "gif", ""}, {"", "a.webp", "webp", ""}, {"gif", "a", "gif", ""}, {"svg", "", "svg", ""},
		{"", "a.mp4", "", "use svg, gif or webp"}, {"mp4", "a.mp4", "", "use svg, gif or webp"}, {"gif", "a.svg", "", "leave the format out"}, {"", "a", "", "use svg"},
	} {
		got, err := AnimationFormatFor(c.format, c.path)
		if got != c.want || (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%q to %q: %q, %v", c.format, c.path, got, err)
		}
	}
}
