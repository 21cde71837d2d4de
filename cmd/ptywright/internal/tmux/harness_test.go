//go:build unix

package tmux_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
)

// shell runs a line as a harness does, in bash with our tmux first in PATH, and returns what it printed.
func (m *mux) shell(line string) (stdout string, code int) {
	m.t.Helper()
	out, errs, code := m.command(exec.Command("bash", "-c", line))
	if errs != "" {
		m.t.Logf("%s: %s", line, errs)
	}
	return out, code
}

// TestTmuxTerminalBench makes the calls of terminal-bench: a session with a log of all output, keys with
// a word at the end that wakes who waits, captures of the screen and of everything.
func TestTmuxTerminalBench(t *testing.T) {
	t.Parallel()
	programtest.Need(t, "bash", "bash")
	m := ours(t)
	m.flags = nil
	must := func(line string) string {
		t.Helper()
		out, code := m.shell(line)
		if code != 0 {
			t.Fatalf("%s: exit %d, %s", line, code, out)
		}
		return out
	}
	if v := must("tmux -V"); !regexp.MustCompile(`^tmux \d\.\d\w?\n$`).MatchString(v) {
		t.Errorf("tmux -V: %q", v)
	}
	log := filepath.Join(t.TempDir(), "agent.log")
	must(`tmux new-session -x 160 -y 40 -d -s agent \; set-option -t agent history-limit 50000 \; pipe-pane -t agent "cat > ` + log + `"`)
	must("tmux has-session -t agent")
	must(`tmux send-keys -t agent 'seq 1 60; printf "%s-%s\n" the end' '; tmux wait -S done' Enter`)
	must("timeout 120s tmux wait done")
	m.sees("agent", "the-end")
	screen := must("tmux capture-pane -p -t agent")
	if n := strings.Count(screen, "\n"); n != 40 || strings.Contains(screen, "\n1\n") {
		t.Errorf("%d lines on the screen:\n%s", n, screen)
	}
	if all := must("tmux capture-pane -p -S - -t agent"); !strings.Contains(all, "\n1\n2\n") || !strings.Contains(all, "\n60\nthe-end\n") {
		t.Errorf("everything is\n%s", all)
	}
	programtest.Poll(t, func() string {
		body, err := os.ReadFile(log)
		return programtest.Unless(err == nil && strings.Contains(string(body), "60\r\nthe-end\r\n"), "the log is "+string(body))
	})
	must("tmux send-keys -t agent 'sleep 1000' Enter")
	if out, code := m.shell("timeout 0.5s tmux wait done"); code != 124 {
		t.Errorf("a wait that nobody ends: exit %d, %s", code, out)
	}
	must("tmux send-keys -t agent C-c")
	must("tmux kill-session -t agent")
	if _, code := m.shell("tmux has-session -t agent"); code != 1 {
		t.Errorf("a session that was killed: exit %d", code)
	}
}

// TestTmuxHarbor makes the calls of harbor's terminus: variables, a login shell, keys behind --.
func TestTmuxHarbor(t *testing.T) {
	t.Parallel()
	programtest.Need(t, "bash", "bash")
	m := ours(t)
	m.flags = nil
	for _, line := range []string{
		"export TERM=xterm-256color && export SHELL=/bin/bash && tmux new-session -e 'GREETING=hello there' -x 160 -y 40 -d -s main 'bash --login'",
		"tmux set-option -g history-limit 10000000",
		`tmux send-keys -t main -- 'echo "$GREETING-$((40+2))"' '; tmux wait -S done' Enter`,
		"timeout 120s tmux wait done",
		"tmux has-session -t main",
	} {
		if out, code := m.shell(line); code != 0 {
			t.Fatalf("%s: exit %d, %s", line, code, out)
		}
	}
	m.sees("main", "hello there-42")
	long := strings.Repeat("x", 15_000) // it is split by harnesses below 16 KB
	m.ok("send-keys", "-t", "main", "--", "cat > /dev/null <<'E'", "Enter", long[:4000], "Enter", long[:4000], "Enter", "E", "Enter", "echo got-it", "Enter")
	m.sees("main", "got-it")
	m.ok("kill-session", "-t", "main")
}

