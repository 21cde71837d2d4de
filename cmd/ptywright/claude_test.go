//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/mockmodel"
)

// The real Claude Code, isolated, with a model that says what testdata/claude.json says. What is
// different between versions is in the comments of plugins/claude-code.
const claudeNow, claudeBefore = "2.1.328", "2.1.197"

// asks is the permission mode in which a version asks for everything.
var asks = map[string]string{claudeNow: "manual", claudeBefore: "default"}

// claudeQuiet are variables for Claude Code: no telemetry, no update, no search for editors, no
// installation of plugins. It talks to nothing but the model then, as strace shows.
var claudeQuiet = []string{
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1", "DISABLE_AUTOUPDATER", "1", "DISABLE_INSTALLATION_CHECKS", "1",
	"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "1", "CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL", "1",
	// After 1 it gives up; without, after 10, which takes minutes.
	"CLAUDE_CODE_MAX_RETRIES", "1",
}

// A claude is a running Claude Code, its model, and what drives it.
type claude struct {
	driver
	t      *testing.T
	server *server
	model  *mockmodel.Server
	world  *world
	// prompts are those that must have arrived at the model, each once.
	prompts []string
}

// A driver drives Claude Code in the words of the plugin.
type driver interface {
	// send performs an intent, and fails the test when it is not performed.
	send(intent string, params map[string]any)
	// wait waits until one of the states holds and a text, if not "", is on the screen.
	wait(text string, states ...string)
	// turn performs an intent and waits until the turn is over or needs the user: then one of the
	// states must hold, and a text, if not "", be on the screen.
	turn(intent string, params map[string]any, text string, states ...string)
	// exited waits for the end and says how it was, as session.exited does.
	exited() string
}

