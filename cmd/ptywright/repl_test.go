//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// A console is a REPL in a session of a server that drives it.
type console struct {
	*session
	home string
}

// newConsole starts a REPL with a home of its own, and waits for its prompt.
func newConsole(t testing.TB, args ...string) *console {
	t.Helper()
	return replIn(t, start(t), filepath.Join(t.TempDir(), "home"), args...)
}

func replIn(t testing.TB, s *server, home string, args ...string) *console {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &console{s.with(client.Config{
		Program: self, Args: append([]string{"repl"}, args...), Env: map[string]string{"PTYWRIGHT_HOME": home, "ENV": "", "PS1": "$ "},
	}), home}
	c.wait(client.Regexp(`(?m)^pty> ?$`))
	return c
}

// own are the arguments of a REPL with a server of its own.
func own(t testing.TB) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"--stdio", "--", self, "serve", "--stdio"}
}

// enter types a line and waits for what it must show.
func (c *console) enter(line, pattern string) *client.Match {
	c.t.Helper()
	return c.waitSince(c.text(line+"\r"), client.Regexp(pattern))
}

// leave leaves, and the REPL must end well.
func (c *console) leave() {
	c.t.Helper()
	c.waitSince(c.keys("ctrl+d"), client.Exited())
	if got := c.exited(); got != "exit 0" {
		c.t.Errorf("the REPL ended with %s:\n%s", got, c.snapshot("none").PlainText)
	}
}

func TestREPLDrivesASession(t *testing.T) {
	t.Parallel()
	c := newConsole(t, own(t)...)
	c.enter(`s = session.spawn("sh", {env = {PS1 = "$ "}})`, `(?m)^pty\[s1\]> ?$`)
	c.enter(`s:turn("echo a$((6*7))b\n", {text = "a42b"})`, `(?s)matched contains_text "a42b".*┌ s1 24x80 .*│a42b *.*└[^┌]*pty\[s1\]> ?$`)
	c.enter(`{n = 1, list = {1, "two", true}, s}`, `(?m)^\{ session s1 sh, list = \{ 1, "two", true \}, n = 1 \}$`)
	c.enter(`wait{text = "never", timeout = 0.05}`, `(?s)error: session.wait: the wait timed out \[timeout\].*no  contains_text "never": .*┌ what was there.*a42b`)
	c.enter(`pcall(wait, {regex = "(", timeout = 1})`, `invalid_matcher`)
	c.enter(`s:keys("ctrl+d") return s:wait{exited = true}.kind`, `(?m)^process_exited$`)
	c.enter(`print(_, #session.list(), rpc("session.list").sessions[1])`, `(?m)^process_exited\s+1\s+s1$`)
	c.enter(`s:send("x")`, `error: session.input: the program of session s1 has ended with exit code 0 and [^(]*session is closed \[session_ended\]`)
	c.leave()
}

func TestREPLLosesNoKey(t *testing.T) {
	t.Parallel()
	c := newConsole(t, own(t)...)
	const keys = 300
	want := ""
	c.text("#\"")
	for i := range keys { // each a write of its own, while the editor draws
		key := string(rune('a' + i%26))
		c.text(key)
		want += key
	}
	c.enter(`"`, fmt.Sprintf(`(?m)^%d$`, keys))
	c.keys("up")
	shown := strings.ReplaceAll(c.wait(client.Regexp(`pty> #"[a-z\s]+"$`)).Screen.PlainText, "\n", "")
	if !strings.HasSuffix(shown, want+`"`) {
		t.Errorf("the line is %s", shown)
	}
	c.keys("ctrl+c")
	c.leave()
}

