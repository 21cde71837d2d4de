//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A shared is a server that commands are run against.
type shared struct {
	*listener
	t testing.TB
}

func newShared(t testing.TB, flags ...string) *shared { return &shared{listen(t, flags...), t} }

// run runs a command with the server's home.
func (s *shared) run(args ...string) (out, stderr string, code int) {
	s.t.Helper()
	return s.feed("", args...)
}

func (s *shared) feed(input string, args ...string) (out, stderr string, code int) {
	s.t.Helper()
	p := ptywright(s.t, args...)
	p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Dir(s.path))
	out, code = p.run(input)
	return out, p.stderr.String(), code
}

// ok runs a command that must succeed, and returns its output without the last line's end.
func (s *shared) ok(args ...string) string {
	s.t.Helper()
	out, stderr, code := s.run(args...)
	if code != 0 || stderr != "" {
		s.t.Fatalf("%q: exit %d, %s%s", args, code, out, stderr)
	}
	return strings.TrimSuffix(out, "\n")
}

// fails runs a command that must fail.
func (s *shared) fails(code int, says string, args ...string) string {
	s.t.Helper()
	out, stderr, got := s.run(args...)
	if got != code || !strings.Contains(stderr, says) {
		s.t.Errorf("%q: exit %d, %q, expected %d, %q\n%s", args, got, stderr, code, says, out)
	}
	return out
}

// objects decodes lines of JSON.
func objects(t testing.TB, text string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(text) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, o)
	}
	return all
}

// TestRemoteFromTheShell goes through the commands as a script would.
func TestRemoteFromTheShell(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	if out := s.ok("ls"); out != "" {
		t.Errorf("no session is listed as %q", out)
	}
	dir := t.TempDir()
	id := s.ok("spawn", "--rows", "10", "--cols", "50", "--cwd", dir, "--env", "WORD=blue", "--env", asProgram, "--",
		"sh", "-c", `printf 'at %s %s\n' "$WORD" "$PWD"; while read -r line; do echo "got $line"; done`)
	if id != "s1" {
		t.Fatalf("%q", id)
	}
	if got := s.ok("wait", id, "--text", "at blue "+dir); got != "at blue "+dir {
		t.Errorf("%q", got)
	}
	seq := s.ok("send", id, "one", "two", "--enter")
	if got := s.ok("wait", id, "--since", seq, "--regex", `got (\S+) two`); got != "one" {
		t.Errorf("what an expression captured is told as %q", got)
	}
	out, stderr, code := s.feed("from a file\n", "send", id, "--file", "-")
	if code != 0 {
		t.Errorf("%s%s", out, stderr)
	}
	s.ok("wait", id, "--text", "got from a file", "--exit")
	if got := s.ok("read", id); !regexp.MustCompile(`(?s)^at blue .*\none two\ngot one two\nfrom a file\ngot from a file$`).MatchString(got) {
		t.Errorf("%q", got)
	}
	if got := s.ok("read", id, "--lines", "2"); got != "from a file\ngot from a file" {
		t.Errorf("%q", got)
	}
	if got := s.ok("read", id, "--output", "--since", seq); !strings.HasPrefix(got, "one two\r\ngot one two\r\n") {
		t.Errorf("%q", got)
	}
	if got := s.ok("logs", id, "--since", seq); !strings.HasPrefix(got, "one two\ngot one two\n") {
		t.Errorf("%q", got)
	}
	for i := range 30 {
		s.ok("send", id, fmt.Sprint(i), "--key", "enter")
	}
	s.ok("wait", id, "--text", "got 29")
	if got := s.ok("read", id, "--scrollback"); !strings.HasPrefix(got, "at blue ") || strings.Count(got, "\n") != 64 {
		t.Errorf("%d lines: %q", strings.Count(got, "\n"), got)
	}
	table := s.ok("ls")
	if !regexp.MustCompile(`(?m)^ID +PROGRAM +SIZE +STATE +QUIET +ADAPTER +LEASE +TITLE\ns1 +sh +10x50 +running +\S+s +- +- +-$`).MatchString(table) {
		t.Errorf("%s", table)
	}
	s.ok("send", id, "--key", "ctrl+d")
	if got := s.ok("wait", id, "--exit"); got != "exit 0" {
		t.Errorf("%q", got)
	}

	// What has ended is still there, until it is closed.
	if got := objects(t, s.ok("ls", "--json")); len(got) != 1 || got[0]["session"] != "s1" || got[0]["exit"].(map[string]any)["exit_code"] != 0. {
		t.Errorf("%v", got)
	}
	s.fails(1, "ended", "send", id, "more")
	s.ok("kill", "--close", id)
	s.fails(4, `unknown session "s1"; ptywright ls`, "read", id)
}

