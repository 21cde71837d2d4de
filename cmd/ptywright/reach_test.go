//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestResizeAndSearchFromTheShell: what the program draws afterwards has the size, and what it drew is found.
func TestResizeAndSearchFromTheShell(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--", "sh", "-c", `trap 'stty size' WINCH; for i in $(seq 50); do echo "line $i"; done; echo ready; while :; do sleep 0.05; done`)
	s.ok("wait", "s1", "--text", "ready")
	s.ok("resize", "s1", "30x100")
	s.ok("wait", "s1", "--text", "30 100")
	s.ok("resize", "s1", "--cols", "120")
	s.ok("wait", "s1", "--text", "30 120")
	if got := s.ok("resize", "s1", "--rows", "12", "--json"); got != `{"session":"s1","rows":12,"cols":120}` {
		t.Errorf("%s", got)
	}
	if got := s.ok("search", "s1", "line 7"); got != "6:0: line 7" {
		t.Errorf("%q", got)
	}
	if got := s.ok("search", "s1", "--regex", `line [12]\d?$`); strings.Count(got, "\n") != 21 || !strings.HasPrefix(got, "0:0: line 1\n") {
		t.Errorf("%q", got)
	}
	out, stderr, code := s.run("search", "s1", "line", "--max", "2")
	if code != 0 || out != "0:0: line 1\n1:0: line 2\n" || !strings.Contains(stderr, "these are 2 of 50") {
		t.Errorf("exit %d, %q, %q", code, out, stderr)
	}
	if got := objects(t, s.ok("search", "s1", "ready", "--json")); got[0]["session"] != "s1" || got[0]["total"] != 1. {
		t.Errorf("%v", got)
	}
	if got := s.fails(1, "nothing was found", "search", "s1", "nowhere"); got != "" {
		t.Errorf("%q", got)
	}
	if got := objects(t, s.fails(1, "", "search", "s1", "nowhere", "--json")); len(got) != 1 || got[0]["total"] != 0. {
		t.Errorf("%v", got)
	}
	for says, args := range map[string][]string{
		"give ROWSxCOLS": {"resize", "s1", "30"}, "each 1 to 1000": {"resize", "s1", "0x80"}, "exclude each other": {"resize", "s1", "3x3", "--rows", "3"},
		"say the size": {"resize", "s1"}, "--rows is 0": {"resize", "s1", "--rows", "0"}, "say what to find": {"search", "s1"},
		"TEXT and --regex": {"search", "s1", "a", "--regex", "b"}, "missing closing": {"search", "s1", "--regex", "("},
	} {
		code := 2
		if says == "missing closing" { // which only the server knows
			code = 1
		}
		s.fails(code, says, args...)
	}
	s.fails(4, "unknown session", "resize", "s9", "3x3")
	s.fails(4, "unknown session", "search", "s9", "x")
}

// TestMouseFromTheShell: a program that has asked for the mouse gets what a terminal sends, and another gets nothing.
func TestMouseFromTheShell(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--rows", "20", "--cols", "40", "--", "sh", "-c", `stty raw -echo; printf '\033[?1002h\033[?1006hready\r\n'; cat -v`)
	s.ok("wait", "s1", "--text", "ready")
	for _, m := range []struct{ does, want string }{
		{"click 2 3", `^[[<0;4;3M^[[<0;4;3m`},
		{"double-click 0 0 --button right", `^[[<2;1;1M^[[<2;1;1m^[[<2;1;1M^[[<2;1;1m`},
		{"drag 1 1 1 9 --mods shift+ctrl", `^[[<20;2;2M^[[<52;10;2M^[[<20;10;2m`},
		{"scroll 5 5 --times 2", `^[[<65;6;6M^[[<65;6;6M`},
		{"scroll 5 5 --towards up", `^[[<64;6;6M`},
		{"press 3 3 --button middle", `^[[<1;4;4M`},
		{"move 4 4 --button middle", `^[[<33;5;5M`},
		{"release 4 4 --button middle", `^[[<1;5;5m`},
	} {
		seq := s.ok(append([]string{"mouse", "s1"}, strings.Fields(m.does)...)...)
		if !regexp.MustCompile(`^\d+$`).MatchString(seq) {
			t.Errorf("%s: %q", m.does, seq)
		}
		s.ok("wait", "s1", "--output", m.want)
	}
	if got := objects(t, s.ok("mouse", "s1", "click", "1", "1", "--json")); got[0]["session"] != "s1" || got[0]["sequence"] == nil {
		t.Errorf("%v", got)
	}
	s.fails(1, "does not ask for this kind of mouse event", "mouse", "s1", "move", "1", "1") // without a button
	s.fails(1, "not on the screen", "mouse", "s1", "click", "20", "1")
	s.ok("spawn", "--", "cat")
	s.fails(1, "does not ask for", "mouse", "s2", "click", "1", "1")
	for says, args := range map[string]string{
		"is none of click": "mouse s1 poke 1 1", "drag takes two places": "mouse s1 drag 1 1", "click takes one place": "mouse s1 click 1 1 1 1",
		"ROW is \"x\"": "mouse s1 click x 1", "--mods is": "mouse s1 click 1 1 --mods super", "--button is": "mouse s1 click 1 1 --button none",
		"--towards is for scroll": "mouse s1 click 1 1 --towards up", "--times is 101": "mouse s1 scroll 1 1 --times 101",
		"--button is not for scroll": "mouse s1 scroll 1 1 --button left", "give ROW": "mouse s1 click", "--mods is \"shift+": "mouse s1 click 1 1 --mods shift+",
	} {
		s.fails(2, says, strings.Fields(args)...)
	}
	s.fails(4, "unknown session", "mouse", "s9", "click", "1", "1")
}

