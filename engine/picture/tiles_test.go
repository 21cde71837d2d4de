package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/vt"
)

// desk is some sessions as they are side by side.
func desk(t testing.TB, n int) []Tile {
	names := []string{"bash/unicode-24x80", "htop/start-24x80", "vim/visual-40x120", "claude-code/permission-edit-24x80", "mc/menu-24x80"}
	tiles := make([]Tile, n)
	screens := map[string]*vt.Screen{}
	for i := range tiles {
		name := names[i%len(names)]
		if screens[name] == nil {
			screens[name] = recorded(t, name)
		}
		tiles[i] = Tile{fmt.Sprintf("%d: %s", i, strings.Split(name, "/")[0]), screens[name]}
	}
	return tiles
}

// uneven are screens of several sizes, with labels that fit, that do not, and that hold what no
// label should.
func uneven() []Tile {
	screen := func(rows, cols int, text string) *vt.Screen {
		term := vt.New(rows, cols, vt.Options{})
		term.Feed([]byte(text))
		return term.Snapshot()
	}
	return []Tile{
		{"0: bash", screen(5, 30, "$ \x1b[1;32mmake\x1b[m\r\nok\r\n$ ")},
		{"1: a title that is much too long for its tile", screen(8, 20, "\x1b[44m\x1b[2J\x1b[H┌──┐\r\n│日│\r\n└──┘\x1b[?25l")},
		{"2: 日本語 wide to the very edge of it 日本語日本語日本語", screen(3, 45, "\x1b[?5hreverse")},
		{"3", screen(2, 3, "ab")},
		{"4: \x1b[31mred\x07\u202e", screen(4, 24, "> ")},
		{"", screen(1, 12, "no label")},
		{"6: secret", screen(4, 24, "\x1b[3;4mstyles")},
	}
}

func unevenOptions() Options {
	return Options{Fonts: ownFonts(), Clean: func(s string) string { return strings.ReplaceAll(s, "secret", "[REDACTED]") }}
}

