package picture

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/vt"
)

var update = flag.Bool("update", false, "write the golden files anew")

// styles is a screen with everything that a picture shows.
func styles() *vt.Screen {
	t := vt.New(16, 64, vt.Options{})
	var b strings.Builder
	b.WriteString("\x1b[?2027h")
	b.WriteString("plain \x1b[1mbold\x1b[m \x1b[3mitalic\x1b[m \x1b[1;3mboth\x1b[m \x1b[2mdim\x1b[m \x1b[7minverse\x1b[m \x1b[8mhidden\x1b[m \x1b[9mstrike\x1b[m \x1b[53mover\x1b[m\r\n")
	b.WriteString("\x1b[4msingle\x1b[m \x1b[4:2mdouble\x1b[m \x1b[4:3mcurly gy\x1b[m \x1b[4:4mdotted\x1b[m \x1b[4:5mdashed\x1b[m \x1b[4:3;58:2::255:0:0mred below\x1b[m\r\n")
	for i := range 16 {
		fmt.Fprintf(&b, "\x1b[48;5;%dm  \x1b[38;5;%dmA\x1b[m", i, i)
	}
	b.WriteString("\r\n")
	for i := range 64 {
		fmt.Fprintf(&b, "\x1b[48;2;%d;%d;128m ", i*4, 255-i*4)
	}
	b.WriteString("\x1b[m\r\n┌─┬─┐ ╔═╦═╗ ┏━┳━┓ ╭─╮ ╒═╤═╕ ╓─╥─╖ ┍━┯━┑ ╱╲ ┄┄┅┅┈┈┉┉╌╌╍╍\r\n")
	b.WriteString("│ │ │ ║ ║ ║ ┃ ┃ ┃ │ │ │ │ │ ║ ║ ║ │ │ │ ╲╱ ╳╳ ┆┇┊┋╎╏ ╼╾╽╿\r\n")
	b.WriteString("├─┼─┤ ╠═╬═╣ ┣━╋━┫ ╰─╯ ╞═╪═╡ ╟─╫─╢ ┝━┿━┥ ╴╵╶╷ ╸╹╺╻ ┠╂┨ ┢╈┪ ┡╇┩\r\n")
	b.WriteString("└─┴─┘ ╚═╩═╝ ┗━┻━┛     ╘═╧═╛ ╙─╨─╜ ┕━┷━┙ ▁▂▃▄▅▆▇█▉▊▋▌▍▎▏▔▕▐▀\r\n")
	b.WriteString("░░▒▒▓▓██ ▖▗▘▙▚▛▜▝▞▟ ⣿⣿⠿⡇⢸⠁⠂⠄⡀⢀⠠⠐⠈ \U0001fb00\U0001fb01\U0001fb02\U0001fb13\U0001fb14\U0001fb27\U0001fb3b \ue0b0\ue0b1\ue0b2\ue0b3 \x1b[44m\ue0b0\x1b[m\r\n")
	b.WriteString("CJK: 日本語 中文 한국어|  emoji: 😀👍🏽👩‍👩‍👧🇩🇪☁️|\r\n")
	b.WriteString("marks: e\u0301 a\u0308 n\u0303 o\u0302 é ä | Ελληνικά Русский ←↑→↓ ✓✗ ● ◆\r\n")
	b.WriteString("\x1b[1mbold: e\u0301 Ελ ←→ ✓\x1b[m missing: \u0e01 \u0915 \U00012000|\r\n\x1b[1;31mred \x1b[32mgreen \x1b[34mblue \x1b[0;90mgrey\x1b[m")
	t.Feed([]byte(b.String()))
	return t.Snapshot()
}

