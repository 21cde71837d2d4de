//go:build unix

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/protocol/client"
)

// TestWordsFit: what commands say in words is broken at blanks on a narrow terminal, never within a
// word, and is one line elsewhere.
func TestWordsFit(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--name", "it", "--", "sh", "-c", "echo ready; exec cat")
	s.ok("spawn", "--name", "idle", "--", "cat")
	s.ok("wait", "it", "ready")
	s.fails(3, "timed out", "wait", "it", "--text", "a text that does not come however long one waits", "--timeout", "1ms")
	for _, test := range []struct {
		says string // somewhere over the end of a row
		code int
		args []string
	}{
		{"commit", 0, []string{"version"}},
		{"commit", 0, []string{"--version"}},
		{"waited until the screen shows \"a text that does not come however long one waits\": timed out", 0, []string{"events", "it"}},
		{"nothing has happened to idle yet; --follow waits for what does", 0, []string{"events", "idle"}},
		{"ls has no flag --runing: did you mean --running? Try 'ptywright ls --help'.", 2, []string{"ls", "--runing"}},
		{"unknown session \"none\"; ptywright ls lists those that there are", 4, []string{"read", "none"}},
		{"ptywright: nothing was found", 1, []string{"search", "it", "nowhere"}},
		{"give a letter and up to 63 letters, digits, '.', '_' and '-', but not a lower-case letter and digits alone, as ids are, such as job1", 2,
			[]string{"spawn", "--name", "a80", "--", "cat"}},
	} {
		out, stderr, code := s.run(test.args...)
		lines := strings.Split(strings.TrimSuffix(out+stderr, "\n"), "\n")
		if code != test.code || len(lines) > 2 || !strings.Contains(strings.Join(lines, " "), test.says) {
			t.Errorf("%q: exit %d, %q", test.args, code, out+stderr)
		}
		u := s.onTerminal(t, 24, 40, nil, test.args...)
		u.Wait(matchers.Exited())
		v := u.Session.View()
		rows := v.Screen.Lines()
		for y, row := range rows {
			if v.Screen.Wrapped(y) {
				t.Errorf("%q: row %d is cut within a word: %q", test.args, y, row)
			}
		}
		if got := strings.Join(strings.Fields(strings.Join(rows, " ")), " "); v.Exit.Code != test.code || !strings.Contains(got, test.says) {
			t.Errorf("%q: exit %d, %q", test.args, v.Exit.Code, got)
		}
		if shown := slices.IndexFunc(rows, func(r string) bool { return r == "" }); shown < 2 && len(lines[0]) > 40 {
			t.Errorf("%q: %d rows for %q", test.args, shown, lines)
		}
	}
}

// TestAttachSaysKilled: of a program that somebody ended, attach says that, and no signal.
func TestAttachSaysKilled(t *testing.T) {
	t.Parallel()
	l := listen(t)
	outer, inner := start(t), l.dial()
	s := inner.create("cat")
	stays, leaves := l.attach(outer, 10, 80, s.ID), l.attach(outer, 10, 80, "--exit", s.ID)
	inner.call("session.kill", map[string]any{"session": s.ID}, nil)
	stays.wait(client.Regexp(`(?m)^ the program was killed: any key leaves$`))
	stays.text("x")
	for _, a := range []*session{stays, leaves} {
		a.exited()
		if got := a.snapshot("none").PlainText; !strings.Contains(got, "[s1 was killed]") || strings.Contains(got, "SIG") {
			t.Errorf("attach says %q", got)
		}
	}
}

// TestREPLTellsEvents: :events says what has happened to a session, who did it, and that nothing has.
func TestREPLTellsEvents(t *testing.T) {
	t.Parallel()
	c := newConsole(t, own(t)...)
	c.enter(`s = session.spawn("cat")`, `(?m)^pty\[s1\]> ?$`)
	c.enter(`:events`, `(?m)^nothing has happened to s1 yet$`)
	c.enter(`s:send("canary-0123\n")`, `(?m)^pty\[s1\]> ?$`)
	c.enter(`s:wait{text = "canary"}.kind`, `(?m)^contains_text$`)
	c.enter(`:events s1`, `(?m)^  \d\d:\d\d:\d\d  \S+ repl \d+: typed enter, 12 bytes$`)
	c.enter(`:events`, `(?m)^  \d\d:\d\d:\d\d  \S+ repl \d+: waited until the screen shows "canary":\n +matched`)
	c.enter(`s:kill()`, `(?m)^s1 killed$`)
	m := c.enter(`:events`, `(?m)^  \d\d:\d\d:\d\d  was killed$`)
	if strings.Contains(m.Screen.PlainText, "SIG") {
		t.Errorf("a session that was killed is said to have ended by a signal:\n%s", m.Screen.PlainText)
	}
	c.enter(`:sessions`, `(?m)^  s1  .* killed `)
	c.enter(`:events s9`, `unknown session`)
	c.leave()
}
