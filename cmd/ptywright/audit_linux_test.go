package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestAuditOnAFullDisk: the server goes on, and says it in its log, its capabilities, its metrics
// and to doctor; once there is room it writes again, and the file has whole lines that tell of the
// rest.
func TestAuditOnAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mount("ptywright-test", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mounting a file system needs root: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	path, filler := filepath.Join(dir, "audit"), filepath.Join(dir, "filler")
	l := listenProgram(t, ptywright(t, "serve", "--audit", path), filepath.Join(t.TempDir(), "home"))
	s := l.dial()
	c := s.sh("stty raw -echo; echo ready; exec cat >/dev/null")
	c.wait(client.Text("ready"))
	full := os.WriteFile(filler, make([]byte, 128<<10), 0o600)
	if full == nil || !strings.Contains(full.Error(), "no space") {
		t.Fatalf("the disk is not full: %v", full)
	}
	type state struct {
		Audit *struct {
			Lost    int64
			Problem string
			Since   string
		}
	}
	asked := func() (is state) {
		s.call("server.capabilities", nil, &is)
		return is
	}
	typed := int64(0)
	poll(t, func() string { // what is left of the last block takes some lines
		for range 10 {
			c.text("x")
			typed++
		}
		if is := asked(); is.Audit == nil || !strings.Contains(is.Audit.Problem, "no space") || is.Audit.Since == "" || is.Audit.Lost == 0 {
			return "the audit is said to be well"
		}
		return ""
	})
	l.program.Stderr.Told(t, `level=ERROR msg="the audit file does not take lines[^\n]+no space`)
	out, _, code := (&shared{l, t}).run("doctor")
	if code == 0 || !strings.Contains(out, "audit") || !strings.Contains(out, "no space") {
		t.Errorf("doctor: exit %d, %s", code, out)
	}
	var metrics struct{ Text string }
	if s.call("server.metrics", nil, &metrics); !strings.Contains(metrics.Text, "ptywright_audit_failing 1") || strings.Contains(metrics.Text, "ptywright_audit_lost_total 0") {
		t.Errorf("metrics: %s", metrics.Text)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	poll(t, func() string {
		c.text("x")
		typed++
		if is := asked(); is.Audit.Problem != "" {
			return is.Audit.Problem
		}
		return ""
	})
	l.program.Stderr.Told(t, `level=WARN msg="the audit file takes lines again"`)
	lost := asked().Audit.Lost
	l.end()
	lines, _ := auditOf(t, path)
	var told, written int64
	for _, x := range lines {
		told += x.Lost
		if x.Method == "session.input" {
			written += int64(max(x.Times, 1))
		}
	}
	if told != lost || written+lost != typed {
		t.Errorf("typed %d times, %d of them written, %d lost, told of %d", typed, written, lost, told)
	}
}
