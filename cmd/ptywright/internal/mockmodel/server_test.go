package mockmodel

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const script = `{
	"vars": {"plan_file": "/plans/[a-z-]+\\.md"},
	"conversations": [
		{"match": "greet", "steps": [{"blocks": [{"thinking": "hm"}, {"text": "Grüße", "every_ms": 1}]}]},
		{"match": "list", "steps": [
			{"blocks": [{"text": "I look."}, {"tool": {"name": "Bash", "input": {"command": "ls"}}}]},
			{"blocks": [{"text": "Seen."}]}]},
		{"match": "plan", "steps": [{"blocks": [{"tool": {"name": "Write", "input": {"file_path": "{{plan_file}}"}}}]}]},
		{"match": "slow", "steps": [{"hold": "begin", "blocks": [{"text": "a"}, {"hold": "end"}, {"text": "b"}]}]},
		{"match": "twice", "steps": [{"error": {"status": 529, "type": "overloaded_error", "message": "Overloaded", "times": 2}, "blocks": [{"text": "now"}]}]},
		{"match": "limit", "steps": [{"error": {"status": 429, "type": "rate_limit_error", "message": "Slow down", "headers": {"retry-after": "3"}}}]},
		{"match": "broken", "steps": [{"blocks": [{"text": "This stops "}], "stream_error": {"type": "overloaded_error", "message": "Overloaded"}}]}
	],
	"default": {"blocks": [{"text": "Nothing to add."}]},
	"side": {"blocks": [{"text": "A title"}]}
}`

func serve(t *testing.T) *Server {
	t.Helper()
	s, err := New([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return s
}

// A turn is one message: who says it, and a text or blocks.
type turn struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

func user(text string) turn    { return turn{"user", text} }
func blocks(b ...block) turn   { return turn{"user", b} }
func text(s string) block      { return block{"type": "text", "text": s} }
func result(s string) block    { return block{"type": "tool_result", "content": s} }
func model() turn              { return turn{"assistant", []block{text("...")}} }
func said(turns ...turn) []any { return anys(turns) }

type block map[string]any

func anys[T any](s []T) (all []any) {
	for _, v := range s {
		all = append(all, v)
	}
	return all
}

// ask posts a request that streams, with tools, and returns the answer.
func ask(t *testing.T, s *Server, messages []any) *http.Response {
	t.Helper()
	return post(t, s, map[string]any{"model": "m", "stream": true, "tools": []any{block{"name": "Bash"}}, "messages": messages})
}

func post(t *testing.T, s *Server, asked any) *http.Response {
	t.Helper()
	body, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.Post(s.URL+"/v1/messages?beta=true", "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Body.Close() })
	return r
}

// An event is one of a stream, as its consumer sees it.
type event struct {
	Type         string
	Message      struct{ ID, Model string }
	Index        int
	ContentBlock struct {
		Type, ID, Name string
	} `json:"content_block"`
	Delta struct {
		Type, Text, Thinking, Signature string
		PartialJSON                     string `json:"partial_json"`
		StopReason                      string `json:"stop_reason"`
	}
	Error struct{ Type, Message string }
}

// next reads one event, nil at the end.
func next(t *testing.T, in *bufio.Reader) *event {
	t.Helper()
	name, err := in.ReadString('\n')
	if errors.Is(err, io.EOF) {
		return nil
	}
	data, _ := in.ReadString('\n')
	blank, err := in.ReadString('\n')
	if err != nil || blank != "\n" {
		t.Fatalf("event %q %q ends with %q, %v", name, data, blank, err)
	}
	var e event
	if err := json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), &e); err != nil || name != "event: "+e.Type+"\n" {
		t.Fatalf("event %q %q: %v", name, data, err)
	}
	return &e
}

// said is what a stream says in the end, pings left out: blocks, stop reason, error.
func stream(t *testing.T, r *http.Response) string {
	t.Helper()
	if r.StatusCode != http.StatusOK {
		t.Fatalf("status %s", r.Status)
	}
	var out strings.Builder
	in := bufio.NewReader(r.Body)
	for e := next(t, in); e != nil; e = next(t, in) {
		switch e.Type {
		case "message_start":
			fmt.Fprintf(&out, "%s:", e.Message.Model)
		case "content_block_start":
			fmt.Fprintf(&out, " %d %s%s(", e.Index, e.ContentBlock.Type, e.ContentBlock.Name)
		case "content_block_delta":
			fmt.Fprint(&out, e.Delta.Text, e.Delta.Thinking, e.Delta.PartialJSON)
		case "content_block_stop":
			fmt.Fprint(&out, ")")
		case "message_delta":
			fmt.Fprintf(&out, " %s", e.Delta.StopReason)
		case "error":
			fmt.Fprintf(&out, " %s: %s", e.Error.Type, e.Error.Message)
		case "message_stop":
			fmt.Fprint(&out, ".")
		}
	}
	return out.String()
}

func TestStreams(t *testing.T) {
	s := serve(t)
	for _, test := range []struct {
		name     string
		messages []any
		want     string
	}{
		{"text", said(user("greet me")), "m: 0 thinking(hm) 1 text(Grüße) end_turn."},
		{"tool", said(user("list it")), `m: 0 text(I look.) 1 tool_useBash({"command":"ls"}) tool_use.`},
		{"result of a tool", said(user("list it"), model(), blocks(result("greet"))), "m: 0 text(Seen.) end_turn."},
		{"steps that are over", said(user("list it"), model(), blocks(result("x")), model(), blocks(result("x"))), "m: 0 text(Seen.) end_turn."},
		{"next prompt", said(user("list it"), model(), user("greet me")), "m: 0 thinking(hm) 1 text(Grüße) end_turn."},
		{"two prompts in one", said(user("greet me\nlist it")), `m: 0 text(I look.) 1 tool_useBash({"command":"ls"}) tool_use.`},
		{"what is said between", said(user("greet me"), turn{"system", "list"}), "m: 0 thinking(hm) 1 text(Grüße) end_turn."},
		{"reminders", said(blocks(text("<system-reminder>greet</system-reminder>"), text("list it"), text("[Request interrupted by user]"))),
			`m: 0 text(I look.) 1 tool_useBash({"command":"ls"}) tool_use.`},
		{"variable", said(turn{"system", "write to /plans/a-b.md, not /plans/old.md, no: /plans/new-one.md"}, user("plan it")), `m: 0 tool_useWrite({"file_path":"/plans/new-one.md"}) tool_use.`},
		{"no conversation", said(user("what?")), "m: 0 text(Nothing to add.) end_turn."},
		{"nobody typed", said(), "m: 0 text(Nothing to add.) end_turn."},
		{"error in the stream", said(user("broken")), "m: 0 text(This stops ) overloaded_error: Overloaded"},
	} {
		if got := stream(t, ask(t, s, test.messages)); got != test.want {
			t.Errorf("%s: %s, expected %s", test.name, got, test.want)
		}
	}
}

// A request without tools is not the user's, and gets the side answer whole when it does not
// stream.
func TestSideRequestsAndWholeAnswers(t *testing.T) {
	s := serve(t)
	for _, test := range []struct {
		tools []any
		want  string
	}{
		{nil, `[{"text":"A title","type":"text"}] end_turn`},
		{[]any{block{}}, `[{"text":"I look.","type":"text"},{"id":"toolu_mock00000201","input":{"command":"ls"},"name":"Bash","type":"tool_use"}] tool_use`},
	} {
		var answer struct {
			Content    json.RawMessage
			StopReason string `json:"stop_reason"`
		}
		r := post(t, s, map[string]any{"model": "m", "tools": test.tools, "messages": said(user("list it"))})
		if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s %s", answer.Content, answer.StopReason); got != test.want {
			t.Errorf("%s, expected %s", got, test.want)
		}
	}
	if got := s.Submitted(); !slices.Equal(got, []string{"list it"}) || len(s.Requests()) != 2 || !s.Requests()[0].Side {
		t.Errorf("submitted %q of %+v", got, s.Requests())
	}
}

