package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/internal/lanes"
	"github.com/ptywright/ptywright/protocol/client"
)

// TestEndedFromTheShell: what has ended can be read, is forgotten when that is asked, and how it
// ended is known still.
func TestEndedFromTheShell(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	runs := s.ok("spawn", "--", "cat")
	id := s.ok("spawn", "--", "sh", "-c", "echo hello; exit 3")
	if out := s.ok("wait", id, "--exit"); out != "exit 3" {
		t.Errorf("wait --exit: %q", out)
	}
	if out := s.ok("read", id); out != "hello" {
		t.Errorf("what it left: %q", out)
	}
	if out := s.ok("ls"); !regexp.MustCompile(`(?m)^`+id+` +sh -c echo hello; exit 3 +/.* +exit 3 +(now|\d+[sm] ago) +\d+[sm]$`).MatchString(out) || !strings.Contains(out, runs+" ") {
		t.Errorf("ls: %s", out)
	}
	if out := s.ok("ls", "--running", "--json"); strings.Count(out, "\n") != 0 || !strings.Contains(out, `"`+runs+`"`) {
		t.Errorf("ls --running: %s", out)
	}
	s.fails(2, "exclude each other", "kill", "--ended", id)
	all := objects(t, s.ok("kill", "--ended", "--json"))
	if len(all) != 1 || all[0]["session"] != id || all[0]["closed"] != true {
		t.Errorf("kill --ended --json: %v", all)
	}
	if out := s.ok("kill", "--ended"); out != "" {
		t.Errorf("kill --ended, again: %q", out)
	}
	for _, args := range [][]string{{"read", id}, {"logs", id}, {"send", id, "x"}, {"kill", id}, {"kill", "--close", id}, {"wait", id, "--text", "hello"}} {
		s.fails(4, "session "+id+" was forgotten", args...)
	}
	if out := s.fails(4, "", "read", id, "--json"); !strings.Contains(out, `"session_forgotten"`) {
		t.Errorf("read --json: %s", out)
	}
	if out := s.ok("wait", id, "--exit"); out != "exit 3" {
		t.Errorf("wait --exit of the forgotten: %q", out)
	}
	if out := s.ok("wait", id, "--exit", "--text", "hello"); out != "exit 3" {
		t.Errorf("wait --exit --text: %q", out)
	}
	if o := objects(t, s.ok("wait", id, "--exit", "--json"))[0]; o["forgotten"] != true {
		t.Errorf("wait --exit --json: %v", o)
	}
}

// TestAdaptersAndTerminalsAreNotForgotten: whoever started them closes them.
func TestAdaptersAndTerminalsAreNotForgotten(t *testing.T) {
	t.Parallel()
	s := listen(t, "--max-ended", "1").dial()
	var terminal struct{ TerminalID string }
	s.call("terminal/create", obj{"sessionId": "S", "command": "sh", "args": []string{"-c", "echo kept; exit 3"}}, &terminal)
	of := obj{"sessionId": "S", "terminalId": terminal.TerminalID}
	s.call("terminal/wait_for_exit", of, nil)
	var adapter struct{ Adapter, Session string }
	s.call("adapter.start", obj{"plugin": "shell", "program": "sh", "args": []string{"-c", "echo kept; exit 4"}}, &adapter)
	(&session{s.Session(adapter.Session), s, t}).wait(client.Exited())
	for range 5 {
		s.sh("exit 0").wait(client.Exited())
	}
	if gone, err := s.Forget(s.ctx); err != nil || len(gone) == 0 || len(gone) > 5 {
		t.Errorf("forgotten: %v, %v", gone, err)
	}
	var output struct {
		Output     string
		ExitStatus struct{ ExitCode int }
	}
	if s.call("terminal/output", of, &output); !strings.Contains(output.Output, "kept") || output.ExitStatus.ExitCode != 3 {
		t.Errorf("the terminal: %+v", output)
	}
	var shown client.Snapshot
	if s.call("adapter.snapshot", obj{"adapter": adapter.Adapter}, &shown); !strings.Contains(shown.PlainText, "kept") || *shown.Exit.Code != 4 {
		t.Errorf("the adapter: %+v", shown)
	}
	s.call("terminal/release", of, nil)
	s.call("adapter.close", obj{"adapter": adapter.Adapter}, nil)
	if all := s.list(); len(all) != 0 {
		t.Errorf("there are %v", all)
	}
}

