//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// An auditLine is a line of an audit, as a reader of the file has it.
type auditLine struct {
	Time                                                time.Time
	Lost, Bytes, MS                                     int64
	Times                                               int
	UID, PID                                            *int
	Door, By, Client, Host, Rights, Method, Needs, With string
	Session, Name, Adapter, Plugin, Program, Path, What string
	Secret                                              bool
	Outcome                                             string
}

// brief is what most tests compare.
func (l *auditLine) brief() string {
	s := fmt.Sprintf("%s %s %s", l.Door, l.Method, l.Outcome)
	for _, part := range []string{l.With, l.Session, l.Name} {
		if part != "" {
			s += " " + part
		}
	}
	return s
}

func auditOf(t testing.TB, path string) (lines []auditLine, text string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for one := range strings.Lines(string(b)) {
		var l auditLine
		if err := json.Unmarshal([]byte(one), &l); err != nil || !strings.HasSuffix(one, "\n") {
			t.Fatalf("%q: %v", one, err)
		}
		lines = append(lines, l)
	}
	return lines, string(b)
}

// TestAudit: who does what is in the file by whichever door they come, what was typed is in it by
// its length alone, a secret not even so, and looking is not in it.
func TestAudit(t *testing.T) {
	t.Parallel()
	const typed, secret = "echo of a command", "marble-otter-lantern-71"
	home, dir := filepath.Join(t.TempDir(), "home"), t.TempDir()
	path, readers, root := filepath.Join(dir, "audit"), filepath.Join(dir, "mine", "readers"), filepath.Join(dir, "root")
	p := ptywright(t, "serve", "--audit", path, "--read-only-socket", readers, "--mcp-http", "127.0.0.1:0", "--unterm", "--root", root, "--port", "0")
	p.Env = append(p.Env, "PTYWRIGHT_MCP_TOKEN=of-the-test", "HOME="+dir, "SHELL=/bin/sh", "PS1=$ ")
	l := listenProgram(t, p, home)
	name := p.Stderr.Told(t, `serving Unterm's methods as (\S+) `)

	own := l.dial()
	own.call("server.set_client", obj{"name": "the test", "host": "web-3"}, nil)
	c := own.with(client.Config{Name: "build", Program: "sh", Args: []string{"-c",
		"echo ready; read x; stty -echo; printf 'Password: '; read y; stty echo; echo done; exec cat"}, Env: map[string]string{"API_TOKEN": secret}})
	c.wait(client.Text("ready"))
	c.text(typed + "\n")
	c.wait(client.Text("Password:"))
	c.text(secret + "\n")
	c.wait(client.Text("done"))
	c.resize(30, 90)
	own.call("session.lease", obj{"session": "build", "holder": "Ada password=" + secret}, nil)
	own.call("session.release", obj{"session": c.ID}, nil)
	cast, picture := filepath.Join(dir, "token="+secret+".cast"), filepath.Join(dir, "a.svg")
	var recording struct{ Recording string }
	own.call("session.record_start", obj{"session": c.ID, "path": cast}, &recording)
	own.call("session.record_stop", obj{"recording": recording.Recording}, nil)
	own.call("session.screenshot", obj{"session": c.ID, "path": picture}, nil)
	own.call("session.snapshot", obj{"session": c.ID, "redact": false}, nil)
	own.call("session.snapshot", obj{"session": c.ID}, nil)
	own.call("session.list", obj{"details": true}, nil)
	own.refused(client.CodeInvalidParams, "unknown_session", "session.input", obj{"session": "s99", "action": obj{"type": "text", "value": "x"}})

	r := (&listener{p, readers, t}).dial()
	r.refused(client.CodeDenied, "forbidden", "session.kill", obj{"session": c.ID})
	r.refused(client.CodeDenied, "forbidden", "session.snapshot", obj{"session": c.ID, "redact": false})

	m := httpClient(t, p.Stderr.Told(t, `http://[^ \n]+/mcp`), "of-the-test")
	defer m.Close()
	tool(t, m, "sessions", obj{})
	if r, _ := tool(t, m, "send", obj{"session": c.ID, "text": "abc"}); r == nil {
		t.Error("send failed")
	}

	u := &untermServer{t: t, program: p, root: root}
	u.record = u.file("instances/" + name + ".json")
	n := u.client(t)
	n.call("session.list", nil)
	n.call("session.input", obj{"id": 1, "input": "four"})

	var made struct{ TerminalID string }
	own.call("terminal/create", obj{"sessionId": "x", "command": "echo " + secret}, &made)
	own.call("terminal/release", obj{"sessionId": "x", "terminalId": made.TerminalID}, nil)
	own.call("session.kill", obj{"session": c.ID}, nil)
	own.call("session.close", obj{"session": c.ID}, nil)
	own.call("server.set_rights", obj{"rights": "read"}, nil)
	own.refused(client.CodeDenied, "forbidden", "session.create", obj{"program": "true"})
	n.conn.Close()
	l.end()

	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	lines, text := auditOf(t, path)
	var got []string
	last := lines[0].Time
	for i, l := range lines {
		if got = append(got, l.brief()); l.UID == nil && l.Door != "mcp-http" || l.UID != nil && *l.UID != os.Geteuid() || l.Lost != 0 || l.Time.Before(last) && i > 0 && l.Door == lines[i-1].Door {
			t.Errorf("line %d: %+v", i, l)
		}
		last = l.Time
		switch {
		case l.Door == "socket" && (l.Client != "the test" || l.Host != "web-3" || l.By != "the test 1" || l.PID == nil):
			t.Errorf("line %d: %+v", i, l)
		case l.Door == "mcp-http" && l.Client != "test":
			t.Errorf("line %d: %+v", i, l)
		}
	}
	want := []string{
		" serve ok", "socket session.create ok s2 build",
		"socket session.input ok s2 build", "socket session.input ok s2 build", "socket session.resize ok s2 build",
		"socket session.lease ok s2 build", "socket session.release ok s2 build", "socket session.record_start ok s2 build",
		"socket session.record_stop ok s2 build", "socket session.screenshot ok path s2 build", "socket session.snapshot ok redact false s2 build",
		"socket session.input unknown_session s99",
		"read-only-socket session.kill forbidden", "read-only-socket session.snapshot forbidden redact false",
		"mcp-http send ok s2 build", "unterm session.input ok s2 build",
		"socket terminal/create ok s4", "socket terminal/release ok s4", "socket session.kill ok s2 build", "socket session.close ok s2 build",
		"socket server.set_rights ok", "socket session.create forbidden", " serve ok",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("the audit says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, x := range []struct {
		line int
		ok   bool
	}{
		{1, lines[1].Program == "sh"}, {2, lines[2].Bytes == int64(len(typed)+1) && !lines[2].Secret},
		{3, lines[3].Secret && lines[3].Bytes == 0}, {4, lines[4].What == "30 rows, 90 columns"},
		{5, strings.Contains(lines[5].What, "Ada") && strings.Contains(lines[5].What, "[REDACTED]")},
		{7, strings.HasSuffix(lines[7].Path, "token=[REDACTED]")}, {9, lines[9].Path == picture}, {12, lines[12].Rights == "read" && lines[12].Needs == "admin"},
		{14, lines[14].Bytes == 3}, {15, lines[15].Bytes == 4}, {16, lines[16].Program == "echo"}, {20, lines[20].What == "read"},
	} {
		if !x.ok {
			t.Errorf("line %d: %+v", x.line, lines[x.line])
		}
	}
	for _, bad := range []string{secret, typed, "of-the-test", "four", "abc"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q is in the audit:\n%s", bad, text)
		}
	}
}

