package repl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
	"go.uber.org/goleak"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/internal/ansi"
	"github.com/ptywright/ptywright/protocol/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fake answers calls, and keeps what was sent.
type fake struct {
	answers map[string]string
	sent    []string
}

func (f *fake) call(_ context.Context, method string, params, result any) error {
	b, err := json.Marshal(params)
	if err != nil {
		return err
	}
	f.sent = append(f.sent, method+" "+string(b))
	text, ok := f.answers[method]
	if !ok {
		return &client.Error{Code: -32601, Message: "no such method", Reason: "unknown_method"}
	}
	return json.Unmarshal([]byte(text), result)
}

// newTest is a machine whose server is f.
func newTest(t testing.TB, f *fake) *machine {
	m := newMachine(io.Discard, false, func() int { return 60 })
	t.Cleanup(m.Close)
	m.call = f.call
	m.learn([]string{"session.create", "session.input", "session.list", "session.search", "session.snapshot", "session.wait", "adapter.send", "adapter.turn", "adapter.wait", "plugin.describe"})
	return m
}

func (m *machine) run(t testing.TB, source string) []lua.LValue {
	t.Helper()
	f, _, err := m.compile(source, chunk)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	values, err := m.eval(t.Context(), f)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return values
}

func TestWaitTablesBecomeMatchers(t *testing.T) {
	f := &fake{answers: map[string]string{
		"session.create": `{"session":"s1"}`, "session.input": `{"sent":true,"sequence":7}`, "session.wait": `{"matched":true,"elapsed_ms":1,"outcome":{"kind":"bell"}}`,
	}}
	m := newTest(t, f)
	for _, test := range []struct{ source, params string }{
		{`s = session.spawn("sh", "-c", "x", {rows = 5})`, `{"args":["-c","x"],"program":"sh","rows":5}`},
		{`s:wait{text = "a", timeout = 1.5}`, `{"cells":"runs","matcher":{"type":"contains_text","value":"a"},"session":"s1","timeout_ms":1500}`},
		{`s:wait"a"`, `{"cells":"runs","matcher":{"type":"contains_text","value":"a"},"session":"s1"}`},
		{`s:send("x")`, `{"actions":[{"type":"text","value":"x"}],"session":"s1"}`},
		{`s:send("x", "y", {delay_ms = 5})`, `{"actions":[{"type":"text","value":"x"},{"type":"text","value":"y"}],"delay_ms":5,"session":"s1"}`},
		{`wait{exited = true}`, `{"cells":"runs","matcher":{"type":"process_exited"},"session":"s1","since":7}`},
		{`wait(s, {stable = 100, since = 0})`, `{"cells":"runs","matcher":{"type":"screen_stable","value":{"min_ms":100}},"session":"s1","since":0}`},
		{`wait{any = {{regex = "a"}, {["not"] = {cursor = {1, 2}}}}, since = false}`,
			`{"cells":"runs","matcher":{"type":"any","value":[{"type":"screen_regex","value":"a"},{"type":"not","value":{"type":"cursor_at","value":{"col":2,"row":1}}}]},"session":"s1","since":null}`},
		{`wait{text = "a", title = "b"}`, `{"cells":"runs","matcher":{"type":"all","value":[{"type":"contains_text","value":"a"},{"type":"title_contains","value":"b"}]},"session":"s1","since":7}`},
		{`wait{matcher = {type = "bell"}, command = nil}`, `{"cells":"runs","matcher":{"type":"bell"},"session":"s1","since":7}`},
		{`wait{type = "lua", value = {plugin = "p", predicate = "q", params = array()}}`, `{"cells":"runs","matcher":{"type":"lua","value":{"params":[],"plugin":"p","predicate":"q"}},"session":"s1","since":7}`},
		{`s:keys("up", "ctrl+c")`, `{"actions":[{"type":"key","value":"up"},{"type":"key","value":"ctrl+c"}],"session":"s1"}`},
	} {
		m.run(t, test.source)
		last := f.sent[len(f.sent)-1]
		if _, params, _ := strings.Cut(last, " "); params != test.params {
			t.Errorf("%s sends\n%s, expected\n%s", test.source, params, test.params)
		}
	}
	for source, want := range map[string]string{
		`s:wait{txt = "a"}`:                `wait knows no "txt"`,
		`s:wait{}`:                         `wait for what?`,
		`s.wait("a")`:                      `call it with a colon`,
		`s:wait{any = {"a"}}`:              `any and all take a list of tables`,
		`rpc("x", {1, a = 2})`:             `both a list and names`,
		`rpc("x", {f = print})`:            `a function cannot be sent`,
		`local t = {} t.t = t rpc("x", t)`: `nested more than`,
		`s:nothing()`:                      `session s1 has no "nothing"`,
	} {
		c, _, err := m.compile(source, chunk)
		if err == nil {
			_, err = m.eval(t.Context(), c)
		}
		if err == nil || !strings.Contains(m.complain(err), want) {
			t.Errorf("%s: %v, expected %s", source, err, want)
		}
	}
}