// TestRemoteTellsInJSON what it tells in text, an object a line, errors too.
func TestRemoteTellsInJSON(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	one := func(args ...string) map[string]any {
		t.Helper()
		all := objects(t, s.ok(append(args, "--json")...))
		if len(all) != 1 {
			t.Fatalf("%q: %v", args, all)
		}
		return all[0]
	}
	spawned := objects(t, s.ok("spawn", "--json", "--", "sh", "-c", `printf '\033[1mready\033[m\n'; cat`))
	if len(spawned) != 1 || spawned[0]["session"] != "s1" || spawned[0]["started_server"] != false {
		t.Fatalf("%v", spawned)
	}
	if got := one("wait", "s1", "--text", "ready"); got["matched"] != true || got["session"] != "s1" || got["snapshot"] == nil {
		t.Errorf("%v", got)
	}
	if got := one("send", "s1", "hello", "--enter"); got["sequence"] == nil || got["session"] != "s1" {
		t.Errorf("%v", got)
	}
	s.ok("wait", "s1", "--regex", `(?m)^hello\nhello$`)
	if got := one("read", "s1"); !strings.Contains(got["plain_text"].(string), "hello\nhello") {
		t.Errorf("%v", got)
	}
	if got := one("read", "s1", "--ansi"); !strings.Contains(got["data"].(string), "\x1b[") || got["format"] != "ansi" {
		t.Errorf("%v", got)
	}
	if got := one("read", "s1", "--output"); !strings.Contains(got["text"].(string), "\x1b[1mready") {
		t.Errorf("%v", got)
	}
	if got := one("read", "s1", "--scrollback"); len(got["lines"].([]any)) != 3 {
		t.Errorf("%v", got)
	}
	late := objects(t, s.fails(3, "timed out", "wait", "s1", "--text", "helloo", "--timeout", "50ms", "--json"))
	if len(late) != 1 || late[0]["matched"] != false || late[0]["reason"] != "timeout" || late[0]["snapshot"] == nil || late[0]["matcher"] == nil {
		t.Errorf("%v", late)
	}
	missing := objects(t, s.fails(4, "unknown session", "read", "s9", "--json"))
	if e := missing[0]["error"].(map[string]any); e["reason"] != "unknown_session" || e["exit_code"] != 4. {
		t.Errorf("%v", missing)
	}
	killed := objects(t, s.fails(4, "unknown session", "kill", "--json", "s9", "s1"))
	if len(killed) != 3 || killed[0]["killed"] != false || killed[1]["killed"] != true || killed[2]["error"] == nil {
		t.Errorf("%v", killed)
	}
}

