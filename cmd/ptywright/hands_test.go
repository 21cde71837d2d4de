//go:build unix

package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/protocol/client"
)

// showsKeys is a program that shows what is typed as cat -vt does, without echo, and says when it is ready.
const showsKeys = `stty raw -echo; printf ready; exec cat -vt`

// TestKeysAsHandsSpellThem presses keys by the names that other tools have for them, from the shell and over the wire.
func TestKeysAsHandsSpellThem(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	id := s.ok("spawn", "--cols", "200", "--", "sh", "-c", showsKeys)
	s.ok("wait", id, "--text", "ready")
	s.ok("send", id, "-k", "Up", "-k", "PgUp", "-k", "C-c", "-k", "^C", "-k", "ctrl-c", "-k", "Ctrl+C", "-k", "control+c",
		"-k", "Return", "-k", "Enter", "-k", "M-x", "-k", "G", "-k", "C-G")
	s.ok("wait", id, "--text", `^[[A^[[5~^C^C^C^C^C^M^M^[xG^G`)

	w := start(t)
	over := w.sh(showsKeys)
	over.wait(client.Contains("ready"))
	over.keys("Esc", "ArrowUp", "BTab", "S-Up", "C-M-x", "KP5", "Space", "Del")
	over.wait(client.Contains(`^[^[[A^[[Z^[[1;2A^[^X5 ^[[3~`))
	w.refused(-32602, "invalid_action", "session.input", map[string]any{"session": over.ID, "action": map[string]string{"type": "key", "value": "Entr"}})
}

// TestSendTypesInOrder: what the command line says is typed in its order, however its flags are written.
func TestSendTypesInOrder(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "text")
	if err := os.WriteFile(file, []byte("FILE"), 0o600); err != nil {
		t.Fatal(err)
	}
	id := s.ok("spawn", "--cols", "200", "--", "sh", "-c", showsKeys)
	s.ok("wait", id, "--text", "ready")
	for i, c := range []struct {
		want string
		args []string
	}{
		{"^[:wq^M", []string{id, "-k", "escape", ":wq", "-e"}},
		{"^[:wq^M", []string{"-k", "escape", id, ":wq", "-e"}},
		{"one two^Ithree^M", []string{id, "one", "two", "--key=tab", "three", "--enter"}},
		{"a^[[Ab^M^[[Bc", []string{id, "a", "-kup", "b", "-ek", "down", "c"}},
		{"a^Mb^Mc", []string{id, "a", "-e", "b", "--enter=true", "--enter=false", "c"}},
		{"aFILEb^MFILE", []string{id, "a", "--file", file, "b", "-e", "--file=" + file}},
		{"x-k up -- -e", []string{id, "-k", "x", "--", "-k", "up", "--", "-e"}},
		{"^M", []string{id, "--", "\r"}},
		{"  x", []string{id, "", "", "x"}},
		{"^M^M", []string{"-ee", id}},
		{"lower^GG", []string{id, "lower", "-k", "C-G", "-k", "G"}},
	} {
		seq := s.ok(append([]string{"send", "--pace", "1ms"}, c.args...)...)
		s.ok("wait", id, "--since", seq, "--output", c.want)
		if got := s.ok("read", id, "--output", "--since", seq); got != c.want {
			t.Errorf("%d: %q shows %q, want %q", i, c.args, got, c.want)
		}
	}
	s.fails(2, "--enter is pressed at its place, which is behind the text: ptywright send s1 'a b' --enter", "send", "--enter", id, "a b")
	s.fails(2, "--pace is 11s: give a time from 1ms to 10s", "send", "--pace", "11s", id, "x")
	s.fails(2, "--pace is 1.5ms", "send", "--pace", "1500us", id, "x")
	s.fails(2, "say what to type", "send", id)
	s.fails(2, "say what to type", "send", id, "--enter=false")
	s.fails(2, "--paste needs text", "send", id, "--paste", "-k", "up")
	s.fails(2, `--key "Entr": unknown key`, "send", id, "x", "-k", "Entr")
	s.fails(2, `--enter is "maybe": give true or false`, "send", id, "--enter=maybe")
}

