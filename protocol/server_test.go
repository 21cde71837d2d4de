package protocol_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/protocol"
)

// A backlog is a listener whose connections, and errors, a test makes up.
type backlog struct {
	conns  chan net.Conn
	closed chan struct{}
	errs   atomic.Int64 // how many errors are still to come
	asked  atomic.Int64
}

func newBacklog() *backlog {
	return &backlog{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (b *backlog) Accept() (net.Conn, error) {
	b.asked.Add(1)
	if b.errs.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	select {
	case c := <-b.conns:
		return c, nil
	case <-b.closed:
		return nil, net.ErrClosed
	}
}

func (b *backlog) Close() error {
	select {
	case <-b.closed:
	default:
		close(b.closed)
	}
	return nil
}

func (b *backlog) Addr() net.Addr { return &net.UnixAddr{} }

func (b *backlog) connect() net.Conn {
	client, server := net.Pipe()
	b.conns <- server
	return client
}

func askOn(t *testing.T, c io.ReadWriter, line string) string {
	t.Helper()
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		return err.Error()
	}
	b, err := protocol.Lines.NewReader(c, 1<<20).Next()
	if err != nil {
		return err.Error()
	}
	return brief(string(b))
}

func TestServer(t *testing.T) {
	run := func(name string, s *protocol.Server, f func(t *testing.T, b *backlog, stop func(), served chan error)) {
		bubble(t, name, func(t *testing.T) {
			s.Dialect, s.Log = each{}, quiet
			b := newBacklog()
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			served := make(chan error, 1)
			go func() { served <- s.Serve(ctx, b) }()
			f(t, b, stop, served)
		})
	}

	bounded := &protocol.Server{Connections: 2}
	run("a connection too many is told so", bounded, func(t *testing.T, b *backlog, stop func(), served chan error) {
		one, two := b.connect(), b.connect()
		three := b.connect()
		line, err := protocol.Lines.NewReader(three, 1000).Next()
		if err != nil || !strings.Contains(string(line), "over the limit of 2 connections") {
			t.Errorf("%s, %v", line, err)
		}
		one.Close()
		synctest.Wait()
		four := b.connect()
		for _, c := range []net.Conn{two, four} {
			if got := askOn(t, c, named("a", "do", "", 0)); got != `"a": a` {
				t.Errorf("got %s", got)
			}
		}
		if got, want := bounded.Stats(), (protocol.Stats{Open: 2, Accepted: 4, Refused: 1}); got != want {
			t.Errorf("counts %+v, want %+v", got, want)
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})

	run("a full table of descriptors is waited out without spinning", &protocol.Server{}, func(t *testing.T, b *backlog, stop func(), served chan error) {
		synctest.Wait()
		b.errs.Store(20)
		b.connect().Close() // the Accept under way is done with, the next ones fail
		pass(10 * time.Second)
		// 5 ms doubled: nine tries in the first 1.3 s, then one a second, behind one that was good.
		if n := b.asked.Load(); n < 10 || n > 20 {
			t.Errorf("%d tries in 10 s", n)
		}
		pass(10 * time.Second)
		if got := askOn(t, b.connect(), named("a", "do", "", 0)); got != `"a": a` {
			t.Errorf("afterwards: %s", got)
		}
		synctest.Wait()
		b.errs.Store(1)
		b.connect()
		synctest.Wait()
		stop() // in the middle of a pause
		if err := <-served; err != nil {
			t.Error(err)
		}
	})

	run("a listener closed by somebody else ends the server", &protocol.Server{}, func(t *testing.T, b *backlog, stop func(), served chan error) {
		c := b.connect()
		b.Close()
		if err := <-served; err != net.ErrClosed {
			t.Error(err)
		}
		if _, err := c.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("its connection: %v", err)
		}
	})

	slowed := &protocol.Server{Config: protocol.Config{Limits: protocol.Limits{Replies: 10_000}}}
	run("a client that does not read is counted and hurts no other", slowed, func(t *testing.T, b *backlog, stop func(), served chan error) {
		for range 100 {
			c := b.connect()
			go io.WriteString(c, strings.Repeat(call("1", "big", `"bytes":6000`)+"\n", 3))
		}
		synctest.Wait()
		start := time.Now()
		if got := askOn(t, b.connect(), named("a", "do", "s1", 0)); got != `"a": a` || time.Since(start) != 0 {
			t.Errorf("got %s after %v", got, time.Since(start))
		}
		pass(3 * time.Second)
		if got := slowed.Stats(); got.Slow != 100 || got.Open != 1 {
			t.Errorf("counts %+v", got)
		}
		stop()
		<-served
	})
}

// each gives every connection a fake of its own.
type each struct{}

func (each) Open(c *protocol.Conn) protocol.Handler { return fake{&state{}}.Open(c) }

// TestServerOnSocket goes through the door that clients use.
func TestServerOnSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "s")
	l, err := protocol.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	served := make(chan error, 1)
	go func() {
		served <- (&protocol.Server{Dialect: each{}, Config: protocol.Config{Log: quiet}}).Serve(ctx, l)
	}()
	var waiting []*protocol.Reader
	for i := range 10 {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintln(c, named("w", "wait", "s1", 3_600_000))
		if got := askOn(t, c, named("a", "do", fmt.Sprint("x", i), 0)); got != `"a": a` {
			t.Errorf("got %s", got)
		}
		waiting = append(waiting, protocol.Lines.NewReader(c, 1000))
	}
	stop()
	for _, r := range waiting {
		if line, err := r.Next(); err != nil || brief(string(line)) != fmt.Sprintf(`"w": %d`, codeCancelled) {
			t.Errorf("at the stop: %s, %v", line, err)
		}
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("unix", path); err == nil {
		t.Error("somebody still listens")
	}
}
