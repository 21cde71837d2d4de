//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// dialogs is a plugin for a program that asks what the test has it ask: a line "ask KIND ID" shows a dialog, which "y", "n" or a
// number answers, and any other line is answered. password= shows what is to be hidden.
const dialogs = `local a, m = ptywright.action, ptywright.matcher
local kinds = {permission = "waiting_for_permission", plan = "waiting_for_plan_approval", trust = "waiting_for_trust", choice = "waiting_for_user_input"}
local function classify(s)
	local asks = s:match("^\\? (%w+) (%w+)$", s.cursor_row, s.cursor_row) or s:match("^\\? (\\w+) (\\w+)$", s.cursor_row, s.cursor_row)
	if asks then
		local kind, id = asks.captures[1], asks.captures[2]
		return {state = kinds[kind], metadata = {dialog_id = id, permission = {title = "Run " .. id, command = "rm " .. id .. " password=Kq7Zx9Vb2Nm4Lp8Rt6"},
			options = {{index = 1, label = "Yes", focused = true}, {index = 2, label = "No"}}}}
	end
	if s:row(s.cursor_row) == ">" then
		local did = s:match_last("^did (.*)$")
		return {state = did and did.captures[1] == "fail" and "error" or "ready", metadata = {turn = {text = did and "did " .. did.captures[1]}, error = {message = "it failed"}}}
	end
	return {state = "busy"}
end
local function typed(text)
	return {actions = {a.text(text)}, submission = {submit = {a.text("\n")}, echo = m.predicate("there", {text = text}), done = m.predicate("gone", {text = text})}}
end
local function there(s) return (s:row(s.cursor_row) or ""):sub(-#s.params.text) == s.params.text end
local function answer(word, state)
	return function(params, s)
		local now = classify(s)
		if now.state ~= state and state then error({code = "wrong_state", message = "nothing is asked"}) end
		if params.dialog_id ~= now.metadata.dialog_id then error({code = "stale_dialog", message = "the dialog has changed"}) end
		return typed(word or params.option or tostring(params.index))
	end
end
return {
	classify = classify, there = there, gone = function(s) return not there(s) end,
	send_prompt = function(params) return typed(params.prompt) end,
	approve = answer("y"), deny = answer("n"), approve_trust = answer("y", "waiting_for_trust"), deny_trust = answer("n", "waiting_for_trust"),
	choose_option = answer(),
	over = function(s) local now = classify(s).state return {matched = s.stable_ms >= 30 and now ~= "busy"} end,
	wait_turn_matcher = function() return m.predicate("over") end,
	describe = function() return {intents = {{name = "send_prompt"}, {name = "approve"}, {name = "deny"}}} end,
}`

const dialogsManifest = `name = "dialogs"
kind = "adapter"
version = "1"
runtime = "lua"
entrypoint = "main.lua"
permissions = ["session.spawn", "session.kill", "screen.read", "transcript.read", "input.write", "matcher.wait"]
[default_target]
program = "sh"
args = ["-c", "while printf '> '; read -r line; do case $line in ask*) set -- $line; printf '? %s %s' $2 $3; read -r x; echo \"did $2 $x\";; hang) sleep 1000;; *) echo \"did $line\";; esac; done"]
rows = 12
cols = 60
`

