//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
)

// A toolClient calls tools through the official Go SDK.
type toolClient struct {
	t       testing.TB
	ctx     context.Context
	session *sdk.ClientSession
}

// sdkClient connects the Go SDK's client with a headless server, which must end well.
func sdkClient(t testing.TB, p *program) *toolClient {
	t.Helper()
	t.Cleanup(func() { noneLeft(t, p.Mark) })
	return sdkConnect(t, &sdk.CommandTransport{Command: p.Cmd})
}

func sdkConnect(t testing.TB, transport sdk.Transport) *toolClient {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	t.Cleanup(cancel)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return &toolClient{t, ctx, session}
}

func (c *toolClient) call(name string, a args) *sdk.CallToolResult {
	c.t.Helper()
	r, err := c.session.CallTool(c.ctx, &sdk.CallToolParams{Name: name, Arguments: a})
	if err != nil {
		c.t.Fatalf("%s %v: %v", name, a, err)
	}
	return r
}

func (c *toolClient) text(name string, a args) string {
	c.t.Helper()
	r := c.call(name, a)
	text, ok := r.Content[0].(*sdk.TextContent)
	if r.IsError || !ok {
		c.t.Fatalf("%s %v: %+v", name, a, r.Content[0])
	}
	return text.Text
}

func (c *toolClient) until(pattern string) string {
	c.t.Helper()
	return programtest.UntilMatches(c.t, pattern, func() string { return c.text("getContent", args{}) })
}

func (c *toolClient) enter(text string) {
	c.t.Helper()
	c.text("type", args{"text": text})
	c.text("sendKey", args{"key": "Enter"})
}

// TestTerminalMCPWithTheGoSDK drives real programs through the official client: a REPL, an editor,
// a recording, a picture.
func TestTerminalMCPWithTheGoSDK(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := sdkClient(t, asTerminalMCP(t, home, "--headless", "--cols", "100", "--rows", "30"))
	if got := c.session.InitializeResult(); got == nil || got.ServerInfo.Name != "terminal-mcp" {
		t.Errorf("%+v", got)
	}
	tools, err := c.session.ListTools(c.ctx, nil)
	if err != nil || len(tools.Tools) != 10 {
		t.Errorf("%v, %v", tools, err)
	}
	prompt, err := c.session.GetPrompt(c.ctx, &sdk.GetPromptParams{Name: "tool-usage"})
	if err != nil || len(prompt.Messages) != 1 || prompt.Messages[0].Role != "user" {
		t.Errorf("%+v, %v", prompt, err)
	}
	if _, err := c.session.GetPrompt(c.ctx, &sdk.GetPromptParams{Name: "zz"}); err == nil || !strings.Contains(err.Error(), "Unknown prompt: zz") {
		t.Errorf("%v", err)
	}
	if r := c.call("zzz", args{}); !r.IsError || r.Content[0].(*sdk.TextContent).Text != "Error: Unknown tool: zzz" {
		t.Errorf("%+v", r)
	}
	if r := c.call("takeScreenshot", args{"format": "png"}); r.IsError || !strings.HasPrefix(string(r.Content[0].(*sdk.ImageContent).Data), "\x89PNG\r\n\x1a\n") {
		t.Error("the picture is none")
	}
	c.until(`\$ $`)
	var recording recordingText
	decodeText(t, c.text("startRecording", args{}), &recording)
	t.Run("python3", func(t *testing.T) {
		need(t, "python3", "python3")
		c := &toolClient{t, c.ctx, c.session}
		c.enter("python3 -q")
		c.until(`>>> $`)
		c.enter("6*7")
		c.until(`\n42\n>>> $`)
		c.enter("def f(n):")
		c.until(`\.\.\. $`)
		c.enter("    return n*n")
		c.enter("")
		c.enter("f(12)")
		c.until(`\n144\n>>> $`)
		c.text("sendKey", args{"key": "Ctrl+D"})
		c.until(`\$ $`)
	})
	t.Run("vim", func(t *testing.T) {
		need(t, "vim", "vim")
		c := &toolClient{t, c.ctx, c.session}
		file := filepath.Join(home, "note.txt")
		c.enter("vim -u NONE " + file)
		c.until(`note\.txt`)
		c.text("type", args{"text": "ihello"})
		c.until(`(?m)^hello$`)
		c.text("sendKey", args{"key": "Escape"})
		c.text("type", args{"text": "yyp"})
		c.until(`hello\nhello`)
		c.text("sendKey", args{"key": "ArrowUp"})
		var shot shotText
		decodeText(t, c.text("takeScreenshot", args{"format": "text"}), &shot)
		if shot.Dimensions.Cols != 100 || shot.Dimensions.Rows != 30 || strings.Count(shot.Content, "\n") != 29 {
			t.Errorf("%+v", shot)
		}
		c.enter(":wq")
		c.until(`\$ $`)
		if b, err := os.ReadFile(file); err != nil || string(b) != "hello\nhello\n" {
			t.Errorf("%q, %v", b, err)
		}
	})
	var end recordingText
	decodeText(t, c.text("stopRecording", args{"recordingId": recording.RecordingID}), &end)
	if info, err := os.Stat(recording.Path); err != nil || !end.Saved || info.Size() != end.BytesWritten {
		t.Errorf("%+v, %v", end, err)
	}
}