// TestRemoteTimeoutHasEvidence on standard output: what each condition lacked, and the last screen.
func TestRemoteTimeoutHasEvidence(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--", "sh", "-c", "echo token=Kq7abcdefgh; echo nearly; cat")
	s.ok("wait", "s1", "--text", "nearly")
	out := s.fails(3, "the wait timed out", "wait", "s1", "--text", "nearlier", "--all", "--regex", "near", "--timeout", "0")
	for _, want := range []string{"no match after ", "- all: ", `-   contains_text "nearlier": `, `(nearest: "nearly")`, `-   screen_regex "near": held`, "(running):\n", "token=[REDACTED]\nnearly\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the evidence does not tell %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "Kq7") {
		t.Error("the evidence shows a secret")
	}
	// A program that has ended leaves nothing to wait for: that is an error, with its evidence.
	s.ok("kill", "s1")
	out = s.fails(1, "ended", "wait", "s1", "--text", "never")
	if !strings.Contains(out, "(SIG") {
		t.Errorf("%s", out)
	}
}

// TestRemotePermissions: who has a session keeps it.
func TestRemotePermissions(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--", "cat")
	person := s.dial()
	person.call("session.lease", map[string]any{"session": "s1", "holder": "Ada"}, nil)
	s.fails(5, "Ada", "send", "s1", "mine")
	if got := s.ok("ls"); !strings.Contains(got, " Ada ") {
		t.Errorf("%s", got)
	}
	// What cannot be meant is wrong use, also where only the server or the keyboard knows; nothing is typed.
	s.fails(2, "missing closing )", "wait", "s1", "--regex", "(")
	s.fails(2, "unknown matcher", "wait", "s1", "--matcher", `{"type":"nope"}`)
	s.fails(2, "unknown key", "send", "s1", "mine", "--key", "hyperspace")
	person.call("session.release", map[string]any{"session": "s1"}, nil)
	s.ok("send", "s1", "mine")
	if os.Geteuid() == 0 {
		return // permissions do not hold for root
	}
	if err := os.Chmod(s.path, 0); err != nil {
		t.Fatal(err)
	}
	s.fails(5, "not this user's", "ls")
}

