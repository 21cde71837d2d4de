//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

// TestACPSDK runs all five methods as an agent that is written with coder/acp-go-sdk would.
func TestACPSDK(t *testing.T) {
	t.Parallel()
	p := ptywright(t, "acp")
	in, out := p.StartPiped()
	gate, begin := gated(out)
	peer := sdk.NewAgentSideConnection(&scripted{}, in, gate)
	peer.SetLogger(slog.New(slog.DiscardHandler))
	begin()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	limit := 4
	created, err := peer.CreateTerminal(ctx, sdk.CreateTerminalRequest{
		SessionId: "S1", Command: "sh", Args: []string{"-c", "printf 'äöü'; sleep 300." + p.Mark}, OutputByteLimit: &limit,
	})
	if err != nil {
		t.Fatal(err)
	}
	output := func() sdk.TerminalOutputResponse {
		t.Helper()
		r, err := peer.TerminalOutput(ctx, sdk.TerminalOutputRequest{SessionId: "S1", TerminalId: created.TerminalId})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	poll(t, func() string {
		out := output().Output
		return unless(out == "öü", "output "+out)
	})
	if r := output(); !r.Truncated || r.ExitStatus != nil {
		t.Errorf("%+v, expected it truncated and running", r)
	}
	waited := make(chan sdk.WaitForTerminalExitResponse, 1)
	go func() {
		r, err := peer.WaitForTerminalExit(ctx, sdk.WaitForTerminalExitRequest{SessionId: "S1", TerminalId: created.TerminalId})
		if err != nil {
			t.Error(err)
		}
		waited <- r
	}()
	if _, err := peer.KillTerminal(ctx, sdk.KillTerminalRequest{SessionId: "S1", TerminalId: created.TerminalId}); err != nil {
		t.Fatal(err)
	}
	if r := <-waited; r.Signal == nil || *r.Signal != "SIGTERM" || r.ExitCode != nil {
		t.Errorf("waited: %+v", r)
	}
	if r := output(); r.ExitStatus == nil || r.ExitStatus.Signal == nil || *r.ExitStatus.Signal != "SIGTERM" {
		t.Errorf("exit status %+v", r.ExitStatus)
	}
	if _, err := peer.ReleaseTerminal(ctx, sdk.ReleaseTerminalRequest{SessionId: "S1", TerminalId: created.TerminalId}); err != nil {
		t.Fatal(err)
	}
	_, err = peer.TerminalOutput(ctx, sdk.TerminalOutputRequest{SessionId: "S1", TerminalId: created.TerminalId})
	if e, ok := err.(*sdk.RequestError); !ok || e.Code != -32002 {
		t.Errorf("output of a released terminal: %v", err)
	}
	in.Close()
	if code := exitCodeOf(t, p.Wait()); code != 0 {
		t.Errorf("exit code %d", code)
	}
	noneLeft(t, p.Mark)
}

// A proxiedAgent is an editor with the scripted agent behind the proxy.
type proxiedAgent struct {
	*editorPeer
	t   testing.TB
	p   *program
	in  io.WriteCloser
	ctx context.Context
}

func startProxied(t testing.TB, capabilities sdk.ClientCapabilities) *proxiedAgent {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return connectProxied(t, ptywright(t, "acp-proxy", "--", self, asAgent), capabilities)
}

func connectProxied(t testing.TB, p *program, capabilities sdk.ClientCapabilities) *proxiedAgent {
	t.Helper()
	in, out := p.StartPiped()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	t.Cleanup(cancel)
	a := &proxiedAgent{newEditorPeer(in, out), t, p, in, ctx}
	if _, err := a.Initialize(ctx, sdk.InitializeRequest{ProtocolVersion: 1, ClientCapabilities: capabilities}); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *proxiedAgent) session(dir string) {
	a.t.Helper()
	if _, err := a.NewSession(a.ctx, sdk.NewSessionRequest{Cwd: dir, McpServers: []sdk.McpServer{}}); err != nil {
		a.t.Fatal(err)
	}
}

func (a *proxiedAgent) prompt(text string) error {
	_, err := a.Prompt(a.ctx, sdk.PromptRequest{SessionId: "S1", Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}})
	return err
}

