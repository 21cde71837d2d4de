//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ptywright/ptywright/internal/lanes"
)

// A chrome is a Chromium without a window, spoken to over two pipes (--remote-debugging-pipe):
// messages of the DevTools protocol, each with a NUL behind it. All tests share one, since its
// start takes a processor for seconds.
type chrome struct {
	in   *os.File
	said *buffer // on standard error

	mu sync.Mutex
	// protects the fields below
	last      int
	waiting   map[int]chan devtools
	expecting map[string]chan json.RawMessage // params of the next event, by its name
	heard     []heard
	ended     bool
}

// heard is what the console of a page, or the browser's policy about it, has said.
type heard struct{ session, text string }

// devtools is a message of the protocol, either way.
type devtools struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// theChrome starts the browser of all tests. TestMain ends it.
var theChrome = sync.OnceValues(func() (c *chrome, err error) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "chromium")
	if err != nil {
		return nil, err
	}
	down, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, up, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--disable-extensions", "--hide-scrollbars", "--window-size=1280,800",
		"--user-data-dir="+filepath.Join(home, "profile"), "--remote-debugging-pipe", "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "DBUS_SESSION_BUS_ADDRESS=disabled:")
	cmd.ExtraFiles = []*os.File{down, up}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c = &chrome{in: in, said: &buffer{}, waiting: map[int]chan devtools{}, expecting: map[string]chan json.RawMessage{}}
	cmd.Stderr = c.said
	err = cmd.Start()
	down.Close()
	up.Close()
	if err != nil {
		return nil, err
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		c.read(out)
	}()
	atEnd = append(atEnd, func() {
		in.Close() // it ends by itself then
		ended := time.AfterFunc(hang, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		<-read
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it has started
		_ = cmd.Wait()
		ended.Stop()
		out.Close()
		_ = os.RemoveAll(home)
	})
	return c, nil
})

// A browser is a profile of its own in the shared one.
type browser struct {
	*chrome
	t       testing.TB
	context string
	mine    []string // sessions of its pages
}

// chromium returns a browser with a profile that goes with the test. Few tests at a time get one.
// The test is skipped where none is installed.
func chromium(t testing.TB) *browser {
	t.Helper()
	lanes.Toolchain(t)
	lanes.Heavy(t, "browser", 2)
	c, err := theChrome()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("chromium is not installed: apt-get install chromium")
	}
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{chrome: c, t: t}
	var made struct {
		Context string `json:"browserContextId"`
	}
	b.must(b.call("", "Target.createBrowserContext", nil, &made))
	b.context = made.Context
	t.Cleanup(func() {
		_ = c.call("", "Target.disposeBrowserContext", map[string]any{"browserContextId": b.context}, nil)
		if t.Failed() {
			t.Logf("the browser said: %.4000s", c.said.String())
		}
	})
	return b
}

func (b *chrome) read(out *os.File) {
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadBytes(0)
		var m struct {
			devtools
			Params json.RawMessage `json:"params"`
		}
		if err != nil || json.Unmarshal(bytes.TrimSuffix(line, []byte{0}), &m) != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.ended = true
			for _, w := range b.waiting {
				close(w)
			}
			b.waiting = nil
			return
		}
		b.mu.Lock()
		switch w, ok := b.waiting[m.ID]; {
		case m.ID != 0 && ok:
			delete(b.waiting, m.ID)
			w <- m.devtools
		case m.Method == "Runtime.consoleAPICalled" || m.Method == "Runtime.exceptionThrown" || m.Method == "Log.entryAdded" || m.Method == "Page.javascriptDialogOpening":
			b.heard = append(b.heard, heard{m.Session, m.Method + " " + string(m.Params)})
		default:
			if w, ok := b.expecting[m.Method]; ok {
				delete(b.expecting, m.Method)
				w <- m.Params
			}
		}
		b.mu.Unlock()
	}
}

// expect returns what gets the params of the next event of this name.
func (b *chrome) expect(method string) <-chan json.RawMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := make(chan json.RawMessage, 1)
	b.expecting[method] = w
	return w
}