// TestSendToVim does what a person does: Escape, then the command, then Enter, in one line.
func TestSendToVim(t *testing.T) {
	t.Parallel()
	need(t, "vim", "vim")
	s := newShared(t)
	file := filepath.Join(t.TempDir(), "notes.txt")
	id := s.ok("spawn", "--name", "editor", "--", "vim", "-u", "NONE", "-i", "NONE", "-n", file)
	s.ok("wait", "editor", "--text", "notes.txt")
	s.ok("send", "editor", "i", "hello", "-k", "Esc", ":wq", "-e")
	if got := s.ok("wait", id, "--exit"); got != "exit 0" {
		t.Errorf("%s", got)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != " hello\n" { // texts are joined by a blank
		t.Errorf("%q, %v", b, err)
	}
}

// TestSpawnHasTheCallersEnvironment: a program that is found only by the caller's PATH runs, with the caller's variables, but for
// what describes the caller's terminal, and what is secret in them is hidden.
func TestSpawnHasTheCallersEnvironment(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	venv := t.TempDir()
	tool := filepath.Join(venv, "only-here")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\nenv | sort\necho all-told\nread -r line\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	call := func(args ...string) (out, stderr string, code int) {
		t.Helper()
		p := ptywright(t, args...)
		p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Dir(s.path), "PATH="+venv+":"+os.Getenv("PATH"), "VIRTUAL_ENV="+venv, "WORD=blue",
			"TMUX=/tmp/tmux,1,2", "KITTY_PID=7", "TERM=dumb", "LINES=3", "SSH_TTY=/dev/pts/9", "DEPLOY_TOKEN=kj3Hf92lsPq0xYz", "LATIN=\xe9t\xe9")
		out, code = p.run("")
		return strings.TrimSpace(out), p.stderr.String(), code
	}
	id, stderr, code := call("spawn", "--cols", "200", "--rows", "100", "--name", "tool", "--env", "WORD=red", "--", "only-here")
	if code != 0 || !strings.Contains(stderr, `"LATIN" is not passed to the program: not valid UTF-8`) || strings.Count(stderr, "\n") != 1 {
		t.Fatalf("exit %d, %q, %q", code, id, stderr)
	}
	s.ok("wait", "tool", "--text", "all-told")
	got := s.ok("read", "tool")
	for _, want := range []string{"PATH=" + venv + ":", "VIRTUAL_ENV=" + venv + "\n", "WORD=red\n", "TERM=xterm-256color\n", "DEPLOY_TOKEN=[REDACTED]", "PTYWRIGHT_SESSION="} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	for _, not := range []string{"TMUX", "KITTY", "LINES=", "SSH_TTY", "PTYWRIGHT_HOME", "kj3Hf92lsPq0xYz", "LATIN"} {
		if strings.Contains(got, not) {
			t.Errorf("%q is in\n%s", not, got)
		}
	}
	for _, flag := range []string{"--server-env", "--clear-env"} {
		_, stderr, code := call("spawn", flag, "--", "only-here")
		if code != 1 || !strings.Contains(stderr, `start "only-here": not found in `) || strings.Contains(stderr, venv) {
			t.Errorf("%s: exit %d, %q", flag, code, stderr)
		}
	}
	if _, stderr, _ := call("spawn", "--", "not-there"); !strings.Contains(stderr, `start "not-there": not found in PATH "`+venv+":") {
		t.Errorf("%q", stderr)
	}
	if _, stderr, code := call("spawn", "--server-env", "--clear-env", "--", "true"); code != 2 || !strings.Contains(stderr, "exclude each other") {
		t.Errorf("exit %d, %q", code, stderr)
	}
	s.fails(2, `--env "A B": the name of a variable has no blanks: give NAME=VALUE`, "spawn", "--env", "A B=1", "--", "true")
}

// TestEnvironmentStaysOnThisMachine: through something that leads elsewhere, as ssh -L does, nothing of it goes but --env.
func TestEnvironmentStaysOnThisMachine(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	dir, err := os.MkdirTemp("", "way") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	way := filepath.Join(dir, "s")
	passOn(t, way, s.path)
	p := ptywright(t, "spawn", "--socket", way, "--rows", "100", "--env", "GIVEN=yes", "--", "sh", "-c", "env; echo over")
	p.Env = append(p.Env, "CALLERS=mine")
	if out, code := p.run(""); code != 0 {
		t.Fatalf("%s%s", out, p.stderr.String())
	}
	s.ok("wait", "s1", "--text", "over")
	if got := s.ok("read", "s1"); strings.Contains(got, "CALLERS") || !strings.Contains(got, "GIVEN=yes") {
		t.Errorf("%s", got)
	}
}

// passOn listens at a socket, and passes on what comes to another until the test ends: it is another process than the server, as ssh
// is.
func passOn(t *testing.T, from, to string) {
	t.Helper()
	l, err := net.Listen("unix", from)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				d, err := net.Dial("unix", to)
				if err != nil {
					return
				}
				defer d.Close()
				var both sync.WaitGroup
				both.Go(func() { io.Copy(d, c); d.Close() })
				both.Go(func() { io.Copy(c, d); c.Close() })
				both.Wait()
			})
		}
	})
}

