//go:build unix

package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestWatchRefusesForeignPages: a page of another site, in the browser of somebody who watches,
// reaches nothing: not by the WebSocket, not by fetch, not in a frame, not under a name of its own;
// and neither does one whose Origin is null.
func TestWatchRefusesForeignPages(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := watchedServer(t)
	foreign := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprint(rw, "<!doctype html><title>evil</title>")
	}))
	defer foreign.Close()
	token := w.address[strings.Index(w.address, "token=")+len("token="):]
	host := strings.TrimPrefix(w.origin, "http://")
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		t.Fatal(err)
	}
	// attack tries all ways, even with the token, and tells what came of each.
	attack := fmt.Sprintf(`(async () => {
		const socket = (host) => new Promise((r) => { let s; try { s = new WebSocket('ws://' + host + '/live'); } catch (e) { r('threw'); return; }
			s.onopen = () => s.send(JSON.stringify({token: %q})); s.onmessage = (m) => r('told ' + m.data); s.onclose = () => r('closed'); });
		const got = async (f) => { try { const a = await f(); return a.type + ' ' + a.status + ' ' + (await a.text()).length; } catch (e) { return 'refused'; } };
		const frame = new Promise((r) => { const f = document.createElement('iframe'); f.src = %q;
			f.onload = () => { let in_; try { in_ = f.contentDocument?.title ?? 'another'; } catch { in_ = 'another'; } r(in_ + ' ' + f.contentWindow.length); }; document.body.append(f); });
		return [await socket(%q), await socket('localhost:%s'), await got(() => fetch(%q)), await got(() => fetch(%q, {mode: 'no-cors'})), await frame].join(', ');
	})()`, token, w.origin+"/", host, port, w.origin+"/", w.origin+"/app.js")
	want := "closed, closed, refused, refused, another 0"
	p := b.open(foreign.URL)
	p.until(`document.title === 'evil'`)
	if got := p.eval(attack); got != want {
		t.Errorf("a foreign page: %v, want %s", got, want)
	}
	null := b.open("data:text/html,<title>evil</title>")
	null.until(`document.title === 'evil' && self.origin === 'null'`)
	if got := null.eval(attack); got != want {
		t.Errorf("a page whose Origin is null: %v, want %s", got, want)
	}
	refused := 0
	for _, s := range b.told() {
		if strings.Contains(s, "403") || strings.Contains(s, "Refused to") || strings.Contains(s, "frame-ancestors") {
			refused++
		}
	}
	if refused == 0 {
		t.Errorf("the browser tells of no refusal: %q", b.told())
	}
	// The address itself works beside them, and nobody else's history has it.
	own := b.open(w.address)
	own.until(`document.querySelector('#grid-empty').textContent.includes('no session yet')`)
	if got := own.eval(`document.referrer + location.href + performance.getEntriesByType('resource').map((e) => e.name)`); strings.Contains(fmt.Sprint(got), token) {
		t.Errorf("the token is in %v", got)
	}
	if strings.Count(w.stderr.String(), token) != 1 {
		t.Errorf("standard error is %q", w.stderr)
	}
}