// TestMouseLessThanAll: a program that asks for presses alone is told of no releases and moves.
func TestMouseLessThanAll(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--", "sh", "-c", `stty raw -echo; printf '\033[?9hready\r\n'; dd bs=1 count=300 2>/dev/null | od -An -v -tx1 -w6`)
	s.ok("wait", "s1", "--text", "ready")
	s.ok("mouse", "s1", "drag", "1", "1", "2", "2")
	s.ok("mouse", "s1", "click", "3", "3")
	s.ok("wait", "s1", "--all", "--text", "1b 5b 4d 20 22 22", "--text", "1b 5b 4d 20 24 24")
	if out := s.ok("read", "s1"); strings.Count(out, "1b") != 2 {
		t.Errorf("%s", out)
	}
}

// TestExec: the exact output and the exit code of a command, in the shell's folder and with its variables.
func TestExec(t *testing.T) {
	t.Parallel()
	need(t, "bash", "bash")
	s := newShared(t)
	dir := t.TempDir()
	for id, args := range map[string][]string{
		"s1": {"spawn", "--cwd", dir, "--shell-integration", "--env", "HISTFILE=", "--", "bash", "--norc", "--noprofile"},
		"s2": {"spawn", "--cwd", dir, "--env", "PS1=$ ", "--", "sh"},
	} {
		_ = id
		s.ok(args...)
	}
	for _, id := range []string{"s1", "s2"} {
		s.ok("exec", id, "--", "mkdir -p sub && cd sub && WORD=blue")
		if out, stderr, code := s.run("exec", id, "--", `echo "$WORD $(basename "$PWD")"; printf 'x  \n\ty'; (exit 7)`); out != "blue sub\nx  \n\ty" || code != 7 || stderr != "" {
			t.Errorf("%s: exit %d, %q, %q", id, code, out, stderr)
		}
		// Several words are arguments, whatever is in them.
		words := []string{"printf", "<%s>", "a b", `it's`, `back\slash\\`, "$HOME", "", "*", "!!", "two\nlines", "é"}
		if out, stderr, code := s.run(append([]string{"exec", id, "--"}, words...)...); out != "<"+strings.Join(words[2:], "><")+">" || code != 0 || stderr != "" {
			t.Errorf("%s: exit %d, %q, %q", id, code, out, stderr)
		}
		if out, _, code := s.run("exec", id, "--", "grep", "-c", "x", "/dev/null"); out != "0\n" || code != 1 {
			t.Errorf("%s: exit %d, %q", id, code, out)
		}
		if out := s.ok("exec", "--raw", id, "--", `printf '\033[1mb\033[m'`); out != "\x1b[1mb\x1b[m" {
			t.Errorf("%s: %q", id, out)
		}
		got := objects(t, s.ok("exec", "--json", id, "--", "echo one"))
		if len(got) != 1 || got[0]["session"] != id || got[0]["output"] != "one\n" || got[0]["exit_code"] != 0. {
			t.Errorf("%v", got)
		}
		if out := s.ok("exec", id, "--", "echo token=Kq7Zx9Vb2Nm4Lp8Rt6"); strings.Contains(out, "Kq7") {
			t.Errorf("a secret shows: %q", out)
		}
		if out := s.ok("exec", "--no-redact", id, "--", "echo token=Kq7Zx9Vb2Nm4Lp8Rt6"); out != "token=Kq7Zx9Vb2Nm4Lp8Rt6" {
			t.Errorf("%q", out)
		}
		// When the time is over the command goes on.
		out, stderr, code := s.run("exec", "--timeout", "500ms", id, "--", "echo begun; read -r x; echo got $x")
		if code != 124 || out != "begun\n" || !strings.Contains(stderr, "goes on in "+id) || !strings.Contains(stderr, "has not ended after 500ms") {
			t.Errorf("%s: exit %d, %q, %q", id, code, out, stderr)
		}
		late := objects(t, s.fails(125, "nothing was typed", "exec", "--json", id, "--", "true"))
		if e := late[0]["error"].(map[string]any); e["reason"] != "not_at_prompt" || e["exit_code"] != 125. {
			t.Errorf("%v", late)
		}
		s.ok("send", id, "it", "--enter")
		s.ok("wait", id, "--regex", `(?s)got it\n.*[$#]$`)
		if out, stderr, code := s.run("exec", id, "--", "echo last; exit 3"); code != 3 || !strings.HasPrefix(out, "last\n") || !strings.Contains(stderr, "has ended the shell of "+id) {
			t.Errorf("%s: exit %d, %q, %q", id, code, out, stderr)
		}
		s.fails(125, "has ended", "exec", id, "--", "true")
	}
	s.ok("spawn", "--", "cat")
	s.fails(125, `runs "cat", which is not a shell known to tell`, "exec", "s3", "--", "true")
	s.fails(125, "unknown session", "exec", "s9", "--", "true")
	s.fails(2, "COMMAND is empty", "exec", "s1", "--", " ")
	s.fails(2, "give COMMAND", "exec", "s1")
	s.fails(2, "stands between ID and --", "exec", "s1", "ls", "--", "-l")
	s.fails(2, "-- goes before a program that has flags of its own: ptywright exec s1 -- ls -l", "exec", "s1", "ls", "-l")
}