// TestAdapterFromTheShell: asked, looked at, approved by what is asked, and followed.
func TestAdapterFromTheShell(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.lua": dialogs, "manifest.toml": dialogsManifest} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newShared(t, "--plugin", filepath.Join(dir, "manifest.toml"))
	if got := s.ok("adapter", "list"); !regexp.MustCompile(`(?m)^dialogs +sh -c `).MatchString(got) || !strings.Contains(got, "claude-code") {
		t.Errorf("%s", got)
	}
	if id := s.ok("spawn", "--adapter", "dialogs"); id != "s1" {
		t.Fatalf("%q", id)
	}
	s.ok("adapter", "wait", "s1")
	if got := s.ok("adapter", "ask", "s1", "one", "two"); got != "did one two" {
		t.Errorf("%q", got)
	}
	if out, stderr, code := s.feed("from a file\n", "adapter", "ask", "s1", "--file", "-"); out != "did from a file\n" || code != 0 {
		t.Errorf("exit %d, %q, %q", code, out, stderr)
	}
	if got := s.ok("adapter", "state", "s1"); got != "ready\nit failed" { // the plugin says that in each state
		t.Errorf("%q", got)
	}

	// What it asks is told, without secrets, and approved by what it is.
	out, stderr, code := s.run("adapter", "ask", "s1", "ask permission d1")
	if code != 6 || stderr != "" || !regexp.MustCompile(`(?m)^waiting_for_permission\nRun d1\nrm d1 password=\[REDACTED\]\n.*> 1\. Yes\n  2\. No\ndialog d1\n$`).MatchString(strings.Replace(out, "it failed\n", "", 1)) {
		t.Errorf("exit %d, %q, %q", code, out, stderr)
	}
	s.fails(1, "nothing was answered: s1 is waiting_for_permission, and asks for no trust", "adapter", "approve", "s1", "trust")
	s.fails(1, `the dialog "d0" is not there any more`, "adapter", "approve", "s1", "permission", "--dialog", "d0")
	if got := s.ok("adapter", "approve", "s1", "permission", "--dialog", "d1"); got != "approved permission: Run d1" {
		t.Errorf("%q", got)
	}
	if got := s.ok("adapter", "wait", "e1"); got != "did permission y" {
		t.Errorf("%q", got)
	}
	s.fails(1, "asks for no permission", "adapter", "approve", "s1", "permission")
	s.fails(6, "", "adapter", "ask", "s1", "ask trust d2", "--json")
	if got := objects(t, s.ok("adapter", "deny", "s1", "trust", "--json")); len(got) != 1 || got[0]["receipt"] == nil {
		t.Errorf("%v", got)
	}
	if got := s.ok("adapter", "wait", "s1"); got != "did trust n" {
		t.Errorf("%q", got)
	}
	s.fails(6, "", "adapter", "ask", "s1", "ask choice d3")
	s.ok("adapter", "choose", "s1", "2")
	if got := s.ok("adapter", "wait", "s1"); got != "did choice 2" {
		t.Errorf("%q", got)
	}
	s.fails(1, "the program reports an error: it failed", "adapter", "ask", "s1", "fail")
	if got := s.ok("adapter", "send", "s1", "send_prompt", "--param", "prompt=by hand"); got == "" {
		t.Errorf("%q", got)
	}
	s.ok("wait", "s1", "--text", "did by hand")
	out = s.fails(3, "timed out", "adapter", "ask", "s1", "hang", "--timeout", "300ms")
	wants(t, out, "no match after", "the last screen")

	events := objects(t, s.ok("adapter", "events", "s1", "--json"))
	seen := map[any]bool{}
	for _, e := range events {
		seen[e["state"]] = e["kind"] == "state"
	}
	if !seen["waiting_for_permission"] || !seen["ready"] {
		t.Errorf("%v", events)
	}
	follow := ptywright(t, "adapter", "events", "s1", "--follow")
	follow.Env = append(follow.Env, "PTYWRIGHT_HOME="+filepath.Dir(s.path))
	_, told := follow.startPiped()
	line := make([]byte, 1)
	if _, err := told.Read(line); err != nil || line[0] != '1' { // it has begun
		t.Errorf("%q, %v", line, err)
	}
	s.ok("kill", "s1")
	follow.Wait() // it was closed under it, or has seen the end
	s.fails(4, "is neither a session nor an adapter", "adapter", "state", "s1")
	s.ok("spawn", "--", "cat")
	s.fails(4, "no adapter drives s2", "adapter", "state", "s2")
}

// TestAdapterByName: it has a name and the caller's environment, is asked before it is ready, and
// is ended as any session is.
func TestAdapterByName(t *testing.T) {
	t.Parallel()
	need(t, "bash", "bash")
	s := newShared(t)
	spawn := func(args ...string) string {
		t.Helper()
		p := ptywright(t, append([]string{"spawn", "--adapter", "shell"}, args...)...)
		p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Dir(s.path), "GREETING=good morning")
		out, code := p.run("")
		if code != 0 {
			t.Fatalf("exit %d, %s", code, p.stderr)
		}
		return strings.TrimSuffix(out, "\n")
	}
	if id := spawn("--name", "shell", "--", "bash", "--norc"); id != "s1" {
		t.Errorf("%q", id)
	}
	if got := s.ok("adapter", "ask", "shell", `printf '%s\n' "$GREETING" $((6*7))`); got != "good morning\n42" {
		t.Errorf("%q", got)
	}
	if got := s.ok("adapter", "ask", "shell", "true"); got != "" {
		t.Errorf("%q", got)
	}
	s.fails(2, "the name shell is taken by session s1", "spawn", "--adapter", "shell", "--name", "shell")
	s.fails(5, "is driven by adapter e1: ptywright adapter ask and adapter send drive it, ptywright kill ends both", "send", "shell", "x")
	s.fails(1, "no such intent; known intents: cd, exit, input, interrupt, key, run", "adapter", "send", "shell", "no_such_intent")
	spawn("--server-env", "--", "bash", "--norc")
	if got := s.ok("adapter", "ask", "s2", `echo "<$GREETING>"`); got != "<>" {
		t.Errorf("%q", got)
	}

	s.ok("spawn", "--", "cat")
	if got := objects(t, s.ok("kill", "shell", "--json")); got[0]["killed"] != true || got[0]["closed"] != true || got[0]["error"] != nil {
		t.Errorf("%v", got)
	}
	s.fails(4, "is neither a session nor an adapter", "adapter", "state", "shell")
	s.ok("kill", "--all")
	if got := s.ok("ls"); !regexp.MustCompile(`\AID .*\ns3 +cat .* SIGHUP .*\z`).MatchString(got) {
		t.Errorf("%s", got)
	}
}