// goldens are pictures that somebody has looked at. After a change look at those that differ, then
// write them with -update.
var goldens = map[string]func(t *testing.T) (*vt.Screen, Options){
	"styles":    func(*testing.T) (*vt.Screen, Options) { return styles(), Options{Padding: 8} },
	"styles-30": func(*testing.T) (*vt.Screen, Options) { return styles(), Options{FontSize: 30} },
	"styles-light": func(*testing.T) (*vt.Screen, Options) {
		return styles(), Options{Theme: ThemeOf(vt.ThemeLight), FontSize: 12}
	},
	"vim":           program("vim/vsplit-unicode-24x80"),
	"vim-visual":    program("vim/visual-40x120"),
	"htop":          program("htop/start-24x80"),
	"mc":            program("mc/menu-24x80"),
	"mc-dialog":     program("mc/mkdir-dialog-24x80"),
	"claude-code":   program("claude-code/permission-edit-24x80"),
	"shell-unicode": program("bash/unicode-24x80"),
}

func TestGoldenPictures(t *testing.T) {
	for name, draw := range goldens {
		s, o := draw(t)
		o.Fonts = ownFonts() // the pictures do not depend on what is installed
		got, err := PNG(s, o)
		must(t, err)
		path := filepath.Join("testdata", "png", name+".png")
		if *update {
			must(t, os.WriteFile(path, got, 0o644))
			continue
		}
		want, err := os.ReadFile(path)
		must(t, err)
		if d := diffPictures(t, got, want); d != "" {
			wrong := filepath.Join(t.ArtifactDir(), name+".png")
			must(t, os.WriteFile(wrong, got, 0o600))
			t.Errorf("%s: %s; see %s", name, d, wrong)
		}
	}
}

// diffPictures compares pixels, not bytes: an encoder may change. Processors differ in the last bit
// of a coverage.
func diffPictures(t *testing.T, a, b []byte) string {
	decode := func(data []byte) image.Image {
		img, err := png.Decode(bytes.NewReader(data))
		must(t, err)
		return img
	}
	p, q := decode(a), decode(b)
	if p.Bounds() != q.Bounds() {
		return fmt.Sprintf("%v and %v", p.Bounds(), q.Bounds())
	}
	far := func(x, y uint32) bool { return max(x, y)-min(x, y) > 3<<8 }
	for y := p.Bounds().Min.Y; y < p.Bounds().Max.Y; y++ {
		for x := p.Bounds().Min.X; x < p.Bounds().Max.X; x++ {
			r, g, bl, _ := p.At(x, y).RGBA()
			r2, g2, bl2, _ := q.At(x, y).RGBA()
			if far(r, r2) || far(g, g2) || far(bl, bl2) {
				return fmt.Sprintf("pixel %d,%d differs", x, y)
			}
		}
	}
	return ""
}

// The table of lines is held against the font's own outlines: what reaches which edge, as one line
// or as two, and how thick.
func TestBoxTableAgreesWithTheFont(t *testing.T) {
	f := faceOf(96)
	for r := rune(0x2500); r <= 0x257f; r++ {
		if r >= 0x2571 && r <= 0x2573 { // diagonals have no arms
			continue
		}
		theirs := f.outline(glyph{r: r, cols: 1})
		if theirs == nil {
			t.Fatalf("the font lacks %c", r)
		}
		for dir, want := range boxArms[int(r-0x2500)*4 : int(r-0x2500)*4+4] {
			got := '0'
			if n, thick := strokes(f, theirs, dir); n == 2 {
				got = '3'
			} else if n == 1 && thick > f.w/5 {
				got = '2'
			} else if n == 1 {
				got = '1'
			}
			if got != want {
				t.Errorf("%c (%U), arm %d: the table says %c, the font %c", r, r, dir, want, got)
			}
			n, _ := strokes(f, boxMask(r, f.w, f.h), dir)
			if ours := map[rune]int{'0': 0, '1': 1, '2': 1, '3': 2}[want]; n != ours {
				t.Errorf("%c (%U), arm %d: drawn as %d lines, want %d", r, r, dir, n, ours)
			}
		}
	}
}

