//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestUntermPolicy guards commands, and with strict what is typed.
func TestUntermPolicy(t *testing.T) {
	t.Parallel()
	s := startUnterm(t)
	c := s.client(t)
	for _, p := range []map[string]any{{}, {"enabled": true}, {"enabled": true, "blocked_patterns": []string{}}, {"enabled": 1, "blocked_patterns": []string{}, "allowed_patterns": []string{}}} {
		if why := c.refused("policy.set", p); !strings.HasPrefix(why, "Invalid policy: ") {
			t.Errorf("%v: %s", p, why)
		}
	}
	if why := c.refused("policy.set", map[string]any{"enabled": true}); why != "Invalid policy: missing field `blocked_patterns`" {
		t.Error(why)
	}
	if r := c.call("policy.check", map[string]any{"command": "rm -rf x"}); r["allowed"] != true || r["reason"] != "Policy disabled" {
		t.Errorf("at the beginning: %v", r)
	}
	set := func(strict bool, blocked, allowed []string) {
		t.Helper()
		if r := c.call("policy.set", map[string]any{"enabled": true, "blocked_patterns": blocked, "allowed_patterns": allowed, "strict": strict}); r["set"] != true {
			t.Errorf("set: %v", r)
		}
	}
	set(false, []string{"rm -rf"}, []string{})
	if r := c.call("policy.check", map[string]any{"command": "ls"}); r["allowed"] != true || len(r) != 1 {
		t.Errorf("clean: %v", r)
	}
	if r := c.call("policy.check", map[string]any{"command": "rm -rf x"}); r["allowed"] != false || r["reason"] != "Blocked by pattern: rm -rf" {
		t.Errorf("blocked: %v", r)
	}
	for _, method := range []string{"exec.run", "exec.run_wait"} {
		if why := c.refused(method, at("command", "rm -rf x")); why != "Command blocked by policy: rm -rf" {
			t.Errorf("%s: %s", method, why)
		}
	}
	if why := c.refused("orchestrate.launch", map[string]any{"command": "rm -rf x"}); why != "Command blocked by policy: rm -rf" || len(c.call("session.list", nil)["sessions"].([]any)) != 1 {
		t.Errorf("launch: %s", why)
	}
	if r := c.call("orchestrate.broadcast", map[string]any{"command": "rm -rf x", "sessions": []string{"0"}}); r["results"].([]any)[0].(map[string]any)["error"] != "Command blocked by policy: rm -rf" {
		t.Errorf("broadcast: %v", r)
	}
	c.call("session.input", at("input", "echo rm -rf not strict\r"))
	c.shows(0, "\nrm -rf not strict")

	set(true, []string{"rm -rf"}, []string{})
	c.call("session.input", at("input", "echo r"))
	c.call("session.send_text", at("text", "m -"))
	for _, step := range [][2]string{{"session.input", "rf x\r"}, {"exec.send", "r\x7frf"}, {"session.input", "\x1b[A"}, {"session.input", "\t"}, {"session.input", "x\rrm -rf y\r"}} {
		if why := c.refused(step[0], at("input", step[1])); !strings.HasPrefix(why, "Command blocked by policy: ") {
			t.Errorf("%q: %s", step, why)
		}
	}
	if why := c.refused("exec.run", at("command", "rf z")); why != "Command blocked by policy: rm -rf" { // behind what stands there
		t.Error(why)
	}
	c.call("session.input", at("input", "\x15echo strict-$((6*7))\r"))
	c.shows(0, "strict-42")

	set(true, []string{}, []string{"echo ", "make"})
	if r := c.call("policy.check", map[string]any{"command": "ls"}); r["allowed"] != false {
		t.Errorf("not allowed: %v", r)
	}
	if why := c.refused("exec.run", at("command", "ls")); !strings.HasPrefix(why, "Command blocked by policy: ") {
		t.Error(why)
	}
	c.call("session.input", at("input", "ls"))
	if why := c.refused("session.input", at("input", "\r")); !strings.HasPrefix(why, "Command blocked by policy: ") {
		t.Error(why)
	}
	c.call("session.input", at("input", "\x03\r"))
	if r := c.call("exec.run_wait", at("command", "echo allowed")); r["output"] != "allowed\n" {
		t.Errorf("allowed: %v", r)
	}

	r := c.ask("session.audit_log", map[string]any{"limit": 500})["result"].([]any)
	seen := map[string]bool{}
	for _, e := range r {
		e := e.(map[string]any)
		seen[fmt.Sprint(e["method"], " ", e["detail"], " ", e["allowed"], " ", e["session_id"])] = true
		if _, err := time.Parse(time.RFC3339, e["timestamp"].(string)); err != nil {
			t.Error(err)
		}
	}
	for _, want := range []string{"policy.set enabled=true true <nil>", "exec.run rm -rf x false 0", "exec.run_wait echo allowed true 0", "exec.run ls false 0"} {
		if !seen[want] {
			t.Errorf("not in the audit log: %s; there are %v", want, seen)
		}
	}
	if r[0].(map[string]any)["method"] != "exec.run_wait" {
		t.Errorf("the newest is %v", r[0])
	}
	if r := c.ask("session.audit_log", map[string]any{"session_id": "77"})["result"].([]any); len(r) != 0 {
		t.Errorf("of another pane: %v", r)
	}
}