// drive starts Claude Code at its first screen. with makes the driver.
func drive(t *testing.T, version string, with func(s *server, w *world, program string, args []string) driver, args ...string) *claude {
	t.Helper()
	path := agent(t, "claude-code-"+version, "claude")
	w := isolate(t)
	script, err := os.ReadFile(filepath.Join("testdata", "claude.json"))
	if err != nil {
		t.Fatal(err)
	}
	model, err := mockmodel.New(bytes.ReplaceAll(script, []byte("{{work}}"), []byte(w.work)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	w.write(t, "hello.py", "def hello(name):\n    print(\"hello, \" + name)\n")
	if err := os.WriteFile(filepath.Join(w.home, ".claude.json"), []byte(`{"hasCompletedOnboarding": true, "theme": "dark"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	w.set(claudeQuiet...)
	w.set("ANTHROPIC_BASE_URL", model.URL, "ANTHROPIC_API_KEY", "sk-ant-dummy-000000000000000000000000")
	s := start(t)
	program, all := w.command(s.program.Mark, path, append([]string{"--permission-mode", asks[version]}, args...)...)
	return &claude{driver: with(s, w, program, all), t: t, server: s, model: model, world: w}
}

// begin takes it from the first screen to the prompt.
func (c *claude) begin() {
	c.t.Helper()
	c.wait("", "waiting_for_trust")
	c.send("approve_trust", nil)
	c.wait("", "waiting_for_login")
	c.send("choose_option", map[string]any{"option": "Yes"})
	c.wait("", "ready")
}

// prompt submits a prompt and makes sure that the model has got it.
func (c *claude) prompt(text string) {
	c.t.Helper()
	c.send("send_prompt", map[string]any{"prompt": text})
	c.got(text)
}

// ask submits a prompt, waits for the turn as the driver's turn does, and makes sure that the model
// has got it.
func (c *claude) ask(prompt, text string, states ...string) {
	c.t.Helper()
	c.turn("send_prompt", map[string]any{"prompt": prompt}, text, states...)
	c.got(prompt)
}

// choose picks an option and waits for the turn to go on and end.
func (c *claude) choose(option, text string, states ...string) {
	c.t.Helper()
	c.turn("choose_option", map[string]any{"option": option}, text, states...)
}

// approve agrees and waits for the turn to go on and end.
func (c *claude) approve(text string) {
	c.t.Helper()
	c.turn("approve", nil, text, "completed_turn")
}

// got waits until a prompt has arrived at the model.
func (c *claude) got(text string) {
	c.t.Helper()
	c.prompts = append(c.prompts, text)
	ctx, cancel := context.WithTimeout(context.Background(), hang/2)
	defer cancel()
	if _, err := c.model.Wait(ctx, func(r mockmodel.Request) bool { return !r.Side && strings.Contains(r.Prompt(), text) }); err != nil {
		c.t.Fatalf("prompt %q did not arrive: %v", text, err)
	}
}

// arrived checks that each prompt has arrived once and unchanged.
func (c *claude) arrived() {
	c.t.Helper()
	all := strings.Join(c.model.Submitted(), "\n")
	for _, p := range c.prompts {
		if n := strings.Count(all, p); n != 1 {
			c.t.Errorf("prompt %q has arrived %d times, of %q", p, n, all)
		}
	}
}

// results returns what the tools gave since a prompt.
func (c *claude) results(prompt string) string {
	var all []string
	for _, r := range c.model.Requests() {
		if !r.Side && strings.Contains(r.Prompt(), prompt) {
			all = append(all, r.Results...)
		}
	}
	return strings.Join(all, "\n")
}

// everything goes once through all that a user does.
func (c *claude) everything() {
	c.t.Helper()
	c.begin()

	c.ask("quick: is 2+2 4?", "4 is right.", "completed_turn")

	c.prompt("explain the build")
	c.wait("", "thinking")
	c.model.Release("think")
	c.wait("The parser reads each file.", "thinking")
	c.model.Release("speak")
	c.wait("That is all.", "completed_turn")

	c.ask("make a new build folder", "mkdir build", "waiting_for_permission")
	c.approve("The build folder is new.")
	if got := c.world.read(c.t, "build/state.txt"); got != "clean\n" {
		c.t.Errorf("the approved command has written %q", got)
	}

	c.ask("write notes", "notes.md", "waiting_for_permission")
	c.turn("deny", nil, "ejected", "ready")
	if got := c.world.read(c.t, "notes.md"); got != "" {
		c.t.Errorf("what was denied has written %q", got)
	}

	c.ask("edit the greeting", "make this edit", "waiting_for_permission")
	c.approve("The greeting is changed.")
	if got := c.world.read(c.t, "hello.py"); !strings.Contains(got, "good morning") {
		c.t.Errorf("the approved edit left %q", got)
	}

	c.ask("ask me one question", "Which database", "waiting_for_user_input")
	c.choose("PostgreSQL", "Noted.", "completed_turn")
	if got := c.results("ask me one question"); !strings.Contains(got, "PostgreSQL") || strings.Contains(got, "SQLite") {
		c.t.Errorf("the answer that arrived: %s", got)
	}

	c.ask("make a plan for tests", "Plan: add tests", "waiting_for_plan_approval")
	c.turn("deny", nil, "ejected", "ready")
	c.ask("change the plan", "Plan: add tests", "waiting_for_plan_approval")
	c.choose("Yes, manually approve edits", "I started with the changed plan.", "completed_turn")
	if got := c.results("change the plan"); !strings.Contains(got, "approved") {
		c.t.Errorf("the approval that arrived: %s", got)
	}

	c.prompt("a slow answer please")
	c.wait("This takes long.", "thinking")
	c.send("cancel", nil)
	c.wait("Interrupted", "ready")

	if err := mkfifo(filepath.Join(c.world.work, "never")); err != nil {
		c.t.Fatal(err)
	}
	c.ask("a long job", "cat never", "waiting_for_permission")
	c.send("approve", nil)
	c.wait("cat never", "thinking")
	c.send("cancel", nil)
	c.wait("Interrupted", "ready")

	c.ask("a bad request", "API Error: 400", "error")
	c.ask("hit the rate limit", "429", "error")
	c.ask("a server error", "Internal server error", "error")
	c.ask("be overloaded once", "Now there was room.", "completed_turn")
	c.ask("break off", "API Error: ", "error") // each version has its own words for it

	c.send("slash_command", map[string]any{"command": "model"})
	c.wait("Select model", "waiting_for_model_select")
	c.send("key", map[string]any{"key": "escape"})
	c.wait("Kept model", "ready", "completed_turn", "error")
	c.send("slash_command", map[string]any{"command": "usage"})
	c.wait("Session", "usage_screen")
	c.send("key", map[string]any{"key": "escape"})
	c.wait("", "ready", "completed_turn", "error")

	c.ask("quick again: is 2+2 4?", "4 is right.", "completed_turn")
	c.ask("be unauthorized", "Invalid API key", "error", "waiting_for_login")

	c.arrived()
	c.send("slash_command", map[string]any{"command": "exit"})
	if got := c.exited(); got != "exit 0" {
		c.t.Errorf("it ended with %s", got)
	}
}

// An adapter drives by adapter.* and the plugin.
type adapter struct {
	server      *server
	id, session string
	t           testing.TB
}

// adapterState is the state that a method of adapter.* answers.
type adapterState struct {
	State, Evidence, Source string
	Metadata                map[string]any
}

func (s adapterState) String() string {
	return fmt.Sprintf("%s (%s: %s)", s.State, s.Source, s.Evidence)
}

// A receipt is that of adapter.send.
type receipt struct {
	Echoed, Submitted *bool
	Evidence          string
	Retries           int
}

// byAdapter makes a driver with a screen of so many rows and columns.
func byAdapter(rows, cols int) func(*server, *world, string, []string) driver {
	return func(s *server, w *world, program string, args []string) driver {
		s.t.Helper()
		var r struct{ Adapter, Session string }
		s.call("adapter.start", map[string]any{
			"plugin": "claude-code", "program": program, "args": args, "cwd": w.work, "rows": rows, "cols": cols,
		}, &r)
		return &adapter{s, r.Adapter, r.Session, s.t}
	}
}

// call calls a method with the adapter's id. What it is refused with shows the screen.
func (a *adapter) call(method string, params map[string]any, result any) {
	a.t.Helper()
	params["adapter"] = a.id
	if err := a.server.Call(a.server.ctx, method, params, result); err != nil {
		a.t.Fatalf("%s %v: %v\n%s", method, params, err, a.screen())
	}
}

func (a *adapter) screen() string {
	r, err := a.server.Session(a.session).Screen(a.server.ctx)
	if err != nil {
		return err.Error()
	}
	return r.PlainText
}

// taken checks that what was to be submitted was.
func (a *adapter) taken(intent string, r receipt) {
	a.t.Helper()
	if r.Submitted != nil && !*r.Submitted {
		a.t.Fatalf("%s was not submitted: %s\n%s", intent, r.Evidence, a.screen())
	}
	if r.Retries > 0 {
		a.t.Logf("%s: %d retries: %s", intent, r.Retries, r.Evidence)
	}
}

func (a *adapter) send(intent string, params map[string]any) {
	a.t.Helper()
	var r struct{ Receipt receipt }
	a.call("adapter.send", map[string]any{"intent": intent, "params": params}, &r)
	a.taken(intent, r.Receipt)
}

func (a *adapter) wait(text string, states ...string) {
	a.t.Helper()
	params := map[string]any{"states": states}
	if text != "" {
		params["text"] = text
	}
	a.call("adapter.wait", map[string]any{"intent": "wait_state_matcher", "params": params, "timeout_ms": hang.Milliseconds() / 2}, nil)
}

func (a *adapter) turn(intent string, params map[string]any, text string, states ...string) {
	a.t.Helper()
	var r struct {
		Receipt receipt
		State   adapterState
	}
	a.call("adapter.turn", map[string]any{
		"send": map[string]any{"intent": intent, "params": params}, "wait": map[string]any{"timeout_ms": hang.Milliseconds() / 2},
	}, &r)
	a.taken(intent, r.Receipt)
	if shown := a.screen(); !slices.Contains(states, r.State.State) || !strings.Contains(shown, text) {
		a.t.Fatalf("%s %v: the state is %v, expected %q with %q:\n%s", intent, params, r.State, states, text, shown)
	}
}

func (a *adapter) exited() string {
	a.t.Helper()
	return (&session{a.server.Session(a.session), a.server, a.t}).exited()
}

func TestClaude(t *testing.T) {
	t.Parallel()
	for i := range times(1, 20) {
		rows, cols := 40, 120
		if i%2 == 1 {
			rows, cols = 24, 80
		}
		drive(t, claudeNow, byAdapter(rows, cols)).everything()
	}
}

// Who does not trust the folder ends it.
func TestClaudeIsNotTrusted(t *testing.T) {
	t.Parallel()
	c := drive(t, claudeNow, byAdapter(24, 80))
	c.wait("", "waiting_for_trust")
	c.send("deny_trust", nil)
	if got := c.exited(); got != "exit 1" {
		t.Errorf("it ended with %s", got)
	}
}

func TestClaudeBefore(t *testing.T) {
	if !long {
		t.Skip("drives an older version: PTYWRIGHT_LONG=1")
	}
	drive(t, claudeBefore, byAdapter(40, 120)).everything()
}