func TestValuesAreWrittenAsLua(t *testing.T) {
	m := newTest(t, &fake{})
	for source, want := range map[string]string{
		`nil`:                                 "nil",
		`1.5`:                                 "1.5",
		`2^40`:                                "1099511627776",
		`{}`:                                  "{}",
		`{1, {a = true}, x = "q\"\n"}`:        `{ 1, { a = true }, x = "q\"\n" }`,
		`{["end"] = 1, ["a b"] = 2, [5] = 3}`: `{ ["a b"] = 2, ["end"] = 1, [5] = 3 }`,
		`json.null`:                           "json.null",
		`(function() local t = {} t.t = t return t end)()`: "{ t = {...} }",
		`{string.rep("x", 500)}`:                           `{` + "\n  \"" + strings.Repeat("x", 400) + `".. 100 more bytes` + "\n}",
		`{"\27[31m\194\155"}`:                              `{ "\x1b[31m\x9b" }`,
	} {
		v := m.run(t, source)
		if got := m.show(v[0]); got != want {
			t.Errorf("%s is written\n%s, expected\n%s", source, got, want)
		}
	}
	if got := m.show(m.run(t, `local t = {} for i = 1, 150 do t[i] = i end return t`)[0]); !strings.Contains(got, "... 50 more") {
		t.Errorf("a long list: %s", got)
	}
}

func TestUnfinishedChunks(t *testing.T) {
	m := newTest(t, &fake{})
	for source, want := range map[string]bool{
		"for i = 1, 2 do": true, "f(": true, "x = ": true, "{1,": true, "x = [[a": true, "if a then": true, "return": false,
		"x": false, "x = 1": false, "x x": false, "end": false, `x = "a`: false, "1 +": true, "": false,
	} {
		if _, more, err := m.compile(source, chunk); (err != nil && more) != want {
			t.Errorf("%q: more is %v, %v", source, more, err)
		}
	}
}