// TestUntermRecords in Unterm's form.
func TestUntermRecords(t *testing.T) {
	t.Parallel()
	s := startUnterm(t)
	c := s.client(t)
	dir := t.TempDir()
	c.call("exec.run_wait", at("command", "cd '"+dir+"'"))
	if r := c.call("session.recording_status", at()); r["enabled"] != false {
		t.Errorf("status: %v", r)
	}
	if why := c.refused("session.recording_stop", at()); why != "No active recording for pane 0" {
		t.Error(why)
	}
	began := c.call("session.recording_start", at())
	if why := c.refused("session.recording_start", at()); why != "Recording already active for pane 0" {
		t.Error(why)
	}
	c.call("exec.run_wait", at("command", "echo TOKEN=abc123"))
	if r := c.call("session.recording_status", at()); r["enabled"] != true || r["recording"] != true || r["session_id"] != began["session_id"] || r["bytes"] == nil || r["block_count"] == nil {
		t.Errorf("status: %v", r)
	}
	for range 2 {
		if r := c.call("session.recording_attach_trace", at("trace_id", "t1")); !reflect.DeepEqual(r["trace_ids"], []any{"t1"}) {
			t.Errorf("trace: %v", r)
		}
	}
	stopped := c.call("session.recording_stop", at())
	if stopped["session_id"] != began["session_id"] || stopped["exit_reason"] != "recording_stopped" || stopped["md_path"] != began["md_path_when_done"] {
		t.Errorf("stopped: %v", stopped)
	}
	markdown := c.call("session.recording_read", map[string]any{"session_id": began["session_id"]})["markdown"].(string)
	if strings.Contains(markdown, "abc123") || !strings.Contains(markdown, "TOKEN= <redacted>") {
		t.Errorf("the secret: %s", markdown)
	}
	var keys []string
	for _, line := range strings.Split(strings.Split(markdown, "\n---\n")[0], "\n")[1:] {
		key, _, _ := strings.Cut(line, ":")
		keys = append(keys, key)
	}
	if want := strings.Fields("unterm_session_id tab_id project_path project_slug shell hostname unterm_version started_at ended_at exit_reason osc133_active block_count total_lines bytes_raw trace_ids redaction_active redaction_count parent_session_id"); !slices.Equal(keys, want) {
		t.Errorf("front matter %v", keys)
	}
	for _, path := range []string{began["log_path"].(string), stopped["md_path"].(string)} {
		b, err := os.ReadFile(path)
		if err != nil || bytes.Contains(b, []byte("abc123")) || bytes.Contains(b, []byte(base64.StdEncoding.EncodeToString([]byte("abc123"))[:7])) || !strings.HasPrefix(path, dir+"/.unterm/sessions/") {
			t.Errorf("%s: %v, %.300s", path, err, b)
		}
	}
	list := c.ask("session.recording_list", nil)["result"].([]any)
	if len(list) != 1 || list[0].(map[string]any)["unterm_session_id"] != began["session_id"] || len(list[0].(map[string]any)) != 10 {
		t.Errorf("list: %v", list)
	}
	if why := c.refused("session.recording_read", map[string]any{"session_id": "x"}); why != "Unknown session_id x" {
		t.Error(why)
	}
	exported := c.call("session.export_markdown", at("path", filepath.Join(dir, "now.md")))
	if b, err := os.ReadFile(exported["path"].(string)); err != nil || bytes.Contains(b, []byte("abc123")) || exported["bytes"] != float64(len(b)) {
		t.Errorf("export: %v, %v", exported, err)
	}
}

