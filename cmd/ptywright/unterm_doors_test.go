//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestUntermBesideTheSocket: two doors to the same sessions.
func TestUntermBesideTheSocket(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	root := filepath.Join(home, "root")
	p := ptywright(t, "serve", "--socket", filepath.Join(home, "socket"), "--unterm", "--root", root, "--port", "0")
	p.Env = append(p.Env, "HOME="+home, "SHELL=/bin/bash")
	s := untermProgram(t, p, root)
	c := s.client(t)
	n, err := client.Dial(t.Context(), filepath.Join(home, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()

	made, err := n.Spawn(t.Context(), client.Config{Program: "sh", Args: []string{"-c", "stty -echo -icanon; echo ready; exec cat"}})
	if err != nil {
		t.Fatal(err)
	}
	list := c.call("session.list", nil)["sessions"].([]any)
	if len(list) != 2 || list[1].(map[string]any)["id"] != 1.0 {
		t.Fatalf("what another door made: %v", list)
	}
	if infos, err := n.Sessions(t.Context()); err != nil || len(infos) != 2 {
		t.Errorf("what this door made: %v, %v", infos, err)
	}

	// Bytes of one write never mix with another's.
	c.shows(1, "ready")
	var both sync.WaitGroup
	const each = 50
	both.Go(func() {
		for range each {
			c.call("session.input", map[string]any{"id": 1, "input": strings.Repeat("a", 30) + "\n"})
		}
	})
	both.Go(func() {
		for range each {
			if err := made.Send(t.Context(), strings.Repeat("b", 30)+"\n"); err != nil {
				t.Error(err)
			}
		}
	})
	both.Wait()
	c.call("session.input", map[string]any{"id": 1, "input": "last\n"})
	c.shows(1, "\nlast")
	for _, row := range c.call("session.read_tail", map[string]any{"id": 1, "lines": 1000})["lines"].([]any) {
		if row != strings.Repeat("a", 30) && row != strings.Repeat("b", 30) && row != "last" && row != "ready" {
			t.Errorf("a row of both: %q", row)
		}
	}

	// Who holds a session is everybody's business.
	if err := n.Call(t.Context(), "session.lease", map[string]any{"session": made.ID, "holder": "Ada"}, nil); err != nil {
		t.Fatal(err)
	}
	if why := c.refused("session.input", map[string]any{"id": 1, "input": "x"}); !strings.Contains(why, "Ada") {
		t.Errorf("typed into what another holds: %s", why)
	}
}

// TestUntermHidesSecrets: what a program shows leaves covered, by every method and into every file;
// the token is in its files alone.
func TestUntermHidesSecrets(t *testing.T) {
	t.Parallel()
	s := startUnterm(t)
	c := s.client(t)
	const secret, word = "canary0123456789abcdef", "trustno1" // a word is hidden in its own session only
	dir := t.TempDir()
	c.call("exec.run_wait", at("command", "mkdir '"+dir+"/token="+secret+"'; cd '"+dir+"/token="+secret+"'"))
	c.call("session.recording_start", at())
	c.call("exec.run_wait", at("command", "printf '\\033]2;password="+secret+"\\007'; printf '\\033]52;c;%s\\007' $(printf password="+secret+" | base64 -w0)"))
	c.call("exec.run_wait", at("command", "cat '"+filepath.Join(s.root, "auth_token")+"'; echo; seq -f 'password: "+secret+" error: %g' 100"))
	c.call("session.set_env", at("name", "API_TOKEN", "value", secret))
	c.call("session.set_env", at("name", "DB_PASSWORD", "value", word))
	for _, line := range []string{"error: " + secret + " for token=" + secret, "it is " + word} {
		c.call("session.input", at("input", "echo '"+line+"'\r"))
	}
	all := map[string][]map[string]any{
		"session.list": {nil}, "session.get": {at()}, "session.history": {at("limit", 1000)}, "session.read_tail": {at()}, "session.cwd": {at()},
		"session.env": {at(), at("name", "API_TOKEN")}, "session.audit_log": {nil}, "session.idle": {at()}, "exec.status": {at()},
		"session.recording_status": {at()}, "session.recording_list": {nil}, "session.export_markdown": {at(), at("path", filepath.Join(dir, "x.md"))},
		"screen.read": {at()}, "screen.text": {at()}, "screen.scroll": {at()}, "screen.search": {at("pattern", "a")}, "screen.detect_errors": {at()}, "screen.cursor": {at()},
		"capture.screen": {nil}, "capture.window": {nil}, "capture.select": {nil}, "capture.clipboard": {nil},
		"exec.run_wait":  {at("command", "echo token="+secret), at("command", "env; history"), at("command", "echo $DB_PASSWORD; printf '\\033]52;c;%s\\007' $(printf %s $DB_PASSWORD | base64)")},
		"workspace.save": {{"name": "w"}}, "workspace.restore": {{"name": "w"}}, "workspace.list": {nil},
		"instance.list": {nil}, "selftest.run": {{"session_id": "0"}}, "server.info": {nil}, "server.health": {nil}, "system.info": {nil},
		"session.create":  {{"program": "token=" + secret}, {"cwd": "/token=" + secret}, {"program": "x", "env": map[string]string{"a=b": "token=" + secret}}},
		"proxy.configure": {{"http_proxy": "http://user:" + secret + "@127.0.0.1:1", "nodes": []any{map[string]any{"name": "n", "url": "http://user:" + secret + "@127.0.0.1:1"}}}},
		"proxy.status":    {nil}, "proxy.nodes": {nil}, "proxy.switch": {{"node_name": "n"}, {"node_name": "token=" + secret}}, "proxy.speedtest": {nil}, "proxy.env": {nil}, "proxy.disable": {nil},
		"policy.set":             {{"enabled": "token=" + secret}},
		"orchestrate.launch":     {{"command": "echo token=" + secret}},
		"no.token=" + secret:     {nil},
		"signal.send":            {at("signal", "token="+secret)},
		"session.recording_stop": {at()},
	}
	for round := range 2 {
		for method, calls := range all {
			for _, p := range calls {
				if r := fmt.Sprint(c.ask(method, p)); strings.Contains(r, secret) || strings.Contains(r, word) || strings.Contains(r, s.token()) {
					t.Errorf("round %d, %s %v: %.600s", round, method, p, r)
				}
			}
		}
	}
	if why := c.refused("screen.text", at("redact", false)); !strings.Contains(why, "--trust-raw") {
		t.Errorf("raw: %s", why)
	}
	own := map[string]bool{"auth_token": true, "server.json": true, "active.json": true, s.name + ".json": true}
	for _, top := range []string{s.root, dir} {
		filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(path)
			text := string(b)
			if err == nil && d.Name() != "proxy.json" && (strings.Contains(text, secret) || strings.Contains(text, word)) || strings.Contains(text, s.token()) && !own[d.Name()] {
				t.Errorf("%s holds it: %v", path, err)
			}
			if info, err := d.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
			return nil
		})
	}
	if said := s.program.Stderr.String(); strings.Contains(said, secret) {
		t.Errorf("standard error: %s", said)
	}
	cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", s.program.Process.Pid))
	if strings.Contains(string(cmdline), s.token()) {
		t.Error("the token is in the arguments")
	}
}

