//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// A password is in no line of the history's file: not of the line that failed to type it, nor of
// one that was entered before anybody knew that it is one.
func TestREPLHistoryForgetsAPassword(t *testing.T) {
	t.Parallel()
	c := newConsole(t, own(t)...)
	path := filepath.Join(c.home, "repl_history")
	c.enter(`p = "Hunter2Zebra5" return 6 * 7`, `(?m)^42$`)
	c.enter(`q = 'Hunt\101' return 6 * 8`, `(?m)^48$`)
	c.enter(`r = "kept" return 6 * 9`, `(?m)^54$`)
	if kept, err := os.ReadFile(path); err != nil || len(kept) < 60 {
		t.Fatalf("before it is known as a password the history is %q, %v", kept, err)
	}
	c.enter(` s = session.spawn("sh", "-c", "stty -echo; echo ready; read x; read y; stty echo; echo got; read z")`, `pty\[s1\]> ?$`)
	c.enter(` s:wait{text = "ready"}.kind`, `(?m)^contains_text$`)
	c.enter(`s:sennd("Other9Secret\n")`, `(?m)^error: .*\n(.*\n)*pty\[s1\]> ?$`)
	c.enter(`s:send("Other9Secret\n`, `unterminated string\npty\[s1\]> ?$`)
	c.enter(`other = "Third3" return 6 * 10`, `(?m)^60$`)
	c.enter(`for k in ("Fifth5Word"):gmatch(".") do s:key(k) end s:key("enter") return 6 * 11`, `(?m)^66$`)
	c.enter(`s:send(p .. "\n") return s:wait{text = "got"}.kind`, `(?m)^contains_text\n(.*\n)*pty\[s1\]> ?$`)
	c.enter(`s:send("Hunter2Zebra5") return 6 * 12`, `(?m)^72$`)
	c.enter(`x = "Fifth" .. "5Word" return 6 * 13`, `(?m)^78$`)
	c.enter(`6 * 14`, `(?m)^84$`)
	c.waitSince(c.keys("ctrl+d"), client.Exited())
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for l := range strings.FieldsFuncSeq(string(kept), func(r rune) bool { return r == 0x0a }) {
		if strings.TrimSpace(l) == "" {
			continue
		}
		got += l + "\n"
	}
	if want := "\"r = \\\"kept\\\" return 6 * 9\"\n\"6 * 14\"\n"; got != want {
		t.Errorf("the history is\n%swant\n%s", got, want)
	}
}
