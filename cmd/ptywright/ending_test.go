//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// A holder is a shell in a session that runs one command of ours after the other, tells their exit
// codes, and the terminal's mode.
type holder struct {
	*session
	tty     string // the terminal's mode
	pidFile string
}

// hold starts such a shell.
func hold(t *testing.T, args ...string) *holder {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	pidFile, home := filepath.Join(dir, "pid"), filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	h := &holder{pidFile: pidFile}
	h.session = start(t).with(client.Config{
		Program: "sh",
		Args: append([]string{"-c", `stty -g
while read x; do sh -c 'echo $$ > '$0'; exec "$@"' "$0" "$@"; echo "code=$?"; stty -g; done`, pidFile, self}, args...),
		Env: map[string]string{"PTYWRIGHT_HOME": home},
	})
	h.wait(client.Regexp(`^\S+$`))
	h.tty = h.snapshot("none").PlainText
	return h
}

// begin starts the command and waits for what it shows.
func (h *holder) begin(pattern string) {
	h.t.Helper()
	h.waitSince(h.text("go\n"), client.Regexp(pattern))
}

// tell sends the command a signal.
func (h *holder) tell(s syscall.Signal) {
	h.t.Helper()
	text, err := os.ReadFile(h.pidFile)
	pid, nerr := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || nerr != nil {
		h.t.Fatal(err, nerr)
	}
	if err := syscall.Kill(pid, s); err != nil {
		h.t.Fatal(err)
	}
}

// left waits for the command's end and looks at what it left.
func (h *holder) left(how, code string) {
	h.t.Helper()
	m := h.wait(client.Regexp(`(?m)code=(\d+)\n\S+$`))
	text := m.Screen.PlainText
	if m.Outcome.Capture != code || !strings.HasSuffix(text, "\n"+h.tty) || strings.Contains(text, "goroutine ") {
		h.t.Errorf("%s: it left\n%s\nwant code %s and the mode %s", how, text, code, h.tty)
	}
}

// Whatever holds a terminal is ended by a signal as a shell expects it, and the terminal is as it
// was.
func TestSignalsEndWhatHoldsATerminal(t *testing.T) {
	t.Parallel()
	recording := filepath.Join(t.TempDir(), "long.cast")
	text := "{\"version\":2,\"width\":80,\"height\":24}\n[0,\"o\",\"played\\u001b[?25l\"]\n[1000,\"o\",\"never\"]\n"
	if err := os.WriteFile(recording, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args  []string
		typed string
		ready string
	}{
		"repl":  {append([]string{"repl"}, own(t)...), "", `(?m)^pty> ?$`},
		"run":   {[]string{"run", "--", "sh", "-c", "echo u$((1))p; exec cat"}, "", `u1p`},
		"play":  {[]string{"play", recording}, "", `played`},
		"-e":    {append([]string{"repl", "-e", `print("up") rpc("session.wait", {session = session.spawn("cat").id, matcher = {type = "contains_text", value = "x"}})`}, own(t)...), "", `up`},
		"stuck": {append([]string{"repl"}, own(t)...), "print(\"u\" .. 1 .. \"p\") io.open(os.getenv(\"PTYWRIGHT_HOME\") .. \"/fifo\")\r", `(?m)^pty> ?$`}, // Lua does not come back
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, s := range []struct {
				signal syscall.Signal
				code   string
			}{{syscall.SIGTERM, "143"}, {syscall.SIGHUP, "129"}, {syscall.SIGQUIT, "131"}} {
				h := hold(t, test.args...)
				h.begin(test.ready)
				if test.typed != "" {
					if err := syscall.Mkfifo(filepath.Join(filepath.Dir(h.pidFile), "home", "fifo"), 0o600); err != nil {
						t.Fatal(err)
					}
					h.waitSince(h.text(test.typed), client.Regexp(`(?m)^u1p$`))
				}
				h.tell(s.signal)
				h.left(s.signal.String(), s.code)
			}
		})
	}
}

// What Lua's own functions do ends with Ctrl-C, too, and none of them takes the machine's memory.
func TestREPLInterruptsLuasOwnFunctions(t *testing.T) {
	t.Parallel()
	c := newConsole(t, own(t)...)
	c.enter(`string.rep("x", 1e9)`, `error: .*1000000000 bytes, at most 67108864 are allowed`)
	since := c.text(`("a"):rep(30000):find(("a*"):rep(20) .. "b")` + "\r")
	c.waitSince(since, client.Regexp(`"b"\)$`))
	c.waitSince(c.keys("ctrl+c"), client.Regexp(`error: interrupted\npty> ?$`))
	c.enter(`("abc"):gsub("b", "x")`, `(?m)^axc\n1$`)
	c.leave()
}

// A function of Lua's that does not come back keeps nobody in the REPL, and what is typed at a
// program that has the terminal is its.
func TestREPLIsLeftThoughLuaDoesNotComeBack(t *testing.T) {
	t.Parallel()
	h := newConsole(t, own(t)...)
	h.waitSince(h.text("os.execute(\"echo u$((1))p; exec cat\")\r"), client.Regexp(`(?m)^u1p$`))
	h.waitSince(h.keys("ctrl+c"), client.Regexp(`\^C1\npty> ?$`))
	h.waitSince(h.text("os.execute(\"ulimit -c 0; echo u$((1))q; exec cat\")\r"), client.Regexp(`(?m)^u1q$`))
	h.waitSince(h.keys("ctrl_backslash"), client.Regexp(`\^\\1\npty> ?$`))
	for try := 1; ; try++ { // the key may come before the reading
		since := h.text(fmt.Sprintf("print(\"u\" .. %d .. \"r\") io.read()\r", try))
		h.waitSince(since, client.Regexp(fmt.Sprintf(`(?m)^u%dr$`, try)))
		m := h.waitSince(h.keys("ctrl+c"), client.Regexp(`Ctrl-C again leaves the REPL|error: interrupted\npty> ?$`))
		if strings.Contains(m.Screen.PlainText, "again leaves") {
			break
		}
		if try == 50 {
			t.Fatal("a read never begins")
		}
	}
	h.keys("ctrl+c")
	if got := h.exited(); got != "exit 130" {
		t.Errorf("it ended with %s", got)
	}
}
