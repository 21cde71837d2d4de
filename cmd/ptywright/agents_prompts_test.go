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

// An agentRun is an agent that the hostile prompts are sent to: how it is installed, and how it
// comes to its prompt at once, talking to nothing but a stand-in.
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

// A hostile is a prompt that a program could run, lose, double or change: one of those that
// plugins/testdata/prompts.json has, which the plugins' own tests send to programs that stand in
// for the agents.
type hostile struct {
	Name, Text, More string
	Times            int // of More, behind Text
	// Refused are the codes with which it is refused, by plugin; "*" is for those that are not
	// named, "" means that it is sent, and takenBack that it is typed, does not read as it should,
	// and is taken back.
	Refused map[string]string
	Long    bool // only the long form sends it to real agents
}

const takenBack = "taken back"

func (h hostile) code(plugin string) string {
	if code, ok := h.Refused[plugin]; ok {
		return code
	}
	return h.Refused["*"]
}

func hostiles(t *testing.T) (all []hostile) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "plugins", "testdata", "prompts.json"))
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i].Text += strings.Repeat(all[i].More, all[i].Times)
	}
	return all
}

// TestHostilePrompts sends every agent prompts that could be run, lost, doubled or changed: each
// arrives at the model once and as it was, or is refused with the code that says why, and the next
// one goes through. In the short form each program's newest version gets those that differ most.
func TestHostilePrompts(t *testing.T) {
	t.Parallel()
	if !offline(t) {
		return
	}
	for _, run := range agentRuns {
		t.Run(run.folder, func(t *testing.T) {
			if run.older && !long {
				t.Skip("drives an older version: PTYWRIGHT_LONG=1")
			}
			t.Parallel()
			newProbe(t, run).all(t)
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
	program, all := w.command(s.program.Mark, path, args...)
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

// try sends a prompt and waits for its turn. It returns the code with which it was refused, "" when
// it was not.
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
func (p *probe) all(t *testing.T) {
	t.Helper()
	for _, h := range hostiles(t) {
		if h.Long && !long {
			continue
		}
		p.ready()
		want := h.code(p.run.plugin)
		code, r := p.try(obj{"prompt": h.Text})
		if code == "" && r.Submitted != nil && !*r.Submitted && strings.HasSuffix(r.Evidence, "; it was taken back") {
			code = takenBack
		}
		switch {
		case code != want:
			p.t.Errorf("%s: refused with %q, want %q: %s\n%s", h.Name, code, want, r.Evidence, p.screen())
		case code == "" && (r.Submitted == nil || !*r.Submitted):
			p.t.Errorf("%s was not submitted: %s\n%s", h.Name, r.Evidence, p.screen())
		}
		if code == "" && r.Submitted != nil && *r.Submitted {
			p.arrived(h.Name, h.Text)
		}
		if entries, err := os.ReadDir(p.world.work); err != nil || len(entries) != 1 {
			p.t.Fatalf("%s: in the folder are now %v (%v)", h.Name, entries, err)
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

// cleared wants what somebody else has typed refused, and gone after clear_input, also in shell
// mode.
func (p *probe) cleared() {
	p.t.Helper()
	for i, typed := range []string{"something", "!", "!ls"} {
		if p.run.plugin != "claude-code" {
			break // the others have no intent that types
		}
		for _, c := range typed {
			p.send("key", obj{"key": string(c)})
		}
		// What was typed may not be on the screen yet. Then the prompt is seen to be joined to it
		// and taken back, and on a busy machine both are gone in time for the prompt to go in by
		// itself.
		if code, r := p.try(obj{"prompt": "x"}); code == "" && (r.Submitted == nil || *r.Submitted) {
			p.arrived("x", "x")
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
		p.begin(text)
		p.cancel(text)
		p.adapter.call("adapter.wait", obj{"timeout_ms": hang.Milliseconds() / 2}, nil)
		if s := p.state(); s.State != "ready" {
			p.t.Errorf("after a cancel: %v\n%s", s, p.screen())
		}
	}
}

// begin sends a prompt. One that Claude Code puts back from the turn before, as this is typed, is
// joined to it, and both are taken back: then it is sent again.
func (p *probe) begin(text string) {
	p.t.Helper()
	var r struct{ Receipt receipt }
	for range 3 {
		p.adapter.call("adapter.send", obj{"intent": "send_prompt", "params": obj{"prompt": text}}, &r)
		if *r.Receipt.Submitted || !strings.HasSuffix(r.Receipt.Evidence, "; it was taken back") {
			break
		}
	}
	p.taken("send_prompt", r.Receipt)
}

// cancel ends the turn of a prompt that has just been submitted. On a frame that is drawn in pieces
// no turn may be seen; then it is refused, and asked for again once the model has the prompt.
func (p *probe) cancel(text string) {
	p.t.Helper()
	var r struct{ Receipt receipt }
	err := p.server.Call(p.server.ctx, "adapter.send", obj{"adapter": p.id, "intent": "cancel"}, &r)
	var e *client.Error
	if errors.As(err, &e) && e.Reason == "intent_refused" {
		if _, err := p.model.Wait(p.server.ctx, func(r mockmodel.Request) bool { return !r.Side && strings.HasSuffix(r.Prompt(), text) }); err != nil {
			p.t.Fatalf("%v\n%s", err, p.screen())
		}
		p.send("cancel", nil)
		return
	}
	if err != nil {
		p.t.Fatalf("%v\n%s", err, p.screen())
	}
	p.taken("cancel", r.Receipt)
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
		// Whether one that was stopped is there is chance, and what has no answer is of the message
		// that follows.
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
