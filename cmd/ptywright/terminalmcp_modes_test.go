//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/protocol/client"
)

// A person's terminal is shared: who sits there and an assistant in client mode see and type into
// the same shell.
func TestTerminalMCPShared(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	link, socket := filepath.Join(home, "terminal-mcp"), filepath.Join(home, "s")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for _, kv := range plainShell(home) {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	person := start(t)
	term := person.with(client.Config{Program: link, Args: []string{"--socket", socket, "--record"}, Env: env})
	term.wait(client.Regexp(`(?m)^\$ ?$`))

	s := startTerminal(t, asTerminalMCP(t, home, "--socket", socket), home)
	if b, _ := json.Marshal(s.hi["capabilities"]); string(b) != `{"tools":{}}` {
		t.Errorf("capabilities are %s", b)
	}
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(s.ask("tools/list", nil).Result, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range list.Tools {
		names = append(names, x.Name)
	}
	if want := []string{"type", "sendKey", "getContent", "takeScreenshot", "startRecording", "stopRecording"}; !slices.Equal(names, want) {
		t.Errorf("tools are %v, want %v", names, want)
	}
	s.enter("echo from $((1+1)) the assistant")
	s.until(`(?m)^from 2 the assistant$`, "")
	term.wait(client.Regexp(`(?m)^from 2 the assistant$`))
	term.text("echo from $((2+1)) the person\r")
	term.wait(client.Regexp(`(?m)^from 3 the person$`))
	s.until(`(?m)^from 3 the person$`, "")
	term.text("stty size; echo $TERMINAL_MCP\r")
	s.until(`(?m)^24 80\n1$`, "")
	s.refused("Error: Unknown method: createSession", "createSession", nil)
	s.refused(`Error: Unknown key: "x". Available keys include: `+keyList, "sendKey", args{"key": "x"})
	if r := s.tool("startRecording", nil); r.failed() != "true" || !strings.Contains(r.Content[0].Text, "A recording is already in progress") {
		t.Errorf("%+v", r)
	}
	if r := s.tool("takeScreenshot", args{"format": "png"}); r.Content[0].Type != "image" {
		t.Errorf("%+v", r)
	}
	if got := s.ask("prompts/list", nil); got.Error == nil || got.Error.Code != -32601 || got.Error.Message != "Method not found" {
		t.Errorf("prompts/list: %+v", got)
	}

	// What a program asks its terminal is answered once, by the person's.
	term.text("stty raw -echo; printf '\\033[H\\033[2J\\033[6n'; head -c 6 | cat -v; stty sane; echo; echo $((40+2))\r")
	term.wait(client.Regexp(`(?m)^42$`))
	s.enter("echo $((40+3))")
	if got := s.until(`(?m)^43$`, ""); strings.Count(got, ";1R") != 1 {
		t.Errorf("the question was answered %d times: %q", strings.Count(got, ";1R"), got)
	}

	term.text("exit 3\r")
	shown := term.wait(client.Regexp(`Play with`)).Screen.PlainText
	if !strings.Contains(shown, "[terminal-mcp] Shell exited with code 3") || !strings.Contains(shown, "Recordings saved:") {
		t.Errorf("%q", shown)
	}
	casts, err := filepath.Glob(filepath.Join(home, ".local/state/terminal-mcp/recordings/*.cast"))
	if err != nil || len(casts) != 1 {
		t.Fatalf("%v, %v", casts, err)
	}
	if m := readMeta(t, casts[0]); m.ExitCode == nil || *m.ExitCode != 3 || m.StopReason != "session_exit" {
		t.Errorf("%+v", m)
	}
	if b, _ := os.ReadFile(casts[0]); !strings.Contains(string(b), `"SHELL":"/bin/sh"`) {
		t.Errorf("%.200s", b)
	}
	// The assistant's end hears of it.
	if b, err := io.ReadAll(s.out); err != nil || len(b) != 0 {
		t.Errorf("%q, %v", b, err)
	}
	s.end(1)
	if got := s.p.Stderr.String(); got != "Socket closed\n" {
		t.Errorf("standard error is %q", got)
	}
}

// TestTerminalMCPSocketCloses: a socket that closes together with the input is a proper end, and
// alone it is a failure.
func TestTerminalMCPSocketCloses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		both bool
		code int
	}{{"alone", false, 1}, {"with the input", true, 0}} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			socket := filepath.Join(home, "s")
			l, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			conns := make(chan net.Conn, 1)
			go func() {
				if conn, err := l.Accept(); err == nil {
					conns <- conn
				}
			}()
			s := startTerminal(t, asTerminalMCP(t, home, "--socket", socket), home)
			conn := <-conns
			conn.Close()
			if !c.both {
				io.ReadAll(s.out) // closed when the process has ended
			}
			s.end(c.code)
			if got, want := s.p.Stderr.String(), map[bool]string{true: "", false: "Socket closed\n"}[c.both]; got != want {
				t.Errorf("standard error is %q, want %q", got, want)
			}
		})
	}
}

