//go:build unix

package native_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/protocol/native"
)

// ready waits until the program asks.
func (w *wire) ready(adapter string) {
	w.t.Helper()
	r := w.result("adapter.wait", obj{"adapter": adapter})
	if s := r["state"].(obj); s["state"] != "ready" {
		w.t.Fatalf("after wait_turn_matcher: %v", r)
	}
}

func TestAdapterTurn(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{}))
	started := w.result("adapter.start", obj{"plugin": "ask"})
	if started["adapter"] != "e1" || started["session"] != "s1" || at(started, "state", "state") == nil {
		t.Errorf("adapter.start: %v", started)
	}
	w.ready("e1")
	if size := at(w.result("adapter.snapshot", obj{"adapter": "e1", "cells": "none"}), "size"); at(size, "rows") != 10.0 || at(size, "cols") != 40.0 {
		t.Errorf("the manifest's size was not taken: %v", size)
	}

	sent := w.result("adapter.send", obj{"adapter": "e1", "intent": "send_prompt", "params": obj{"prompt": "one"}})
	r := sent["receipt"].(obj)
	if r["written"] != 4.0 || r["echoed"] != true || r["submitted"] != true || r["retries"] != 0.0 || r["evidence"] != "asked 1 times" || sent["snapshot"] != nil {
		t.Errorf("receipt of a submission: %v", sent)
	}
	if at(sent, "state", "last_intent") != "prompt_submitted" {
		t.Errorf("last_intent was not kept: %v", sent)
	}

	turn := w.result("adapter.turn", obj{
		"adapter": "e1", "send": obj{"intent": "send_prompt", "params": obj{"prompt": "two"}}, "wait": obj{"wait_id": "w", "timeout_ms": 60_000},
	})
	if at(turn, "state", "state") != "ready" || at(turn, "state", "metadata", "did") != "two" || at(turn, "state", "metadata", "asked") != 2.0 ||
		turn["wait_id"] != "w" || at(turn, "matched", "kind") != "lua" || at(turn, "matched", "plugin") != "ask" || at(turn, "matched", "predicate") != "is_ready" {
		t.Errorf("adapter.turn: %v", turn)
	}

	// What is not submitted is said, with the screen; and is tried again only while the screen
	// allows it.
	turn = w.result("adapter.turn", obj{"adapter": "e1", "send": obj{"intent": "send_prompt", "params": obj{"prompt": "three", "wrong": true}}})
	if r := turn["receipt"].(obj); r["echoed"] != true || r["submitted"] != false || r["retries"] != 1.0 || r["evidence"] == "" {
		t.Errorf("receipt of what was not submitted: %v", r)
	}
	if turn["matched"] != nil || !strings.Contains(at(turn, "snapshot", "plain_text").(string), "> three") {
		t.Errorf("a turn that was not submitted: %v", turn)
	}
	if at(turn, "state", "last_intent") != "prompt_submitted" {
		t.Errorf("last_intent of what was not submitted: %v", turn)
	}

	live := w.result("adapter.live", nil)["adapters"].([]any)[0]
	if at(live, "adapter") != "e1" || at(live, "plugin") != "ask" || at(live, "session") != "s1" || at(live, "finished") != false {
		t.Errorf("adapter.live: %v", live)
	}
	inspect := w.result("adapter.inspect", obj{"adapter": "e1"})
	for _, member := range []string{"adapter", "plugin", "session", "state", "plain_text", "body_text", "status_text", "transcript_tail", "sequence"} {
		if inspect[member] == nil {
			t.Errorf("adapter.inspect has no %s: %v", member, inspect)
		}
	}
	if out := w.result("adapter.transcript", obj{"adapter": "e1", "mark": "turn_start"})["text"].(string); !strings.HasPrefix(out, "three") {
		t.Errorf("the transcript since the plugin's mark: %q", out)
	}
	if r := w.result("adapter.close", obj{"adapter": "e1"}); r["closed"] != true {
		t.Errorf("adapter.close: %v", r)
	}
	w.fails("adapter.state", obj{"adapter": "e1"}, -32602, "unknown_adapter")
	w.fails("session.snapshot", obj{"session": "s1"}, -32602, "unknown_session")
}

