package native_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// TestCanary plants a secret wherever a program or a client can put one, calls every method, and
// looks at every byte that came back.
func TestCanary(t *testing.T) {
	const secret = "canary0123456789abcdef"
	copied := base64.StdEncoding.EncodeToString([]byte("what a password manager puts on the clipboard"))
	p, q := enginetest.New(), enginetest.New()
	left := []*enginetest.PTY{p, q}
	e := engine.New(engine.Options{Start: func(c pty.Command) (engine.PTY, error) {
		if len(left) == 0 {
			return nil, &pty.StartError{Op: "lookup", Path: c.Path, Err: errors.New("password=" + secret)}
		}
		next := left[0]
		left = left[1:]
		return next, nil
	}})
	w := newWire(t, e)
	plain := "token=" + secret
	dir := t.TempDir()
	w.result("server.set_notifications", obj{"enabled": true, "events": true})
	id := w.result("session.create", obj{
		"program": "fake", "args": []string{"--api-key=" + secret}, "cwd": "/tmp/password=" + secret, "env": obj{"TOKEN": secret},
	})["session"].(string)
	for range 60 {
		p.Print("in the scrollback " + plain + "\r\n")
	}
	p.Print("\x1b]0;" + plain + "\a\x1b]8;;https://example.invalid/?" + plain + "\x1b\\link\x1b]8;;\x1b\\\r\n")
	p.Print("\x1b]52;c;" + copied + "\acopied\r\n\x1bPtmux;\x1b\x1b]52;c;" + copied + "\a\x1b\\\r\n")
	p.Print("pass\x1b[1mword: " + secret[:10] + "\x1b[31m" + secret[10:] + "\x1b[m\r\n")
	p.Print(strings.Repeat("-", 60) + " token=" + secret + " wrapped\r\n")
	p.Print("secret: ")
	for _, c := range secret {
		p.Print(string(c))
	}
	p.Print("\r\n\x1b]7;file:///tmp/" + plain + "\a\x1b]133;A\a$ \x1b]133;B\aecho " + plain + "\r\n\x1b]133;C\apassword: " + secret + "\r\n\x1b]133;D;1\a")
	p.Print("\r\ndone\r\n")
	w.result("session.wait", obj{"session": id, "cells": "full", "matcher": obj{"type": "all", "value": []obj{
		text("done"), text(secret), {"type": "transcript_regex", "value": "token=(\\w+)"}, {"type": "title_regex", "value": ".*"},
	}}})
	adapter := w.adapter(nil)
	q.Print("\x1b]0;" + plain + "\a" + plain + "\r\ndid " + plain + "\r\n" + "password: " + secret + "\r\n> ")
	w.result("adapter.wait", obj{"adapter": adapter})
	on := func(intent string, params obj) obj {
		return obj{"adapter": adapter, "intent": intent, "params": params}
	}
	calls := map[string][]obj{
		"adapter.list": {nil}, "adapter.live": {nil}, "adapter.state": {{"adapter": adapter}}, "adapter.inspect": {{"adapter": adapter}},
		"adapter.start":      {{"plugin": "ask"}, {"plugin": plain}},
		"adapter.resume":     {{"plugin": "ask"}, {"plugin": "ask", "prior_adapter": plain}},
		"adapter.snapshot":   {{"adapter": adapter}},
		"adapter.transcript": {{"adapter": adapter}},
		"adapter.events":     {{"adapter": adapter}},
		"adapter.explain":    {{"adapter": adapter}},
		"adapter.send": {
			on("type_only", obj{"text": plain}), on("quotes", nil), on("refuses_quoting", nil), on(plain, nil), on("expects", nil),
		},
		"adapter.wait":             {on("wait_quoting_matcher", nil), {"adapter": adapter, "intent": "wait_never_matcher", "timeout_ms": 0}, on("wait_broken_matcher", nil)},
		"adapter.turn":             {{"adapter": adapter, "send": obj{"intent": "type_only", "params": obj{"text": ""}}, "wait": obj{"intent": "wait_quoting_matcher", "wait_id": "w"}}},
		"adapter.cancel_wait":      {{"wait_id": plain}},
		"adapter.close":            {{"adapter": adapter}},
		"plugin.capabilities":      {nil},
		"plugin.describe":          {{"plugin": "ask"}, {"plugin": plain}},
		"plugin.validate_manifest": {{"manifest": obj{"name": plain}}, {"manifest": obj{plain: 1}}},
		"plugin.load":              {{"manifest_path": plain}},
		"plugin.reload":            {{"plugin": plain}, {"plugin": "ask"}},
		"plugin.unload":            {{"plugin": plain}},
		"server.capabilities":      {nil, {"schema": true}},
		"server.metrics":           {nil},
		"server.hosts":             {nil, {"host": plain}},
		"server.set_hosts":         {{"hosts": true}, {"hosts": plain}},
		"server.set_notifications": {{"enabled": true, "events": true}, {"enabled": true, "events": true, "sessions": []any{id}, "since": 0}, {"enabled": true, "since": 0}},
		"server.set_ordering":      {{"ordering": "session"}},
		"server.set_rights":        {{"rights": "admin"}, {"rights": plain}},
		"server.set_client":        {{"name": plain, "host": plain}, {"name": plain + "\n"}},
		"server.set_strict":        {{"strict": true, plain: 1}, {"strict": true, plain: 1}, {"strict": false}},
		"session.create":           {{"program": "token=" + secret}, {"program": "x", "owner": plain}, {"program": "x", "max_ms": -1}, {"program": "x", "max_memory": 1 << 30}, {"program": "x", "raw_transcript_path": "/nowhere/token=" + secret}},
		"session.list":             {{"details": true}},
		"session.input":            {{"session": id, "action": obj{"type": "key", "value": "token=" + secret}}, {"session": "token=" + secret, "action": obj{"type": "eof"}}, {"session": id, "id": plain, "action": obj{"type": "eof"}}, {"session": id, "id": plain, "action": obj{"type": "interrupt"}}},
		"session.resize":           {{"session": id, "rows": 20, "cols": 70}},
		"session.snapshot":         {{"session": id}, {"session": id, "cells": "runs"}, {"session": id, "cells": "token=" + secret}},
		"session.history": {
			{"session": id, "which": "all", "max": 1000, "matcher": text(secret)},
			{"session": id, "which": "all", "max": 1000, "matcher": obj{"type": "screen_regex", "value": "(canary.*)"}},
			{"session": id, "which": "last", "matcher": obj{"type": "all", "value": []obj{
				{"type": "transcript_regex", "value": "token=(\\w+)"}, {"type": "title_regex", "value": ".*"}, {"type": "screen_regex", "value": "(?s).*"},
			}}},
			{"session": id, "matcher": obj{"type": "lua", "value": obj{"plugin": "ask", "predicate": plain}}}, {"session": id, "matcher": text("x"), "next": plain},
			{"session": id, "matcher": text("x"), "which": plain}, {"session": id, "matcher": text("x"), "since": obj{plain: 1}},
		},
		"session.transcript": {{"session": id}},
		"session.wait": {
			{"session": id, "timeout_ms": 0, "matcher": obj{"type": "any", "value": []obj{
				text("canary nothing"), {"type": "screen_regex", "value": "canary(.*)nothing"}, {"type": "title_contains", "value": "?"},
			}}},
			{"session": id, "timeout_ms": 1, "matcher": obj{"type": "any", "value": []obj{
				text("nothing " + plain), text("no " + secret), {"type": "screen_regex", "value": "x(" + secret + ")"}, {"type": "title_contains", "value": secret + "?"},
			}}},
			{"session": id, "matcher": obj{"type": "token=" + secret}},
			{"session": id, "timeout_ms": 0, "matcher": obj{"type": "screen", "value": obj{"screen": "screen 1\nsize 24x80\ntitle none\n--\n|\n*24\n--\n"}}},
			{"session": id, "timeout_ms": 0, "matcher": obj{"type": "screen", "value": obj{"screen": "screen 1\nsize 24x80\nmask n /" + secret + "/\n--\n|\n*24\n"}}},
			{"session": id, "matcher": obj{"type": "screen_regex", "value": "token=" + secret + "("}},
		},
		"session.wait_many": {
			{"select": obj{}, "timeout_ms": 0, "until": "each", "wait": "w", "matcher": obj{"type": "screen_regex", "value": "(?s)(.+)"}},
			{"sessions": []string{id}, "timeout_ms": 0, "evidence": "all", "matcher": obj{"type": "any", "value": []obj{text("no " + secret), {"type": "screen_regex", "value": "canary(.*)nothing"}}}},
			{"sessions": []string{id}, "since": obj{plain: 1}, "matcher": text("x")}, {"sessions": []string{plain}, "matcher": text("x")},
			{"select": obj{plain: plain}, "matcher": text("x")}, {"select": obj{"tag": plain}, "timeout_ms": 0, "matcher": text(secret)},
		},
		"session.run":        {{"session": id, "command": "echo " + secret}, {"session": plain, "command": plain}},
		"session.scrollback": {{"session": id, "count": 1000}, {"session": id, "count": 1000, "form": "runs"}, {"session": id, "form": plain}},
		"session.search":     {{"session": id, "regex": "."}, {"session": id, "regex": "token=" + secret + "("}},
		"session.blocks":     {{"session": id}},
		"session.screenshot": {{"session": id, "format": "svg"}, {"session": id, "format": "ansi"}, {"session": id, "format": "html"}, {"session": id, "format": plain}},
		"session.golden": {
			{"session": id}, {"session": id, "previous": "screen 1\nsize 2x2\n--\n|" + secret + "\n"}, {"session": id, "masks": []string{plain, "n /" + secret + "/"}},
			{"session": id, "region": secret}, {"session": id, "at": 20}, {"session": id, "masks": []string{"n /" + secret + "(/"}},
		},
		"session.locate":       {{"session": id, "locator": "rect 0,0"}, {"session": id, "locator": "/.+/"}},
		"session.events":       {{"session": id}, {"session": id, "since": 3, "max": 2}, {"session": plain}},
		"session.frame":        {{"session": id}, {"session": id, "form": "ansi"}, {"session": id, "form": plain}, {"session": id, "moves": true}},
		"session.lease":        {{"session": id, "holder": plain}, {"session": plain}},
		"session.release":      {{"session": id}},
		"session.record_start": {{"session": id, "path": "/nowhere/" + plain}, {"session": id, "format": plain}, {"session": id, "dir": dir, "title": plain}},
		"session.record_list":  {{"session": id}},
		"session.record_stop":  {{"recording": plain}},
		"session.forget":       {nil},
		"session.kill":         {{"session": id}},
		"session.close":        {{"session": id}},
	}
	for seq := range int(w.result("session.snapshot", obj{"session": id})["sequence"].(float64)) {
		calls["session.snapshot"] = append(calls["session.snapshot"], obj{"session": id, "cells": "runs", "at": seq})
	}
	for _, moment := range []any{20, 60, obj{"ago_ms": 0}, plain, obj{"time": plain}, obj{plain: 1}} {
		for method, more := range map[string]obj{"session.snapshot": {}, "session.screenshot": {"format": "html"}, "session.search": {"regex": "."}, "session.frame": {}} {
			params := obj{"session": id, "at": moment}
			maps.Copy(params, more)
			calls[method] = append(calls[method], params)
		}
	}
	for _, m := range w.result("server.capabilities", nil)["methods"].([]any) {
		if calls[m.(string)] == nil {
			t.Errorf("%s is not called", m)
		}
		for _, params := range calls[m.(string)] {
			if name := m.(string); name != "session.kill" && name != "session.close" && name != "adapter.close" {
				w.call(name, params)
			}
		}
	}
	for _, end := range []string{"session.kill", "session.close", "adapter.close"} {
		w.call(end, calls[end][0])
	}
	w.call("no.such.method.token="+secret, nil)
	w.reply(w.send("server.capabilities", nil)) // whatever was still to be told has been
	all := w.all.String()
	casts, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(casts) == 0 {
		t.Error("nothing was recorded")
	}
	for _, c := range casts {
		b, err := os.ReadFile(c)
		if err != nil {
			t.Error(err)
		}
		all += string(b)
	}
	planted := secret + "\x00" + copied
	for i := 0; i+12 <= len(planted); i++ {
		if at := strings.Index(all, planted[i:i+12]); at >= 0 {
			t.Fatalf("%q left: %q", planted[i:i+12], all[max(0, at-300):min(len(all), at+60)])
		}
	}
	if !strings.Contains(all, "[REDACTED]") {
		t.Error("nothing was redacted: the canary was not seen at all")
	}
}

