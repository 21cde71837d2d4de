package mockmodel

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// answer posts a body and returns the status and the whole answer.
func answer(t *testing.T, s *Server, path, body string) (int, string) {
	t.Helper()
	r, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

// data returns what a stream of events says: the texts in it, and the names of the tools.
func data(t *testing.T, stream string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(stream) {
		text, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		for key := ""; ; {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			word, _ := token.(string)
			switch {
			case key == "delta" || key == "text" && !strings.Contains(text, "item.done") || key == "name" || key == "finishReason":
				out.WriteString(word + "|")
				key = ""
			default:
				key = word
			}
		}
	}
	return out.String()
}

const (
	openAI = `{"model":"m","stream":true,"tools":[{}],"input":[
		{"type":"message","role":"developer","content":[{"type":"input_text","text":"You are an agent"}]},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x"}]},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"list it"}]}MORE]}`
	geminis = `{"tools":[{}],"contents":[
		{"role":"user","parts":[{"text":"<session_context>x"},{"text":"list it"},{"text":"\n--- Content from referenced files ---"},{"text":"a file"}]}MORE]}`
	stream1 = "/v1beta/models/m:streamGenerateContent?alt=sse"
)

// The same script is told on each wire: a text and the call of a tool, then the answer to the
// tool's result.
func TestOtherWires(t *testing.T) {
	s := serve(t)
	for _, c := range []struct {
		path, body, want string
		wire             Wire
		results          []string
	}{
		{"/v1/responses", strings.Replace(openAI, "MORE", "", 1), "I look.|Bash|", OpenAI, nil},
		{"/v1/responses", strings.Replace(openAI, "MORE", `,
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},
			{"type":"function_call","name":"Bash","call_id":"1","arguments":"{}"},
			{"type":"function_call_output","call_id":"1","output":"a b"}`, 1), "Seen.|", OpenAI, []string{"a b"}},
		{stream1, strings.Replace(geminis, "MORE", "", 1), "I look.|Bash|STOP|", Gemini, nil},
		{stream1, strings.Replace(geminis, "MORE", `,
			{"role":"model","parts":[{"text":"I look."},{"functionCall":{"name":"Bash"}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"Bash","response":"a b"}}]}`, 1), "Seen.||STOP|", Gemini, []string{"a b"}},
	} {
		status, text := answer(t, s, c.path, c.body)
		if got := strings.ReplaceAll(data(t, text), "||", "|"); status != 200 || got != strings.ReplaceAll(c.want, "||", "|") {
			t.Errorf("%s: %d, %q, want %q\n%s", c.path, status, got, c.want, text)
		}
		asked := s.Requests()
		if last := asked[len(asked)-1]; last.Wire != c.wire || last.Side || !slices.Equal(last.Typed, []string{"list it"}) || !slices.Equal(last.Results, c.results) {
			t.Errorf("%s: kept as %+v", c.path, last)
		}
	}
}

// What an agent asks for itself counts as that, and what there is no wire for is refused and kept.
func TestOtherWiresAside(t *testing.T) {
	s := serve(t)
	title := strings.Replace(strings.Replace(openAI, "MORE", "", 1), `"stream":true`, `"stream":true,"text":{"format":{"type":"json_schema"}}`, 1)
	if status, text := answer(t, s, "/v1/responses", title); status != 200 || data(t, text) != "A title|" {
		t.Errorf("a title: %d %s", status, text)
	}
	if status, text := answer(t, s, "/v1beta/models/m:generateContent", strings.Replace(geminis, "MORE", "", 1)); status != 200 || !strings.Contains(text, `"I look."`) {
		t.Errorf("whole: %d %s", status, text)
	}
	for path, want := range map[string]int{"/v1beta/models/m:countTokens": 200, "/v1beta/models/m:other": 404, "/v1/responses": 400, stream1: 400} {
		if status, text := answer(t, s, path, "no JSON"); status != want {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	asked := s.Requests()
	if len(asked) != 6 || !asked[0].Side || asked[1].Side || len(s.Submitted()) != 1 {
		t.Errorf("kept are %v", asked)
	}
	for _, body := range []string{openAI, geminis} {
		failing := strings.Replace(strings.Replace(body, "list it", "limit", 1), "MORE", "", 1)
		path := map[bool]string{true: "/v1/responses", false: stream1}[body == openAI]
		if status, text := answer(t, s, path, failing); status != 429 || !strings.Contains(text, "Slow down") {
			t.Errorf("%s: %d %s", path, status, text)
		}
		broken := strings.Replace(strings.Replace(body, "list it", "broken", 1), "MORE", "", 1)
		if status, text := answer(t, s, path, broken); status != 200 || !strings.HasPrefix(data(t, text), "This stops |") || strings.Contains(text, "completed") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}
