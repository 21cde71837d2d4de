//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/protocoltest"
)

// An untermServer is a server of Unterm's methods in a root of its own.
type untermServer struct {
	t       testing.TB
	program *program
	root    string
	name    string
	record  map[string]any
}

// startUnterm starts one. At the test's end it must end by itself, and leave neither a process nor
// its files of an instance.
func startUnterm(t testing.TB, flags ...string) *untermServer {
	t.Helper()
	home := t.TempDir()
	p := ptywright(t, append([]string{"unterm", "--port", "0", "--root", filepath.Join(home, "root"), "--cwd", home}, flags...)...)
	p.Env = append(p.Env, "HOME="+home, "SHELL=/bin/bash", "PROMPT_COMMAND=", "HISTFILE=")
	if err := os.WriteFile(filepath.Join(home, ".bashrc"), []byte("PS1='$ '\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return untermProgram(t, p, filepath.Join(home, "root"))
}

func untermProgram(t testing.TB, p *program, root string) *untermServer {
	t.Helper()
	s := &untermServer{t: t, program: p, root: root}
	_, out := p.StartPiped()
	t.Cleanup(func() { out.Close() })
	t.Cleanup(s.end)
	s.name = p.Stderr.Told(t, `serving Unterm's methods as (\S+) [^\n]*\n`) // it can be found by then
	s.record = s.file("instances/" + s.name + ".json")
	return s
}

// file reads a JSON file of the root.
func (s *untermServer) file(name string) map[string]any {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.root, name))
	if err != nil {
		s.t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		s.t.Fatalf("%s: %v in %q", name, err, b)
	}
	return m
}

func (s *untermServer) token() string { return s.record["auth_token"].(string) }

// end ends it with a signal.
func (s *untermServer) end() {
	s.t.Helper()
	if s.program.ProcessState != nil {
		return
	}
	s.program.Process.Signal(syscall.SIGTERM)
	defer time.AfterFunc(hang, func() { s.program.Process.Kill() }).Stop()
	if code := exitCodeOf(s.t, s.program.Wait()); code != 0 {
		s.t.Errorf("the server's exit code is %d: %s", code, s.program.Stderr)
	}
	noneLeft(s.t, s.program.Mark)
	if left, _ := filepath.Glob(filepath.Join(s.root, "instances", "*.json")); len(left) > 0 {
		s.t.Errorf("left behind: %v", left)
	}
	if said := s.program.Stderr.String(); strings.Contains(said, s.token()) || strings.Contains(said, "goroutine ") {
		s.t.Errorf("standard error: %s", said)
	}
}

// An untermClient is one connection, which tells replies apart by their order alone, as Unterm's
// clients do.
type untermClient struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

func (s *untermServer) dial(t testing.TB) *untermClient {
	t.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%.0f", s.record["mcp_port"]))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(hang))
	return &untermClient{t, conn, bufio.NewReader(conn)}
}

// client is a connection that has logged in.
func (s *untermServer) client(t testing.TB) *untermClient {
	t.Helper()
	c := s.dial(t)
	if r := c.call("auth.login", map[string]any{"token": s.token()}); r["status"] != "ok" {
		t.Fatalf("login: %v", r)
	}
	return c
}

// raw sends lines as they are.
func (c *untermClient) raw(lines string) {
	c.t.Helper()
	if _, err := c.conn.Write([]byte(lines)); err != nil {
		c.t.Fatal(err)
	}
}

// reply reads one.
func (c *untermClient) reply() map[string]any {
	c.t.Helper()
	line, err := c.in.ReadBytes('\n')
	if err != nil {
		c.t.Fatalf("no reply: %v", err)
	}
	var m map[string]any
	if err := json.Unmarshal(line, &m); err != nil {
		c.t.Fatalf("%v in %q", err, line)
	}
	return m
}

// ask sends a request and reads its reply.
func (c *untermClient) ask(method string, params any) map[string]any {
	c.t.Helper()
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	c.raw(string(b) + "\n")
	return c.reply()
}

// call is ask for what must succeed with an object.
func (c *untermClient) call(method string, params any) map[string]any {
	c.t.Helper()
	r := c.ask(method, params)
	m, ok := r["result"].(map[string]any)
	if !ok {
		c.t.Fatalf("%s %v: %v", method, params, r)
	}
	return m
}

// refused is ask for what must fail. It returns the message.
func (c *untermClient) refused(method string, params any) string {
	c.t.Helper()
	r := c.ask(method, params)
	e, ok := r["error"].(map[string]any)
	if !ok || len(e) != 2 {
		c.t.Fatalf("%s %v: %v", method, params, r)
	}
	if code := e["code"]; code != -32603.0 {
		c.t.Errorf("%s %v: code %v", method, params, code)
	}
	return e["message"].(string)
}

// shows waits until a pane shows a text.
func (c *untermClient) shows(pane any, pattern string) {
	c.t.Helper()
	r := c.call("orchestrate.wait", map[string]any{"id": pane, "pattern": pattern, "timeout_ms": hang.Milliseconds() / 2})
	if r["matched"] != true {
		c.t.Fatalf("pane %v does not show %q: %v", pane, pattern, c.call("screen.text", map[string]any{"id": pane})["lines"])
	}
}

// TestUntermCorpus is the part of the torture corpus about a loopback port with a login.
func TestUntermCorpus(t *testing.T) {
	t.Parallel()
	s := startUnterm(t)
	protocoltest.Corpus(t, protocoltest.Suite{
		Family: "tcp-auth",
		Dial: func(t *testing.T) protocoltest.Peer {
			return s.dial(t).conn.(*net.TCPConn)
		},
		Replace: func(*testing.T) map[string]string {
			token := s.token()
			return map[string]string{"$TOKEN": token, "$TOKEN_PREFIX": token[:len(token)-1], "$TOKEN_UPPER": strings.ToUpper(token)}
		},
	})
}
