package protocol_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/protocol"
)

// bubble is a subtest in a synctest bubble.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

func TestEnd(t *testing.T) {
	bubble(t, "at the end of input everything read is answered and waits keep their deadline", func(t *testing.T) {
		c := dial(t, protocol.Limits{})
		start := time.Now()
		c.send(named("a", "wait", "s1", 30_000), named("b", "do", "s1", 0))
		io.WriteString(c.stream, named("c", "do", "s2", 0)) // the last line without its LF
		c.end(nil)
		c.expect(`"c": c, "a": a, "b": b, EOF`)
		if d := time.Since(start); d != 30*time.Second {
			t.Errorf("ended after %v, the wait was for 30 s", d)
		}
	})

	bubble(t, "on a stream without halves its end cancels the waits at once", func(t *testing.T) {
		a, b := net.Pipe()
		c := mute(t, a, b, protocol.Limits{})
		start := time.Now()
		c.send(named("a", "wait", "s1", 30_000), named("b", "wait", "s1", 30_000))
		a.Close()
		c.expectServed(protocol.ErrPeerGone)
		if d := time.Since(start); d != 0 || c.state.running != 0 || strings.Contains(c.state.events(), "start b") {
			t.Errorf("ended after %v with %d still running: %s", d, c.state.running, c.state.events())
		}
	})

	bubble(t, "a writer that fails cancels the waits at once", func(t *testing.T) {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		c := mute(t, protocol.Join(outR, inW), protocol.Join(inR, outW), protocol.Limits{})
		start := time.Now()
		c.send(named("a", "wait", "s1", 30_000))
		outR.Close()
		c.send(named("b", "do", "s2", 0)) // its reply finds nobody
		c.expectServed(protocol.ErrPeerGone)
		if d := time.Since(start); d != 0 || c.state.running != 0 {
			t.Errorf("ended after %v with %d still running", d, c.state.running)
		}
	})

	bubble(t, "told to stop it cancels and answers what runs and what is queued", func(t *testing.T) {
		c := dial(t, protocol.Limits{})
		start := time.Now()
		c.send(named("a", "wait", "s1", 30_000), named("b", "do", "s1", 0), named("h", "hold", "s2", 30_000), named("n", "do", "s2", 0))
		c.stop()
		c.expectServed(protocol.ErrShutdown)
		got := c.got()
		for _, n := range []string{"a", "b", "h", "n"} {
			if !strings.Contains(got, fmt.Sprintf("%q: %d", n, codeCancelled)) {
				t.Errorf("%s is not cancelled in %s", n, got)
			}
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("stopped after %v", d)
		}
	})

	bubble(t, "told to stop it leaves a peer that does not read after the bound", func(t *testing.T) {
		a, b := halves()
		c := mute(t, a, b, protocol.Limits{Flush: 1500 * time.Millisecond})
		c.send(named("a", "wait", "s1", 30_000))
		start := time.Now()
		c.stop()
		c.expectServed(protocol.ErrShutdown)
		if d := time.Since(start); d != 1500*time.Millisecond {
			t.Errorf("stopped after %v, the bound is 1.5 s", d)
		}
	})

	bubble(t, "at the end of input a slow reader still gets everything", func(t *testing.T) {
		a, b := halves()
		c := mute(t, a, b, protocol.Limits{})
		c.send(call("1", "big", `"bytes":300000`))
		a.(interface{ CloseWrite() error }).CloseWrite()
		r := protocol.Lines.NewReader(slow{a}, 1<<20)
		line, err := r.Next()
		if err != nil || len(line) < 300_000 {
			t.Errorf("%d bytes, %v", len(line), err)
		}
		c.expectServed(nil)
	})

	bubble(t, "unread replies past the bound end the connection and no other", func(t *testing.T) {
		a, b := halves()
		c := mute(t, a, b, protocol.Limits{Replies: 100_000, Stall: time.Second})
		other := dial(t, protocol.Limits{})
		start := time.Now()
		c.send(call("1", "big", `"bytes":60000`), call("2", "big", `"bytes":60000`), call("3", "do", `"name":"never"`))
		other.send(named("x", "do", "s1", 0))
		other.expect(`"x": x`)
		if strings.Contains(c.state.events(), "never") {
			t.Error("a request was started past the bound")
		}
		c.expectServed(protocol.ErrSlowReader)
		if d := time.Since(start); d != time.Second {
			t.Errorf("ended after %v, the bound is 1 s", d)
		}
		other.end(nil)
	})

	bubble(t, "a slow reader past the bound is not cut off as long as it reads", func(t *testing.T) {
		a, b := halves()
		c := mute(t, a, b, protocol.Limits{Replies: 100_000, Stall: time.Second})
		var lines []string
		for i := range 20 {
			lines = append(lines, call(fmt.Sprint(i), "big", `"bytes":60000`))
		}
		go io.WriteString(a, strings.Join(lines, "\n")+"\n")
		r := protocol.Lines.NewReader(slow{a}, 1<<20)
		for i := range 20 {
			if line, err := r.Next(); err != nil || !strings.HasPrefix(string(line), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,`, i)) {
				t.Errorf("reply %d: %.60s, %v", i, line, err)
				break
			}
		}
		c.end(nil)
	})

	bubble(t, "a slow reader parks whoever notifies and costs no memory", func(t *testing.T) {
		a, b := halves()
		c := mute(t, a, b, protocol.Limits{Stall: time.Second})
		synctest.Wait()
		sent := 0
		notified := make(chan error)
		go func() {
			for {
				if err := c.state.conn.Notify(context.Background(), "changed", map[string]int{"n": sent}); err != nil {
					notified <- err
					return
				}
				sent++
			}
		}()
		pass(time.Minute)
		if sent > 0 {
			t.Errorf("%d notifications counted as written, none was read", sent)
		}
		// A request is still answered: its reply waits behind one notification.
		c.send(named("a", "do", "", 0))
		if c.state.events() != "start a, end a" {
			t.Errorf("events %q", c.state.events())
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := c.state.conn.Notify(ctx, "changed", none{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Notify behind another: %v", err)
		}
		c.stop()
		c.expectServed(protocol.ErrShutdown)
		if err := <-notified; err != protocol.ErrClosed {
			t.Errorf("Notify on a closed connection: %v", err)
		}
	})

	bubble(t, "a notification is written with its last byte and not before", func(t *testing.T) {
		a, b := halves()
		c := mute(t, a, b, protocol.Limits{})
		synctest.Wait()
		var written atomic.Bool
		go func() {
			if err := c.state.conn.Notify(context.Background(), "changed", strings.Repeat("x", 200_000)); err != nil {
				t.Error(err)
			}
			written.Store(true)
		}()
		synctest.Wait()
		c.send(named("a", "do", "", 0))
		io.CopyN(io.Discard, a, 200_000)
		synctest.Wait()
		if written.Load() {
			t.Error("Notify returned before the last byte")
		}
		r := protocol.Lines.NewReader(a, 1000)
		r.Next()
		synctest.Wait()
		if !written.Load() {
			t.Error("Notify did not return after the last byte")
		}
		if line, err := r.Next(); err != nil || brief(string(line)) != `"a": a` {
			t.Errorf("got %s, %v", line, err)
		}
		c.end(nil)
	})

	bubble(t, "past the bound on queued bytes nothing more is read", func(t *testing.T) {
		c := dial(t, protocol.Limits{Queued: 10_000})
		c.send(named("a", "wait", "s1", 1000))
		var lines []string
		for i := range 200 {
			lines = append(lines, named(fmt.Sprint("q", i), "do", "s1", 0))
		}
		var wrote atomic.Bool
		go func() {
			// Far more than the buffer of the reader takes in at once.
			for range 10 {
				io.WriteString(c.stream, strings.Join(lines, "\n")+strings.Repeat(" ", 64<<10)+"\n")
			}
			io.WriteString(c.stream, named("free", "do", "", 0)+"\n")
			wrote.Store(true)
		}()
		c.expect("")
		if wrote.Load() {
			t.Error("everything was read past the bound")
		}
		pass(time.Second)
		if got := c.got(); strings.Count(got, ": q") != 2000 || !strings.HasSuffix(got, `"free": free`) || !wrote.Load() {
			t.Errorf("%d answers, written %t, end %s", strings.Count(got, ": q"), wrote.Load(), got[max(0, len(got)-40):])
		}
		c.end(nil)
	})

	bubble(t, "a connection ended by its dialect says why", func(t *testing.T) {
		c := dial(t, protocol.Limits{})
		c.send(named("a", "wait", "s1", 30_000))
		tooLate := errors.New("nobody logged in")
		c.state.conn.Close(tooLate)
		c.expect(fmt.Sprintf(`"a": %d, EOF`, codeCancelled))
		c.expectServed(tooLate)
	})

	bubble(t, "lost framing is answered and ends the connection", func(t *testing.T) {
		a, b := halves()
		served := make(chan error, 1)
		go func() {
			served <- protocol.NewConn(b, fake{&state{}}, protocol.Config{Framing: protocol.Headers}).Serve(context.Background())
		}()
		go io.WriteString(a, "GET / HTTP/1.1\r\n")
		line, err := protocol.Headers.NewReader(a, 1000).Next()
		if err != nil || brief(string(line)) != "null: -32700" {
			t.Errorf("got %s, %v", line, err)
		}
		if err := <-served; !errors.Is(err, protocol.ErrFraming) {
			t.Errorf("Serve returned %v", err)
		}
		a.Close()
	})
}

// slow reads a little at a time, with pauses.
type slow struct{ io.Reader }

func (s slow) Read(p []byte) (int, error) {
	<-time.After(100 * time.Millisecond)
	return s.Reader.Read(p[:min(len(p), 10_000)])
}

func TestFaults(t *testing.T) {
	c := newReal(t)
	for _, tt := range []struct{ name, line, want string }{
		{"panic", call("1", "panic", ""), `"code":-32603,"message":"internal error in \"panic\"","data":{"reason":"internal_error"}`},
		{"panic of the table", call("1", "panic.method", ""), `"code":-32603,"message":"internal error in \"panic.method\""`},
		{"panic of a result's encoder", call("1", "panic.result", ""), `"code":-32603,"message":"result of panic.result does not encode"`},
		{"panic of an error's data", call("1", "panic.data", ""), `"error":{"code":7,"message":"m","data":{"reason":"because"}}`},
		{"result that does not encode", call("1", "unencodable", ""), `"message":"result of unencodable does not encode"`},
		{"appender", call("1", "appender", `"name":"{\"a\":1}"`), `"result":{"a":1}}`},
		{"appender with a line break", call("1", "appender", `"name":"[1,\n2]"`), `"code":-32603`},
		{"no HTML escaping", call("1", "echo", `"a":"<&>\u2028"`), `"result":{"a":"<&>` + "\u2028" + `"}`},
		{"data beside the reason", call("1", "fail", `"name":"why"`), `"error":{"code":7,"message":"why","data":{"reason":"because","n":1}}`},
		{"control characters in a message", call("1", "fail", `"name":"a\u001b[31m\u202e\u0085b\nc"`), `"message":"a\\x1b[31m\\u202e\\u0085b\\x0ac"`},
		{"message of 1 KiB at most", call("1", "fail", `"name":"`+strings.Repeat("é", 600)+`"`), `"message":"` + strings.Repeat("é", 510) + `…"`},
		{"method name cut and escaped", call("1", strings.Repeat("m", 100)+`\u0007`, ""), `unknown method \"` + strings.Repeat("m", 8) + `…\"`},
		{"method of many words cut", call("1", strings.Repeat("mm.", 40), ""), `unknown method \"` + strings.Repeat("mm.", 21) + `…\"`},
		{"wrong type", call("1", "do", `"rows":"x"`), `"message":"params.rows: expected an integer from 0 to 65535, got a string"`},
		{"fraction", call("1", "do", `"rows":1.5`), `"message":"params.rows: expected an integer from 0 to 65535, got 1.5"`},
		{"out of range", call("1", "do", `"rows":70000`), `"message":"params.rows: expected an integer from 0 to 65535, got 70000"`},
		{"given twice", call("1", "do", `"redact":true,"redact":false`), `"code":-32602,"message":"params.redact: expected one value, got two","data":{"reason":"duplicate_member"}`},
		{"given twice deep inside what is ignored", call("1", "do", `"more":[{"a":1,"a":2}]`), `params.more[0].a: expected one value, got two`},
		{"half a surrogate pair", call("1", "do", `"name":"\ud800"`), `"code":-32602`},
		{"positional", `{"jsonrpc":"2.0","id":1,"method":"do","params":["s1"]}`, `"message":"params: expected an object, got an array"`},
		{"case of a member", call("1", "do", `"NAME":"x"`), `"result":""`},
		{"null is absent", call("1", "do", `"name":null,"rows":null`), `"result":""`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := c.ask(tt.line); !strings.Contains(got, tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	if got := c.ask(call("9", "do", `"name":"alive"`)); brief(got) != "9: alive" {
		t.Errorf("afterwards: %s", got)
	}
}

func TestPanicOfKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, protocol.Limits{})
		c.send(named("a", "wait", "s1", 10), call("1", "panic.key", ""), named("b", "do", "s2", 0))
		c.expect(`1: -32603, "b": b`)
		c.end(nil)
	})
}

func TestPanicOfANotification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, protocol.Limits{})
		c.send(call("1", "panic.notification", ""))
		c.expect(`1: not sent`)
		c.send(named("b", "do", "s2", 0))
		c.expect(`"b": b`)
		c.end(nil)
	})
}

