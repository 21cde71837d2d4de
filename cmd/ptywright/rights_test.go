//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/client"
)

// readers is a server with a socket for readers beside its own.
func readers(t *testing.T, flags ...string) (l *listener, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "mine", "readers")
	l = listen(t, append([]string{"--read-only-socket", path}, flags...)...)
	l.program.Stderr.Told(t, `serving readers on `+path)
	return l, path
}

// TestReadOnlySocket: who comes by it can look and wait, and do nothing else, in no dialect that it
// serves and whatever is sent; the server's own socket is as ever.
func TestReadOnlySocket(t *testing.T) {
	t.Parallel()
	l, path := readers(t)
	own := l.dial()
	c := own.sh("stty -echo; echo ready; exec cat")
	c.wait(client.Text("ready"))
	if info, err := os.Lstat(path); err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("%v, %v", info, err)
	}

	r := (&listener{l.program, path, t}).dial()
	if all := r.list(); len(all) != 1 || all[0].Session != c.ID {
		t.Errorf("sessions %+v", all)
	}
	(&session{r.Session(c.ID), r, t}).wait(client.Text("ready"))
	for method, params := range map[string]obj{
		"session.input": {"session": c.ID, "action": obj{"type": "text", "value": "typed\n"}}, "session.create": {"program": "true"},
		"session.kill": {"session": c.ID}, "session.close": {"session": c.ID}, "session.snapshot": {"session": c.ID, "redact": false},
		"session.transcript": {"session": c.ID, "redact": false}, "session.record_start": {"session": c.ID, "dir": t.TempDir()},
		"session.screenshot": {"session": c.ID, "path": filepath.Join(t.TempDir(), "a.png")}, "server.set_rights": {"rights": "admin"},
		"terminal/create": {"sessionId": "x", "command": "true"}, "plugin.load": {"manifest_path": "x"},
	} {
		e := r.refused(client.CodeDenied, "forbidden", method, params)
		var data struct{ Method, Needs, Rights string }
		if json.Unmarshal(e.Data, &data) != nil || data.Method != method || data.Rights != "read" || data.Needs == "read" ||
			!strings.Contains(e.Message, "--rights "+data.Needs) {
			t.Errorf("%s: %s, %s", method, e.Message, e.Data)
		}
	}

	// What a stranger's protocol says changes nothing.
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(hang))
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nContent-Length: 2\r\n\r\n{}\n"+
		`{"jsonrpc":"2.0","id":1,"method":"session.kill","params":{"session":"%s"}}`+"\n", c.ID)
	in := bufio.NewReader(conn)
	for {
		reply, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(reply, `"id":1,`) {
			if !strings.Contains(reply, `"forbidden"`) {
				t.Error(reply)
			}
			break
		}
	}
	c.waitSince(c.text("still\n"), client.Text("still"))
	if got := c.snapshot("none").PlainText; strings.Contains(got, "typed") {
		t.Errorf("the screen shows %s", got)
	}

	// Commands say what is missing, with the exit code of a missing right.
	s := &shared{l, t}
	if out := s.ok("ls", "--socket", path); !strings.Contains(out, c.ID) {
		t.Errorf("ls: %s", out)
	}
	if _, stderr, code := s.run("send", "--socket", path, c.ID, "x"); code != 5 || !strings.Contains(stderr, `it needs the right "type"`) {
		t.Errorf("send: exit %d, %s", code, stderr)
	}
}

// TestReadOnlySocketIsASocketOfOurs: it is refused where the other one would be, and with it the
// server; a server that ends takes both away.
func TestReadOnlySocketIsASocketOfOurs(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	socket, file := filepath.Join(home, "socket"), filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{socket, file, "/tmp/readers"} {
		p := ptywright(t, "serve", "--read-only-socket", path)
		p.Env = append(p.Env, "PTYWRIGHT_HOME="+home)
		if _, code := p.Run(""); code == 0 || !strings.Contains(p.Stderr.String(), path) {
			t.Errorf("%s: exit %d, %s", path, code, p.Stderr)
		}
		if _, err := os.Lstat(socket); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the other socket is left: %v", path, err)
		}
	}
	path := filepath.Join(t.TempDir(), "mine", "readers")
	l := listenProgram(t, ptywright(t, "serve", "--read-only-socket", path), home)
	l.program.Stderr.Told(t, `serving readers on `+path)
	l.end()
	for _, left := range []string{path, path + ".lock"} {
		if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", left, err)
		}
	}
}

// TestRightsOfStandardInput: a server may be started with less for its client.
func TestRightsOfStandardInput(t *testing.T) {
	t.Parallel()
	for rights, refused := range map[string][]string{
		"read": {"session.lease", "session.create"}, "type": {"session.create"}, "admin": nil,
	} {
		s := start(t, "--rights", rights)
		for _, method := range []string{"session.lease", "session.create"} {
			err := s.Call(s.ctx, method, obj{"session": "s9", "program": ""}, nil)
			if errors.Is(err, client.ErrForbidden) != slices.Contains(refused, method) {
				t.Errorf("%s with %s: %v", method, rights, err)
			}
		}
	}
	for _, args := range [][]string{{"--stdio", "--rights", "root"}, {"--stdio", "--rights", "Admin"}, {"--rights", "read"}} {
		p := ptywright(t, append([]string{"serve"}, args...)...)
		if _, code := p.Run(""); code != 2 || !strings.Contains(p.Stderr.String(), "rights") {
			t.Errorf("%v: exit %d, %s", args, code, p.Stderr)
		}
	}
}

