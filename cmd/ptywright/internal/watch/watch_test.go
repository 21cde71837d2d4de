//go:build unix

package watch

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/internal/host"
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
	reader     string // the token of a page that only looks on
	arrived    chan struct{}
	stopServer func() // returns when it has ended
}

// newBench starts both. At the test's end nothing of them is left.
func newBench(t testing.TB, o Options) *bench {
	t.Helper()
	return newBenchWith(t, o, true)
}

// newBenchWith is newBench with a token for writing, or without.
func newBenchWith(t testing.TB, o Options, writes bool) *bench {
	t.Helper()
	return newBenchOf(t, o, writes, func(l net.Listener) net.Listener { return l })
}

// newBenchOver is newBench with another listener around that of the page.
func newBenchOver(t testing.TB, o Options, around func(net.Listener) net.Listener) *bench {
	t.Helper()
	return newBenchOf(t, o, true, around)
}

func newBenchOf(t testing.TB, o Options, writes bool, around func(net.Listener) net.Listener) *bench {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	b := &bench{t: t, ctx: ctx, engine: engine.New(engine.Options{Log: log}), token: loopback.NewToken(), reader: loopback.NewToken(), arrived: make(chan struct{}, 1)}
	dir, err := os.MkdirTemp("", "watch") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	o.Socket = filepath.Join(dir, "socket")
	sock, err := protocol.Listen(o.Socket)
	if err != nil {
		t.Fatal(err)
	}
	d := native.New(host.Over(b.engine, nil, log), native.Options{})
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
	tokens := Tokens{Write: b.token, Read: b.reader}
	if !writes {
		tokens.Write = ""
	}
	go func() { ended <- Serve(ctx, around(l), tokens, o) }()
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
	s, err := b.engine.Spawn(b.t.Context(), engine.Config{Program: "sh", Args: []string{"-c", script}, Size: pty.Size{Rows: rows, Cols: cols}})
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

// A asker is a page that asks one thing after the other.
type asker struct {
	*websocket.Conn
	b    *bench
	last int64
}

// login opens a page.
func (b *bench) login() *asker {
	b.t.Helper()
	ws, _, err := b.dial(b.origin, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.loginOver(ws)
}

// loginOver logs a page in over a WebSocket that is open.
func (b *bench) loginOver(ws *websocket.Conn) *asker {
	b.t.Helper()
	b.t.Cleanup(func() { ws.CloseNow() })
	ws.SetReadLimit(maxAnswer)
	return b.say(ws, b.token, new(hello))
}

// open opens a page with a token.
func (b *bench) open(token string, h *hello) *asker {
	b.t.Helper()
	ws, _, err := b.dial(b.origin, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { ws.CloseNow() })
	ws.SetReadLimit(maxAnswer)
	return b.say(ws, token, h)
}

// say logs in with a token, and reads the answer.
func (b *bench) say(ws *websocket.Conn, token string, h *hello) *asker {
	b.t.Helper()
	c := &asker{Conn: ws, b: b}
	c.send(map[string]string{"token": token})
	c.read(h)
	if h.Problem != nil {
		b.t.Fatal(h.Problem)
	}
	return c
}

func (c *asker) send(v any) {
	c.b.t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = c.Write(c.b.ctx, websocket.MessageText, data)
	}
	if err != nil {
		c.b.t.Fatal(err)
	}
}

func (c *asker) read(v any) {
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
func (c *asker) ask(method string, params, result any) string {
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
func (c *asker) closed() websocket.StatusCode {
	for {
		if _, _, err := c.Read(c.b.ctx); err != nil {
			return websocket.CloseStatus(err)
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

// TestReadIsNotUnderWay: a page that has read an answer may ask again at once, with all but one
// place taken and by the same id, also while the write of that answer has not returned yet.
func TestReadIsNotUnderWay(t *testing.T) {
	called := make(chan struct{}, 1)
	methods["told"] = method{false, false, with(func(*page, context.Context, struct{}) (any, error) {
		called <- struct{}{}
		return nil, nil
	})}
	t.Cleanup(func() { delete(methods, "told") }) // once the server below has ended
	late := &lateListener{}
	b := newBenchOver(t, Options{}, func(l net.Listener) net.Listener {
		late.Listener = l
		return late
	})
	c := b.login()
	for i := range maxAsked - 1 {
		c.send(map[string]any{"id": 1000 + i, "method": "sessions", "params": map[string]any{"since": 1 << 40}})
	}
	for range 3 {
		gate := make(chan struct{})
		late.gate.Store(&gate)
		c.last = 0
		if got := c.ask("recordings", nil, nil); got != "" {
			t.Fatalf("with room for one request: %s", got)
		}
		c.send(map[string]any{"id": 1, "method": "told"})
		select {
		case <-called:
		case <-b.ctx.Done():
			t.Error("a page that has read an answer is refused")
		}
		late.gate.Store(nil)
		close(gate)
		var a answer
		if c.read(&a); a.ID != 1 || a.Error != nil {
			t.Fatalf("the answer is %+v", a)
		}
	}
}

// A lateListener has connections whose writes return only when the gate is open, long after what
// they have written was read.
type lateListener struct {
	net.Listener
	gate atomic.Pointer[chan struct{}]
}

func (l *lateListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &lateConn{c, l}, err
}

type lateConn struct {
	net.Conn
	l *lateListener
}

func (c *lateConn) Write(p []byte) (int, error) {
	gate := c.l.gate.Load() // before, since the page that has read this may set another one
	n, err := c.Conn.Write(p)
	if gate != nil {
		<-*gate
	}
	return n, err
}

// TestBrokenAnswer: a method that panics, or whose result does not encode, costs its request and
// nothing else.
func TestBrokenAnswer(t *testing.T) {
	for name, call := range map[string]func(*page, context.Context, struct{}) (any, error){
		"panic": func(*page, context.Context, struct{}) (any, error) { panic("token=abcdefghijklmnop1234") },
		"nan":   func(*page, context.Context, struct{}) (any, error) { return math.NaN(), nil },
	} {
		methods[name] = method{false, false, with(call)}
		t.Cleanup(func() { delete(methods, name) }) // once the server below has ended
	}
	b := newBench(t, Options{Log: slog.New(slog.DiscardHandler)})
	other, c := b.login(), b.login()
	for _, name := range []string{"panic", "nan"} {
		if got := c.ask(name, nil, nil); got != "internal_error" {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, page := range []*asker{c, other} {
		if got := page.ask("recordings", nil, nil); got != "" {
			t.Errorf("afterwards: %s", got)
		}
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
	if _, err := s.Do(b.ctx, engine.Text("\n")); err != nil {
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