func TestAdapterOwnsItsSession(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{}))
	w.adapter(nil)
	for method, params := range map[string]obj{
		"session.input": {"session": "s1", "action": obj{"type": "text", "value": "x"}}, "session.kill": {"session": "s1"}, "session.close": {"session": "s1"},
	} {
		m := w.fails(method, params, -32602, "owned_by_adapter")
		if m.Error == nil || m.Error.Data["adapter"] != "e1" || !strings.Contains(m.Error.Message, "e1") {
			t.Errorf("%s: %s", method, m.line)
		}
	}
	w.result("session.resize", obj{"session": "s1", "rows": 12, "cols": 60})
	w.result("session.wait", obj{"session": "s1", "matcher": obj{"type": "lua", "value": obj{"plugin": "ask", "predicate": "is_ready"}}})
	if d := w.result("session.list", obj{"details": true})["details"].([]any)[0]; at(d, "adapter") != "e1" {
		t.Errorf("session.list: %v", d)
	}
}

func TestAdapterStepsAndErrors(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{}))
	w.adapter(nil)
	w.ready("e1")
	send := func(intent string) obj { return obj{"adapter": "e1", "intent": intent} }
	m := w.fails("adapter.send", send("expects"), -32603, "expectation_failed")
	if m.Error.Data["step"] != 0.0 || at(m.Error.Data, "snapshot", "plain_text") == nil || at(m.Error.Data, "matcher", "why") == nil || at(m.Error.Data, "receipt", "written") != 0.0 {
		t.Errorf("an expectation that failed: %s", m.line)
	}
	m = w.fails("adapter.send", send("refuses"), -32602, "intent_refused")
	if m.Error.Data["code"] != "stale_dialog" || m.Error.Message != "the dialog has changed" {
		t.Errorf("a refusal: %s", m.line)
	}
	m = w.fails("adapter.send", send("fails"), -32603, "plugin_failed")
	if m.Error.Data["plugin"] != "ask" || m.Error.Data["function"] != "fails" || m.Error.Data["module"] != "main" || m.Error.Data["line"] == nil {
		t.Errorf("an error of the plugin: %s", m.line)
	}
	for _, not := range []string{"nothing", "classify", "describe", "did", "wait_turn_matcher"} {
		w.fails("adapter.send", send(not), -32602, "unknown_intent")
	}
	w.fails("adapter.wait", obj{"adapter": "e1", "intent": "send_prompt"}, -32602, "unknown_intent")

	// A wait on a plugin that fails ends with that, not with its time.
	m = w.fails("adapter.wait", obj{"adapter": "e1", "intent": "wait_broken_matcher"}, -32603, "plugin_failed")
	if m.Error.Data["function"] != "broken" || m.Error.Data["line"] == nil {
		t.Errorf("a wait on a predicate that fails: %s", m.line)
	}

	// A limit costs the plugin its memory and nobody else anything.
	if s := w.result("adapter.state", obj{"adapter": "e1"}); at(s, "state", "metadata", "asked") != 0.0 {
		t.Errorf("%v", s)
	}
	w.result("adapter.turn", obj{"adapter": "e1", "send": obj{"intent": "send_prompt", "params": obj{"prompt": "x"}}})
	w.fails("adapter.send", send("loops"), -32603, "plugin_failed")
	if s := w.result("adapter.state", obj{"adapter": "e1"}); at(s, "state", "state") != "ready" || at(s, "state", "metadata", "asked") != 0.0 {
		t.Errorf("after a limit: %v", s)
	}
	w.result("adapter.send", send("resizes"))
	if size := at(w.result("adapter.snapshot", obj{"adapter": "e1"}), "size"); at(size, "rows") != 20.0 {
		t.Errorf("after the action resize: %v", size)
	}
	w.result("adapter.send", send("kills"))
	w.fails("adapter.wait", obj{"adapter": "e1", "intent": "wait_never_matcher"}, -32002, "session_ended")
}