// tree is a program that ignores what asks it to end, with a child in a session of its own and one
// that has let go of the terminal. Each has the mark in its arguments.
func tree(mark string) []string {
	sleep := "sleep 300." + mark
	return []string{"sh", "-c", "trap '' HUP TERM; setsid " + sleep + " & setsid " + sleep + " </dev/null >/dev/null 2>&1 & echo up; " +
		"while :; do " + sleep + "; done"}
}

// TestLeashes ends real programs by each limit, with all that they started.
func TestLeashes(t *testing.T) {
	t.Parallel()
	need(t, "setsid", "util-linux")
	s := newShared(t)
	mark := s.program.Mark + "001"
	for _, c := range []struct {
		name, says string
		flags      []string
	}{
		{"time", "SIGKILL (max-time)", []string{"--max-time", "700ms"}},
		{"idle", "SIGKILL (idle)", []string{"--idle", "700ms"}},
	} {
		id := s.ok(append(append([]string{"spawn"}, append(c.flags, "--")...), tree(mark)...)...)
		s.ok("wait", id, "--text", "up", "--timeout", hang.String())
		pids := marked(t, mark)
		if len(pids) < 3 {
			t.Errorf("%s: there are only %v", c.name, pids)
		}
		// On a busy machine the others may still hold the terminal when the first has ended.
		draining := strings.Replace(c.says, ")", ", draining)", 1)
		if out := s.ok("wait", id, "--exit", "--timeout", hang.String()); out != c.says && out != draining {
			t.Errorf("%s: %q, want %q", c.name, out, c.says)
		}
		gone(t, pids)
		if out := s.ok("ls"); !strings.Contains(out, c.says) && !strings.Contains(out, draining) {
			t.Errorf("%s: ls says %s", c.name, out)
		}
	}
	for _, args := range [][]string{{"--max-time", "0"}, {"--max-time", "-1s"}, {"--idle", "400ns"}, {"--max-memory", "12"}, {"--max-memory", "1X"}, {"--max-memory", "99999T"}, {"--max-memory", ""}} {
		s.fails(2, args[0], append(append([]string{"spawn"}, args...), "--", "true")...)
	}
}

// TestOwnedSession ends with its connection, and with all that it started; a session of the
// server's does not.
func TestOwnedSession(t *testing.T) {
	t.Parallel()
	need(t, "setsid", "util-linux")
	l := listen(t)
	mark := l.program.Mark + "001"
	args := tree(mark)
	beside, mine := l.dial(), l.dial()
	other := mine.with(client.Config{Program: "cat"})
	own := mine.with(client.Config{Program: args[0], Args: args[1:], Owner: "connection"})
	own.wait(client.Text("up"))
	pids := marked(t, mark)
	mine.Close()
	own = &session{beside.Session(own.ID), beside, t}
	if m := own.wait(client.Exited()); m.Screen.Exit == nil || m.Screen.Exit.Limit != "owner" {
		t.Errorf("its exit: %+v", m.Screen.Exit)
	}
	gone(t, pids)
	for _, i := range beside.list() {
		if i.Session == other.ID && i.Exit != nil {
			t.Errorf("the server's own has ended: %+v", i.Exit)
		}
	}
}

// TestMemoryLeash ends what needs too much memory, where the kernel lets this process make groups,
// and is refused elsewhere.
func TestMemoryLeash(t *testing.T) {
	t.Parallel()
	need(t, "perl", "perl")
	s := newShared(t)
	hog := []string{"perl", "-e", `$| = 1; print "up\n"; <STDIN>; for (1 .. 400) { push @a, "x" x (1 << 20) } print "has it\n"; sleep 300`}
	out, stderr, code := s.run(append([]string{"spawn", "--max-memory", "64M", "--"}, hog...)...)
	if code != 0 {
		if code != 1 || !strings.Contains(stderr, "memory of a session cannot be limited here") {
			t.Errorf("exit %d, %s", code, stderr)
		}
		t.Skipf("%s", stderr)
	}
	id := strings.TrimSpace(out)
	s.ok("wait", id, "--text", "up", "--timeout", hang.String())
	s.ok("send", id, "-e")
	if out := s.ok("wait", id, "--exit", "--text", "has it", "--timeout", hang.String()); !strings.HasSuffix(out, " (max-memory)") {
		t.Errorf("%q", out)
	}
	s.ok("kill", "--ended")
	if left, err := filepath.Glob("/sys/fs/cgroup/*/" + "ptywright-" + fmt.Sprint(s.program.Process.Pid) + "-*"); err != nil || len(left) > 0 {
		t.Errorf("groups are left: %v, %v", left, err)
	}
}

