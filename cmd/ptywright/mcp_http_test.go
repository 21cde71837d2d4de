//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestMCPBesideTheNativeDialect: one server, several doors; a session made at one is there at the
// other (X03).
func TestMCPBesideTheNativeDialect(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "s")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "sock")
	p := ptywright(t, "serve", "--socket", socket, "--mcp-http", "127.0.0.1:0")
	p.Env = append(p.Env, "PTYWRIGHT_MCP_TOKEN=of-the-test")
	stderr := p.Stderr
	p.StartPiped()
	defer func() {
		_ = p.Process.Signal(syscall.SIGTERM)
		if code := exitCodeOf(t, p.Wait()); code != 0 {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	}()
	url := stderr.Told(t, `http://[^ \n]+/mcp`)
	stderr.Told(t, `serving on [^\n]+`)
	if strings.Contains(stderr.String(), "of-the-test") {
		t.Error("a token that was given is printed")
	}
	native, err := client.Dial(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	defer native.Close()
	made, err := native.Spawn(t.Context(), client.Config{Program: "sh", Args: []string{"-c", "echo made natively; sleep 1000"}})
	if err != nil {
		t.Fatal(err)
	}
	s := httpClient(t, url, "of-the-test")
	defer s.Close()
	if r, _ := tool(t, s, "sessions", map[string]any{}); fmt.Sprint(r["sessions"].([]any)[0].(map[string]any)["session"]) != made.ID {
		t.Errorf("sessions: %v", r)
	}
	if r, _ := tool(t, s, "wait", map[string]any{"session": made.ID, "text": "made natively"}); r["matched"] != true {
		t.Errorf("wait: %v", r)
	}
}

// ownTransport has no idle connections at a test's end that anyone would miss.
var ownTransport = &http.Transport{DisableKeepAlives: true}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return ownTransport.RoundTrip(r)
}

func httpClient(t testing.TB, url, token string) *sdk.ClientSession {
	t.Helper()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMCPHTTPRefusesStrangers: foreign Host and Origin, null too, and whoever has no token (M10,
//
func TestMCPHTTPRefusesStrangers(t *testing.T) {
	t.Parallel()
	p := ptywright(t, "mcp", "--http", "127.0.0.1:0")
	stderr := p.Stderr
	p.StartPiped()
	defer func() {
		_ = p.Process.Signal(syscall.SIGTERM)
		if code := exitCodeOf(t, p.Wait()); code != 0 {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	}()
	said := stderr.Told(t, `http://[^ \n]+/mcp with bearer token [A-Z0-9]+\n`)
	url, token, _ := strings.Cut(strings.TrimSpace(said), " with bearer token ")
	host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	_, port, _ := strings.Cut(host, ":")
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	for _, x := range []struct {
		host, origin, token, path string
		status                    int
	}{
		{"", "", token, "/mcp", 200},
		{"localhost:" + port, "", token, "/mcp", 200},
		{"", "http://127.0.0.1:" + port, token, "/mcp", 200},
		{"", "http://localhost:" + port, token, "/mcp", 200},
		{"evil.example", "", token, "/mcp", 403},
		{"evil.example:" + port, "", token, "/mcp", 403},
		{"127.0.0.1", "", token, "/mcp", 403},
		{"127.0.0.1.evil.example:" + port, "", token, "/mcp", 403},
		{"", "http://evil.example", token, "/mcp", 403},
		{"", "null", token, "/mcp", 403},
		{"", "https://127.0.0.1:" + port, token, "/mcp", 403},
		{"", "http://127.0.0.1:1", token, "/mcp", 403},
		{"", "file://", token, "/mcp", 403},
		{"", "", "", "/mcp", 401},
		{"", "", token + "x", "/mcp", 401},
		{"", "", token[1:], "/mcp", 401},
		{"", "", token, "/", 404},
	} {
		req, err := http.NewRequest(http.MethodPost, "http://"+host+x.path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if x.host != "" {
			req.Host = x.host
		}
		if x.origin != "" {
			req.Header.Set("Origin", x.origin)
		}
		if x.token != "" {
			req.Header.Set("Authorization", "Bearer "+x.token)
		}
		r, err := ownTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body.Close()
		if r.StatusCode != x.status {
			t.Errorf("Host %q, Origin %q, token %.3q, %s: %d, want %d", x.host, x.origin, x.token, x.path, r.StatusCode, x.status)
		}
	}
	// A request whose header and _meta name different versions is refused as that, one of a version
	// that is not spoken here as such.
	for _, x := range []struct {
		header, meta string
		code         int
	}{
		{"2026-07-28", "1900-01-01", sdk.CodeHeaderMismatch},
		{"2026-07-28", "2025-11-25", sdk.CodeHeaderMismatch},
		{"", "2026-07-28", sdk.CodeHeaderMismatch},
		{"1900-01-01", "1900-01-01", sdk.CodeUnsupportedProtocolVersion},
	} {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{%q:%q}}}`, sdk.MetaKeyProtocolVersion, x.meta)
		req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Method", "tools/list")
		if x.header != "" {
			req.Header.Set("MCP-Protocol-Version", x.header)
		}
		r, err := bearer(token).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r.Body)
		r.Body.Close()
		var answer struct {
			ID    int
			Error struct{ Code int }
		}
		if json.Unmarshal(text, &answer) != nil || answer.ID != 7 || answer.Error.Code != x.code || r.StatusCode != http.StatusBadRequest {
			t.Errorf("header %q, _meta %q: %d %s, want %d", x.header, x.meta, r.StatusCode, text, x.code)
		}
	}
	s := httpClient(t, url, token)
	defer s.Close()
	// The token is secret in what sessions show.
	out, _ := tool(t, s, "start", map[string]any{"program": "echo", "args": []string{token}, "wait_for": map[string]any{"exited": true}})
	if text := fmt.Sprint(out); strings.Contains(text, token) || !strings.Contains(text, "[REDACTED]") {
		t.Errorf("the token is shown: %v", out)
	}
}
