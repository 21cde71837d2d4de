package native_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
)

// TestNamesOverTheWire: every method that takes a session takes its name, and answers with its id.
func TestNamesOverTheWire(t *testing.T) {
	one, two := enginetest.New(), enginetest.New()
	w := newWire(t, enginetest.Engine(one, two))
	if r := w.result("session.create", obj{"program": "fake", "name": "build"}); r["session"] != "s1" || len(r) != 1 {
		t.Fatalf("%v", r)
	}
	one.Print("hello")
	w.until("build", "hello")
	for _, c := range []struct {
		method string
		params obj
	}{
		{"session.snapshot", obj{"cells": "none"}}, {"session.transcript", nil}, {"session.scrollback", nil}, {"session.search", obj{"text": "hello"}},
		{"session.blocks", nil}, {"session.screenshot", obj{"format": "ansi"}}, {"session.frame", nil}, {"session.lease", nil}, {"session.release", nil},
		{"session.resize", obj{"rows": 30, "cols": 90}}, {"session.record_list", nil},
		{"session.input", obj{"action": obj{"type": "text", "value": "x"}}},
	} {
		p := obj{"session": "build"}
		for k, v := range c.params {
			p[k] = v
		}
		w.result(c.method, p)
	}
	if r := w.result("session.list", obj{"details": true, "session": "build"}); r["sessions"].([]any)[0] != "s1" || r["details"].([]any)[0].(obj)["name"] != "build" {
		t.Errorf("%v", r)
	}
	if e := w.fails("session.create", obj{"program": "fake", "name": "build"}, -32602, "name_taken"); e.Error.Data["session"] != "s1" {
		t.Errorf("%v", e)
	}
	for _, bad := range []string{"s9", "a b", "-x", strings.Repeat("n", 65)} {
		e := w.fails("session.create", obj{"program": "fake", "name": bad}, -32602, "invalid_params")
		if message := e.Error.Message; !strings.HasPrefix(message, "params.name: expected a letter and up to 63 letters") {
			t.Errorf("%q: %s", bad, message)
		}
	}
	w.fails("session.list", obj{"session": "other"}, -32602, "unknown_session")

	// What has ended keeps its name until another has it, and what was forgotten, too.
	one.End(3)
	w.result("session.wait", obj{"session": "build", "matcher": obj{"type": "process_exited"}})
	w.result("session.create", obj{"program": "fake", "name": "build"})
	if r := w.result("session.list", obj{"session": "build"}); r["sessions"].([]any)[0] != "s2" {
		t.Errorf("%v", r)
	}
	two.End(4)
	w.result("session.wait", obj{"session": "build", "matcher": obj{"type": "process_exited"}})
	w.result("session.forget", nil)
	r := w.result("session.wait", obj{"session": "build", "matcher": obj{"type": "process_exited"}})
	if r["forgotten"] != true || r["snapshot"].(obj)["exit"].(obj)["exit_code"] != 4. {
		t.Errorf("%v", r)
	}
	w.fails("session.snapshot", obj{"session": "build"}, -32602, "session_forgotten")
}

// TestNameAndIDAreOneLine: a request that names a session queues behind one that has its id.
func TestNameAndIDAreOneLine(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	w.result("session.create", obj{"program": "fake", "name": "build"})
	a := w.send("session.wait", obj{"session": "s1", "matcher": obj{"type": "contains_text", "value": "go"}})
	b := w.send("session.snapshot", obj{"session": "build", "cells": "none"})
	c := w.send("session.list", nil)
	if m := w.read(); *m.ID != c {
		t.Fatalf("overtook: %s", m.line)
	}
	p.Print("go")
	if first, second := *w.read().ID, *w.read().ID; first != a || second != b {
		t.Errorf("%v before %v", first, second)
	}
}

// TestNotificationsByName: one can be told of a name before there is a session of it.
func TestNotificationsByName(t *testing.T) {
	p, other := enginetest.New(), enginetest.New()
	w := newWire(t, enginetest.Engine(other, p))
	w.result("server.set_notifications", obj{"enabled": true, "sessions": []string{"build"}})
	w.result("session.create", obj{"program": "fake"})
	other.Print("no\r\n")
	w.result("session.create", obj{"program": "fake", "name": "build"})
	p.Print("yes\r\n")
	for {
		m := w.read()
		if m.Params["session"] != "s2" {
			t.Fatalf("%s", m.line)
		}
		if m.Method == "session.output" {
			return
		}
	}
}

