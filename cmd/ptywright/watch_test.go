//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// watching is a server on a socket, a client of it, and ptywright watch.
type watching struct {
	*server
	address string // whole, with the token
	origin  string // http://127.0.0.1:PORT
	socket  string
	stderr  *teller
}

// watchedServer starts a server and ptywright watch for it. At the test's end both must end well and leave nothing.
func watchedServer(t testing.TB, flags ...string) *watching {
	t.Helper()
	w := &watching{socket: filepath.Join(t.TempDir(), "socket")}
	served := ptywright(t, "serve", "--socket", w.socket)
	told := served.telling()
	served.startPiped()
	ended := func(p *program, said *teller) {
		_ = p.Process.Signal(syscall.SIGTERM)
		if code := exitCodeOf(t, p.Wait()); code != 0 {
			t.Errorf("exit code %d: %s", code, said)
		}
		noneLeft(t, p.mark)
	}
	t.Cleanup(func() { ended(served, told) })
	told.told(t, `serving on [^\n]+\n`)
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	c, err := client.Dial(ctx, w.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		cancel()
	})
	w.server = &server{Client: c, program: served, t: t, ctx: ctx}
	p := ptywright(t, append([]string{"watch", "--socket", w.socket}, flags...)...)
	w.stderr = p.telling()
	p.startPiped()
	t.Cleanup(func() { ended(p, w.stderr) })
	said := w.stderr.told(t, `watching at http://127\.0\.0\.1:\d+/#token=[A-Z0-9]+\n`)
	w.address = strings.TrimSpace(strings.TrimPrefix(said, "watching at "))
	w.origin, _, _ = strings.Cut(w.address, "/#")
	return w
}

// screenText is what the large screen shows.
const screenText = `[...document.querySelectorAll('#term-paper .screen .row')].map((r) => r.textContent.trimEnd()).join('\n').trimEnd()`

