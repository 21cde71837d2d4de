package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ptywright/ptywright/protocol/client"
)

// badInput are requests that are wrong, and what is said of each.
var badInput = []struct {
	method, params string
	code           int
	reason, says   string
}{
	{"no.such", `{}`, -32601, "unknown_method", `no.such`},
	{"session.create", `{}`, -32602, "invalid_params", "program"},
	{"session.create", `{"program":7}`, -32602, "invalid_params", "program"},
	{"session.create", `{"program":"sh","program":"sh"}`, -32602, "duplicate_member", "program"},
	{"session.create", `["sh"]`, -32602, "invalid_params", ""},
	{"session.create", `{"program":"no-such-program-anywhere"}`, -32602, "cannot_start", "no-such-program-anywhere"},
	{"session.create", `{"program":"/etc/passwd"}`, -32602, "cannot_start", "/etc/passwd"},
	{"session.create", `{"program":"/tmp"}`, -32602, "cannot_start", "/tmp"},
	{"session.create", `{"program":"sh","cwd":"/no/such/folder"}`, -32602, "cannot_start", "/no/such/folder"},
	{"session.create", `{"program":"sh","cwd":"/etc/passwd"}`, -32602, "cannot_start", "/etc/passwd"},
	{"session.create", `{"program":"a\u0000b"}`, -32602, "cannot_start", ""},
	{"session.create", `{"program":"sh","args":["a\u0000b"]}`, -32602, "cannot_start", ""},
	{"session.create", `{"program":"sh","env":{"A=B":"c"}}`, -32602, "invalid_environment", "A=B"},
	{"session.create", `{"program":"sh","env":{"A":7}}`, -32602, "invalid_params", "env"},
	{"session.create", `{"program":"sh","rows":0}`, -32602, "size_out_of_range", "rows"},
	{"session.create", `{"program":"sh","cols":70000}`, -32602, "size_out_of_range", "cols"},
	{"session.create", `{"program":"sh","rows":-1}`, -32602, "size_out_of_range", "rows"},
	{"session.create", `{"program":"sh","rows":2.5}`, -32602, "invalid_params", "rows"},
	{"session.create", `{"program":"sh","rows":1e99}`, -32602, "invalid_params", "rows"},
	{"session.create", `{"program":"sh","scrollback_max_lines":-1}`, -32602, "invalid_params", "scrollback_max_lines"},
	{"session.resize", `{"session":"s1","rows":0,"cols":80}`, -32602, "size_out_of_range", "rows"},
	{"session.resize", `{"session":"s1"}`, -32602, "invalid_params", "rows"},
	{"session.snapshot", `{"session":"s999"}`, -32602, "unknown_session", "s999"},
	{"session.snapshot", `{"session":7}`, -32602, "invalid_params", "session"},
	{"session.snapshot", `{"session":"s1","cells":"most"}`, -32602, "invalid_params", "cells"},
	{"session.input", `{"session":"s1"}`, -32602, "invalid_action", "action"},
	{"session.input", `{"session":"s1","action":{"type":"dance"}}`, -32602, "invalid_action", "dance"},
	{"session.input", `{"session":"s1","action":{"type":"key","value":"nokey"}}`, -32602, "invalid_action", "nokey"},
	{"session.input", `{"session":"s1","action":{"type":"text","value":7}}`, -32602, "invalid_action", "value"},
	{"session.input", `{"session":"s1","action":{"type":"mouse","value":{"row":1,"col":1}}}`, -32602, "mouse_not_requested", "mouse"},
	{"session.wait", `{"session":"s1","matcher":{"type":"screen_regex","value":"("}}`, -32602, "invalid_matcher", "matcher.value"},
	{"session.wait", `{"session":"s1","matcher":{"type":"hope"}}`, -32602, "invalid_matcher", "hope"},
	{"session.wait", `{"session":"s1","matcher":{"type":"lua","value":{"plugin":"x","predicate":"y"}}}`, -32602, "invalid_matcher", "x"},
	{"session.wait", `{"session":"s1","matcher":{"type":"process_exited"},"timeout_ms":-1}`, -32602, "invalid_params", "timeout_ms"},
	{"session.search", `{"session":"s1","regex":"[","max":1}`, -32602, "invalid_params", "regex"},
	{"session.search", `{"session":"s1"}`, -32602, "invalid_params", "text"},
	{"server.set_ordering", `{"ordering":"chaos"}`, -32602, "invalid_params", "chaos"},
	{"server.set_notifications", `{"enabled":"yes"}`, -32602, "invalid_params", "enabled"},
}

