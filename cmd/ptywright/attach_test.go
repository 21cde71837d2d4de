//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// attach runs attach in a session of another server, on a terminal with one row more than it is
// told, and returns when it shows something. What it shows is s's; what it runs in is the session
// returned.
func (l *listener) attach(on *server, rows, cols int, args ...string) *session {
	l.t.Helper()
	a := l.attached(on, rows, cols, args...)
	a.wait(client.Regexp(`Ctrl-\\ (for )?keys`))
	return a
}

// attached is attach that does not wait.
func (l *listener) attached(on *server, rows, cols int, args ...string) *session {
	l.t.Helper()
	self, err := os.Executable()
	if err != nil {
		l.t.Fatal(err)
	}
	return on.with(client.Config{Program: self, Args: append([]string{"attach", "--socket", l.path}, args...), Rows: rows + 1, Cols: cols})
}

// sized starts a program on a terminal of a size.
func (s *server) sized(rows, cols int, program string, args ...string) *session {
	s.t.Helper()
	return s.with(client.Config{Program: program, Args: args, Rows: rows, Cols: cols})
}

// A shownFrame is what is compared of a session and of what shows it.
type shownFrame struct {
	Sequence uint64 `json:"sequence"`
	Cursor   struct {
		Row, Col, Style int
		Visible         bool
	} `json:"cursor"`
	Title *string        `json:"title"`
	Modes map[string]any `json:"modes"`
	Size  struct{ Rows, Cols int }
	Lease *struct {
		Holder string
		Yours  bool
	}
}

// frame waits for something new since a frame; nil: what there is.
func (s *session) frame(since *shownFrame) *shownFrame {
	s.t.Helper()
	params := map[string]any{"session": s.ID, "timeout_ms": hang.Milliseconds() / 2}
	if since != nil {
		params["since"] = since.Sequence
	}
	var f shownFrame
	s.server.call("session.frame", params, &f)
	return &f
}

// shows waits until a terminal shows the part of s that begins at top and left, cell for cell, and
// returns what it showed.
func (a *session) shows(s *session, top, left int) {
	a.t.Helper()
	var f *shownFrame
	for {
		f = a.frame(f)
		want, got := s.snapshot("full"), a.snapshot("full")
		differs := different(want, got, top, left)
		if differs == "" {
			return
		}
		if got.Sequence != f.Sequence {
			continue
		}
		var next shownFrame
		err := a.server.Call(a.server.ctx, "session.frame", map[string]any{"session": a.ID, "since": f.Sequence, "timeout_ms": hang.Milliseconds() / 6}, &next)
		if err != nil {
			a.t.Fatal(err)
		}
		if next.Sequence == f.Sequence {
			a.t.Fatalf("what is shown is not the session: %s\n--- session\n%s\n--- shown\n%s", differs, want.PlainText, got.PlainText)
		}
	}
}

// different tells the first cell, or the cursor, that is not as it should be.
func different(want, got *client.Snapshot, top, left int) string {
	cells := map[[2]int]client.Cell{}
	for _, c := range got.Cells {
		cells[[2]int{c.Row, c.Col}] = c
	}
	rows := got.Size.Rows - 1 // the line of status
	if got.Size == want.Size {
		rows++
	}
	for _, w := range want.Cells {
		if w.Row < top || w.Col < left || w.Col-left >= got.Size.Cols || w.Row-top >= rows {
			continue
		}
		g := cells[[2]int{w.Row - top, w.Col - left}]
		w.Row, w.Col = w.Row-top, w.Col-left
		if w.Text == " " {
			w.Text = "" // written or not, it looks the same
		}
		if g.Text == " " {
			g.Text = ""
		}
		if w != g {
			return fmt.Sprintf("\nwant %+v\ngot  %+v", w, g)
		}
	}
	w, g := want.Cursor, got.Cursor
	w.Row, w.Col = w.Row-top, w.Col-left
	if w != g && (w.Visible || g.Visible) {
		return fmt.Sprintf("cursor %+v, want %+v", g, w)
	}
	return ""
}

