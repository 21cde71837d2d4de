//go:build unix

package watch

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// TestFrozenPage: a page that answers no ping is closed, and what it has taken over goes back.
func TestFrozenPage(t *testing.T) {
	b := newBench(t, Options{pingTime: 10 * time.Millisecond, pongTime: 2 * time.Second})
	s := b.spawn(24, 80, "exec cat")
	frozen := b.login()
	if got := frozen.ask("take", named{string(s.ID())}, nil); got != "" {
		t.Fatal(got)
	}
	for { // pings are answered by who reads, and this one reads no more
		changed := s.Changed()
		if s.View().Lease == nil {
			break
		}
		select {
		case <-changed:
		case <-b.ctx.Done():
			t.Fatal("a page that is frozen keeps what it has taken over")
		}
	}
}

// TestIdlePage: a page that asks nothing and answers pings stays.
func TestIdlePage(t *testing.T) {
	b := newBench(t, Options{pingTime: time.Millisecond, pongTime: hang})
	s := b.spawn(24, 80, "exec cat")
	const enough = 20
	pings, many := 0, make(chan struct{})
	ws, _, err := websocket.Dial(b.ctx, "ws://"+b.addr+"/live", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {b.origin}}, HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, OnPingReceived: func(context.Context, []byte) bool {
		if pings++; pings == enough {
			close(many)
		}
		return true
	}})
	if err != nil {
		t.Fatal(err)
	}
	c := b.loginOver(ws)
	if got := c.ask("take", named{string(s.ID())}, nil); got != "" {
		t.Fatal(got)
	}
	ctx := ws.CloseRead(b.ctx) // reads, and answers pings
	select {
	case <-many:
	case <-ctx.Done():
		t.Fatal("a page that answers pings is closed")
	}
	if s.View().Lease == nil {
		t.Error("what it has taken over went back")
	}
}
