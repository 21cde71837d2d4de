package native

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
)

// TestNotifierThatBreaksEndsItsConnection, which would wait for what nobody tells it any more, and
// nobody else's.
func TestNotifierThatBreaksEndsItsConnection(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	e := engine.New(engine.Options{Log: log})
	defer e.Close(context.Background())
	d := New(host.Over(e, nil, log), Options{})
	serve := func(d protocol.Dialect) (net.Conn, chan error) {
		client, server := net.Pipe()
		served := make(chan error, 1)
		conn := protocol.NewConn(server, d, protocol.Config{Log: log})
		go func() { served <- conn.Serve(t.Context()) }()
		return client, served
	}
	ask := func(c net.Conn, line string) string {
		t.Helper()
		if _, err := c.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
		answer, err := protocol.Lines.NewReader(c, 1<<20).Next()
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	const notify = `{"jsonrpc":"2.0","id":1,"method":"server.set_notifications","params":{"enabled":true}}`
	good, goodServed := serve(d)
	ask(good, notify)

	bad, badServed := serve(broken{d})
	ask(bad, notify)
	if err := <-badServed; err == nil || !strings.Contains(err.Error(), "the notifications of a connection") {
		t.Errorf("the connection ended with %v", err)
	}
	const list = `{"jsonrpc":"2.0","id":2,"method":"session.list"}`
	if got := ask(good, list); !strings.Contains(got, `"sessions":[]`) {
		t.Errorf("another connection is answered %s", got)
	}
	good.Close()
	bad.Close()
	<-goodServed
}

// broken is the dialect with a notifier that has nothing to look at.
type broken struct{ *Server }

func (b broken) Open(c *protocol.Conn) protocol.Handler {
	h := b.Server.Open(c)
	own := New(host.Over(b.Engine, nil, b.Log), Options{})
	own.Catalog = nil
	h.(*client).Server = own
	return h
}
