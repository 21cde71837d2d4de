package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol/loopback"
)

func TestMain(m *testing.M) {
	// net/http lingers for half a second on a connection whose request it has not read to its end.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// probe is a profile with tools that do what tests need: echo answers, park waits until its request
// ends, crash panics, nan has a result that JSON has no word for, and garble an error whose data is
// no JSON.
func probe() *Profile {
	tool := func(name string) *sdk.Tool {
		return &sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}
	}
	said := func(text string) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
	}
	return &Profile{
		Implementation: sdk.Implementation{Name: "probe", Version: "1"},
		Options: sdk.ServerOptions{
			SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
			UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
		},
		Install: func(s *sdk.Server) {
			s.AddTool(tool("echo"), func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return said(string(r.Params.Arguments))
			})
			s.AddTool(tool("park"), func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				Yield(ctx)
				<-ctx.Done()
				return said("parked until: " + context.Cause(ctx).Error())
			})
			s.AddTool(tool("nap"), func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				Yield(ctx)
				timer := time.NewTimer(time.Second)
				defer timer.Stop()
				select {
				case <-timer.C:
				case <-ctx.Done():
				}
				return said("slept")
			})
			s.AddTool(tool("crash"), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				panic("token=ghp_k9Wz3TqLr7XvB2nM5pYd8HsJ4cFa6GeUo1Rt")
			})
			s.AddTool(tool("nan"), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return &sdk.CallToolResult{StructuredContent: map[string]any{"n": math.NaN()}}, nil
			})
			s.AddTool(tool("garble"), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "garbled", Data: json.RawMessage(`{"x":"\x1b"}`)}
			})
		},
	}
}

func newProbe() *Server {
	h := host.Over(nil, nil, slog.New(slog.DiscardHandler))
	return New(h, probe())
}

func modernCall(id, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`+"\n", id, tool, args)
}

// converse gives a server all of input, and returns its answers once it has ended.
func converse(t testing.TB, input string) []string {
	t.Helper()
	s := newProbe()
	defer s.Close()
	var out bytes.Buffer
	if err := s.ServeLines(context.Background(), io.NopCloser(strings.NewReader(input)), nopCloser{&out}); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// TestRequestsStartInOrder: one that does not wait is answered before the next starts; one that
// waits holds up nobody.
func TestRequestsStartInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		input := modernCall(`"nap"`, "nap", "{}")
		want := []string{}
		for i := range 100 {
			input += modernCall(fmt.Sprint(i), "echo", "{}")
			want = append(want, fmt.Sprint(i))
		}
		var got []string
		for _, line := range converse(t, input) {
			var m struct{ ID json.RawMessage }
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			got = append(got, string(m.ID))
		}
		if want = append(want, `"nap"`); !slices.Equal(got, want) {
			t.Errorf("answers in the order %v", got)
		}
	})
}

// TestEndOfInput: what waits is answered by its own time, what nothing would end is ended.
func TestEndOfInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		all := strings.Join(converse(t, modernCall("1", "nap", "{}")+
			`{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`), "\n")
		if !strings.Contains(all, "slept") || !strings.Contains(all, `"id":2`) || time.Since(begin) != time.Second {
			t.Errorf("after %v: %s", time.Since(begin), all)
		}
	})
}

// TestStopIsBounded: what does not end, and a client that does not read, hold up a server for two
// seconds.
func TestStopIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newProbe()
		defer s.Close()
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- s.ServeLines(ctx, in, out) }()
		_, _ = io.WriteString(toServer, modernCall("1", "echo", "{}")) // nobody reads the answer
		synctest.Wait()
		begin := time.Now()
		cancel()
		<-served
		if took := time.Since(begin); took != flushBound {
			t.Errorf("it took %v", took)
		}
		fromServer.Close()
		toServer.Close()
	})
}

// TestStopCancels: what waits is answered when the server is told to stop.
func TestStopCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newProbe()
		defer s.Close()
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- s.ServeLines(ctx, in, out) }()
		_, _ = io.WriteString(toServer, modernCall("1", "park", "{}"))
		synctest.Wait()
		cancel()
		line, err := bufio.NewReader(fromServer).ReadString('\n')
		if err != nil || !strings.Contains(line, "parked until") {
			t.Errorf("%q, %v", line, err)
		}
		<-served
		toServer.Close()
	})
}

// TestTooManyRequests: one more than may be under way is refused, and the others live.
func TestTooManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var input strings.Builder
		for i := range maxOpen + 1 {
			input.WriteString(modernCall(fmt.Sprint(i), "nap", "{}"))
		}
		input.WriteString(modernCall("0", "nap", "{}")) // an id that is in use
		all := converse(t, input.String())
		refused := 0
		for _, line := range all {
			if strings.Contains(line, `"error"`) {
				refused++
			}
		}
		if refused != 2 || len(all) != maxOpen+2 {
			t.Errorf("%d of %d refused", refused, len(all))
		}
		if want := fmt.Sprintf(`"id":%d,`, maxOpen); !slices.ContainsFunc(all, func(l string) bool { return strings.Contains(l, want) && strings.Contains(l, `"error"`) }) {
			t.Errorf("the refusal does not name the request %d", maxOpen)
		}
	})
}

// TestRefusedByItsID: whoever asks for what is not allowed is answered, and does not wait for ever.
func TestRefusedByItsID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"x":"cut \ud83d"}}`,
			`{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"x":1,"x":2}}`,
			`{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{},"params":{}}`,
			`{"jsonrpc":"1.0","id":"a","method":"tools/list"}`,
		} {
			if all := converse(t, line+"\n"); len(all) != 1 || !strings.Contains(all[0], `"id":"a"`) || !strings.Contains(all[0], `"error"`) {
				t.Errorf("%s is answered %q", line, all)
			}
		}
	})
}

