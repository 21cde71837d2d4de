package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/internal/lanes"
	"github.com/ptywright/ptywright/protocol/client"
)

// plugin writes a plugin of one file, with every permission, and returns its manifest's path. Its
// program is cat.
func plugin(t testing.TB, name, source string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	manifest := "name = \"" + name + "\"\nkind = \"adapter\"\nversion = \"1\"\nruntime = \"lua\"\nentrypoint = \"main.lua\"\n" +
		"permissions = [\"session.spawn\", \"session.kill\", \"session.resize\", \"screen.read\", \"transcript.read\", \"input.write\", \"matcher.wait\"]\n" +
		"[default_target]\nprogram = \"cat\"\n"
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"manifest.toml": manifest, "main.lua": source} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "manifest.toml")
}

// good is a plugin that does what is right.
const good = `local a, m = ptywright.action, ptywright.matcher
return {
	classify = function(s) return {state = "fine", evidence = s:row(1)} end,
	type = function(p) return {actions = {a.text(p.text)}} end,
	wait_never_matcher = function() return m.predicate("never") end, never = function() return false end,
	wait_turn_matcher = function(p) return m.screen_stable(p.ms or 0) end,
}`

// adapter starts an adapter and returns its id.
func (s *server) adapter(plugin string) string {
	s.t.Helper()
	var r struct{ Adapter string }
	s.call("adapter.start", obj{"plugin": plugin}, &r)
	return r.Adapter
}

// state asks for an adapter's state.
func (s *server) state(adapter string) string {
	s.t.Helper()
	var r struct{ State struct{ State string } }
	s.call("adapter.state", obj{"adapter": adapter}, &r)
	return r.State.State
}

// bombs are what a plugin may do that would end a host without a sandbox, or take its memory.
var bombs = map[string]string{
	"loop":          `while true do end`,
	"caught loop":   `while true do pcall(function() while true do end end) end`,
	"rep":           `return ("x"):rep(2^31)`,
	"pattern":       `return (("a"):rep(30)):find(("a?"):rep(40) .. ("a"):rep(40))`,
	"tables":        `local t = {} for i = 1, 1e8 do t[i] = {i} end return t`,
	"concatenation": `local s = "x" while true do s = s .. s end`,
	"recursion":     `local function f() return 1 + f() end return f()`,
	"format":        `local s = "x" while true do s = ("%s%s%s"):format(s, s, s) end`,
	"unpack":        `return unpack({}, 1, 1e8)`,
	"replacement":   `local s = "x" while true do s = s:gsub(".", "%0%0%0%0") end`,
	"wrong type":    `return function() end`,
}

