//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"
)

// halfOpen opens many connections that say nothing, and some that begin to. The server closes those
// that it has no room for.
func halfOpen(t *testing.T, addr string) {
	t.Helper()
	for i := range 400 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		t.Cleanup(func() { c.Close() })
		if i%2 == 1 {
			_, _ = io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: x\r\n") // it may be closed by now
		}
	}
}

// TestHalfOpenConnectionsKeepNobodyOut: at no door does who has no token keep out who has it, be it
// before or after.
func TestHalfOpenConnectionsKeepNobodyOut(t *testing.T) {
	t.Parallel()
	const good = 5
	t.Run("mcp", func(t *testing.T) {
		t.Parallel()
		p := ptywright(t, "mcp", "--http", "127.0.0.1:0")
		p.Env = append(p.Env, "PTYWRIGHT_MCP_TOKEN=of-the-test")
		p.StartPiped()
		defer func() {
			_ = p.Process.Signal(syscall.SIGTERM)
			if code := exitCodeOf(t, p.Wait()); code != 0 {
				t.Errorf("exit code %d: %s", code, p.Stderr)
			}
		}()
		url := p.Stderr.Told(t, `http://[^ \n]+/mcp`)
		old := httpClient(t, url, "of-the-test")
		defer old.Close()
		halfOpen(t, strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp"))
		for range good {
			s := httpClient(t, url, "of-the-test")
			tool(t, s, "sessions", map[string]any{})
			s.Close()
		}
		tool(t, old, "sessions", map[string]any{})
	})
	t.Run("watch", func(t *testing.T) {
		t.Parallel()
		w := watchedServer(t)
		addr := strings.TrimPrefix(w.origin, "http://")
		_, token, _ := strings.Cut(w.address, "#token=")
		open := func() *websocket.Conn {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), hang)
			defer cancel()
			r, err := ownTransport.RoundTrip(must(http.NewRequestWithContext(ctx, http.MethodGet, w.origin+"/", nil)))
			if err != nil {
				t.Fatal(err)
			}
			r.Body.Close()
			ws, _, err := websocket.Dial(ctx, "ws://"+addr+"/live", &websocket.DialOptions{
				HTTPHeader: http.Header{"Origin": {w.origin}}, HTTPClient: &http.Client{Transport: ownTransport},
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := ws.Write(ctx, websocket.MessageText, []byte(`{"token":"`+token+`"}`)); err != nil {
				t.Fatal(err)
			}
			if _, hello, err := ws.Read(ctx); err != nil || !strings.Contains(string(hello), "version") {
				t.Fatalf("%q, %v", hello, err)
			}
			return ws
		}
		old := open()
		defer old.CloseNow()
		halfOpen(t, addr)
		for range good {
			open().CloseNow()
		}
		if err := old.Write(t.Context(), websocket.MessageText, []byte(`{"id":1,"method":"recordings"}`)); err != nil {
			t.Fatal(err)
		}
		if _, answer, err := old.Read(t.Context()); err != nil || !strings.Contains(string(answer), `"result"`) {
			t.Errorf("%q, %v", answer, err)
		}
	})
	t.Run("unterm", func(t *testing.T) {
		t.Parallel()
		s := startUnterm(t)
		old := s.client(t)
		halfOpen(t, fmt.Sprintf("127.0.0.1:%.0f", s.record["mcp_port"]))
		for range good {
			s.client(t).call("server.health", nil)
		}
		old.call("server.health", nil)
	})
}

// must is for what cannot fail but by a mistake in a test.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
