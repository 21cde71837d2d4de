//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recordedCast writes one of the terminal's recordings of real programs to a file.
func recordedCast(t testing.TB, name string) (path string) {
	t.Helper()
	f, err := os.Open("../../engine/vt/testdata/recordings.txtar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	_, cast, ok := strings.Cut("\n"+string(all), "\n-- "+name+".cast --\n")
	if !ok {
		t.Fatalf("no recording %s", name)
	}
	cast, _, _ = strings.Cut(cast, "\n-- ")
	path = filepath.Join(t.TempDir(), "a.cast")
	if err := os.WriteFile(path, []byte(cast+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// load opens a file, and returns when it is there.
func (p *tab) load(path string) {
	p.t.Helper()
	p.do("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	p.eval(`new Promise((r) => document.readyState == 'complete' ? r() : addEventListener('load', () => r()))`)
}

// seen is the page as a picture, drawn to its end.
func (p *tab) seen(w, h int) image.Image {
	p.t.Helper()
	p.eval(`new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))`)
	var shot struct {
		Data string `json:"data"`
	}
	p.do("Page.captureScreenshot", map[string]any{"format": "png",
		"clip": map[string]any{"x": 0, "y": 0, "width": w, "height": h, "scale": 1}}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	p.must(err)
	img, err := png.Decode(bytes.NewReader(data))
	p.must(err)
	return img
}

// A cellLook is what a cell of a picture looks like: the colour of most of it, and of how much ink is on
// that.
type cellLook struct {
	paper [3]int
	ink   float64 // the part of the cell that has another colour
}

// looks are those of all cells of a screen drawn into w by h pixels from x, y on.
func looks(img image.Image, rows, cols int, x, y, w, h float64) (all []cellLook) {
	for row := range rows {
		for col := range cols {
			counts := map[[3]int]int{}
			n := 0
			for py := int(math.Ceil(y + float64(row)*h/float64(rows))); py < int(y+float64(row+1)*h/float64(rows)); py++ {
				for px := int(math.Ceil(x + float64(col)*w/float64(cols))); px < int(x+float64(col+1)*w/float64(cols)); px++ {
					r, g, b, _ := img.At(px, py).RGBA()
					counts[[3]int{int(r >> 12), int(g >> 12), int(b >> 12)}]++
					n++
				}
			}
			var l cellLook
			most := 0
			for c, k := range counts {
				if k > most {
					most, l.paper = k, c
				}
			}
			l.ink = 1 - float64(most)/float64(n)
			all = append(all, l)
		}
	}
	return all
}

// differ is the part of the cells of two pictures that do not look alike: one has ink where the other
// has none, or another paper.
func differ(t testing.TB, a, b []cellLook) float64 {
	n := 0
	for i := range a {
		far := 0
		for k := range 3 {
			far = max(far, a[i].paper[k]-b[i].paper[k], b[i].paper[k]-a[i].paper[k])
		}
		if math.Abs(a[i].ink-b[i].ink) > 0.35 || far > 1 && max(a[i].ink, b[i].ink) < 0.4 {
			if n++; n <= 3 {
				t.Logf("cell %d: %v and %v", i, a[i], b[i])
			}
		}
	}
	return float64(n) / float64(len(a))
}

// TestPicturesAreAlike: the PNG, and what a browser makes of the SVG and of the HTML, show the same
// cells, of ten programs and of what themed prompts and agents print.
func TestPicturesAreAlike(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	p := b.open("about:blank")
	for _, name := range []string{"vim/vsplit-unicode-24x80", "htop/start-24x80", "mc/menu-24x80", "less/help-24x80", "dialog/menu-tab-24x80",
		"claude-code/permission-edit-24x80", "codex/ready-24x80", "fzf/preview-24x80", "gdb/tui-next-24x80", "git/log-graph-24x80", "prompts"} {
		path := ""
		if name == "prompts" {
			path = filepath.Join(t.TempDir(), "a.cast")
			text := `⏺ Bash(make)\r\n  ⎿  \u001b[32mok\u001b[m  ⏵⏵ on \uf015 \u001b[44m \ue0a0 main \u001b[0;34;42m\ue0b0\u001b[0;32m\ue0b0\u001b[m \ue0b2\ue0b3\ue0b1 \u001b[1;31mred\u001b[30m black\u001b[m \u001b]8;;https://example.org\u001b\\link\u001b]8;;\u001b\\ \u001b[4 q`
			if err := os.WriteFile(path, []byte(`{"version":2,"width":80,"height":24}`+"\n"+`[0.1,"o","`+text+`"]`+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		} else {
			path = recordedCast(t, name)
		}
		for _, theme := range []string{"dark", "light"} {
			dir := t.TempDir()
			for _, format := range []string{"png", "svg", "html"} {
				if out, code := ptywright(t, "shot", "-o", filepath.Join(dir, "a."+format), "--theme", theme, path).Run(""); code != 0 {
					t.Fatalf("%s: %s", name, out)
				}
			}
			data, err := os.ReadFile(filepath.Join(dir, "a.png"))
			b.must(err)
			own, err := png.Decode(bytes.NewReader(data))
			b.must(err)
			size := own.Bounds().Size()
			const rows, cols = 24, 80
			want := looks(own, rows, cols, 0, 0, float64(size.X), float64(size.Y))
			for _, format := range []string{"svg", "html"} {
				p.load(filepath.Join(dir, "a."+format))
				x, y, w, h := 0.0, 0.0, float64(size.X), float64(size.Y)
				if format == "html" {
					r := p.eval(`(() => { const r = document.createRange(); r.selectNodeContents(document.querySelector('pre')); const b = document.querySelector('pre').getBoundingClientRect(); const s = document.createElement('span'); s.textContent = 'x'.repeat(80); document.querySelector('pre').append(s); const w = s.getBoundingClientRect().width; s.remove(); return [b.x, b.y, w, b.height]; })()`).([]any)
					x, y, w, h = r[0].(float64), r[1].(float64), r[2].(float64), r[3].(float64)
				}
				got := looks(p.seen(int(max(w, float64(size.X)))+2, int(max(h, float64(size.Y)))), rows, cols, x, y, w, h)
				if part := differ(t, want, got); part > 0.03 {
					t.Errorf("%s, %s: %.1f%% of the cells of the %s differ from the PNG", name, theme, 100*part, format)
					p.shot("alike-" + strings.ReplaceAll(name, "/", "-") + "-" + theme + "-" + format)
				} else {
					t.Logf("%s, %s, %s: %.1f%%", name, theme, format, 100*part)
				}
			}
		}
	}
}

// TestAnimationPlays: a browser that plays an SVG shows at each time what shot draws of that time.
func TestAnimationPlays(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	p := b.open("about:blank")
	path, dir := recordedCast(t, "vim/vsplit-unicode-24x80"), t.TempDir()
	moving := filepath.Join(dir, "moving.svg")
	if out, code := ptywright(t, "animate", "-o", moving, "--hold", "1s", path).Run(""); code != 0 {
		t.Fatal(out)
	}
	const rows, cols = 24, 80
	for _, at := range []float64{0.05, 0.5, 1, 1.5, 2.5} {
		still := filepath.Join(dir, "still.svg")
		out, code := ptywright(t, "shot", "-o", still, "--at", fmt.Sprint(at), path).Run("")
		if code != 0 {
			if strings.Contains(out, "ends at") {
				continue // the recording is shorter
			}
			t.Fatal(out)
		}
		var pictures []image.Image
		for _, f := range []string{still, moving} {
			p.load(f)
			p.eval(fmt.Sprintf(`document.getAnimations().forEach((a) => { a.pause(); a.currentTime = %v; })`, at*1000+1))
			pictures = append(pictures, p.seen(720, 432))
		}
		if part := differ(t, looks(pictures[0], rows, cols, 0, 0, 720, 432), looks(pictures[1], rows, cols, 0, 0, 720, 432)); part > 0.01 {
			t.Errorf("at %v s %.1f%% of the cells differ", at, 100*part)
		}
	}
	if n := p.eval(`document.getAnimations().length`).(float64); n < 1 {
		t.Errorf("%v animations", n)
	}
}

// TestNoRowOfAnAnimationLeaks: what reaches out of its cell ("|" and "[" below, "Å" and stacked marks
// above) shows nothing in the frames before and after it, whose row is blank.
func TestNoRowOfAnAnimationLeaks(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	p := b.open("about:blank")
	dir := t.TempDir()
	cast, moving := filepath.Join(dir, "a.cast"), filepath.Join(dir, "a.svg")
	// Strips of two rows: each row shows marks, nothing, marks, nothing. The second row has the same
	// frames in another order, so that some are shared.
	tall := "|[Å{]" + strings.Repeat("q", 3) + "a" + strings.Repeat("\u0301", 8) + "g" + strings.Repeat("\u0323", 8)
	data := fmt.Sprintf(`{"version":2,"width":20,"height":4}
[0.0,"o","\u001b[?25l\u001b[H%[1]s\u001b[3H[%[1]s"]
[1.0,"o","\u001b[2J\u001b[3H\u001b[44m     \u001b[m"]
[2.0,"o","\u001b[H\u001b[2K|%[1]s\u001b[3H%[1]s"]
[3.0,"o","\u001b[2J"]
[4.0,"o","\u001b[H[[%[1]s\u001b[3H|%[1]s"]
`, tall)
	b.must(os.WriteFile(cast, []byte(data), 0o600))
	for _, size := range []string{"15", "22"} {
		for _, scale := range []string{"1", "1.3"} {
			if out, code := ptywright(t, "animate", "-o", moving, "--font-size", size, "--scale", scale, cast).Run(""); code != 0 {
				t.Fatal(out)
			}
			p.load(moving)
			box := p.eval(`(() => { const r = document.documentElement.getBoundingClientRect(); return [r.width, r.height]; })()`).([]any)
			w, h := int(box[0].(float64)), int(box[1].(float64))
			at := func(ms int) image.Image {
				p.eval(fmt.Sprintf(`document.getAnimations().forEach((a) => { a.pause(); a.currentTime = %d; })`, ms))
				return p.seen(w, h)
			}
			if inked(at(500), 0, h) == 0 {
				t.Fatalf("size %s: nothing is drawn", size)
			}
			// The row of blue blanks is blank above and below it.
			if n := inked(at(1500), 0, h/2-1); n > 0 {
				t.Errorf("size %s, scale %s: %d pixels of other frames over the blue row", size, scale, n)
				p.shot("leak-blue-" + size + "-" + scale)
			}
			if n := inked(at(3500), 0, h); n > 0 {
				t.Errorf("size %s, scale %s: %d pixels of other frames on a blank screen", size, scale, n)
				p.shot("leak-" + size + "-" + scale)
			}
		}
	}
}

// inked is how many pixels of some lines of a picture differ from one in its corner. What a scaled
// picture has at its edges, in half a pixel, does not count.
func inked(img image.Image, from, to int) (n int) {
	const edge = 2
	r := img.Bounds()
	paper := img.At(r.Max.X-edge, r.Max.Y-edge)
	for y := max(from, edge); y < min(to, r.Max.Y-edge); y++ {
		for x := edge; x < r.Max.X-edge; x++ {
			if img.At(x, y) != paper {
				n++
			}
		}
	}
	return n
}
