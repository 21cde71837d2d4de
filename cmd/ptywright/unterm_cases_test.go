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
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// at is the parameters of a request about pane 0.
func at(more ...any) map[string]any {
	p := map[string]any{"id": 0}
	for i := 0; i < len(more); i += 2 {
		p[more[i].(string)] = more[i+1]
	}
	return p
}

// bare is a pane in which sh runs a script.
func (c *untermClient) bare(script string, more ...any) float64 {
	c.t.Helper()
	p := at(append([]any{"program", "/bin/sh", "args", []string{"-c", script}}, more...)...)
	delete(p, "id")
	return c.call("session.create", p)["id"].(float64)
}

// TestUntermEnvelopes: the login, ids, what is no request, and order.
func TestUntermEnvelopes(t *testing.T) {
	s := startUnterm(t)
	c := s.dial(t)
	errorOf := func(r map[string]any) (code float64, message string) {
		e, _ := r["error"].(map[string]any)
		code, _ = e["code"].(float64)
		message, _ = e["message"].(string)
		return code, message
	}
	for _, step := range []struct {
		line, id string
		code     float64
		message  string
	}{
		{`{"id":1,"method":"session.list"}`, "1", -32002, "Not authenticated. Call auth.login first"},
		{`{nope`, "<nil>", -32700, "Parse error:"},
		{`5`, "<nil>", -32002, ""},
		{`[]`, "<nil>", -32002, ""},
		{`{"id":"a","method":"auth.login"}`, "a", -32001, "Invalid auth token"},
		{`{"id":"a","method":"auth.login","params":{"token":5}}`, "a", -32001, "Invalid auth token"},
		{`{"id":"a","method":"auth.login","params":["` + s.token() + `"]}`, "a", -32001, "Invalid auth token"},
		{`{"id":2,"method":"auth.login","params":{"token":"` + s.token() + `"}}`, "2", 0, ""},
		{`{"id":2,"method":"auth.login","params":{"token":"` + s.token() + `"}}`, "2", 0, ""},
		{`{"id":2,"method":"auth.login","params":{"token":"x"}}`, "2", -32001, "Invalid auth token"},
		{`{"id":3,"method":"no.such.method"}`, "3", -32603, "Unknown method: no.such.method"},
		{`5`, "<nil>", -32603, "Unknown method: "},
		{`[]`, "<nil>", -32603, "Unknown method: "},
		{`[{"id":1,"method":"server.info"}]`, "<nil>", -32603, "Unknown method: "},
		{`{"method":"server.info"}`, "<nil>", 0, ""},
		{`{"id":{"x":1},"method":"server.info","params":null}`, "map[x:1]", 0, ""},
		{"\r\n   \r\n" + `{"id":null,"method":"server.info","jsonrpc":"1.0"}` + "\r", "<nil>", 0, ""},
		{`{"id":4,"method":7}`, "4", -32603, "Unknown method: "},
		{"{\"id\":5,\"method\":\"\xff\"}", "<nil>", -32700, "Parse error:"},
		{`{"id":1,"id":6,"method":"x","method":"server.info"}`, "6", 0, ""},
		{`{"id":7,"method":"session.get"}`, "7", -32603, "Missing 'id' or 'session_id' parameter"},
		{`{"id":7,"method":"session.get","params":[0]}`, "7", -32603, "Missing 'id' or 'session_id' parameter"},
		{`{"id":7,"method":"session.get","params":{"id":-1}}`, "7", -32603, "Missing 'id' or 'session_id' parameter"},
		{`{"id":7,"method":"session.get","params":{"id":1.5}}`, "7", -32603, "Missing 'id' or 'session_id' parameter"},
		{`{"id":7,"method":"session.get","params":{"id":true}}`, "7", -32603, "Missing 'id' or 'session_id' parameter"},
		{`{"id":7,"method":"session.get","params":{"id":null,"session_id":"0"}}`, "7", -32603, "Missing 'id' or 'session_id' parameter"},
		{`{"id":7,"method":"session.get","params":{"id":"abc"}}`, "7", -32603, `Invalid session_id: "abc"`},
		{`{"id":7,"method":"session.get","params":{"id":"-1"}}`, "7", -32603, `Invalid session_id: "-1"`},
		{`{"id":7,"method":"session.get","params":{"id":999}}`, "7", -32603, "Session 999 not found"},
		{`{"id":7,"method":"session.get","params":{"id":"18446744073709551615"}}`, "7", -32603, "not found"},
	} {
		c.raw(step.line + "\n")
		r := c.reply()
		code, message := errorOf(r)
		if id := fmt.Sprint(r["id"]); id != step.id || code != step.code || !strings.HasPrefix(message, step.message) && !strings.HasSuffix(message, step.message) {
			t.Errorf("%s: %v", step.line, r)
		}
	}
	c.raw(`{"id":1,"method":"server.info"}` + "\n" + `{"id":1,"method":"exec.run_wait","params":{"id":0,"command":"echo one"}}` + "\n" + `{"id":1,"method":"instance.focus"}` + "\n")
	for _, member := range []string{"name", "output", "note"} {
		if r := c.reply(); r["result"].(map[string]any)[member] == nil {
			t.Errorf("in the place of %s came %v", member, r)
		}
	}
	one := c.call("session.get", map[string]any{"id": 0})
	for _, p := range []map[string]any{{"id": "0"}, {"session_id": 0}, {"session_id": "0"}} {
		if r := c.call("session.get", p); !reflect.DeepEqual(r["id"], one["id"]) || r["cols"] != one["cols"] {
			t.Errorf("%v: %v", p, r)
		}
	}
}

