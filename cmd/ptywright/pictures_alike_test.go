//go:build unix

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
)

// alike are the screens that are drawn in three formats: real programs, and what themed prompts,
// agents and people of other scripts write.
var alike = []string{"vim/vsplit-unicode-24x80", "htop/start-24x80", "mc/menu-24x80", "less/help-24x80",
	"dialog/menu-tab-24x80", "claude-code/permission-edit-24x80", "codex/ready-24x80", "fzf/preview-24x80",
	"gdb/tui-next-24x80", "git/log-graph-24x80", "prompts", "scripts"}

// written are the screens of alike that no program wrote.
var written = map[string]string{
	"prompts": "⏺ Bash(make)\r\n  ⎿  \x1b[32mok\x1b[m  ⏵⏵ on \uf015 \x1b[44m \ue0a0 main \x1b[0;34;42m\ue0b0" +
		"\x1b[0;32m\ue0b0\x1b[m \ue0b2\ue0b3\ue0b1 \x1b[1;31mred\x1b[30m black\x1b[m " +
		"\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\ \x1b[4 q",
	"scripts": "Han     \x1b[31m日本語\x1b[m|中文|\r\n\r\nHangul  \x1b[32m한국어\x1b[m|\r\n\r\n" +
		"Hebrew  \x1b[33mעברית\x1b[m|\r\n\r\nThai    \x1b[34mภาษาไทย\x1b[m|ไม่|\r\n\r\n" +
		"emoji   \x1b[35m🚀\x1b[m|✅|❌|🎉|🧪|⚠|\r\n\r\nNerd    \x1b[36m\uf015\x1b[m|\ue718|\uf1d3|\uea60|\uf408|\r\n\r\n" +
		"marks   é|ñ|Å|ķ|\r\n\r\nblocks  ▂▃▄▅▆▇█|░▒▓|▖▗▘▝|⣿⡇|╭─╮|\r\n",
}

