//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

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

// TestRecordASession: until its end, and until Ctrl-C; the file is whole then. record-a-session.txtar
// has the rest.
func TestRecordASession(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	s.ok("spawn", "--", "sh", "-c", `echo before; while read -r line; do echo "got $line token=Kq7Zx9Vb2Nm4Lp8Rt6"; done`)
	s.ok("wait", "s1", "--text", "before")
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
	for _, name := range []string{"b.cast", "c.md"} {
		if info, err := os.Stat(at(name)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, _ := filepath.Glob(at("*.part")); left != nil {
		t.Errorf("left: %v", left)
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
