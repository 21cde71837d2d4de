//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A lineClient speaks MCP to the binary line by line, and sees all that comes.
type lineClient struct {
	t   testing.TB
	in  io.WriteCloser
	out *bufio.Reader
	p   *program

	dead func() // closes what it reads from
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int
		Message string
		Data    map[string]any
	} `json:"error"`
}

func startMCP(t testing.TB, flags ...string) *lineClient {
	t.Helper()
	p := ptywright(t, append([]string{"mcp"}, flags...)...)
	in, out := p.StartPiped()
	return &lineClient{t: t, in: in, out: bufio.NewReader(out), p: p, dead: func() { out.Close() }}
}

func (c *lineClient) send(lines ...string) {
	c.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(c.in, l+"\n"); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *lineClient) next() message {
	c.t.Helper()
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		c.t.Fatalf("no message: %v; stderr: %s", err, c.p.Stderr)
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		c.t.Fatalf("%v in %s", err, line)
	}
	return m
}

// answer returns the answer to an id; what comes before it is passed over.
func (c *lineClient) answer(id string) message {
	c.t.Helper()
	for {
		if m := c.next(); string(m.ID) == id && m.Method == "" {
			return m
		}
	}
}

func (c *lineClient) initialize(version string) message {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c.answer(`"init"`)
}

// modern is a request of the stateless era.
func modern(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}%s}}`, id, method, params)
}

func call(id, tool, args string) string {
	return modern(id, "tools/call", fmt.Sprintf(`,"name":%q,"arguments":%s`, tool, args))
}

// end closes the input and waits for a proper end.
func (c *lineClient) end() {
	c.t.Helper()
	c.in.Close()
	if _, err := io.Copy(io.Discard, c.out); err != nil {
		c.t.Error(err)
	}
	if code := exitCodeOf(c.t, c.p.Wait()); code != 0 {
		c.t.Errorf("exit code %d; stderr: %s", code, c.p.Stderr)
	}
}

// TestMCPErasOnOneProcess: discovery, both eras on one connection, versions that are not spoken
// (M01, M02, M03).
func TestMCPErasOnOneProcess(t *testing.T) {
	t.Parallel()
	c := startMCP(t)
	c.send(modern("1", "server/discover", ""))
	var discovered struct {
		ResultType        string   `json:"resultType"`
		SupportedVersions []string `json:"supportedVersions"`
		TTL               *int     `json:"ttlMs"`
		Scope             string   `json:"cacheScope"`
	}
	unmarshal(t, c.answer("1").Result, &discovered)
	if discovered.ResultType != "complete" || !slices.Contains(discovered.SupportedVersions, "2026-07-28") || !slices.Contains(discovered.SupportedVersions, "2025-11-25") {
		t.Errorf("server/discover: %+v", discovered)
	}
	var lists [2]string
	for i := range lists {
		c.send(modern("2", "tools/list", ""))
		var r struct {
			Tools []struct{ Name string }
			TTL   *int   `json:"ttlMs"`
			Scope string `json:"cacheScope"`
		}
		unmarshal(t, c.answer("2").Result, &r)
		if r.TTL == nil || r.Scope == "" || len(r.Tools) != 10 {
			t.Errorf("tools/list: %+v", r)
		}
		lists[i] = fmt.Sprint(r.Tools)
	}
	if lists[0] != lists[1] {
		t.Errorf("tools/list changes its order: %v", lists)
	}
	for _, method := range []string{"server/discover", "tools/list"} {
		c.send(strings.Replace(modern("3", method, ""), "2026-07-28", "1900-01-01", 1))
		if m := c.answer("3"); m.Error == nil || m.Error.Code != -32022 || m.Error.Data["supported"] == nil || m.Error.Data["requested"] != "1900-01-01" {
			t.Errorf("%s of version 1900-01-01: %+v", method, m.Error)
		}
	}
	if m := c.initialize("2025-06-18"); !strings.Contains(string(m.Result), `"protocolVersion":"2025-06-18"`) {
		t.Errorf("initialize: %s", m.Result)
	}
	c.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"sessions"}}`, modern("5", "tools/call", `,"name":"sessions"`))
	for _, id := range []string{"4", "5"} {
		if m := c.answer(id); m.Error != nil {
			t.Errorf("tools/call %s: %+v", id, m.Error)
		}
	}
	c.end()
}