// screenNamed writes one of alike to a recording, and returns its last screen.
func screenNamed(t *testing.T, name string) (path string, s *vt.Screen) {
	t.Helper()
	if text, ok := written[name]; ok {
		path = filepath.Join(t.TempDir(), "a.cast")
		event, err := json.Marshal([]any{0.1, "o", text})
		if err != nil {
			t.Fatal(err)
		}
		data := `{"version":2,"width":80,"height":24}` + "\n" + string(event) + "\n"
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	} else {
		path = recordedCast(t, name)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rec, err := record.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = rec.At(rec.Duration()); err != nil {
		t.Fatal(err)
	}
	return path, s
}

// hexBoxes are the characters of a screen that are drawn as their numbers. That one is, though a font
// that is installed has it, fails the test: fontconfig is asked, which pictures do without.
func hexBoxes(t *testing.T, s *vt.Screen) (missing []rune) {
	t.Helper()
	_, err := picture.Draw(s, "png", picture.Options{Missing: func(r rune) {
		if !slices.Contains(missing, r) {
			missing = append(missing, r)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range missing {
		out, err := exec.Command("fc-list", fmt.Sprintf(":charset=%x", r), "file").Output()
		if err != nil {
			t.Logf("who has U+%04X cannot be asked: apt-get install fontconfig (%v)", r, err)
			continue
		}
		if font := outlines.FindString(string(out)); font != "" {
			t.Errorf("%c (U+%04X) is drawn as its number, and %s has it", r, r, font)
		}
	}
	return missing
}

// outlines are the fonts that have outlines, and not pictures, of their characters.
var outlines = regexp.MustCompile(`(?m)^.*\.(ttf|otf|ttc|otc):`)

// TestPicturesAreAlike: the PNG, and what a browser makes of the SVG and of the HTML, show the same
// in each cell: ink or none, the same colours. No character is drawn as its number where a font that
// is installed has it, and shot names those that are.
func TestPicturesAreAlike(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	p := b.open("about:blank")
	for _, name := range alike {
		path, screen := screenNamed(t, name)
		missing := hexBoxes(t, screen)
		for _, theme := range []string{"dark", "light"} {
			dir := t.TempDir()
			for _, format := range []string{"png", "svg", "html"} {
				shot := ptywright(t, "shot", "-o", filepath.Join(dir, "a."+format), "--theme", theme, path)
				if _, code := shot.Run(""); code != 0 {
					t.Fatalf("%s: %s", name, shot.Stderr)
				}
				if told := shot.Stderr.String(); format == "png" && (told != "") != (len(missing) > 0) {
					t.Errorf("%s: %q have no glyph, and standard error says %q", name, missing, told)
				}
			}
			data, err := os.ReadFile(filepath.Join(dir, "a.png"))
			b.must(err)
			own, err := png.Decode(bytes.NewReader(data))
			b.must(err)
			size := own.Bounds().Size()
			for _, format := range []string{"svg", "html"} {
				p.load(filepath.Join(dir, "a."+format))
				where := area{0, 0, float64(size.X), float64(size.Y)}
				if format == "html" {
					where = p.textArea(screen.Cols)
				}
				browser := p.seen(int(max(where.w, float64(size.X)))+2, int(max(where.h, float64(size.Y))))
				leftOut := string(missing)
				if format == "html" {
					leftOut += "░▒▓" // a tone in pictures, a pattern of dots in fonts
				}
				all := unlike(screen, own, area{0, 0, float64(size.X), float64(size.Y)}, browser, where, leftOut)
				if len(all) > 0 {
					t.Errorf("%s, %s: %d cells of the %s are not as in the PNG:\n%s", name, theme, len(all),
						format, strings.Join(all[:min(len(all), 8)], "\n"))
					p.shot("alike-" + strings.ReplaceAll(name, "/", "-") + "-" + theme + "-" + format)
				}
			}
		}
	}
}

// An area is a part of a picture, in pixels, with the cells of a screen.
type area struct{ x, y, w, h float64 }

// textArea is where the cells of a page of HTML are that has a screen of so many columns.
func (p *tab) textArea(cols int) area {
	r := p.eval(fmt.Sprintf(`(() => {
		const pre = document.querySelector('pre'), b = pre.getBoundingClientRect(), s = document.createElement('span');
		s.textContent = 'x'.repeat(%d);
		pre.append(s);
		const w = s.getBoundingClientRect().width;
		s.remove();
		return [b.x, b.y, w, b.height];
	})()`, cols)).([]any)
	return area{r[0].(float64), r[1].(float64), r[2].(float64), r[3].(float64)}
}

// A cellLook is what a cell of a picture looks like.
type cellLook struct {
	paper  [3]float64 // the colour of most of it
	second [3]float64 // the next one; of share nothing when there is none
	share  float64    // of the second, of the whole cell
	ink    float64    // the part of the cell that is not paper
	lean   [3]float64 // from the paper to the ink, on average
}

// Bounds of what counts as the same, found with the screens of TestPicturesAreAlike: two rasterisers
// draw them, with glyphs up to half a pixel apart.
const (
	cellEdge   = 1    // pixels at each side of a cell, where its neighbours may reach in
	rowEdge    = 2    // above and below, where an HTML row of 17 pixels stands beside one of 18
	sameColour = 24.0 // of 255, each of red, green and blue
	noInk      = 0.004
	someInk    = 0.03
	inkApart   = 0.3  // a part of the cell
	solid      = 0.4  // the part of a cell that a colour has that must be in the other, too
	sameLean   = 0.85 // cosine of the angle between two colours, seen from their paper
	clearLean  = 12.0 // ink that leans less, on average over its pixels, has no colour to speak of
)

// lookAt looks at cols cells of an area, from row and col on.
func lookAt(img image.Image, in area, s *vt.Screen, row, col, cols int) (l cellLook) {
	w, h := in.w/float64(s.Cols), in.h/float64(s.Rows)
	counts := map[uint32]int{} // by colour, 0xRRGGBB
	n := 0
	for y := int(math.Ceil(in.y+float64(row)*h)) + rowEdge; y < int(in.y+float64(row+1)*h)-rowEdge; y++ {
		for x := int(math.Ceil(in.x+float64(col)*w)) + cellEdge; x < int(in.x+float64(col+cols)*w)-cellEdge; x++ {
			r, g, b, _ := img.At(x, y).RGBA()
			counts[r>>8<<16|g>>8<<8|b>>8]++
			n++
		}
	}
	rgb := func(c uint32) [3]float64 {
		return [3]float64{float64(c >> 16), float64(c >> 8 & 0xff), float64(c & 0xff)}
	}
	colours := slices.SortedFunc(maps.Keys(counts), func(a, b uint32) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	ink := 0
	for i, c := range colours {
		v := rgb(c)
		if i == 0 {
			l.paper = v
		}
		if apart(v, l.paper) <= sameColour {
			continue
		}
		if ink == 0 {
			l.second, l.share = v, float64(counts[c])/float64(n)
		}
		ink += counts[c]
		for k := range 3 {
			l.lean[k] += float64(counts[c]) * (v[k] - l.paper[k])
		}
	}
	l.ink = float64(ink) / float64(n)
	for k := range 3 {
		l.lean[k] /= float64(max(ink, 1))
	}
	return l
}

// apart is how far two colours are apart, in the one of red, green and blue in which they are most.
func apart(a, b [3]float64) (d float64) {
	for k := range 3 {
		d = max(d, math.Abs(a[k]-b[k]))
	}
	return d
}

// has reports whether a colour is one of the two that a cell has most of.
func (l cellLook) has(c [3]float64) bool {
	return apart(c, l.paper) <= sameColour || l.share > 0 && apart(c, l.second) <= sameColour
}

// differs says in what two looks at a cell differ; "": in nothing that people would see.
func (l cellLook) differs(o cellLook) string {
	switch {
	case l.ink >= someInk && o.ink <= noInk, o.ink >= someInk && l.ink <= noInk,
		math.Abs(l.ink-o.ink) > inkApart && !(l.has(o.paper) && o.has(l.paper)):
		return fmt.Sprintf("%.0f %% ink and %.0f %%", 100*l.ink, 100*o.ink)
	case 1-l.ink > solid && !o.has(l.paper), 1-o.ink > solid && !l.has(o.paper):
		return fmt.Sprintf("on %v and on %v", l.paper, o.paper)
	case l.share > solid && !o.has(l.second), o.share > solid && !l.has(o.second):
		return fmt.Sprintf("of %v and of %v", l.second, o.second)
	}
	if l.ink < someInk || o.ink < someInk || apart(l.paper, o.paper) > sameColour {
		return ""
	}
	dot, a, b := 0.0, 0.0, 0.0
	for k := range 3 {
		dot, a, b = dot+l.lean[k]*o.lean[k], a+l.lean[k]*l.lean[k], b+o.lean[k]*o.lean[k]
	}
	if min(a, b) > clearLean*clearLean && dot/math.Sqrt(a*b) < sameLean {
		return fmt.Sprintf("ink that leans to %.0f and to %.0f", l.lean, o.lean)
	}
	return ""
}

// unlike says which cells of a screen look different in two pictures. Characters that are left out are
// not looked at, nor what is right of one, where it may reach in. Of a wide character only counts that
// it is there: text formats leave emoji, which may be in colour, and CJK to their readers' fonts.
func unlike(s *vt.Screen, a image.Image, inA area, b image.Image, inB area, leftOut string) (all []string) {
	for row := range s.Rows {
		beside := false
		s.EachCell(row, func(col int, c vt.Cell) {
			out := strings.ContainsAny(c.Text, leftOut)
			skip := c.Continuation || out || beside
			beside = out || c.Continuation && beside
			if skip {
				return
			}
			cols := 1
			if c.Wide {
				cols = 2
			}
			one, two := lookAt(a, inA, s, row, col, cols), lookAt(b, inB, s, row, col, cols)
			why := one.differs(two)
			if c.Wide && min(one.ink, two.ink) >= someInk {
				why = ""
			}
			if why != "" {
				all = append(all, fmt.Sprintf("row %d, column %d, %q: %s", row, col, c.Text, why))
			}
		})
	}
	return all
}

// TestUnlike: what people would see is told, what two rasterisers make of one glyph is not.
func TestUnlike(t *testing.T) {
	black, white, red := [3]float64{}, [3]float64{255, 255, 255}, [3]float64{200, 40, 40}
	glyph := cellLook{paper: black, second: [3]float64{180, 180, 180}, share: 0.1, ink: 0.2, lean: [3]float64{120, 120, 120}}
	for name, c := range map[string]struct {
		change func(*cellLook)
		same   bool
	}{
		"the same":       {func(*cellLook) {}, true},
		"a bit bolder":   {func(l *cellLook) { l.ink = 0.3 }, true},
		"paler":          {func(l *cellLook) { l.lean = [3]float64{90, 90, 90} }, true},
		"nothing there":  {func(l *cellLook) { *l = cellLook{paper: black} }, false},
		"a full block":   {func(l *cellLook) { *l = cellLook{paper: white} }, false},
		"another paper":  {func(l *cellLook) { l.paper = red }, false},
		"red":            {func(l *cellLook) { l.lean = red }, false},
		"a large second": {func(l *cellLook) { l.second, l.share, l.ink = red, 0.5, 0.5 }, false},
	} {
		other := glyph
		c.change(&other)
		for _, why := range []string{glyph.differs(other), other.differs(glyph)} {
			if (why == "") != c.same {
				t.Errorf("%s: %q", name, why)
			}
		}
	}
}