// strokes counts the lines across an arm, between the middle and the edge, and says how thick the
// first is.
func strokes(f *face, m *image.Alpha, dir int) (n, thick int) {
	// Dashes: the place with the most ink counts.
	for at := 0.06; at < 0.25; at += 0.01 {
		count, width, inside := 0, 0, false
		size := f.w
		if dir == left || dir == right {
			size = f.h
		}
		for i := range size {
			x, y := i, int(at*float64(f.h))
			switch dir {
			case down:
				y = f.h - 1 - y
			case left:
				x, y = int(at*float64(f.w)), i
			case right:
				x, y = f.w-1-int(at*float64(f.w)), i
			}
			on := m.AlphaAt(x, y).A > 127
			if on && !inside {
				count++
			}
			if on && count == 1 {
				width++
			}
			inside = on
		}
		if count > n {
			n, thick = count, width
		}
	}
	return n, thick
}

// Lines and blocks reach the edges that they share with their neighbours, at every size.
func TestBoxesJoin(t *testing.T) {
	for size := 6.0; size <= 40; size += 0.75 {
		f := faceOf(size)
		for r := rune(0x2500); r <= 0x257f; r++ {
			if r >= 0x2504 && r <= 0x250b || r >= 0x254c && r <= 0x254f || r >= 0x2571 && r <= 0x2573 {
				continue // dashes and diagonals
			}
			m := boxMask(r, f.w, f.h)
			for dir, weight := range boxArms[int(r-0x2500)*4 : int(r-0x2500)*4+4] {
				if weight == '0' {
					continue
				}
				straight := map[rune]rune{'1': '─', '2': '━', '3': '═'}[weight]
				if dir == up || dir == down {
					straight = map[rune]rune{'1': '│', '2': '┃', '3': '║'}[weight]
				}
				line := boxMask(straight, f.w, f.h)
				n := f.w
				if dir == left || dir == right {
					n = f.h
				}
				for i := range n { // what it has at the edge is what the straight line begins with beyond
					x, y := i, 0
					switch dir {
					case down:
						y = f.h - 1
					case left:
						x, y = 0, i
					case right:
						x, y = f.w-1, i
					}
					if m.AlphaAt(x, y).A < line.AlphaAt(x, y).A {
						t.Fatalf("size %v: %c meets %c with a gap", size, r, straight)
					}
				}
			}
		}
		for _, pair := range []string{"▀▄", "▌▐", "▛▗", "▜▖", "▙▝", "▟▘", "▚▞"} { // together they fill the cell, once
			r := []rune(pair)
			a, b := boxMask(r[0], f.w, f.h), boxMask(r[1], f.w, f.h)
			for i := range a.Pix {
				if a.Pix[i]^b.Pix[i] != 0xff {
					t.Fatalf("size %v: %s do not make a whole", size, pair)
				}
			}
		}
		for i, a := range boxMask('█', f.w, f.h).Pix {
			if a != 0xff {
				t.Fatalf("size %v: a full block has a hole at %d", size, i)
			}
		}
	}
}

// A frame of box drawing characters is one line without a gap, in the picture itself.
func TestFrameHasNoGaps(t *testing.T) {
	term := vt.New(4, 6, vt.Options{})
	term.Feed([]byte("┌────┐\r\n│    │\r\n│    │\r\n└────┘\x1b[?25l"))
	for _, size := range []float64{7, 12, 15, 16, 22, 30} {
		img, err := Image(term.Snapshot(), Options{FontSize: size})
		must(t, err)
		f := faceOf(size)
		fg := ThemeOf(vt.ThemeDark).Foreground
		p := newPlot(f.w, f.h)
		x0, _ := p.span(f.w, 1)
		y0, _ := p.span(f.h, 1)
		for x := x0; x <= 5*f.w+x0; x++ {
			if !inColumn(img, x, 0, f.h, fg) || !inColumn(img, x, 3*f.h, 4*f.h, fg) {
				t.Fatalf("size %v: a gap in column %d", size, x)
			}
		}
		for y := y0; y <= 3*f.h+y0; y++ {
			if !inRow(img, y, 0, f.w, fg) || !inRow(img, y, 5*f.w, 6*f.w, fg) {
				t.Fatalf("size %v: a gap in row %d", size, y)
			}
		}
	}
}

