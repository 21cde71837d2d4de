//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestWatchOfAServerThatIsKilled: the page says what has happened, keeps the last words, counts down
// and connects again by itself; it does not take a session of the next server for the one of the same
// name that it has shown.
func TestWatchOfAServerThatIsKilled(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	socket := filepath.Join(t.TempDir(), "socket")
	first := killable(t, socket)
	one := first.sh("echo words of the first; exec cat")
	one.wait(client.Text("words of the first"))
	p := b.open(watchOf(t, socket))
	p.click(".tile")
	p.until(screenText + ` === 'words of the first'`)
	p.click("#term-take")
	p.until(`document.querySelector('#term-take').textContent === 'Release'`)

	first.kill()
	p.until(`!document.querySelector('#banner').hidden && /^Trying again/.test(document.querySelector('#banner-when').textContent)`)
	p.until(`document.querySelector('#banner-text').textContent === 'No server listens at ` + socket + `.'`)
	p.shot("lost")
	if got := p.eval(`document.querySelector('#term-pills').textContent + ` + screenText); got != "words of the first" {
		t.Errorf("what is left of a lost server's session is %q", got)
	}
	if got := p.eval(`[document.querySelector('#term-take').hidden, document.querySelector('#term-paper .cursor').hidden].join()`); got != "true,true" {
		t.Errorf("a session that is lost has controls or a cursor: %v", got)
	}
	p.click("#again") // while none listens
	p.until(`/^Trying again in \d+ s/.test(document.querySelector('#banner-when').textContent)`)

	// Nobody clicks.
	other := killable(t, socket).sh("echo words of the second; exec cat")
	other.wait(client.Text("words of the second"))
	if other.ID != one.ID {
		t.Fatalf("the second server's first session is %s, not %s", other.ID, one.ID)
	}
	p.until(`location.hash === '#/' && document.querySelector('#banner').hidden && document.querySelector('#toast').textContent.startsWith('The session s1 that was shown here has gone')`)
	p.until(`document.querySelector('.tile .screen').textContent.includes('words of the second')`)
	p.click(".tile") // this one is meant
	p.until(screenText + ` === 'words of the second'`)
	b.quiet()
}

// TestWatchConnectsAgain: a page that has lost ptywright watch shows the same session again when that
// is back, with the session as it is by then. One that was started anew with other tokens is not tried
// for ever.
func TestWatchConnectsAgain(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	socket := filepath.Join(t.TempDir(), "socket")
	server := killable(t, socket)
	s := server.sh("echo the words; read -r x; echo and more; exec cat")
	s.wait(client.Text("the words"))
	p := b.open(watchOf(t, socket))
	p.click(".tile")
	p.until(screenText + ` === 'the words'`)
	// The connection ends, as it does when a machine has slept.
	p.eval(`(() => { window.sockets = []; const Real = WebSocket; window.WebSocket = function (...a) { const s = new Real(...a); sockets.push(s); return s; }; Object.assign(window.WebSocket, { OPEN: Real.OPEN }); })()`)
	server.kill()
	p.until(`!document.querySelector('#banner').hidden && sockets.length > 1`)
	killable(t, socket).sh("echo another; exec cat").wait(client.Text("another"))
	p.until(`document.querySelector('#banner').hidden && document.querySelector('.tile .screen').textContent.includes('another')`)
	p.eval(`location.hash = '#/session/s1'`)
	p.until(screenText + ` === 'another'`)
	p.eval(`sockets.at(-1).close()`)
	p.until(`sockets.length > 2 && document.querySelector('#banner').hidden && location.hash === '#/session/s1' && ` + screenText + ` === 'another'`)
	b.quiet()
}

// TestWatchTeaches: where there is nothing to show, the page says how to make something, with commands
// to copy; a session that is not there is said in words.
func TestWatchTeaches(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := watchedServer(t)
	b.must(b.call("", "Browser.grantPermissions", map[string]any{
		"browserContextId": b.context, "permissions": []string{"clipboardReadWrite", "clipboardSanitizedWrite"},
	}, nil))
	p := b.open(w.address)
	p.until(`document.querySelector('#grid-empty code')`)
	spawn := "ptywright spawn --socket " + w.socket + " -- bash"
	if got := p.eval(`document.querySelector('#grid-empty code').textContent`); got != spawn {
		t.Errorf("the page teaches %q, not %q", got, spawn)
	}
	p.eval(`window.copied = ''; navigator.clipboard.writeText = async (text) => { copied = text; }`)
	p.click("#grid-empty button")
	p.until(`copied === '` + spawn + `'`)
	p.shot("empty")
	p.click("#to-recordings")
	p.until(`document.querySelector('#casts-empty code')?.textContent.startsWith('ptywright record --socket ')`)
	p.eval(`location.hash = '#/session/s99'`)
	p.until(`document.querySelector('#term-paper').hidden && document.querySelector('#term-gone-text').textContent.startsWith('There is no session s99')`)
	p.shot("unknown")
	p.click("#term-gone a")
	p.until(`location.hash === '#/'`)
	b.quiet()
}