func TestREPLCompletes(t *testing.T) {
	t.Parallel()
	c := newConsole(t, own(t)...)
	c.enter(`s = session.spawn("sh")`, `(?m)^pty\[s1\]> ?$`)
	for _, test := range []struct{ typed, shown string }{
		{`rpc("session.snap`, `rpc("session.snapshot"`},
		{`rpc("session.snapshot", {sess`, `rpc("session.snapshot", {session = `},
		{`s:transc`, `s:transcript(`},
		{`session.sp`, `session.spawn(`},
		{`session.get("`, `session.get("s1"`},
		{`s:keys("page_d`, `s:keys("page_down"`},
		{`s:wait{output_r`, `s:wait{output_regex = `},
		{`s:wait{any = {{comm`, `s:wait{any = {{command = `},
		{`rpc("session.wait", {matcher = {type = "process_`, `rpc("session.wait", {matcher = {type = "process_exited"`},
		{`adapter.start("claude`, `adapter.start("claude-code"`},
		{`string.for`, `string.format(`},
		{`whi`, `while `},
		{`:notif`, `:notifications `},
		{`:notifications on `, `:notifications on s1`},
		{`:rpc session.clo`, `:rpc session.close `},
		{`:shot `, `:shot s1`},
	} {
		since := c.text(test.typed + "\t")
		c.waitSince(since, client.Regexp(`(?m)^pty\[s1\]> `+regexp.QuoteMeta(strings.TrimRight(test.shown, " "))+` ?$`))
		c.waitSince(c.keys("ctrl+c"), client.Regexp(`pty\[s1\]>$`))
	}
	// What is not clear yet is listed with what there is to say about it; Tab goes through it,
	// Escape takes it back.
	c.waitSince(c.text("s:scr\t"), client.Regexp(`(?m)^screenshot +Draws the screen`))
	c.waitSince(c.text("\t"), client.Regexp(`(?m)^pty\[s1\]> s:screen$`))
	c.waitSince(c.text("\t"), client.Regexp(`(?m)^pty\[s1\]> s:screenshot$`))
	c.waitSince(c.keys("escape"), client.Regexp(`pty\[s1\]> s:scr$`))
	c.waitSince(c.text("\t\t\r"), client.Regexp(`pty\[s1\]> s:screen\($`))
	c.enter(`).rows`, `(?m)^24$`)
	c.leave()
}