// TestBombsAtEveryHook has a plugin explode in each function that the host calls, while another
// adapter and a session beside it are used. Each ends with an error that names plugin, function and
// line, a wait with that error and not with its timeout, and the server has not grown.
func TestBombsAtEveryHook(t *testing.T) {
	t.Parallel()
	hooks := map[string]string{
		"main chunk":        `local function bomb() %s end bomb() return {classify = function() return {state = "x"} end}`,
		"describe":          `return {classify = function() return {state = "x"} end, describe = function() %s end}`,
		"classify":          `return {classify = function(s) %s end}`,
		"act":               `return {classify = function() return {state = "x"} end, act = function() %s end}`,
		"wait_turn_matcher": `return {classify = function() return {state = "x"} end, wait_turn_matcher = function() %s end}`,
		"predicate":         `return {classify = function() return {state = "x"} end, predicate = function() %s end, wait_turn_matcher = function() return ptywright.matcher.predicate("predicate") end}`,
	}
	for hook, frame := range hooks {
		t.Run(hook, func(t *testing.T) {
			t.Parallel() // each has its time, which a loop takes whole
			s := launch(t, ptywright(t, "serve", "--stdio", "--plugin", plugin(t, "good", good), "--allow-plugin-load"))
			beside, cat := s.adapter("good"), s.create("cat")
			before := memory(t, s.program.Process.Pid, "VmRSS")
			n := 0
			for bomb, body := range bombs {
				if hook == "main chunk" && bomb == "wrong type" { // which is what a main chunk's function may return
					continue
				}
				n++
				name := fmt.Sprintf("bad%d", n)
				err := s.Call(s.ctx, "plugin.load", obj{"manifest_path": plugin(t, name, fmt.Sprintf(frame, body))}, nil)
				var started struct{ Adapter string }
				if err == nil {
					err = s.Call(s.ctx, "adapter.start", obj{"plugin": name}, &started)
				}
				if err == nil {
					method, params := map[string]string{"classify": "explain", "act": "send"}[hook], obj{"adapter": started.Adapter}
					if method == "" {
						method = "wait"
					}
					if hook == "act" {
						params["intent"] = "act"
					}
					err = s.Call(s.ctx, "adapter."+method, params, nil)
				}
				var e *client.Error
				var data struct {
					Plugin, Function, Kind string
					Line                   int
				}
				if !errors.As(err, &e) || e.Reason != "plugin_failed" || json.Unmarshal(e.Data, &data) != nil {
					t.Errorf("%s in %s: %v", bomb, hook, err)
				} else if data.Plugin != name || data.Function != hook || data.Line == 0 && data.Kind != "output" && data.Kind != "result" {
					t.Errorf("%s in %s: %s", bomb, hook, e.Data)
				}
				if hook == "classify" && s.state(started.Adapter) != "plugin_error" {
					t.Errorf("%s in %s is not told as a state", bomb, hook)
				}
				if got := s.state(beside); got != "fine" {
					t.Errorf("after %s in %s the adapter beside it is %s", bomb, hook, got)
				}
				if started.Adapter != "" {
					s.call("adapter.close", obj{"adapter": started.Adapter}, nil)
				}
			}
			cat.waitSince(cat.text("alive\n"), client.Text("alive"))
			if grown := memory(t, s.program.Process.Pid, "VmRSS") - before; grown > 64<<10 && !lanes.Race {
				t.Errorf("the server has grown by %d KiB", grown)
			}
			logged := "a plugin was stopped"
			if hook == "main chunk" {
				logged = "" // who loads it is told
			}
			s.end(0, logged)
		})
	}
}