// TestUntermCaptures draws what sessions show, and says so.
func TestUntermCaptures(t *testing.T) {
	t.Parallel()
	s := startUnterm(t)
	c := s.client(t)
	c.bare(`printf '\033]2;other\007\033]52;c;Y29waWVk\007ready'; exec sleep 1000`)
	c.shows(1, "ready")
	for method, p := range map[string]map[string]any{"capture.window": {"title": "0", "include_base64": true}, "capture.screen": {"include_base64": true, "include_window": true}, "capture.select": nil} {
		r := c.call(method, p)
		image := r["image"].(map[string]any)
		b, err := os.ReadFile(image["path"].(string))
		if err != nil {
			t.Fatal(err)
		}
		size, err := png.DecodeConfig(bytes.NewReader(b))
		if err != nil || image["width"] != float64(size.Width) || image["height"] != float64(size.Height) || image["mode"] != "terminal_render" || r["type"] != "image/png" {
			t.Errorf("%s: %v, %v", method, image, err)
		}
		if inline, _ := image["base64"].(string); p["include_base64"] == true && inline != base64.StdEncoding.EncodeToString(b) {
			t.Errorf("%s: what is inline is another picture", method)
		}
	}
	if r := c.call("capture.window", map[string]any{"title": "oth"}); r["session_id"] != "1" || r["text_snapshot"] != true || !strings.HasPrefix(r["screen"].(string), "ready") {
		t.Errorf("by title: %v", r)
	}
	if r := c.call("capture.window", nil); r["session_id"] != "0" {
		t.Errorf("the first: %v", r["session_id"])
	}
	if why := c.refused("capture.window", map[string]any{"title": "no such"}); why != "No matching window found" {
		t.Error(why)
	}
	if r := c.call("capture.screen", nil); len(r["captures"].([]any)) != 2 || r["text_snapshot"] != true {
		t.Errorf("all: %v", r)
	}
	if r := c.call("capture.select", nil); r["mode"] != "screen_fallback" || r["message"] == nil {
		t.Errorf("select: %v", r)
	}
	if r := c.call("capture.clipboard", nil); r["type"] != "text" || r["content"] != "copied" {
		t.Errorf("clipboard: %v", r)
	}
	c.call("session.destroy", map[string]any{"id": 1})
	if why := c.refused("capture.clipboard", nil); !strings.HasPrefix(why, "Clipboard is empty") {
		t.Error(why)
	}
}