// TestPanicIsAnError, and its words go nowhere.
func TestPanicIsAnError(t *testing.T) {
	all := converse(t, modernCall("1", "crash", "{}")+modernCall("2", "echo", `{"still":"here"}`))
	if len(all) != 2 || !strings.Contains(all[0], "-32603") || strings.Contains(all[0], "ghp_") || !strings.Contains(all[1], "still") {
		t.Errorf("%v", all)
	}
}

// handshake begins a connection of the era that has one.
const handshake = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// hostile are requests that a server could break at, by what their answer has to have. Each has the
// id 1.
func hostile() map[string]string {
	all := map[string]string{
		strings.TrimSpace(modernCall("1", "crash", "{}")):                                  "-32603",
		strings.TrimSpace(modernCall("1", "nan", "{}")):                                    "-32603",
		strings.TrimSpace(modernCall("1", "garble", "{}")):                                 `"garbled"`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"plain:none"}}`: `"data":{"uri":"plain:none"}`,
	}
	for _, method := range []string{"resources/read", "resources/subscribe", "resources/unsubscribe"} {
		for _, uri := range []string{`x\u001b`, `x\u007f`, `\u0000`, `x\u0007y`, `a\u000b`, `\u200b`, `\udb40\udc01`, `\ue000`, `\u202e`, `a\nb`} {
			all[fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"uri":"%s"}}`, method, uri)] = "-32602"
		}
	}
	for _, method := range []string{"resources/read", "resources/subscribe", "tools/call", "prompts/get", "completion/complete", "logging/setLevel", "initialize"} {
		for _, params := range []string{"null", "[]", "{}", `{"uri":null}`, `{"uri":[]}`, `{"name":null,"arguments":[]}`, `{"_meta":null}`, `{"_meta":[]}`, `{"_meta":{"progressToken":{}}}`} {
			all[fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)] = `"id":1`
		}
	}
	return all
}

// TestNoRequestEndsTheStream: whatever is asked is answered, and so is what is asked next.
func TestNoRequestEndsTheStream(t *testing.T) {
	for line, want := range hostile() {
		all := strings.Join(converse(t, handshake+line+"\n"+modernCall("2", "echo", `{"still":"here"}`)), "\n")
		if !strings.Contains(all, want) || !strings.Contains(all, `"id":1,`) || !strings.Contains(all, "still") {
			t.Errorf("%s is answered\n%s", line, all)
		}
	}
}