// TestResultsFitTheirSchema holds what is written by hand against the schema that is printed.
func TestResultsFitTheirSchema(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p, enginetest.New()))
	id := w.create()
	p.Print("\x1b]0;t\a\x1b[1;2;3;4:3;5;7;8;9;53;58:5:9mstyled\x1b[m\x1b]133;A\a\x1b]133;B\a\x1b]133;C\a\x1b]133;D;1\a\x1b]8;;http://x.invalid\x1b\\link\x1b]8;;\x1b\\\r\n")
	w.until(id, "styled")
	calls := []struct {
		method string
		params obj
	}{
		{"server.capabilities", nil}, {"server.capabilities", obj{"schema": true}},
		{"server.set_notifications", obj{"enabled": false}}, {"server.set_ordering", obj{"ordering": "session"}}, {"server.set_rights", obj{"rights": "admin"}}, {"server.set_client", obj{"name": "x"}},
		{"session.list", nil}, {"session.list", obj{"details": true}},
		{"session.snapshot", obj{"session": id}}, {"session.snapshot", obj{"session": id, "cells": "runs"}},
		{"session.wait", obj{"session": id, "matcher": text("styled"), "cells": "full"}},
		{"session.transcript", obj{"session": id}}, {"session.scrollback", obj{"session": id}}, {"session.blocks", obj{"session": id}},
		{"session.screenshot", obj{"session": id}}, {"session.record_start", obj{"session": id, "dir": t.TempDir()}},
		{"session.record_list", nil}, {"session.record_stop", obj{"recording": "r1"}},
		{"session.search", obj{"session": id, "text": "l"}}, {"session.resize", obj{"session": id, "rows": 30, "cols": 80}},
		{"session.input", obj{"session": id, "action": obj{"type": "text", "value": "x"}}},
		{"session.kill", obj{"session": id}}, {"session.snapshot", obj{"session": id}}, {"session.close", obj{"session": id}},
		{"adapter.list", nil}, {"adapter.start", obj{"plugin": "ask"}}, {"adapter.live", nil}, {"adapter.state", obj{"adapter": "e1"}},
		{"adapter.send", obj{"adapter": "e1", "intent": "type_only", "params": obj{"text": "x"}}},
		{"adapter.wait", obj{"adapter": "e1", "intent": "wait_nothing_matcher"}},
		{"adapter.turn", obj{"adapter": "e1", "send": obj{"intent": "type_only", "params": obj{"text": ""}}, "wait": obj{"intent": "wait_nothing_matcher"}}},
		{"adapter.cancel_wait", obj{"wait_id": "w"}}, {"adapter.snapshot", obj{"adapter": "e1"}}, {"adapter.transcript", obj{"adapter": "e1"}},
		{"adapter.inspect", obj{"adapter": "e1"}}, {"adapter.events", obj{"adapter": "e1"}}, {"adapter.explain", obj{"adapter": "e1"}},
		{"adapter.close", obj{"adapter": "e1"}}, {"plugin.capabilities", nil}, {"plugin.describe", obj{"plugin": "ask"}},
		{"plugin.validate_manifest", obj{"manifest": obj{"name": "x", "kind": "adapter", "version": "1"}}},
		{"plugin.unload", obj{"plugin": "ask"}}, {"plugin.load", obj{"manifest_path": "testdata/ask/manifest.toml"}},
	}
	for _, c := range calls {
		w.result(c.method, c.params) // the wire holds params and result against the model
	}
}