// until returns the updates up to the one that holds a text, as JSON.
func (a *proxiedAgent) until(text string) (all []string) {
	a.t.Helper()
	for {
		select {
		case u := <-a.updates:
			b, err := json.Marshal(u)
			if err != nil {
				a.t.Fatal(err)
			}
			all = append(all, string(b))
			if strings.Contains(string(b), text) {
				return all
			}
		case <-a.ctx.Done():
			a.t.Fatalf("no update with %s, but\n%s", text, strings.Join(all, "\n"))
		}
	}
}

func (a *proxiedAgent) end(code int) {
	a.t.Helper()
	a.in.Close()
	if got := exitCodeOf(a.t, a.p.Wait()); got != code {
		a.t.Errorf("exit code %d, expected %d; standard error %q", got, code, a.p.Stderr)
	}
	noneLeft(a.t, a.p.Mark)
}

// TestACPProxyShowsText has an editor without terminals see the agent's as text that grows.
func TestACPProxyShowsText(t *testing.T) {
	t.Parallel()
	path, say := fifo(t)
	dir := t.TempDir()
	a := startProxied(t, sdk.ClientCapabilities{})
	a.session(dir)
	done := make(chan error, 1)
	go func() {
		done <- a.prompt("run pwd; echo 'one ```'; echo GITHUB_TOKEN=ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R; read x <'" + path + "'; echo two; exit 3")
	}()
	shown := a.until("REDACTED")
	say("go")
	shown = append(shown, a.until("exit 3, output")...)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	all := strings.Join(shown, "\n")
	first, last, calls := shown[0], "", 0
	for _, s := range shown {
		if strings.Contains(s, `"tool_call_update"`) && strings.Contains(s, `"content"`) {
			last = s
			calls++
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(first, `"sessionUpdate":"tool_call"`) || strings.Contains(all, `"terminalId"`) || strings.Contains(all, "ghp_") {
		t.Errorf("the editor was shown\n%s", all)
	}
	for _, want := range []string{real, "````", "one ```", "two", "exit code 3"} {
		if !strings.Contains(last, want) {
			t.Errorf("the last of %d updates lacks %q: %s", calls, want, last)
		}
	}
	if answer := shown[len(shown)-1]; !strings.Contains(answer, `\"`+real+`\none`) && !strings.Contains(answer, real) {
		t.Errorf("the agent read %s", answer)
	}
	a.end(0)
}

// TestACPProxyShowsTerminals has an editor that knows the extension see a terminal: told of,
// written to, ended.
func TestACPProxyShowsTerminals(t *testing.T) {
	t.Parallel()
	a := startProxied(t, sdk.ClientCapabilities{Meta: map[string]any{"terminal_output": true}})
	a.session(t.TempDir())
	if err := a.prompt(`run printf '\033[1mbold\033[m\n'; echo GITHUB_TOKEN=ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R`); err != nil {
		t.Fatal(err)
	}
	shown := a.until("output \\")
	all := strings.Join(shown, "\n")
	at := 0
	for _, want := range []string{`"terminal_info":{`, `"terminal_output":{`, `\u001b[1mbold\u001b[m\r\n`, `[REDACTED]`, `"terminal_exit":{"exit_code":0,`, `"completed"`} {
		i := strings.Index(all[at:], want)
		if i < 0 {
			t.Fatalf("no %s in its place in\n%s", want, all)
		}
		at += i
	}
	if !strings.Contains(shown[0], `"type":"terminal"`) || strings.Contains(all, "ghp_") {
		t.Errorf("the editor was shown\n%s", all)
	}
	a.end(0)
}

// startStubborn starts all three, and a terminal that does not want to end.
func startStubborn(t testing.TB) *proxiedAgent {
	t.Helper()
	a := startProxied(t, sdk.ClientCapabilities{})
	a.session(t.TempDir())
	if err := a.prompt("start trap : HUP TERM; echo ready; sleep 300." + a.p.Mark + " & wait; sleep 301." + a.p.Mark); err != nil {
		t.Fatal(err)
	}
	a.until("ready")
	return a
}

// TestACPProxyLeavesNothing ends one of the three, with a terminal running that does not want to
// end.
func TestACPProxyLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"the editor", "the agent", "the proxy"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			a := startStubborn(t)
			switch how {
			case "the editor":
				a.end(0)
			case "the agent":
				if err := a.prompt("die"); err == nil {
					t.Error("the prompt of an agent that died was answered")
				}
				a.end(9)
			case "the proxy":
				if err := a.p.Process.Signal(syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
				a.end(0)
			}
		})
	}
}