// TestUntermProxies, workspaces, variables and what the server says of itself.
func TestUntermSettings(t *testing.T) {
	t.Parallel()
	s := startUnterm(t)
	c := s.client(t)
	nodes := []map[string]any{{"name": "a", "url": "http://127.0.0.1:1"}, {"name": "b", "url": "socks5://127.0.0.1:2"}}
	if r := c.call("proxy.configure", map[string]any{"nodes": nodes, "socks_proxy": "socks5://127.0.0.1:3"}); r["configured"] != true || r["status"].(map[string]any)["node_count"] != 2.0 {
		t.Errorf("configure: %v", r)
	}
	if r := c.call("proxy.switch", map[string]any{"node_name": "a"}); r["switched"] != true || r["current_node"] != "a" || r["http_proxy"] != "http://127.0.0.1:1" {
		t.Errorf("switch: %v", r)
	}
	env := c.call("proxy.env", nil)
	if vars := env["env"].(map[string]any); env["enabled"] != true || len(vars) != 4 || vars["HTTPS_PROXY"] != "http://127.0.0.1:1" || vars["ALL_PROXY"] != "socks5://127.0.0.1:3" {
		t.Errorf("env: %v", env)
	}
	inside := c.call("session.create", nil)
	if r := c.call("exec.run_wait", map[string]any{"id": inside["id"], "command": "echo $HTTP_PROXY $https_proxy"}); r["output"] != "http://127.0.0.1:1 http://127.0.0.1:1\n" {
		t.Errorf("in a session: %v", r)
	}
	if why := c.refused("proxy.switch", map[string]any{"node_name": "x"}); why != "Proxy node 'x' not found" {
		t.Error(why)
	}
	c.call("proxy.disable", nil)
	if env := c.call("proxy.env", nil); env["enabled"] != false || len(env["env"].(map[string]any)) != 0 || len(c.call("proxy.nodes", nil)["nodes"].([]any)) != 2 {
		t.Errorf("disabled: %v", env)
	}

	dir := t.TempDir()
	c.call("exec.run_wait", at("command", "cd '"+dir+"'"))
	if r := c.call("workspace.save", map[string]any{"name": "w"}); r["saved"] != true || r["sessions"] != 2.0 {
		t.Errorf("save: %v", r)
	}
	for _, name := range []any{"../w", "", ".w", "a/b", "a\x00b", nil} {
		c.refused("workspace.save", map[string]any{"name": name})
	}
	if why := c.refused("workspace.restore", map[string]any{"name": "x"}); why != "Workspace 'x' not found" {
		t.Error(why)
	}
	if r := c.call("workspace.list", nil); !reflect.DeepEqual(r["workspaces"], []any{map[string]any{"name": "w"}}) {
		t.Errorf("list: %v", r)
	}
	if r := c.call("workspace.restore", map[string]any{"name": "w"}); r["restored"] != true || len(r["workspace"].(map[string]any)["sessions"].([]any)) != 2 || r["recreated"] != nil {
		t.Errorf("restore: %v", r)
	}
	again := c.call("workspace.restore", map[string]any{"name": "w", "recreate": true})["recreated"].([]any)
	first := again[0].(map[string]any)["session"].(map[string]any)["id"]
	if cwd := c.call("session.cwd", map[string]any{"id": first}); len(again) != 2 || cwd["cwd"] != "file://"+dir {
		t.Errorf("recreated: %v, in %v", again, cwd)
	}

	if r := c.call("session.env", at("name", "TERM")); r["value"] != "xterm-256color" {
		t.Errorf("env: %v", r)
	}
	if r := c.call("session.set_env", at("name", "A_VARIABLE", "value", "it's $HOME")); r["status"] != "ok" {
		t.Errorf("set_env: %v", r)
	}
	if r := c.call("exec.run_wait", at("command", `sh -c 'echo "$A_VARIABLE"'`)); r["output"] != "it's $HOME\n" {
		t.Errorf("in a child: %v", r)
	}
	if r := c.call("session.env", at("name", "A_VARIABLE")); r["value"] != "it's $HOME" {
		t.Errorf("env: %v", r)
	}
	c.call("session.set_env", at("name", "MY_PASSWORD", "value", "Kq7abcdefgh"))
	if r := c.call("session.env", at("name", "MY_PASSWORD")); r["value"] == "Kq7abcdefgh" {
		t.Errorf("a secret: %v", r)
	}
	c.refused("session.set_env", at("name", "A=B", "value", "x"))
	if r := c.call("session.env", map[string]any{}); len(r) != 2 || r["message"] == "" {
		t.Errorf("env of no session: %v", r)
	} else if value, there := r["value"]; !there || value != nil {
		t.Errorf("env of no session: %v", r)
	}
	if r := c.call("session.set_env", map[string]any{"name": "A", "value": "x"}); r["status"] != "ok" || r["message"] == "" {
		t.Errorf("set_env of no session: %v", r)
	}
	c.refused("session.set_env", at())

	if r := c.call("server.info", nil); r["name"] != "Unterm MCP Server" || r["protocol"] != "json-rpc-2.0" || r["server"] != "ptywright" {
		t.Errorf("info: %v", r)
	}
	if r := c.call("server.health", nil); r["status"] != "ok" || r["mcp"].(map[string]any)["port"] != s.record["mcp_port"] {
		t.Errorf("health: %v", r)
	}
	if r := c.call("system.info", nil); r["name"] != "Unterm" || r["active_sessions"] != 4.0 {
		t.Errorf("system: %v", r)
	}
	sizes := map[string]int{}
	for space, names := range c.call("server.capabilities", nil) {
		sizes[space] = len(names.([]any))
	}
	if want := map[string]int{"session": 17, "exec": 6, "screen": 6, "workspace": 3, "capture": 4, "proxy": 7, "governance": 6, "system": 2, "instance": 4}; !reflect.DeepEqual(sizes, want) {
		t.Errorf("capabilities: %v", sizes)
	}
	if why := c.refused("system.launch_admin", nil); why != "Administrator launch is only supported on Windows" {
		t.Error(why)
	}
	if r := c.call("instance.focus", nil); r["ok"] != false || r["note"] == nil {
		t.Errorf("nothing can be raised: %v", r)
	}
	for _, title := range []any{"x", "", "y", nil} {
		r := c.call("instance.set_title", map[string]any{"title": title})
		want := title
		if title == "" {
			want = nil
		}
		if file := s.file("instances/" + s.name + ".json"); r["ok"] != true || r["title"] != want || file["title"] != want || c.call("instance.info", nil)["title"] != want {
			t.Errorf("title %v: %v, %v", title, r, file)
		}
	}
	list := c.call("instance.list", nil)["instances"].([]any)
	if one := list[0].(map[string]any); len(list) != 1 || one["id"] != "alpha" || one["auth_token"] != nil || len(one) != 9 {
		t.Errorf("instances: %v", list)
	}
	if r := c.call("instance.info", nil); r["auth_token"] != s.token() {
		t.Errorf("instance: %v", r)
	}
}