// TestMCPBadLines: each is answered and the session goes on (M08).
func TestMCPBadLines(t *testing.T) {
	t.Parallel()
	c := startMCP(t)
	for _, x := range []struct {
		line string
		code int
		id   string // of the answer, where whoever asked can be told; else null
	}{
		{"{nope", -32700, "null"},
		{"\xff\xfe", -32700, "null"},
		{"\ufeff{}", -32700, "null"},
		{`{} {}`, -32700, "null"},
		{`5`, -32600, "null"},
		{`{}`, -32600, "null"},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, -32600, "1"},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, "null"},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, "null"},
		{`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, -32600, "2"},
		{`{"jsonrpc":"2.0","id":1,"method":7}`, -32600, "null"},
		{`[]`, -32600, "null"},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, "null"},
		{`{"jsonrpc":"2.0","id":9,"pad":"` + strings.Repeat("x", 16<<20) + `"}`, -32700, "null"},
	} {
		c.send("", "  \r", x.line)
		if m := c.next(); m.Error == nil || m.Error.Code != x.code || string(m.ID) != x.id {
			t.Errorf("%.60q: %+v id %s, want %d id %s", x.line, m.Error, m.ID, x.code, x.id)
		}
	}
	for _, x := range []struct {
		line string
		code int
	}{
		{`{"jsonrpc":"2.0","id":"a","method":"tools/list"}`, -32600}, // before initialize
		{modern(`"a"`, "no.such", ""), -32601},
		{call(`"a"`, "no_such_tool", "{}"), -32602}, // X01
		{modern(`"a"`, "resources/read", `,"uri":"ptywright://sessions/s9/screen"`), -32602},
		{modern(`"a"`, "tasks/get", `,"taskId":"x"`), -32021},
	} {
		c.send(x.line)
		if m := c.answer(`"a"`); m.Error == nil || m.Error.Code != x.code {
			t.Errorf("%.80s: %+v, want %d", x.line, m.Error, x.code)
		}
	}
	c.end()
}

// TestMCPBatches: where the era has them, they are run.
func TestMCPBatches(t *testing.T) {
	t.Parallel()
	c := startMCP(t)
	c.initialize("2025-03-26")
	c.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"x":1},{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"sessions"}}]`)
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var all []message
	unmarshal(t, line, &all)
	var ids []string
	for _, m := range all {
		ids = append(ids, string(m.ID))
	}
	slices.Sort(ids)
	if fmt.Sprint(ids) != `["b" 1 null]` {
		t.Errorf("answers of the batch: %v", ids)
	}
	c.end()
}