// TestReasonsAreClosed reads every data.reason out of the source and holds them against the list
// that is printed.
func TestReasonsAreClosed(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{}))
	var printed []string
	for _, r := range w.result("server.capabilities", obj{"schema": true})["reasons"].([]any) {
		printed = append(printed, r.(string))
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	reason := regexp.MustCompile(`(?:[rR]eason(?:, e\.Message)?(?: =|:) |\t\{[\w.]+, )"([a-z_]+)"`)
	found := 0
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range reason.FindAllStringSubmatch(string(source), -1) {
			if found++; !slices.Contains(printed, m[1]) {
				t.Errorf("%s: the reason %q is not in the list", f, m[1])
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d reasons were found in the source", found)
	}
}

// TestSchemaBoundsAreTheServers asks for one less and one more than each bound that the schema
// prints.
func TestSchemaBoundsAreTheServers(t *testing.T) {
	ptys := make([]*enginetest.PTY, 128)
	for i := range ptys {
		ptys[i] = enginetest.New()
	}
	w := newWire(t, enginetest.Engine(ptys...))
	id, resized := w.create(), w.create()
	adapter := w.adapter(nil)
	tried := 0
	for _, method := range slices.Sorted(maps.Keys(w.result("server.capabilities", obj{"schema": true})["schema"].(map[string]any)["methods"].(map[string]any))) {
		var params struct{ Properties map[string]any }
		if err := json.Unmarshal(theModel.Defs[defOf(theModel.Methods[method].Params.Ref)], &params); err != nil {
			t.Fatal(err)
		}
		properties := params.Properties
		for name, p := range properties {
			p := p.(map[string]any)
			low, bounded := p["minimum"].(float64)
			high, ranged := p["maximum"].(float64)
			enum, _ := p["enum"].([]any)
			values := map[any]bool{}
			if bounded && ranged {
				values = map[any]bool{low: true, high: true, low - 1: false, high + 1: false}
			}
			for _, e := range enum {
				values[e] = true
				values["not "+e.(string)] = false
			}
			for value, ok := range values {
				params := obj{"session": id, "program": "fake", "rows": 24, "cols": 80, "matcher": text(""), "text": "x", "action": obj{"type": "eof"}, "command": "true",
					"plugin": "ask", "adapter": adapter, "intent": "type_only", "params": obj{"text": ""}, "send": obj{"intent": "type_only", "params": obj{"text": ""}},
					"wait": obj{"intent": "wait_nothing_matcher"},
				}
				switch method {
				case "session.record_start":
					params["dir"] = t.TempDir()
				case "session.resize": // a picture of 1,000 rows is too large
					params["session"] = resized
				case "adapter.wait":
					params["intent"] = "wait_nothing_matcher"
				case "session.wait_many":
					params["sessions"], params["wait"] = []string{id}, "w"
				case "session.locate":
					if params["locator"] = "rect 0,0"; value == "hidden" {
						params["locator"] = "'nowhere'"
					}
				}
				params[name] = value
				tried++
				on := w
				switch {
				case method == "server.set_rights": // it is for good
					on = newWire(t, enginetest.Engine())
				case method == "session.run" && ok: // there is no shell
					continue
				}
				m := on.call(method, params)
				if (m.Error == nil) != ok || m.Error != nil && m.Error.Code != -32602 {
					t.Errorf("%s with %s %v: %.200s", method, name, value, m.line)
				}
			}
		}
	}
	if tried < 40 {
		t.Errorf("only %d bounds were tried", tried)
	}
}