func inColumn(img *image.RGBA, x, from, to int, c color.RGBA) bool {
	for y := from; y < to; y++ {
		if img.RGBAAt(x, y) == c {
			return true
		}
	}
	return false
}

func inRow(img *image.RGBA, y, from, to int, c color.RGBA) bool {
	for x := from; x < to; x++ {
		if img.RGBAAt(x, y) == c {
			return true
		}
	}
	return false
}

// A wide character has ink in both of its cells and none beyond, and a glyph that is missing is
// seen to be.
func TestWideAndMissing(t *testing.T) {
	for _, text := range []string{"日", "😀", "한", "ｗ", "👩‍👩‍👧"} {
		term := vt.New(1, 5, vt.Options{})
		term.Feed([]byte("\x1b[?25l\x1b[?2027h " + text))
		s := term.Snapshot()
		if !s.Cell(0, 1).Wide {
			t.Fatalf("%s is not wide", text)
		}
		img, err := Image(s, Options{})
		must(t, err)
		f := faceOf(DefaultFontSize)
		for col, want := range []bool{false, true, true, false, false} {
			ink := false
			for x := col * f.w; x < (col+1)*f.w; x++ {
				ink = ink || inColumn(img, x, 0, f.h, ThemeOf(vt.ThemeDark).Foreground)
			}
			if ink != want {
				t.Errorf("%s: ink in column %d: %v", text, col, ink)
			}
		}
	}
}

func TestCursorShapes(t *testing.T) {
	f := faceOf(DefaultFontSize)
	for seq, want := range map[string]image.Rectangle{
		"\x1b[2 q":          image.Rect(f.w, 0, 2*f.w, f.h),
		"\x1b[4 q":          image.Rect(f.w, f.h-2, 2*f.w, f.h),
		"\x1b[6 q":          image.Rect(f.w, 0, f.w+2, f.h),
		"\x1b[2 q\x1b[?25l": {},
	} {
		term := vt.New(1, 3, vt.Options{})
		term.Feed([]byte(seq + "\x1b[2G"))
		img, err := Image(term.Snapshot(), Options{})
		must(t, err)
		for y := range f.h {
			for x := range 3 * f.w {
				if on := img.RGBAAt(x, y) == ThemeOf(vt.ThemeDark).Cursor; on != image.Pt(x, y).In(want) {
					t.Fatalf("%q: pixel %d,%d: %v", seq, x, y, on)
				}
			}
		}
		if img, err = Image(term.Snapshot(), Options{NoCursor: true}); err != nil || inRow(img, 0, 0, 3*f.w, ThemeOf(vt.ThemeDark).Cursor) {
			t.Errorf("%q: a cursor although there is to be none", seq)
		}
	}
}