// abuse sends everything that is wrong, and starts and ends sessions.
func abuse(t *testing.T, s *server) {
	t.Helper()
	for _, bad := range badInput {
		err := s.Call(s.ctx, bad.method, json.RawMessage(bad.params), nil)
		var e *client.Error
		if !errors.As(err, &e) || e.Code != bad.code || string(e.Reason) != bad.reason || !strings.Contains(e.Message, bad.says) {
			t.Errorf("%s %s: %v, expected %d, %s, about %q", bad.method, bad.params, err, bad.code, bad.reason, bad.says)
		}
	}
	together(times(40, 1000), func(int) {
		sess, err := s.Spawn(s.ctx, client.Config{Program: "sh", Args: []string{"-c", "echo up; sleep 1000 & exec cat"}})
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := sess.Wait(s.ctx, client.Text("up")); err != nil {
			t.Error(err)
		}
		if _, err := sess.Wait(s.ctx, client.Text("down"), client.Within(0)); err == nil {
			t.Error("the wait matched nothing")
		}
		if err := sess.Close(s.ctx); err != nil {
			t.Error(err)
		}
	})
}

// Whatever is asked of it, a server is in the end as it was: descriptors, processes and goroutines,
// which a SIGQUIT lists.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	listed := func(work func(s *server)) (goroutines map[string]int, fds int) {
		p := ptywright(t, "serve", "--stdio")
		s := launch(t, p)
		s.create("cat").waitSince(0, client.Stable(0)) // s1 stays
		c := s.create("cat")                           // a first session starts what there is once
		c.text("x\n")
		c.close()
		work(s)
		fds = descriptors(t, p.Process.Pid)
		if left := marked(t, p.Mark); len(left) != 3 { // server, watcher, s1
			t.Errorf("processes %v", left)
		}
		p.Process.Signal(unix.SIGQUIT)
		// It writes for a while on a busy machine: closing its input meanwhile could end it before
		// it is through.
		for unix.Waitid(unix.P_PID, p.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		}
		s.Close()
		goroutines = map[string]int{}
		for _, m := range regexp.MustCompile(`(?m)^created by (\S+) in`).FindAllStringSubmatch(p.Stderr.String(), -1) {
			name := strings.Replace(m[1], ".(*Conn).yield", ".(*Conn).Serve", 1) // either starts the one that reads
			goroutines[name]++
		}
		if len(goroutines) == 0 {
			t.Fatalf("no goroutines in %q", p.Stderr)
		}
		gone(t, marked(t, p.Mark))
		return goroutines, fds
	}
	before, fdsBefore := listed(func(*server) {})
	after, fdsAfter := listed(func(s *server) { abuse(t, s) })
	if fdsAfter > fdsBefore {
		t.Errorf("%d descriptors are open, and %d before", fdsAfter, fdsBefore)
	}
	for what, n := range after {
		if strings.HasPrefix(what, "runtime.") { // as many as it has had work for
			continue
		}
		if n > before[what] {
			t.Errorf("%d goroutines of %s, and %d before", n, what, before[what])
		}
	}
}