// call calls a method, of the browser or of one of its pages.
func (b *chrome) call(session, method string, params, result any) error {
	w := make(chan devtools, 1)
	b.mu.Lock()
	if b.ended {
		b.mu.Unlock()
		return errors.New("the browser has ended")
	}
	b.last++
	m := devtools{ID: b.last, Session: session, Method: method, Params: params}
	b.waiting[m.ID] = w
	b.mu.Unlock()
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if _, err := b.in.Write(append(data, 0)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	select {
	case r, ok := <-w:
		switch {
		case !ok:
			return errors.New("the browser has ended")
		case r.Error != nil:
			return fmt.Errorf("%s: %s", method, r.Error.Message)
		case result != nil:
			return json.Unmarshal(r.Result, result)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

// A tab is a page in a browser.
type tab struct {
	*browser
	session, target string
}

// open opens an address in a page of its own.
func (b *browser) open(address string) *tab {
	b.t.Helper()
	var target struct {
		ID string `json:"targetId"`
	}
	b.must(b.call("", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": b.context}, &target))
	var attached struct {
		Session string `json:"sessionId"`
	}
	b.must(b.call("", "Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true}, &attached))
	b.mine = append(b.mine, attached.Session)
	p := &tab{b, attached.Session, target.ID}
	for _, domain := range []string{"Runtime", "Log", "Page"} {
		p.do(domain+".enable", nil, nil)
	}
	p.do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": untilScript}, nil)
	p.do("Page.navigate", map[string]any{"url": address}, nil)
	return p
}

// untilScript gives pages what waits for the document to be so: it looks after every change, of the
// document or of what is beside it (sizes, places, the focus, what is selected), and never polls.
const untilScript = `window.until = (f) => new Promise((resolve) => {
	const beside = ['scroll', 'resize', 'focusin', 'focusout', 'selectionchange', 'transitionend', 'close'];
	const done = new AbortController();
	const look = () => {
		let v;
		try { v = f(); } catch { v = null; }
		if (!v || done.signal.aborted) return;
		done.abort();
		changed.disconnect();
		resolve(v);
	};
	const changed = new MutationObserver(look);
	changed.observe(document, {subtree: true, childList: true, characterData: true, attributes: true});
	for (const kind of ['hashchange', 'input']) addEventListener(kind, look, {signal: done.signal});
	for (const kind of beside) addEventListener(kind, () => { look(); requestAnimationFrame(look); }, {capture: true, signal: done.signal});
	look();
})`

func (b *browser) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (p *tab) do(method string, params, result any) {
	p.t.Helper()
	p.must(p.call(p.session, method, params, result))
}

// eval returns the value of an expression, awaited.
func (p *tab) eval(expression string) any {
	p.t.Helper()
	v, err := p.value(expression)
	p.must(err)
	return v
}

// value is eval whose errors are the caller's: one of the page, or [context.DeadlineExceeded] when what is
// awaited has not come within [hang].
func (p *tab) value(expression string) (any, error) {
	var r struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	params := map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true}
	if err := p.call(p.session, "Runtime.evaluate", params, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", expression, err)
	}
	if r.Exception != nil {
		return nil, fmt.Errorf("%s: %s %s", expression, r.Exception.Text, r.Exception.Exception.Description)
	}
	return r.Result.Value, nil
}

// until waits until an expression is true of the document, and returns its value. What is not true
// within [hang] fails the test, which then shows the page as it is.
func (p *tab) until(expression string) any {
	p.t.Helper()
	v, err := p.value("until(() => " + expression + ")")
	if errors.Is(err, context.DeadlineExceeded) {
		p.shot("until")
		is, _ := p.value("document.body.innerText") // a page that does not answer has none
		p.t.Logf("the page is: %.3000v\nit has said: %s", is, strings.Join(p.told(), "\n"))
	}
	p.must(err)
	return v
}

// told is what the pages of this test, and the browser's policy about them, have said.
func (b *browser) told() (all []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, h := range b.heard {
		if slices.Contains(b.mine, h.session) {
			all = append(all, h.text)
		}
	}
	return all
}

// shot writes a picture of the page to the folder that PTYWRIGHT_SHOTS names, if it names one.
func (p *tab) shot(name string) {
	dir := os.Getenv("PTYWRIGHT_SHOTS")
	if dir == "" {
		return
	}
	var r struct {
		Data string `json:"data"`
	}
	if err := p.call(p.session, "Page.captureScreenshot", map[string]any{"format": "png"}, &r); err != nil {
		p.t.Log(err)
		return
	}
	data, _ := base64.StdEncoding.DecodeString(r.Data)
	if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o600); err != nil {
		p.t.Log(err)
	}
}

// key presses a key as a keyboard does: by its name, its code and what it types.
func (p *tab) key(key, code string, mods int, text string) {
	p.t.Helper()
	kind := "rawKeyDown"
	if text != "" {
		kind = "keyDown"
	}
	codes := map[string]int{"Enter": 13, "Escape": 27, "Tab": 9, "Backspace": 8, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "PageUp": 33, " ": 32}
	m := map[string]any{"type": kind, "key": key, "code": code, "modifiers": mods, "windowsVirtualKeyCode": codes[key]}
	if text != "" {
		m["text"] = text
	}
	p.do("Input.dispatchKeyEvent", m, nil)
	m["type"] = "keyUp"
	delete(m, "text")
	p.do("Input.dispatchKeyEvent", m, nil)
}

// Modifiers of the protocol.
const (
	altKey   = 1
	ctrlKey  = 2
	shiftKey = 8
)

// write types characters as a keyboard does, one after the other.
func (p *tab) write(text string) {
	p.t.Helper()
	for _, c := range text {
		p.key(string(c), "", 0, string(c))
	}
}

// click clicks the middle of an element, once that is where it was a frame before: on a busy machine what
// is around it may still be on its way.
func (p *tab) click(selector string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`(() => { const e = document.querySelector(%q); return e && !e.disabled && !e.closest('[hidden]') && e.getBoundingClientRect().width; })()`, selector))
	box := p.eval(fmt.Sprintf(`(async () => {
		for (let was = '';;) {
			const b = document.querySelector(%q)?.getBoundingClientRect(), at = b?.width ? [b.x + b.width / 2, b.y + b.height / 2] : null;
			if (at && String(at) === was) return at;
			was = String(at);
			await new Promise(requestAnimationFrame);
		}
	})()`, selector)).([]any)
	p.mouse("mousePressed", box[0].(float64), box[1].(float64), 0)
	p.mouse("mouseReleased", box[0].(float64), box[1].(float64), 0)
}

func (p *tab) mouse(kind string, x, y float64, mods int) {
	p.t.Helper()
	p.do("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1, "modifiers": mods}, nil)
}

// quiet checks that no page has said anything: no error, no refused resource, no dialog.
func (b *browser) quiet() {
	b.t.Helper()
	for _, s := range b.told() {
		b.t.Errorf("the browser: %.1000s", s)
	}
}