func TestTerminalMCPNobodyShares(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	socket := filepath.Join(home, "s")
	p := asTerminalMCP(t, home, "--socket", socket)
	if _, code := p.Run(""); code != 1 || !strings.Contains(p.Stderr.String(), "No tmcp session found at "+socket+".\n") {
		t.Errorf("code %d: %s", code, p.Stderr)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	p = asTerminalMCP(t, home, "--socket", socket)
	if _, code := p.Run(""); code != 1 || !strings.Contains(p.Stderr.String(), "Connection refused to "+socket+".\n") {
		t.Errorf("code %d: %s", code, p.Stderr)
	}
}

func TestTerminalMCPCommandLine(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, c := range []struct {
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{[]string{"--version"}, 0, "terminal-mcp v0.5.1", ""},
		{[]string{"-v"}, 0, "terminal-mcp v", ""},
		{[]string{"--help"}, 0, "--headless", ""},
		{[]string{"--nope"}, 2, "", "unknown flag --nope"},
		{[]string{"--headless", "--cols", "0x"}, 2, "", "cols"},
		{[]string{"--headless", "--cols", "2000"}, 2, "", "--cols is 2000"},
		{[]string{"--headless", "--shell", "/nonexistent/shell"}, 1, "", "start the default session"},
		{[]string{"--headless", "--record", "always", "--record-dir", "x", "--sandbox", "--sandbox-config", "y", "--idle-time-limit=5", "--session-idle-timeout", "0"}, 0, "", ""},
	} {
		p := asTerminalMCP(t, home, c.args...)
		out, code := p.Run("")
		if code != c.code || !strings.Contains(out, c.stdout) || !strings.Contains(p.Stderr.String(), c.stderr) {
			t.Errorf("%v: code %d, output %q, standard error %q", c.args, code, out, p.Stderr)
		}
	}
	for _, args := range [][]string{{"--headless"}, nil} {
		p := asTerminalMCP(t, home, args...)
		p.Env = append(p.Env, "TERMINAL_MCP=1")
		if _, code := p.Run(""); code != 1 || !strings.Contains(p.Stderr.String(), "cannot be run from within itself") {
			t.Errorf("nested: code %d: %s", code, p.Stderr)
		}
	}
	p := ptywright(t, "mcp", "--profile", "terminal-mcp", "--cols", "33", "--rows", "7", "--shell", "/bin/sh", "--max-sessions", "2")
	p.Env = append(p.Env, plainShell(home)...)
	s := startTerminal(t, p, home)
	defer s.end(0)
	s.enter("stty size")
	s.until(`(?m)^7 33$`, "")
	s.text("createSession", nil)
	s.refused("Error: Maximum session limit reached (2). Destroy an existing session or raise --max-sessions.", "createSession", nil)
}

// TestTerminalMCPDrains: five megabytes of answers that wait are delivered after the input has
// ended.
func TestTerminalMCPDrains(t *testing.T) {
	t.Parallel()
	s := headless(t, "--cols", "1000", "--rows", "100")
	s.enter(`clear; yes $(printf %900s x | tr ' ' y) | head -99; echo; echo done`)
	s.until(`(?m)^done$`, "")
	const n = 60
	for range n {
		s.last++
		b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.last, "method": "tools/call", "params": map[string]any{"name": "getContent", "arguments": args{"visibleOnly": true}}})
		s.line(string(b))
	}
	s.in.Close()
	total := 0
	for i := range n {
		a := s.next()
		if a.ID != float64(s.last-n+1+i) {
			t.Fatalf("answer %d has the id %v", i, a.ID)
		}
		total += len(a.Result)
	}
	if total < 5<<20 {
		t.Errorf("only %d bytes", total)
	}
	s.end(0)
}

// TestTerminalMCPIdle: a session that nobody uses is ended, the default one and one that is used
// are not.
func TestTerminalMCPIdle(t *testing.T) {
	t.Parallel()
	s := headless(t, "--session-idle-timeout", "0.3")
	var idle sessionText
	s.decode(&idle, "createSession", nil)
	poll(t, func() string {
		var list struct {
			Sessions           []sessionText
			SessionIdleTimeout float64
		}
		s.decode(&list, "listSessions", nil)
		if list.SessionIdleTimeout != 0.3 {
			t.Fatalf("%+v", list)
		}
		if len(list.Sessions) == 1 && list.Sessions[0].IsDefault {
			return ""
		}
		return fmt.Sprintf("%+v", list)
	})
	s.refused("Error: Session '"+idle.SessionID+"' not found", "getContent", args{"sessionId": idle.SessionID})
	s.until(`\$`, "")
}

// TestTerminalMCPReachesNativeSessions is case X03: what the native dialect starts is listed and
// reached by its own name, and what Terminal MCP starts is a session of the native dialect.
func TestTerminalMCPReachesNativeSessions(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := ptywright(t, "serve", "--stdio", "--mcp-http", "127.0.0.1:0", "--profile", "terminal-mcp")
	p.Env = append(append(p.Env, plainShell(home)...), "PTYWRIGHT_MCP_TOKEN=a-token-of-this-test")
	s := launch(t, p)
	t.Cleanup(func() { s.end(0, "serving MCP") })
	native := s.sh("echo native; read x; echo got $x")
	native.wait(client.Regexp(`(?m)^native$`))
	if n := len(s.list()); n != 2 { // the default session is the other
		t.Errorf("%d sessions", n)
	}
	address := p.Stderr.Told(t, `(http://\S+)\s`)
	c := sdkConnect(t, &sdk.StreamableClientTransport{
		Endpoint: address, DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: bearer("a-token-of-this-test")},
	})
	id := string(native.ID)
	if got := c.text("getContent", args{"sessionId": id}); got != "native" {
		t.Errorf("%q", got)
	}
	c.text("type", args{"sessionId": id, "text": "word\r"})
	native.wait(client.Regexp(`(?m)^got word$`))
	var list struct{ Sessions []sessionText }
	decodeText(t, c.text("listSessions", args{}), &list)
	if len(list.Sessions) < 1 || !list.Sessions[0].IsDefault {
		t.Errorf("%+v", list)
	}
	if err := c.session.Close(); err != nil {
		t.Error(err)
	}
}