func TestErrors(t *testing.T) {
	s := serve(t)
	for i, want := range []int{529, 529, 200, 200} {
		r := ask(t, s, said(user("twice")))
		if body, _ := io.ReadAll(r.Body); r.StatusCode != want || want == 529 && string(body) != `{"error":{"message":"Overloaded","type":"overloaded_error"},"request_id":"req_mock","type":"error"}`+"\n" {
			t.Errorf("request %d: %s: %s", i, r.Status, body)
		}
	}
	for range 3 { // without times: always
		if r := ask(t, s, said(user("limit"))); r.StatusCode != 429 || r.Header.Get("retry-after") != "3" {
			t.Errorf("%s, %v", r.Status, r.Header)
		}
	}
	if got := s.Requests(); len(got) != 7 || got[0].Status != 529 || got[2].Status != 200 || got[6].Status != 429 || got[6].Match != "limit" {
		t.Errorf("%+v", got)
	}
}

// What is held comes when it is released and not before.
func TestHolds(t *testing.T) {
	s := serve(t)
	answer := make(chan *http.Response)
	go func() {
		r, err := http.Post(s.URL+"/v1/messages", "", strings.NewReader(`{"stream":true,"tools":[{}],"messages":[{"role":"user","content":"slow"}]}`))
		if err != nil {
			t.Error(err)
		}
		answer <- r
	}()
	asked, err := s.Wait(t.Context(), func(r Request) bool { return r.Prompt() == "slow" })
	if err != nil || asked.Match != "slow" || asked.Step != 0 {
		t.Fatalf("%+v, %v", asked, err)
	}
	select {
	case <-answer:
		t.Fatal("an answer that is held")
	default:
	}
	s.Release("begin")
	r := <-answer
	defer r.Body.Close()
	in := bufio.NewReader(r.Body)
	for e := next(t, in); e.Type != "content_block_stop"; e = next(t, in) {
	}
	if in.Buffered() != 0 {
		t.Error("more than what is before the hold")
	}
	s.Release("end")
	s.Release("end")
	if e := next(t, in); e.Type != "content_block_start" || e.Index != 1 {
		t.Errorf("after the hold: %+v", e)
	}
	if got := stream(t, ask(t, s, said(user("slow")))); got != "m: 0 text(a) 1 text(b) end_turn." {
		t.Errorf("the second time: %s", got)
	}
}

