package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// An attach that is killed cannot put the terminal back: the REPL that started it does.
func TestREPLOutlivesItsAttach(t *testing.T) {
	t.Parallel()
	l := listen(t)
	c := replIn(t, start(t), filepath.Dir(l.path))
	c.enter(`s = session.spawn("sh", {env = {PS1 = "inner> "}, rows = 10, server_env = true})`, `pty\[s1\]> ?$`)
	c.enter(`s:turn("printf '\\033[?1003;1006h'; echo re''ady\n", {text = "ready"}).kind`, `contains_text`)
	c.text(":attach s1 --write\r")
	for f := c.frame(nil); f.Modes["mouse"] != "any"; f = c.frame(f) {
	}
	since, killed := c.snapshot("none").Sequence, 0
	for pid, command := range marked(t, c.server.program.Mark) {
		if strings.Contains(command, "attach") {
			syscall.Kill(pid, syscall.SIGKILL)
			killed++
		}
	}
	if killed != 1 {
		t.Fatalf("%d attaches run", killed)
	}
	m := c.waitSince(since, client.Regexp(`(?s)error: attach to s1: it was ended by .*killed.*pty\[s1\]>`))
	if m.Screen.AlternateScreen {
		t.Error("the alternate screen is still there")
	}
	if f := c.frame(nil); f.Modes["mouse"] != "none" || !f.Cursor.Visible {
		t.Errorf("the terminal is left with %v, cursor %+v", f.Modes, f.Cursor)
	}
	c.enter(`1 + 1`, `(?m)^2$`)
	c.leave()
}
