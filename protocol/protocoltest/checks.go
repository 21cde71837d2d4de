package protocoltest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Canary is the secret that [Checks.Canary] plants.
const Canary = "ghp_k9Wz3TqLr7XvB2nM5pYd8HsJ4cFa6GeUo1Rt"

// Checks are what every dialect must do, whatever its vocabulary: see [Checks.Run].
type Checks struct {
	// Dial connects to the server, the same one each time: see [Over].
	Dial func(t *testing.T) Peer
	// Hello are the lines that a client sends first. Those with an id are answered.
	Hello []string
	// Ask is a request that is answered at once, with a %d for its id.
	Ask string
	// Canary puts [Canary] into every text that the dialect can carry, and asks for everything that
	// may show it. ask sends a request and returns its answer.
	Canary func(ask func(line string) string)
	// Log returns what the server has logged.
	Log func() string
}

// Over returns the client's end of a kernel connection whose other end serve gets. Its Close
// returns when serve has.
func Over(t testing.TB, serve func(net.Conn)) Peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = client.(*net.TCPConn).SetReadBuffer(4 << 10) // on an error the kernel has its own size, and the reader is just slow later
	_ = server.(*net.TCPConn).SetWriteBuffer(4 << 10)
	p := &peer{TCPConn: client.(*net.TCPConn), served: make(chan struct{})}
	go func() {
		defer close(p.served)
		defer server.Close()
		serve(server)
	}()
	t.Cleanup(func() { p.Close() })
	return p
}

type peer struct {
	*net.TCPConn
	served chan struct{}
}

func (p *peer) Close() error {
	err := p.TCPConn.Close()
	<-p.served
	return err
}

// Run checks that a dialect answers what was read before the connection ends, that a client which
// does not read harms no other, that no secret gets out, not even through an error or the log, and
// that a connection leaves nothing behind.
func (d Checks) Run(t *testing.T) {
	t.Run("drain", d.drain)
	t.Run("slow reader", d.slow)
	t.Run("canary", d.canary)
	t.Run("leaks", d.leaks)
}

// A client is one connection, with all it has received.
type client struct {
	t    *testing.T
	peer Peer
	in   *bufio.Reader
	all  strings.Builder
}

func (d Checks) dial(t *testing.T) *client {
	t.Helper()
	p := d.Dial(t)
	watchdog := time.AfterFunc(hang, func() { p.Close() })
	t.Cleanup(func() { watchdog.Stop() })
	c := &client{t: t, peer: p, in: bufio.NewReader(p)}
	for _, line := range d.Hello {
		if idOf(line) == "" {
			c.write(line)
		} else if answer := c.ask(line); !strings.Contains(answer, `"result"`) {
			t.Fatalf("%s is answered %s", line, answer)
		}
	}
	return c
}