// TestPanicOfADialect: what breaks as a connection begins or ends costs that connection, and no
// other.
func TestPanicOfADialect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBacklog()
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		d := &brittle{}
		d.breaks.Store("")
		s := &protocol.Server{Dialect: d, Config: protocol.Config{Log: quiet}}
		go func() { served <- s.Serve(ctx, b) }()
		good := b.connect()
		synctest.Wait()
		for _, breaks := range []string{"open", "close"} {
			d.breaks.Store(breaks)
			bad := b.connect()
			if breaks == "close" {
				if got := askOn(t, bad, call("1", "echo", "")); !strings.HasPrefix(got, "1: ") {
					t.Errorf("before it is closed: %s", got)
				}
				bad.Close()
			} else if _, err := bad.Read(make([]byte, 1)); err == nil {
				t.Error("a connection that was not opened is served")
			}
			synctest.Wait()
			d.breaks.Store("")
			if got := askOn(t, good, call("2", "echo", "")); !strings.HasPrefix(got, "2: ") {
				t.Errorf("after a panic of %s, another connection: %s", breaks, got)
			}
		}
		good.Close()
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// brittle is echoDialect, but for the method of it that breaks.
type brittle struct {
	echoDialect
	breaks atomic.Value // "open", "close" or ""
}

func (b *brittle) Open(*protocol.Conn) protocol.Handler {
	if b.breaks.Load() == "open" {
		panic("open")
	}
	return b
}

