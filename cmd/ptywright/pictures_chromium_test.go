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
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/vt"
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

// TestAnimationPlays: a browser that plays an SVG shows at each time what shot draws of that time.
func TestAnimationPlays(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	p := b.open("about:blank")
	path, dir := recordedCast(t, "vim/vsplit-unicode-24x80"), t.TempDir()
	grid := vt.New(24, 80, vt.Options{}).Snapshot() // every cell by itself
	moving := filepath.Join(dir, "moving.svg")
	if out, code := ptywright(t, "animate", "-o", moving, "--hold", "1s", path).Run(""); code != 0 {
		t.Fatal(out)
	}
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
		whole := area{0, 0, 720, 432}
		if all := unlike(grid, pictures[0], whole, pictures[1], whole, ""); len(all) > 0 {
			t.Errorf("at %v s %d cells differ:\n%s", at, len(all), strings.Join(all[:min(len(all), 8)], "\n"))
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