// TestACPProxyPassesBytes has cat for an agent: what the editor says comes back as the agent was
// told it.
func TestACPProxyPassesBytes(t *testing.T) {
	t.Parallel()
	need(t, "cat", "coreutils")
	huge := `{"jsonrpc":"2.0","method":"x","params":"` + strings.Repeat("é", 20<<20) + `"}`
	same := []string{
		`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","x":1.0e2}}`, "", "not JSON", " { } ", "[1,2", `{"id":7,"id":8,"method":"initialize"}`,
		"\xff\xfe{}", `{"jsonrpc":"2.0","id":null,"result":{"sessionId":"é😀"}}` + "\r", "null", `{"method":5,"id":1}`, `{"id":0,"method":"session/update","params":[]}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S","update":{"sessionUpdate":"tool_call","toolCallId":"c","content":[{"type":"terminal","terminalId":"c"}]}}}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}`, `{"jsonrpc":"2.0","id":5,"method":"terminal/unknown","params":{}}`,
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"capabilities":{}}}`,
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{ "terminal" : true }}}`, huge,
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":[1]}`, `{"jsonrpc":"2.0","id":0,"method":"initialize"}`,
	}
	changed := [][2]string{
		{`{"id":0,"method":"initialize","params":{ "protocolVersion":1}}`, `{"id":0,"method":"initialize","params":{"clientCapabilities":{"terminal":true}, "protocolVersion":1}}`},
		{`{"id":0,"method":"initialize","params":{"clientCapabilities":{"fs":{}, "terminal" : false ,"x":1}, "protocolVersion":1}}`,
			`{"id":0,"method":"initialize","params":{"clientCapabilities":{"fs":{}, "terminal" : true ,"x":1}, "protocolVersion":1}}`},
		{`{"id":0,"method":"initialize","params":{"clientCapabilities":{}}}`, `{"id":0,"method":"initialize","params":{"clientCapabilities":{"terminal":true}}}`},
		{`{"id":0,"method":"initialize","params":{"clientCapabilities":null}}`, `{"id":0,"method":"initialize","params":{"clientCapabilities":{"terminal":true}}}`},
		{`{"id":0,"method":"initi\u0061lize","params":{}}`, `{"id":0,"method":"initi\u0061lize","params":{"clientCapabilities":{"terminal":true}}}`},
	}
	var input, want []string
	for _, s := range same {
		input, want = append(input, s), append(want, s)
	}
	for _, c := range changed {
		input, want = append(input, c[0]), append(want, c[1])
	}
	p := ptywright(t, "acp-proxy", "cat")
	out, code := p.Run(strings.Join(input, "\n") + "\nan end without LF")
	if code != 0 {
		t.Errorf("exit code %d, standard error %q", code, p.Stderr)
	}
	got := strings.Split(out, "\n")
	for i, w := range append(want, "an end without LF") {
		if i >= len(got) {
			t.Fatalf("%d lines, line %d is missing: %.100q", len(got), i, w)
		}
		if got[i] != w {
			t.Errorf("line %d: %.200q, expected %.200q", i, got[i], w)
		}
	}
	noneLeft(t, p.Mark)
}

