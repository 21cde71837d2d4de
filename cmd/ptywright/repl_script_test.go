//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// replRun runs a REPL that is no terminal's, with a home of its own.
func replRun(t *testing.T, input string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	p := ptywright(t, append([]string{"repl"}, args...)...)
	p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Join(t.TempDir(), "home"), "PS1=$ ", "ENV=")
	stdout, code = p.Run(input)
	noneLeft(t, p.Mark)
	return stdout, p.Stderr.String(), code
}

func TestREPLScripts(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "script.lua")
	if err := os.WriteFile(file, []byte("#!/usr/bin/env -S ptywright repl\nprint(arg[0] ~= nil, #arg, ...)\nlocal s = session.spawn(arg[1])\nreturn s:turn('echo a$((6*7))b\\n', {text = 'a42b'}).kind, arg[2]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, input    string
		args           []string
		stdout, stderr string // parts
		code           int
	}{
		{"an expression", "", []string{"-e", `#session.list(), {1, "a"}`}, "0\n{ 1, \"a\" }\n", "", 0},
		{"lines", "s = session.spawn('sh')\nfor i = 1, 2 do\nprint('n' .. i)\nend\n\ns:turn('echo a$((6*7))b\\n', {text = 'a42b'}).kind\n:sessions\n:rpc session.close {\"session\":\"s1\"}", nil,
			"n1\nn2\ncontains_text\n  s1  24x80", "", 0},
		{"the last line without an end", "1 + 1", nil, "2\n", "", 0},
		{"the first error ends it", "print(1)\nerror('no more')\nprint(2)\n", nil, "1\n", "no more", 1},
		{"a script and its arguments", "", []string{file, "sh", "-x"}, "true\t2\ncontains_text\n-x\n", "", 0},
		{"no script", "", []string{filepath.Join(t.TempDir(), "none.lua")}, "", "read the script", 2},
		{"what is no Lua", "", []string{"-e", "x x"}, "", "parse error", 1},
		{"time", "", []string{"-e", `s = session.spawn("sh", "-c", "printf ready; exec cat") s:wait{text = "ready"} s:wait{text = "never", timeout = 0.05}`}, "no  contains_text \"never\"", "timed out", 3},
		{"no session", "", []string{"-e", `rpc("session.snapshot", {session = "s9"})`}, "", "unknown session", 4},
		{"no session to get", "", []string{"-e", `session.get("s9")`}, "", `no session or adapter "s9"`, 4},
		{"not permitted", "", []string{"-e", `rpc("plugin.load", {manifest_path = "/x"})`}, "", "server_did_not_grant_plugin_load", 5},
		{"no command", "", []string{"--stdio"}, "", "--stdio needs a command", 2},
		{"two servers", "", []string{"--stdio", "--socket", "x", "--", "y"}, "", "exclude each other", 2},
		{"nobody there", "", []string{"--socket", filepath.Join(t.TempDir(), "none"), "-e", "1"}, "", "no server listens there", 1},
		{"no such program", "", []string{"--stdio", "-e", "1", "--", "/none/such"}, "", "start a server", 1},
		{"an unknown command", ":nothing\n", nil, "", "no command :nothing", 1},
		{"a command that is two", ":s\n", nil, "", ":s may be :sessions or :shot", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := test.args
			if len(args) == 0 || args[0] != "--stdio" && args[0] != "--socket" {
				args = append([]string{"--stop-server"}, args...)
			}
			stdout, stderr, code := replRun(t, test.input, args...)
			if code != test.code || !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) || test.stderr == "" && stderr != "" {
				t.Errorf("exit %d, expected %d\nstandard output:\n%s\nexpected in it: %q\nstandard error:\n%s\nexpected in it: %q", code, test.code, stdout, test.stdout, stderr, test.stderr)
			}
		})
	}
}