func TestCompletionOfLua(t *testing.T) {
	f := &fake{answers: map[string]string{
		"session.create": `{"session":"s1"}`, "session.list": `{"details":[{"session":"s1","program":"sh"},{"session":"s2","program":"vi\u001b[2J"}]}`,
		"server.capabilities": `{"schema":{"methods":{"session.search":{"about":"Finds.","params":{"$ref":"#/$defs/S"}}},"$defs":{"S":{"properties":{"text":{"description":"what"},"max":{}}}}}}`,
		"adapter.list":        `{"plugins":[{"name":"less"}]}`, "adapter.start": `{"adapter":"e1","plugin":"less","session":"s3"}`,
		"plugin.describe": `{"intents":[{"name":"next_page"},{"name":"search","params_schema":{"required":["text"]}}]}`,
	}}
	m := newTest(t, f)
	m.run(t, `a = adapter.start("less") s = session.spawn("sh") t = {one = 1, two = function() end, ["no name"] = 1}`)
	for text, want := range map[string]string{
		`s:`: `adapter?no`, `s:sea`: `search`, `x = s:sea`: `search`, `print(s:sea`: `search`, `t.`: `one two`, `t.t`: `two`, `t.x`: ``,
		`session.s`: `search snapshot spawn`, `a:n`: `next_page`, `a:send("`: `next_page search`, `a:turn("s`: `search`, `turn(a, "s`: `search`,
		`adapter.start("`: `less`, `rpc("session.se`: `session.search`, `rpc('session.se`: `session.search`, `rpc("session.search", {`: `max text`,
		`rpc("session.search", {text = "x", m`: `max`, `s:search{t`: `text`, `s:search({t`: `text`, `session.search{t`: `text`,
		`use("s`: `s1 s2`, `session.get"`: `s1 s2`, `s:wait{out`: `output output_regex`, `s:wait{["n`: ``, `s:keys("ctrl+c`: `ctrl+c`, `s:keys("ctrl_c`: ``, `wait{any = {{exi`: `exited`, `turn("x", {tit`: `title`,
		`s:keys("up", "page_d`: `page_down`, `rpc("x", {session = "`: `s1 s2`, `-- s:`: ``, `"s:`: ``, `x = 1`: ``, `whi`: `while`, `f(`: ``,
		`f().x`: ``, `s:search{text = "x"}.`: ``, `string.gs`: `gsub`, `rpc("session.wait", {matcher = {type = "bel`: `bell`,
	} {
		at, items := m.completeLua(text)
		var names []string
		for _, c := range items {
			names = append(names, c.Text)
		}
		if want == "adapter?no" { // what it is about: all of a session's
			if !slices.Contains(names, "wait") || !slices.Contains(names, "search") || slices.Contains(names, "create") {
				t.Errorf("%s: %q", text, names)
			}
			continue
		}
		if got := strings.Join(names, " "); got != want || at > len(text) {
			t.Errorf("%s: at %d %q, expected %q", text, at, got, want)
		}
	}
}