// TestNamesFromTheShell: a name stands wherever an id does, and first where sessions are listed.
func TestNamesFromTheShell(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--", "cat")
	if got := s.ok("ls"); !strings.HasPrefix(got, "ID ") {
		t.Errorf("%s", got)
	}
	if id := s.ok("spawn", "--name", "build", "--", "sh", "-c", "read -r line; echo got $line; exit 3"); id != "s2" {
		t.Errorf("%q", id)
	}
	if got := s.ok("ls"); !regexp.MustCompile(`(?m)\ANAME +ID +PROGRAM +.*\n- +s1 +cat .*\nbuild +s2 +sh .*\z`).MatchString(got) {
		t.Errorf("%s", got)
	}
	if all := objects(t, s.ok("ls", "--json")); all[1]["name"] != "build" || all[0]["name"] != nil {
		t.Errorf("%v", all)
	}
	s.fails(2, "the name build is taken by session s2, whose program runs", "spawn", "--name", "build", "--", "true")
	s.fails(2, `--name: "my build" cannot be a session's name: give a letter and`, "spawn", "--name", "my build", "--", "true")
	s.fails(2, `--name: "s3" cannot be a session's name: one letter and digits are the form of ids`, "spawn", "--name", "s3", "--", "true")
	seq := s.ok("send", "build", "it", "-e")
	s.ok("wait", "build", "--since", seq, "--text", "got it")
	if got := s.ok("wait", "build", "--exit"); got != "exit 3" {
		t.Error(got)
	}
	s.ok("read", "build", "--lines", "1")
	s.ok("logs", "build")
	s.ok("shot", "--session", "build", "-o", filepath.Join(t.TempDir(), "x.svg"))
	s.ok("spawn", "--name", "build", "--", "cat")
	s.ok("kill", "--close", "build")
	if got := s.ok("wait", "build", "--exit"); got != "exit 3" { // the one before, which is kept
		t.Error(got)
	}
	s.ok("kill", "--ended")
	if got := s.ok("wait", "build", "--exit"); got != "exit 3" {
		t.Error(got)
	}
	s.fails(4, "session s2 (build) was forgotten", "read", "build")
	out, _, _ := s.run("__complete", "read", "")
	if !strings.Contains(out, "s1\tcat, running\n") {
		t.Errorf("%q", out)
	}
	s.ok("spawn", "--name", "web", "--", "cat")
	if out, _, _ := s.run("__complete", "read", "w"); !strings.HasPrefix(out, "web\ts4, cat, running\n") {
		t.Errorf("%q", out)
	}
}

// TestOneDash: a flag's name behind a single dash is refused in its own words, and a value that looks so is a value.
func TestOneDash(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"send s1 -key enter":             "-key has one dash, and a name of more than one letter has two: --key enter",
		"send -key=enter s1":             "-key has one dash, and a name of more than one letter has two: --key=enter",
		"send s1 -enter x":               "-enter has one dash, and a name of more than one letter has two: --enter",
		"wait s1 -text ready -timeout 3": "-text has one dash, and a name of more than one letter has two: --text ready",
		"spawn -rows 5 -- ls -la":        "-rows has one dash, and a name of more than one letter has two: --rows 5",
		"ls -json":                       "-json has one dash, and a name of more than one letter has two: --json",
		"run -rows 5 true":               "-rows has one dash, and a name of more than one letter has two: --rows 5",
	} {
		p := ptywright(t, strings.Fields(line)...)
		if _, code := p.run(""); code != 2 || !strings.HasPrefix(p.stderr.String(), "ptywright: "+want+"\nTry 'ptywright ") {
			t.Errorf("%s: exit %d, %s", line, code, p.stderr)
		}
	}
	s := newShared(t)
	id := s.ok("spawn", "--cols", "200", "--", "sh", "-c", showsKeys)
	s.ok("wait", id, "--text", "ready")
	for _, args := range [][]string{{id, "--", "-key"}, {"--timeout", "3s", "-k", "tab", id, "--", "-enter"}} {
		s.ok(append([]string{"send"}, args...)...)
	}
	s.ok("wait", id, "--text", "ready-key^I-enter")
	s.fails(3, "timed out", "wait", id, "--text", "-key-", "--timeout", "0")
	if out, code := ptywright(t, "run", "echo", "-rows").run(""); code != 0 || out != "-rows\r\n" {
		t.Errorf("exit %d, %q", code, out)
	}
	root := command(cli.Stdio{})
	each(root, func(c *cobra.Command) {
		if c.HasSubCommands() || c.DisableFlagParsing || c == root {
			return
		}
		err := c.Flags().Parse([]string{"x", "--no-such-flag-there-is"})
		if first := err == nil; first != (c.Annotations["flags first"] != "") {
			t.Errorf("%s: its flags stand first: %v", pathOf(c), first)
		}
	})
}

