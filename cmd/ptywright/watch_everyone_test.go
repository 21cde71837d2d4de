//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// size gives the page a window of so many pixels.
func (p *tab) size(width, height int, phone bool) {
	p.t.Helper()
	p.do("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone,
	}, nil)
	p.do("Emulation.setTouchEmulationEnabled", map[string]any{"enabled": phone}, nil)
}

// TestWatchOnAPhone: text can be read, targets are as large as a finger, and with the soft keyboard
// there is room for the screen and a row of keys; the cursor is in sight.
func TestWatchOnAPhone(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := watchedServer(t)
	s := w.sh(`for i in $(seq 23); do echo "a line of the screen that is some eighty columns wide, as most are $i"; done; printf '\033[24;70H'; cat`)
	s.wait(client.Text("are 23"))
	p := b.open(w.address)
	p.size(390, 844, true)
	small := `[...document.querySelectorAll('button, a, select, input')].filter((e) => e.getClientRects().length && !e.closest('.screen') && e.type !== 'checkbox').filter((e) => e.getBoundingClientRect().height < 43.5 || e.getBoundingClientRect().width < 43.5).map((e) => e.outerHTML.slice(0, 80)).join('\n')`
	p.until(`document.querySelector('.tile .screen .row')`)
	p.shot("phone-grid")
	if got := p.eval(small); got != "" {
		t.Errorf("too small for a finger: %v", got)
	}
	p.takeOver(s)
	p.until(`!document.querySelector('#term-key-row').hidden`)
	look := func(room int) {
		t.Helper()
		p.eval(`new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))`)
		p.shot(fmt.Sprintf("phone-%d", room))
		if got := p.eval(small); got != "" {
			t.Errorf("too small for a finger: %v", got)
		}
		var is struct {
			Px, Stage, Keys, Page float64
			Cursor                bool
		}
		data, _ := json.Marshal(p.eval(`(() => {
			const box = (q) => document.querySelector(q).getBoundingClientRect(), stage = box('#term-stage'), c = box('#term-paper .cursor');
			return { px: parseFloat(document.querySelector('#term-paper .screen').style.fontSize), stage: stage.height, keys: box('#term-key-row').bottom, page: box('body').height,
				cursor: c.left >= stage.left && c.right <= stage.right && c.top >= stage.top && c.bottom <= stage.bottom };
		})()`))
		if err := json.Unmarshal(data, &is); err != nil {
			t.Fatal(err)
		}
		if is.Px < 12 || int(is.Page) != room || int(is.Keys) > room || is.Stage < float64(room)*0.6 || !is.Cursor {
			t.Errorf("in %d pixels: %+v", room, is)
		}
	}
	p.until(`(() => { const s = document.querySelector('#term-stage'); return s.scrollLeft > 0; })()`) // to the cursor
	look(844)
	// A soft keyboard leaves this much of the window; browsers tell it with the visual viewport.
	p.eval(`Object.defineProperty(visualViewport, 'height', { get: () => 480, configurable: true }); visualViewport.dispatchEvent(new Event('resize'))`)
	p.until(`document.body.getBoundingClientRect().height === 480`)
	p.write("typed on a phone")
	p.key("Enter", "Enter", 0, "\r")
	p.until(screenText + `.includes('typed on a phone')`)
	look(480)
	p.eval(`document.querySelector('#term-key-row button:nth-child(13)').scrollIntoView()`)
	p.click("#term-key-row button:nth-child(13)") // Ctrl+C
	p.until(`document.querySelector('#term-status').textContent.startsWith('The program has ended')`)
	b.quiet()
}

