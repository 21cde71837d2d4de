//go:build unix

package native_test

import (
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
)

// asks is a plugin of a program whose dialogs ask to allow something, and that remembers what its
// newest looks have shown it.
const asks = `local m = ptywright.matcher
local looks = {}
local function classify(s)
	looks[#looks + 1] = s.sequence
	local hit = s:match("Allow (%w+)%?") or s:match("Allow (\\w+)\\?")
	if hit then return {state = "asking", evidence = hit.captures[1], metadata = {looks = looks}} end
	return {state = "idle", metadata = {looks = looks}}
end
return {
	classify = classify,
	types = function(p) return {actions = {ptywright.action.text(p.text)}} end,
	asking = function(s)
		local state = classify(s)
		return {matched = state.state == "asking", evidence = state.evidence}
	end,
	fails = function(s) if s:contains("Allow") then error("a half drawn screen") end return false end,
	wait_asking_matcher = function() return m.predicate("asking") end,
	wait_fails_matcher = function() return m.predicate("fails") end,
	describe = function() return {intents = {{name = "types"}}, predicates = {{name = "asking"}, {name = "fails"}}} end,
}`

// TestLatchedAdapterWait: a dialog that was there for a moment ends a latched wait of an adapter,
// with the state of that moment, and without a trace in the adapter's own state. What the plugin
// could not judge is missed.
func TestLatchedAdapterWait(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	w.load("asks", asks)
	w.result("adapter.start", obj{"plugin": "asks"})
	shown := func(text, then string) {
		p.Print(text)
		w.result("session.wait", obj{"session": "s1", "matcher": obj{"type": "contains_text", "value": then}})
	}
	shown("ready", "ready")
	since := w.result("adapter.snapshot", obj{"adapter": "e1", "cells": "none"})["sequence"]
	shown("\x1b[2J\x1b[HAllow rm?\x1b[2J\x1b[Hgone", "gone")
	wait := obj{"adapter": "e1", "intent": "wait_asking_matcher", "since": since, "timeout_ms": 0}
	if m := w.call("adapter.wait", wait); m.Error == nil {
		t.Errorf("a wait that is not latched: %s", m.line)
	}
	wait["latched"] = true
	r := w.result("adapter.wait", wait)
	if at(r, "state", "state") != "asking" || at(r, "state", "evidence") != "rm" || at(r, "matched", "evidence") != "rm" || r["held_at"] == nil || r["missed"] != nil {
		t.Errorf("a dialog that was there for a moment: %v", r)
	}
	if s := at(w.result("adapter.state", obj{"adapter": "e1"}), "state", "state"); s != "idle" {
		t.Errorf("the adapter's state is %v", s)
	}
	wait["since"] = r["next"]
	if m := w.call("adapter.wait", wait); m.Error == nil || m.Error.Data["missed"] != nil {
		t.Errorf("after what matched: %s", m.line)
	}
	m := w.call("adapter.wait", obj{"adapter": "e1", "intent": "wait_fails_matcher", "since": since, "latched": true, "timeout_ms": 0})
	if m.Error == nil || m.Error.Data["missed"] != true || m.Error.Data["reason"] != "timeout" {
		t.Errorf("a moment that the plugin fails at: %s", m.line)
	}

	// While a turn's wait lasts, too; before its intent the plugin remembers nothing of later.
	p.WhenTaken(func([]byte) { p.Print("\x1b[2J\x1b[HAllow cp?\x1b[2J") })
	id := w.send("adapter.turn", obj{"adapter": "e1", "send": obj{"intent": "types", "params": obj{"text": "x"}},
		"wait": obj{"intent": "wait_asking_matcher", "latched": true}})
	if m := w.reply(id); at(m.Result, "state", "evidence") != "cp" || at(m.Result, "held_at") == nil {
		t.Errorf("a turn: %s", m.line)
	}
	r = w.result("adapter.wait", obj{"adapter": "e1", "intent": "wait_asking_matcher", "since": since, "latched": true})
	if at(r, "state", "evidence") != "rm" || len(at(r, "state", "metadata", "looks").([]any)) > 20 {
		t.Errorf("before the intent: %v", r)
	}
}
