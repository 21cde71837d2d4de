//go:build unix

package main

import (
	"fmt"
	"reflect"
	"regexp"
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
	t.Parallel()
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
	t.Parallel()
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
	poll(t, func() string {
		return unless(c.call("session.get", map[string]any{"id": ended})["is_dead"] == true, "its end is not told")
	})
	if r := c.call("screen.text", map[string]any{"id": ended}); r["lines"].([]any)[0] != "bye" {
		t.Errorf("the last output of a dead pane: %v", r)
	}

	titled := c.bare(`printf '\033]2;a title\007'; exec sleep 1000`)
	poll(t, func() string {
		return unless(c.call("session.get", map[string]any{"id": titled})["title"] == "a title", "the title is not told")
	})
	if untitled := c.call("session.get", map[string]any{"id": c.bare("exec sleep 1000")}); untitled["title"] == "" {
		t.Errorf("without a title: %v", untitled)
	}
}

// TestUntermIdle tells a shell at its prompt from what it runs.
func TestUntermIdle(t *testing.T) {
	t.Parallel()
	s := startUnterm(t)
	c := s.client(t)
	until := func(pane any, want bool) {
		t.Helper()
		poll(t, func() string {
			r, e := c.call("session.idle", map[string]any{"id": pane}), c.call("exec.status", map[string]any{"id": pane})
			return unless(r["idle"] == want && e["status"] == map[bool]string{true: "idle", false: "running"}[want],
				fmt.Sprintf("idle %v: %v, %v", want, r, e))
		})
	}
	sh := c.call("session.create", map[string]any{"program": "/bin/sh"})["id"]
	for _, pane := range []any{0, sh} {
		until(pane, true)
		c.call("exec.run", map[string]any{"id": pane, "command": "sleep 1000"})
		until(pane, false)
		poll(t, func() string { // before it has the terminal, Ctrl+C would be the shell's
			running := c.call("exec.status", map[string]any{"id": pane})["foreground_process"].(string)
			return unless(strings.HasSuffix(running, "sleep"), "sleep does not begin")
		})
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
	poll(t, func() string {
		return unless(s.file("instances/" + s.name + ".json")["cwd"] == dir, "the record does not follow the shell")
	})
}

// TestUntermScreen: rows by their numbers.
func TestUntermScreen(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
		if r["output"] != "done\n" || r["exit_status"] != "completed" || r["timed_out"] != false || !marker.MatchString(r["marker"].(string)) || r["exit_code"] != 0.0 || took < 500*time.Millisecond {
			t.Errorf("pane %v: %v after %v", pane, r, took)
		}
		if r, _ := run("echo a; echo; echo b", 30000); r["output"] != "a\n\nb\n" {
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
		poll(t, func() string {
			return unless(c.call("exec.status", map[string]any{"id": pane})["status"] == "idle", "it runs still")
		})
		if r, _ := run("echo again", 30000); r["output"] != "again\n" {
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
	t.Parallel()
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