// TestUntermSelftest is true, and says so when it is not.
func TestUntermSelftest(t *testing.T) {
	t.Parallel()
	s := startUnterm(t)
	c := s.client(t)
	names := func(r map[string]any) (all []string, failed []string) {
		for _, e := range r["checks"].([]any) {
			e := e.(map[string]any)
			all = append(all, e["name"].(string))
			if e["ok"] != true {
				failed = append(failed, e["name"].(string))
			}
		}
		return all, failed
	}
	r := c.call("selftest.run", map[string]any{"session_id": "0"})
	all, failed := names(r)
	var expected []string // to fail
	if runtime.GOOS != "windows" {
		expected = []string{"system.launch_admin"}
	}
	if want := strings.Fields("mux.available server.health server.capabilities policy.check system.launch_admin proxy.status capture.window session.status screen.text screen.detect_errors session.recording_status"); !slices.Equal(all, want) || r["ok"] != (expected == nil) || !slices.Equal(failed, expected) {
		t.Errorf("%v failed of %v: %v", failed, all, r)
	}
	for _, e := range r["checks"].([]any) { // each tells its method's whole answer, or the error
		detail := e.(map[string]any)["detail"].(map[string]any)
		var want string
		switch name := e.(map[string]any)["name"]; {
		case name == "system.launch_admin" && expected != nil:
			if detail["error"] != "Administrator launch is only supported on Windows" {
				t.Errorf("%v: %v", name, detail)
			}
			continue
		case name == "mux.available", name == "server.health":
			want = "terminal"
		case name == "server.capabilities":
			want = "governance"
		default:
			continue
		}
		if detail[want] == nil {
			t.Errorf("the answer has no %s: %v", want, detail)
		}
	}
	r = c.call("selftest.run", map[string]any{"session_id": "77"})
	if _, failed := names(r); r["ok"] != false || !slices.Equal(failed, append(expected, "session.status", "screen.text", "screen.detect_errors")) {
		t.Errorf("without its session: %v", failed)
	}
	// A file where the pictures' folder has to be.
	os.RemoveAll(filepath.Join(s.root, "screenshots"))
	if err := os.WriteFile(filepath.Join(s.root, "screenshots"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := c.call("selftest.run", nil); r["ok"] != false {
		t.Errorf("a picture that cannot be written: %v", r)
	}
	b, _ := json.Marshal(r)
	if strings.Contains(string(b), s.token()) {
		t.Error("it tells the token")
	}
}