// TestACPProxyServesTheAgent has a shell for an agent, which speaks while the editor does: requests
// of both with equal ids.
func TestACPProxyServesTheAgent(t *testing.T) {
	t.Parallel()
	script := `
echo '{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"path":"/x"}}'
echo '{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"sessionId":"S","command":"echo","args":["hi"]}}'
read a; read b
echo "{\"got\":$a}"; echo "{\"got\":$b}"
echo '{"jsonrpc":"2.0","id":2,"method":"terminal/wait_for_exit","params":{"sessionId":"S","terminalId":"ptywright-s1"}}'
read c; echo "{\"got\":$c}"
echo '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}'
echo '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":3}}'
sleep 300.$0 >/dev/null &
exec echo end`
	p := ptywright(t, "acp-proxy", "sh", "-c", script)
	p.Args = append(p.Args, p.Mark)
	in, out := p.StartPiped()
	lines := bufio.NewScanner(out)
	next := func() string {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("no line: %v, standard error %q", lines.Err(), p.Stderr)
		}
		return lines.Text()
	}
	if l := next(); !strings.Contains(l, "fs/read_text_file") {
		t.Errorf("the editor was asked %s", l)
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"result":{"content":"file"}}`)
	both := next() + next()
	if !strings.Contains(both, `"content":"file"`) || !strings.Contains(both, `"terminalId":"ptywright-s1"`) {
		t.Errorf("the agent got %s", both)
	}
	if l := next(); l != `{"got":{"jsonrpc":"2.0","id":2,"result":{"exitCode":0,"signal":null}}}` {
		t.Errorf("the agent got %s", l)
	}
	if l := next(); !strings.Contains(l, `"requestId":3`) {
		t.Errorf("the editor got %s", l)
	}
	if l := next(); l != "end" {
		t.Errorf("the editor got %s", l)
	}
	if lines.Scan() {
		t.Errorf("and then %s", lines.Text())
	}
	if code := exitCodeOf(t, p.Wait()); code != 0 {
		t.Errorf("exit code %d", code)
	}
	noneLeft(t, p.Mark)
}

// TestZedExample starts the command of examples/zed, with the scripted agent under the agent's
// name.
func TestZedExample(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "examples", "zed", "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "acp.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```json\n"+string(text)+"```") {
		t.Error("docs/acp.md shows another configuration than examples/zed")
	}
	var settings struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"agent_servers"`
	}
	if err := json.Unmarshal(text, &settings); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	agent := fmt.Sprintf("#!/bin/sh\n[ \"$*\" = --acp ] && exec '%s' %s\n", self, asAgent)
	if err := os.WriteFile(filepath.Join(bin, "gemini"), []byte(agent), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, s := range settings.Servers {
		if s.Command != "ptywright" {
			t.Fatalf("%s starts %s", name, s.Command)
		}
		a := connectProxied(t, ptywright(t, s.Args...), sdk.ClientCapabilities{})
		a.session(t.TempDir())
		if err := a.prompt("run echo from the example"); err != nil {
			t.Fatal(err)
		}
		a.until("output ")
		a.end(0)
	}
}

func TestACPProxyWithoutAnAgent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agent string
		code  int
	}{{"/no/such/agent", cli.ExitNotFound}, {"no-such-agent", cli.ExitNotFound}, {"/", cli.ExitNotExecutable}} {
		p := ptywright(t, "acp-proxy", c.agent)
		if out, code := p.Run(""); code != c.code || out != "" || !bytes.Contains([]byte(p.Stderr.String()), []byte("start the agent")) {
			t.Errorf("%s: exit code %d, output %q, standard error %q", c.agent, code, out, p.Stderr)
		}
	}
}

// TestACPProxyEndsAStubbornAgent has an agent that neither the end of its input nor SIGTERM ends.
func TestACPProxyEndsAStubbornAgent(t *testing.T) {
	t.Parallel()
	p := ptywright(t, "acp-proxy", "--", "sh", "-c", `trap "" TERM HUP; echo ready; sleep 300.$0; sleep 301.$0`)
	p.Args = append(p.Args, p.Mark)
	_, out := p.StartPiped()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := exitCodeOf(t, p.Wait()); code != 0 {
		t.Errorf("exit code %d, standard error %q", code, p.Stderr)
	}
	noneLeft(t, p.Mark)
}