// styled prints everything that a cell can look like.
const styled = `printf '\033[1mbold\033[2mdim\033[0m \033[3mitalic\033[0m \033[4mone\033[4:2mtwo\033[4:3mcurly\033[4:4mdots\033[4:5mdashes\033[0m\n'
printf '\033[5mblink\033[0;7minverse\033[0;8mhidden\033[0;9mstrike\033[0;53mover\033[0m\n'
printf '\033[31;44mred\033[91;103mbright\033[38;5;123;48;5;200m256\033[38;2;1;2;3;48;2;200;100;50mrgb\033[4;58;2;9;8;7mline\033[0m\n'
printf '\033]8;;https://example.com/a?b=c\033\\link\033]8;;\033\\ not\n'
printf '日本 語 e\314\201 👍 👩‍👩‍👧 한국 ░▒▓ ─┼─ ⠿\n'
printf '\033[44m\033[K\033[0m\n'
printf '%s\r\n' "$(printf 'x%.0s' $(seq 80))"
printf '\033[5 q\033]2;a title\033\\\033[?25h'`

func TestAttachShowsASessionCellForCell(t *testing.T) {
	t.Parallel()
	l, outer := listen(t), start(t)
	inner := l.dial()
	s := inner.sh(styled + "; read x; printf '\\033[2J\\033[H\\033[?5h%s' \"$x\"; sleep 1000")
	s.wait(client.Regexp(`x{80}`))
	a := l.attach(outer, 24, 80)
	a.shows(s, 0, 0)
	want, got := s.frame(nil), a.frame(nil)
	if want.Cursor != got.Cursor || got.Cursor.Style != 5 || got.Title == nil || *got.Title != "a title" {
		t.Errorf("cursor %+v, want %+v; title %v", got.Cursor, want.Cursor, got.Title)
	}
	s.text("typed elsewhere\n")
	a.wait(client.Regexp(`\Atyped elsewhere`)) // at the top, not the echo of it
	a.shows(s, 0, 0)
	if got := a.frame(nil); got.Modes["reverse_video"] != true {
		t.Errorf("modes %v", got.Modes)
	}
	a.text("\x1cd")
	a.wait(client.Regexp(`^\[detached from ` + s.ID + `\]$`))
	if got := a.exited(); got != "exit 0" {
		t.Errorf("attach ended with %s", got)
	}
}

// Nothing is typed by who looks on, and they are told how to.
func TestAttachIsReadOnly(t *testing.T) {
	t.Parallel()
	l, outer := listen(t), start(t)
	s := l.dial().create("cat")
	a := l.attach(outer, 24, 80, s.ID)
	a.text("x\r\x03\x1b[A")
	a.wait(client.Regexp(`read-only: Ctrl-\\ w to type`))
	if _, err := a.Do(outer.ctx, client.Action{Type: "bracketed_paste", Value: "pasted\x1c d"}); err != nil {
		t.Fatal(err)
	}
	s.text("by another\n")
	a.wait(client.Regexp(`^by another\nby another\n`))
	if got := s.snapshot("none").PlainText; got != "by another\nby another" {
		t.Errorf("the session shows %q", got)
	}
	a.text("\x1cw")
	a.wait(client.Text("you write"))
	a.text("typed\r")
	a.wait(client.Regexp(`(?m)^typed\ntyped$`))
	s.server.refused(-32004, "session_leased", "session.input", map[string]any{"session": s.ID, "action": map[string]any{"type": "text", "value": "x"}})
	a.text("\x1cw")
	a.wait(client.Text("given back"))
	s.text("again\n")
	a.wait(client.Regexp(`(?m)^again\nagain$`))
	a.text("\x1c\x1c")
	a.exited()
}

