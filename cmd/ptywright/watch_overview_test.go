//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/color"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestWatchByTheKeyboard: arrows choose a session on a page that nobody has clicked, Enter opens
// it, and each says its id.
func TestWatchByTheKeyboard(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := watchedServer(t)
	one, two := w.sh("exec cat"), w.sh("exec cat")
	p := b.open(w.address)
	p.until(`document.querySelectorAll('.tile').length === 2`)
	chosen := func(want string) {
		t.Helper()
		if got := p.eval(`document.activeElement.getAttribute('href')`); got != "#/session/"+want {
			t.Errorf("chosen is %v, not %s", got, want)
		}
	}
	p.key("ArrowRight", "ArrowRight", 0, "")
	chosen(one.ID)
	p.key("ArrowRight", "ArrowRight", 0, "")
	chosen(two.ID)
	p.key("ArrowRight", "ArrowRight", 0, "") // there is no more
	chosen(two.ID)
	for i, s := range []*session{one, two} {
		if got := fmt.Sprint(p.eval(fmt.Sprintf(`document.querySelectorAll('.tile .about')[%d].textContent`, i))); !strings.HasPrefix(got, s.ID+" · ") {
			t.Errorf("the card of %s says %q", s.ID, got)
		}
	}
	p.key("Enter", "Enter", 0, "\r")
	p.until(`location.hash === '#/session/` + two.ID + `' && document.querySelector('#term-program').textContent.startsWith('` + two.ID + ` · ')`)
	p.key("Escape", "Escape", 0, "")
	p.until(`location.hash === '#/' && document.activeElement.className === 'tile'`)
	p.key("ArrowLeft", "ArrowLeft", 0, "")
	chosen(one.ID)

	// In the list of keys what one does stays beside the key, however long it is and however narrow
	// the window.
	for _, width := range []int{1280, 360} {
		p.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false}, nil)
		p.eval(`document.querySelector('#help').click()`)
		p.until(`document.querySelector('#dialog').open`)
		p.shot(fmt.Sprintf("keys-%d", width))
		if got := p.eval(`[...document.querySelectorAll('#dialog .key')].filter((l) => l.lastChild.getBoundingClientRect().left < l.firstChild.getBoundingClientRect().right || l.scrollWidth > l.clientWidth).map((l) => l.textContent).join('|') || document.querySelectorAll('#dialog .key').length`); got != 18.0 {
			t.Errorf("at %d pixels: %v", width, got)
		}
		p.eval(`document.querySelector('#dialog-yes').click()`)
		p.until(`!document.querySelector('#dialog').open`)
	}
	b.quiet()
}

// TestWatchOfLastScreens: the screens of programs that have ended can be read on a light page when
// their server has gone, too.
func TestWatchOfLastScreens(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	socket := filepath.Join(t.TempDir(), "socket")
	s := killable(t, socket)
	s.sh(`for i in 1 2 3 4; do printf '%s\n' '` + strings.Repeat("█", 79) + `'; done`).wait(client.Exited())
	p := b.open(watchOf(t, socket))
	p.until(`document.querySelector('.tile.over .screen').textContent.includes('█')`)
	p.click("#theme")
	p.click("#theme")
	p.until(`document.documentElement.dataset.theme === 'light'`)
	look := func() (paper, ink uint8) {
		t.Helper()
		p.eval(`new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))`) // what has changed is drawn
		var shot struct {
			Data string `json:"data"`
		}
		clip := p.eval(`(() => { const b = document.querySelector('.tile .view').getBoundingClientRect(); return {x: b.x + 2, y: b.y + 2, width: b.width - 4, height: b.height - 4, scale: 1}; })()`)
		p.do("Page.captureScreenshot", map[string]any{"format": "png", "clip": clip}, &shot)
		data, err := base64.StdEncoding.DecodeString(shot.Data)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		var counts [256]int
		for y := range picture.Bounds().Dy() {
			for x := range picture.Bounds().Dx() {
				counts[color.GrayModel.Convert(picture.At(x, y)).(color.Gray).Y]++
			}
		}
		for v, n := range counts {
			if n > counts[paper] {
				paper = uint8(v)
			}
			if n > 0 {
				ink = uint8(v)
			}
		}
		return paper, ink
	}
	legible := func(when string) {
		t.Helper()
		if paper, ink := look(); paper > 40 || ink < 110 {
			t.Errorf("%s: grey %d on grey %d", when, ink, paper)
		}
	}
	legible("while the server runs")
	s.kill()
	p.until(`!document.querySelector('#banner').hidden && document.querySelectorAll('.tile.over.lost').length === 1`)
	p.shot("lost")
	legible("when it has gone")
}
