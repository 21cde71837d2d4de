//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

func TestVim(t *testing.T) {
	t.Parallel()
	need(t, "vim", "vim")
	path := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	v := start(t).create("vim", "-u", "NONE", "-i", "NONE", "-N", path)
	m := v.wait(client.Regexp(`(?s)^one\ntwo\nthree\n~.*3L`))
	if !m.Screen.AlternateScreen {
		t.Error("vim is not on the alternate screen")
	}
	v.text("jcwzwei")
	v.wait(client.Text("-- INSERT --"))
	v.keys("escape")
	v.text("GA – naïve 日本")
	v.keys("enter")
	if _, err := v.Do(v.server.ctx, client.Action{Type: "bracketed_paste", Value: "  pasted\n\tas it is\n"}); err != nil {
		t.Fatal(err)
	}
	v.keys("escape")
	v.wait(client.Regexp(`(?m)^one\nzwei\nthree – naïve 日本\n  pasted\n        as it is$`))
	v.text(":wq\r")
	if got := v.exited(); got != "exit 0" {
		t.Errorf("vim ended with %s", got)
	}
	if s := v.snapshot("none"); s.AlternateScreen {
		t.Error("vim has left its alternate screen on")
	}
	got, err := os.ReadFile(path)
	if want := "one\nzwei\nthree – naïve 日本\n  pasted\n\tas it is\n\n"; err != nil || string(got) != want {
		t.Errorf("the file has %q, not %q: %v", got, want, err)
	}
}

func TestLess(t *testing.T) {
	t.Parallel()
	need(t, "less", "less")
	path := filepath.Join(t.TempDir(), "lines")
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, "line %d.\n", i)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	l := start(t).with(client.Config{Program: "less", Args: []string{path}, Env: map[string]string{"LESS": "", "LESSHISTFILE": "-"}})
	l.wait(client.Regexp(`^line 0\.\n`))
	l.text("/ne 250\r")
	l.wait(client.Regexp(`^line 250\.\nline 251\.`))
	for _, c := range l.snapshot("full").Cells {
		if hit := c.Row == 0 && c.Col >= 2 && c.Col < len("line 250"); c.Row < 23 && c.Style.Inverse != hit {
			t.Errorf("row %d, column %d %q: inverse is %v", c.Row, c.Col, c.Text, c.Style.Inverse)
		}
	}
	l.text("q")
	if got := l.exited(); got != "exit 0" {
		t.Errorf("less ended with %s", got)
	}
}

func TestProcessViewerFollowsTheSize(t *testing.T) {
	t.Parallel()
	config := client.Config{Program: "htop", Env: map[string]string{"HTOPRC": filepath.Join(t.TempDir(), "htoprc")}}
	shown := `(?s)CPU.*F1Help`
	if _, err := exec.LookPath("htop"); err != nil {
		need(t, "top", "htop procps")
		config, shown = client.Config{Program: "top"}, `(?m)^ +PID +USER`
	}
	h := start(t).with(config)
	h.wait(client.Regexp(shown))
	for _, size := range [][2]int{{40, 120}, {10, 60}, {24, 80}} {
		rows, cols := size[0], size[1]
		since := h.snapshot("none").Sequence
		h.resize(rows, cols)
		h.waitSince(since, client.Regexp(`CPU`)) // it has drawn; some rows need no change
		s := h.wait(client.All(client.Regexp(shown), client.Stable(300*time.Millisecond))).Screen
		if s.Size.Rows != rows || s.Size.Cols != cols || len(s.Lines) != rows {
			t.Errorf("resized to %d by %d, the screen is %+v with %d lines", rows, cols, s.Size, len(s.Lines))
		}
		if config.Program == "htop" && !strings.Contains(s.Lines[rows-1], "F1Help") {
			t.Errorf("at %d rows the last line is %q", rows, s.Lines[rows-1])
		}
	}
	h.text("q")
	if got := h.exited(); got != "exit 0" {
		t.Errorf("%s ended with %s", config.Program, got)
	}
}

func TestTmuxInsidePtywright(t *testing.T) {
	t.Parallel()
	need(t, "tmux", "tmux")
	dir, err := os.MkdirTemp("", "pw") // short: a socket's path has 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s := start(t)
	env := map[string]string{"TMUX_TMPDIR": dir, "SHELL": "/bin/sh", "PS1": "$ ", "ENV": ""}
	// tmux takes keys that come within a millisecond of each other for a paste, and a prefix in a
	// paste for text: two requests are faster than that.
	config := filepath.Join(dir, "tmux.conf")
	if err := os.WriteFile(config, []byte("set -g assume-paste-time 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tmux := func(args ...string) *session {
		return s.with(client.Config{Program: "tmux", Args: append([]string{"-L", "mine", "-f", config}, args...), Env: env})
	}
	defer exec.Command("env", "TMUX_TMPDIR="+dir, "tmux", "-L", "mine", "kill-server").Run()

	first := tmux("new-session", "-s", "work")
	first.wait(client.Regexp(`(?s)^[$#]\n.*\[work\]`))
	first.waitSince(first.text("echo up$((6*7))per\n"), client.Regexp(`(?m)^up42per$`))
	first.keys("ctrl+b")
	first.text(`"`)
	first.wait(client.Regexp(`(?m)^─{80}\n[$#]$`))
	first.waitSince(first.text("echo low$((6*7))er\n"), client.Regexp(`(?m)^low42er$`))

	first.keys("ctrl+b")
	first.text("d")
	if got := first.exited(); got != "exit 0" {
		t.Errorf("the detached client ended with %s", got)
	}
	first.wait(client.Text("[detached (from session work)]"))

	// Another client sees what the first has left.
	second := tmux("attach")
	second.wait(client.Regexp(`(?s)^[$#] echo up.*\nup42per\n.*\n─{80}\n.*\nlow42er\n`))
	second.text("tmux kill-server\n")
	if got := second.exited(); got != "exit 1" && got != "exit 0" { // by version
		t.Errorf("the client ended with %s", got)
	}
	second.wait(client.Text("[server exited]"))
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "mine")); len(left) > 0 && exec.Command("env", "TMUX_TMPDIR="+dir, "tmux", "-L", "mine", "ls").Run() == nil {
		t.Error("the tmux server lives on")
	}
}
