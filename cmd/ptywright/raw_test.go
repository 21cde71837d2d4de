//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestRawOnlyWhereAsked: on every surface a secret is hidden until whoever asks says that it is to
// be seen, in that surface's way. The native dialect has a right to it, and so has who starts a
// command; what needs --trust-raw is shown by those dialects' tests.
func TestRawOnlyWhereAsked(t *testing.T) {
	t.Parallel()
	const secret = "hunterZebra42"
	const script = `printf 'password: hunterZebra42\r\n'; read x`
	dir := t.TempDir()
	s := start(t)
	b := s.sh(script)
	b.wait(client.Text("hunterZ"))
	call := func(method string, params map[string]any) func(t *testing.T, raw bool) string {
		return func(t *testing.T, raw bool) string {
			with := map[string]any{"session": b.ID}
			for k, v := range params {
				with[k] = v
			}
			if raw {
				with["redact"] = false
			}
			var result json.RawMessage
			s.call(method, with, &result)
			return string(result)
		}
	}
	recorded := func(format string) func(t *testing.T, raw bool) string {
		return func(t *testing.T, raw bool) string {
			path := filepath.Join(t.TempDir(), "r")
			var r struct{ Recording string }
			if err := json.Unmarshal([]byte(call("session.record_start", map[string]any{"path": path, "format": format})(t, raw)), &r); err != nil {
				t.Fatal(err)
			}
			s.call("session.record_stop", map[string]any{"recording": r.Recording}, nil)
			return read(t, path)
		}
	}
	command := func(name, file string, flags ...string) func(t *testing.T, raw bool) string {
		return func(t *testing.T, raw bool) string {
			path := filepath.Join(t.TempDir(), file)
			args := append([]string{name, "-o", path}, flags...)
			if raw {
				args = append(args, "--raw")
			}
			p := ptywright(t, append(args, "--", "sh", "-c", script)...)
			if _, code := p.Run("x\n"); code != 0 {
				t.Fatalf("exit %d, %s", code, p.Stderr)
			}
			return read(t, path)
		}
	}
	cast := filepath.Join(dir, "raw.cast")
	if _, code := ptywright(t, "record", "--raw", "-o", cast, "--", "sh", "-c", script).Run("x\n"); code != 0 {
		t.Fatalf("exit %d", code)
	}
	for name, surface := range map[string]struct {
		show func(t *testing.T, raw bool) string
		raw  bool // it can be asked for what is not hidden
	}{
		"session.snapshot":              {call("session.snapshot", nil), true},
		"session.transcript":            {call("session.transcript", nil), true},
		"session.scrollback":            {call("session.scrollback", nil), true},
		"session.search":                {call("session.search", map[string]any{"text": "password"}), true},
		"session.wait":                  {call("session.wait", map[string]any{"matcher": client.Text("password")}), true},
		"session.screenshot svg":        {call("session.screenshot", map[string]any{"format": "svg"}), true},
		"session.screenshot html":       {call("session.screenshot", map[string]any{"format": "html"}), true},
		"session.record_start cast":     {recorded("asciicast-v2"), true},
		"session.list":                  {call("session.list", map[string]any{"details": true}), true},
		"ptywright record":              {command("record", "a.cast"), true},
		"ptywright shot":                {command("shot", "a.svg", "--settle", "100ms"), true},
		"ptywright cast2text of a file": {func(t *testing.T, raw bool) string { out, _ := ptywright(t, "cast2text", cast).Run(""); return out }, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := surface.show(t, false); strings.Contains(got, secret) || !strings.Contains(got, "password: [REDACTED]") {
				t.Errorf("unasked: %s", got)
			}
			if got := surface.show(t, surface.raw); strings.Contains(got, secret) != surface.raw {
				t.Errorf("asked for: %s", got)
			}
		})
	}
	b.text("\n")
	b.exited()
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