// TestUntermSessions: what panes are, how they come and go.
func TestUntermSessions(t *testing.T) {
	s := startUnterm(t)
	c := s.client(t)
	list := c.call("session.list", nil)["sessions"].([]any)
	zero := list[0].(map[string]any)
	if len(list) != 1 || zero["id"] != 0.0 || zero["cols"] != 120.0 || zero["rows"] != 30.0 || zero["is_dead"] != false || zero["domain_id"] != 0.0 || zero["scrollback_rows"] != nil {
		t.Errorf("at the beginning: %v", list)
	}
	if shell := zero["shell"].(map[string]any); shell["shell_type"] != "bash" || !strings.HasSuffix(shell["process_name"].(string), "bash") || !strings.HasPrefix(shell["cwd"].(string), "file:///") {
		t.Errorf("shell %v", shell)
	}
	made := c.call("session.create", map[string]any{"cols": 100, "rows": 40})
	if made["id"] != 1.0 || made["session_id"] != "1" || made["cols"] != 100.0 || made["rows"] != 40.0 || len(made) != 5 {
		t.Errorf("created %v", made)
	}
	if odd := c.call("session.create", map[string]any{"cols": "100", "rows": 1.5}); odd["cols"] != 120.0 || odd["rows"] != 30.0 {
		t.Errorf("members of another type: %v", odd)
	}
	for _, p := range []map[string]any{{"cols": 0, "rows": 5}, {"cols": 5, "rows": 70000}, {"cwd": "/no/such/folder"}, {"program": "no-such-program"}, {"args": []string{"x"}}} {
		if why := c.refused("session.create", p); strings.Contains(why, "goroutine") {
			t.Errorf("%v: %s", p, why)
		}
	}
	if why := c.refused("session.input", at()); why != "Missing 'input' parameter" {
		t.Errorf("input: %s", why)
	}
	for p, want := range map[string]string{"cols": "Missing 'rows'", "rows": "Missing 'cols'"} {
		if why := c.refused("session.resize", at(p, 5)); why != want {
			t.Errorf("resize: %s", why)
		}
	}
	c.call("session.resize", at("cols", 132, "rows", 50))
	c.call("session.input", at("input", "stty size\r"))
	c.shows(0, "50 132")

	if r := c.call("session.destroy", map[string]any{"id": 1}); r["status"] != "ok" || r["destroyed"] != true {
		t.Errorf("destroy: %v", r)
	}
	if why := c.refused("session.get", map[string]any{"id": 1}); why != "Session 1 not found" {
		t.Errorf("after destroy: %s", why)
	}
	if next := c.call("session.create", nil); next["id"] != 3.0 {
		t.Errorf("a number is used again: %v", next)
	}
	ended := c.bare("echo bye; exit 3")
	c.shows(ended, "bye")
	for deadline := time.Now().Add(hang); c.call("session.get", map[string]any{"id": ended})["is_dead"] != true; {
		if time.Now().After(deadline) {
			t.Fatal("its end is not told")
		}
	}
	if r := c.call("screen.text", map[string]any{"id": ended}); r["lines"].([]any)[0] != "bye" {
		t.Errorf("the last output of a dead pane: %v", r)
	}

	titled := c.bare(`printf '\033]2;a title\007'; exec sleep 1000`)
	for deadline := time.Now().Add(hang); c.call("session.get", map[string]any{"id": titled})["title"] != "a title"; {
		if time.Now().After(deadline) {
			t.Fatal("the title is not told")
		}
	}
	if untitled := c.call("session.get", map[string]any{"id": c.bare("exec sleep 1000")}); untitled["title"] == "" {
		t.Errorf("without a title: %v", untitled)
	}
}