func (b *brittle) Close() {
	if b.breaks.Load() == "close" {
		panic("close")
	}
}

func TestBatchBounds(t *testing.T) {
	c := newRealLimits(t, protocol.Limits{Batch: 10, Replies: 10_000})
	batch := func(entry string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(entry+",", n), ",") + "]"
	}
	if got := brief(c.ask(batch("1", 10))); strings.Count(got, "null: -32600") != 10 {
		t.Errorf("ten entries: %s", got)
	}
	if got := c.ask(batch("1", 11)); !strings.Contains(got, "batch_too_large") || strings.HasPrefix(got, "[") {
		t.Errorf("eleven entries: %.300s", got)
	}
	if got := c.ask("[]"); !strings.Contains(got, "empty_batch") {
		t.Errorf("no entry: %s", got)
	}
	got := c.ask(batch(call("1", "big", `"bytes":4000`), 5))
	if strings.Count(got, "limit_exceeded") != 3 || strings.Count(got, "xxxx\"") != 2 {
		t.Errorf("replies past the bound: %.300s", got)
	}
	// The bound is about what is kept, and nothing is.
	got = c.ask(batch(call("1", "big", `"bytes":4000`), 2))
	if strings.Contains(got, "limit_exceeded") {
		t.Errorf("the next batch: %.300s", got)
	}
}