// TestWatchShowsHostileText: whatever a program, a server's client or a recording writes is text:
// nothing of it runs, is fetched, or becomes a link that a click follows.
func TestWatchShowsHostileText(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	dir := t.TempDir()
	evil := `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script><svg onload=window.pwned=1>`
	quoted := strings.ReplaceAll(evil, `"`, `\"`)
	cast := fmt.Sprintf(`{"version":2,"width":100,"height":6,"title":"%[1]s","command":"%[1]s"}`+"\n"+`[0,"o","%[1]s\r\n\u001b]0;%[1]s\u0007\u001b]8;;javascript:window.pwned=1\u001b\\castlink\u001b]8;;\u001b\\"]`+"\n"+`[0.1,"m","%[1]s"]`+"\n", quoted)
	for name, text := range map[string]string{"<img src=x onerror=window.pwned=1>.cast": cast, "bad <b>.cast": "{\"version\":2,\"width\":\"<script>\"}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := watchedServer(t, "--casts", dir)
	s := w.with(client.Config{Program: "sh", Args: []string{"-c", `printf '%s\n' "$EVIL"; printf '\033]0;%s\007' "$EVIL"
printf '\033]8;;javascript:window.pwned=1\033\\one\033]8;;\033\\ \033]8;;data:text/html,<script>x</script>\033\\two\033]8;;\033\\ \033]8;;https://example.com/<b>"x\033\\three\033]8;;\033\\\n'
printf '\033[38;2;1;2;3;url(x)mcolour\033[0m\n'; exec cat`, evil}, Env: map[string]string{"EVIL": evil}, Cols: 120})
	s.wait(client.Text("colour"))
	if err := w.Call(w.ctx, "session.lease", map[string]any{"session": s.ID, "holder": evil}, nil); err != nil {
		t.Fatal(err)
	}
	p := b.open(w.address)
	p.until(`document.querySelector('.tile .title')?.textContent.includes('<script>')`)
	p.until(`document.querySelector('.tile .pill.lease')?.textContent.includes('onerror')`)
	p.click(".tile")
	p.until(screenText + `.includes('onerror="window.pwned=1"')`)
	p.until(`document.querySelectorAll('#term-paper .link').length === 3`)
	if n := p.eval(`document.querySelectorAll('#term-paper a, #term-paper img, #term-paper script, #grid img, #grid script').length`); n != 0.0 {
		t.Errorf("a program's text has become %v elements", n)
	}
	for i, quote := range []string{"javascript:window.pwned=1", "data:text/html,<script>x</script>"} {
		p.eval(fmt.Sprintf(`document.querySelectorAll('#term-paper .link')[%d].click()`, i))
		p.until(`document.querySelector('#dialog').open && document.querySelector('#dialog-title').textContent === 'This link is not opened'`)
		if got := p.eval(`document.querySelector('#dialog-quote').textContent`); got != quote {
			t.Errorf("the dialog shows %v", got)
		}
		p.click("#dialog-yes")
		p.until(`!document.querySelector('#dialog').open`)
	}
	// One that may be opened is shown first, as it is, and is not opened when the person does not
	// say so.
	p.eval(`window.opened = []; window.open = (...a) => { window.opened.push(a.join(' ')); return null; }; document.querySelectorAll('#term-paper .link')[2].click()`)
	p.until(`document.querySelector('#dialog').open && document.querySelector('#dialog-quote').textContent === 'https://example.com/%3Cb%3E%22x'`)
	p.shot("link")
	p.click("#dialog-no")
	p.until(`!document.querySelector('#dialog').open`)
	// A question that is put away the moment before the next is asked takes no answer of it away.
	p.eval(`(async () => { const link = document.querySelectorAll('#term-paper .link')[2], frame = () => new Promise(requestAnimationFrame);
		link.click(); document.querySelector('#dialog-no').click(); link.click(); await frame(); await frame(); await frame(); })()`)
	if got := p.eval(`document.querySelector('#dialog').open + ' ' + window.opened.length`); got != "true 0" {
		t.Errorf("the second question is open, and addresses are: %v", got)
	}
	p.eval(`document.querySelector('#dialog-yes').click()`)
	p.until(`!document.querySelector('#dialog').open`)
	p.eval(`document.querySelectorAll('#term-paper .link')[2].focus()`) // by the keyboard
	p.key("Enter", "Enter", 0, "\r")
	p.until(`document.querySelector('#dialog').open`)
	if got := p.eval(`document.activeElement.id + ' ' + document.querySelector('#dialog-title').textContent`); got != "dialog-yes Open this address?" {
		t.Errorf("Enter on a link leads to %v", got)
	}
	p.do("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r", "autoRepeat": true}, nil)
	if got := p.eval(`document.querySelector('#dialog').open`); got != true {
		t.Error("an Enter that is held down answers the question that it has led to")
	}
	p.key("Enter", "Enter", 0, "\r")
	p.until(`!document.querySelector('#dialog').open`)
	p.eval(`new Promise(requestAnimationFrame)`)
	address := "https://example.com/%3Cb%3E%22x _blank noopener,noreferrer"
	if got := p.eval(`window.opened.join()`); got != address+","+address {
		t.Errorf("opened are %v", got)
	}
	if got := p.eval(`document.activeElement.link`); got != `https://example.com/<b>"x` {
		t.Errorf("after the dialog the focus is on %v", got)
	}
	// Recordings: names, titles, markers, links, and errors.
	p.click("#to-recordings")
	p.until(`document.querySelectorAll('.cast').length === 2`)
	p.eval(`[...document.querySelectorAll('.cast')].find((c) => c.textContent.includes('onerror')).click()`)
	p.until(`document.querySelector('#player-paper .screen').textContent.includes('<svg')`)
	p.until(`document.querySelector('#player-marks i')?.title.includes('<svg')`)
	p.eval(`document.querySelector('#player-paper .link').click()`)
	p.until(`document.querySelector('#dialog').open && document.querySelector('#dialog-title').textContent === 'This link is not opened'`)
	p.click("#dialog-yes")
	p.click("#to-recordings")
	p.eval(`[...document.querySelectorAll('.cast')].find((c) => c.textContent.includes('bad')).click()`)
	p.until(`document.querySelector('#player-about').textContent.includes('line 1')`)
	// A player without a recording has nothing of the one before, and nothing to press.
	if got := p.eval(`[document.querySelector('#player-seek').disabled, document.querySelector('#player-play').disabled, document.querySelector('#player-paper').textContent, document.querySelector('#player-marks').children.length, document.querySelector('#player-time').textContent].join('|')`); got != "true|true||0|0:00 / 0:00" {
		t.Errorf("the player of what cannot be opened shows %v", got)
	}
	p.eval(`document.querySelector('#player-seek').dispatchEvent(new Event('input'))`)
	// Addresses that somebody made up.
	for _, hash := range []string{`#/session/<img src=x onerror=window.pwned=1>`, `#/cast/javascript:1`, `#/../x`, `#/session/%25%25`} {
		p.eval(fmt.Sprintf("location.hash = %q", hash))
	}
	p.eval(`location.hash = '#/'`)
	p.until(`document.querySelector('.tile .screen .row')`)
	if got := p.eval(`String(window.pwned)`); got != "undefined" {
		t.Error("what a program wrote has run")
	}
	b.quiet()
}