// TestTmuxClaudeSquad makes the calls of claude-squad: a session in a folder, a client attached in a
// terminal of its own that types, captures with colours, and the list from which it cleans up.
func TestTmuxClaudeSquad(t *testing.T) {
	t.Parallel()
	m := ours(t)
	dir := t.TempDir()
	const name = "claudesquad_fix"
	if _, _, code := m.run("has-session", "-t="+name); code != 1 {
		t.Fatalf("has-session before: exit %d", code)
	}
	m.ok("new-session", "-d", "-s", name, "-c", dir, `printf 'Do you trust \033[1mthe files\033[0m in this folder?\n'; read answer; pwd; printf 'yes, go\n'; exec cat`)
	m.ok("has-session", "-t="+name)
	m.sees(name, "Do you trust")
	if out := m.ok("capture-pane", "-p", "-e", "-J", "-t", name); !strings.Contains(out, "Do you trust \x1b[1mthe files\x1b[0m\x1b[39m\x1b[49m in this folder?") {
		t.Errorf("with colours: %q", out)
	}
	c := exec.Command(m.path, append(m.flags, "attach-session", "-t", name)...)
	c.Env = m.env
	terminal, err := pty.StartWithSize(c, &pty.Winsize{Rows: 30, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	drawn := &programtest.Buffer{}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 4096)
		for {
			n, err := terminal.Read(b)
			drawn.Write(b[:n])
			if err != nil {
				return
			}
		}
	}()
	drawn.Told(t, "Do you trust")
	programtest.Poll(t, func() string {
		size := m.ok("display-message", "-p", "-t", name, "#{window_width} #{session_attached}")
		return programtest.Unless(size == "100 1\n", "the client's size did not come: "+size)
	})
	if _, err := terminal.Write([]byte{'\r'}); err != nil {
		t.Fatal(err)
	}
	m.sees(name, "yes, go")
	if out := m.ok("capture-pane", "-p", "-e", "-J", "-S", "-", "-E", "-", "-t", name); !strings.Contains(out, filepath.Base(dir)+"\nyes, go\n") {
		t.Errorf("everything: %q", out)
	}
	if _, err := terminal.Write([]byte("\x02d")); err != nil { // C-b d
		t.Fatal(err)
	}
	if code := programtest.ExitCode(t, c.Wait()); code != 0 {
		t.Errorf("the client that was detached: exit %d, %s", code, drawn)
	}
	terminal.Close()
	<-read
	found := regexp.MustCompile("claudesquad_.*:").FindAllString(m.ok("ls"), -1)
	if len(found) != 1 {
		t.Fatalf("tmux ls has %q", found)
	}
	m.ok("kill-session", "-t", found[0][:strings.Index(found[0], ":")])
	if _, _, code := m.run("ls"); code != 1 {
		t.Errorf("ls without sessions: exit %d", code)
	}
}