// TestEndedSoak is a server that has run for long: short programs one after the other and together,
// and recordings of them. Its memory stays where it was after the first of them, nothing is
// refused, and it holds no descriptor of what has ended but those of the sessions that are kept.
func TestEndedSoak(t *testing.T) {
	t.Parallel()
	programs, recordings := times(400, 20_000), times(40, 1000)
	l := listen(t)
	s := l.dial()
	pid := l.program.Process.Pid
	dir := t.TempDir()
	// Half a thousand lines each, so that what is kept of one is some hundred KiB.
	script := "i=0; while [ $i -lt 500 ]; do echo \"a line of a program that prints much, number $i\"; i=$((i+1)); done; exit 7"
	one := func(i int) {
		record := i%(programs/recordings) == 0
		c := client.Config{Program: "true"}
		if record {
			c = client.Config{Program: "sh", Args: []string{"-c", "read -r _; " + script}}
		}
		x, err := s.Spawn(s.ctx, c)
		if err != nil {
			t.Errorf("program %d: %v", i, err)
			return
		}
		if record {
			if err := s.Call(s.ctx, "session.record_start", obj{"session": x.ID, "dir": dir}, nil); err != nil {
				t.Errorf("recording %d: %v", i, err)
			}
			if err := x.Send(s.ctx, "go\n"); err != nil {
				t.Errorf("program %d: %v", i, err)
			}
		}
		m, err := x.Wait(s.ctx, client.Exited())
		if err != nil || m.Screen.Exit.Code == nil || *m.Screen.Exit.Code != map[bool]int{true: 7}[record] {
			t.Errorf("the end of program %d: %v", i, err)
		}
	}
	if err := s.Call(s.ctx, "server.set_notifications", obj{"enabled": true}, nil); err != nil {
		t.Fatal(err)
	}
	measure := func(what string) int {
		rss := memory(t, pid, "VmRSS")
		t.Logf("%s: %d KiB resident, %d descriptors, %d sessions", what, rss, descriptors(t, pid), len(s.list()))
		return rss
	}
	// What is kept is full after these: 256 sessions, some of them with a recording's output, and
	// the server's own buffers.
	first := programs / 2
	if long {
		first = 4000
	}
	measure("at first")
	together(first, one)
	before := measure(fmt.Sprintf("after %d programs", first))
	for from, n := first, (programs-first)/4; from < programs; from += n {
		n = min(n, programs-from)
		together(n, func(i int) { one(from + i) })
		measure(fmt.Sprintf("after %d programs", from+n))
	}
	after := measure("at last")
	if grown := after - before; grown > 16<<10 && !lanes.Race {
		t.Errorf("the server has grown by %d KiB, from %d KiB", grown, before)
	}
	if n := len(s.list()); n > 256+8 {
		t.Errorf("%d sessions are kept", n)
	}
	casts, err := filepath.Glob(filepath.Join(dir, "*.cast"))
	if err != nil || len(casts) != recordings {
		t.Errorf("%d recordings of %d, %v", len(casts), recordings, err)
	}
	for _, path := range casts[:min(10, len(casts))] {
		// As text: in the file an event may end within a line.
		if text, code := ptywright(t, "cast2text", path).Run(""); code != 0 || !strings.Contains(text, "number 499") {
			t.Errorf("cast2text of %s: exit %d, and the last line is not there", path, code)
		}
	}
	if _, err := s.Forget(s.ctx); err != nil {
		t.Error(err)
	}
	measure("with none kept")
	if n := len(s.list()); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
	if n := descriptors(t, pid); n > 64 {
		t.Errorf("%d descriptors are left", n)
	}
}