func TestREPLHistory(t *testing.T) {
	t.Parallel()
	s := start(t)
	home := filepath.Join(t.TempDir(), "home")
	c := replIn(t, s, home, own(t)...)
	c.enter(`6 * 7`, `(?m)^42$`)
	c.waitSince(c.keys("up", "home", "1", "1", "0", "ctrl+e", "backspace", "8", "enter"), client.Regexp(`(?m)^8848$`))
	c.enter(`string.rep("ab", 3)`, `(?m)^ababab$`)
	const token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	c.enter(`#"`+token+`"`, `(?m)^40$`)
	c.enter(` #"not to be written"`, `(?m)^17$`)
	c.enter(` s = session.spawn("sh", "-c", "stty -echo; echo ready; read x; stty echo; echo got")`, `pty\[s1\]> ?$`)
	c.enter(` s:wait{text = "ready"}.kind`, `(?m)^contains_text$`)
	c.enter(`s:send("open sesame\n")`, `pty\[s1\]> ?$`) // at its password prompt
	c.enter(` s:wait{text = "got"}.kind`, `(?m)"got"\}\.kind\n(s1 exit 0\n)?contains_text$`)
	c.leave()
	path := filepath.Join(home, "repl_history")
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := "\"6 * 7\"\n\"1106 * 8\"\n\"string.rep(\\\"ab\\\", 3)\"\n"; string(kept) != want {
		t.Errorf("the history is\n%swant\n%s", kept, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode: %v, %v", info.Mode(), err)
	}

	again := replIn(t, s, home, own(t)...)
	again.waitSince(again.keys("up"), client.Regexp(`pty> string.rep\("ab", 3\)$`))
	again.waitSince(again.keys("ctrl+c"), client.Regexp(`pty>$`))
	again.waitSince(again.keys("ctrl+r"), client.Regexp(`\(search\)`))
	again.waitSince(again.text("* 7"), client.Regexp(`\(search\) \* 7: 6 \* 7$`))
	again.waitSince(again.keys("enter"), client.Regexp(`(?m)^42$`))
	again.enter(`:history 2`, `(?m)^ +3  string.rep\("ab", 3\)\n +4  6 \* 7$`)
	again.leave()
}

func TestREPLEditsThroughAResize(t *testing.T) {
	t.Parallel()
	c := newConsole(t, own(t)...)
	c.enter(`"above"`, `(?m)^above$`)
	text := strings.Repeat("0123456789", 15)
	lines := c.waitSince(c.text(`x = "`+text), client.Regexp(`(?s)pty> x = "0123.*9$`)).Screen.Lines
	c.keys("ctrl+a")
	for range 8 {
		c.keys("right")
	}
	row := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, `pty> x`) })
	c.wait(client.Matcher{Type: "cursor_at", Value: map[string]int{"row": row, "col": len("pty> ") + 8}}) // what is drawn while the size changes is nobody's to keep apart
	for _, size := range [][2]int{{24, 33}, {10, 61}, {24, 132}, {24, 20}, {24, 80}} {
		c.resize(size[0], size[1])
		var rows []string // as the editor wraps
		for rest := `pty> x = "` + text; rest != ""; {
			n := min(len(rest), size[1])
			rows, rest = append(rows, rest[:n]), rest[n:]
		}
		want := regexp.QuoteMeta(strings.Join(rows, "\n"))
		got := c.wait(client.Regexp(`(?m)^above\n` + want + `$`)).Screen
		if n := strings.Count(got.PlainText, "pty> x"); n != 1 {
			t.Errorf("at %v the input is there %d times:\n%s", size, n, got.PlainText)
		}
	}
	c.keys("A", "ctrl+e")
	c.enter(`" return x:sub(1, 5), #x`, `(?m)^012A3\n151$`)
	c.leave()
}

func TestREPLEditsWideCharactersAndLines(t *testing.T) {
	t.Parallel()
	c := newConsole(t, own(t)...)
	c.text(`"日本語é` + "e\u0301x" + `"`)
	at := c.wait(client.Regexp(`語é`)).Screen.Cursor
	if want := len(`pty> ""`) + 6 + 3; at.Col != want {
		t.Errorf("the cursor is at column %d, not %d", at.Col, want)
	}
	c.keys("left", "left", "backspace", "left", "left", "delete", "backspace") // the e with its accent, the 語, the 本
	c.waitSince(c.keys("enter"), client.Regexp(`(?m)^日éx$`))

	// Lines: Enter goes on while the chunk does, up moves within it, a paste is not run by its line
	// feeds.
	c.text("for i = 1, 2 do\r")
	c.wait(client.Regexp(`(?m)^\.\.\.>$`))
	c.waitSince(c.text("print('n' .. i)\rend\r"), client.Regexp(`(?m)^n1\nn2\npty>$`))
	c.waitSince(c.keys("up", "up", "end", "left", "backspace", "'", "!", "'", ".", ".", "i", "enter"), client.Regexp(`(?m)^.*$`))
	c.waitSince(c.keys("ctrl+c"), client.Regexp(`pty>$`))
	if _, err := c.Do(c.server.ctx, client.Action{Type: "bracketed_paste", Value: "local a = 1\nlocal b = a + 1\nreturn a .. '-' .. b"}); err != nil {
		t.Fatal(err)
	}
	c.wait(client.Regexp(`(?m)^pty> local a = 1\n\.\.\.> local b = a \+ 1\n\.\.\.> return`))
	c.waitSince(c.keys("enter"), client.Regexp(`(?m)^1-2$`))
	c.leave()
}

