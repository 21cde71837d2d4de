//go:build unix

package native_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
)

const everything = `permissions = ["session.spawn", "session.kill", "session.resize", "screen.read", "transcript.read", "input.write", "matcher.wait"]`

// load writes a plugin of one file and loads it.
func (w *wire) load(name, source string) {
	w.t.Helper()
	dir := w.t.TempDir()
	manifest := "name = \"" + name + "\"\nkind = \"adapter\"\nversion = \"1\"\nruntime = \"lua\"\nentrypoint = \"main.lua\"\n" + everything +
		"\n[default_target]\nprogram = \"cat\"\n"
	for file, text := range map[string]string{"manifest.toml": manifest, "main.lua": source} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	w.result("plugin.load", obj{"manifest_path": filepath.Join(dir, "manifest.toml")})
}

// gossip is a plugin that finds a secret wherever it can stand, remembers it, and tells it and
// pieces of it wherever it can.
const gossip = `local a, m = ptywright.action, ptywright.matcher
local mem
local function classify(s)
	local hit = s:match("password: *(\\S+)")
	mem = hit and hit.captures[1] or s.title and s.title:match("password=(%S+)") or s.status and s.status.message:match("password=(%S+)") or
		s.shell and s.shell.command and s.shell.command:match("password=(%S+)") or s.transcript:match("password=(%S+)") or mem
	if not mem then return {state = "none"} end
	local x, h = mem, mem:sub(1, 14)
	return {
		state = "k " .. x, evidence = "E " .. h, rule = h, source = x, candidates = {{state = x}}, metadata = {[x] = x, l = {h, {[h] = x:sub(6)}}},
		marks = {x:sub(1, 12)}, nearly = {{rule = x, state = h, lacks = x}}, sources = {{source = x, says = h}},
		events = {{kind = "text_delta", text = x}, {kind = "tool_started", id = x, name = h, input = {[x] = h}}, {kind = "error", category = x, message = h}},
	}
end
return {
	classify = classify,
	notes = function() return {actions = {}, last_intent = mem} end,
	refuses = function() error({code = mem, message = "no " .. mem}) end,
	fails = function() error("oops " .. mem) end,
	unknown_action = function() return {actions = {{type = mem, value = mem}}} end,
	unknown_key = function() return {actions = {a.key(mem)}} end,
	bad_expression = function() return {actions = {a.expect(m.screen_regex("(" .. mem), 10)}} end,
	expects = function() return {actions = {a.expect(m.contains_text(mem .. "zz"), 10)}} end,
	expects_regex = function() return {actions = {a.expect(m.screen_regex(mem .. "zz"), 10)}} end,
	expects_predicate = function() return {actions = {a.expect(m.predicate("no", {x = mem}), 10)}} end,
	unknown_member = function() return {actions = {}, [mem] = 1} end,
	submits = function() return {actions = {}, submission = {submit = {}, done = m.predicate("yes"), timeout_ms = 50}} end,
	submits_not = function() return {actions = {}, submission = {submit = {}, done = m.predicate("no"), timeout_ms = 50}} end,
	submits_text = function() return {actions = {}, submission = {submit = {}, done = m.contains_text(mem .. "q"), timeout_ms = 50}} end,
	yes = function(s) classify(s) return {matched = true, evidence = {[mem] = mem:sub(3)}, capture = mem} end,
	no = function(s) classify(s) return {matched = false, evidence = mem} end,
	breaks = function(s) classify(s) error(mem) end,
	wait_yes_matcher = function() return m.predicate("yes") end,
	wait_no_matcher = function() return m.predicate("no") end,
	wait_breaks_matcher = function() return m.predicate("breaks") end,
	wait_text_matcher = function() return m.contains_text(mem) end,
	wait_more_matcher = function() return m.contains_text(mem .. "9") end,
	wait_kind_matcher = function() return {type = mem} end,
	wait_name_matcher = function() return m.predicate(mem) end,
	wait_regex_matcher = function() return m.screen_regex(mem:sub(1, 12) .. "(.*)") end,
	wait_title_matcher = function() return m.title_contains(mem) end,
	wait_transcript_matcher = function() return m.transcript_contains(mem) end,
}`

