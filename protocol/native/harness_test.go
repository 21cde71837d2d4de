package native_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/native"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve serves the dialect over e on a real socket pair and returns the client's end. Everything is
// gone when the test ends.
func serve(t testing.TB, e *engine.Engine, f protocol.Framing) *net.UnixConn {
	t.Helper()
	h := host.Over(e, nil, slog.New(slog.DiscardHandler))
	if _, err := h.Catalog.Load("testdata/ask/manifest.toml"); err != nil {
		t.Fatal(err)
	}
	return serveDialect(t, e, native.New(h, native.Options{PluginLoad: true}), f)
}

// serveDialect is serve of a dialect that the test has made.
func serveDialect(t testing.TB, e *engine.Engine, d protocol.Dialect, f protocol.Framing) *net.UnixConn {
	t.Helper()
	if os.Getenv(throughHub) != "" && f == protocol.Lines {
		t.Cleanup(func() { e.Close(context.Background()) })
		return behindHub(t, d)
	}
	return serveConfig(t, e, d, protocol.Config{Framing: f})
}

// serveConfig is serveDialect with a configuration of its own.
func serveConfig(t testing.TB, e *engine.Engine, d protocol.Dialect, config protocol.Config) *net.UnixConn {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	client, server := socketPair(t)
	done := make(chan error, 1)
	conn := protocol.NewConn(server, d, config)
	go func() { done <- conn.Serve(ctx) }()
	t.Cleanup(func() {
		client.Close()
		stop()
		<-done
		e.Close(context.Background())
	})
	return client
}

func socketPair(t testing.TB) (client, server *net.UnixConn) {
	t.Helper()
	dir, err := os.MkdirTemp("", "native") // t.TempDir can be longer than a socket's path may be
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr)); err != nil {
		t.Fatal(err)
	}
	if server, err = l.AcceptUnix(); err != nil {
		t.Fatal(err)
	}
	return client, server
}

// A wire is a client that sends lines and reads messages.
type wire struct {
	t    testing.TB
	c    net.Conn
	r    *bufio.Reader
	next int
	all  bytes.Buffer // everything that was read
	sent map[string]call
}

// hang bounds a read: far more than any answer takes.
const hang = time.Minute

func newWire(t testing.TB, e *engine.Engine) *wire {
	c := serve(t, e, protocol.Lines)
	return &wire{t: t, c: c, r: bufio.NewReader(c)}
}

// newWires returns two connections to one dialect.
func newWires(t testing.TB, e *engine.Engine) (a, b *wire) {
	t.Helper()
	h := host.Over(e, nil, slog.New(slog.DiscardHandler))
	d := native.New(h, native.Options{})
	return newWireOf(t, e, d), newWireOf(t, e, d)
}

func newWireOf(t testing.TB, e *engine.Engine, d protocol.Dialect) *wire {
	c := serveDialect(t, e, d, protocol.Lines)
	return &wire{t: t, c: c, r: bufio.NewReader(c)}
}

func (w *wire) send(method string, params any) (id int) {
	w.t.Helper()
	w.next++
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": w.next, "method": method, "params": params})
	if err != nil {
		w.t.Fatal(err)
	}
	raw, err := json.Marshal(params)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.sent == nil {
		w.sent = map[string]call{}
	}
	w.sent[strconv.Itoa(w.next)] = call{method, raw}
	if _, err := w.c.Write(append(b, '\n')); err != nil {
		w.t.Fatal(err)
	}
	return w.next
}

// A message is a reply or a notification.
type message struct {
	ID     *int
	Method string
	Params map[string]any
	Result map[string]any
	Error  *struct {
		Code    int
		Message string
		Data    map[string]any
	}
	line string
}

func (w *wire) read() message {
	w.t.Helper()
	w.c.SetReadDeadline(time.Now().Add(hang))
	line, err := w.r.ReadString('\n')
	if err != nil {
		w.t.Fatalf("reading: %v", err)
	}
	w.all.WriteString(line)
	hold(w.t, line, w.sent)
	var m message
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		w.t.Fatalf("%v in %s", err, line)
	}
	if m.line = line; m.Method != "" && !slices.Contains(native.Notifications, m.Method) {
		w.t.Errorf("server.capabilities does not tell of %s", m.Method)
	}
	return m
}

// reply reads until the answer to id; notifications before it are dropped.
func (w *wire) reply(id int) message {
	w.t.Helper()
	for {
		if m := w.read(); m.ID != nil && *m.ID == id {
			return m
		}
	}
}

// replies reads until each of the requests is answered, in whatever order.
func (w *wire) replies(ids ...int) map[int]message {
	w.t.Helper()
	all := map[int]message{}
	for len(all) < len(ids) {
		if m := w.read(); m.ID != nil && slices.Contains(ids, *m.ID) {
			all[*m.ID] = m
		}
	}
	return all
}

func (w *wire) call(method string, params any) message {
	w.t.Helper()
	return w.reply(w.send(method, params))
}

// result calls and demands success.
func (w *wire) result(method string, params any) map[string]any {
	w.t.Helper()
	m := w.call(method, params)
	if m.Error != nil {
		w.t.Fatalf("%s: %s", method, m.line)
	}
	return m.Result
}

// fails calls and demands an error of that code and reason.
func (w *wire) fails(method string, params any, code int, reason string) message {
	w.t.Helper()
	m := w.call(method, params)
	if m.Error == nil || m.Error.Code != code || m.Error.Data["reason"] != reason {
		w.t.Errorf("%s %v: %.300s, want %d %s", method, params, m.line, code, reason)
	}
	return m
}

type obj = map[string]any

// create starts a fake session and returns its id.
func (w *wire) create() string {
	w.t.Helper()
	return w.result("session.create", obj{"program": "fake"})["session"].(string)
}

func text(s string) obj { return obj{"type": "contains_text", "value": s} }

// until waits until the session shows s.
func (w *wire) until(id, s string) {
	w.t.Helper()
	w.result("session.wait", obj{"session": id, "matcher": text(s), "redact": false})
}

func lines(m map[string]any, name string) string {
	var out []string
	for _, l := range m[name].([]any) {
		out = append(out, l.(string))
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}

// adapter starts the test plugin's program on a real terminal.
func (w *wire) adapter(params obj) string {
	w.t.Helper()
	if params == nil {
		params = obj{}
	}
	params["plugin"] = "ask"
	return w.result("adapter.start", params)["adapter"].(string)
}

// at returns a member of a member.
func at(v any, path ...string) any {
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}