func TestREPLInterruptsAWait(t *testing.T) {
	t.Parallel()
	c := newConsole(t, own(t)...)
	c.enter(`s = session.spawn("sh")`, `(?m)^pty\[s1\]> ?$`)
	for range times(2, 10) {
		since := c.text("s:wait{text = \"never\"}\r")
		c.waitSince(since, client.Regexp(`never"\}$`))
		m := c.waitSince(c.keys("ctrl+c"), client.Regexp(`(?m)^error: (session.wait: )?interrupted\n(.*\n)*pty\[s1\]>$`)) // without it: before the wait began
		if text := m.Screen.PlainText; strings.Contains(text, "-32") || strings.Contains(text, "cancel") {                // the wire's words
			t.Errorf("it is told as\n%s", text)
		}
	}
	c.text("while true do end\r")
	c.waitSince(c.keys("ctrl+c"), client.Regexp(`(?s)error: interrupted\npty\[s1\]>$`))
	c.enter(`s:turn("echo a$((1+1))b\n", {text = "a2b"}).kind`, `(?m)^contains_text$`)
	c.leave()
}

func TestREPLTellsWhatHappens(t *testing.T) {
	t.Parallel()
	l := listen(t)
	outer := start(t)
	c := replIn(t, outer, filepath.Dir(l.path))
	other := l.dial()
	path, say := fifo(t)
	noisy := other.create("sh", "-c", `read x < "$0"; exit 3`, path)
	c.waitSince(c.text(`"half a`), client.Regexp(`"half a$`))
	say("go")
	m := c.wait(client.Regexp(`(?m)^` + noisy.ID + ` exit 3\npty> "half a$`)) // above what is being typed
	if want := len(`pty> "half a`); m.Screen.Cursor.Col != want {
		t.Errorf("the cursor is at column %d, not %d", m.Screen.Cursor.Col, want)
	}
	c.enter(` line"`, `(?m)^half a line$`)

	// A flood is merged; what is typed arrives.
	flood := other.create("sh", "-c", `read x < "$0"; i=0; while [ $i -lt 20000 ]; do echo "line $i"; i=$((i+1)); done; printf 'fl%s\n' ood; exec cat`, path)
	c.enter(`:notifications on `+flood.ID, `(?m)^pty> ?$`)
	say("go")
	c.text(`6 *`)
	c.wait(client.Regexp(flood.ID + `\| flood`))
	c.enter(` 111`, `(?m)^666$`)
	c.enter(`:notifications off`, `pty> ?$`)
	c.leave()
	flood.close()
}