// TestExecIsInterrupted: Ctrl-C ends the wait and not the command, and says so.
func TestExecIsInterrupted(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--env", "PS1=$ ", "--", "sh")
	p := ptywright(t, "exec", "s1", "--", "echo begun; read -r x; echo got $x")
	p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Dir(s.path))
	p.startPiped()
	s.ok("wait", "s1", "--regex", `(?m)^begun$`)
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := exitCodeOf(t, p.Wait()); code != 130 || !strings.Contains(p.stderr.String(), "the command goes on in s1") {
		t.Errorf("exit %d, %q", code, p.stderr)
	}
	s.ok("send", "s1", "on", "--enter")
	s.ok("wait", "s1", "--text", "got on")
}

// TestWaitForSeveral: the first of them, or each.
func TestWaitForSeveral(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	for range 3 {
		s.ok("spawn", "--", "sh", "-c", `echo begun; read -r code; echo "ends $code"; exit "$code"`)
	}
	s.ok("wait", "s1", "s2", "s3", "--all", "--text", "begun")
	s.ok("send", "s2", "7", "--enter")
	if got := s.ok("wait", "s1", "s2", "s3", "--any", "--exit"); got != "s2 exit 7" {
		t.Errorf("%q", got)
	}
	if out, stderr, code := s.run("wait", "s1", "s2", "s3", "--any", "--exit", "--status"); out != "s2 exit 7\n" || stderr != "" || code != 7 {
		t.Errorf("exit %d, %q, %q", code, out, stderr)
	}
	// One that has ended without it is passed over as long as another can still show it.
	s.ok("send", "s3", "3", "--enter")
	if got := s.ok("wait", "s2", "s3", "--any", "--text", "ends 3"); got != "s3 ends 3" {
		t.Errorf("%q", got)
	}
	out := s.fails(1, "has ended", "wait", "s2", "s3", "--any", "--text", "never")
	wants(t, out, "== s2\n", "== s3\n", `contains_text "never"`)
	// With --all the first that cannot any more decides.
	out = s.fails(1, "has ended", "wait", "s1", "s2", "--all", "--text", "ends 5", "--timeout", "1h")
	if strings.Contains(out, "== s1") || !strings.Contains(out, "== s2\n") {
		t.Errorf("%s", out)
	}
	out = s.fails(3, "timed out", "wait", "s1", "s3", "--all", "--exit", "--timeout", "50ms")
	wants(t, out, "== s1\n", "s3 exit 3\n")
	s.ok("send", "s1", "0", "--enter")
	if got := s.ok("wait", "s1", "s2", "s3", "--all", "--exit"); got != "s1 exit 0\ns2 exit 7\ns3 exit 3" {
		t.Errorf("%q", got)
	}
	if out, stderr, code := s.run("wait", "s1", "s3", "s2", "--all", "--exit", "--status", "--json"); code != 3 || stderr != "" || len(objects(t, out)) != 3 {
		t.Errorf("exit %d, %q, %q", code, out, stderr)
	}
	if got := s.ok("wait", "s1", "s2", "--all", "--each", "all", "--exit", "--text", "begun"); got != "s1 exit 0; begun\ns2 exit 7; begun" && got != "s1 begun; exit 0\ns2 begun; exit 7" {
		t.Errorf("%q", got)
	}
	s.fails(4, "unknown session", "wait", "s1", "s9", "--any", "--text", "never", "--timeout", "1h")
	for says, args := range map[string]string{
		"say --any": "wait s1 s2 --exit", "named twice": "wait s1 s1 --any --exit", "--any and --all exclude": "wait s1 s2 --any --all --exit",
		"say with --each": "wait s1 s2 --all --exit --text x", "--since is for one": "wait s1 s2 --any --exit --since 4",
		"--each is": "wait s1 s2 --any --exit --each some", "give one of them": "wait s1 --exit --each all --all",
		"--status is for --exit": "wait s1 --text x --status", "--status is for": "wait s1 --exit --not --status",
	} {
		s.fails(2, says, strings.Fields(args)...)
	}
}