// TestUntermIdle tells a shell at its prompt from what it runs.
func TestUntermIdle(t *testing.T) {
	s := startUnterm(t)
	c := s.client(t)
	until := func(pane any, want bool) {
		t.Helper()
		for deadline := time.Now().Add(hang); ; {
			r, e := c.call("session.idle", map[string]any{"id": pane}), c.call("exec.status", map[string]any{"id": pane})
			if r["idle"] == want && e["status"] == map[bool]string{true: "idle", false: "running"}[want] {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("idle %v: %v, %v", want, r, e)
			}
		}
	}
	sh := c.call("session.create", map[string]any{"program": "/bin/sh"})["id"]
	for _, pane := range []any{0, sh} {
		until(pane, true)
		c.call("exec.run", map[string]any{"id": pane, "command": "sleep 1000"})
		until(pane, false)
		for deadline := time.Now().Add(hang); !strings.HasSuffix(c.call("exec.status", map[string]any{"id": pane})["foreground_process"].(string), "sleep"); {
			if time.Now().After(deadline) { // before it has the terminal, Ctrl+C would be the shell's
				t.Fatal("sleep does not begin")
			}
		}
		c.call("exec.cancel", map[string]any{"id": pane})
		until(pane, true)
	}
	c.call("exec.run", at("command", "read -p asked-$((6*7)) line")) // bash itself is in the foreground
	c.shows(0, "asked-42")
	until(0, false)
	c.call("signal.send", at("signal", "int"))
	until(0, true)

	dir := t.TempDir()
	c.call("exec.run_wait", at("command", "cd '"+dir+"'"))
	if r := c.call("session.cwd", at()); r["cwd"] != "file://"+dir {
		t.Errorf("cwd: %v", r)
	}
	for deadline := time.Now().Add(hang); s.file("instances/" + s.name + ".json")["cwd"] != dir; {
		if time.Now().After(deadline) {
			t.Fatal("the record does not follow the shell")
		}
	}
}