func TestAttachExitCodes(t *testing.T) {
	t.Parallel()
	l, outer := listen(t), start(t)
	inner := l.dial()
	code := func(want int, says string, args ...string) {
		t.Helper()
		a := l.attached(outer, 24, 80, args...)
		if got := a.exited(); got != fmt.Sprintf("exit %d", want) {
			t.Errorf("attach %q: %s, want %d", args, got, want)
		}
		got := a.snapshot("none")
		said := strings.ReplaceAll(got.PlainText, "\n  ", " ") // where a message is wrapped
		if !regexp.MustCompile(says).MatchString(said) || got.AlternateScreen {
			t.Errorf("attach %q says %q", args, got.PlainText)
		}
	}
	code(4, "the server has no session")
	s := inner.create("cat")
	code(4, `no session "nix"`, "nix")
	code(2, "--resize is for who writes", "--resize")
	code(2, "take another", "--detach-key", "ctrl+m")
	inner.call("session.lease", map[string]any{"session": s.ID, "holder": "Ada\x1b[2J"}, nil)
	code(5, `^ptywright: attach s1: session s1 is held by "Ada[^(]*--take takes it over$`, "--write")
	second := inner.sh("exit 3")
	second.exited()
	code(2, `(?s)^ID  COMMAND .* LEASE\ns1  cat .* Ada.*\ns2  sh .* exit 3 .*there are several sessions: say which, as in ptywright attach s1\n`)
	narrow := l.attached(outer, 24, 40)
	narrow.exited()
	if rows := narrow.snapshot("none").Lines; !strings.HasPrefix(rows[0], "ID  COMMAND") || !strings.HasPrefix(rows[1], "s1  cat") || !strings.HasPrefix(rows[2], "s2  sh") ||
		rows[3] != "ptywright: there are several sessions:" || rows[4] != "  say which, as in ptywright attach s1" {
		t.Errorf("on 40 columns it lists\n%s", strings.Join(rows, "\n"))
	}
	code(3, `\[s2 ended with exit code 3\]`, "--exit", second.ID)
	code(1, `^ptywright: attach s2: the program of session s2 has ended with exit code 3 and[^(]*without --write shows it$`, "--write", second.ID)
	a := l.attached(outer, 24, 80, second.ID)
	a.wait(client.Text("ended with exit code 3: any key leaves"))
	a.text("x")
	if got := a.exited(); got != "exit 3" {
		t.Errorf("attach to what has ended: %s", got)
	}
	p := ptywright(t, "attach", "--socket", l.path, s.ID)
	if _, code := p.Run(""); code != 2 || !strings.Contains(p.Stderr.String(), "needs a terminal") {
		t.Errorf("without a terminal: %d, %s", code, p.Stderr)
	}
	code(1, "connect to .*: no server listens there; start one", "--socket", t.TempDir()+"/none")
}

// What runs in a terminal before and after does not notice.
func TestAttachLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	l, outer := listen(t), start(t)
	inner := l.dial()
	s := inner.sh(`printf '\033[?1h\033=\033[?2004h\033[?1003;1006h\033[?1004h\033[>5u\033[>4;2m\033[3 q\033]2;inner\033\\ready'; stty raw -echo; cat -v`)
	s.wait(client.Text("ready"))
	self, _ := os.Executable()
	pidFile := filepath.Join(t.TempDir(), "pid")
	sh := outer.sized(25, 100, "sh", "-c", `printf '\033]2;mine\033\\\033[31mbefore\033[0m\n'; stty -g
while read x; do sh -c 'echo $$ > '$0'; exec "$@"' "$0" "$@"; echo "code=$?"; stty -g; done`, pidFile, self, "attach", "--write", "--socket", l.path, s.ID)
	sh.wait(client.Regexp(`before\n\S+`))
	tty := strings.Split(sh.snapshot("none").PlainText, "\n")[1]
	before := sh.frame(nil)
	modes, _ := json.Marshal(before.Modes)
	check := func(since uint64, how, code string) {
		t.Helper()
		m := sh.waitSince(since, client.Regexp(`(?m)code=(\d+)\n\S+$`))
		f := sh.frame(nil)
		if got, _ := json.Marshal(f.Modes); string(got) != string(modes) {
			t.Errorf("%s: modes %s, were %s", how, got, modes)
		}
		if f.Title == nil || *f.Title != "mine" || !f.Cursor.Visible || f.Cursor.Style != 0 {
			t.Errorf("%s: %+v", how, f)
		}
		lines := strings.Split(m.Screen.PlainText, "\n")
		if lines[0] != "before" || lines[len(lines)-1] != tty || m.Outcome.Capture != code {
			t.Errorf("%s: the screen is %q", how, lines)
		}
	}
	attach := func() {
		t.Helper()
		sh.waitSince(sh.text("go\n"), client.Text("ready"))
		for f := sh.frame(nil); f.Modes["mouse"] != "any" || f.Modes["kitty_keyboard"] != 5.0 || f.Modes["modify_other_keys"] != 2.0; f = sh.frame(f) {
		}
	}
	tell := func(sig syscall.Signal) uint64 {
		t.Helper()
		text, err := os.ReadFile(pidFile)
		pid, nerr := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || nerr != nil {
			t.Fatal(err, nerr)
		}
		since := sh.frame(nil).Sequence
		syscall.Kill(pid, sig)
		return since
	}
	attach()
	check(sh.keys(`ctrl+\`, "d"), "detached", "0") // as the keyboard that the session asked for tells it
	attach()
	check(tell(syscall.SIGTERM), "told to end", "143")
	attach()
	check(tell(syscall.SIGHUP), "hung up", "129")
	attach()
	s.server.call("session.kill", map[string]string{"session": s.ID}, nil)
	sh.wait(client.Text("any key leaves"))
	check(sh.text("q"), "the program's end", "129")
}