func FuzzCompletionAndColours(f *testing.F) {
	for _, s := range []string{`s:wait{any = {{text = "`, `rpc("session.`, "a[[b", "--[==[x", `x["a`, `:rpc sess`, `f"\`, "}", `"é"`, "s.", ":"} {
		f.Add(s)
	}
	m := newTest(f, &fake{answers: map[string]string{"session.create": `{"session":"s1"}`}})
	c := &console{m: m, style: true, ctx: context.Background()}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1<<10 {
			return
		}
		at := 0
		for _, span := range c.highlight(s) {
			if span.Start < at || span.End < span.Start || span.End > len(s) {
				t.Fatalf("%q: span %+v behind %d", s, span, at)
			}
			at = span.End
		}
		if start, items := c.complete(s, len(s)); start < 0 || len(items) > 0 && start > len(s) {
			t.Fatalf("%q: completes at %d", s, start)
		}
	})
}

func FuzzNothingRawIsShown(f *testing.F) {
	f.Add("\x1b]2;x\x07 \u009b31m \u202e a\r\n\tb\x7f")
	f.Fuzz(func(t *testing.T, s string) {
		for name, got := range map[string]string{"Clean": cli.Clean(s), "line": cli.OneLine(s), "quote": quote(s), "stripped": cli.OneLine(stripped(s))} {
			if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x2066 }) {
				t.Errorf("%s(%q) is %q", name, s, got)
			}
			if name != "Clean" && strings.Contains(got, "\n") {
				t.Errorf("%s(%q) is more than a line", name, s)
			}
			if !utf8.ValidString(got) {
				t.Errorf("%s(%q) is not UTF-8", name, s)
			}
		}
	})
}

func TestBoardIsBounded(t *testing.T) {
	b := newBoard(false)
	b.set(true, "s1")
	for i := range 10_000 {
		b.event(client.Event{Method: "session.output", Session: "s1", Output: strings.Repeat(fmt.Sprintf("line %d \x1b[31mred\x1b]0;t\x07\n", i), 100)})
	}
	if len(b.lines) > maxNotices {
		t.Errorf("%d lines wait", len(b.lines))
	}
	got := b.take(20)
	if len(got) != maxNotices+1 || !strings.HasPrefix(got[0], "... ") || !strings.HasPrefix(got[maxNotices], "s1| line 9999 red") {
		t.Errorf("%d lines, %q ... %q", len(got), got[0], got[len(got)-1])
	}
	if rest := b.take(20); len(rest) != 0 {
		t.Errorf("taken twice: %q", rest)
	}
	b.set(false, "")
	b.event(client.Event{Method: "session.exited", Session: "s1"})
	if got := b.take(20); len(got) != 0 {
		t.Errorf("when off: %q", got)
	}
}

func TestHistoryKeepsWhatItMay(t *testing.T) {
	h := history{filepath.Join(t.TempDir(), "new", "repl_history")}
	if all, err := h.load(); err != nil || all != nil {
		t.Errorf("no file: %q, %v", all, err)
	}
	for _, entry := range []string{"one", "two\nlines", " blank first", `password = "hunter2hunter2"`, "Authorization: Bearer abcdefghijklmnop0123456789", strings.Repeat("x", maxEntry+1)} {
		if err := h.add(entry); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(h.path+".x", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := h.load()
	if err != nil || !slices.Equal(all, []string{"one", "two\nlines"}) {
		t.Errorf("kept %q, %v", all, err)
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f, "no entry")
	for i := range 2*maxHistory + 10 {
		fmt.Fprintf(f, "\"%d\"\n", i)
	}
	f.Close()
	if all, err = h.load(); err != nil || len(all) != maxHistory || all[maxHistory-1] != fmt.Sprint(2*maxHistory+9) {
		t.Errorf("%d entries, %v", len(all), err)
	}
	if b, _ := os.ReadFile(h.path); strings.Count(string(b), "\n") != maxHistory {
		t.Errorf("the file has %d lines", strings.Count(string(b), "\n"))
	}
	if info, err := os.Stat(h.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode: %v, %v", info, err)
	}
}

func TestExitCodes(t *testing.T) {
	for reason, want := range map[string]int{"timeout": 3, "unknown_session": 4, "session_leased": 5, "permission_denied": 5, "invalid_params": 1} {
		if got := codeOf(fmt.Errorf("x: %w", &client.Error{Reason: client.Reason(reason)})); got != want {
			t.Errorf("%s: %d", reason, got)
		}
	}
	if codeOf(nil) != 0 || codeOf(errors.New("x")) != 1 || codeOf(&unknownID{}) != 4 {
		t.Error("the codes of other errors")
	}
}

func TestScreenFitsItsTerminal(t *testing.T) {
	m := newTest(t, &fake{})
	raw := object([]byte(`{"size":{"rows":3,"cols":12},"cursor":{"row":1,"col":1,"visible":true},"lines":["日本語 wide","ab",""],"title":"evil\u001b]2;x\u0007",
		"cells":[{"row":0,"col":0,"cols":12,"text":"日本語 wide","style":{"foreground":"rgb:1:2:300","background":"default"}},
		{"row":1,"col":0,"cols":2,"text":"ab","style":{"bold":true,"foreground":"idx:3","background":"idx:200"}}]}`))
	s := m.screenOf("s1", raw)
	want := "┌ s1 3x12 · …┐\n│日本語 wide │\n│ab          │\n└ 1 blank ro…┘"
	if got := s.show(false, 80); got != want {
		t.Errorf("drawn:\n%s\nexpected:\n%s", got, want)
	}
	for _, cols := range []int{12, 14, 20, 80} {
		for row := range strings.Lines(s.show(true, cols)) {
			if n := len([]rune(ansi.Strip(strings.TrimRight(row, "\n")))); n > max(cols, 12) {
				t.Errorf("at %d columns a row has %d: %q", cols, n, row)
			}
		}
	}
	if got := s.show(true, 80); !strings.Contains(got, "\x1b[0;1;33;48;5;200ma\x1b[0;1;33;48;5;200;7mb") {
		t.Errorf("styles and cursor: %q", got)
	}
}
