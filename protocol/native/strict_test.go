package native_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/protocol/native"
)

// TestStrict: members that are not known are ignored until a client asks for more, and then refused
// wherever they stand, with their place and what was probably meant. Other connections are left
// alone.
func TestStrict(t *testing.T) {
	a, b := newWires(t, enginetest.Engine(enginetest.New()))
	id := a.create()
	lists := obj{"session": id, "text": "x", "mx": 3}
	a.result("session.search", lists)
	if r := a.result("server.set_strict", obj{"strict": true}); r["strict"] != true {
		t.Errorf("%v", r)
	}
	b.result("session.search", lists)
	for _, c := range []struct {
		method, path, near string
		params             obj
	}{
		{"session.search", "params.mx", "max", lists},
		{"session.list", "params.detials", "details", obj{"detials": true}},
		{"session.wait", "params.timeout", "timeout_ms", obj{"session": id, "matcher": text("x"), "timeout": 5}},
		{"session.wait", "params.matcher.vlaue", "value", obj{"session": id, "matcher": obj{"type": "contains_text", "vlaue": "x"}}},
		{"session.wait", "params.matcher.value[1].value.rwo", "row", obj{"session": id, "matcher": obj{"type": "any", "value": []obj{text("x"), {"type": "cursor_at", "value": obj{"rwo": 1, "col": 1}}}}}},
		{"session.wait", "params.matcher.value.value", "", obj{"session": id, "matcher": obj{"type": "not", "value": obj{"type": "bell", "value": 1}}}},
		{"session.input", "params.action.value.evnt", "event", obj{"session": id, "action": obj{"type": "key", "value": obj{"key": "up", "evnt": "press"}}}},
		{"session.input", "params.actions[1].delay", "", obj{"session": id, "actions": []obj{{"type": "eof"}, {"type": "eof", "delay": 1}}}},
		{"session.create", "params.enviroment", "", obj{"program": "fake", "env": obj{"ANY": "name"}, "enviroment": obj{}}},
		{"adapter.turn", "params.wait.timeout", "timeout_ms", obj{"adapter": "e1", "send": obj{"intent": "x", "params": obj{"any": 1}}, "wait": obj{"timeout": 1}}},
		{"server.metrics", "params.x", "", obj{"x": 1}},
	} {
		m := a.fails(c.method, c.params, -32602, "invalid_params")
		if m.Error == nil || !strings.HasPrefix(m.Error.Message, c.path+": ") || c.near != "" && !strings.HasSuffix(m.Error.Message, "did you mean "+c.near+"?") {
			t.Errorf("%s %v: %s", c.method, c.params, m.line)
		}
	}
	a.fails("session.snapshot", obj{"session": id, "redaction": obj{"extra_literal": []string{"x"}}}, -32602, "invalid_redaction")
	a.fails("session.wait", obj{"session": id, "matcher": obj{"type": "lua", "value": obj{"plugin": "nobody", "predicate": "p", "params": obj{"any": 1}}}}, -32602, "invalid_matcher")
	a.result("server.set_strict", obj{"strict": false})
	a.result("session.search", lists)
	a.fails("server.set_strict", obj{}, -32602, "invalid_params")
}

// TestNullInAListIsRefused: it would be taken for an empty text.
func TestNullInAListIsRefused(t *testing.T) {
	w := newWire(t, enginetest.Engine(enginetest.New()))
	for member, params := range map[string]obj{
		"args[1]":  {"program": "fake", "args": []any{"x", nil}},
		"env.HOME": {"program": "fake", "env": obj{"HOME": nil}},
	} {
		if m := w.fails("session.create", params, -32602, "invalid_params"); m.Error != nil && !strings.HasPrefix(m.Error.Message, "params."+member+": ") {
			t.Errorf("%s", m.line)
		}
	}
	w.result("session.create", obj{"program": "fake", "args": nil, "env": nil})
}

// TestOpenRPC: the document has what OpenRPC 1.3 requires, and every reference in it leads
// somewhere.
func TestOpenRPC(t *testing.T) {
	model, err := native.Plain(native.Model())
	if err != nil {
		t.Fatal(err)
	}
	made, err := native.OpenRPC(model.(map[string]any), "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := native.Plain(made)
	if err != nil {
		t.Fatal(err)
	}
	doc := plain.(map[string]any)
	if doc["openrpc"] != "1.3.2" || at(doc, "info", "title") != "ptywright" || at(doc, "info", "version") != "v1.2.3" {
		t.Errorf("%v %v", doc["openrpc"], doc["info"])
	}
	methods := doc["methods"].([]any)
	if len(methods) != len(theModel.Methods) {
		t.Errorf("%d methods, want %d", len(methods), len(theModel.Methods))
	}
	names := map[string]bool{}
	for _, m := range methods {
		name := m.(map[string]any)["name"].(string)
		if names[name] || at(m, "result", "name") != "result" || at(m, "result", "schema") == nil || at(m, "summary") == "" || at(m, "paramStructure") != "by-name" {
			t.Errorf("%v", m)
		}
		names[name] = true
		params, ok := at(m, "params").([]any)
		if !ok {
			t.Errorf("%s has no list of params", name)
		}
		for _, p := range params {
			if _, ok := at(p, "required").(bool); !ok || at(p, "name") == "" || at(p, "schema") == nil {
				t.Errorf("%s: %v", name, p)
			}
		}
	}
	for name, e := range at(doc, "components", "errors").(map[string]any) {
		if _, ok := at(e, "code").(float64); !ok || at(e, "message") == "" {
			t.Errorf("%s: %v", name, e)
		}
	}
	var follow func(v any)
	follow = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				follow(e)
			}
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				path, ok := strings.CutPrefix(ref, "#/")
				if !ok || at(doc, strings.Split(path, "/")...) == nil {
					t.Errorf("%s leads nowhere", ref)
				}
			}
			for _, e := range v {
				follow(e)
			}
		}
	}
	follow(doc)
	if b, _ := json.Marshal(doc); strings.Contains(string(b), "$defs") {
		t.Error("a definition of JSON Schema is left")
	}
}