// TestUntermScreen: rows by their numbers.
func TestUntermScreen(t *testing.T) {
	s := startUnterm(t)
	c := s.client(t)
	id := c.bare(`i=1; while [ $i -le 60 ]; do echo "line $i HI  "; i=$((i+1)); done; printf 'ERROR: fatal: x\n   failed at last'; exec sleep 1000`, "rows", 24, "cols", 80)
	pane := map[string]any{"id": id}
	with := func(more ...any) map[string]any {
		p := at(more...)
		p["id"] = id
		return p
	}
	c.shows(id, "failed at last")
	info := c.call("session.get", pane)
	if rows, y := info["scrollback_rows"].(float64), info["cursor"].(map[string]any)["y"].(float64); rows != 62 || y != 61 {
		t.Errorf("get: %v", info)
	}
	read := c.call("screen.read", pane)
	cells := read["cells"].([]any)
	if first := cells[0].(map[string]any); len(cells) != 24 || first["row"] != 38.0 || first["text"] != "line 39 HI" || read["scrollback_rows"] != 62.0 {
		t.Errorf("read: %v", read)
	}
	text := c.call("screen.text", pane)
	if lines, cursor := text["lines"].([]any), text["cursor"].(map[string]any); len(lines) != 24 || lines[0] != "line 39 HI" || cursor["visible"] != nil || cursor["y"] != 61.0 {
		t.Errorf("text: %v", text)
	}
	history := c.call("session.history", with("limit", 10))
	if entries := history["entries"].([]any); history["count"] != 10.0 || entries[0].(map[string]any)["text"] != "line 29 HI" || entries[9].(map[string]any)["text"] != "line 38 HI" {
		t.Errorf("history: %v", history)
	}
	tail := c.call("session.read_tail", with("lines", 2))
	if tail["text"] != "ERROR: fatal: x\n   failed at last" || tail["count"] != 2.0 {
		t.Errorf("tail: %v", tail)
	}
	for _, step := range []struct {
		offset, count, want int
		first               string
	}{{0, 3, 3, "line 1 HI"}, {60, 100, 2, "ERROR: fatal: x"}, {62, 10, 0, ""}, {1 << 40, 10, 0, ""}} {
		r := c.call("screen.scroll", with("offset", step.offset, "count", step.count))
		lines := r["lines"].([]any)
		if len(lines) != step.want || r["count"] != float64(step.want) || r["offset"] != float64(step.offset) || step.want > 0 && lines[0] != step.first {
			t.Errorf("scroll %v: %v", step, r)
		}
	}
	found := c.call("screen.search", with("pattern", "HI", "max_results", 5))
	if matches := found["matches"].([]any); len(matches) != 5 || found["total"] != 5.0 || matches[1].(map[string]any)["row"] != 1.0 || matches[1].(map[string]any)["text"] != "line 2 HI" {
		t.Errorf("search: %v", found)
	}
	if found := c.call("screen.search", with("pattern", "hi")); found["total"] != 0.0 {
		t.Errorf("search is to tell cases apart: %v", found)
	}
	errors := c.call("screen.detect_errors", pane)
	want := []any{
		map[string]any{"row": 60.0, "text": "ERROR: fatal: x", "pattern": "ERROR:"},
		map[string]any{"row": 61.0, "text": "failed at last", "pattern": "failed"},
	}
	if errors["has_errors"] != true || !reflect.DeepEqual(errors["errors"], want) {
		t.Errorf("errors: %v", errors)
	}
	for params, shape := range map[string]string{"5": "BlinkingBar", "0": "Default", "4": "SteadyUnderline"} {
		id := c.bare(`printf '\033[` + params + ` qset'; exec sleep 1000`)
		c.shows(id, "set")
		if r := c.call("screen.cursor", map[string]any{"id": id}); r["shape"] != shape || r["x"] != 3.0 || r["visible"] != true {
			t.Errorf("cursor: %v, want %s", r, shape)
		}
	}
}

// TestUntermRunWait waits for the command, and not for its echo.
func TestUntermRunWait(t *testing.T) {
	s := startUnterm(t)
	c := s.client(t)
	sh := c.call("session.create", map[string]any{"program": "/bin/sh"})["id"]
	marker := regexp.MustCompile(`^__UNTERM_DONE_[0-9a-f]{32}__$`)
	for _, pane := range []any{0, sh} {
		run := func(command string, timeout int) (map[string]any, time.Duration) {
			began := time.Now()
			return c.call("exec.run_wait", map[string]any{"id": pane, "command": command, "timeout_ms": timeout}), time.Since(began)
		}
		r, took := run("sleep 0.5; echo done", 30000)
		if r["output"] != "done" || r["exit_status"] != "completed" || r["timed_out"] != false || !marker.MatchString(r["marker"].(string)) || r["exit_code"] != 0.0 || took < 500*time.Millisecond {
			t.Errorf("pane %v: %v after %v", pane, r, took)
		}
		if r, _ := run("echo a; echo; echo b", 30000); strings.ReplaceAll(r["output"].(string), "\n\n", "\n") != "a\nb" {
			t.Errorf("pane %v: %v", pane, r)
		}
		if r, _ := run("(exit 7)", 30000); r["exit_code"] != 7.0 || r["exit_status"] != "completed" {
			t.Errorf("pane %v: %v", pane, r)
		}
		r, _ = run("sleep 1000", 300)
		if r["exit_status"] != "timeout" || r["timed_out"] != true || c.call("exec.status", map[string]any{"id": pane})["status"] != "running" {
			t.Errorf("pane %v: %v", pane, r)
		}
		c.call("exec.cancel", map[string]any{"id": pane})
		for deadline := time.Now().Add(hang); c.call("exec.status", map[string]any{"id": pane})["status"] != "idle"; {
			if time.Now().After(deadline) {
				t.Fatal("it runs still")
			}
		}
		if r, _ := run("echo again", 30000); r["output"] != "again" {
			t.Errorf("pane %v: %v", pane, r)
		}
	}
	gone := c.call("session.create", nil)["id"]
	c.raw(fmt.Sprintf(`{"id":1,"method":"exec.run_wait","params":{"id":%v,"command":"echo begun-$((6*7)); sleep 1000"}}`+"\n", gone))
	other := s.client(t)
	other.shows(gone, "begun-42")
	other.call("session.destroy", map[string]any{"id": gone})
	if e, _ := c.reply()["error"].(map[string]any); e == nil || !strings.Contains(e["message"].(string), "was ended") {
		t.Errorf("what was destroyed is no result: %v", e)
	}
	left := c.call("session.create", nil)["id"]
	if r := c.call("exec.run_wait", map[string]any{"id": left, "command": "exit 3"}); r["exit_code"] != 3.0 || r["session_ended"] != true {
		t.Errorf("a shell that ends: %v", r)
	}
	for method, why := range map[string]string{"exec.run": "Missing 'command'", "exec.run_wait": "Missing 'command'", "signal.send": "Missing 'signal'", "screen.search": "Missing 'pattern'", "orchestrate.wait": "Missing 'pattern'"} {
		if got := c.refused(method, at()); got != why {
			t.Errorf("%s: %s", method, got)
		}
	}
	if r := c.call("signal.send", at("signal", "int")); r["sent"] != true || r["signal"] != "int" {
		t.Errorf("signal: %v", r)
	}
	if why := c.refused("signal.send", at("signal", "SIGKILL")); why != "Unsupported signal: SIGKILL" {
		t.Errorf("signal: %s", why)
	}
}

