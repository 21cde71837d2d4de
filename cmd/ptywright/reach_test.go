//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestExecIsInterrupted: Ctrl-C ends the wait and not the command, and says so.
func TestExecIsInterrupted(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--env", "PS1=$ ", "--", "sh")
	p := ptywright(t, "exec", "s1", "--", "echo begun; read -r x; echo got $x")
	p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Dir(s.path))
	p.StartPiped()
	s.ok("wait", "s1", "--regex", `(?m)^begun$`)
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := exitCodeOf(t, p.Wait()); code != 130 || !strings.Contains(p.Stderr.String(), "the command goes on in s1") {
		t.Errorf("exit %d, %q", code, p.Stderr)
	}
	s.ok("send", "s1", "on", "--enter")
	s.ok("wait", "s1", "--text", "got on")
}

// TestRecordASession: until its end, and until Ctrl-C; the file is whole then.
// record-a-session.txtar has the rest.
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
		p.StartPiped()
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
	if code := exitCodeOf(t, byKey.Wait()); code != 0 || byKey.Stderr.String() != "" {
		t.Errorf("exit %d, %s", code, byKey.Stderr)
	}
	s.ok("send", "s1", "two", "--enter")
	s.ok("send", "s1", "--key", "ctrl+d")
	if code := exitCodeOf(t, toTheEnd.Wait()); code != 0 || toTheEnd.Stderr.String() != "" {
		t.Errorf("exit %d, %s", code, toTheEnd.Stderr)
	}
	if out, _ := ptywright(t, "cast2text", at("b.cast")).Run(""); !strings.HasPrefix(out, "before\none\ngot one token=[REDACTED]") || strings.Contains(out, "two") {
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

// TestWatchTellsTwoAddresses, with tokens of their own; --read-only makes but one, which is not for
// typing.
func TestWatchTellsTwoAddresses(t *testing.T) {
	t.Parallel()
	w := watchedServer(t)
	other := w.stderr.Told(t, `who can only look on: http://127\.0\.0\.1:\d+/#token=([A-Z0-9]+)\n`)
	if !strings.Contains(w.address, "#token=") || strings.HasSuffix(w.address, other) {
		t.Errorf("%s and %s", w.address, other)
	}
	look := ptywright(t, "watch", "--read-only", "--socket", w.socket)
	look.StartPiped()
	look.Stderr.Told(t, `watching at http://127\.0\.0\.1:\d+/#token=[A-Z0-9]+\n`)
	_ = look.Process.Signal(syscall.SIGTERM)
	if code := exitCodeOf(t, look.Wait()); code != 0 || strings.Contains(look.Stderr.String(), "for others") {
		t.Errorf("exit %d: %s", code, look.Stderr)
	}
}