func TestAdapterCancelWait(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{}))
	w.adapter(nil)
	w.ready("e1")
	never := obj{"adapter": "e1", "intent": "wait_never_matcher", "wait_id": "w1"}
	wait := w.send("adapter.wait", never)
	w.result("server.set_ordering", obj{"ordering": "concurrent"})
	w.fails("adapter.wait", never, -32602, "wait_id_in_use")
	// A wait holds up nothing.
	w.result("adapter.state", obj{"adapter": "e1"})
	w.result("adapter.send", obj{"adapter": "e1", "intent": "type_only", "params": obj{"text": "x"}})
	cancel := w.send("adapter.cancel_wait", obj{"wait_id": "w1"})
	replies := w.replies(cancel, wait)
	if r := replies[cancel].Result; r["cancelled"] != true || r["adapter"] != "e1" || r["wait_id"] != "w1" {
		t.Errorf("adapter.cancel_wait: %v", r)
	}
	m := replies[wait]
	if m.Error == nil || m.Error.Code != -32005 || m.Error.Data["reason"] != "cancelled" || at(m.Error.Data, "state", "state") == nil {
		t.Errorf("a wait that was cancelled: %s", m.line)
	}
	if r := w.result("adapter.cancel_wait", obj{"wait_id": "w1"}); r["cancelled"] != false {
		t.Errorf("adapter.cancel_wait of nothing: %v", r)
	}
	wait = w.send("adapter.wait", never) // its name is free again
	closed := w.send("adapter.close", obj{"adapter": "e1"})
	replies = w.replies(wait, closed)
	if m := replies[wait]; m.Error == nil || m.Error.Code != -32002 {
		t.Errorf("a wait whose adapter was closed: %s", m.line)
	}
	if m := replies[closed]; m.Error != nil {
		t.Errorf("adapter.close during a wait: %s", m.line)
	}
}

func TestAdapterTurnsQueue(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{}))
	w.adapter(nil)
	w.ready("e1")
	w.result("server.set_ordering", obj{"ordering": "concurrent"})
	turn := w.send("adapter.turn", obj{
		"adapter": "e1", "send": obj{"intent": "send_prompt", "params": obj{"prompt": "one"}}, "wait": obj{"intent": "wait_never_matcher", "wait_id": "t"},
	})
	w.result("session.wait", obj{"session": "s1", "matcher": text("did one")})
	prompt := obj{"adapter": "e1", "intent": "send_prompt", "params": obj{"prompt": "two"}}
	early := obj{"adapter": "e1", "intent": "send_prompt", "params": obj{"prompt": "two"}, "timeout_ms": 1}
	w.fails("adapter.send", early, -32603, "turn_in_progress")
	queued := w.send("adapter.send", prompt)
	w.result("adapter.send", obj{"adapter": "e1", "intent": "type_only", "params": obj{"text": ""}}) // may come in between
	replies := w.replies(turn, queued, w.send("adapter.cancel_wait", obj{"wait_id": "t"}))
	if m := replies[turn]; m.Error == nil || m.Error.Code != -32005 {
		t.Errorf("the turn: %s", m.line)
	}
	if m := replies[queued]; m.Error != nil || at(m.Result, "receipt", "submitted") != true {
		t.Errorf("what queued behind the turn: %s", m.line)
	}
}

func TestAdapterEventsAndChanges(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{}))
	w.result("server.set_notifications", obj{"enabled": true})
	w.adapter(nil)
	for {
		m := w.read()
		if m.Method == "adapter.changed" && m.Params["state"] == "ready" {
			if m.Params["adapter"] != "e1" || m.Params["session"] != "s1" || m.Params["plugin"] != "ask" {
				t.Errorf("adapter.changed: %s", m.line)
			}
			break
		}
	}
	r := w.result("adapter.events", obj{"adapter": "e1"})
	events := r["events"].([]any)
	last := events[len(events)-1]
	if at(last, "kind") != "state" || at(last, "state") != "ready" || at(last, "seq") != r["next"] {
		t.Errorf("adapter.events: %v", r)
	}
	if again := w.result("adapter.events", obj{"adapter": "e1", "since": r["next"]}); len(again["events"].([]any)) != 0 || again["next"] != r["next"] {
		t.Errorf("adapter.events since the newest: %v", again)
	}
	explained := w.result("adapter.explain", obj{"adapter": "e1"})
	if explained["rule"] != "prompt" || at(explained, "state", "state") != "ready" {
		t.Errorf("adapter.explain: %v", explained)
	}
	w.result("adapter.send", obj{"adapter": "e1", "intent": "type_only", "params": obj{"text": "trust me?"}})
	w.result("session.wait", obj{"session": "s1", "matcher": text("trust me?")})
	explained = w.result("adapter.explain", obj{"adapter": "e1"})
	row := explained["rows"].([]any)
	nearly := explained["nearly"].([]any)
	if explained["rule"] != "asks for trust" || at(row[0], "text") != "> trust me?" || at(row[0], "row") != 0.0 || at(nearly[0], "rule") != "typed" {
		t.Errorf("adapter.explain: %v", explained)
	}
}

