//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/mockmodel"
	"github.com/ptywright/ptywright/protocol/client"
)

// An agentRun is an agent that the hostile prompts are sent to: how it is installed, and how it comes to its prompt at once, talking
// to nothing but a stand-in.
type agentRun struct {
	plugin  string
	folder  string // of .ci/agents
	program string
	older   bool // driven by the long form only
	// prepare writes the agent's configuration and returns its arguments. url is the stand-in's.
	prepare func(t *testing.T, w *world, url string) []string
}

var agentRuns = []agentRun{
	{"claude-code", "claude-code-" + claudeNow, "claude", false, prepareClaude},
	{"claude-code", "claude-code-" + claudeBefore, "claude", true, prepareClaude},
	{"codex", "codex-0.169.0", "codex", false, prepareCodex},
	{"codex", "codex-0.128.0", "codex", true, prepareCodex},
	{"gemini-cli", "gemini-cli-0.61.0", "gemini", false, prepareGemini},
	{"gemini-cli", "gemini-cli-0.43.0", "gemini", true, prepareGemini},
	{"opencode", "opencode-ai-1.18.33", "opencode", false, prepareOpenCode},
	{"opencode", "opencode-ai-1.2.27", "opencode", true, prepareOpenCode}, // has another placeholder
}

// config writes a file of the agent's home.
func (w *world) config(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(w.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// set adds variables to the agent's environment.
func (w *world) set(pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		w.env[pairs[i]] = pairs[i+1]
	}
}

func toJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func prepareClaude(t *testing.T, w *world, url string) []string {
	const key = "sk-ant-dummy-000000000000000000000000"
	w.config(t, ".claude.json", toJSON(t, obj{
		"hasCompletedOnboarding": true, "theme": "dark",
		"customApiKeyResponses": obj{"approved": []string{key[len(key)-20:]}}, // it keeps the last 20 characters
		"projects":              obj{w.work: obj{"hasTrustDialogAccepted": true}},
	}))
	w.set(claudeQuiet...)
	w.set("ANTHROPIC_BASE_URL", url, "ANTHROPIC_API_KEY", key)
	return []string{"--permission-mode", "default"}
}

func prepareCodex(t *testing.T, w *world, url string) []string {
	w.config(t, ".codex/config.toml", fmt.Sprintf(`model = "demo-model"
model_provider = "mock"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[model_providers.mock]
name = "mock"
base_url = %q
wire_api = "responses"
requires_openai_auth = false
[projects.%q]
trust_level = "trusted"
`, url+"/v1", w.work))
	return nil
}

func prepareGemini(t *testing.T, w *world, url string) []string {
	w.config(t, ".gemini/settings.json", toJSON(t, obj{
		"security": obj{"auth": obj{"selectedType": "gemini-api-key"}, "folderTrust": obj{"enabled": false}},
		"general":  obj{"disableAutoUpdate": true, "enableAutoUpdate": false},
		"privacy":  obj{"usageStatisticsEnabled": false}, "telemetry": obj{"enabled": false},
	}))
	w.set("GEMINI_API_KEY", "dummy-key-000", "GOOGLE_GEMINI_BASE_URL", url)
	return []string{"-m", "gemini-2.5-flash"}
}

func prepareOpenCode(t *testing.T, w *world, url string) []string {
	const model = "claude-sonnet-4-5"
	w.config(t, ".config/opencode/opencode.json", toJSON(t, obj{
		"autoupdate": false, "share": "disabled", "model": "anthropic/" + model, "small_model": "anthropic/" + model,
		"provider": obj{"anthropic": obj{
			"options": obj{"baseURL": url + "/v1", "apiKey": "dummy"}, "models": obj{model: obj{}},
		}},
		"permission": obj{"bash": "ask", "edit": "ask"},
	}))
	w.set("OPENCODE_DISABLE_AUTOUPDATE", "1", "OPENCODE_DISABLE_MODELS_FETCH", "1")
	return nil
}

// A hostile is a prompt that a program could run, lose, double or change.
type hostile struct {
	name, text string
	// refused are the codes with which it is refused, by plugin; "*" is for those that are not named, "" means that it is sent.
	refused map[string]string
	long    bool // only the long form sends it
}

func (h hostile) code(plugin string) string {
	if code, ok := h.refused[plugin]; ok {
		return code
	}
	return h.refused["*"]
}

// takenBack stands for a prompt that was typed, did not read as it should, and was taken back.
const takenBack = "taken back"

var (
	changes  = "would_change"
	everyone = map[string]string{"*": changes}
	// trims are those that take blanks off both ends.
	trims = map[string]string{"codex": changes, "gemini-cli": changes}
	commands = map[string]string{"*": "runs_as_command", "claude-code": "use_slash_command"}
	shells   = map[string]string{"codex": "runs_as_command"}
	ends     = map[string]string{"claude-code": "runs_as_command", "opencode": "runs_as_command"}
	byGemini = map[string]string{"gemini-cli": changes}
	byClaude = map[string]string{"claude-code": changes}
)

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "\nline %d of %d", i+1, n)
	}
	return b.String()[1:]
}