// TestPluginQuotesNoSecret: what a plugin was shown of a secret, now or earlier, whole or in
// pieces, leaves in none of its words.
func TestPluginQuotesNoSecret(t *testing.T) {
	const secret = "hunterZebra42Xyzzy99"
	for name, output := range map[string][]string{
		"on the screen":       {"password: " + secret + "\r\n"},
		"no longer":           {"password: " + secret + "\r\n", "\x1b[2J\x1b[3J\x1b[Hgone\r\n"},
		"over two rows":       {strings.Repeat("-", 100) + "password: " + secret + "\r\n"},
		"in the title":        {"\x1b]0;password=" + secret + "\a"},
		"in the output":       {"password=" + secret + "\r\x1b[2Kx\r\n"},
		"in a report":         {"\x1b]7501;state=working:msg=" + base64.StdEncoding.EncodeToString([]byte("password="+secret)) + "\x1b\\"},
		"in a shell's report": {"\x1b]633;E;password=" + secret + "\a"},
	} {
		t.Run(name, func(t *testing.T) {
			p := enginetest.New()
			w := newWire(t, enginetest.Engine(p))
			w.load("gossip", gossip)
			w.result("server.set_notifications", obj{"enabled": true})
			w.result("adapter.start", obj{"plugin": "gossip"})
			for _, text := range output {
				p.Print(text)
				w.result("session.wait", obj{"session": "s1", "matcher": obj{"type": "screen_stable", "value": obj{"min_ms": 60}}})
			}
			raw := w.call("adapter.state", obj{"adapter": "e1", "redact": false})
			if !strings.Contains(raw.line, secret[:8]) {
				t.Fatalf("the plugin has not seen it: %s", raw.line)
			}
			w.all.Reset()
			for _, read := range []string{"state", "inspect", "events", "explain", "snapshot", "transcript"} {
				w.call("adapter."+read, obj{"adapter": "e1"})
			}
			intents := "notes refuses fails unknown_action unknown_key bad_expression expects expects_regex expects_predicate unknown_member submits submits_not submits_text"
			for intent := range strings.FieldsSeq(intents) {
				w.call("adapter.send", obj{"adapter": "e1", "intent": intent})
			}
			for wait := range strings.FieldsSeq("yes no breaks text more kind name regex title transcript") {
				tree := obj{"intent": "wait_" + wait + "_matcher", "timeout_ms": 20}
				w.call("adapter.turn", obj{"adapter": "e1", "send": obj{"intent": "notes"}, "wait": tree})
				tree["adapter"] = "e1"
				w.call("adapter.wait", tree)
			}
			for predicate := range strings.FieldsSeq("yes no breaks") {
				w.call("session.wait", obj{"session": "s1", "timeout_ms": 20, "matcher": obj{"type": "lua", "value": obj{"plugin": "gossip", "predicate": predicate}}})
			}
			w.result("adapter.close", obj{"adapter": "e1"})
			all := w.all.String()
			for i := 0; i+8 <= len(secret); i++ {
				if at := strings.Index(all, secret[i:i+8]); at >= 0 {
					t.Fatalf("%q left: %q", secret[i:i+8], all[max(0, at-300):min(len(all), at+60)])
				}
			}
			if !strings.Contains(all, "[REDACTED]") || !strings.Contains(all, "adapter.changed") && name == "no longer" {
				t.Error("nothing was redacted: the secret was not seen at all")
			}
		})
	}
}

// TestStartNamesThePluginsFault: a plugin that cannot be started is told like one that fails later.
func TestStartNamesThePluginsFault(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{}))
	w.load("broken", `return {classify = function() end,
		describe = function() local t = nil return t.x end}`)
	m := w.fails("adapter.start", obj{"plugin": "broken"}, -32603, "plugin_failed")
	if m.Error == nil || m.Error.Data["plugin"] != "broken" || m.Error.Data["function"] != "describe" || m.Error.Data["line"] != 2.0 {
		t.Errorf("%s", m.line)
	}
	w.load("bare", `return {}`)
	w.fails("adapter.start", obj{"plugin": "bare"}, -32603, "plugin_failed")
	w.fails("adapter.start", obj{"plugin": "ask", "program": "/nowhere"}, -32602, "cannot_start")
	w.fails("adapter.send", obj{"adapter": w.adapter(nil)}, -32602, "invalid_params") // no intent
}

// TestSlowPluginHoldsUpNobody: on one connection, in the default order, while an intent computes:
// another adapter is asked, and the wait of the turn is cancelled.
func TestSlowPluginHoldsUpNobody(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{}))
	w.load("slow", `return {classify = function(s) return {state = "fine"} end, slow = function() while true do end end,
		wait_turn_matcher = function() return ptywright.matcher.contains_text("never") end}`)
	w.result("adapter.start", obj{"plugin": "slow"})
	w.result("adapter.start", obj{"plugin": "slow"})
	turn := w.send("adapter.turn", obj{"adapter": "e1", "send": obj{"intent": "slow"}, "wait": obj{"wait_id": "w"}})
	if m := w.call("adapter.state", obj{"adapter": "e2"}); m.Error != nil {
		t.Fatalf("another adapter: %s", m.line)
	}
	cancel := w.send("adapter.cancel_wait", obj{"wait_id": "w"})
	replies := w.replies(turn, cancel)
	if m := replies[cancel]; at(m.Result, "cancelled") != true {
		t.Errorf("adapter.cancel_wait: %s", m.line)
	}
	if m := replies[turn]; m.Error == nil || m.Error.Code != -32005 {
		t.Errorf("the turn: %s", m.line)
	}
	if m := w.call("adapter.state", obj{"adapter": "e1"}); at(m.Result, "state", "state") != "fine" {
		t.Errorf("afterwards: %s", m.line)
	}
}

// TestHugeParams: they are refused before a plugin's machine holds them.
func TestHugeParams(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{}))
	w.adapter(nil)
	params := json.RawMessage(`{"text":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`)
	for range 4 {
		w.fails("adapter.send", obj{"adapter": "e1", "intent": "type_only", "params": params}, -32602, "invalid_params")
		w.fails("session.wait", obj{"session": "s1", "matcher": obj{"type": "lua", "value": obj{"plugin": "ask", "predicate": "did", "params": params}}}, -32602, "invalid_matcher")
	}
	w.result("adapter.send", obj{"adapter": "e1", "intent": "type_only", "params": obj{"text": "x"}})
}

// TestStartComesBeforeWhatNamesIt: a script goes on with what it has started, however long the
// plugin takes to start.
func TestStartComesBeforeWhatNamesIt(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{}))
	w.load("slow", `return {classify = function(s) return {state = "fine"} end, describe = function() for i = 1, 1e6 do end return {} end}`)
	ids := []int{w.send("adapter.start", obj{"plugin": "slow"}), w.send("session.snapshot", obj{"session": "s1"}), w.send("adapter.state", obj{"adapter": "e1"})}
	for id, m := range w.replies(ids...) {
		if m.Error != nil {
			t.Errorf("request %d: %s", id, m.line)
		}
	}
}