// pathOf is a command as it is typed behind the program's name.
func pathOf(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "ptywright ") }

// each visits a command and all below it.
func each(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		each(sub, visit)
	}
}

// TestIgnoredMembersAreWarnedAbout on the command line and in the REPL, once each, and nothing else changes.
func TestIgnoredMembersAreWarnedAbout(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--name", "shell", "--", "cat")
	out, stderr, code := s.run("wait", "shell", "--matcher", `{"type":"screen_stable","value":{"min_ms":1,"max":3},"scop":"screen"}`)
	want := "ptywright: warning: --matcher: matcher.scop is not a known member and was ignored: did you mean scope?\n" +
		"ptywright: warning: --matcher: matcher.value.max is not a known member and was ignored\n"
	if code != 0 || stderr != want {
		t.Errorf("exit %d, %s%s", code, out, stderr)
	}
	script := `local s = session.get("shell")
for _ = 1, 2 do rpc("session.wait", {session = "shell", timeout = 5, matcher = {type = "screen_stable", value = {min_ms = 1}}}) end
s:send("x", {delay_ms = 1, delay = 2})
print(s.name, s.id, tostring(s))
print(session.spawn("sh", "-c", "exit 4", {name = "other", server_env = true}):wait{exited = true}.screen.exit.exit_code)`
	out, stderr, code = s.run("repl", "-e", script)
	want = "warning: session.wait: timeout is not a known member and was ignored: did you mean timeout_ms?\n" +
		"warning: session.input: delay is not a known member and was ignored: did you mean delay_ms?\n"
	if code != 0 || stderr != want || out != "shell\ts1\tsession shell s1 cat\n4\n" {
		t.Errorf("exit %d, %q, %q", code, out, stderr)
	}
}

// TestREPLHasTheCallersEnvironment: as spawn, where the server is on this machine.
func TestREPLHasTheCallersEnvironment(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	p := ptywright(t, "repl", "-e", `for _, o in ipairs{{}, {server_env = true}, {clear_env = true}, {base_env = {WORD = "base"}}} do
  o.program, o.args = "/bin/sh", array{"-c", "echo word=$WORD"}
  print(session.spawn(o):wait{exited = true}.screen.text)
end`)
	p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Dir(s.path), "WORD=blue")
	if out, code := p.run(""); code != 0 || out != "word=blue\nword=\nword=\nword=base\n" {
		t.Errorf("exit %d, %q, %s", code, out, p.stderr)
	}
}

// TestAttachByName: attach takes a name, and the line of status has it first; where several are listed it is first, too.
func TestAttachByName(t *testing.T) {
	t.Parallel()
	l := listen(t)
	on, other := start(t), l.dial()
	other.with(client.Config{Program: "cat"})
	other.with(client.Config{Program: "cat", Args: []string{"-u"}, Name: "build"})
	a := l.attach(on, 24, 80, "build", "--write")
	a.wait(client.Screen(`(?m)^ build \(s2\)  you write  Ctrl-\\ for keys  cat -u$`))
	a.text("typed\r")
	a.wait(client.Screen(`(?s)typed.*typed`))
	a.keys(`ctrl+\`)
	a.text("d")
	a.wait(client.Screen(`\[detached from build \(s2\)\]`))
	several := l.attached(on, 24, 80)
	several.wait(client.Screen(`(?m)^-      s1 .*\nbuild  s2 `))
	none := l.attached(on, 24, 80, "other")
	none.wait(client.Contains(`no session "other"`))
}

// TestNameOfARecording: a recording has the session's name as its title, unless it is given another.
func TestNameOfARecording(t *testing.T) {
	t.Parallel()
	s := start(t)
	build := s.with(client.Config{Program: "cat", Name: "build"})
	dir := t.TempDir()
	for name, c := range map[string]struct {
		params map[string]any
		want   string
	}{
		"a.cast": {nil, `"title":"build"`}, "b.cast": {map[string]any{"title": "mine"}, `"title":"mine"`}, "c.md": {map[string]any{"format": "markdown"}, `name: "build"`},
	} {
		p := map[string]any{"session": "build", "path": filepath.Join(dir, name)}
		for k, v := range c.params {
			p[k] = v
		}
		var r struct{ Recording string }
		s.call("session.record_start", p, &r)
		s.call("session.record_stop", map[string]any{"recording": r.Recording}, nil)
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(b), c.want) {
			t.Errorf("%s: %v, %s", name, err, b)
		}
	}
	var list struct{ Recordings []map[string]any }
	s.call("session.record_list", map[string]any{"session": "build"}, &list)
	if len(list.Recordings) != 3 || list.Recordings[0]["session"] != build.ID {
		t.Errorf("%v", list)
	}
}
