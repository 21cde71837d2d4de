//go:build unix

package main

import (
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// counted reads a page of counts; every line must be a comment or a sample.
func counted(t testing.TB, text string) map[string]float64 {
	t.Helper()
	sample := regexp.MustCompile(`^([a-z_]+(?:\{[a-z]+="[^"]*"\})?) (\S+)$`)
	found := map[string]float64{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "# HELP ") || strings.HasPrefix(line, "# TYPE ") {
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%q is no sample", line)
		}
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if _, twice := found[m[1]]; twice {
			t.Errorf("%s is told twice", m[1])
		}
		found[m[1]] = v
	}
	return found
}

// TestMetricsCount what has happened, with nothing that a program wrote.
func TestMetricsCount(t *testing.T) {
	t.Parallel()
	l := listen(t)
	s, other := l.dial(), l.dial()
	b := s.sh("echo token=Kq7abcdefgh; echo hello; cat")
	b.wait(client.Text("hello"))
	b.text("typed\n")
	b.wait(client.Regexp("(?s)typed.*typed"))
	if _, err := b.Wait(s.ctx, client.Text("never"), client.Within(0)); err == nil {
		t.Fatal("matched")
	}
	s.call("session.record_start", map[string]any{"session": b.ID, "path": filepath.Join(t.TempDir(), "x.cast")}, nil)
	other.sh("exit 3").exited()
	other.refused(-32602, "invalid_matcher", "session.wait", map[string]any{"session": b.ID, "matcher": map[string]any{"type": "screen_regex", "value": "("}})
	var r struct{ Text string }
	s.call("server.metrics", nil, &r)
	got := counted(t, r.Text)
	for name, want := range map[string]float64{
		"ptywright_sessions": 2, "ptywright_sessions_running": 1, "ptywright_sessions_started_total": 2, "ptywright_connections": 2, "ptywright_connections_total": 2,
		"ptywright_input_bytes_total": 6, "ptywright_input_blocked_total": 0, `ptywright_waits_total{outcome="matched"}`: 3,
		`ptywright_waits_total{outcome="timeout"}`: 1, `ptywright_waits_total{outcome="failed"}`: 0, "ptywright_recordings_running": 1,
		"ptywright_notifications_dropped_total": 0, "ptywright_output_bytes_total": float64(len("token=Kq7abcdefgh\r\nhello\r\ntyped\r\ntyped\r\n")),
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v, expected %v", name, v, want)
		}
	}
	for _, name := range []string{"ptywright_redactions_total", "go_goroutines", "go_memory_heap_bytes", "ptywright_uptime_seconds"} {
		if got[name] <= 0 {
			t.Errorf("%s is %v", name, got[name])
		}
	}
	for _, text := range []string{"Kq7", "hello", "typed"} {
		if strings.Contains(r.Text, text) {
			t.Errorf("the page has %q", text)
		}
	}
	s.call("session.close", map[string]any{"session": b.ID}, nil)
}

// TestMetricsOverHTTP need the token that MCP needs, and its Host.
func TestMetricsOverHTTP(t *testing.T) {
	t.Parallel()
	p := ptywright(t, "mcp", "--http", "127.0.0.1:0")
	p.Env = append(p.Env, "PTYWRIGHT_MCP_TOKEN=of-the-test")
	stderr := p.Stderr
	p.StartPiped()
	defer func() {
		_ = p.Process.Signal(syscall.SIGTERM)
		if code := exitCodeOf(t, p.Wait()); code != 0 {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	}()
	url := strings.TrimSuffix(stderr.Told(t, `http://[^ \n]+/mcp`), "/mcp") + "/metrics"
	get := func(method, url string, head map[string]string) (int, string, http.Header) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range head {
			r.Header.Set(k, v)
		}
		if head["Host"] != "" {
			r.Host = head["Host"]
		}
		a, err := ownTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		b, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(b), a.Header
	}
	auth := map[string]string{"Authorization": "Bearer of-the-test"}
	status, text, head := get("GET", url, auth)
	if got := counted(t, text); status != 200 || got["ptywright_sessions"] != 0 || got["go_goroutines"] == 0 || !strings.HasPrefix(head.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Errorf("%d, %v, %s", status, head, text)
	}
	for name, c := range map[string]struct {
		method, url string
		head        map[string]string
		want        int
	}{
		"no token":       {"GET", url, nil, 401},
		"wrong token":    {"GET", url, map[string]string{"Authorization": "Bearer x"}, 401},
		"foreign Host":   {"GET", url, map[string]string{"Authorization": "Bearer of-the-test", "Host": "evil.example"}, 403},
		"foreign Origin": {"GET", url, map[string]string{"Authorization": "Bearer of-the-test", "Origin": "http://evil.example"}, 403},
		"another method": {"POST", url, auth, 404},
		"another page":   {"GET", url + "x", auth, 404},
	} {
		if status, text, _ := get(c.method, c.url, c.head); status != c.want || strings.Contains(text, "ptywright_sessions") {
			t.Errorf("%s: %d, %s", name, status, text)
		}
	}
}