// A client that goes away, and a server that is closed, end what is held; goleak looks whether the
// handlers have ended.
func TestHeldAnswersEnd(t *testing.T) {
	s := serve(t)
	held := func(ctx context.Context) (end chan error) {
		r, err := http.NewRequestWithContext(ctx, "POST", s.URL+"/v1/messages", strings.NewReader(`{"stream":true,"tools":[{}],"messages":[{"role":"user","content":"slow"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		before := len(s.Requests())
		end = make(chan error, 1)
		go func() {
			_, err := http.DefaultClient.Do(r)
			end <- err
		}()
		if _, err := s.Wait(t.Context(), func(Request) bool { return len(s.Requests()) > before }); err != nil {
			t.Fatal(err)
		}
		return end
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gone, stays := held(ctx), held(t.Context())
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := s.http.Close(); err != nil {
		t.Error(err)
	}
	if err := <-stays; err == nil {
		t.Error("a closed server answers")
	}
}

// What was typed is told as it was, and what was sent twice is in there twice.
func TestSubmitted(t *testing.T) {
	s := serve(t)
	if got := s.Submitted(); got != nil {
		t.Errorf("before anything: %q", got)
	}
	stream(t, ask(t, s, said(
		blocks(text("<system-reminder>no</system-reminder>"), text(" one \n"), text("more")), model(), blocks(result("x")), model(),
		user("one"), model(), user("one"), model(), blocks(text("[Request interrupted by user for tool use]")),
	)))
	stream(t, ask(t, s, said(user("list it"), model(), blocks(result("a"), block{"type": "tool_result", "content": []block{text("b"), text("c")}}), turn{"system", "x"})))
	if want := []string{"a", "b\nc"}; !reflect.DeepEqual(s.Requests()[1].Results, want) || s.Requests()[0].Results != nil {
		t.Errorf("results %q, expected %q", s.Requests()[1].Results, want)
	}
	if want := []string{"list it"}; !reflect.DeepEqual(s.Submitted(), want) {
		t.Errorf("%q, expected %q", s.Submitted(), want)
	}
	if want := []string{" one \n\nmore", "one", "one"}; !reflect.DeepEqual(s.Requests()[0].Typed, want) {
		t.Errorf("%q, expected %q", s.Requests()[0].Typed, want)
	}
}

func TestOtherPaths(t *testing.T) {
	s := serve(t)
	for _, test := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"HEAD", "/", "", 200, ""},
		{"GET", "/v1/models?limit=1000", "", 200, `"id":"claude-opus-4-8"`},
		{"POST", "/v1/messages/count_tokens", "12345678", 200, `{"input_tokens":3}`},
		{"GET", "/v1/else", "", 404, "not_found_error"},
		{"POST", "/v1/messages", "{", 400, "unexpected end"},
	} {
		r, err := http.NewRequest(test.method, s.URL+test.path, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != test.status || !strings.Contains(string(body), test.says) {
			t.Errorf("%s %s: %s: %s", test.method, test.path, answer.Status, body)
		}
	}
	if all := s.Requests(); len(all) != 5 || all[1].Path != "/v1/models" || all[3].Status != 404 {
		t.Errorf("%+v", all)
	}
	if s.Submitted() != nil {
		t.Errorf("submitted %q", s.Submitted())
	}
}

// A wait that is cut short tells what there was.
func TestWaitEnds(t *testing.T) {
	s := serve(t)
	stream(t, ask(t, s, said(user("greet me"+strings.Repeat("!", 100)))))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Wait(ctx, func(Request) bool { return false })
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), `POST /v1/messages -> 200 "greet me!!!`) || len(err.Error()) > 200 {
		t.Error(err)
	}
}

func TestScriptsThatAreRefused(t *testing.T) {
	for text, problem := range map[string]string{
		`{`:                                 "unexpected EOF",
		`{} {}`:                             "something follows",
		`{"conversation": []}`:              "unknown field",
		`{"vars": {"x": "("}}`:              "var x",
		`{"conversations":[{"match":"("}]}`: `conversation "("`,
		`{"conversations":[{"match":"x"}]}`: "has no steps",
		`{"default":{"blocks":[{"text":"a","thinking":"b"}]}}`:                               "has not one of",
		`{"default":{"blocks":[{}]}}`:                                                        "has not one of",
		`{"conversations":[{"match":"x","steps":[{"error":{"message":"m","status":200}}]}]}`: "status 200",
	} {
		if s, err := New([]byte(text)); err == nil {
			t.Errorf("%s is taken", text)
			s.Close()
		} else if !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