// TestWatchStartsAServer: without a server it starts one, which goes on when the page's has ended, and
// uses one that runs.
func TestWatchStartsAServer(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "socket")
	for i := range 2 {
		p := ptywright(t, "watch", "--socket", socket)
		p.StartPiped()
		p.Stderr.Told(t, `watching at (\S+)\n`)
		_ = p.Process.Signal(syscall.SIGTERM)
		if code := exitCodeOf(t, p.Wait()); code != 0 {
			t.Errorf("exit code %d: %s", code, p.Stderr)
		}
		if started := strings.Contains(p.Stderr.String(), "started a server on "+socket); started != (i == 0) {
			t.Errorf("the %d. time: %s", i+1, p.Stderr)
		}
	}
	p := ptywright(t, "kill", "--server", "--socket", socket)
	if _, code := p.Run(""); code != 0 {
		t.Errorf("exit code %d: %s", code, p.Stderr)
	}
	for _, x := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--socket", socket, "--casts", socket}, 1, "--casts"},
		{[]string{"--port", "70000"}, 2, "port"},
		{[]string{"extra"}, 2, "extra"},
	} {
		p := ptywright(t, append([]string{"watch"}, x.args...)...)
		if _, code := p.Run(""); code != x.code || !strings.Contains(p.Stderr.String(), x.says) {
			t.Errorf("%v: exit %d, %s", x.args, code, p.Stderr)
		}
	}
}

// TestWatchReadsTheScrollback: it has the colours of the screen and what is hidden there, and is
// searched.
func TestWatchReadsTheScrollback(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := watchedServer(t)
	s := w.sh(`for i in $(seq 300); do printf '\033[3%dmline %d\033[m of Many\n' $((i % 7 + 1)) $i; done; printf 'password=correcthorse99\n'; printf "%069d the quick brown fox\n" 7; seq 30; echo שלום עולם and กำลัง; exec cat`)
	s.wait(client.Text("and"))
	p := b.open(w.address)
	p.takeOver(s)
	p.click("#term-history")
	p.until(`document.querySelector('#term-lines').textContent.includes('line 290 of Many')`)
	if got := p.eval(`new Set([...document.querySelectorAll('#term-lines .row')].filter((r) => r.textContent.startsWith('line 2')).map((r) => getComputedStyle(r.firstChild).color)).size`); got != 7.0 {
		t.Errorf("the scrollback has %v colours, not 7", got)
	}
	if text := fmt.Sprint(p.eval(`document.body.textContent`)); strings.Contains(text, "correcthorse99") || !strings.Contains(text, "[REDACTED]") {
		t.Error("a secret of the scrollback is shown")
	}

	p.key("F", "KeyF", ctrlKey|shiftKey, "")
	p.until(`document.activeElement.id === 'search-input'`)
	count := `document.querySelector('#search-count').textContent`
	p.write("line 12")
	p.until(count + ` === '11 of 11' && document.querySelector('.row.found')?.textContent === 'line 129 of Many'`)
	p.key("Enter", "Enter", 0, "\r")
	p.until(count + ` === '10 of 11' && document.querySelector('.row.found').textContent === 'line 128 of Many'`)
	p.click("#search-next")
	p.click("#search-next")
	p.until(count + ` === '1 of 11' && document.querySelector('.row.found').textContent === 'line 12 of Many'`)
	if in := p.eval(`(() => { const r = document.querySelector('.row.found').getBoundingClientRect(), s = document.querySelector('#term-stage').getBoundingClientRect(); return r.top >= s.top && r.bottom <= s.bottom; })()`); in != true {
		t.Error("the match is out of sight")
	}
	p.shot("search")
	if got := p.eval(`[...CSS.highlights.get('found')].map(String).join()`); got != "line 12" {
		t.Errorf("marked is %q", got)
	}
	p.eval(`(() => { const i = document.querySelector('#search-input'); i.value = 'many'; i.dispatchEvent(new Event('input')); })()`)
	p.until(count + ` === '300 of 300'`) // small letters are any
	p.eval(`(() => { const i = document.querySelector('#search-input'); i.value = 'mAny'; i.dispatchEvent(new Event('input')); })()`)
	p.until(count + ` === 'No match'`)
	p.eval(`(() => { const i = document.querySelector('#search-input'); i.value = 'correcthorse'; i.dispatchEvent(new Event('input')); })()`)
	p.until(count + ` === 'No match'`)
	// A line that wraps: the match goes on in the next row.
	p.eval(`(() => { const i = document.querySelector('#search-input'); i.value = 'quick brown'; i.dispatchEvent(new Event('input')); })()`)
	p.until(count + ` === '1 of 1' && document.querySelectorAll('.row.found').length === 2`)
	if got := p.eval(`[...CSS.highlights.get('found')].map(String).join().replace(/\s+/g, ' ')`); got != "quick brown" {
		t.Errorf("marked over two rows is %q", got)
	}
	p.eval(`document.querySelector('#search-input').focus()`)
	p.key("Escape", "Escape", 0, "")
	p.until(`document.querySelector('#search-bar').hidden && document.activeElement.id === 'term-input' && !document.querySelector('.row.found')`)

	// Each character is in its own column, whatever direction it is read in.
	p.write("x")
	p.until(screenText + `.endsWith('x')`)
	if got := p.eval(`(() => {
		const row = [...document.querySelectorAll('#term-paper .screen .row')].find((r) => r.textContent.includes('שלום'));
		const left = row.getBoundingClientRect().left, cw = parseFloat(getComputedStyle(row).getPropertyValue('--cw'));
		const boxes = [...row.querySelectorAll('.fixed')].map((e) => (e.getBoundingClientRect().left - left) / cw);
		return boxes.length > 10 && boxes.every((x, i) => Math.abs(x - Math.round(x)) < 0.1 && (!i || x > boxes[i - 1]));
	})()`); got != true {
		t.Error("Hebrew and Thai are out of their cells")
	}
	p.shot("columns")
	b.quiet()
}