// TestLoweredLink: what a link lowers before it hands its connection on stays lowered, and the
// first byte behind it is the next client's.
func TestLoweredLink(t *testing.T) {
	t.Parallel()
	l, path := readers(t)
	c := l.dial().sh("exec cat")
	dial := func(path string) net.Conn {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		conn.SetDeadline(time.Now().Add(hang))
		return conn
	}
	conn := dial(l.path)
	if err := daemon.Lower(conn, protocol.RightType, "relay", "web-3"); err != nil {
		t.Fatal(err)
	}
	far := &server{Client: client.New(conn), program: l.program, t: t, ctx: t.Context()}
	defer far.Close()
	far.call("session.input", obj{"session": c.ID, "action": obj{"type": "text", "value": "x"}}, nil)
	far.refused(client.CodeDenied, "forbidden", "session.kill", obj{"session": c.ID})
	far.refused(client.CodeDenied, "forbidden", "server.set_rights", obj{"rights": "admin"})

	if err := daemon.Lower(dial(path), protocol.RightType, "", ""); !errors.Is(err, client.ErrForbidden) {
		t.Errorf("on the socket for readers: %v", err)
	}
	near, ours := net.Pipe()
	go func() {
		bufio.NewReader(near).ReadString('\n')
		near.Close()
	}()
	if err := daemon.Lower(ours, protocol.RightType, "", ""); err == nil || !strings.Contains(err.Error(), "lower the rights") {
		t.Errorf("with a server that goes away: %v", err)
	}
}

// TestRightsOverMCP: clients are offered the tools that they may call, and refused what a tool may
// not do for them; nothing is started and no file written.
func TestRightsOverMCP(t *testing.T) {
	t.Parallel()
	for rights, want := range map[string]string{
		"read": "adapter read screenshot sessions wait", "type": "adapter read run screenshot send sessions wait",
		"admin": "adapter read record run screenshot send sessions start stop wait",
	} {
		t.Run(rights, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "s")
			socket, picture := filepath.Join(dir, "sock"), filepath.Join(t.TempDir(), "a.svg")
			p := ptywright(t, "serve", "--socket", socket, "--mcp-http", "127.0.0.1:0", "--rights", rights)
			p.Env = append(p.Env, "PTYWRIGHT_MCP_TOKEN=of-the-test")
			p.StartPiped()
			defer func() {
				_ = p.Process.Signal(syscall.SIGTERM)
				if code := exitCodeOf(t, p.Wait()); code != 0 {
					t.Errorf("exit code %d: %s", code, p.Stderr)
				}
			}()
			url := p.Stderr.Told(t, `http://[^ \n]+/mcp`)
			native, err := client.Dial(t.Context(), socket)
			if err != nil {
				t.Fatal(err)
			}
			defer native.Close()
			made, err := native.Spawn(t.Context(), client.Config{Program: "sh", Args: []string{"-c", "echo ready; exec cat"}})
			if err != nil {
				t.Fatal(err)
			}
			s := httpClient(t, url, "of-the-test")
			defer s.Close()
			var names []string
			for x, err := range s.Tools(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, x.Name)
			}
			if slices.Sort(names); strings.Join(names, " ") != want {
				t.Errorf("tools %v", names)
			}
			if r, _ := tool(t, s, "wait", obj{"session": made.ID, "text": "ready"}); r["matched"] != true {
				t.Errorf("wait: %v", r)
			}
			forbidden := func(name string, args obj) bool {
				_, r := tool(t, s, name, args)
				return r.IsError && strings.Contains(r.Content[0].(*sdk.TextContent).Text, "is forbidden")
			}
			for _, try := range []struct {
				name  string
				args  obj
				needs string
			}{
				{"screenshot", obj{"session": made.ID, "path": picture}, "admin"},
				{"adapter", obj{"action": "start", "plugin": "none"}, "admin"},
				{"adapter", obj{"action": "send", "session": made.ID}, "type"},
				{"adapter", obj{"action": "state", "session": made.ID}, "read"},
				{"read", obj{"session": made.ID, "raw": true}, "admin"},
				{"send", obj{"session": made.ID, "text": "x"}, "type"},
				{"run", obj{"command": "true", "shell": "none"}, "admin"},
			} {
				if !slices.Contains(names, try.name) {
					continue
				}
				has, err1 := protocol.ParseRights(rights)
				needs, err2 := protocol.ParseRights(try.needs)
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
				if got := forbidden(try.name, try.args); got == has.Covers(needs) {
					t.Errorf("%s %v: forbidden %v", try.name, try.args, got)
				}
			}
			if _, err := os.Stat(picture); (err == nil) != (rights == "admin") {
				t.Errorf("the picture: %v", err)
			}
		})
	}
}

// TestRightsOverUnterm: the same, of an instance, with the shell that it starts with.
func TestRightsOverUnterm(t *testing.T) {
	t.Parallel()
	for _, rights := range []string{"read", "type"} {
		s := startUnterm(t, "--rights", rights)
		c := s.client(t)
		c.call("session.list", nil)
		for method, needs := range map[string]string{
			"session.create": "admin", "session.destroy": "admin", "capture.screen": "admin", "policy.set": "admin",
			"workspace.save": "admin", "session.input": "type", "exec.cancel": "type",
		} {
			params := obj{"id": 0, "input": "", "name": "x"}
			if needs == "type" && rights == "type" {
				c.call(method, params)
			} else if why := c.refused(method, params); !strings.Contains(why, `it needs the right "`+needs+`"`) {
				t.Errorf("%s: %s", method, why)
			}
		}
		if why := c.refused("screen.text", obj{"id": 0, "redact": false}); !strings.Contains(why, `needs the right "admin"`) {
			t.Error(why)
		}
	}
}