// TestUntermTrustRaw: with the operator's leave a request may ask for what is hidden.
func TestUntermTrustRaw(t *testing.T) {
	t.Parallel()
	s := startUnterm(t, "--trust-raw")
	c := s.client(t)
	c.call("exec.run_wait", at("command", "echo token=Kq7abcdefgh0123"))
	for redact, want := range map[any]bool{nil: false, true: false, false: true} {
		if r := fmt.Sprint(c.call("screen.text", at("redact", redact))["lines"]); strings.Contains(r, "Kq7abcdefgh0123") != want {
			t.Errorf("redact %v: %s", redact, r)
		}
	}
}

// TestUntermManyClients at once, each in its own pane.
func TestUntermManyClients(t *testing.T) {
	t.Parallel()
	s := startUnterm(t)
	var all sync.WaitGroup
	for i := range times(20, 100) {
		all.Go(func() {
			c := s.client(t)
			pane := c.call("session.create", map[string]any{"program": "/bin/sh"})["id"]
			for j := range 3 {
				r := c.call("exec.run_wait", map[string]any{"id": pane, "command": fmt.Sprintf("echo %d-%d", i, j), "timeout_ms": hang.Milliseconds() / 2})
				if r["output"] != fmt.Sprintf("%d-%d\n", i, j) {
					t.Errorf("%v", r)
				}
			}
			c.call("session.destroy", map[string]any{"id": pane})
		})
	}
	all.Wait()
	if list := s.client(t).call("session.list", nil)["sessions"].([]any); len(list) != 1 {
		t.Errorf("%d are left", len(list))
	}
}

// TestUntermEndsWhileItWaits: a wait is answered and nothing is left.
func TestUntermEndsWhileItWaits(t *testing.T) {
	t.Parallel()
	s := startUnterm(t)
	c := s.client(t)
	c.raw(`{"id":1,"method":"exec.run_wait","params":{"id":0,"command":"echo begun-$((6*7)); sleep 1000","timeout_ms":600000}}` + "\n")
	s.client(t).shows(0, "begun-42")
	began := time.Now()
	s.end()
	r := c.reply()
	if e, _ := r["error"].(map[string]any); e == nil || !strings.Contains(fmt.Sprint(e["message"]), "stopping") {
		t.Errorf("the wait: %v", r)
	}
	if took := time.Since(began); took > hang/2 {
		t.Errorf("it took %v", took)
	}
}