// TestMCPCancel: a wait that is cancelled is not answered, and its session lives (M05).
func TestMCPCancel(t *testing.T) {
	t.Parallel()
	c := startMCP(t)
	c.send(call("1", "start", `{"program":"cat","wait_for":{"matcher":{"type":"not","value":{"type":"bell"}}}}`))
	c.answer("1")
	c.send(call("2", "wait", `{"session":"s1","text":"never","timeout_ms":40000}`),
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`,
		call("3", "send", `{"session":"s1","text":"alive","wait_for":{"text":"alive"}}`))
	for {
		m := c.next()
		if string(m.ID) == "2" {
			t.Fatalf("the cancelled wait was answered: %s", m.Result)
		}
		if string(m.ID) == "3" {
			if !strings.Contains(string(m.Result), `"matched":true`) {
				t.Errorf("send after the cancelled wait: %s", m.Result)
			}
			break
		}
	}
	c.end()
}

// TestMCPEndOfInput: all that was read is answered, five megabytes of it, the children are gone,
// the exit code is 0 (M09).
func TestMCPEndOfInput(t *testing.T) {
	t.Parallel()
	c := startMCP(t)
	c.send(call("1", "start", `{"program":"sh","args":["-c","yes the quick brown fox jumps over the lazy dog and then over the next one | head -n 3000; echo whole; sleep 1000"],"wait_for":{"text":"whole"}}`))
	c.answer("1")
	const reads = 14
	for i := range reads {
		c.send(call(fmt.Sprint(100+i), "read", `{"session":"s1","what":"scrollback","start":0,"count":2700,"max_chars":200000}`))
	}
	c.send(call("900", "wait", `{"session":"s1","text":"never","timeout_ms":500}`))
	c.in.Close()
	total, answers := 0, 0
	for {
		line, err := c.out.ReadBytes('\n')
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		total += len(line)
		answers++
	}
	if answers != reads+1 || total < 5_000_000 {
		t.Errorf("%d answers of %d bytes, want %d of over 5 MB", answers, total, reads+1)
	}
	if code := exitCodeOf(t, c.p.Wait()); code != 0 {
		t.Errorf("exit code %d: %s", code, c.p.Stderr)
	}
}

// TestMCPTerminated: what waits is answered at SIGTERM.
func TestMCPTerminated(t *testing.T) {
	t.Parallel()
	c := startMCP(t)
	c.send(call("1", "start", `{"program":"cat","wait_for":{"matcher":{"type":"not","value":{"type":"bell"}}}}`))
	c.answer("1")
	c.send(call("2", "wait", `{"session":"s1","text":"never","timeout_ms":40000}`), call("3", "sessions", `{}`))
	c.answer("3")
	if err := c.p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if m := c.answer("2"); !strings.Contains(string(m.Result), `"reason":"cancelled"`) {
		t.Errorf("the wait: %s", m.Result)
	}
	c.end()
}

// TestMCPClientThatDies: a wait that nobody will hear the end of ends at once, and everything with
// it.
func TestMCPClientThatDies(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells that the reader of a pipe is gone")
	}
	c := startMCP(t)
	c.send(call("1", "start", `{"program":"cat","wait_for":{"matcher":{"type":"not","value":{"type":"bell"}}}}`))
	c.answer("1")
	c.send(call("2", "wait", `{"session":"s1","text":"never","timeout_ms":45000}`), call("3", "sessions", `{}`))
	c.answer("3")
	begin := time.Now()
	c.in.Close()
	c.dead()
	if err := c.p.Wait(); exitCodeOf(t, err) != 0 {
		t.Errorf("%v: %s", err, c.p.Stderr)
	}
	if took := time.Since(begin); took > 40*time.Second { // it waited for the wait
		t.Errorf("it took %v", took)
	}
}

// TestMCPSoak: connections and sessions come and go, waits are cancelled, and nothing is left.
func TestMCPSoak(t *testing.T) {
	t.Parallel()
	p := ptywright(t, "mcp", "--http", "127.0.0.1:0")
	p.Env = append(p.Env, "PTYWRIGHT_MCP_TOKEN=of-the-soak")
	stderr := p.Stderr
	p.StartPiped()
	url := stderr.Told(t, `http://[^ \n]+/mcp`)
	together(times(40, 2000), func(i int) {
		s := httpClient(t, url, "of-the-soak")
		defer s.Close()
		out, _ := tool(t, s, "start", map[string]any{"program": "sh", "args": []string{"-c", "echo up; exec cat"}, "wait_for": map[string]any{"text": "up"}})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if r, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "wait", Arguments: map[string]any{"session": out["session"], "text": "never"}}); err == nil {
			t.Errorf("a cancelled wait is answered: %s", textOf(r))
		}
		tool(t, s, "send", map[string]any{"session": out["session"], "text": fmt.Sprint("n", i), "submit": true})
		tool(t, s, "stop", map[string]any{"session": out["session"]})
	})
	s := httpClient(t, url, "of-the-soak")
	if out, _ := tool(t, s, "sessions", map[string]any{}); len(out["sessions"].([]any)) != 0 {
		t.Errorf("left: %v", out)
	}
	s.Close()
	_ = p.Process.Signal(syscall.SIGTERM)
	if code := exitCodeOf(t, p.Wait()); code != 0 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	noneLeft(t, p.Mark)
}