func (c *client) write(lines string) {
	c.t.Helper()
	if _, err := io.WriteString(c.peer, lines+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// next reads a message; its id is "" when it is not an answer.
func (c *client) next() (id, line string, err error) {
	line, err = c.in.ReadString('\n')
	c.all.WriteString(line)
	return idOf(line), line, err
}

// ask sends a request and returns its answer; messages before it are skipped.
func (c *client) ask(request string) string {
	c.t.Helper()
	c.write(request)
	for {
		id, line, err := c.next()
		if err != nil {
			c.t.Fatalf("no answer to %s: %v", request, err)
		}
		if id == idOf(request) {
			return line
		}
	}
}

// idOf is the id of a request or an answer, as written.
func idOf(line string) string {
	var m struct{ ID json.RawMessage }
	_ = json.Unmarshal([]byte(line), &m) // a hostile line has none
	return string(m.ID)
}

// asked is how many requests a check sends at once: more than fit into what is read ahead.
const asked = 500

func (d Checks) asks() string {
	var b strings.Builder
	for i := range asked {
		fmt.Fprintf(&b, d.Ask+"\n", i)
	}
	return b.String()
}

// drain: everything sent before the end of the input is answered, once.
func (d Checks) drain(t *testing.T) {
	c := d.dial(t)
	var sent sync.WaitGroup
	sent.Go(func() {
		if _, err := io.WriteString(c.peer, d.asks()); err != nil {
			t.Error(err)
		}
		if err := c.peer.CloseWrite(); err != nil {
			t.Error(err)
		}
	})
	answers := map[string]int{}
	for {
		id, line, err := c.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if id != "" && !strings.Contains(line, `"result"`) {
			t.Errorf("answered %s", line)
		}
		answers[id]++
	}
	sent.Wait()
	for i := range asked {
		if n := answers[fmt.Sprint(i)]; n != 1 {
			t.Fatalf("request %d of %d is answered %d times", i, asked, n)
		}
	}
}

// slow: a client that sends requests and never reads harms only itself.
func (d Checks) slow(t *testing.T) {
	slow, other := d.dial(t), d.dial(t)
	var sending sync.WaitGroup
	sending.Go(func() {
		for range 40 { // until the server stops reading, or cuts it off
			if _, err := io.WriteString(slow.peer, d.asks()); err != nil {
				return
			}
		}
	})
	for i := range asked {
		other.ask(fmt.Sprintf(d.Ask, i))
	}
	slow.peer.Close()
	sending.Wait()
	other.ask(fmt.Sprintf(d.Ask, asked))
}

// canary: no text that leaves contains a secret.
func (d Checks) canary(t *testing.T) {
	c := d.dial(t)
	d.Canary(c.ask)
	for i, hostile := range []string{
		`{"jsonrpc":"2.0","id":"h1","method":"` + Canary + `","params":{}}`,
		`{"jsonrpc":"2.0","id":"h2","method":"server.capabilities","params":["` + Canary + `"]}`,
		`{"jsonrpc":"2.0","id":"h3","method":"tools/call","params":{"name":"` + Canary + `"}}`,
		`{"jsonrpc":"1.0","id":"h4","method":"` + Canary + `"}`,
	} {
		c.write(hostile)
		c.write(`{"jsonrpc":"2.0","` + Canary + `":`)
		c.ask(fmt.Sprintf(d.Ask, i))
	}
	for where, text := range map[string]string{"answers": c.all.String(), "the log": d.Log()} {
		for i := 0; i+12 <= len(Canary); i++ {
			if at := strings.Index(text, Canary[i:i+12]); at >= 0 {
				t.Fatalf("%s show %q: %q", where, Canary[i:i+12],
					text[max(0, at-300):min(len(text), at+60)])
			}
		}
	}
	if !strings.Contains(c.all.String(), "[REDACTED]") {
		t.Errorf("nothing is hidden, so nothing was shown: %s", c.all.String())
	}
}

// leaks: connections come and go, even in the middle of requests, and leave no goroutine.
func (d Checks) leaks(t *testing.T) {
	d.dial(t).peer.Close() // includes what is made with the first connection
	before := goleak.IgnoreCurrent()
	for i := range 20 {
		c := d.dial(t)
		if i%2 == 0 {
			c.write(d.asks())
		}
		c.peer.Close()
	}
	var err error
	for range 20 { // half a second at most each time, for goroutines that are ending
		if err = goleak.Find(before); err == nil {
			return
		}
	}
	t.Error(err)
}

// Logger returns a logger, and a function that returns what it has logged.
func Logger() (log *slog.Logger, logged func() string) {
	b := new(buffer)
	return slog.New(slog.NewTextHandler(b, nil)), b.String
}

type buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// MCPHello are the lines with which a client of the Model Context Protocol begins.
var MCPHello = []string{
	`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`,
	`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
}

// Lines returns a Dial for a server that takes its input and its output.
func Lines(serve func(context.Context, io.ReadCloser, io.WriteCloser) error) func(*testing.T) Peer {
	return func(t *testing.T) Peer {
		return Over(t, func(c net.Conn) { _ = serve(context.Background(), input{c.(*net.TCPConn)}, c) }) // the client may be gone
	}
}

// input is a connection whose output stays open when its input is closed.
type input struct{ *net.TCPConn }

func (i input) Close() error { return i.CloseRead() }
