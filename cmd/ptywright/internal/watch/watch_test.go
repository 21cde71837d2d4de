//go:build unix

package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/loopback"
	"github.com/ptywright/ptywright/protocol/native"
	"github.com/ptywright/ptywright/redact"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hang bounds everything that a test waits for.
const hang = 2 * time.Minute

// A bench is a watch over a server, both in this process.
type bench struct {
	t          testing.TB
	ctx        context.Context
	engine     *engine.Engine
	addr       string // of the page
	origin     string
	token      string
	arrived    chan struct{}
	stopServer func() // returns when it has ended
}

// newBench starts both. At the test's end nothing of them is left.
func newBench(t testing.TB, o Options) *bench {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	b := &bench{t: t, ctx: ctx, engine: engine.New(engine.Options{Log: log}), token: loopback.NewToken(), arrived: make(chan struct{}, 1)}
	catalog, err := plugins.NewCatalog(b.engine, log)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "watch") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	o.Socket = filepath.Join(dir, "socket")
	sock, err := protocol.Listen(o.Socket)
	if err != nil {
		t.Fatal(err)
	}
	d := native.New(b.engine, catalog, native.Options{Known: new(redact.Known), Recordings: new(record.Recordings), Log: log})
	serving, stop := context.WithCancel(ctx)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		s := &protocol.Server{Dialect: d, Config: protocol.Config{Log: log}}
		_ = s.Serve(serving, sock)
	}()
	b.stopServer = func() {
		stop()
		<-gone
	}
	ended := make(chan error, 1)
	l, err := loopback.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.addr = l.Addr().String()
	b.origin = "http://" + b.addr
	o.Who, o.Hide = "tester@here", redact.Default
	o.Arrived = func() { b.arrived <- struct{}{} }
	go func() { ended <- Serve(ctx, l, b.token, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		b.stopServer()
		if err := b.engine.Close(context.Background()); err != nil {
			t.Error(err)
		}
		os.RemoveAll(dir)
	})
	return b
}