// TestWatchForEveryone: axe finds nothing in any view, dark or light, at a desk and on a phone, but for
// the colours that programs have chosen; tiles are links in a list, and what changes is said when that is
// asked for.
func TestWatchForEveryone(t *testing.T) {
	t.Parallel()
	modules, _ := peers(t, "axe")
	axe, err := os.ReadFile(filepath.Join(modules, "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	b := chromium(t)
	casts := t.TempDir()
	cast := `{"version":2,"width":40,"height":6,"title":"A demo"}` + "\n" + `[0.1,"o","words"]` + "\n"
	if err := os.WriteFile(filepath.Join(casts, "demo.cast"), []byte(cast), 0o600); err != nil {
		t.Fatal(err)
	}
	w := watchedServer(t, "--casts", casts)
	fifo, say := fifo(t)
	s := w.sh(fmt.Sprintf(`printf '\033[31mred\033[m and \033]8;;https://example.org\033\\a link\033]8;;\033\\\n'; seq 100; exec 3<>%s; cat <&3`, fifo))
	s.wait(client.Text("100"))
	w.sh("exit 3").wait(client.Exited())
	p := b.open(w.address)
	p.until(`document.querySelectorAll('.tile .screen .row').length > 24`)
	p.eval(string(axe))
	check := func(where string) {
		t.Helper()
		p.eval(`new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))`)
		found := p.eval(`axe.run({ exclude: [['.row']] }, { rules: { 'color-contrast-enhanced': { enabled: false } } }).then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.target + ' ' + n.failureSummary).join('; ')).join('\n'))`)
		if found != "" {
			t.Errorf("%s: %v", where, found)
		}
		p.shot("axe-" + where)
	}
	theme := func(name string) {
		p.until(`(() => { const b = document.querySelector('#theme'); if (document.documentElement.dataset.theme !== '` + name + `') b.click(); return document.documentElement.dataset.theme === '` + name + `'; })()`)
	}
	for _, name := range []string{"dark", "light"} {
		theme(name)
		for _, width := range []int{1280, 390} {
			p.size(width, 844, width == 390)
			in := fmt.Sprintf("-%s-%d", name, width)
			p.eval(`location.hash = '#/'`)
			p.until(`document.body.dataset.view === 'grid'`)
			check("grid" + in)
			p.eval(`document.querySelector('#help').click()`)
			p.until(`document.querySelector('#dialog').open`)
			check("help" + in)
			p.eval(`document.querySelector('#dialog-yes').click()`)
			p.takeOver(s)
			p.eval(`document.querySelector('#term-search').click()`)
			p.eval(`document.querySelector('#term-history').click()`)
			p.until(`document.querySelector('#term-lines .row')`)
			check("session" + in)
			p.eval(`document.querySelector('#search-close').click()`)
			p.eval(`document.querySelector('#term-past').click()`)
			p.until(`!document.querySelector('#past-bar').hidden`)
			check("past" + in)
			p.eval(`location.hash = '#/recordings'`)
			p.until(`document.querySelector('.cast')`)
			check("recordings" + in)
			p.eval(`document.querySelector('a.cast').click()`)
			p.until(`document.querySelector('#player-paper .screen').textContent.includes('words')`)
			check("player" + in)
		}
	}
	p.size(1280, 844, false)
	p.eval(`location.hash = '#/'`)
	p.until(`document.body.dataset.view === 'grid'`)
	var tree struct {
		Nodes []struct {
			Role struct {
				Value string `json:"value"`
			} `json:"role"`
			Name struct {
				Value string `json:"value"`
			} `json:"name"`
		} `json:"nodes"`
	}
	p.do("Accessibility.getFullAXTree", nil, &tree)
	roles := map[string]int{}
	for _, n := range tree.Nodes {
		roles[n.Role.Value]++
	}
	if roles["list"] == 0 || roles["listitem"] != 2 || roles["link"] < 5 || roles["heading"] == 0 {
		t.Errorf("the grid's roles are %v", roles)
	}

	p.eval(`location.hash = '#/session/` + s.ID + `'`)
	p.until(screenText + `.endsWith('100')`)
	said := `document.querySelector('#announcer').textContent`
	say("not asked for")
	p.until(screenText + `.includes('not asked for')`)
	p.click("#term-announce")
	say("to be heard")
	p.until(said + `.includes('to be heard')`)
	if got := fmt.Sprint(p.eval(said)); got != "to be heard" {
		t.Errorf("said is %q", got)
	}
	b.quiet()
}
