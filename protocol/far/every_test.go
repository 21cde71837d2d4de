package far_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/protocol/client"
	"github.com/ptywright/ptywright/protocol/native"
)

// sameAnywhere are requests whose answers are the same here and at another host, in the order in which
// they are made. SESSION, ADAPTER and RECORDING stand for ids.
func sameAnywhere(dir string) []struct {
	method string
	params obj
} {
	type o = obj
	var all []struct {
		method string
		params obj
	}
	add := func(method string, params obj) {
		all = append(all, struct {
			method string
			params obj
		}{method, params})
	}
	const s = "SESSION"
	at := func(more o) o {
		m := o{"session": s}
		maps.Copy(m, more)
		return m
	}
	add("session.create", o{"program": "fake", "name": "named", "host": "HOST"})
	add("session.list", o{"details": true, "host": "HOST"})
	add("session.list", at(nil))
	add("session.input", at(o{"action": o{"type": "text", "value": "hello"}}))
	add("session.wait", at(o{"matcher": contains("shown"), "since": 0}))
	add("session.wait", at(o{"matcher": contains("never"), "timeout_ms": 0}))
	add("session.wait", at(o{"matcher": o{"type": "screen_regex", "value": "("}}))
	add("session.wait_many", o{"sessions": []string{s}, "matcher": contains("shown"), "since": o{s: 0}})
	add("session.wait_many", o{"sessions": []string{s}, "matcher": contains("shown"), "since": o{"HOST/s9": 0}})
	add("session.wait_many", o{"select": o{"host": "HOST"}, "matcher": contains("shown")})
	add("session.wait_many", o{"sessions": []string{s}, "matcher": contains("never"), "timeout_ms": 0})
	add("session.wait_many", o{"sessions": []string{s}, "matcher": o{"type": "screen_regex", "value": "("}})
	add("session.snapshot", at(nil))
	add("session.snapshot", o{"session": "HOST/named", "cells": "runs"})
	add("session.transcript", at(nil))
	add("session.scrollback", at(nil))
	add("session.search", at(o{"text": "shown"}))
	add("session.locate", at(o{"locator": o{"text": "shown"}}))
	add("session.locate", at(o{"locator": o{"by": "text", "value": "shown"}}))
	add("session.history", at(o{"matcher": contains("shown")}))
	add("session.blocks", at(nil))
	add("session.events", at(nil))
	add("session.screenshot", at(o{"format": "ansi"}))
	add("session.golden", at(nil))
	add("session.frame", at(nil))
	add("session.resize", at(o{"rows": 30, "cols": 100}))
	add("session.lease", at(o{"holder": "me"}))
	add("session.release", at(nil))
	add("session.run", at(o{"command": "true", "timeout_ms": 1}))
	add("session.record_start", at(o{"path": dir + "/PLACE.cast"}))
	add("session.record_list", at(nil))
	add("session.record_stop", o{"recording": "RECORDING"})
	add("session.record_stop", o{"recording": "HOST/r99"})
	add("adapter.list", o{"host": "HOST"})
	add("adapter.live", o{"host": "HOST"})
	add("adapter.start", o{"plugin": "nothing", "host": "HOST"})
	add("adapter.resume", o{"plugin": "nothing", "host": "HOST"})
	for _, m := range []string{"state", "snapshot", "transcript", "inspect", "events", "explain", "close"} {
		add("adapter."+m, o{"adapter": "HOST/a9"})
	}
	add("adapter.send", o{"adapter": "HOST/a9", "intent": "x"})
	add("adapter.wait", o{"adapter": "HOST/a9"})
	add("adapter.turn", o{"adapter": "HOST/a9", "send": o{"intent": "x"}})
	add("adapter.cancel_wait", o{"wait_id": "w"})
	add("server.capabilities", o{"host": "HOST"})
	add("session.kill", at(nil))
	add("session.close", at(nil))
	add("session.forget", o{"host": "HOST"})
	return all
}

