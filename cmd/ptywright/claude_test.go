//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/mockanthropic"
)

// The real Claude Code, isolated, with a model that says what testdata/claude.json says. Its versions and what of them is
// true only for some is in the comments of plugins/claude-code.
const claudeNow, claudeBefore = "2.1.328", "2.1.197"

// A claude is a running Claude Code, its model, and what drives it.
type claude struct {
	driver
	t     *testing.T
	model *mockanthropic.Server
	world *world
	// prompts are those that must have arrived at the model, each once.
	prompts []string
}

// A driver drives Claude Code in the words of the plugin.
type driver interface {
	// send performs an intent, and fails the test when it is not performed.
	send(intent string, params map[string]any)
	// wait waits until one of the states holds and a text, if not "", is on the screen.
	wait(text string, states ...string)
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
	model, err := mockanthropic.New(bytes.ReplaceAll(script, []byte("{{work}}"), []byte(w.work)))
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
	for name, value := range map[string]string{
		"ANTHROPIC_BASE_URL": model.URL, "ANTHROPIC_API_KEY": "sk-ant-dummy-000000000000000000000000",
		// No telemetry, no update, no search for editors, no installation of plugins: it talks to nothing but the model,
		// as strace shows.
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_INSTALLATION_CHECKS": "1",
		"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1", "CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL": "1",
		// After 1 it gives up; without, after 10, which takes minutes.
		"CLAUDE_CODE_MAX_RETRIES": "1",
	} {
		w.env[name] = value
	}
	s := start(t)
	program, all := w.command(s.program.mark, path, append([]string{"--permission-mode", "manual"}, args...)...)
	return &claude{driver: with(s, w, program, all), t: t, model: model, world: w}
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
	c.prompts = append(c.prompts, text)
	c.send("send_prompt", map[string]any{"prompt": text})
	ctx, cancel := context.WithTimeout(context.Background(), hang/2)
	defer cancel()
	if _, err := c.model.Wait(ctx, func(r mockanthropic.Request) bool { return !r.Side && strings.Contains(r.Prompt(), text) }); err != nil {
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

	c.prompt("quick: is 2+2 4?")
	c.wait("4 is right.", "completed_turn")

	c.prompt("explain the build")
	c.wait("", "thinking")
	c.model.Release("think")
	c.wait("The parser reads each file.", "thinking")
	c.model.Release("speak")
	c.wait("That is all.", "completed_turn")

	c.prompt("make a new build folder")
	c.wait("mkdir build", "waiting_for_permission")
	c.send("approve", nil)
	c.wait("The build folder is new.", "completed_turn")
	if got := c.world.read(c.t, "build/state.txt"); got != "clean\n" {
		c.t.Errorf("the approved command has written %q", got)
	}

	c.prompt("write notes")
	c.wait("notes.md", "waiting_for_permission")
	c.send("deny", nil)
	c.wait("ejected", "ready")
	if got := c.world.read(c.t, "notes.md"); got != "" {
		c.t.Errorf("what was denied has written %q", got)
	}

	c.prompt("edit the greeting")
	c.wait("good morning", "waiting_for_permission")
	c.send("approve", nil)
	c.wait("The greeting is changed.", "completed_turn")
	if got := c.world.read(c.t, "hello.py"); !strings.Contains(got, "good morning") {
		c.t.Errorf("the approved edit left %q", got)
	}

	c.prompt("ask me one question")
	c.wait("Which database", "waiting_for_user_input")
	c.send("choose_option", map[string]any{"option": "PostgreSQL"})
	c.wait("Noted.", "completed_turn")
	if got := c.results("ask me one question"); !strings.Contains(got, "PostgreSQL") || strings.Contains(got, "SQLite") {
		c.t.Errorf("the answer that arrived: %s", got)
	}

	c.prompt("make a plan for tests")
	c.wait("Plan: add tests", "waiting_for_plan_approval")
	c.send("deny", nil)
	c.wait("ejected", "ready")
	c.prompt("change the plan")
	c.wait("Plan: add tests", "waiting_for_plan_approval")
	c.send("choose_option", map[string]any{"option": "Yes, manually approve edits"})
	c.wait("I started with the changed plan.", "completed_turn")
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
	c.prompt("a long job")
	c.wait("cat never", "waiting_for_permission")
	c.send("approve", nil)
	c.wait("cat never", "thinking")
	c.send("cancel", nil)
	c.wait("Interrupted", "ready")

	c.prompt("a bad request")
	c.wait("API Error: 400", "error")
	c.prompt("hit the rate limit")
	c.wait("429", "error")
	c.prompt("a server error")
	c.wait("Internal server error", "error")
	c.prompt("be overloaded once")
	c.wait("Now there was room.", "completed_turn")
	c.prompt("break off")
	c.wait("Server error mid-response", "error")

	c.send("slash_command", map[string]any{"command": "model"})
	c.wait("Select model", "waiting_for_model_select")
	c.send("key", map[string]any{"key": "escape"})
	c.wait("Kept model", "ready", "completed_turn", "error")
	c.send("slash_command", map[string]any{"command": "usage"})
	c.wait("Session", "usage_screen")
	c.send("key", map[string]any{"key": "escape"})
	c.wait("", "ready", "completed_turn", "error")

	c.prompt("quick again: is 2+2 4?")
	c.wait("4 is right.", "completed_turn")
	c.prompt("be unauthorized")
	c.wait("Invalid API key", "error", "waiting_for_login")

	c.arrived()
	c.send("slash_command", map[string]any{"command": "exit"})
	if got := c.exited(); got != "exit 0" {
		c.t.Errorf("it ended with %s", got)
	}
}

func TestClaudeByKeys(t *testing.T) {
	drive(t, claudeNow, byKeys).everything()
}