// goClient connects the SDK's own client to the binary.
func goClient(t testing.TB, o *sdk.ClientOptions, flags ...string) *sdk.ClientSession {
	t.Helper()
	p := ptywright(t, append([]string{"mcp"}, flags...)...)
	p.Env = append(p.Env, "HOME="+t.TempDir()) // its shells' start-up files are nobody's
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), &sdk.CommandTransport{Command: p.Cmd}, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, p.Stderr)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// tool calls a tool, and holds what it says against its schema (M07).
func tool(t testing.TB, s *sdk.ClientSession, name string, args any) (map[string]any, *sdk.CallToolResult) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if r.IsError {
		return nil, r
	}
	for x, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if x.Name != name {
			continue
		}
		text, err := json.Marshal(x.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema jsonschema.Schema
		unmarshal(t, text, &schema)
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(r.StructuredContent); err != nil {
			t.Errorf("%s: structuredContent does not keep to outputSchema: %v\n%v", name, err, r.StructuredContent)
		}
	}
	out, _ := r.StructuredContent.(map[string]any)
	return out, r
}

func textOf(r *sdk.CallToolResult) string {
	for _, c := range r.Content {
		if x, ok := c.(*sdk.TextContent); ok {
			return x.Text
		}
	}
	return ""
}

// TestMCPGoClient drives a REPL, vim, a recording and a picture with the SDK's client.
func TestMCPGoClient(t *testing.T) {
	t.Parallel()
	need(t, "python3", "python3")
	need(t, "vim", "vim")
	s := goClient(t, nil)
	dir := t.TempDir()

	started, _ := tool(t, s, "start", map[string]any{"program": "python3", "args": []string{"-q"}})
	repl := started["session"]
	cast := filepath.Join(dir, "repl.cast")
	tool(t, s, "record", map[string]any{"action": "start", "session": repl, "path": cast})
	sent, _ := tool(t, s, "send", map[string]any{"session": repl, "text": "6*7", "submit": true, "wait_for": map[string]any{"regex": `(?m)^42$`}})
	if sent["submitted"] != true || sent["echoed"] != true || sent["outcome"].(map[string]any)["matched"] != true {
		t.Errorf("6*7: %v", sent)
	}
	timeout, r := tool(t, s, "wait", map[string]any{"session": repl, "text": "no such text", "timeout_ms": 10})
	if timeout["matched"] != false || timeout["reason"] != "timeout" || timeout["wait"] == nil || timeout["missing"] == nil {
		t.Errorf("a wait that ran out of time: %v", timeout)
	}
	if !strings.Contains(textOf(r), `wait {"wait":"w1"}`) {
		t.Errorf("no way on in %q", textOf(r))
	}
	if again, _ := tool(t, s, "wait", map[string]any{"wait": timeout["wait"], "timeout_ms": 10}); again["session"] != repl || again["elapsed_ms"].(float64) < 20 {
		t.Errorf("a wait that is gone on with: %v", again)
	}
	stopped, _ := tool(t, s, "record", map[string]any{"action": "stop", "session": repl})
	if state := stopped["recordings"].([]any)[0].(map[string]any)["state"]; state != "done" {
		t.Errorf("recording: %v", stopped)
	}
	if text, err := os.ReadFile(cast); err != nil || !strings.Contains(string(text), "42") {
		t.Errorf("the recording: %v %s", err, text)
	}
	_, shot := tool(t, s, "screenshot", map[string]any{"session": repl})
	if image, ok := shot.Content[len(shot.Content)-1].(*sdk.ImageContent); !ok || image.MIMEType != "image/png" || !strings.HasPrefix(string(image.Data), "\x89PNG") {
		t.Errorf("the picture: %T", shot.Content[len(shot.Content)-1])
	}
	changes, _ := tool(t, s, "read", map[string]any{"session": repl, "what": "changes", "since": started["sequence"]})
	if !strings.Contains(changes["text"].(string), "42") || strings.Contains(changes["text"].(string), "\x1b") {
		t.Errorf("changes: %q", changes["text"])
	}

	file := filepath.Join(dir, "note.txt")
	vim, _ := tool(t, s, "start", map[string]any{"program": "vim", "args": []string{"-u", "NONE", "-c", "set showmode", file}, "wait_for": map[string]any{"text": "note.txt"}})
	if vim["alternate_screen"] != true {
		t.Errorf("vim: %v", vim)
	}
	tool(t, s, "wait", map[string]any{"session": vim["session"], "stable_ms": 300}) // it throws away what comes while it starts
	tool(t, s, "send", map[string]any{"session": vim["session"], "keys": []string{"i"}, "text": "", "wait_for": map[string]any{"text": "INSERT"}})
	tool(t, s, "send", map[string]any{"session": vim["session"], "text": "written through MCP", "wait_for": map[string]any{"text": "through MCP"}})
	tool(t, s, "send", map[string]any{"session": vim["session"], "keys": []string{"escape", ":", "w", "q", "enter"}, "wait_for": map[string]any{"exited": true}})
	if text, err := os.ReadFile(file); err != nil || string(text) != "written through MCP\n" {
		t.Errorf("what vim wrote: %q, %v", text, err)
	}
	for _, id := range []any{repl, vim["session"]} {
		if out, _ := tool(t, s, "stop", map[string]any{"session": id}); out["stopped"] != true || out["session"] != id {
			t.Errorf("stop: %v", out)
		}
	}
	if _, r := tool(t, s, "read", map[string]any{"session": repl}); !r.IsError || !strings.Contains(textOf(r), "no session") {
		t.Errorf("a session that is gone: %q", textOf(r))
	}
	if _, r := tool(t, s, "read", map[string]any{"sesion": "s1"}); !r.IsError || !strings.Contains(textOf(r), "session") {
		t.Errorf("a mistyped argument: %q", textOf(r))
	}
}