// TestEveryMethodThroughTheHub: each method is answered through the hub as it is without one, but for
// the host before ids. A method that is new has to be in the list above, or among those that concern
// this machine.
func TestEveryMethodThroughTheHub(t *testing.T) {
	t.Parallel()
	here := []string{ // what the hub itself answers, or this machine alone
		"$/cancelRequest", "server.metrics", "server.hosts", "server.set_hosts", "server.set_rights", "server.set_notifications",
		"server.set_client", "server.set_ordering", "server.set_strict", "plugin.capabilities", "plugin.describe", "plugin.load", "plugin.reload",
		"plugin.unload", "plugin.validate_manifest",
	}
	dir := t.TempDir()
	script := sameAnywhere(dir)
	for _, method := range methods(t) {
		if !slices.Contains(here, method) && !slices.ContainsFunc(script, func(s struct {
			method string
			params obj
		}) bool {
			return s.method == method
		}) {
			t.Errorf("%s is not tried through the hub", method)
		}
	}
	answers := func(through bool) []string {
		p := enginetest.New()
		s := newSite(t, "web-3", p)
		p.Print("shown\r\n")
		d, prefix := s.dialect, ""
		if through {
			d, prefix = newDesk(t, []*site{s}).hub, "web-3/"
		}
		c := dialTo(t, d)
		var all []string
		for _, one := range script {
			text, err := json.Marshal(one.params)
			if err != nil {
				t.Fatal(err)
			}
			params := strings.NewReplacer("HOST/", prefix, "SESSION", prefix+"s1", "RECORDING", prefix+"r1",
				"PLACE", fmt.Sprint(through), `"HOST"`, `"`+strings.TrimSuffix(prefix, "/")+`"`).Replace(string(text))
			var result json.RawMessage
			err = c.Call(c.ctx, one.method, json.RawMessage(params), &result)
			var e *client.Error
			if errors.As(err, &e) {
				result = json.RawMessage(fmt.Sprintf(`{"code":%d,"message":%q,"data":%s}`, e.Code, e.Message, e.Data))
			} else if err != nil {
				t.Fatalf("%s: %v", one.method, err)
			}
			if through && err == nil && strings.Contains(string(result), `"s1"`) {
				t.Errorf("%s answers with the host's own id: %s", one.method, result)
			}
			all = append(all, one.method+" "+steady(t, result, prefix))
		}
		return all
	}
	direct, through := answers(false), answers(true)
	for i := range direct {
		if direct[i] != through[i] {
			t.Errorf("without a hub: %.1500s\nthrough it:    %.1500s", direct[i], through[i])
		}
	}
}

// methods are all of the native wire.
func methods(t *testing.T) []string {
	t.Helper()
	text, err := json.Marshal(native.Model())
	var m struct{ Methods map[string]any }
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(m.Methods))
}

// steady writes a result without what differs from one run to the next.
func steady(t *testing.T, result json.RawMessage, prefix string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(result, &v); err != nil {
		t.Fatalf("%s: %v", result, err)
	}
	var clean func(v any) any
	clean = func(v any) any {
		switch v := v.(type) {
		case string:
			if prefix != "" {
				v = strings.ReplaceAll(v, prefix, "")
			}
			v = strings.ReplaceAll(strings.ReplaceAll(v, "/true.cast", "/X.cast"), "/false.cast", "/X.cast")
			if _, err := time.Parse(time.RFC3339Nano, v); err == nil {
				return "a time"
			}
			return v
		case []any:
			for i := range v {
				v[i] = clean(v[i])
			}
		case map[string]any:
			for name := range v {
				switch {
				case strings.HasSuffix(name, "_ms"), name == "ms", name == "bytes", name == "by", name == "epoch":
					v[name] = "some"
				default:
					v[name] = clean(v[name])
				}
			}
		}
		return v
	}
	text, err := json.Marshal(clean(v))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