func (b *bench) spawn(rows, cols uint16, script string) *engine.Session {
	b.t.Helper()
	s, err := b.engine.Spawn(engine.Config{Program: "sh", Args: []string{"-c", script}, Size: pty.Size{Rows: rows, Cols: cols}})
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// dial opens the WebSocket as a page of an origin.
func (b *bench) dial(origin string, more func(*http.Request)) (*websocket.Conn, int, error) {
	h := http.Header{}
	if origin != "" {
		h.Set("Origin", origin)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	o := &websocket.DialOptions{HTTPHeader: h, HTTPClient: client}
	if more != nil {
		client.Transport = tripper(func(r *http.Request) (*http.Response, error) {
			more(r)
			return (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		})
	}
	ws, r, err := websocket.Dial(b.ctx, "ws://"+b.addr+"/live", o)
	status := 0
	if r != nil {
		status = r.StatusCode
	}
	return ws, status, err
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A caller is a page that asks one thing after the other.
type caller struct {
	*websocket.Conn
	b    *bench
	last int64
}

// login opens a page.
func (b *bench) login() *caller {
	b.t.Helper()
	ws, _, err := b.dial(b.origin, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { ws.CloseNow() })
	ws.SetReadLimit(maxAnswer)
	c := &caller{Conn: ws, b: b}
	c.send(map[string]string{"token": b.token})
	var h hello
	c.read(&h)
	if h.Problem != nil {
		b.t.Fatal(h.Problem)
	}
	return c
}

func (c *caller) send(v any) {
	c.b.t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = c.Write(c.b.ctx, websocket.MessageText, data)
	}
	if err != nil {
		c.b.t.Fatal(err)
	}
}

func (c *caller) read(v any) {
	c.b.t.Helper()
	_, data, err := c.Read(c.b.ctx)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		c.b.t.Fatal(err)
	}
}

// ask asks, with nothing else under way, and returns the reason of a refusal, or "".
func (c *caller) ask(method string, params, result any) string {
	c.b.t.Helper()
	c.last++
	c.send(map[string]any{"id": c.last, "method": method, "params": params})
	var a struct {
		ID     int64           `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  *problem        `json:"error"`
	}
	c.read(&a)
	if a.ID != c.last {
		c.b.t.Fatalf("the answer is to %d, not %d", a.ID, c.last)
	}
	if a.Error != nil {
		return a.Error.Reason
	}
	if result != nil {
		if err := json.Unmarshal(a.Result, result); err != nil {
			c.b.t.Fatal(err)
		}
	}
	return ""
}

// closed reads what is left, and returns how the connection was closed.
func (c *caller) closed() websocket.StatusCode {
	for {
		if _, _, err := c.Read(c.b.ctx); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

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

// TestFiles: what is served without a token is the page and nothing else, and the page may do what it needs and nothing else.
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

// TestThePageIsItsOwn: no address of another host is in it, no markup is made of text, and nothing is inline.
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
	c := &caller{Conn: ws, b: b}
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
		c := &caller{Conn: ws, b: b}
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

// TestAsked: what a page may ask, how much of it at once, and how large.
func TestAsked(t *testing.T) {
	b := newBench(t, Options{})
	s := b.spawn(24, 80, "printf 'token=abcdefghijklmnop1234 \\033]0;password=hunter2hunter2\\007'; exec cat")
	id := string(s.ID())
	c := b.login()
	if got := c.ask("session.kill", map[string]string{"session": id}, nil); got != "bad_request" {
		t.Errorf("a method of the server: %q", got)
	}
	if got := c.ask("frame", map[string]string{"session": "none"}, nil); got != "unknown_session" {
		t.Errorf("an unknown session: %q", got)
	}
	// Nothing makes the server show what it hides.
	var since uint64
	for {
		var f struct {
			Sequence uint64          `json:"sequence"`
			Title    *string         `json:"title"`
			Rows     json.RawMessage `json:"rows"`
		}
		params := map[string]any{"session": id, "redact": false, "redaction": map[string]any{"replacement": ""}}
		if since > 0 {
			params["since"] = since
		}
		if got := c.ask("frame", params, &f); got != "" {
			t.Fatal(got)
		}
		text := string(f.Rows)
		if f.Title != nil {
			text += *f.Title
		}
		if strings.Contains(text, "abcdefghijklmnop1234") || strings.Contains(text, "hunter2") {
			t.Fatalf("a secret is shown: %s", text)
		}
		if since = f.Sequence; strings.Contains(text, "[REDACTED]") && f.Title != nil {
			break
		}
	}
	// Typing needs the session, and is typing only.
	text := func(kind string, value any) map[string]any {
		return map[string]any{"session": id, "action": map[string]any{"type": kind, "value": value}}
	}
	if got := c.ask("input", text("text", "x"), nil); got != "not_taken_over" {
		t.Errorf("typing into a session that was not taken over: %q", got)
	}
	if got := c.ask("resize", map[string]any{"session": id, "rows": 10, "cols": 10}, nil); got != "not_taken_over" {
		t.Errorf("resizing it: %q", got)
	}
	var lease struct{ Holder string }
	if got := c.ask("take", map[string]any{"session": id}, &lease); got != "" || lease.Holder != "web: tester@here" {
		t.Errorf("taking it over: %q, %q", got, lease.Holder)
	}
	if got := c.ask("input", text("text", "typed"), nil); got != "" {
		t.Errorf("typing: %q", got)
	}
	for _, kind := range []string{"kill", "signal", "eof", "resize", "mark_transcript", "stream_text", ""} {
		if got := c.ask("input", text(kind, "kill"), nil); got != "bad_request" {
			t.Errorf("%q: %q", kind, got)
		}
	}
	other := b.login()
	if got := other.ask("take", map[string]any{"session": id}, nil); got != "session_leased" {
		t.Errorf("taking what another page has: %q", got)
	}
	if got := other.ask("take", map[string]any{"session": id, "force": true}, nil); got != "" {
		t.Errorf("taking it by force: %q", got)
	}
	if got := c.ask("input", text("text", "x"), nil); got != "session_leased" {
		t.Errorf("typing into what was taken away: %q", got)
	}
	// A page that goes gives back what it has.
	_ = other.Close(websocket.StatusNormalClosure, "")
	for s.View().Lease != nil {
		changed := s.Changed()
		if s.View().Lease == nil {
			break
		}
		select {
		case <-changed:
		case <-b.ctx.Done():
			t.Fatal("the lease of a page that is gone stays")
		}
	}
	// A message too large ends the page.
	_ = c.Write(b.ctx, websocket.MessageText, []byte(`{"id":1,"method":"input","params":"`+strings.Repeat("x", maxAsk)+`"}`))
	if got := c.closed(); got != websocket.StatusMessageTooBig {
		t.Errorf("a message too large: %v", got)
	}
}

// TestManyAsks: more than maxAsked at once are refused, and cancelling makes room.
func TestManyAsks(t *testing.T) {
	b := newBench(t, Options{})
	s := b.spawn(2, 10, "exec cat")
	c := b.login()
	var f struct{ Sequence uint64 }
	if got := c.ask("frame", named{string(s.ID())}, &f); got != "" {
		t.Fatal(got)
	}
	for i := range maxAsked + 1 { // the list of now has been told of nothing newer
		c.send(map[string]any{"id": 1000 + i, "method": "sessions", "params": map[string]any{"since": 1 << 40}})
	}
	var a answer
	c.read(&a)
	if a.ID != 1000+maxAsked || a.Error == nil || a.Error.Reason != "too_many_requests" {
		t.Fatalf("the answer is %+v", a)
	}
	for i := range maxAsked {
		c.send(map[string]any{"cancel": 1000 + i})
	}
	for range maxAsked {
		c.read(&a)
		if a.Error == nil || a.Error.Reason != "cancelled" {
			t.Fatalf("the answer is %+v", a)
		}
	}
	if got := c.ask("recordings", nil, nil); got != "" {
		t.Error(got)
	}
}

// TestSlowPage: one that asks and does not read is closed, holds up no other, and leaves nothing.
func TestSlowPage(t *testing.T) {
	b := newBench(t, Options{writeTime: 500 * time.Millisecond})
	const asks = 24
	// Every cell another colour: so many frames are some 29 MB, more than a socket's buffers take.
	s := b.spawn(60, 120, `i=0; while [ $i -lt 7200 ]; do printf "\033[38;5;$((i%256))mx"; i=$((i+1)); done; exec cat`)
	id := string(s.ID())
	slow, quick := b.login(), b.login()
	for { // until all is drawn
		changed := s.Changed()
		if c := s.View().Screen.Cursor; c.Row == 59 && c.Col == 119 {
			break
		}
		select {
		case <-changed:
		case <-b.ctx.Done():
			t.Fatal("the program does not draw")
		}
	}
	if got := slow.ask("take", named{id}, nil); got != "" {
		t.Fatal(got)
	}
	for i := range asks { // each the whole screen
		slow.send(map[string]any{"id": i, "method": "frame", "params": named{id}})
	}
	if got := quick.ask("frame", named{id}, nil); got != "" {
		t.Fatal(got)
	}
	for { // what the page has taken over goes back when it is closed
		changed := s.Changed()
		if s.View().Lease == nil {
			break
		}
		select {
		case <-changed:
		case <-b.ctx.Done():
			t.Fatal("a page that does not read is not closed")
		}
	}
	if got := quick.ask("frame", named{id}, nil); got != "" {
		t.Fatal(got)
	}
}

// TestCasts: what is listed of a folder, what is opened, and nothing outside of it.
func TestCasts(t *testing.T) {
	dir := t.TempDir()
	good := `{"version":2,"width":20,"height":3,"title":"token=abcdefghijklmnop1234"}` + "\n" +
		`[0.5,"o","one \u001b]0;password=hunter2hunter2\u0007"]` + "\n" + `[1,"m","here"]` + "\n" + `[2,"o","\r\npassword=hunter2hunter2"]` + "\n"
	for name, text := range map[string]string{"good.cast": good, "bad.cast": "{}", "other.txt": good} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "outside.cast")
	if err := os.WriteFile(outside, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.cast")); err != nil {
		t.Fatal(err)
	}
	if err := mkfifo(filepath.Join(dir, "fifo.cast")); err != nil {
		t.Fatal(err)
	}
	large, err := os.Create(filepath.Join(dir, "large.cast"))
	if err != nil {
		t.Fatal(err)
	}
	if err := large.Truncate(maxCast + 1); err != nil {
		t.Fatal(err)
	}
	large.Close()
	b := newBench(t, Options{Casts: dir})
	c := b.login()
	var all struct{ Recordings []recording }
	if got := c.ask("recordings", nil, &all); got != "" {
		t.Fatal(got)
	}
	names := map[string]bool{}
	for _, r := range all.Recordings {
		names[r.Name] = true
	}
	if fmt.Sprint(names) != "map[bad:true good:true large:true]" {
		t.Errorf("listed are %v", names)
	}
	for id, want := range map[string]string{
		"cast:bad.cast": "not_a_recording", "cast:link.cast": "not_a_recording", "cast:fifo.cast": "not_a_recording", "cast:other.txt": "not_a_recording",
		"cast:large.cast": "too_large", "cast:../" + filepath.Base(outside): "not_a_recording", "cast:" + outside: "not_a_recording", "cast:": "not_a_recording",
		"server:r1": "not_a_recording", "": "not_a_recording", "cast:none.cast": "not_a_recording",
	} {
		if got := c.ask("open", map[string]string{"id": id}, nil); got != want {
			t.Errorf("%q: %q, not %q", id, got, want)
		}
		if got := c.ask("at", map[string]any{"at_ms": 0}, nil); got != "not_a_recording" {
			t.Errorf("%q is open: %q", id, got)
		}
	}
	var o opened
	if got := c.ask("open", map[string]string{"id": "cast:good.cast"}, &o); got != "" {
		t.Fatal(got)
	}
	if o.DurationMS != 2000 || o.Rows != 3 || o.Cols != 20 || len(o.Markers) != 1 || strings.Contains(o.Title, "abcdefghijklmnop1234") {
		t.Errorf("opened is %+v", o)
	}
	var since uint64
	for _, x := range []struct {
		at     float64
		next   float64 // -1: none
		full   bool
		rows   int
		shown  string
		hidden string
	}{
		{0, 500, true, 3, "", ""}, {600, 1000, false, 1, "one", ""}, {600, 1000, false, 0, "", ""}, {2000, -1, false, 1, "REDACTED", "hunter2"}, {0, 500, false, 2, "", ""},
	} {
		var f still
		if got := c.ask("at", map[string]any{"at_ms": x.at, "since": since}, &f); got != "" {
			t.Fatal(got)
		}
		since = f.Sequence
		next := -1.0
		if f.NextMS != nil {
			next = *f.NextMS
		}
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if next != x.next || f.Full != x.full || len(f.Rows) != x.rows || !strings.Contains(string(text), x.shown) || x.hidden != "" && strings.Contains(string(text), x.hidden) {
			t.Errorf("at %v: %s", x.at, text)
		}
	}
	for _, at := range []any{-1, 1e13} {
		if got := c.ask("at", map[string]any{"at_ms": at}, nil); got != "bad_request" {
			t.Errorf("at %v: %q", at, got)
		}
	}
}

// mkfifo makes a named pipe: opening it would wait for a writer.
func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// TestEndedServer: a page is told that its server has gone, and recordings are played without one.
func TestEndedServer(t *testing.T) {
	b := newBench(t, Options{})
	c := b.login()
	var l list
	if got := c.ask("sessions", nil, &l); got != "" {
		t.Fatal(got)
	}
	b.stopServer()
	if got := c.ask("sessions", map[string]any{"since": l.Version}, nil); got != "no_server" {
		t.Errorf("the list of a server that has gone: %q", got)
	}
	if got := c.ask("frame", named{"s1"}, nil); got != "no_server" {
		t.Errorf("a screen of it: %q", got)
	}
	ws, _, err := b.dial(b.origin, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	c = &caller{Conn: ws, b: b}
	c.send(map[string]string{"token": b.token})
	var h hello
	c.read(&h)
	if h.Problem == nil || h.Problem.Reason != "no_server" {
		t.Errorf("the hello without a server is %+v", h)
	}
	if got := c.ask("recordings", nil, nil); got != "" {
		t.Errorf("the recordings without a server: %q", got)
	}
}

// TestList: the list tells of what comes, changes and goes, and of nothing else.
func TestList(t *testing.T) {
	b := newBench(t, Options{})
	c := b.login()
	var version uint64
	until := func(want func([]listed) bool) {
		t.Helper()
		for {
			var l struct {
				Version  uint64
				Sessions []listed
			}
			if got := c.ask("sessions", map[string]any{"since": version}, &l); got != "" {
				t.Fatal(got)
			}
			version = l.Version
			if want(l.Sessions) {
				return
			}
		}
	}
	until(func(l []listed) bool { return len(l) == 0 })
	s := b.spawn(5, 20, "read x; exit 3")
	until(func(l []listed) bool { return len(l) == 1 && string(l[0].Exit) == "null" && l[0].Rows == 5 })
	lease, err := s.Lease("the robot", false)
	if err != nil {
		t.Fatal(err)
	}
	until(func(l []listed) bool { return strings.Contains(string(l[0].Lease), "the robot") })
	lease.Release()
	until(func(l []listed) bool { return string(l[0].Lease) == "null" })
	if _, err := s.Do(b.ctx, engine.Text("\n"), engine.DoOptions{}); err != nil {
		t.Fatal(err)
	}
	until(func(l []listed) bool { return strings.Contains(string(l[0].Exit), `"exit_code":3`) })
	if err := s.Close(b.ctx); err != nil {
		t.Fatal(err)
	}
	if got := c.ask("frame", named{string(s.ID())}, nil); got != "unknown_session" {
		t.Errorf("the screen of a closed session: %q", got)
	}
	until(func(l []listed) bool { return len(l) == 0 })
}
