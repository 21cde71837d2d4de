//go:build unix

package main

import (
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/ptywright/ptywright/internal/lanes"
	"github.com/ptywright/ptywright/internal/npm"
)

// peers returns the modules that .ci/npm has installed of a folder of .ci/peers, and Node of the
// version that it pins. A test whose peers are not installed skips.
func peers(t testing.TB, name string) (modules, node string) {
	t.Helper()
	lanes.Toolchain(t)
	modules, err := npm.Modules(filepath.Join("..", ".."), name)
	if err != nil {
		t.Skip(err)
	}
	return modules, filepath.Join(modules, ".bin", "node")
}

// self returns the command that is ptywright in a test, and the environment that makes it so.
func self(t testing.TB) (path string, env []string) {
	t.Helper()
	p := ptywright(t)
	return p.Path, p.Env
}

// output runs a command and returns what it says on standard output.
func output(t testing.TB, env []string, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	var stderr buffer
	c.Env, c.Stderr = env, &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", filepath.Base(name), err, out, stderr.String())
	}
	return string(out)
}

// TestMCPNpmClient drives a REPL, vim, a recording and a picture with the SDK of npm.
func TestMCPNpmClient(t *testing.T) {
	t.Parallel()
	modules, node := peers(t, "mcp")
	need(t, "python3", "python3")
	need(t, "vim", "vim")
	path, env := self(t)
	dir := t.TempDir()
	said := output(t, env, node, filepath.Join("testdata", "mcp_client.mjs"), filepath.Join(modules, "@modelcontextprotocol", "sdk"), dir, path, "mcp")
	steps := map[string]map[string]any{}
	for line := range strings.Lines(said) {
		var step map[string]any
		unmarshal(t, []byte(line), &step)
		steps[step["step"].(string)] = step
	}
	for _, x := range []struct{ step, member, want string }{
		{"repl", "matched", "true"}, {"picture", "type", `"image/png"`}, {"picture", "magic", `"PNG"`}, {"recording", "state", `"done"`},
		{"vim", "matched", "true"}, {"ended", "reason", `"ended"`}, {"resource", "type", `"text/plain"`},
	} {
		if got, _ := json.Marshal(steps[x.step][x.member]); string(got) != x.want {
			t.Errorf("%s: %s is %s, want %s", x.step, x.member, got, x.want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "npm.txt")); err != nil || string(text) != "written by npm\n" {
		t.Errorf("what vim wrote: %q, %v", text, err)
	}
}

// TestMCPInspector lists and calls the tools with the inspector's command line.
func TestMCPInspector(t *testing.T) {
	t.Parallel()
	modules, node := peers(t, "mcp")
	path, env := self(t)
	env = append(env, "PATH="+filepath.Dir(node)+":"+os.Getenv("PATH"))
	inspector := filepath.Join(modules, ".bin", "mcp-inspector")
	server := []string{"--cli", "env", asProgram + "=1", "GORACE=atexit_sleep_ms=10", path, "mcp", "--method"} // it hands on few variables
	if said := output(t, env, inspector, append(server, "tools/list")...); !strings.Contains(said, `"name": "screenshot"`) {
		t.Errorf("tools/list: %.400s", said)
	}
	said := output(t, env, inspector, append(server, "tools/call", "--tool-name", "start", "--tool-arg", "program=echo", "--tool-arg", `args=["seen by the inspector"]`)...)
	if !strings.Contains(said, "seen by the inspector") {
		t.Errorf("tools/call: %.400s", said)
	}
}

// TestMCPConformance runs the official suite against --http: nothing fails but what the baseline
// names.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	modules, node := peers(t, "mcp")
	p := ptywright(t, "mcp", "--http", "127.0.0.1:0")
	p.Env = append(p.Env, "PTYWRIGHT_MCP_TOKEN=of-the-suite")
	stderr := p.Stderr
	p.StartPiped()
	defer func() {
		_ = p.Process.Signal(syscall.SIGTERM)
		if code := exitCodeOf(t, p.Wait()); code != 0 {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	}()
	target, err := url.Parse(strings.TrimSuffix(stderr.Told(t, `http://[^ \n]+/mcp`), "/mcp"))
	if err != nil {
		t.Fatal(err)
	}
	// The suite has no way to give a token: this adds it, and passes Host and Origin as they come
	// but for its own name.
	var door *httptest.Server
	forward := &httputil.ReverseProxy{FlushInterval: -1, Transport: ownTransport, ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		own := door.Listener.Addr().String()
		r.SetURL(target)
		if r.Out.Host = r.In.Host; r.In.Host == own {
			r.Out.Host = target.Host
		}
		if r.In.Header.Get("Origin") == "http://"+own {
			r.Out.Header.Set("Origin", "http://"+target.Host)
		}
		r.Out.Header.Set("Authorization", "Bearer of-the-suite")
	}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	door = &httptest.Server{Listener: l, Config: &http.Server{Handler: forward}}
	door.Start()
	defer door.Close()
	env := append(os.Environ(), "PATH="+filepath.Dir(node)+":"+os.Getenv("PATH"))
	said := output(t, env, filepath.Join(modules, ".bin", "conformance"), "server", "--url", door.URL+"/mcp",
		"--expected-failures", filepath.Join("..", "..", "conformance-baseline.yml"), "--output-dir", t.TempDir())
	if !strings.Contains(said, "dns-rebinding-protection: 2 passed") {
		t.Errorf("the suite says:\n%s", said)
	}
}

// TestMCPExamples: the command in each configuration starts, and answers initialize.
func TestMCPExamples(t *testing.T) {
	t.Parallel()
	type command struct {
		Command string   `json:"command" toml:"command"`
		Args    []string `json:"args" toml:"args"`
	}
	type config struct {
		Claude map[string]command `json:"mcpServers"`
		Code   map[string]command `json:"servers"`
		Codex  map[string]command `toml:"mcp_servers"`
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "examples", "mcp", "*.[jt]*"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c config
		if strings.HasSuffix(file, ".toml") {
			if _, err := toml.Decode(string(text), &c); err != nil {
				t.Fatal(err)
			}
		} else {
			unmarshal(t, text, &c)
		}
		if strings.HasPrefix(filepath.Base(file), "terminal-mcp") {
			continue // TestTerminalMCP has its own
		}
		found := 0
		for _, servers := range []map[string]command{c.Claude, c.Code, c.Codex} {
			for name, x := range servers {
				found++
				if x.Command != "ptywright" || name != "ptywright" {
					t.Errorf("%s starts %s", file, x.Command)
				}
				p := ptywright(t, x.Args...)
				said, code := p.Run(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n")
				if code != 0 || !strings.Contains(said, `"serverInfo":{"name":"ptywright"`) {
					t.Errorf("%s: exit code %d, %s", file, code, said)
				}
			}
		}
		if found != 1 {
			t.Errorf("%s names %d servers", file, found)
		}
	}
}