// TestTerminalMCPHidesSecrets plants secrets everywhere and looks for them in everything that
// leaves.
func TestTerminalMCPHidesSecrets(t *testing.T) {
	t.Parallel()
	const token, typed, inherited = "ghp_kR7vN2xQ9mT4wL8cF1zB6yH3jD5sG0pA7uEe", "correct horse 42", "zebra-stripe-99"
	const short = "4z!7q"
	s := headlessWith(t, []string{"MY_PASSWORD=" + inherited, "T=" + token})
	var seen strings.Builder
	look := func() {
		for _, c := range []struct {
			tool string
			a    args
		}{{"getContent", nil}, {"getContent", args{"visibleOnly": true}}, {"takeScreenshot", nil}, {"takeScreenshot", args{"format": "ansi"}}, {"listSessions", nil}} {
			seen.WriteString(s.text(c.tool, c.a))
		}
	}
	var r recordingText
	s.decode(&r, "startRecording", nil)
	s.enter("echo " + token)
	s.until(`\n\[REDACTED\]\n\$ $`, "")
	look()
	s.enter(`printf '\033[31m%.12s\033[m%s\n' $T ${T#????????????}; echo $MY_PASSWORD; seq 30`) // in two colours, and what is known
	s.until(`30\n\$ $`, "")
	look()
	s.enter(`stty -echo; printf 'Password: '; read x; stty echo; echo; echo "got $x"`)
	s.until(`Password: $`, "")
	s.text("type", args{"text": typed + "\r"})
	s.until(`got \S+`, "")
	look()
	s.enter(`stty -echo; printf 'PIN: '; read x; stty echo; echo; echo "it is $x"`) // few characters: hidden in this session only
	s.until(`PIN: $`, "")
	s.text("type", args{"text": short + "\r"})
	s.until(`it is \S+`, "")
	look()
	for _, a := range []struct {
		tool string
		a    args
	}{{"createSession", args{"shell": "/nonexistent/" + token}}, {"stopRecording", args{"recordingId": token}}, {"sendKey", args{"key": token}},
		{"getContent", args{"sessionId": token}}, {"destroySession", args{"sessionId": token}}, {token, nil}, {"takeScreenshot", args{"format": token}},
		{"startRecording", args{"outputDir": "/dev/null/" + token}}} {
		seen.WriteString(s.tool(a.tool, a.a).Content[0].Text)
	}
	seen.WriteString(s.text("stopRecording", args{"recordingId": r.RecordingID}))
	b, err := os.ReadFile(r.Path)
	if err != nil {
		t.Fatal(err)
	}
	seen.Write(b)
	s.end(0)
	seen.WriteString(s.p.Stderr.String())
	for _, secret := range []string{token, token[12:], typed, short, inherited} {
		if i := strings.Index(seen.String(), secret); i >= 0 {
			t.Errorf("%q is in what left: %.200q", secret, seen.String()[max(0, i-100):])
		}
	}
	raw := headless(t, "--trust-raw")
	raw.enter("echo " + token)
	raw.until(`(?m)^`+token+`$`, "")
}

// TestTerminalMCPHugeText: text larger than any buffer arrives whole, and a line that no terminal
// keeps is refused with a reason.
func TestTerminalMCPHugeText(t *testing.T) {
	t.Parallel()
	s := headless(t)
	s.enter(`stty raw -echo; echo ready; head -c 1000000 | wc -c; stty sane`)
	s.until(`ready`, "")
	if got := s.text("type", args{"text": strings.Repeat("0123456789", 100000)}); got != "Typed 1000000 character(s) to terminal" {
		t.Errorf("%q", got)
	}
	s.until(`1000000`, "")
	s.enter("cat > /dev/null")
	r := s.tool("type", args{"text": strings.Repeat("x", 5000)})
	if text := r.Content[0].Text; r.failed() != "true" || !strings.HasPrefix(text, "Error: a line of 5000 bytes is longer than") {
		t.Errorf("%q", text)
	}
}