// TestPluginPrintsToTheLog: what a plugin prints, 10 MB of it, is in the log as far as it is
// allowed, without secrets, and no byte of it is in the protocol.
func TestPluginPrintsToTheLog(t *testing.T) {
	t.Parallel()
	manifest := plugin(t, "loud", `print("from the main chunk")
		return {
			classify = function(s) print(s:row(1)) return {state = "fine"} end,
			shout = function() for i = 1, 10000 do print(("loud\n"):rep(200)) end return {actions = {}} end,
			quote = function(_, s) print((s:match("password: (\\S+)") or {captures = {}}).captures[1]) return {actions = {}} end,
		}`)
	p := ptywright(t, "serve", "--stdio", "--plugin", manifest)
	out, code := p.Run(strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"adapter.start","params":{"plugin":"loud","program":"sh","args":["-c","echo 'password: hunterZebra42'; exec cat"]}}`,
		`{"jsonrpc":"2.0","id":2,"method":"session.wait","params":{"session":"s1","matcher":{"type":"contains_text","value":"hunter"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"adapter.send","params":{"adapter":"e1","intent":"quote"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"adapter.send","params":{"adapter":"e1","intent":"shout"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"adapter.state","params":{"adapter":"e1"}}`,
	}, "\n") + "\n")
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := replies(t, strings.NewReader(out)); len(got) != 5 || strings.Contains(out, "loud\\n") {
		t.Errorf("%d answers:\n%s", len(got), out)
	}
	log := p.Stderr.String()
	for _, want := range []string{"from the main chunk", `line="password: [REDACTED]"`, "line=[REDACTED]"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %q:\n%.2000s\n%s", want, log, out)
		}
	}
	if strings.Contains(log, "hunterZ") || len(log) > 1<<20 {
		t.Errorf("the log has %d bytes, or a secret:\n%.2000s", len(log), log)
	}
}

// TestCancelWaitFreesAnAdapter: one client holds an adapter by a turn, and another cancels its
// wait: the turn ends as cancelled, and the adapter is free at once. So it is when the client that
// holds it dies.
func TestCancelWaitFreesAnAdapter(t *testing.T) {
	t.Parallel()
	l := listen(t, "--plugin", plugin(t, "good", good))
	first, second := l.dial(), l.dial()
	a := first.adapter("good")
	turn := obj{"adapter": a, "send": obj{"intent": "type", "params": obj{"text": "x"}}, "wait": obj{"intent": "wait_never_matcher", "wait_id": "w"}}
	send := obj{"adapter": a, "intent": "type", "params": obj{"text": "y"}}
	held := func(ended chan error) { // until the turn is held
		t.Helper()
		send["timeout_ms"] = 1
		for {
			var e *client.Error
			if err := second.Call(second.ctx, "adapter.send", send, nil); errors.As(err, &e) && e.Reason == "turn_in_progress" {
				break
			}
			select {
			case err := <-ended:
				t.Fatalf("the turn ended: %v", err)
			default:
			}
		}
		send["timeout_ms"] = hang.Milliseconds()
	}
	for _, canceller := range []*server{second, first} { // the same connection, too
		ended := make(chan error, 1)
		go func() { ended <- first.Call(first.ctx, "adapter.turn", turn, nil) }()
		held(ended)
		var r struct{ Cancelled bool }
		canceller.call("adapter.cancel_wait", obj{"wait_id": "w"}, &r)
		if !r.Cancelled {
			t.Error("there was nothing to cancel")
		}
		wantError(t, <-ended, -32005, "cancelled")
		second.call("adapter.send", send, nil)
	}
	ended := make(chan error, 1)
	go func() { ended <- first.Call(first.ctx, "adapter.turn", turn, nil) }()
	held(ended)
	first.Close()
	second.call("adapter.send", send, nil)
	<-ended
	second.call("adapter.turn", obj{"adapter": a, "send": obj{"intent": "type", "params": obj{"text": "z"}}, "wait": obj{"wait_id": "w"}}, nil) // the name is free
}

// TestPluginsAreUnloadedSafely: live adapters, names that are taken, built-in plugins, and a server
// that does not let clients load.
func TestPluginsAreUnloadedSafely(t *testing.T) {
	t.Parallel()
	manifest := plugin(t, "good", good)
	s := start(t, "--plugin", manifest, "--allow-plugin-load")
	a := s.adapter("good")
	s.refused(-32602, "plugin_in_use", "plugin.unload", obj{"plugin": "good"})
	s.refused(-32602, "plugin_exists", "plugin.load", obj{"manifest_path": manifest})
	s.refused(-32602, "plugin_built_in", "plugin.unload", obj{"plugin": "claude-code"})
	s.refused(-32602, "plugin_built_in", "plugin.load", obj{"manifest_path": plugin(t, "claude-code", good)})
	s.refused(-32602, "unknown_plugin", "plugin.unload", obj{"plugin": "nothing"})
	if got := s.state(a); got != "fine" {
		t.Errorf("the adapter is %s", got)
	}
	s.call("adapter.close", obj{"adapter": a}, nil)

	// Loading, unloading and starting at the same time: nothing starts without its plugin, and
	// nothing is left.
	together(8, func(i int) {
		for range 20 {
			switch i % 4 {
			case 0:
				_ = s.Call(s.ctx, "plugin.unload", obj{"plugin": "good"}, nil)
			case 1:
				_ = s.Call(s.ctx, "plugin.load", obj{"manifest_path": manifest}, nil)
			default:
				var r struct{ Adapter string }
				err := s.Call(s.ctx, "adapter.start", obj{"plugin": "good"}, &r)
				var e *client.Error
				if err != nil && (!errors.As(err, &e) || e.Reason != "unknown_plugin") {
					t.Error(err)
				}
				if err == nil {
					err = s.Call(s.ctx, "adapter.close", obj{"adapter": r.Adapter}, nil)
					if err != nil {
						t.Error(err)
					}
				}
			}
		}
	})
	var live struct{ Adapters []any }
	s.call("adapter.live", obj{}, &live)
	if len(live.Adapters) != 0 || len(s.list()) != 0 {
		t.Errorf("%d adapters and %d sessions are left", len(live.Adapters), len(s.list()))
	}

	closed := start(t, "--plugin", manifest)
	for method, params := range map[string]obj{"plugin.load": {"manifest_path": manifest}, "plugin.unload": {"plugin": "good"}} {
		e := closed.refused(-32004, "server_did_not_grant_plugin_load", method, params)
		if !bytes.Contains(e.Data, []byte(`"method":"`+method+`"`)) {
			t.Errorf("%s: %s", method, e.Data)
		}
	}
}