// TestREPLPage runs what docs/repl.md shows: its Lua line by line, as a person would, and its shell
// command as it stands.
func TestREPLPage(t *testing.T) {
	t.Parallel()
	need(t, "less", "less")
	page, err := os.ReadFile(filepath.Join(root, "docs", "repl.md"))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var lua []string
	for _, block := range strings.Split(string(page), "```lua\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		lua = append(lua, text)
	}
	if len(lua) != 4 {
		t.Fatalf("the page has %d blocks of Lua", len(lua))
	}
	p := ptywright(t, "repl", "--stdio", "--", self, "serve", "--stdio", "--plugin", "examples/plugins/less/manifest.toml")
	p.Dir = root
	p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Join(t.TempDir(), "home"), "ENV=", "LESS=")
	stdout, code := p.Run(strings.Join(lua, ""))
	if code != 0 {
		t.Errorf("exit %d: %s", code, p.Stderr)
	}
	for _, want := range []string{
		`matched contains_text "42"`, "┌ s1 24x80", "│42 ", `matched screen_regex`, "contains_text\t", "line = ", "false\ttimeout\tsession.wait: the wait timed out\t30", "submitted = true", "\nreading\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the page's Lua does not show %q", want)
		}
	}
	if t.Failed() {
		t.Log(stdout)
	}

	_, rest, ok := strings.Cut(string(page), "```sh\nptywright repl ")
	_, start, shown := strings.Cut(string(page), "```sh\nPTYWRIGHT_PLUGINS=")
	plugin, _, _ := strings.Cut(start, " ")
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	plugin = strings.Replace(plugin, "$PWD", top, 1)
	p = ptywright(t, "repl", "--stop-server", "-e", `for _, p in ipairs(adapter.plugins()) do print(p.name) end`)
	p.Dir, p.Env = root, append(p.Env, "PTYWRIGHT_HOME="+filepath.Join(t.TempDir(), "home"), "PTYWRIGHT_PLUGINS="+plugin)
	if stdout, code := p.Run(""); !shown || code != 0 || !strings.Contains(stdout, "\nless\n") {
		t.Errorf("with PTYWRIGHT_PLUGINS=%s: exit %d, %s%s", plugin, code, stdout, p.Stderr)
	}
	command, _, _ := strings.Cut(rest, "\n```")
	if !ok {
		t.Fatal("the page shows no script")
	}
	source := command[strings.Index(command, "'")+1 : strings.LastIndex(command, "'")]
	if stdout, stderr, code := replRun(t, "", "--stop-server", "-e", source); stdout != "3\n" || code != 0 {
		t.Errorf("the script prints %q, %q, exit %d", stdout, stderr, code)
	}
	help, _, _ := replRun(t, ":help\n", "--stop-server")
	for line := range strings.Lines(help) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), ":"); ok {
			if name = strings.Fields(name)[0]; !strings.Contains(string(page), "`:"+name) {
				t.Errorf("the page does not name :%s", name)
			}
		}
	}
}

func TestREPLDrivesAnAdapter(t *testing.T) {
	t.Parallel()
	need(t, "less", "less")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := filepath.Abs(filepath.Join(root, "examples", "plugins", "less", "manifest.toml"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte(strings.Repeat("a line\n", 100)+"the needle\n"+strings.Repeat("more\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newConsole(t, "--stdio", "--", self, "serve", "--stdio", "--plugin", plugin)
	c.enter(`a = adapter.start("less", {rows = 10, args = {"`+file+`"}})`, `(?m)^pty\[\w+\]> ?$`)
	c.enter(`a:wait().state.state`, `(?m)^reading$`)
	c.waitSince(c.text(`a:sea`+"\t"), client.Regexp(`a:search\($`))
	c.enter(`"needle").receipt.submitted`, `(?m)^true$`)
	c.enter(`a:screen()`, `(?s)┌ \w+ 10x80.*│the needle`)
	c.enter(`turn("next_page").state.state`, `(?m)^reading$`)
	c.enter(`turn(a, "nothing")`, `error: adapter.turn: .*unknown_intent`)
	c.enter(`:adapters`, `(?m)^  \w+ +less +s1`)
	c.enter(`s = session.get(a.session) s:send("q")`, `error: .*owned_by_adapter`)
	c.leave()
}

// No line of the help is broken in a terminal of 80 columns.
func TestREPLHelpFits(t *testing.T) {
	t.Parallel()
	p := ptywright(t, append([]string{"repl"}, own(t)...)...)
	out, code := p.Run(":help\n")
	if code != 0 || !strings.Contains(out, `s:send("6*7\n")`) {
		t.Errorf("exit %d: %s", code, out)
	}
	for l := range strings.Lines(out) {
		if l = strings.TrimRight(l, "\n"); len(l) > 79 { // the last column stays free: some terminals break behind it
			t.Errorf("%d columns: %s", len(l), l)
		}
	}
}