// TestAdapterUsage is told before anything is done.
func TestAdapterUsage(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	for says, args := range map[string]string{
		"give ID": "adapter state", "is none of permission, plan and trust": "adapter approve s1 all", "say what to ask": "adapter ask s1",
		"--params is not a JSON object": "adapter send s1 x --params [", "--param is": "adapter send s1 x --param x", "--timeout is": "adapter ask s1 x --timeout 0",
		"unknown command \"aks\": did you mean ptywright adapter ask": "adapter aks", "--adapter is empty": "spawn --adapter= -- sh",
		"--theme cannot be combined with --adapter": "spawn --adapter shell --theme dark", "--scrollback is -1": "spawn --scrollback -1 -- true",
		"--transcript is 67108865": "spawn --transcript 67108865 -- true", "give PROGRAM": "spawn",
	} {
		s.fails(2, says, strings.Fields(args)...)
	}
	s.fails(1, "unknown plugin", "spawn", "--adapter", "nothing")
	if got := objects(t, s.ok("spawn", "--adapter", "repl", "--rows", "9", "--json", "--", "cat")); got[0]["session"] == nil || got[0]["adapter"] == nil || got[0]["plugin"] != "repl" || got[0]["started_server"] != false {
		t.Errorf("%v", got)
	}
}

// TestSpawnKeeps as much as it was told.
func TestSpawnKeeps(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--rows", "3", "--scrollback", "5", "--transcript", "20", "--", "sh", "-c", "seq 100; cat")
	s.ok("wait", "s1", "--text", "100")
	if got := s.ok("read", "s1", "--scrollback"); got != "94\n95\n96\n97\n98\n99\n100" {
		t.Errorf("%q", got)
	}
	if got := s.ok("logs", "s1"); !strings.HasPrefix(got, "[earlier output is not kept]\n") || len(got) > 60 {
		t.Errorf("%q", got)
	}
	out, stderr, code := s.run("logs", "s1", "--to", filepath.Join(t.TempDir(), "x.log"))
	if code != 0 || out != "" || !strings.Contains(stderr, "spawn --transcript keeps more") {
		t.Errorf("exit %d, %q, %q", code, out, stderr)
	}
}

// TestNamesReach: what takes an id takes a name.
func TestNamesReach(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	need(t, "python3", "python3")
	if id := s.ok("spawn", "--name", "calc", "--adapter", "repl", "--", "python3", "-q"); id != "s1" {
		t.Errorf("%q", id)
	}
	s.ok("adapter", "wait", "calc")
	if got := s.ok("adapter", "ask", "calc", "6*7"); got != "42" {
		t.Errorf("%q", got)
	}
	s.ok("spawn", "--name", "shell", "--env", "PS1=$ ", "--", "sh")
	if got := s.ok("exec", "shell", "--", "echo here"); got != "here" {
		t.Errorf("%q", got)
	}
	s.ok("resize", "shell", "30x90")
	if got := s.ok("search", "shell", "--regex", "^here$"); !strings.HasSuffix(got, ":0: here") {
		t.Errorf("%q", got)
	}
	cast := filepath.Join(t.TempDir(), "a.cast")
	s.ok("record", "--session", "shell", "--for", "1ms", cast)
	s.ok("send", "shell", "exit 4", "--enter")
	if got := s.ok("wait", "shell", "calc", "--any", "--exit"); got != "shell exit 4" {
		t.Errorf("%q", got)
	}
	s.ok("logs", "shell", "--follow", "--to", filepath.Join(filepath.Dir(cast), "a.log"))
}