// TestAuditOfManyClients: a thousand at once, and what each did is in the file, once, or counted.
func TestAuditOfManyClients(t *testing.T) {
	t.Parallel()
	clients := times(100, 1000)
	path := filepath.Join(t.TempDir(), "audit")
	l := listenProgram(t, ptywright(t, "serve", "--audit", path), filepath.Join(t.TempDir(), "home"))
	c := l.dial().sh("stty raw -echo; echo ready; exec cat >/dev/null")
	c.wait(client.Text("ready"))
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			s, err := client.Dial(t.Context(), l.path)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			err = s.Call(t.Context(), "server.set_client", obj{"name": fmt.Sprint("c", i)}, nil)
			if err == nil {
				err = s.Call(t.Context(), "session.input", obj{"session": c.ID, "action": obj{"type": "text", "value": strings.Repeat("x", i%7+1)}}, nil)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	l.end()
	lines, _ := auditOf(t, path)
	seen, lost := map[string]int64{}, int64(0)
	for _, x := range lines {
		if lost += x.Lost; x.Method == "session.input" {
			if seen[x.Client] > 0 {
				t.Errorf("%s is in it twice", x.Client)
			}
			seen[x.Client] = x.Bytes
		}
	}
	for i := range clients {
		if got := seen[fmt.Sprint("c", i)]; got != int64(i%7+1) && lost == 0 {
			t.Errorf("client %d typed %d bytes", i, got)
		}
	}
	if lost > 0 {
		t.Errorf("%d lines are lost, of a queue that holds them all", lost)
	}
}

// TestAuditRotates: what rotates logs renames the file and says so; nothing is lost between the two.
func TestAuditRotates(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit")
	l := listenProgram(t, ptywright(t, "serve", "--audit", path), filepath.Join(t.TempDir(), "home"))
	s := l.dial()
	s.sh("exit 0").exited()
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if err := l.program.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	poll(t, func() string {
		if _, err := os.Stat(path); err != nil {
			return err.Error()
		}
		return ""
	})
	s.sh("exit 0").exited()
	l.end()
	before, _ := auditOf(t, path+".1")
	after, _ := auditOf(t, path)
	var got []string
	for _, x := range append(before, after...) {
		got = append(got, x.Method+x.Session)
	}
	if want := "serve session.creates1 session.creates2 serve"; strings.Join(got, " ") != want || len(after) == 0 {
		t.Errorf("%v, %d of them after", got, len(after))
	}
}

// TestAuditIsRefused: a server that was to write one and cannot does not start.
func TestAuditIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "file"), link); err != nil {
		t.Fatal(err)
	}
	for path, why := range map[string]string{link: "is a link", "/dev/full": "not a regular file", filepath.Join(dir, "no", "file"): "no such file", dir: "directory"} {
		p := ptywright(t, "serve", "--stdio", "--audit", path)
		if _, code := p.Run(""); code != 1 || !bytes.Contains([]byte(p.Stderr.String()), []byte(why)) || !strings.Contains(p.Stderr.String(), "--audit") {
			t.Errorf("%s: exit %d, %s", path, code, p.Stderr)
		}
	}
}
