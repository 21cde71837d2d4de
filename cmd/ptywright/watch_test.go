//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"

	"github.com/ptywright/ptywright/protocol/client"
)

// watching is a server on a socket, a client of it, and ptywright watch.
type watching struct {
	*server
	address string // whole, with the token
	origin  string // http://127.0.0.1:PORT
	socket  string
	stderr  *buffer
}

// watchedServer starts a server and ptywright watch for it. At the test's end both must end well
// and leave nothing.
func watchedServer(t testing.TB, flags ...string) *watching {
	t.Helper()
	return watchedWith(t, nil, flags...)
}

// watchedWith is watchedServer with flags for the server, too.
func watchedWith(t testing.TB, serve []string, flags ...string) *watching {
	t.Helper()
	w := &watching{socket: filepath.Join(t.TempDir(), "socket")}
	served := ptywright(t, append([]string{"serve", "--socket", w.socket}, serve...)...)
	served.StartPiped()
	ended := func(p *program) {
		_ = p.Process.Signal(syscall.SIGTERM)
		if code := exitCodeOf(t, p.Wait()); code != 0 {
			t.Errorf("exit code %d: %s", code, p.Stderr)
		}
		noneLeft(t, p.Mark)
	}
	t.Cleanup(func() { ended(served) })
	served.Stderr.Told(t, `serving on [^\n]+\n`)
	ctx, cancel := context.WithTimeout(context.Background(), 3*hang) // as of other servers
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
	w.stderr = p.Stderr
	p.StartPiped()
	t.Cleanup(func() { ended(p) })
	said := w.stderr.Told(t, `watching at http://127\.0\.0\.1:\d+/#token=[A-Z0-9]+\n`)
	w.address = strings.TrimSpace(strings.TrimPrefix(said, "watching at "))
	w.origin, _, _ = strings.Cut(w.address, "/#")
	return w
}

// screenText is what the large screen shows.
const screenText = `[...document.querySelectorAll('#term-paper .screen .row')].map((r) => r.textContent.trimEnd()).join('\n').trimEnd()`

// TestWatchInTheBrowser is the page as its user meets it: sessions that change, one that is taken
// over, typed into and given back, and a recording.
func TestWatchInTheBrowser(t *testing.T) {
	t.Parallel()
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
	bash.wait(client.Regexp(`^\$$`))
	p.shot("grid")

	// Opened large, taken over, typed into.
	p.click(fmt.Sprintf(`.tile[href="#/session/%s"]`, bash.ID))
	p.until(screenText + ` === '$'`)
	p.until(`document.querySelector('#term-take').textContent === 'Take over' && !document.querySelector('#term-take').disabled`)
	p.write("ignored")
	p.click("#term-take")
	p.until(`document.querySelector('#term-take').textContent === 'Release'`)
	if err := bash.Send(w.ctx, "x"); err == nil || !strings.Contains(err.Error(), "web: ") {
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
	bash.waitSince(bash.text("echo theirs; read -s x\n"), client.Regexp(`(?m)^theirs$`))
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

	// Who has the other address looks on, and finds nothing to take a session over with.
	reader := b.open(w.stderr.Told(t, `who can only look on: (http://\S+)\n`))
	reader.click(fmt.Sprintf(`.tile[href="#/session/%s"]`, counter.ID))
	reader.until(screenText + `.includes('it was one')`)
	reader.until(`document.querySelector('#term-take').hidden && document.querySelector('#term-status').textContent.startsWith('You are looking on')`)
	reader.key("Enter", "Enter", 0, "\r")
	reader.until(`document.querySelector('#term-take').textContent === 'Take over'`)
	if f := counter.frame(nil); f.Lease != nil {
		t.Errorf("a reader has taken the session over: %+v", f.Lease)
	}
	b.quiet()
	if s := w.stderr.String(); strings.Count(s, "\n") != 2 {
		t.Errorf("standard error is %q", s)
	}
}

// TestWatchOpens: the browser is handed the address in a file that nobody else can read and that
// goes when the page is there; neither a command's arguments nor standard error have the token.
func TestWatchOpens(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("a stand-in for xdg-open is on the path")
	}
	bin, handed := t.TempDir(), filepath.Join(t.TempDir(), "handed")
	path, _ := fifo(t)
	script := "#!/bin/sh\nstat -c '%a' \"$1\" >'" + handed + ".new'; cat \"$1\" >>'" + handed + ".new'; printf '\\n%s\\n' \"$*\" >>'" + handed + ".new'; mv '" + handed + ".new' '" + handed + "'; echo opened >'" + path + "'\n"
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	p := ptywright(t, "watch", "--casts", t.TempDir(), "--socket", filepath.Join(t.TempDir(), "none"), "--open")
	p.Env = append(p.Env, "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+temp)
	said := p.Stderr
	p.StartPiped()
	defer func() {
		_ = p.Process.Signal(syscall.SIGTERM)
		if code := exitCodeOf(t, p.Wait()); code != 0 {
			t.Errorf("exit code %d: %s", code, p.Stderr)
		}
	}()
	origin := strings.TrimSpace(said.Told(t, `http://127\.0\.0\.1:\d+ `))
	opened, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if _, err := bufio.NewReader(opened).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(handed)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitN(string(data), "\n", 3) // mode, page, arguments
	token := regexp.MustCompile(`#token=([A-Z0-9]+)`).FindStringSubmatch(lines[1])
	if len(lines) < 3 || lines[0] != "600" || token == nil || strings.Contains(lines[2], token[1]) || strings.Contains(said.String(), token[1]) {
		t.Fatalf("the browser is handed %q; standard error is %q", data, said)
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "ptywright-watch-*")); len(left) != 1 {
		t.Errorf("before the page is there: %v", left)
	}
	ws, _, err := websocket.Dial(t.Context(), strings.Replace(origin, "http", "ws", 1)+"/live", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	if err := ws.Write(t.Context(), websocket.MessageText, []byte(`{"token":"`+token[1]+`"}`)); err != nil {
		t.Fatal(err)
	}
	if _, hello, err := ws.Read(t.Context()); err != nil || !strings.Contains(string(hello), "no_server") {
		t.Fatalf("%s, %v", hello, err)
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "ptywright-watch-*")); len(left) != 0 {
		t.Errorf("when the page is there: %v", left)
	}
}