// Lines that are no requests are answered, and the connection lives.
func TestMalformedLines(t *testing.T) {
	t.Parallel()
	answers := script(t,
		`{"jsonrpc":"2.0","id":1,"method":"session.create","params":{"program":"cat"}}`,
		`{`, `{"jsonrpc":"2.0","id":2}`, `{"jsonrpc":"1.0","id":3,"method":"session.list"}`, `[1,2]`, "\xef\xbb\xbf{}", `{"jsonrpc":"2.0","id":4,"id":5,"method":"session.list"}`,
		`{"jsonrpc":"2.0","id":{},"method":"session.list"}`, strings.Repeat("[", 100_000), `"`+strings.Repeat("x", 17<<20)+`"`,
		`{"jsonrpc":"2.0","id":6,"method":"session.list"}`)
	var got []string
	for _, a := range answers {
		switch {
		case a.Error == nil:
			got = append(got, string(a.Result))
		default:
			got = append(got, fmt.Sprintf("%d %s", a.Error.Code, a.Error.Data.Reason))
		}
	}
	want := []string{
		`{"session":"s1"}`, "-32700 parse_error", "-32600 invalid_request", "-32600 invalid_request",
		"-32600 invalid_request", "-32600 invalid_request", // one batch
		"-32700 parse_error", "-32600 duplicate_member", "-32600 invalid_request", "-32700 nesting_too_deep",
		"-32700 message_too_large", `{"sessions":["s1"]}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("answered\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// With no descriptors left a session is refused, with a reason; what runs goes on, and one that is
// closed makes room.
func TestDescriptorLimit(t *testing.T) {
	t.Parallel()
	s := startProgram(t, limited(t, "ulimit -n 64", "serve", "--stdio"))
	var all []*session
	var refusal error
	for refusal == nil && len(all) < 64 {
		sess, err := s.Spawn(s.ctx, client.Config{Program: "cat"})
		if refusal = err; err == nil {
			all = append(all, &session{sess, s, t})
		}
	}
	e := wantError(t, refusal, client.CodeInternal, "limit_exceeded")
	if !strings.Contains(e.Message, "too many open files") || len(all) < 5 {
		t.Errorf("after %d sessions: %s", len(all), e.Message)
	}
	all[0].waitSince(all[0].text("alive\n"), client.Text("alive"))
	for _, sess := range all[1:] {
		sess.close()
	}
	s.create("sh", "-c", "exit 4").exited()
}

func TestSessionLimit(t *testing.T) {
	t.Parallel()
	s := start(t, "--max-sessions", "2")
	first := s.create("cat")
	s.create("cat")
	e := s.refused(client.CodeInternal, "limit_exceeded", "session.create", client.Config{Program: "cat"})
	if !bytes.Contains(e.Data, []byte(`"limit":2`)) {
		t.Errorf("data %s", e.Data)
	}
	first.close()
	s.create("cat")
}

func TestIdleSessions(t *testing.T) {
	t.Parallel()
	n := times(200, 1000)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Max < uint64(4*n) {
		t.Skipf("%d sessions need %d descriptors, and the limit is %d: ulimit -n", n, 4*n, limit.Max)
	}
	s := start(t)
	pid := s.program.Process.Pid
	s.create("cat").close()
	fds := descriptors(t, pid)
	before := memory(t, pid, "VmRSS")
	together(n, func(int) {
		if _, err := s.Spawn(s.ctx, client.Config{Program: "sleep", Args: []string{"1000." + s.program.Mark}}); err != nil {
			t.Error(err)
		}
	})
	t.Logf("%d sessions, %d KiB each", n, (memory(t, pid, "VmRSS")-before)/n)
	began := time.Now()
	all := s.list()
	t.Logf("listed in %v", time.Since(began))
	if len(all) != n {
		t.Fatalf("%d sessions", len(all))
	}
	used := cpu(t, pid)
	(&session{s.Session(all[0].Session), s, t}).wait(client.Stable(time.Second))
	t.Logf("a second of idling costs %v of a processor", cpu(t, pid)-used)
	together(n, func(i int) {
		if err := s.Session(all[i].Session).Close(s.ctx); err != nil {
			t.Error(err)
		}
	})
	if left := s.list(); len(left) != 0 {
		t.Errorf("%d sessions are left", len(left))
	}
	if now := descriptors(t, pid); now > fds { // what was under way before may have ended
		t.Errorf("%d descriptors, and %d before", now, fds)
	}
}

// cpu returns how long a process has run.
func cpu(t testing.TB, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	var user, system int
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')'):]))
	if _, err := fmt.Sscan(f[12]+" "+f[13], &user, &system); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100 on every Linux
}