// TestRemoteUsage is told, before anything is done.
func TestRemoteUsage(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, args := range [][]string{
		{"send"}, {"send", "s1"}, {"send", "s1", "--paste"}, {"wait"}, {"wait", "s1"}, {"wait", "s1", "--matcher", "{"}, {"wait", "s1", "--stable", "soon"},
		{"wait", "s1", "--exit", "--timeout", "25h"}, {"read"}, {"read", "s1", "--lines", "0"}, {"read", "s1", "--ansi", "--output"}, {"read", "s1", "--since", "4"},
		{"kill"}, {"kill", "--all", "s1"}, {"kill", "--server", "--all"}, {"logs"}, {"spawn"}, {"spawn", "--rows", "0", "--", "true"},
		{"spawn", "--env", "THERE_IS_NO_SUCH", "--", "true"}, {"ls", "s1"}, {"ls", "--no"},
	} {
		p := ptywright(t, args...)
		p.Env = append(p.Env, "PTYWRIGHT_HOME="+home)
		if out, code := p.run(""); code != 2 || out != "" {
			t.Errorf("%q: exit %d, %q %s", args, code, out, p.stderr)
		}
	}
	for _, args := range [][]string{{"ls"}, {"read", "s1"}, {"kill", "--server"}} {
		p := ptywright(t, args...)
		p.Env = append(p.Env, "PTYWRIGHT_HOME="+home)
		if _, code := p.run(""); code != 1 || !strings.Contains(p.stderr.String(), "no server listens there; start one with") {
			t.Errorf("%q without a server: exit %d, %s", args, code, p.stderr)
		}
	}
	if left, _ := os.ReadDir(home); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestExamplesOfWaitAndSpawn: the first example of wait finds the prompt of a fresh shell, and a program gets what spawn says that it gets.
func TestExamplesOfWaitAndSpawn(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	help := s.ok("wait", "--help")
	args := regexp.MustCompile(`ptywright (wait s1 --regex) '(.*)'\n`).FindStringSubmatch(help)
	if args == nil {
		t.Fatal(help)
	}
	s.ok("spawn", "--env", asProgram, "--env", "PS1=fresh$ ", "--env", "PTYWRIGHT_FOO=handed", "--", "sh", "-c", `echo "got $PTYWRIGHT_FOO, ${PTYWRIGHT_HOME-none}"; exec sh -i`)
	s.ok("wait", "s1", "--regex", args[2])
	if got := s.ok("read", "s1"); !strings.HasPrefix(got, "got handed, none\n") {
		t.Errorf("%q", got)
	}
	wants(t, s.fails(3, "", "wait", "s1", "--text", "fresh", "--since", "99999", "--timeout", "0"), "sequence 99999 is still to come, the newest is ")
	wants(t, s.ok("spawn", "--help"), "no PTYWRIGHT_ variable", "--env PTYWRIGHT_HOME")
	for _, args := range [][]string{{"--all", "--server"}, {"--all", "s1"}, {"--server", "s1"}} {
		s.fails(2, "exclude each other", append([]string{"kill"}, args...)...)
	}
	s.fails(2, "say what to end", "kill")
}

// TestSpawnStartsAServer when none listens, which goes on until it is told to end.
func TestSpawnStartsAServer(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	var mark string
	run := func(args ...string) string {
		t.Helper()
		p := ptywright(t, args...)
		if mark == "" {
			mark = p.mark
		}
		p.Env = append(p.Env, "PTYWRIGHT_HOME="+home)
		out, code := p.run("")
		if code != 0 || p.stderr.String() != "" {
			t.Fatalf("%q: exit %d, %s%s", args, code, out, p.stderr)
		}
		return out
	}
	if got := run("spawn", "--json", "--", "sh", "-c", "echo here; exec cat"); got != `{"session":"s1","started_server":true}`+"\n" {
		t.Errorf("%q", got)
	}
	t.Cleanup(func() { noneLeft(t, mark) })
	if got := run("spawn", "--", "true"); got != "s2\n" {
		t.Errorf("%q", got)
	}
	run("wait", "s1", "--text", "here")
	run("kill", "--server")
	if got, err := os.ReadFile(filepath.Join(home, "socket.log")); err != nil || !strings.HasPrefix(string(got), "ptywright: serving on ") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestLogsFollow tells all there is and all that comes, each once, and ends with the program.
func TestLogsFollow(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	path, say := fifo(t)
	s.ok("spawn", "--", "sh", "-c", `i=0; while [ $i -lt 200 ]; do echo "early $i"; i=$((i+1)); done; exec 3<"$0"; read x <&3
		printf '\033[31mred\033[m\ttoken=Kq7abcdefgh\r\nold\rnew\n\033]0;title\007wit\bh\n'; read x <&3; printf 'no end'`, path)
	p := ptywright(t, "logs", "-f", "s1")
	p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Dir(s.path))
	_, out := p.startPiped()
	told := make(chan string, 1)
	go func() {
		var b strings.Builder
		buf := make([]byte, 4096)
		for {
			n, err := out.Read(buf)
			b.Write(buf[:n])
			if err != nil {
				told <- b.String()
				return
			}
		}
	}()
	s.ok("wait", "s1", "--text", "early 199")
	say("go")
	s.ok("wait", "s1", "--text", "new")
	say("end")
	got := <-told
	if err := p.Wait(); err != nil {
		t.Errorf("%v: %s", err, p.stderr)
	}
	var want strings.Builder
	for i := range 200 {
		fmt.Fprintf(&want, "early %d\n", i)
	}
	want.WriteString("red\ttoken=[REDACTED]\nnew\nwih\nno end\n")
	if got != want.String() {
		t.Errorf("got\n%s", got)
	}
	// Of what has ended, too, in both ways.
	for _, args := range [][]string{{"logs", "s1"}, {"logs", "-f", "s1"}} {
		if got := s.ok(args...); got+"\n" != want.String() {
			t.Errorf("%q: got\n%s", args, got)
		}
	}
	deltas := objects(t, s.ok("logs", "-f", "--json", "s1"))
	if last := deltas[len(deltas)-1]; last["exit_code"] != 0. || !strings.Contains(deltas[0]["output"].(string), "\x1b[31mred") {
		t.Errorf("%v", deltas)
	}
	s.fails(4, "unknown session", "logs", "-f", "s9")

	// By a name, too.
	s.ok("spawn", "--name", "build", "--", "echo", "built")
	if got := s.ok("logs", "-f", "build"); got != "built" {
		t.Errorf("%q", got)
	}
	s.fails(4, "unknown session", "logs", "-f", "no-such-name")
}

// TestWaitPrintsLines: what an expression captured keeps its line ends, and with several sessions
// each line begins with its id.
func TestWaitPrintsLines(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--", "printf", `BEGIN\none\ntwo\n\033[mEND\n`)
	s.ok("spawn", "--", "cat")
	for flag, expression := range map[string]string{"--regex": `(?s)BEGIN\n(.*)\nEND`, "--output-regex": `(?s)BEGIN\r\n(.*)\r\n.{3}END`} {
		if got := s.ok("wait", "s1", flag, expression); got != "one\ntwo" {
			t.Errorf("%s: %q", flag, got)
		}
	}
	if got := s.ok("wait", "s1", "s2", "--any", "--regex", `(?s)one\ntwo`); got != "s1 one\ns1 two" {
		t.Errorf("%q", got)
	}
	if got := s.ok("wait", "s1", "--output-regex", `two\r\n(.*)END`); got != "\ufffd[m" {
		t.Errorf("%q: control characters are not to be printed", got)
	}
}

// TestBlankBehindAPrompt is what rows are cut at: the evidence says so, and not that the prompt was
// erased.
func TestBlankBehindAPrompt(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--", "sh", "-c", `printf 'first: '; read -r x; printf 'gone: \r      \rname: '; read -r x`)
	const blank, gone = "leave out the blank at its end", "drawn over or erased since"
	s.ok("wait", "s1", "--text", "first:")
	seq := s.ok("send", "s1", "-e")
	s.ok("wait", "s1", "--text", "name:")
	for says, waits := range map[string][][]string{
		blank: {{"--text", "name: "}, {"--regex", "name: $"}, {"--regex", `(?m)^name:\s+$`}, {"--text", "name: ", "--since", seq}},
		gone:  {{"--text", "gone: "}, {"--text", "name:  "}},
	} {
		for _, args := range waits {
			out := s.fails(3, "timed out", append([]string{"wait", "s1", "--timeout", "0"}, args...)...)
			if (says == blank) != strings.Contains(out, blank) || args[1] == "gone: " && !strings.Contains(out, gone) {
				t.Errorf("%q: %s", args, out)
			}
		}
	}
	// Where nothing was written since, that is what is wrong.
	if out := s.fails(3, "timed out", "wait", "s1", "--timeout", "0", "--text", "first: ", "--since", seq); strings.Contains(out, blank) {
		t.Errorf("%s", out)
	}
}

// TestReadBlocks and wait for commands of a shell that marks them.
func TestReadBlocks(t *testing.T) {
	t.Parallel()
	need(t, "bash", "bash")
	s := newShared(t)
	id := s.ok("spawn", "--shell-integration", "--", "bash", "--norc")
	seq := s.ok("send", id, "echo hi; (exit 3)", "--enter")
	if got := s.ok("wait", id, "--since", seq, "--finished"); got != "exit 3" {
		t.Errorf("%q", got)
	}
	if got := s.ok("read", id, "--blocks"); got != "== 1 exit 3: echo hi; (exit 3)\nhi" {
		t.Errorf("%q", got)
	}
	if got := objects(t, s.ok("read", id, "--blocks", "--json")); len(got) != 1 || got[0]["exit_code"] != 3. {
		t.Errorf("%v", got)
	}
}