// TestWatchKeysAndMouse: what a keyboard and a mouse do arrives as a terminal would send it, and
// another's hand-over is told.
func TestWatchKeysAndMouse(t *testing.T) {
	t.Parallel()
	need(t, "python3", "python3")
	b := chromium(t)
	w := watchedServer(t)
	s := w.create("python3", "-c", `
import os, sys, tty
tty.setraw(0)
os.write(1, b"\x1b[?1000h\x1b[?1006h\x1b[?2004hready\r\n")
while True:
    data = os.read(0, 4096)
    if not data: break
    os.write(1, repr(data).encode() + b"\r\n")
    if data == b"q": break
    if data == b"n": os.write(1, b"\x1b[?1000lno mouse\r\n")
`)
	s.wait(client.Text("ready"))
	p := b.open(w.address)
	p.click(".tile")
	p.until(screenText + `.includes('ready')`)
	p.click("#term-take")
	p.until(`document.querySelector('#term-take').textContent === 'Release'`)
	p.until(`document.activeElement.id === 'term-input'`)
	shows := func(text string) {
		t.Helper()
		p.until(fmt.Sprintf("%s.includes(%q)", screenText, text))
	}
	cell := func() (x, y float64) { // of the page as it is: what is shown below the screen makes it smaller
		p.eval(`new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))`) // what has changed is laid out
		box := p.eval(`(() => { const b = document.querySelector('#term-paper .screen').getBoundingClientRect(); return [b.x, b.y, b.width / 80, b.height / 24]; })()`).([]any)
		at := func(n int) float64 { return box[n].(float64) }
		return at(0) + at(2)*9.5, at(1) + at(3)*14.5
	}
	mouse := func(kind string, mods int) {
		x, y := cell()
		p.mouse(kind, x, y, mods)
	}
	mouse("mousePressed", 0)
	shows(`b'\x1b[<0;10;15M'`)
	mouse("mouseReleased", ctrlKey)
	shows(`b'\x1b[<16;10;15m'`)
	x, y := cell()
	p.do("Input.dispatchMouseEvent", map[string]any{"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": 100}, nil)
	shows(`b'\x1b[<65;10;15M'`)
	mouse("mousePressed", shiftKey) // that selects
	mouse("mouseReleased", shiftKey)
	p.key("n", "KeyN", 0, "n")
	shows("no mouse")
	p.until(`!document.querySelector('#term-stage').classList.contains('mouse')`)
	p.mouse("mousePressed", x, y, 0)
	p.mouse("mouseReleased", x, y, 0)
	p.key("ArrowUp", "ArrowUp", 0, "")
	shows(`b'\x1b[A'`)
	p.key("ArrowLeft", "ArrowLeft", ctrlKey|shiftKey, "")
	shows(`b'\x1b[1;6D'`)
	p.key("x", "KeyX", altKey, "")
	shows(`b'\x1bx'`)
	p.key(" ", "Space", ctrlKey, "")
	shows(`b'\x00'`)
	p.key("Escape", "Escape", 0, "")
	shows(`b'\x1b'`)
	p.key("Tab", "Tab", shiftKey, "")
	shows(`b'\x1b[Z'`)
	p.eval(`(() => { const d = new DataTransfer(); d.setData('text/plain', 'a\nb\x1b[201~c'); document.querySelector('#term-input').dispatchEvent(new ClipboardEvent('paste', {clipboardData: d, bubbles: true, cancelable: true})); })()`)
	shows(`b'\x1b[200~a\nb[201~c\x1b[201~'`)
	if n := strings.Count(fmt.Sprint(p.eval(screenText)), "[<"); n != 3 {
		t.Errorf("the program was sent %d events of the mouse, not 3", n)
	}
	// Others see who types, and may take it.
	if err := w.Call(w.ctx, "session.lease", map[string]any{"session": s.ID, "holder": "the robot", "take": true}, nil); err != nil {
		t.Fatal(err)
	}
	p.until(`document.querySelector('#toast').textContent === 'the robot has taken the session over'`)
	p.until(`document.querySelector('#term-take').textContent === 'Take over…'`)
	s.text("q")
	p.until(`document.querySelector('#term-status').textContent.startsWith('The program has ended')`)
	b.quiet()
}