func TestPluginMethods(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{}))
	caps := w.result("plugin.capabilities", nil)
	if caps["embedded_lua"] != true || caps["wasm"] != false || len(caps["permissions"].([]any)) != 7 || len(caps["builtin_plugins"].([]any)) == 0 {
		t.Errorf("plugin.capabilities: %v", caps)
	}
	list := w.result("adapter.list", nil)["plugins"].([]any)
	if at(list[0], "name") != "ask" || at(list[1], "name") != "claude-code" || at(list[1], "default_target", "program") != "claude" {
		t.Errorf("adapter.list: %v", list)
	}
	d := w.result("plugin.describe", obj{"plugin": "ask"})
	if at(d, "manifest", "name") != "ask" || at(d["intents"].([]any)[0], "name") != "send_prompt" || at(d["wait_matchers"].([]any)[0], "name") != "wait_turn_matcher" ||
		at(d["states"].([]any)[0], "name") != "ready" || d["builtin"] != false || len(d["sha256"].(string)) != 64 {
		t.Errorf("plugin.describe: %v", d)
	}
	good := obj{"name": "x", "kind": "adapter", "version": "1"}
	if r := w.result("plugin.validate_manifest", obj{"manifest": good}); r["valid"] != true {
		t.Errorf("plugin.validate_manifest: %v", r)
	}
	m := w.fails("plugin.validate_manifest", obj{"manifest": obj{"name": "x", "kind": "adapter", "version": "1", "permisions": []string{}}}, -32602, "invalid_manifest")
	if m.Error.Data["key"] == nil {
		t.Errorf("an unknown key: %s", m.line)
	}
	w.fails("plugin.validate_manifest", obj{"manifest": obj{"name": "x", "kind": "what", "version": "1"}}, -32602, "invalid_manifest")
	w.fails("plugin.validate_manifest", nil, -32602, "invalid_params")
	w.fails("plugin.describe", obj{"plugin": "nothing"}, -32602, "unknown_plugin")
	w.fails("adapter.start", obj{"plugin": "nothing"}, -32602, "unknown_plugin")
	w.fails("plugin.load", obj{"manifest_path": "testdata/ask/manifest.toml"}, -32602, "plugin_exists")
	w.fails("plugin.load", obj{"manifest_path": "testdata/nothing/manifest.toml"}, -32602, "file_refused")
	w.fails("plugin.unload", obj{"plugin": "claude-code"}, -32602, "plugin_built_in")
	w.adapter(nil)
	w.fails("plugin.unload", obj{"plugin": "ask"}, -32602, "plugin_in_use")
	w.result("adapter.close", obj{"adapter": "e1"})
	w.result("plugin.unload", obj{"plugin": "ask"})
	w.fails("session.wait", obj{"session": "s1", "matcher": obj{"type": "lua", "value": obj{"plugin": "ask", "predicate": "did"}}}, -32602, "invalid_matcher")
	if r := w.result("plugin.load", obj{"manifest_path": "testdata/ask/manifest.toml"}); r["plugin"] != "ask" {
		t.Errorf("plugin.load: %v", r)
	}
}

func TestAdapterResume(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{}))
	w.adapter(nil)
	w.fails("adapter.resume", obj{"plugin": "nothing", "prior_adapter": "e1"}, -32602, "unknown_plugin")
	w.result("adapter.state", obj{"adapter": "e1"}) // it is still there
	r := w.result("adapter.resume", obj{"plugin": "ask", "prior_adapter": "e1", "env": obj{"GREETING": "bye"}, "rows": 11})
	if r["adapter"] != "e2" {
		t.Errorf("adapter.resume: %v", r)
	}
	w.fails("adapter.state", obj{"adapter": "e1"}, -32602, "unknown_adapter")
	w.ready("e2")
	w.result("adapter.resume", obj{"plugin": "ask", "prior_adapter": "e1"}) // no longer live: nothing to close
}