// TestMCPRun: commands with their exit codes, in fresh shells and in one that stays.
func TestMCPRun(t *testing.T) {
	t.Parallel()
	need(t, "bash", "bash")
	s := goClient(t, nil)
	out, r := tool(t, s, "run", map[string]any{"command": "echo one; (exit 3)", "shell": "bash"})
	if out["output"] != "one\n" || out["exit_code"] != 3.0 || out["closed"] != true || out["reason"] != "finished" {
		t.Fatalf("run: %v %s", out, textOf(r))
	}
	kept, _ := tool(t, s, "run", map[string]any{"command": "cd / && X=5", "shell": "bash", "keep": true})
	out, _ = tool(t, s, "run", map[string]any{"session": kept["session"], "command": "echo $X $PWD"})
	if out["session"] != kept["session"] || !strings.HasPrefix(out["output"].(string), "5 /") || out["exit_code"] != 0.0 {
		t.Errorf("run in the same shell: %v", out)
	}
	for line, reason := range map[string]string{`echo "open`: "incomplete", ")": "not_run"} {
		if out, _ = tool(t, s, "run", map[string]any{"session": kept["session"], "command": line}); out["reason"] != reason && (reason == "incomplete" || out["exit_code"] != 2.0) {
			t.Errorf("run %q: %v", line, out)
		}
	}
	out, _ = tool(t, s, "run", map[string]any{"session": kept["session"], "command": "sleep 1; echo late", "timeout_ms": 10})
	if out["reason"] != "timeout" || out["wait"] == nil {
		t.Errorf("run that takes longer: %v", out)
	}
	if _, r := tool(t, s, "run", map[string]any{"session": kept["session"], "command": "echo no"}); !r.IsError || !strings.Contains(textOf(r), "is running a command") {
		t.Errorf("run in a busy shell: %q", textOf(r))
	}
	if w, _ := tool(t, s, "wait", map[string]any{"wait": out["wait"]}); w["matched"] != true {
		t.Errorf("its end: %v", w)
	}
	read, _ := tool(t, s, "read", map[string]any{"session": kept["session"], "what": "commands", "count": 1})
	if c := read["commands"].([]any)[0].(map[string]any); !strings.HasPrefix(c["output"].(string), "late") || c["exit_code"] != 0.0 {
		t.Errorf("the command afterwards: %v", c)
	}
}

// TestMCPRefusesFlagsOfAnotherProfile: none is passed over in silence.
func TestMCPRefusesFlagsOfAnotherProfile(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--rows", "50"}, {"--cols", "100"}, {"--shell", "/bin/bash"}} {
		p := ptywright(t, append([]string{"mcp"}, args...)...)
		if _, code := p.Run(""); code != 2 || !strings.Contains(p.Stderr.String(), "--profile terminal-mcp") {
			t.Errorf("%q: exit %d, %q", args, code, p.Stderr.String())
		}
	}
}

func unmarshal(t testing.TB, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
}