// TestWatchInTheBrowser is the page as its user meets it: sessions that change, one that is taken over, typed into and given
// back, and a recording.
func TestWatchInTheBrowser(t *testing.T) {
	need(t, "bash", "bash")
	b := chromium(t)
	casts := t.TempDir()
	cast := `{"version":2,"width":40,"height":6,"title":"A demo","timestamp":1760000000}
[0.1,"o","\u001b[1;32mfirst\u001b[0m\r\n"]
[0.2,"m","a marker"]
[30,"o","second\r\n"]
[60,"o","third password=correcthorse99\r\n"]
`
	if err := os.WriteFile(filepath.Join(casts, "demo.cast"), []byte(cast), 0o600); err != nil {
		t.Fatal(err)
	}
	w := watchedServer(t, "--casts", casts)
	fifo, say := fifo(t)
	counter := w.sh(fmt.Sprintf(`printf '\033]0;The counter\007'; exec 3<>%s; while read -r line <&3; do printf '%%s\n' "$line"; done`, fifo))
	counter.wait(client.Matcher{Type: "title_contains", Value: "counter"})
	p := b.open(w.address)

	// A session that was there is shown, and changes as it changes; one that comes is shown, too.
	p.until(`document.querySelector('.tile .title')?.textContent === 'The counter'`)
	if hash := p.eval(`location.hash`); hash != "#/" {
		t.Errorf("the token stays in the address: %v", hash)
	}
	p.until(`document.querySelector('.tile .screen .row')`)
	say("it was one")
	p.until(`document.querySelector('.tile .screen').textContent.includes('it was one')`)
	bash := w.with(client.Config{Program: "bash", Args: []string{"--norc", "--noprofile"}, Env: map[string]string{"PS1": "$ ", "HISTFILE": ""}})
	p.until(`document.querySelectorAll('.tile').length === 2`)
	bash.wait(client.Screen(`^\$$`))
	p.shot("grid")

	// Opened large, taken over, typed into.
	p.click(fmt.Sprintf(`.tile[href="#/session/%s"]`, bash.ID))
	p.until(screenText + ` === '$'`)
	p.until(`document.querySelector('#term-take').textContent === 'Take over' && !document.querySelector('#term-take').disabled`)
	p.write("ignored")
	p.click("#term-take")
	p.until(`document.querySelector('#term-take').textContent === 'Release'`)
	if _, err := bash.Text(w.ctx, "x"); err == nil || !strings.Contains(err.Error(), "web: ") {
		t.Errorf("another may type into what is taken over: %v", err)
	}
	p.until(`document.activeElement.id === 'term-input'`)
	p.write("echo a$((6*7))b")
	p.key("Enter", "Enter", 0, "\r")
	p.until(screenText + `.startsWith('$ echo a$((6*7))b\na42b\n$')`)
	// A composed text, as an input method gives it, and a control key.
	p.do("Input.imeSetComposition", map[string]any{"text": "にほん", "selectionStart": 3, "selectionEnd": 3}, nil)
	p.do("Input.insertText", map[string]any{"text": "日本"}, nil)
	p.until(screenText + `.endsWith('日本')`)
	p.key("c", "KeyC", ctrlKey, "")
	p.until(screenText + `.includes('^C')`)
	p.write("seq 100")
	p.key("Enter", "Enter", 0, "\r")
	p.until(screenText + `.includes('\n100\n$')`)
	p.shot("taken")

	// The scrollback is read, and typing comes back to where the program is.
	p.click("#term-history")
	p.until(`document.querySelector('#term-lines').textContent.includes('a42b')`)

	// Given back: others may type again, and this page does not.
	p.click("#term-take")
	p.until(`document.querySelector('#term-take').textContent === 'Take over'`)
	bash.waitSince(bash.text("echo theirs; read -s x\n"), client.Screen(`(?m)^theirs$`))
	p.until(screenText + `.includes('theirs')`)
	p.until(`document.querySelector('#term-pills').textContent.includes('reads a secret')`)
	bash.text("\n")

	// Another's lease is shown, and is taken only when the person says so.
	if err := w.Call(w.ctx, "session.lease", map[string]any{"session": bash.ID, "holder": "the robot"}, nil); err != nil {
		t.Fatal(err)
	}
	p.until(`document.querySelector('#term-pills').textContent.includes('the robot')`)
	p.click("#term-take")
	p.until(`document.querySelector('#dialog').open && document.querySelector('#dialog-quote').textContent === 'the robot'`)
	p.shot("asked")
	p.click("#dialog-yes")
	p.until(`document.querySelector('#term-take').textContent === 'Release'`)
	p.key("Enter", "Enter", ctrlKey|shiftKey, "")
	p.until(`document.querySelector('#term-take').textContent === 'Take over'`)

	// A recording: played, sought, its secret covered.
	p.click("#to-recordings")
	p.click(".cast")
	p.until(`document.querySelector('#player-title').textContent === 'A demo'`)
	p.until(`document.querySelector('#player-paper .screen').textContent.includes('first')`)
	p.key("ArrowRight", "ArrowRight", 0, "")
	p.eval(`document.querySelector('#player-seek').value = 600; document.querySelector('#player-seek').dispatchEvent(new Event('input'))`)
	p.until(`document.querySelector('#player-paper .screen').textContent.includes('second')`)
	p.shot("player")
	p.key("End", "End", 0, "")
	p.until(`document.querySelector('#player-paper .screen').textContent.includes('third')`)
	if text := fmt.Sprint(p.eval(`document.body.textContent`)); strings.Contains(text, "correcthorse99") || !strings.Contains(text, "[REDACTED]") {
		t.Errorf("a recording's secret is shown: %.300s", text)
	}
	p.until(`document.querySelector('#player-play').textContent === 'Play'`)

	// A session that goes is gone.
	p.click("#to-sessions")
	bash.close()
	p.until(`document.querySelectorAll('.tile').length === 1`)
	b.quiet()
	if s := w.stderr.String(); strings.Count(s, "\n") != 1 {
		t.Errorf("standard error is %q", s)
	}
}