// TestProbeThenHandshake: a client may ask in the new way first and go on in the old one.
func TestProbeThenHandshake(t *testing.T) {
	all := strings.Join(converse(t, modernCall("1", "echo", "{}")+
		`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":3,"method":"ping"}
{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
`), "\n")
	for _, want := range []string{`"id":2,"result"`, `"id":3,"result":{}`, `"id":4,"error":{"code":-32600`} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
}

// FuzzLines: whatever comes, the server answers in messages, one a line, answers a ping after it,
// and ends.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		"", "{", "[]", "[1]", "null", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, modernCall("1", "echo", `{"a":1}`), `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":"x","method":"initialize","params":{}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "\xff", `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" + `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		if strings.Contains(input, "park") || strings.Contains(input, "nap") || strings.Contains(input, "listen") {
			t.Skip("it may wait")
		}
		last := modernCall(`"the last one"`, "echo", "{}")
		answered := false
		for _, line := range converse(t, input+"\n"+last) {
			if !json.Valid([]byte(line)) {
				t.Fatalf("%q", line)
			}
			answered = answered || strings.Contains(line, "the last one")
		}
		if !answered {
			t.Errorf("the server does not go on after %q", input)
		}
	})
}

// TestNoRequestEndsTheSession: over HTTP a request that cannot be answered as it was meant is
// answered all the same, and its session goes on.
func TestNoRequestEndsTheSession(t *testing.T) {
	l, err := loopback.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := newProbe()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.ServeHTTP(ctx, l, "token") }()
	transport := &http.Transport{}
	session := ""
	post := func(body string) string {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, "http://"+l.Addr().String()+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer token")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		answer, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if id := answer.Header.Get("Mcp-Session-Id"); id != "" {
			session = id
		}
		all, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(all)
	}
	first, second, _ := strings.Cut(handshake, "\n")
	post(first)
	post(second)
	for line, want := range hostile() {
		if strings.Contains(line, stateless) || strings.Contains(line, `"initialize"`) {
			continue // which are of no session
		}
		if got := post(line); !strings.Contains(got, want) {
			t.Errorf("%s is answered %q", line, got)
		}
		if got := post(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); !strings.Contains(got, `"result":{}`) {
			t.Fatalf("after %s a ping is answered %q", line, got)
		}
	}
	for _, tool := range []string{"crash", "nan", "garble"} {
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, tool)
		if got := post(line); !strings.Contains(got, `"id":1,"error"`) {
			t.Errorf("%s is answered %q", line, got)
		}
	}
	transport.CloseIdleConnections()
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	s.Close()
}

// TestHTTPIsBounded: bodies and sessions are.
func TestHTTPIsBounded(t *testing.T) {
	l, err := loopback.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := newProbe()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.ServeHTTP(ctx, l, "token") }()
	post := func(body io.Reader) int {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, "http://"+l.Addr().String()+"/mcp", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer token")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		return answer.StatusCode
	}
	if status := post(strings.NewReader(strings.Repeat(" ", maxLine+1))); status != http.StatusRequestEntityTooLarge {
		t.Errorf("17 MiB: %d", status)
	}
	if status := post(strings.NewReader("{nope")); status != http.StatusBadRequest {
		t.Errorf("no JSON: %d", status)
	}
	initialize := `{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	for range maxSessions {
		if status := post(strings.NewReader(initialize)); status != http.StatusOK {
			t.Fatalf("initialize: %d", status)
		}
	}
	if status := post(strings.NewReader(initialize)); status != http.StatusServiceUnavailable {
		t.Errorf("a session too many: %d", status)
	}
	if status := post(strings.NewReader(modernCall("1", "echo", "{}"))); status != http.StatusBadRequest && status != http.StatusOK {
		t.Errorf("the stateless era: %d", status)
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	s.Close()
}