// TestWaitStatus: the program's own code, and codes of its own for what goes wrong with the wait.
func TestWaitStatus(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	for _, script := range []string{"exit 0", "exit 42", "kill -TERM $$", "exec cat"} {
		s.ok("spawn", "--", "sh", "-c", script)
	}
	for id, want := range map[string]struct {
		out  string
		code int
	}{"s1": {"exit 0\n", 0}, "s2": {"exit 42\n", 42}, "s3": {"SIGTERM\n", 143}} {
		if out, _, code := s.run("wait", id, "--exit"); out != want.out || code != 0 {
			t.Errorf("%s: exit %d, %q", id, code, out)
		}
		if out, stderr, code := s.run("wait", id, "--exit", "--status"); out != want.out || code != want.code || stderr != "" {
			t.Errorf("%s: exit %d, %q, %q", id, code, out, stderr)
		}
	}
	s.fails(124, "timed out", "wait", "s4", "--exit", "--status", "--timeout", "0")
	s.fails(125, "unknown session", "wait", "s9", "--exit", "--status")
	if out, _, code := s.run("wait", "s2", "--exit", "--text", "never", "--status"); out != "exit 42\n" || code != 42 {
		t.Errorf("exit %d, %q", code, out)
	}
	s.ok("send", "s4", "shown", "--enter")
	if out, _, code := s.run("wait", "s4", "--exit", "--text", "shown", "--status"); out != "shown\n" || code != 0 {
		t.Errorf("exit %d, %q", code, out)
	}
	s.ok("kill", "--ended")
	if out, _, code := s.run("wait", "s2", "--exit", "--status"); out != "exit 42\n" || code != 42 {
		t.Errorf("forgotten: exit %d, %q", code, out)
	}
}

