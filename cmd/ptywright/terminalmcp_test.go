//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
)

// A terminalServer is the program as Terminal MCP, and a client that speaks the wire itself: a line
// for each message.
type terminalServer struct {
	t     testing.TB
	p     *program
	in    io.WriteCloser
	out   *bufio.Reader
	home  string
	hi    map[string]any // the answer to initialize
	last  int
	ended bool
}

// asTerminalMCP is this program called by Terminal MCP's name.
func asTerminalMCP(t testing.TB, home string, args ...string) *program {
	t.Helper()
	p := ptywright(t, args...)
	p.Args[0] = "terminal-mcp"
	p.Env = append(p.Env, plainShell(home)...)
	return p
}

// headless starts the server, 80 by 10 unless told otherwise, and shakes hands. At the test's end
// it must end by itself.
func headless(t testing.TB, args ...string) *terminalServer {
	t.Helper()
	return headlessWith(t, nil, args...)
}

func headlessWith(t testing.TB, env []string, args ...string) *terminalServer {
	t.Helper()
	home := t.TempDir()
	p := asTerminalMCP(t, home, append([]string{"--headless", "--cols", "80", "--rows", "10"}, args...)...)
	p.Env = append(p.Env, env...)
	s := startTerminal(t, p, home)
	t.Cleanup(func() { s.end(0) })
	return s
}

func startTerminal(t testing.TB, p *program, home string) *terminalServer {
	t.Helper()
	return startTerminalWith(t, p, home, "2025-06-18")
}

func startTerminalWith(t testing.TB, p *program, home, version string) *terminalServer {
	t.Helper()
	in, out := p.StartPiped()
	s := &terminalServer{t: t, p: p, in: in, out: bufio.NewReaderSize(out, 1<<20), home: home}
	guard := time.AfterFunc(hang, func() { p.Process.Kill() })
	t.Cleanup(func() { guard.Stop() })
	s.hi = s.hello(version)
	return s
}

// end closes the server's input and checks how it ends.
func (s *terminalServer) end(code int) {
	s.t.Helper()
	if s.ended {
		return
	}
	s.ended = true
	s.in.Close()
	io.Copy(io.Discard, s.out)
	if got := exitCodeOf(s.t, s.p.Wait()); got != code {
		s.t.Errorf("exit code %d, want %d; standard error: %s", got, code, s.p.Stderr)
	}
	noneLeft(s.t, s.p.Mark)
}

// line sends one line.
func (s *terminalServer) line(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, text+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

type wireAnswer struct {
	ID     any             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// next reads one answer.
func (s *terminalServer) next() wireAnswer {
	s.t.Helper()
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		s.t.Fatalf("%v; standard error: %s", err, s.p.Stderr)
	}
	var a wireAnswer
	if err := json.Unmarshal(line, &a); err != nil {
		s.t.Fatalf("%v: %.200s", err, line)
	}
	return a
}

// ask sends a request and returns its answer, which must be the next.
func (s *terminalServer) ask(method string, params any) wireAnswer {
	s.t.Helper()
	s.last++
	q := map[string]any{"jsonrpc": "2.0", "id": s.last, "method": method}
	if params != nil {
		q["params"] = params
	}
	b, err := json.Marshal(q)
	if err != nil {
		s.t.Fatal(err)
	}
	s.line(string(b))
	a := s.next()
	if a.ID != float64(s.last) {
		s.t.Fatalf("the answer to %s has the id %v, want %d", method, a.ID, s.last)
	}
	return a
}

func (s *terminalServer) hello(version string) map[string]any {
	s.t.Helper()
	a := s.ask("initialize", map[string]any{"protocolVersion": version, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "1"}})
	var r map[string]any
	if err := json.Unmarshal(a.Result, &r); err != nil {
		s.t.Fatalf("initialize: %+v", a)
	}
	s.line(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return r
}

// args are a tool's arguments.
type args = map[string]any

// toolAnswer is the result of a call.
type toolAnswer struct {
	Content []struct {
		Type, Text, Data, MimeType string
	} `json:"content"`
	IsError *bool `json:"isError"`
}

// failed is isError as a word: "true", "false", or "" where the member is missing.
func (a *toolAnswer) failed() string {
	if a.IsError == nil {
		return ""
	}
	return strconv.FormatBool(*a.IsError)
}

// tool calls a tool; with a nil a the call has no arguments at all.
func (s *terminalServer) tool(name string, a args) *toolAnswer {
	s.t.Helper()
	p := map[string]any{"name": name}
	if a != nil {
		p["arguments"] = a
	}
	got := s.ask("tools/call", p)
	var r toolAnswer
	if got.Error != nil || json.Unmarshal(got.Result, &r) != nil || len(r.Content) != 1 {
		s.t.Fatalf("%s gives %s %+v", name, got.Result, got.Error)
	}
	return &r
}

// text calls a tool that must succeed.
func (s *terminalServer) text(name string, a args) string {
	s.t.Helper()
	r := s.tool(name, a)
	if r.failed() == "true" {
		s.t.Fatalf("%s %v: %s", name, a, r.Content[0].Text)
	}
	return r.Content[0].Text
}

// refused calls a tool that must fail with this text.
func (s *terminalServer) refused(want, name string, a args) {
	s.t.Helper()
	if r := s.tool(name, a); r.failed() != "true" || r.Content[0].Text != want {
		s.t.Errorf("%s %v gives %q, isError %q; want %q", name, a, r.Content[0].Text, r.failed(), want)
	}
}

// decode calls a tool that must succeed and decodes the JSON in its text.
func (s *terminalServer) decode(v any, name string, a args) string {
	s.t.Helper()
	text := s.text(name, a)
	decodeText(s.t, text, v)
	return text
}

func decodeText(t testing.TB, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
}

// until reads a session until its text matches, and returns the text.
func (s *terminalServer) until(pattern, session string) (text string) {
	s.t.Helper()
	return programtest.UntilMatches(s.t, pattern, func() string { return s.text("getContent", args{"sessionId": session}) })
}

// enter types a line once the shell has prompted for it, and presses Enter once it stands behind
// the prompt: the next line is then not taken to have been prompted for by this one's prompt.
func (s *terminalServer) enter(text string) {
	s.t.Helper()
	s.until(`\$ $`, "")
	s.text("type", args{"text": text})
	s.until(`[^$ ] *$`, "")
	s.text("sendKey", args{"key": "Enter"})
}

type shotText struct {
	Content    string
	Cursor     struct{ X, Y int }
	Dimensions struct{ Cols, Rows int }
}

type sessionText struct {
	SessionID, Shell, CreatedAt, LastActivityAt string
	Cols, Rows                                  int
	IsDefault                                   bool
}

type recordingText struct {
	RecordingID, Path, Format, Mode, Message, StopReason string
	MaxDuration, InactivityTimeout                       float64
	DurationMs, BytesWritten                             int64
	Saved                                                bool
}

type metaText struct {
	ExitCode                                     *int
	DurationMs, StartTime, EndTime, BytesWritten int64
	StopReason                                   string
}

func readMeta(t testing.TB, cast string) (m metaText) {
	t.Helper()
	b, err := os.ReadFile(strings.TrimSuffix(cast, ".cast") + ".meta.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(b), "{\n  \"exitCode\"") || strings.HasSuffix(string(b), "\n") {
		t.Errorf("the metadata is %q", b)
	}
	return m
}