// TestTilesLookRight: a picture that somebody has looked at.
func TestTilesLookRight(t *testing.T) {
	got, w, h, err := Tiles(uneven(), unevenOptions())
	must(t, err)
	c, err := png.DecodeConfig(bytes.NewReader(got))
	must(t, err)
	if c.Width != w || c.Height != h {
		t.Errorf("said to be %dx%d, is %dx%d", w, h, c.Width, c.Height)
	}
	path := filepath.Join("testdata", "png", "tiles.png")
	if *update {
		must(t, os.WriteFile(path, got, 0o644))
		return
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if d := diffPictures(t, got, want); d != "" {
		wrong := filepath.Join(t.ArtifactDir(), "tiles.png")
		must(t, os.WriteFile(wrong, got, 0o600))
		t.Errorf("%s; see %s", d, wrong)
	}
}

// TestTilesAreTheScreens: each is where no other is, and looks as it does alone.
func TestTilesAreTheScreens(t *testing.T) {
	for n := 1; n <= 7; n++ {
		tiles, o := uneven()[:n], Options{FontSize: 10, Padding: 3}
		img, err := tilesImage(tiles, o)
		must(t, err)
		g, err := layTiles(tiles, o)
		must(t, err)
		if g.size != 10 {
			t.Fatalf("the font has %v", g.size)
		}
		var taken []image.Rectangle
		for i, tile := range tiles {
			w, h := g.tile(tile.Screen)
			r := image.Rect(0, 0, w, h).Add(image.Pt(g.left[i%len(g.left)], g.top[i/len(g.left)]))
			for j, other := range taken {
				if r.Overlaps(other) {
					t.Errorf("of %d, %d is over %d", n, i, j)
				}
			}
			if taken = append(taken, r); !r.In(img.Rect) {
				t.Errorf("of %d, %d is at %v in %v", n, i, r, img.Rect)
			}
			alone, err := Image(tile.Screen, o)
			must(t, err)
			for y := range alone.Rect.Dy() {
				for x := range alone.Rect.Dx() {
					if got, want := img.RGBAAt(r.Min.X+x, r.Min.Y+g.bar+y), alone.RGBAAt(x, y); got != want {
						t.Fatalf("of %d, %d differs at %d,%d: %v, want %v", n, i, x, y, got, want)
					}
				}
			}
		}
	}
}

// TestTilesAreBounded: however many there are, of the usual sizes, there is a picture of them, in
// text that is read as long as that can be; and what there is no room for is told.
func TestTilesAreBounded(t *testing.T) {
	for _, c := range []struct {
		n, rows, cols   int
		smallest, large float64 // bounds of the font
	}{
		{1, 24, 80, 15, 15}, {4, 24, 80, 15, 15}, {9, 30, 120, 13, 15}, {20, 24, 80, 15, 15}, {100, 24, 80, 6, 8}, {100, 30, 120, 6, 6},
		{100, 50, 200, 6, 6}, {100, 60, 300, 4, 6}, {1024, 24, 80, 1, 4}, {2, 1000, 1000, 3, 6}, {1, 1, 1, 15, 15}, {1, 1, 1000, 15, 15}, {1, 1000, 1, 15, 15},
	} {
		s := vt.New(c.rows, c.cols, vt.Options{Scrollback: -1}).Snapshot()
		tiles := make([]Tile, c.n)
		for i := range tiles {
			tiles[i] = Tile{fmt.Sprint(i), s}
		}
		g, err := layTiles(tiles, Options{})
		if err != nil {
			t.Errorf("%d of %dx%d: %v", c.n, c.rows, c.cols, err)
			continue
		}
		if g.size < c.smallest || g.size > c.large {
			t.Errorf("%d of %dx%d: font %v, want %v to %v", c.n, c.rows, c.cols, g.size, c.smallest, c.large)
		}
		if most := float64(MaxPixels); g.pixels() > most || g.size > FontSizeMin && g.pixels() > tilesPixels {
			t.Errorf("%d of %dx%d: %dx%d pixels in font %v", c.n, c.rows, c.cols, g.width, g.height, g.size)
		}
		if len(g.left)*len(g.top) < c.n || len(g.left)*(len(g.top)-1) >= c.n {
			t.Errorf("%d of %dx%d: %d columns, %d rows", c.n, c.rows, c.cols, len(g.left), len(g.top))
		}
	}
	if _, _, _, err := Tiles(nil, Options{}); !errors.Is(err, ErrNoScreen) {
		t.Errorf("none: %v", err)
	}
	many := make([]Tile, 100_000)
	large := vt.New(1000, 1000, vt.Options{Scrollback: -1}).Snapshot()
	for i := range many {
		many[i].Screen = large
	}
	for _, n := range []int{20, 100, len(many)} {
		_, _, _, err := Tiles(many[:n], Options{Padding: 1 << 30})
		var pe *SizeError
		if !errors.As(err, &pe) || !errors.Is(err, ErrTooLarge) || pe.Screens != n || !strings.HasSuffix(err.Error(), "show fewer of them") {
			t.Errorf("%d of 1000x1000: %v", n, err)
		}
	}
}

// TestTilesOfAnything: no screen and no label breaks a picture, in no size of the font.
func TestTilesOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 6).Draw(t, "rows"), rapid.IntRange(1, 12).Draw(t, "cols")
		term := vt.New(rows, cols, vt.Options{})
		term.Feed([]byte(enginetest.Anything(rows, cols).Draw(t, "output")))
		tile := Tile{rapid.String().Draw(t, "label"), term.Snapshot()}
		if _, _, _, err := Tiles([]Tile{tile, tile, tile}, Options{}); err != nil {
			t.Fatal(err)
		}
		size := float64(rapid.IntRange(4, 24).Draw(t, "quarters")) / 4
		g := layAt([]Tile{tile}, size, 0)
		img := image.NewRGBA(image.Rect(0, 0, g.width, g.height))
		(&canvas{img: img, face: faceOf(size), theme: ThemeOf(vt.ThemeDark)}).screen(tile.Screen, true)
	})
}

func TestPictureSize(t *testing.T) {
	for _, o := range []Options{{}, {FontSize: 7.3}, {FontSize: 22, Padding: 9}, {Padding: 5000}, {FontSize: -3}} {
		data, err := PNG(styles(), o)
		must(t, err)
		c, err := png.DecodeConfig(bytes.NewReader(data))
		must(t, err)
		if w, h := Size(styles(), o); w != c.Width || h != c.Height {
			t.Errorf("%+v: %dx%d, want %dx%d", o, w, h, c.Width, c.Height)
		}
	}
}

func BenchmarkTiles(b *testing.B) {
	for _, n := range []int{1, 4, 20, 100} {
		tiles := desk(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, _, err := Tiles(tiles, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