// TestActionsInOrder: a list is typed as one, in its order; what is wrong with it is told with its
// place, and nothing is typed.
func TestActionsInOrder(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	text := func(s string) obj { return obj{"type": "text", "value": s} }
	key := func(s string) obj { return obj{"type": "key", "value": s} }
	for _, c := range []struct {
		params obj
		reason string
		says   string
	}{
		{obj{}, "invalid_action", "params: expected action or actions, got neither"},
		{obj{"action": text("a"), "actions": []obj{text("b")}}, "invalid_action", "params: expected action or actions, got both"},
		{obj{"actions": []obj{}}, "invalid_action", "params.actions: expected 1 to 1024 actions, got 0"},
		{obj{"actions": []obj{text("a"), key("Entr")}}, "invalid_action", `params.actions[1].value: key "Entr": unknown key: did you mean enter? known are `},
		{obj{"actions": []obj{text("a"), {"type": "text", "value": 3}}}, "invalid_action", "params.actions[1].value: expected a string"},
		{obj{"actions": []obj{text("a"), {"type": "kill"}}}, "invalid_action", "action 2: it types nothing"},
		{obj{"action": text("a"), "delay_ms": 10001}, "invalid_params", "params.delay_ms: expected an integer from 0 to 10000, got 10001"},
		{obj{"action": text("a"), "delay_ms": -1}, "invalid_params", "params.delay_ms: expected an integer"},
		{obj{"action": text(strings.Repeat("x", 602)), "delay_ms": 1000}, "invalid_action", "602 keystrokes with 1s between them"},
	} {
		c.params["session"] = id
		if e := w.fails("session.input", c.params, -32602, c.reason); !strings.HasPrefix(e.Error.Message, c.says) {
			t.Errorf("%v: %s", c.params, e.line)
		}
	}
	if p.Input() != "" {
		t.Errorf("%q was typed", p.Input())
	}
	r := w.result("session.input", obj{"session": id, "actions": []obj{key("up"), text("ab"), {"type": "bracketed_paste", "value": "x\x1b"}, key("Enter")}})
	if want := "\x1b[Aab\x1b[200~x\x1b[201~\r"; r["sent"] != true || r["stripped"] != 1. || p.Input() != want {
		t.Errorf("%v: %q", r, p.Input())
	}
}

// TestPaceIsCancelled: what is typed slowly holds up no other session, and tells how far it came.
func TestPaceIsCancelled(t *testing.T) {
	p, other := enginetest.New(), enginetest.New()
	w := newWire(t, enginetest.Engine(p, other))
	id, free := w.create(), w.create()
	slow := w.send("session.input", obj{"session": id, "action": obj{"type": "text", "value": "abc"}, "delay_ms": 10000})
	w.result("session.input", obj{"session": free, "action": obj{"type": "text", "value": "quick"}})
	if p.Input() != "a" || other.Input() != "quick" {
		t.Errorf("%q, %q", p.Input(), other.Input())
	}
	w.send("$/cancelRequest", obj{"id": slow})
	if m := w.reply(slow); m.Error == nil || m.Error.Code != -32005 || m.Error.Data["written"] != 1. || m.Error.Data["done"] != 0. {
		t.Errorf("%s", m.line)
	}
}

// TestMethodsNearInSpelling: the nearest one is named, letters that changed places counting once.
func TestMethodsNearInSpelling(t *testing.T) {
	w := newWire(t, enginetest.Engine())
	for name, want := range map[string]string{
		"session.wiat": "session.wait", "sesion.wait": "session.wait", "session.lits": "session.list", "session.snapshto": "session.snapshot",
		"session.Wait": "session.wait", "snapshot": "session.snapshot", "adapter.satte": "adapter.state", "server.capabilites": "server.capabilities",
		"create": "session.create", "wait": "session.wait",
	} {
		if m := w.call(name, nil); m.Error == nil || !strings.HasSuffix(m.Error.Message, ": did you mean "+want+"?") {
			t.Errorf("%s: %s", name, m.line)
		}
	}
	for _, name := range []string{"tools/list", "x", strings.Repeat("session.", 100)} {
		if m := w.call(name, nil); m.Error == nil || strings.Contains(m.Error.Message, "did you mean") {
			t.Errorf("%s: %s", name, m.line)
		}
	}
}

// TestBaseEnvOverTheWire: it is in the server's place, and excludes clear_env.
func TestBaseEnvOverTheWire(t *testing.T) {
	e := engine.New(engine.Options{})
	defer e.Close(context.Background())
	w := newWire(t, e)
	w.fails("session.create", obj{"program": "sh", "clear_env": true, "base_env": obj{}}, -32602, "invalid_params")
	id := w.result("session.create", obj{"program": "/bin/sh", "args": []string{"-c", "env | sort"}, "cols": 200,
		"base_env": obj{"ONLY": "this", "TMUX": "not", "DB_PASSWORD": "kj3Hf92lsPq0"}, "env": obj{"MORE": "2"}})["session"].(string)
	w.result("session.wait", obj{"session": id, "matcher": obj{"type": "process_exited"}, "timeout_ms": time.Minute.Milliseconds()})
	text := w.result("session.snapshot", obj{"session": id, "cells": "none"})["plain_text"].(string)
	for _, want := range []string{"ONLY=this\n", "MORE=2\n", "COLORTERM=truecolor\n", "DB_PASSWORD=[REDACTED]", "PTYWRIGHT_SESSION="} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	if strings.Contains(text, "TMUX") || strings.Contains(text, "HOME=") {
		t.Errorf("%q", text)
	}
}
