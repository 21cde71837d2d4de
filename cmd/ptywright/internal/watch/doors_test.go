//go:build unix

package watch

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// TestStrangersAreRefused: another Host, another Origin, null too, and a WebSocket of no page.
func TestStrangersAreRefused(t *testing.T) {
	b := newBench(t, Options{})
	_, port, _ := net.SplitHostPort(b.addr)
	for _, x := range []struct {
		host, origin string
		file, live   int
	}{
		{"", "", 200, 403},
		{"", b.origin, 200, 101},
		{"localhost:" + port, "http://localhost:" + port, 200, 101},
		{"localhost:" + port, b.origin, 200, 403},
		{"", "null", 403, 403},
		{"", "http://evil.example", 403, 403},
		{"", "https://" + b.addr, 403, 403},
		{"", "http://127.0.0.1", 403, 403},
		{"", "file://", 403, 403},
		{"evil.example:" + port, "http://evil.example:" + port, 403, 403},
		{"evil.example:" + port, "", 403, 403},
		{"127.0.0.1", b.origin, 403, 403},
	} {
		host := func(r *http.Request) {
			if x.host != "" {
				r.Host = x.host
			}
		}
		ws, status, err := b.dial(x.origin, host)
		if err == nil {
			ws.CloseNow()
		}
		if status != x.live {
			t.Errorf("Host %q, Origin %q: the WebSocket is answered with %d, not %d", x.host, x.origin, status, x.live)
		}
		r, err := http.NewRequest(http.MethodGet, b.origin+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		host(r)
		if x.origin != "" {
			r.Header.Set("Origin", x.origin)
		}
		if got, _, _ := b.do(r); got != x.file {
			t.Errorf("Host %q, Origin %q: the page is answered with %d, not %d", x.host, x.origin, got, x.file)
		}
	}
}

func (b *bench) do(r *http.Request) (int, http.Header, string) {
	b.t.Helper()
	a, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return a.StatusCode, a.Header, string(text)
}

// TestFiles: what is served without a token is the page and nothing else, and the page may do what
// it needs and nothing else.
func TestFiles(t *testing.T) {
	b := newBench(t, Options{})
	for path, want := range map[string]int{
		"/": 200, "/index.html": 200, "/app.js": 200, "/style.css": 200, "/icon.svg": 200, "/page": 404, "/page/app.js": 404, "/../watch.go": 404,
		"/..%2fwatch.go": 404, "/%2e%2e/%2e%2e/etc/passwd": 404, "/favicon.ico": 404, "/app.js/": 404, "/live/": 404, "//evil.example": 404,
	} {
		r, err := http.NewRequest(http.MethodGet, b.origin+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		status, h, text := b.do(r)
		if status != want {
			t.Errorf("%s: %d, not %d", path, status, want)
		}
		if strings.Contains(text, b.token) || strings.Contains(text, "package watch") {
			t.Errorf("%s holds what it must not", path)
		}
		for name, part := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; ", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if !strings.Contains(h.Get(name), part) {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
		for _, never := range []string{"unsafe", "*", "http:", "data:"} {
			if strings.Contains(h.Get("Content-Security-Policy"), never) {
				t.Errorf("%s: the policy has %s", path, never)
			}
		}
		if !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: other pages may show or read it", path)
		}
	}
	r, err := http.NewRequest(http.MethodPost, b.origin+"/", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	if status, _, _ := b.do(r); status != 405 {
		t.Errorf("POST is answered with %d", status)
	}
}

// TestThePageIsItsOwn: no address of another host is in it, no markup is made of text, and nothing
// is inline.
func TestThePageIsItsOwn(t *testing.T) {
	names, err := files.ReadDir("page")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range names {
		data, err := files.ReadFile("page/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(data), "http://www.w3.org/2000/svg", "")
		for _, never := range []string{"http://", "https://", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "onclick=\"", " style=\"", "@import", "url("} {
			if strings.Contains(text, never) {
				t.Errorf("%s has %s", f.Name(), never)
			}
		}
	}
}

// TestLogin: the token comes first, and in time.
func TestLogin(t *testing.T) {
	b := newBench(t, Options{loginTime: 300 * time.Millisecond})
	for name, first := range map[string]string{
		"no token": `{"id":1,"method":"sessions"}`, "wrong": `{"token":"` + b.token[1:] + `"}`, "empty": `{"token":""}`, "no JSON": b.token,
		"another type": `{"token":["` + b.token + `"]}`, "too long": `{"token":"` + strings.Repeat("x", maxLogin) + `"}`, "nothing": "",
	} {
		ws, _, err := b.dial(b.origin, nil)
		if err != nil {
			t.Fatal(err)
		}
		if first != "" {
			if err := ws.Write(b.ctx, websocket.MessageText, []byte(first)); err != nil {
				t.Fatal(err)
			}
		}
		if _, data, err := ws.Read(b.ctx); err == nil {
			t.Errorf("%s: the answer is %s", name, data)
		}
		ws.CloseNow()
	}
	select {
	case <-b.arrived:
		t.Error("one has been let in")
	default:
	}
	b.login()
	<-b.arrived
}

// TestPagesAreBounded: one too many is told so, and there is room again when one has gone.
func TestPagesAreBounded(t *testing.T) {
	b := newBench(t, Options{})
	first := b.login()
	<-b.arrived
	for range maxPages - 1 {
		b.login()
	}
	ws, _, err := b.dial(b.origin, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &asker{Conn: ws, b: b}
	c.send(map[string]string{"token": b.token})
	if got := c.closed(); got != websocket.StatusTryAgainLater {
		t.Errorf("page %d is closed with %v", maxPages+1, got)
	}
	_ = first.Close(websocket.StatusNormalClosure, "") // returns when the other side has taken it
	for {                                              // its slot is given back right after
		ws, _, err := b.dial(b.origin, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &asker{Conn: ws, b: b}
		c.send(map[string]string{"token": b.token})
		_, _, err = ws.Read(b.ctx)
		ws.CloseNow()
		if err == nil {
			return
		}
		if b.ctx.Err() != nil {
			t.Fatal("there is no room again")
		}
	}
}