var hostiles = []hostile{
	{name: "plain", text: "say hello"},
	{name: "shell", text: "!touch ran.txt", refused: shells},
	{name: "shell behind blanks", text: "  !touch ran.txt", refused: trims},
	{name: "shell behind a no-break space", text: "\u00a0!touch ran.txt", refused: trims, long: true},
	{name: "shell, one character", text: "!", refused: shells},
	{name: "shell, 5 lines", text: "!touch ran.txt\n" + numbered(5), refused: shells},
	{name: "command", text: "/notacommand say hi", refused: commands},
	{name: "command of the program", text: "/model", refused: commands, long: true},
	{name: "command behind blanks", text: "  /compact now", refused: map[string]string{
		"claude-code": "use_slash_command", "codex": changes, "gemini-cli": changes, "opencode": "runs_as_command",
	}},
	{name: "command of two lines", text: "/compact\nsecond line", refused: commands, long: true},
	{name: "slash alone", text: "/", refused: commands},
	{name: "slash and a word", text: "/ x", refused: commands, long: true},
	{name: "path first", text: "/tmp/x explain this", refused: map[string]string{"opencode": "runs_as_command"}},
	{name: "exit", text: "exit", refused: ends},
	{name: "quit", text: ":q", refused: ends, long: true},
	{name: "blanks first", text: "   three blanks first", refused: trims},
	{name: "tab first", text: "\ttab first", refused: map[string]string{"*": changes, "opencode": ""}},
	{name: "tab inside", text: "a\tb tab inside", refused: byClaude},
	{name: "blanks last", text: "blanks last   ", refused: map[string]string{"*": changes, "opencode": ""}},
	{name: "line feeds last", text: "line feeds last\n\n", refused: map[string]string{"*": changes}},
	{name: "line feeds first", text: "\n\nline feeds first", refused: map[string]string{"*": changes, "claude-code": ""}},
	{name: "at", text: "@ at alone"},
	{name: "at, nothing else", text: "@"},
	{name: "at, a file first", text: "@README.md explain", refused: byGemini},
	{name: "at, a file last", text: "explain @README.md", refused: byGemini},
	{name: "at, the beginning of a file last", text: "explain @READ", refused: byGemini}, // it would put the whole name there
	{name: "at, no file", text: "@nosuchfile explain", refused: byGemini, long: true},
	{name: "dollar last", text: "what costs $"},
	{name: "question mark", text: "? what is it"},
	{name: "question mark, nothing else", text: "?"},
	{name: "hash", text: "# remember this"},
	{name: "ampersand", text: "& run in the background"},
	{name: "backslash first", text: `\ backslash first`},
	{name: "backslash last", text: `backslash last \`},
	{name: "two backslashes last", text: `backslashes last \\`},
	{name: "substitutions", text: "$HOME $(touch ran.txt) `touch ran.txt` ;touch ran.txt", long: true},
	{name: "emoji", text: "family 👨‍👩‍👧‍👦 flag 🇩🇪 ok 👍🏽 heart ❤️ one 1️⃣"},
	{name: "marks of their own", text: "cafe\u0301", refused: byClaude},
	{name: "invisible", text: "zero\u200bwidth", refused: map[string]string{
		"claude-code": changes, "gemini-cli": changes, "opencode": takenBack, // it draws it without the last letter
	}},
	{name: "byte order mark", text: "\ufeffmark first", refused: everyone, long: true},
	{name: "CJK", text: "日本語のテスト、漢字かな交じり文。" + strings.Repeat("長い文", 60)},
	{name: "right to left", text: "שלום עולם مرحبا", long: true},
	{name: "3 lines", text: "line one\nline two\nline three"},
	{name: "paragraphs", text: "one\n\n\n   two, indented\n\nthree"},
	{name: "50 lines", text: numbered(50)},
	{name: "10 KB", text: "ten kilobytes" + strings.Repeat(" word", 2048)},
	{name: "10 KB of one word", text: strings.Repeat("x", 10<<10), long: true},
	{name: "the mark of a paste", text: "[Pasted Content 100 chars] [Pasted text #1 +3 lines] [Pasted ~3 lines]"},
	{name: "end of a paste", text: "one\x1b[201~\r!touch ran.txt\r", refused: everyone},
	{name: "NUL", text: "nul\x00inside", refused: everyone},
	{name: "other controls", text: "\x03\x04bell\x07\u009b", refused: everyone},
	{name: "CR LF", text: "line one\r\nline two", refused: everyone},
	{name: "CR", text: "line one\rline two", refused: everyone, long: true},
	{name: "only blanks", text: " \t \n\u3000 ", refused: map[string]string{"*": "empty_prompt"}},
	{name: "empty", text: "", refused: map[string]string{"*": "empty_prompt"}},
	{name: "plain again", text: "and once more"},
}

// TestHostilePrompts sends every agent prompts that could be run, lost, doubled or changed: each arrives at the model once and as it was,
// or is refused with the code that says why, and the next one goes through. In the short form each program's newest version gets
// those that differ most.
func TestHostilePrompts(t *testing.T) {
	if !offline(t) {
		return
	}
	for _, run := range agentRuns {
		t.Run(run.folder, func(t *testing.T) {
			if run.older && !long {
				t.Skip("drives an older version: PTYWRIGHT_LONG=1")
			}
			t.Parallel()
			newProbe(t, run).all()
		})
	}
}

// A probe is an agent at its prompt, and what it has been sent.
type probe struct {
	*adapter
	run   agentRun
	world *world
	model *mockmodel.Server
	sent  []string
}

func newProbe(t *testing.T, run agentRun) *probe {
	t.Helper()
	path := agent(t, run.folder, run.program)
	w := isolate(t)
	model, err := mockmodel.New([]byte(`{"conversations": [{"match": "take your time \\d+$", "steps": [{"hold": "answer", "blocks": [{"text": "Late."}]}]}],
		"default": {"blocks": [{"text": "Fine."}]}, "side": {"blocks": [{"text": "A title"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	w.write(t, "README.md", "A folder.\n")
	w.set("COLORTERM", "truecolor")
	args := run.prepare(t, w, model.URL)
	s := start(t)
	program, all := w.command(s.program.mark, path, args...)
	var r struct{ Adapter, Session string }
	s.call("adapter.start", obj{"plugin": run.plugin, "program": program, "args": all, "cwd": w.work, "rows": 40, "cols": 120}, &r)
	p := &probe{adapter: &adapter{s, r.Adapter, r.Session, t}, run: run, world: w, model: model}
	p.ready()
	return p
}

// ready waits until the prompt takes input.
func (p *probe) ready() {
	p.t.Helper()
	p.adapter.call("adapter.wait", obj{"intent": "wait_ready_matcher", "timeout_ms": hang.Milliseconds() / 2}, nil)
	if s := p.state(); !slices.Contains([]string{"ready", "completed_turn"}, s.State) {
		p.t.Fatalf("the state is %v\n%s", s, p.screen())
	}
}

func (p *probe) state() adapterState {
	p.t.Helper()
	var r struct{ State adapterState }
	p.adapter.call("adapter.state", obj{}, &r)
	return r.State
}

// try sends a prompt and waits for its turn. It returns the code with which it was refused, "" when it was not.
func (p *probe) try(params obj) (code string, r receipt) {
	p.t.Helper()
	var done struct {
		Receipt receipt
		State   adapterState
	}
	err := p.server.Call(p.server.ctx, "adapter.turn", obj{
		"adapter": p.id, "send": obj{"intent": "send_prompt", "params": params}, "wait": obj{"timeout_ms": hang.Milliseconds() / 2},
	}, &done)
	var e *client.Error
	switch {
	case errors.As(err, &e) && e.Reason == "intent_refused":
		var data struct{ Code string }
		if err := json.Unmarshal(e.Data, &data); err != nil || data.Code == "" {
			p.t.Fatalf("refused without a code: %v, %s", e, e.Data)
		}
		return data.Code, receipt{}
	case err != nil:
		p.t.Fatalf("%v\n%s", err, p.screen())
	}
	return "", done.Receipt
}

// all sends the prompts and compares what has arrived.
func (p *probe) all() {
	p.t.Helper()
	for _, h := range hostiles {
		if h.long && !long {
			continue
		}
		p.ready()
		want := h.code(p.run.plugin)
		code, r := p.try(obj{"prompt": h.text})
		if code == "" && r.Submitted != nil && !*r.Submitted && strings.HasSuffix(r.Evidence, "; it was taken back") {
			code = takenBack
		}
		switch {
		case code != want:
			p.t.Errorf("%s: refused with %q, want %q: %s\n%s", h.name, code, want, r.Evidence, p.screen())
		case code == "" && (r.Submitted == nil || !*r.Submitted):
			p.t.Errorf("%s was not submitted: %s\n%s", h.name, r.Evidence, p.screen())
		}
		if code == "" && r.Submitted != nil && *r.Submitted {
			p.arrived(h.name, h.text)
		}
		if entries, err := os.ReadDir(p.world.work); err != nil || len(entries) != 1 {
			p.t.Fatalf("%s: in the folder are now %v (%v)", h.name, entries, err)
		}
	}
	p.inexact()
	p.cleared()
	p.cancelled()
	p.once()
}

// arrived waits until a prompt that was submitted is at the model, as it was.
func (p *probe) arrived(name, text string) {
	p.t.Helper()
	p.sent = append(p.sent, text)
	ctx, cancel := context.WithTimeout(p.server.ctx, hang/2)
	defer cancel()
	n := len(p.sent)
	if _, err := p.model.Wait(ctx, func(r mockmodel.Request) bool {
		return r.Wire != "" && !r.Side && len(r.Typed) >= n
	}); err != nil {
		p.t.Fatalf("%s was submitted and did not arrive: %v\n%s", name, err, p.screen())
	}
	all := p.model.Submitted()
	if got := bare(all[len(all)-1]); got != text || len(all) != n {
		p.t.Errorf("%s: %d prompts have arrived, want %d, the last as\n%.300q\nwant\n%.300q", name, len(all), n, got, text)
	}
}

// bare takes off what Claude Code puts around a long paste.
func bare(text string) string {
	if !pastedContent.MatchString(text) {
		return text
	}
	parts := pastedContent.Split(text, -1)
	for i, part := range parts {
		if i%2 == 1 { // within
			parts[i] = strings.TrimSuffix(strings.TrimPrefix(part, "\n"), "\n")
		} else {
			parts[i] = strings.Trim(part, "\n")
		}
	}
	return strings.Join(parts, "")
}

// inexact sends, with exact = false, what is refused otherwise: as the program has it.
func (p *probe) inexact() {
	p.t.Helper()
	p.ready()
	code, r := p.try(obj{"prompt": " three\r\nlines\x00\rnow", "exact": false})
	want := map[string]string{"claude-code": " three\nlines\nnow", "opencode": " three\nlines\nnow"}[p.run.plugin]
	if p.run.plugin == "opencode" {
		want = "three\nlines\nnow" // three lines: it trims them
	}
	if want == "" {
		want = "three\nlines\nnow"
	}
	if code != "" || r.Submitted == nil || !*r.Submitted {
		p.t.Errorf("inexact: %q, %+v\n%s", code, r, p.screen())
		return
	}
	p.arrived("inexact", want)
}

// cleared wants what somebody else has typed refused, and gone after clear_input, also in shell mode.
func (p *probe) cleared() {
	p.t.Helper()
	for i, typed := range []string{"something", "!", "!ls"} {
		if p.run.plugin != "claude-code" {
			break // the others have no intent that types
		}
		for _, c := range typed {
			p.send("key", obj{"key": string(c)})
		}
		// What was typed may not be on the screen yet: then the prompt is seen to be joined to it, and taken back.
		if code, r := p.try(obj{"prompt": "x"}); code == "" && (r.Submitted == nil || *r.Submitted) {
			p.t.Errorf("with %q in the input a prompt was submitted: %s\n%s", typed, r.Evidence, p.screen())
		}
		p.send("clear_input", nil)
		text := fmt.Sprintf("cleared %d", i)
		if code, r := p.try(obj{"prompt": text}); code != "" || !*r.Submitted {
			p.t.Fatalf("after %q was cleared: %q, %+v\n%s", typed, code, r, p.screen())
		}
		p.arrived(text, text)
	}
	p.send("clear_input", nil) // nothing to do, and nothing done
}

// cancelled cancels a turn right after it was begun.
func (p *probe) cancelled() {
	p.t.Helper()
	for i := range times(2, 10) {
		text := fmt.Sprintf("take your time %d", i)
		p.ready()
		p.send("send_prompt", obj{"prompt": text})
		p.send("cancel", nil)
		p.adapter.call("adapter.wait", obj{"timeout_ms": hang.Milliseconds() / 2}, nil)
		if s := p.state(); s.State != "ready" {
			p.t.Errorf("after a cancel: %v\n%s", s, p.screen())
		}
	}
}

// stopped are the prompts of turns that were stopped.
var stopped = regexp.MustCompile(`^(take your time \d+(\n|$))+`)

// once wants all prompts at the model, each once and in order.
func (p *probe) once() {
	p.t.Helper()
	p.ready()
	code, r := p.try(obj{"prompt": "the last one"})
	if code != "" || r.Submitted == nil || !*r.Submitted {
		p.t.Fatalf("the last one: %q, %+v\n%s", code, r, p.screen())
	}
	var got []string
	for _, text := range p.model.Submitted() {
		// Whether one that was stopped is there is chance, and what has no answer is of the message that follows.
		if text = stopped.ReplaceAllString(text, ""); text != "" {
			got = append(got, bare(text))
		}
	}
	want := append(p.sent, "the last one")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			p.t.Fatalf("from number %d on arrived are\n%.60q\nwant\n%.60q", i, got[min(i, len(got)):], want[min(i, len(want)):])
		}
	}
}