// TestPermissions starts the plugin with every permission but one and calls every method: those
// that need it, and the actions that do, are refused; the others are not.
func TestPermissions(t *testing.T) {
	source, err := os.ReadFile("testdata/ask/manifest.toml")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("testdata/ask/main.lua")
	if err != nil {
		t.Fatal(err)
	}
	send := func(intent string) obj { return obj{"adapter": "e1", "intent": intent, "params": obj{"text": ""}} }
	type call struct {
		method string
		params obj
		needs  []string // in the order in which they are asked for
		action string   // that needs the last
	}
	calls := []call{
		{"adapter.start", obj{"plugin": "narrow"}, []string{"session.spawn"}, ""},
		{"adapter.resume", obj{"plugin": "narrow"}, []string{"session.spawn"}, ""},
		{"adapter.state", obj{"adapter": "e1"}, []string{"screen.read"}, ""},
		{"adapter.snapshot", obj{"adapter": "e1"}, []string{"screen.read"}, ""},
		{"adapter.inspect", obj{"adapter": "e1"}, []string{"screen.read"}, ""},
		{"adapter.events", obj{"adapter": "e1"}, []string{"screen.read"}, ""},
		{"adapter.explain", obj{"adapter": "e1"}, []string{"screen.read"}, ""},
		{"adapter.transcript", obj{"adapter": "e1"}, []string{"transcript.read"}, ""},
		{"adapter.wait", obj{"adapter": "e1", "intent": "wait_nothing_matcher"}, []string{"matcher.wait"}, ""},
		{"adapter.turn", obj{"adapter": "e1", "send": obj{"intent": "type_only", "params": obj{"text": ""}}, "wait": obj{"intent": "wait_nothing_matcher"}}, []string{"input.write", "matcher.wait"}, ""},
		{"adapter.send", send("type_only"), []string{"input.write"}, ""},
		{"adapter.send", send("resizes"), []string{"input.write", "session.resize"}, "resize"},
		{"adapter.send", send("marks"), []string{"input.write", "transcript.read"}, "mark_transcript"},
		{"adapter.send", send("waits"), []string{"input.write", "matcher.wait"}, "expect"},
		{"adapter.cancel_wait", obj{"wait_id": "w"}, nil, ""},
		{"adapter.list", nil, nil, ""},
		{"adapter.live", nil, nil, ""},
		{"adapter.send", send("kills"), []string{"input.write", "session.kill"}, "kill"},
		{"adapter.close", obj{"adapter": "e1"}, []string{"session.kill"}, ""},
	}
	for method, needs := range native.Needs() {
		if !slices.ContainsFunc(calls, func(c call) bool { return c.method == method && c.action == "" && slices.Equal(c.needs, needs) }) {
			t.Errorf("the table says that %s needs %v, which is not tried", method, needs)
		}
	}
	for _, missing := range plugins.Permissions() {
		t.Run(string(missing), func(t *testing.T) {
			dir := t.TempDir()
			manifest := strings.NewReplacer(`"ask"`, `"narrow"`, `"`+string(missing)+`", `, "", `, "`+string(missing)+`"`, "").Replace(string(source))
			for name, text := range map[string]string{"manifest.toml": manifest, "main.lua": string(code)} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w := newWire(t, engine.New(engine.Options{}))
			w.result("plugin.load", obj{"manifest_path": filepath.Join(dir, "manifest.toml")})
			if missing != plugins.SessionSpawn {
				w.result("adapter.start", obj{"plugin": "narrow"})
			}
			// What the file says later widens nothing.
			if err := os.WriteFile(filepath.Join(dir, "manifest.toml"), source, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, c := range calls {
				if missing == plugins.SessionSpawn && c.method != "adapter.start" && c.method != "adapter.resume" {
					continue
				}
				m := w.call(c.method, c.params)
				if !slices.Contains(c.needs, string(missing)) {
					if m.Error != nil {
						t.Errorf("%s needs no %s: %s", c.method, missing, m.line)
					}
					continue
				}
				if m.Error == nil || m.Error.Code != -32004 || m.Error.Data["required_permission"] != string(missing) || m.Error.Data["reason"] != "permission_denied" {
					t.Errorf("%s %v without %s: %s", c.method, c.params, missing, m.line)
					continue
				}
				if last := c.needs[len(c.needs)-1] == string(missing); c.action != "" && last && m.Error.Data["action"] != c.action {
					t.Errorf("%s without %s: %s", c.method, missing, m.line)
				} else if (c.action == "" || !last) && m.Error.Data["method"] != c.method {
					t.Errorf("%s without %s: %s", c.method, missing, m.line)
				}
			}
		})
	}
}

// TestLoadingHasToBeGranted: the server says no, not the manifest.
func TestLoadingHasToBeGranted(t *testing.T) {
	e := engine.New(engine.Options{})
	w := newWireOf(t, e, native.New(host.Over(e, nil, nil), native.Options{}))
	for method, params := range map[string]obj{"plugin.load": {"manifest_path": "testdata/ask/manifest.toml"}, "plugin.unload": {"plugin": "ask"}} {
		m := w.fails(method, params, -32004, "server_did_not_grant_plugin_load")
		if m.Error != nil && m.Error.Data["method"] != method {
			t.Errorf("%s: %s", method, m.line)
		}
	}
}