// TestUntermOrchestrates: launch, broadcast, wait.
func TestUntermOrchestrates(t *testing.T) {
	s := startUnterm(t)
	c := s.client(t)
	made := c.call("orchestrate.launch", map[string]any{"command": "echo launched-$((6*7))"})
	c.shows(made["id"], "launched-42")
	r := c.call("orchestrate.broadcast", map[string]any{"command": "echo all-$((6*7))", "sessions": []any{"0", made["session_id"], "999", "abc", 0, true}})
	results := r["results"].([]any)
	want := []any{
		map[string]any{"session_id": "0", "sent": true}, map[string]any{"session_id": "1", "sent": true},
		map[string]any{"session_id": "999", "error": "not found"}, map[string]any{"session_id": "abc", "error": "not a session id"},
		map[string]any{"session_id": "0", "sent": true}, map[string]any{"session_id": "true", "error": "not a session id"},
	}
	if !reflect.DeepEqual(results, want) {
		t.Errorf("broadcast: %v", results)
	}
	c.shows(0, "all-42")
	c.shows(1, "all-42")
	if r := c.call("orchestrate.wait", at("pattern", "all-42", "timeout_ms", 0)); r["matched"] != true || len(r) != 2 {
		t.Errorf("what is there: %v", r)
	}
	if r := c.call("orchestrate.wait", at("pattern", "never", "timeout_ms", 50)); r["matched"] != false || r["timed_out"] != true || r["pattern"] != "never" {
		t.Errorf("what is not: %v", r)
	}
	for p, why := range map[string]string{"command": "Missing 'sessions'", "sessions": "Missing 'command'"} {
		if got := c.refused("orchestrate.broadcast", map[string]any{p: "x"}); got != why {
			t.Errorf("broadcast: %s", got)
		}
	}
}

// TestUntermPolicy guards commands, and with strict what is typed.
func TestUntermPolicy(t *testing.T) {
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
	if r := c.call("exec.run_wait", at("command", "echo allowed")); r["output"] != "allowed" {
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
	if r := c.call("exec.run_wait", map[string]any{"id": inside["id"], "command": "echo $HTTP_PROXY $https_proxy"}); r["output"] != "http://127.0.0.1:1 http://127.0.0.1:1" {
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
	if r := c.call("exec.run_wait", at("command", `sh -c 'echo "$A_VARIABLE"'`)); r["output"] != "it's $HOME" {
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
	if want := strings.Fields("mux.available server.health server.capabilities policy.check system.launch_admin proxy.status capture.window session.status screen.text screen.detect_errors session.recording_status"); !slices.Equal(all, want) || r["ok"] != true || failed != nil {
		t.Errorf("%v failed of %v: %v", failed, all, r)
	}
	r = c.call("selftest.run", map[string]any{"session_id": "77"})
	if _, failed := names(r); r["ok"] != false || !slices.Equal(failed, []string{"session.status", "screen.text", "screen.detect_errors"}) {
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