func TestPictureIsBounded(t *testing.T) {
	s := vt.New(1000, 1000, vt.Options{}).Snapshot()
	_, err := PNG(s, Options{})
	var pe *SizeError
	if !errors.As(err, &pe) || !errors.Is(err, ErrTooLarge) || pe.Width*pe.Height <= MaxPixels {
		t.Errorf("%v", err)
	}
	small := vt.New(2, 2, vt.Options{}).Snapshot()
	for _, o := range []Options{{FontSize: 1e9}, {FontSize: -1}, {Padding: -5}, {FontSize: 0.01}} {
		if _, err := PNG(small, o); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for i := range 200 { // sizes that nobody uses again are let go
		faceOf(float64(6 + i))
	}
	if n := len(systemFonts().faces); n > facesMax {
		t.Errorf("%d faces are kept", n)
	}
}

// No screen breaks a picture of any sort.
func TestPicturesOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 6).Draw(t, "rows"), rapid.IntRange(1, 12).Draw(t, "cols")
		term := vt.New(rows, cols, vt.Options{})
		term.Feed([]byte(enginetest.Anything(rows, cols).Draw(t, "output")))
		s := term.Snapshot()
		if _, err := PNG(s, Options{FontSize: rapid.SampledFrom([]float64{6, 11, 15}).Draw(t, "size")}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestDraw(t *testing.T) {
	for format, begins := range map[string]string{"png": "\x89PNG\r\n", "svg": "<svg ", "html": "<!DOCTYPE html>", "ansi": "plain \x1b[0;1mbold"} {
		out, err := Draw(styles(), format, Options{})
		if err != nil || !strings.HasPrefix(string(out), begins) {
			t.Errorf("%s: %.40q %v", format, out, err)
		}
	}
	if _, err := Draw(styles(), "gif", Options{}); !errors.Is(err, ErrFormat) {
		t.Errorf("%v", err)
	}
}

func BenchmarkPNG(b *testing.B) {
	s := recorded(b, "htop/start-24x80")
	for b.Loop() {
		if _, err := PNG(s, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPictureFormat is that of the path, unless another is asked for; a path of another kind of
// file is refused.
func TestPictureFormat(t *testing.T) {
	for _, c := range []struct{ format, path, want, problem string }{
		{"", "", "png", ""},
		{"svg", "", "svg", ""},
		{"", "dir.d/picture", "png", ""},
		{"ansi", "picture", "ansi", ""},
		{"", "a.png", "png", ""},
		{"", "a.SVG", "svg", ""},
		{"html", "a.htm", "html", ""},
		{"", "a.txt", "ansi", ""},
		{"", "a.ans", "ansi", ""},
		{"svg", "a.b.svg", "svg", ""},
		{"", "t1.py", "", "give .png, .svg, .html, .ansi or .txt, or none and a format"},
		{"png", "t1.py", "", "give .png, or no extension"},
		{"png", "a.svg", "", "leave the format out, give svg, or another extension"},
		{"", ".profile", "", "is not a picture's extension"},
		{"", "a." + strings.Repeat("x", 300), "", strings.Repeat("x", 31) + `..."`},
		{"gif", "a.gif", "", "is not a picture format"},
	} {
		got, err := FormatFor(c.format, c.path)
		if got != c.want || (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%q to %.40q: %q, %v, want %q, %q", c.format, c.path, got, err, c.want, c.problem)
		}
	}
}

// program is a golden of a recording.
func program(name string) func(t *testing.T) (*vt.Screen, Options) {
	return func(t *testing.T) (*vt.Screen, Options) { return recorded(t, name), Options{} }
}

// corpus are the recordings of real programs that the terminal's tests use.
var corpus = sync.OnceValues(func() (string, error) {
	f, err := os.Open("../vt/testdata/recordings.txtar.gz")
	if err != nil {
		return "", err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(z)
	return "\n" + string(data), err
})

// recorded is the last screen of a recording.
func recorded(t testing.TB, name string) *vt.Screen {
	t.Helper()
	all, err := corpus()
	must(t, err)
	_, cast, ok := strings.Cut(all, "\n-- "+name+".cast --\n")
	if !ok {
		t.Fatalf("no recording %s", name)
	}
	cast, _, _ = strings.Cut(cast, "\n-- ")
	lines := json.NewDecoder(strings.NewReader(cast))
	var size struct{ Width, Height int }
	must(t, lines.Decode(&size))
	term := vt.New(size.Height, size.Width, vt.Options{})
	for lines.More() {
		var event [3]any
		must(t, lines.Decode(&event))
		if event[1] != "o" {
			t.Fatalf("%s: %v", name, event)
		}
		term.Feed([]byte(event[2].(string)))
	}
	term.Release()
	return term.Snapshot()
}

// ownFonts are the built-in fonts alone.
var ownFonts = sync.OnceValue(func() *Fonts {
	return newFonts(nil, func() *installed { return findFonts(nil) })
})

// faceOf is the face of a size with the usual fonts.
func faceOf(size float64) *face { return systemFonts().face(size) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