func TestREPLShowsNoControlSequence(t *testing.T) {
	t.Parallel()
	c := newConsole(t, own(t)...)
	const hostile = `\033]2;\302\233evil\033[31m\007\033[2;3Hplain\033]0;A\177B\033\\\\`
	c.enter(`s = session.spawn("sh", "-c", "printf '`+strings.ReplaceAll(hostile, `\`, `\\`)+`'; printf ready; exec cat")`, `pty\[s1\]> ?$`)
	c.enter(`s:wait{text = "ready"} return s:screen()`, `(?s)┌ s1 .*ready.*└`)
	c.enter(`s:snapshot().title`, `pty\[s1\]> ?$`)
	c.enter(`:sessions`, `s1 `)
	c.enter(`print(s:transcript().text)`, `\\x1b`)
	c.enter(`io.write(s:transcript().text, "\n")`, `\\x1b`)
	c.enter(`rpc("session.nothing\27]2;owned\7")`, `error`)
	c.enter(`error("\27]2;owned\7")`, `error`)
	c.enter(`":\27]2;owned\7:"`, `(?m)^:\\x1b\]2;owned\\x07:$`)
	if title := c.snapshot("none").Title; title != nil {
		t.Errorf("the terminal of the REPL has the title %q", *title)
	}
	c.leave()
}

func TestREPLOutlivesItsServer(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	first := listenProgram(t, ptywright(t, "serve"), home)
	c := replIn(t, start(t), home)
	c.text(`"half`)
	first.program.Process.Signal(syscall.SIGKILL)
	first.program.Wait()
	c.wait(client.Regexp(`(?s)the connection to the server is lost.*pty\[lost\]> "half$`))
	c.enter(`"`, `(?m)^half$`) // Lua goes on
	c.enter(`session.list()`, `error: session.list: the connection to the server is closed`)
	c.enter(`:reconnect`, `(?s)connected.*started a server \(pid \d+\)|started a server \(pid \d+\).*connected`)
	c.enter(`session.spawn("sh")`, `(?m)^session s1 sh\n+(.*\n)*pty\[s1\]> ?$`)

	// One that is lost during a wait.
	self := regexp.MustCompile(`started a server \(pid (\d+)\)`).FindStringSubmatch(strings.ReplaceAll(c.snapshot("none").PlainText, "\n", ""))
	if self == nil {
		t.Fatal(c.snapshot("none").PlainText)
	}
	c.enter(`os.execute("kill -9 `+self[1]+`") s1 = use("s1")`, `error: session.list: the connection to the server is closed`)
	c.enter(`:reconnect`, `connected`)
	c.enter(`:shutdown`, `the server has ended`)
	c.leave()
	noneLeft(t, first.program.Mark)
}

func TestREPLStartsAServerAndLeavesIt(t *testing.T) {
	t.Parallel()
	outer := start(t)
	home := filepath.Join(t.TempDir(), "home")
	c := replIn(t, outer, home)
	c.wait(client.Regexp(`started a server \(pid \d+\)`))
	c.enter(`s = session.spawn("sh")`, `pty\[s1\]> ?$`)
	c.enter(`s:send("kept=yes\n")`, `pty\[s1\]> ?$`)
	c.waitSince(c.keys("ctrl+d"), client.Regexp(`the server goes on \(pid \d+\)`))
	if got := c.exited(); got != "exit 0" {
		t.Errorf("the REPL ended with %s", got)
	}
	if info, err := os.Stat(filepath.Join(home, "socket.log")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the log: %v, %v", info, err)
	}
	cl, err := client.Dial(t.Context(), filepath.Join(home, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := cl.Sessions(t.Context())
	if err != nil || len(sessions) != 1 || sessions[0].Exit != nil {
		t.Errorf("sessions: %+v, %v", sessions, err)
	}
	cl.Close()

	again := replIn(t, outer, home)
	again.enter(`use("s1"):turn("echo is=$kept\n", {text = "is=yes"}).kind`, `(?m)^contains_text$`)
	again.enter(`:shutdown`, `did not start the server`)
	again.leave()
	endServer(t, home)

	stops := replIn(t, outer, home, "--stop-server")
	stops.wait(client.Regexp(`started a server`))
	stops.leave()
	if _, err := client.Dial(t.Context(), filepath.Join(home, "socket")); err == nil {
		t.Error("the server goes on after --stop-server")
	}
}

// endServer ends the server of a home, which is nobody's child here, and waits until its socket is
// gone.
func endServer(t testing.TB, home string) {
	t.Helper()
	cl, err := client.Dial(t.Context(), filepath.Join(home, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	self, err := cl.Spawn(t.Context(), client.Config{Program: "sh", Args: []string{"-c", `echo pid=$PPID; exec cat`}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := self.Wait(context.Background(), client.Regexp(`pid=(\d+)`))
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	json.Unmarshal([]byte(m.Outcome.Capture), &pid)
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-cl.Done()
}

func TestREPLAttaches(t *testing.T) {
	t.Parallel()
	l := listen(t)
	c := replIn(t, start(t), filepath.Dir(l.path))
	c.enter(`s = session.spawn("sh", {env = {PS1 = "inner> "}, rows = 10, server_env = true}) s:wait{text = "inner>"}`, `pty\[s1\]> ?$`)
	c.waitSince(c.text(":att\ts1 --write\r"), client.Regexp(`(?m)^inner>$`))
	path, say := fifo(t)
	other := l.dial().create("sh", "-c", `read x < "$0"`, path)
	c.waitSince(c.text("echo a$((6*7))b\r"), client.Regexp(`(?m)^a42b\ninner>$`))
	say("go") // told when the terminal is the REPL's again
	other.exited()
	if got := c.snapshot("none").PlainText; strings.Contains(got, other.ID+" exit") {
		t.Errorf("a notice is shown within the session:\n%s", got)
	}
	c.keys(`ctrl+\`)
	c.text("d")
	c.wait(client.Regexp(`(?s):attach s1 --write.*` + other.ID + ` exit 0\n.*pty\[s1\]>$`))
	c.enter(`s:screen().text:match("a%d+b")`, `(?m)^a42b$`)
	c.enter(`:attach s9`, `s9`)
	c.enter(`1 + 1`, `(?m)^2$`)
	c.leave()
}

func TestREPLRecordsAndShoots(t *testing.T) {
	t.Parallel()
	c := newConsole(t, own(t)...)
	dir := t.TempDir()
	c.enter(`s = session.spawn("sh", {env = {PS1 = "$ "}}) s:wait{regex = "\\$"}`, `pty\[s1\]> ?$`)
	c.enter(`:record s1 `+dir+`/a.cast`, `(?m)^recording s1 to \S+/a.cast; :record s1 ends it$`)
	c.enter(`:record s1 `+dir+`/b.cast`, `error: s1 is being recorded to \S+/a.cast: :record s1 ends that first`)
	c.enter(`s:turn("echo a$((6*7))b\n", {text = "a42b"}).kind`, `(?m)^contains_text$`)
	c.enter(`:record s1`, `(?m)^recorded s1 to \S+/a.cast: \S+s, \d+ bytes$`)
	c.enter(`s:record("`+dir+`/c.cast").path`, `(?m)^\S+/c.cast$`) // what it tells is there for Lua, too
	c.enter(`s:record().state`, `(?m)^done$`)
	c.enter(`:record `+dir+`/d.md`, `(?m)^recording s1 to \S+/d.md; :record s1 ends it$`) // of the current session
	c.enter(`:record`, `(?m)^recorded s1 to \S+/d.md: `)
	c.enter(`:shot s1 `+dir+`/a.svg`, `a.svg: svg, \d+ bytes`)
	c.enter(`:shot`, `(?s)┌ s1 .*│a42b`)
	c.leave()
	for file, want := range map[string]string{"a.cast": "a42b", "a.svg": "<svg"} {
		if b, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v: %.200s", file, err, b)
		}
	}
}

// A word that is none is named, with the one that was meant.
func TestREPLSaysWhatWasMeant(t *testing.T) {
	t.Parallel()
	c := newConsole(t, own(t)...)
	c.enter(`s = session.spawn("cat")`, `pty\[s1\]> ?$`)
	for typed, says := range map[string]string{
		`s:waitt{text = "x"}`:     `session s1 has no "waitt": did you mean wait\?`,
		`s.nothing_like_it`:       `session s1 has no "nothing_like_it"; Tab lists`,
		`waitt{text = "x"}`:       `undefined function "waitt": did you mean wait\?`,
		`session.spwan("sh")`:     `session has no "spwan": did you mean spawn\?`,
		`json.encode({a="demo"})`: `json has no "encode"`,
		`string.trim("abc")`:      `string has no "trim"`,
		`t = {} t.f("hello")`:     `t has no "f"`,
		`foo("waitt()", 1)`:       `undefined function "foo"`,
		`s:wait{txet = "x"}`:      `wait knows no "txet": did you mean text\?`,
		`:recrod`:                 `no command :recrod: did you mean :record\?`,
		`adapter.start("less")`:   `adapter.start: less: unknown plugin: this server has claude-code, .*shell; it loads others.*PTYWRIGHT_PLUGINS`,
	} {
		c.enter(typed, `(?m)^error: `+says)
	}
	c.leave()
}