// TestWaitNot: until it does not hold.
func TestWaitNot(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--", "sh", "-c", `printf 'loading and waiting'; read -r x; printf '\033[H\033[2Jwaiting'; read -r x; printf '\033[H\033[2Jdone'; cat`)
	s.ok("wait", "s1", "--text", "loading and waiting")
	s.fails(3, "timed out", "wait", "s1", "--not", "--text", "loading", "--timeout", "0")
	s.ok("send", "s1", "--enter")
	s.ok("wait", "s1", "--not", "--text", "loading")
	s.ok("wait", "s1", "--not", "--all", "--text", "loading", "--text", "waiting") // not all of it
	s.fails(3, "timed out", "wait", "s1", "--not", "--text", "loading", "--text", "waiting", "--timeout", "0")
	s.ok("send", "s1", "--enter")
	s.ok("wait", "s1", "--not", "--text", "loading", "--text", "waiting")
}

// TestLogsToAFile: whole, private, and never over what is there.
func TestLogsToAFile(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	read := func(name string) string {
		t.Helper()
		b, err := os.ReadFile(at(name))
		if err != nil {
			t.Error(err)
		}
		return string(b)
	}
	s.ok("spawn", "--", "sh", "-c", `printf '\033[1mone\033[m\n'; echo two; read -r x; echo "$x"`)
	s.ok("wait", "s1", "--text", "two")
	if out := s.ok("logs", "s1", "--to", at("a.log")); out != "" {
		t.Errorf("%q", out)
	}
	if got := read("a.log"); got != "one\ntwo\n" {
		t.Errorf("%q", got)
	}
	if info, err := os.Stat(at("a.log")); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// While it follows, what there is so far is under another name.
	p := ptywright(t, "logs", "s1", "--follow", "--to", at("b.log"))
	p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Dir(s.path))
	p.startPiped()
	s.ok("send", "s1", "three", "--enter")
	if code := exitCodeOf(t, p.Wait()); code != 0 || p.stderr.String() != "" {
		t.Errorf("exit %d, %s", code, p.stderr)
	}
	if got := read("b.log"); got != "one\ntwo\nthree\nthree\n" {
		t.Errorf("%q", got)
	}
	s.ok("logs", "s1", "--scrollback", "--to", at("c.log"))
	if got := read("c.log"); got != "one\ntwo\nthree\nthree\n" || s.ok("logs", "s1", "--scrollback")+"\n" != got {
		t.Errorf("%q", got)
	}
	s.ok("logs", "s1", "--json", "--to", at("d.log"))
	if got := objects(t, read("d.log")); len(got) != 1 || got[0]["session"] != "s1" {
		t.Errorf("%v", got)
	}
	if err := os.Symlink(at("a.log"), at("link")); err != nil {
		t.Fatal(err)
	}
	if err := mkfifo(at("fifo")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("half.part"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, says := range map[string]string{
		"a.log": "exists already", "link": "is a symbolic link", "fifo": "exists already", "half": "was left unfinished", "no/x": "its folder does not exist",
		"": "names a folder",
	} {
		s.fails(1, says, "logs", "s1", "--to", dir+"/"+name)
	}
	if got := read("a.log"); got != "one\ntwo\n" {
		t.Errorf("it was written over: %q", got)
	}
	s.fails(4, "unknown session", "logs", "s9", "--to", at("e.log"))
	if left, err := filepath.Glob(at("e.log*")); err != nil || left != nil {
		t.Errorf("left: %v", left)
	}
	s.fails(2, "--to is empty", "logs", "s1", "--to", "")
	s.fails(2, "exclude each other", "logs", "s1", "--follow", "--scrollback")
	s.fails(2, "--since is for output", "logs", "s1", "--since", "3", "--scrollback")
}

// TestBlocksWithoutMarks says so, and what to do.
func TestBlocksWithoutMarks(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--", "cat")
	s.fails(1, "s1 has marked no commands", "read", "s1", "--blocks")
	if got := objects(t, s.fails(1, "--shell-integration", "read", "s1", "--blocks", "--json")); got[0]["error"].(map[string]any)["reason"] != "no_shell_integration" {
		t.Errorf("%v", got)
	}
}

// TestTimesOfARecording: one that it does not have is refused, and one that is no recording is told so.
func TestTimesOfARecording(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cast := filepath.Join(dir, "a.cast")
	if err := os.WriteFile(cast, []byte("{\"version\":2,\"width\":20,\"height\":2}\n[1.5,\"o\",\"x\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "want.txt")
	if err := os.WriteFile(text, []byte("no recording\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{2, `--at is 99h0m0s: "` + cast + `" ends at 1.5s`, []string{"shot", "-o", "-", "--format", "ansi", "--at", "99h", cast}},
		{0, "", []string{"shot", "-o", "-", "--format", "ansi", "--at", "1.5s", cast}},
		{2, "--start-at is 2s", []string{"play", "--start-at", "2", cast}},
		{1, "want.txt: line 1: not an asciicast header", []string{"shot", "-o", "-", "--format", "ansi", text}},
		{2, "--font-size is 0: give 6 to 128", []string{"shot", "-o", "-", "--format", "png", "--font-size", "0", cast}},
		{2, "--font-size is 1000: give 6 to 128", []string{"shot", "-o", "-", "--format", "png", "--font-size", "1000", cast}},
		{2, "--font-size is -1: give 6 to 128", []string{"shot", "-o", "-", "--format", "png", "--font-size", "-1", cast}},
	} {
		p := ptywright(t, c.args...)
		if _, code := p.run(""); code != c.code || !strings.Contains(p.stderr.String(), c.says) {
			t.Errorf("%q: exit %d, %s", c.args, code, p.stderr)
		}
	}
}

// TestREPLNamesWhatIsUndefined: the variable or function, and what may be meant.
func TestREPLNamesWhatIsUndefined(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	for source, want := range map[string]string{
		`sesion.spawn("sh")`:                       `undefined variable "sesion": did you mean session?`,
		`x = 1 sesion:list()`:                      `undefined variable "sesion": did you mean session?`,
		"x = 1\nreturn sesion.list":                `-e:2: undefined variable "sesion": did you mean session?`,
		`undefind()`:                               `undefined function "undefind"`,
		`return nothing + 1`:                       `undefined variable "nothing"`,
		`return "a" .. nothing`:                    `undefined variable "nothing"`,
		`return 1 < nothing`:                       `undefined variable "nothing"`,
		`return session.a.b`:                       `session has no "a"`,
		`local x = nil; return x.y`:                `x is nil here`,
		`t = {} return t.a.b`:                      `t has no "a"`,
		`local f = function(p) return p.q end f()`: `p is nil here`,
		`return ("x").y.z`:                         `attempt to index`,
	} {
		_, stderr, code := s.run("repl", "--socket", s.path, "-e", source)
		if code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %q, expected %q", source, code, stderr, want)
		}
	}
}

// TestRecordASession of a server: until its end, for a time, and until Ctrl-C; the file is whole then.
func TestRecordASession(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	s.ok("spawn", "--", "sh", "-c", `echo before; while read -r line; do echo "got $line token=Kq7Zx9Vb2Nm4Lp8Rt6"; done`)
	s.ok("wait", "s1", "--text", "before")
	s.ok("record", "--session", "s1", "--for", "1ms", at("a.cast"))
	if out, code := ptywright(t, "cast2text", at("a.cast")).run(""); out != "before\n" || code != 0 {
		t.Errorf("exit %d, %q", code, out)
	}
	begin := func(args ...string) *program {
		t.Helper()
		p := ptywright(t, append([]string{"record", "--session", "s1"}, args...)...)
		p.Dir = dir
		p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Dir(s.path))
		p.startPiped()
		return p
	}
	running := func(n int) {
		t.Helper()
		c := s.dial()
		for {
			var r struct{ Recordings []struct{ State string } }
			c.call("session.record_list", nil, &r)
			live := 0
			for _, x := range r.Recordings {
				if x.State == "recording" {
					live++
				}
			}
			if live == n {
				return
			}
		}
	}
	byKey, toTheEnd := begin("--format", "v3", "b.cast"), begin("-o", "c.md", "--json")
	running(2)
	if _, err := os.Stat(at("b.cast.part")); err != nil {
		t.Error(err)
	}
	s.ok("send", "s1", "one", "--enter")
	s.ok("wait", "s1", "--text", "got one")
	if err := byKey.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := exitCodeOf(t, byKey.Wait()); code != 0 || byKey.stderr.String() != "" {
		t.Errorf("exit %d, %s", code, byKey.stderr)
	}
	s.fails(1, "exists already", "record", "--session", "s1", at("a.cast"))
	s.ok("send", "s1", "two", "--enter")
	s.ok("send", "s1", "--key", "ctrl+d")
	if code := exitCodeOf(t, toTheEnd.Wait()); code != 0 || toTheEnd.stderr.String() != "" {
		t.Errorf("exit %d, %s", code, toTheEnd.stderr)
	}
	if out, _ := ptywright(t, "cast2text", at("b.cast")).run(""); !strings.HasPrefix(out, "before\none\ngot one token=[REDACTED]") || strings.Contains(out, "two") {
		t.Errorf("%q", out)
	}
	if b, err := os.ReadFile(at("c.md")); err != nil || !strings.Contains(string(b), "got two") || strings.Contains(string(b), "Kq7") {
		t.Errorf("%s, %v", b, err)
	}
	for _, name := range []string{"a.cast", "b.cast", "c.md"} {
		if info, err := os.Stat(at(name)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, _ := filepath.Glob(at("*.part")); left != nil {
		t.Errorf("left: %v", left)
	}
	s.fails(1, "the session has ended", "record", "--session", "s1", at("d.cast"))
	s.fails(4, "unknown session", "record", "--session", "s9", at("d.cast"))
	for says, args := range map[string][]string{
		"give PROGRAM, or --session": {"record"}, "give -o FILE": {"record", "--", "true"}, "give FILE": {"record", "--session", "s1"},
		"--session and a program": {"record", "--session", "s1", "-o", "x", "--", "true"}, "stands behind FILE": {"record", "--session", "s1", "x.cast", "--for", "1s"},
		"--for is for --session": {"record", "-o", "x", "--for", "1s", "--", "true"}, "-o and": {"record", "--session", "s1", "-o", "x", "y"},
		"--for is 0s": {"record", "--session", "s1", "--for", "0s", "x.cast"}, "--rows and --cols": {"record", "--session", "s1", "--rows", "3", "x.cast"},
		"unexpected argument": {"record", "--session", "s1", "x", "y"}, "--session is empty": {"record", "--session", "", "x"},
	} {
		s.fails(2, says, args...)
	}
}

// TestAttachOnlyLooks: no key takes the session, and the server would refuse it.
func TestAttachOnlyLooks(t *testing.T) {
	t.Parallel()
	l, outer := listen(t), start(t)
	s := l.dial().sized(24, 100, "cat")
	a := l.attach(outer, 24, 100, "--read-only", s.ID)
	s.text("shown\r")
	a.wait(client.Screen(`^shown\nshown`))
	a.text("x")
	a.wait(client.Contains("you attached to look on"))
	for _, key := range []string{"w", "t"} {
		a.text("\x1c") // which covers that
		a.wait(client.Contains("d detach  z suspend"))
		a.text(key)
		a.wait(client.Contains("you attached to look on"))
	}
	if f := s.frame(nil); f.Lease != nil {
		t.Errorf("it has the session: %+v", f.Lease)
	}
	if got := s.snapshot("none").PlainText; got != "shown\nshown" {
		t.Errorf("%q", got)
	}
	a.text("\x1c")
	a.wait(client.Screen(`d detach  z suspend`))
	a.text("d")
	if how := a.exited(); how != "exit 0" {
		t.Error(how)
	}
	for _, flag := range []string{"--write", "--take"} {
		p := ptywright(t, "attach", "--read-only", flag, "s1")
		if _, code := p.run(""); code != 2 || !strings.Contains(p.stderr.String(), "exclude each other") {
			t.Errorf("%s: exit %d, %s", flag, code, p.stderr)
		}
	}
}

// TestWatchTellsTwoAddresses, with tokens of their own; --read-only makes but one, which is not for typing.
func TestWatchTellsTwoAddresses(t *testing.T) {
	t.Parallel()
	w := watchedServer(t)
	other := w.stderr.told(t, `who can only look on: http://127\.0\.0\.1:\d+/#token=([A-Z0-9]+)\n`)
	if !strings.Contains(w.address, "#token=") || strings.HasSuffix(w.address, other) {
		t.Errorf("%s and %s", w.address, other)
	}
	look := ptywright(t, "watch", "--read-only", "--socket", w.socket)
	look.startPiped()
	look.stderr.told(t, `watching at http://127\.0\.0\.1:\d+/#token=[A-Z0-9]+\n`)
	_ = look.Process.Signal(syscall.SIGTERM)
	if code := exitCodeOf(t, look.Wait()); code != 0 || strings.Contains(look.stderr.String(), "for others") {
		t.Errorf("exit %d: %s", code, look.stderr)
	}
}