// TestTmuxLibtmux drives ptywright with libtmux, unchanged.
func TestTmuxLibtmux(t *testing.T) {
	t.Parallel()
	python := "/usr/bin/python3" // the one that Debian's packages are for
	if exec.Command(python, "-c", "import libtmux").Run() != nil {
		t.Skip("libtmux is not installed: apt-get install python3-libtmux")
	}
	m := ours(t)
	c := exec.Command(python, "-c", `
import libtmux, sys
server = libtmux.Server(socket_path=sys.argv[1])
session = server.new_session("lib", attach=False, window_command="PS1='> ' exec sh", x=90, y=20)
assert server.has_session("lib") and not server.has_session("nope")
assert session.name == "lib" and session.id.startswith("$"), session
window = session.attached_window
pane = window.attached_pane
assert pane.width == "90" and pane.height == "20", (pane.width, pane.height)
pane.send_keys("echo a-$((1+1))")
while "a-2" not in pane.cmd("capture-pane", "-p").stdout: pass
other = session.new_window(window_name="other", attach=False, window_shell="cat")
assert [w.name for w in session.windows][1:] == ["other"], session.windows
other.attached_pane.send_keys("to cat")
while "to cat" not in other.attached_pane.capture_pane(): pass
other.rename_window("renamed")
session.rename_session("again")
assert server.has_session("again")
session.set_option("history-limit", 1234)
assert session.show_option("history-limit") == 1234, session.show_option("history-limit")
other.kill_window()
assert len(session.windows) == 1
session.kill_session()
print("driven")
`, m.socket)
	out, errs, code := m.command(c)
	if code != 0 || out != "driven\n" {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}

// TestTmuxWaits: who waits for a channel goes on when it is woken, all of them; one that was killed
// meanwhile holds up nobody; the end of the server ends all waits.
func TestTmuxWaits(t *testing.T) {
	t.Parallel()
	m := ours(t)
	m.ok("new-session", "-d", "-s", "w", "cat")
	waiting := func(flags ...string) *exec.Cmd {
		t.Helper()
		c := exec.Command(m.path, append(append(slices.Clone(m.flags), "wait-for"), flags...)...)
		c.Env = m.env
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	known := func(text string, n int) {
		t.Helper()
		programtest.Poll(t, func() string {
			body, err := os.ReadFile(m.socket + ".tmux")
			return programtest.Unless(err == nil && strings.Count(string(body), text) >= n, "the state is "+string(body))
		})
	}
	a, b, killed := waiting("go"), waiting("go"), waiting("go")
	known("ptywright-bell-", 3)
	killed.Process.Kill()
	killed.Wait()
	m.ok("wait-for", "-S", "go")
	for _, c := range []*exec.Cmd{a, b} {
		if code := programtest.ExitCode(t, c.Wait()); code != 0 {
			t.Errorf("a wait that was woken: exit %d", code)
		}
	}
	m.ok("wait-for", "-L", "gate")
	next := waiting("-L", "gate")
	known("ptywright-bell-", 1)
	m.ok("wait-for", "-U", "gate")
	if code := programtest.ExitCode(t, next.Wait()); code != 0 {
		t.Errorf("the next at the gate: exit %d", code)
	}
	last := waiting("never")
	known("never", 1)
	m.ok("kill-server")
	if code := programtest.ExitCode(t, last.Wait()); code != 1 {
		t.Errorf("a wait whose server ended: exit %d", code)
	}
}

// TestTmuxHidesSecrets unless it is told not to.
func TestTmuxHidesSecrets(t *testing.T) {
	t.Parallel()
	m := ours(t)
	const secret = "ghp_q3Xw8ZkT5nVb2LrYc7MdJ9sHfA4gE1oPuK6i"
	m.ok("new-session", "-d", "-s", "s", "-x", "80", "-y", "5", "printf 'token "+secret+"'; exec cat")
	m.sees("s", "token [REDACTED]")
	for _, flags := range [][]string{{"-p"}, {"-p", "-e"}, {"-p", "-J"}, {"-p", "-S", "-"}, {"-p", "-eJ"}} {
		if out := m.ok(append([]string{"capture-pane", "-t", "s"}, flags...)...); strings.Contains(out, secret[:12]) || !strings.Contains(out, "[REDACTED]") {
			t.Errorf("%q: %s", flags, out)
		}
	}
	m.ok("set-option", "-g", "@ptywright-redact", "off")
	if out := m.ok("capture-pane", "-p", "-t", "s"); !strings.Contains(out, secret) {
		t.Errorf("shown: %s", out)
	}
}

// TestTmuxOpensNoDoor: the server of tmux sessions leaves what the user's configuration asks for to
// the shared one, such as a port that is taken then.
func TestTmuxOpensNoDoor(t *testing.T) {
	t.Parallel()
	m := ours(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	path := filepath.Join(t.TempDir(), "config.toml")
	text := fmt.Sprintf("[mcp]\nhttp = %q\n", taken.Addr())
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m.env = append(m.env, "PTYWRIGHT_CONFIG="+path, "PTYWRIGHT_LOG_LEVEL=no-such-level")
	m.ok("new-session", "-d", "-s", "d", "cat")
	m.ok("kill-session", "-t", "d")
}

// TestTmuxOfManyAtOnce: commands that change the same server do it one after the other.
func TestTmuxOfManyAtOnce(t *testing.T) {
	t.Parallel()
	m := ours(t)
	const many = 12
	ended := make(chan string, many)
	for range many {
		go func() {
			c := exec.Command(m.path, append(slices.Clone(m.flags), "new-session", "-d", "-P", "-F", "#{session_id} #{window_id} #{pane_id}", "cat")...)
			c.Env = m.env
			out, err := c.Output()
			if err != nil {
				out = []byte(err.Error())
			}
			ended <- string(out)
		}()
	}
	said := map[string]bool{}
	for range many {
		said[<-ended] = true
	}
	if n := strings.Count(m.ok("list-sessions"), "\n"); n != many || len(said) != many {
		t.Errorf("%d sessions, and %v", n, said)
	}
	m.ok("kill-server")
	if left, _ := filepath.Glob(m.socket + "*.tmux.*[0-9]"); len(left) > 0 {
		t.Errorf("files are left: %q", left)
	}
}

// TestTmuxPage runs what docs/tmux.md shows: its first lines, and both columns of its table.
func TestTmuxPage(t *testing.T) {
	t.Parallel()
	programtest.Need(t, "bash", "bash")
	body, err := os.ReadFile(filepath.Join(root, "docs", "tmux.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(body)
	_, first, _ := strings.Cut(page, "```sh\n")
	first, _, _ = strings.Cut(first, "```")
	var tmux, native strings.Builder
	rows := regexp.MustCompile("(?m)^\\| [^|]+ \\| `((?:[^`|]|\\\\\\|)+)` \\| `((?:[^`|]|\\\\\\|)+)` \\|$").FindAllStringSubmatch(page, -1)
	if len(rows) != 10 {
		t.Fatalf("%d rows of the table were found", len(rows))
	}
	for _, r := range rows {
		tmux.WriteString(strings.ReplaceAll(r[1], `\|`, "|") + "\n")
		native.WriteString(strings.ReplaceAll(r[2], `\|`, "|") + "\n")
	}
	_, link, _ := strings.Cut(first, "mkdir")
	link, _, _ = strings.Cut("mkdir"+link, "\n")
	for i, c := range []struct{ script, want string }{
		{first, `(?s)> echo \$\(\(6\*7\)\); tmux wait-for -S done\n42\n.*work is there\nwork 80x24\n.*s1 +sh .*and is gone\n$`},
		{link + "\n" + tmux.String(), `(?s)> echo a-\$\(\(1\+1\)\)\na-2\n.*> echo a-\$`},
		{native.String() + "ptywright kill --server\n", `(?s)a-2\n.*> echo a-`},
	} {
		if out := tmuxExample(t, c.script); !regexp.MustCompile(c.want).MatchString(out) {
			t.Errorf("example %d: %q", i, out)
		}
	}
}

// tmuxExample is programtest.Example in a folder of its own; what it started is ended.
func tmuxExample(t *testing.T, script string) string {
	t.Helper()
	return programtest.Example(t, "cd \"$PTYWRIGHT_HOME/..\"; unset TMUX TMUX_PANE TMUX_TMPDIR; export SHELL=/bin/sh\n"+strings.ReplaceAll(script, "kill --server\n", "kill --server 2>/dev/null\n"))
}