// TestPeerGone closes real descriptors in ways that only the kernel tells of.
func TestPeerGone(t *testing.T) {
	wait := named("a", "wait", "s1", int(time.Hour.Milliseconds()))
	tells := func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("only Linux tells that a peer is gone before something is written to it")
		}
	}
	t.Run("a socket closed after its half", func(t *testing.T) {
		tells(t)
		a, b := socketPair(t)
		c := mute(t, a, b, protocol.Limits{})
		io.WriteString(a, wait+"\n"+named("b", "do", "s2", 0)+"\n")
		r := protocol.Lines.NewReader(a, 1000)
		if line, err := r.Next(); err != nil || brief(string(line)) != `"b": b` {
			t.Fatalf("%s, %v", line, err)
		}
		a.CloseWrite()
		a.Close()
		c.expectServed(protocol.ErrPeerGone)
	})
	t.Run("a pipe whose reader has gone", func(t *testing.T) {
		tells(t)
		inR, inW, err := os.Pipe()
		outR, outW, err2 := os.Pipe()
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		c := mute(t, protocol.Join(outR, inW), protocol.Join(inR, outW), protocol.Limits{})
		io.WriteString(inW, wait+"\n")
		inW.Close()
		outR.Close()
		c.expectServed(protocol.ErrPeerGone)
	})
	t.Run("a half-closed socket whose reader stays", func(t *testing.T) {
		a, b := socketPair(t)
		c := mute(t, a, b, protocol.Limits{})
		io.WriteString(a, named("a", "wait", "s1", 50)+"\n")
		a.CloseWrite()
		if line, err := protocol.Lines.NewReader(a, 1000).Next(); err != nil || brief(string(line)) != `"a": a` {
			t.Errorf("%s, %v", line, err)
		}
		c.expectServed(nil)
	})
}

// A real is a client over a Unix socket that asks one thing at a time.
type real struct {
	t *testing.T
	c net.Conn
	r *protocol.Reader
}

func newReal(t *testing.T) *real { return newRealLimits(t, protocol.Limits{}) }

func newRealLimits(t *testing.T, limits protocol.Limits) *real {
	a, b := socketPair(t)
	done := make(chan error, 1)
	go func() {
		done <- protocol.NewConn(b, fake{&state{}}, protocol.Config{Limits: limits, Log: quiet}).Serve(context.Background())
	}()
	t.Cleanup(func() {
		a.Close()
		if err := <-done; err != nil {
			t.Errorf("Serve returned %v", err)
		}
	})
	return &real{t, a, protocol.Lines.NewReader(a, 1<<30)}
}

func (r *real) ask(line string) string {
	r.t.Helper()
	if _, err := io.WriteString(r.c, line+"\n"); err != nil {
		r.t.Fatal(err)
	}
	reply, err := r.r.Next()
	if err != nil {
		r.t.Fatal(err)
	}
	if !json.Valid(reply) {
		r.t.Errorf("not JSON: %s", reply)
	}
	return string(reply)
}
