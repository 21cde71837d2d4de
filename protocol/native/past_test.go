package native_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/matchers"
)

// step prints a text and waits until the session has it, as one sequence at least, which it returns.
func (w *wire) step(p *enginetest.PTY, s *engine.Session, text string) uint64 {
	w.t.Helper()
	before := s.Sequence()
	p.Print(text)
	for deadline := time.After(hang); ; {
		changed := s.Changed()
		if now := s.Sequence(); now > before {
			return now
		}
		select {
		case <-changed:
		case <-deadline:
			w.t.Fatalf("%q was never read", text)
		}
	}
}

// stepped starts a session, and returns it beside its id.
func (w *wire) stepped(e *engine.Engine, params obj) (string, *engine.Session) {
	w.t.Helper()
	if params == nil {
		params = obj{}
	}
	params["program"] = "fake"
	id := w.result("session.create", params)["session"].(string)
	s, err := e.Session(engine.ID(id))
	if err != nil {
		w.t.Fatal(err)
	}
	return id, s
}

// TestAtShowsWhatWas: every read that takes at shows the screen of a sequence, and of a time, and
// says which and what is kept.
func TestAtShowsWhatWas(t *testing.T) {
	p := enginetest.New()
	e := enginetest.Engine(p)
	w := newWire(t, e)
	id, s := w.stepped(e, nil)
	one := w.step(p, s, "the first\r\n")
	two := w.step(p, s, "\x1b[2J\x1b[Hthe second")
	frame := w.result("session.frame", obj{"session": id})
	reads := map[string]func(m obj) string{
		"session.snapshot":   func(m obj) string { return m["plain_text"].(string) },
		"session.screenshot": func(m obj) string { return m["data"].(string) },
		"session.search":     func(m obj) string { b, _ := json.Marshal(m["matches"]); return string(b) },
		"session.golden":     func(m obj) string { return m["screen"].(string) },
		"session.frame":      func(m obj) string { b, _ := json.Marshal(m["rows"]); return string(b) },
	}
	ask := func(method string, at any) (obj, string) {
		params := obj{"session": id, "at": at}
		switch method {
		case "session.screenshot":
			params["format"] = "ansi"
		case "session.search":
			params["regex"] = "the.*"
		}
		m := w.result(method, params)
		return m, reads[method](m)
	}
	for method := range reads {
		first, text := ask(method, one)
		if !strings.Contains(text, "the first") || strings.Contains(text, "second") || first["sequence"] != float64(one) || first["kept_from"] != 0. {
			t.Errorf("%s at %d: %v", method, one, first)
		}
		for _, at := range []any{two, obj{"ago_ms": 0}} {
			if m, text := ask(method, at); !strings.Contains(text, "the second") || m["sequence"] != float64(two) {
				t.Errorf("%s at %v: %v", method, at, m)
			}
		}
		at := obj{"time": first["shown_at"]}
		if m, text := ask(method, at); !strings.Contains(text, "the first") || m["sequence"] != float64(one) || m["shown_at"] != first["shown_at"] {
			t.Errorf("%s at %v: %v", method, at, m)
		}
		for name, c := range map[string]struct {
			at   any
			says string
		}{
			"a sequence to come": {two + 1, "sequence 3 is still to come: the newest is 2: session.wait waits for what comes"},
			"a time to come":     {obj{"time": time.Now().Add(time.Hour)}, "session.wait waits"},
			"before it began":    {obj{"ago_ms": 86400_000}, "the session began after"},
		} {
			m := w.fails(method, obj{"session": id, "at": c.at, "regex": "x"}, -32602, "moment_not_kept")
			if m.Error == nil || !strings.Contains(m.Error.Message, c.says) || m.Error.Data["kept_from"] != 0. || m.Error.Data["sequence"] != float64(two) {
				t.Errorf("%s, %s: %s", method, name, m.line)
			}
		}
		for _, bad := range []any{-1, 1.5, "1", obj{}, obj{"ago_ms": 1, "time": time.Now()}, obj{"AGO_MS": 1}, obj{"ago_ms": "1"}, obj{"ago_ms": -1}, obj{"time": "today"}, []int{1}, true} {
			w.fails(method, obj{"session": id, "at": bad, "regex": "x"}, -32602, "invalid_params")
		}
	}
	// What the client has of the session as it is was not touched.
	if m := w.result("session.frame", obj{"session": id, "since": frame["sequence"], "timeout_ms": 0}); m["full"] != false || len(m["rows"].([]any)) > 0 {
		t.Errorf("frame: %v", m)
	}
	w.fails("session.frame", obj{"session": id, "since": 1, "at": 1}, -32602, "invalid_params")
}

// TestAtSaysWhatIsGone: what the bound has dropped is refused, with what is kept and what to do.
func TestAtSaysWhatIsGone(t *testing.T) {
	p := enginetest.New()
	e := enginetest.Engine(p)
	w := newWire(t, e)
	id, s := w.stepped(e, obj{"transcript_max_chars": 1000})
	begun := time.Now()
	for i := range 100 {
		w.step(p, s, fmt.Sprintf("%040d\r\n", i))
	}
	m := w.fails("session.snapshot", obj{"session": id, "at": 1}, -32602, "moment_not_kept")
	if kept := m.Error.Data["kept_from"].(float64); kept < 50 || !strings.Contains(m.Error.Message, "has been dropped") || !strings.Contains(m.Error.Message, "transcript_max_chars") {
		t.Errorf("%s", m.line)
	}
	m = w.fails("session.snapshot", obj{"session": id, "at": obj{"time": begun}}, -32602, "moment_not_kept")
	if m.Error.Data["kept_from_at"] == nil || !strings.Contains(m.Error.Message, "has been dropped") {
		t.Errorf("%s", m.line)
	}
	r := w.result("session.history", obj{"session": id, "matcher": text("0000"), "which": "all"})
	if kept := r["kept_from"].(float64); r["complete"] != true || at(r["spans"].([]any)[0], "from") != kept {
		t.Errorf("all that is kept: %.300v", r)
	}
	for _, since := range []any{0, obj{"time": begun}} {
		if r := w.result("session.history", obj{"session": id, "matcher": text("0000"), "since": since}); r["complete"] != false || len(r["spans"].([]any)) != 1 {
			t.Errorf("since %v: %.300v", since, r)
		}
	}
	w.fails("session.history", obj{"session": id, "matcher": text("x"), "until": 1}, -32602, "moment_not_kept")
	w.fails("session.history", obj{"session": id, "matcher": text("x"), "since": 101}, -32602, "moment_not_kept")
	w.fails("session.history", obj{"session": id, "matcher": text("x"), "until": 101}, -32602, "moment_not_kept")
}

// TestHistoryTellsSpans: first, last and all of the times at which something was on the screen,
// for a moment within one write as well.
func TestHistoryTellsSpans(t *testing.T) {
	p := enginetest.New()
	e := enginetest.Engine(p)
	w := newWire(t, e)
	id, s := w.stepped(e, nil)
	for _, text := range []string{"here", "\x1b[2J\x1b[H", "\x1b[Hhere\x1b[2J", "there is nothing", "\x1b[2J\x1b[Hhere", "!"} {
		w.step(p, s, text)
	}
	ask := func(more obj) (all []string, r obj) {
		params := obj{"session": id, "matcher": obj{"type": "screen_regex", "value": `(?m)^(here)`}}
		for k, v := range more {
			params[k] = v
		}
		r = w.result("session.history", params)
		for _, s := range r["spans"].([]any) {
			one := s.(obj)
			all = append(all, fmt.Sprint(one["from"], "-", one["to"]))
			from, err1 := time.Parse(time.RFC3339Nano, one["from_at"].(string))
			to, err2 := time.Parse(time.RFC3339Nano, one["to_at"].(string))
			if err1 != nil || err2 != nil || float64(to.Sub(from).Milliseconds()) != one["ms"] ||
				!strings.Contains(at(one, "snapshot", "plain_text").(string), "here") || at(one, "outcome", "capture") != "here" {
				t.Errorf("%v", one)
			}
		}
		return all, r
	}
	for _, c := range []struct {
		more obj
		want string
	}{
		{obj{}, "[1-2]"}, {obj{"which": "first"}, "[1-2]"}, {obj{"which": "last"}, "[5-<nil>]"},
		{obj{"which": "all"}, "[1-2 3-3 5-<nil>]"}, {obj{"which": "all", "since": 1}, "[3-3 5-<nil>]"},
		{obj{"which": "all", "since": 0}, "[1-2 3-3 5-<nil>]"}, {obj{"which": "all", "until": 2}, "[1-2]"},
		{obj{"which": "all", "since": 2, "until": 4}, "[3-3]"}, {obj{"which": "all", "since": 4, "until": 2}, "[]"},
		{obj{"which": "all", "since": obj{"ago_ms": 0}}, "[6-<nil>]"}, {obj{"which": "all", "since": obj{"ago_ms": 86400_000}, "until": obj{"ago_ms": 0}}, "[1-2 3-3 5-<nil>]"},
	} {
		if got, r := ask(c.more); fmt.Sprint(got) != c.want || r["complete"] != true || r["next"] != nil || r["kept_from"] != 0. {
			t.Errorf("%v: %v, want %s: %v", c.more, got, c.want, r)
		}
	}
	// What has scrolled off, or is not shown yet, is not on the screen; and a screen that is as it
	// is for some time is so up to now.
	held := w.result("session.history", obj{"session": id, "matcher": obj{"type": "screen_stable", "value": obj{"min_ms": 0}}, "which": "last"})
	if len(held["spans"].([]any)) != 1 || at(held["spans"].([]any)[0], "to") != nil {
		t.Errorf("a still screen: %v", held)
	}
	for _, bad := range []any{"h1", "x", "h9-1-1-0-0-0-0-0-0", "h0-0-1-0-0-0-0-0-8", "h0-5-1-0-0-3-0-0-2", 7} {
		w.fails("session.history", obj{"session": id, "matcher": text("x"), "next": bad}, -32602, "invalid_params")
	}
	// A mark that was made up does no harm.
	w.result("session.history", obj{"session": id, "matcher": text("x"), "next": "h0-999999-3-77-5-3-66-9-3"})
	w.fails("session.history", obj{"session": id}, -32602, "invalid_matcher")
	w.fails("session.history", obj{"session": id, "matcher": obj{"type": "lua", "value": obj{"plugin": "ask", "predicate": "no such"}}}, -32602, "invalid_matcher")
}

// TestHistoryGoesOn: however many answers it takes, together they have the spans that are found at
// once, and each costs little.
func TestHistoryGoesOn(t *testing.T) {
	p := enginetest.New()
	e := enginetest.Engine(p)
	w := newWire(t, e)
	id, s := w.stepped(e, obj{"transcript_max_chars": 1 << 20})
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var b strings.Builder
		for range 1 + r.IntN(40) {
			b.WriteString([]string{"on", "off", "\x1b[2J\x1b[H", "\a", "\x1b[2J\x1b[Hon", "x\r\n", "\x1b[K"}[r.IntN(7)])
		}
		w.step(p, s, b.String())
	}
	var many strings.Builder // more moments in one write than one answer looks at
	for i := range 1200 {
		many.WriteString([]string{"of", "on"}[min(1, i%100/99)] + "\x1b[2J\x1b[H")
	}
	w.step(p, s, many.String())
	w.step(p, s, "on")
	newest := s.Sequence()
	for _, tree := range []obj{
		text("on"), {"type": "not", "value": text("on")}, {"type": "bell"},
		{"type": "all", "value": []obj{text("on"), {"type": "not", "value": text("off")}}},
		{"type": "cursor_at", "value": obj{"row": 0, "col": 2}},
	} {
		m, err := matchers.Parse(decoded(t, tree), matchers.Options{Scope: matchers.OnScreen})
		if err != nil {
			t.Fatal(err)
		}
		blank, err := s.At(0)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		views := func(yield func(*engine.View) bool) {
			if yield(blank) {
				s.Past(0, newest)(yield)
			}
		}
		for x, err := range engine.Spans(views, m) {
			if err != nil {
				t.Fatal(err)
			}
			to := any(float64(x.To))
			if x.Open {
				to = nil
			}
			want = append(want, fmt.Sprint(x.From, "-", to, " ", x.FromAt.UTC().Format(time.RFC3339Nano), " ", x.View.Screen.Text()))
		}
		for _, most := range []int{1, 10_000} {
			var got []string
			params := obj{"session": id, "matcher": tree, "which": "all", "max": most}
			for calls := 0; ; calls++ {
				r := w.result("session.history", params)
				for _, x := range r["spans"].([]any) {
					got = append(got, fmt.Sprint(at(x, "from"), "-", at(x, "to"), " ", at(x, "from_at"), " ", at(x, "snapshot", "plain_text")))
				}
				if len(r["spans"].([]any)) > most || (r["next"] == nil) != r["complete"].(bool) || calls > 5000 {
					t.Fatalf("%v, at most %d: %.300v", tree, most, r)
				}
				if params["next"] = r["next"]; r["next"] == nil {
					if most == 10_000 && calls == 0 {
						t.Errorf("%v: one answer has looked at everything: nothing was bounded", tree)
					}
					break
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%v, at most %d: %d spans, want %d: %.600q, want %.600q", tree, most, len(got), len(want), got, want)
			}
		}
	}
}

// decoded is a value as the wire has it.
func decoded(t *testing.T, v any) (out any) {
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestHistoryIsCancelled: a matcher that takes long holds up nobody, ends with its request, and is
// not waited for without end.
func TestHistoryIsCancelled(t *testing.T) {
	p := enginetest.New()
	e := enginetest.Engine(p)
	w := newWire(t, e)
	id, s := w.stepped(e, obj{"rows": 1000, "cols": 1000})
	w.step(p, s, strings.Repeat("a", 60_000))
	dear := obj{"type": "screen_regex", "value": `(x+x+)+y|` + strings.Repeat("(a|aa)", 40) + `z`}
	m := w.fails("session.history", obj{"session": id, "matcher": dear, "timeout_ms": 20}, -32001, "timeout")
	if m.Error == nil || !strings.Contains(m.Error.Message, "20ms") || at(m.Error.Data, "matcher", "type") != "screen_regex" {
		t.Errorf("%.400s", m.line)
	}
	asked := w.send("session.history", obj{"session": id, "matcher": dear, "timeout_ms": 60_000})
	w.result("server.metrics", nil) // is answered meanwhile
	cancel := w.send("$/cancelRequest", obj{"id": asked})
	answers := w.replies(asked, cancel)
	if m := answers[asked]; m.Error == nil || m.Error.Code != -32005 {
		t.Errorf("%.300s", m.line)
	}
}

// TestLaterSecretHidesThePast: what becomes known as a secret is hidden in what was shown before,
// however that is read, unless the read says that nothing is to be hidden.
func TestLaterSecretHidesThePast(t *testing.T) {
	const secret = "Wq7xZ9pLm3"
	p, q := enginetest.New(), enginetest.New()
	e := enginetest.Engine(p, q)
	w := newWire(t, e)
	id, s := w.stepped(e, nil)
	seq := w.step(p, s, "\x1b]2;it is "+secret+"\ait is "+secret+"\r\n")
	w.step(p, s, "\x1b[2J\x1b[H\x1b]2;no\agone ")
	var drawn []uint64 // a character at a time
	for _, c := range secret {
		drawn = append(drawn, w.step(p, s, string(c)))
	}
	w.step(p, s, "\x1b[2J\x1b[H")
	calls := []struct {
		method string
		params obj
	}{
		{"session.snapshot", obj{"at": seq}}, {"session.snapshot", obj{"at": seq, "cells": "runs"}},
		{"session.screenshot", obj{"at": seq, "format": "svg"}}, {"session.screenshot", obj{"at": seq, "format": "html"}},
		{"session.search", obj{"at": seq, "regex": "it is .*"}},
		{"session.frame", obj{"at": seq}}, {"session.frame", obj{"at": seq, "form": "ansi"}},
		{"session.history", obj{"matcher": obj{"type": "screen_regex", "value": "it is (.*)"}, "which": "all"}},
		{"session.history", obj{"matcher": obj{"type": "title_regex", "value": "it is (.*)"}}},
		{"session.history", obj{"matcher": obj{"type": "transcript_regex", "value": "it is (.*)"}}},
	}
	shown := func(c obj, method string, redact bool) bool {
		params := obj{"session": id}
		for k, v := range c {
			params[k] = v
		}
		if !redact {
			params["redact"] = false
		}
		m := w.call(method, params)
		if m.Error != nil {
			t.Fatalf("%s %v: %s", method, params, m.line)
		}
		return strings.Contains(m.line, secret)
	}
	for _, c := range calls {
		if !shown(c.params, c.method, true) {
			t.Errorf("%s %v does not show what is no secret", c.method, c.params)
		}
	}
	w.result("session.create", obj{"program": "other", "env": obj{"API_TOKEN": secret}})
	for i, seq := range drawn[4:] { // all but the first characters
		if text := w.result("session.snapshot", obj{"session": id, "at": seq})["plain_text"].(string); strings.Contains(text, secret[:i+5]) {
			t.Errorf("what was drawn so far shows: %q", text)
		}
		m := w.call("session.wait", obj{"session": id, "since": seq - 1, "latched": true,
			"matcher": obj{"type": "screen_regex", "value": `(\w+)`}})
		if m.Error != nil || strings.Contains(m.line, secret[:i+5]) {
			t.Errorf("a latched wait shows what was drawn so far: %s", m.line)
		}
	}
	for _, c := range calls {
		if shown(c.params, c.method, true) {
			t.Errorf("%s %v shows what has become a secret", c.method, c.params)
		}
		if !shown(c.params, c.method, false) {
			t.Errorf("%s %v hides it from who asked for all", c.method, c.params)
		}
	}
}

// TestHistoryMaxBytes: what a session keeps to show its past is the server's, or as it says; 0 is
// none.
func TestHistoryMaxBytes(t *testing.T) {
	p, q, r := enginetest.New(), enginetest.New(), enginetest.New()
	all := []*enginetest.PTY{p, q, r}
	e := engine.New(engine.Options{HistoryBytes: -1, Start: func(pty.Command) (engine.PTY, error) {
		next := all[0]
		all = all[1:]
		return next, nil
	}})
	w := newWire(t, e)
	if n := at(w.result("server.capabilities", nil), "limits", "history_bytes"); n != 0. {
		t.Errorf("the server keeps %v", n)
	}
	for _, c := range []struct {
		p      *enginetest.PTY
		params obj
		kept   bool
	}{{p, obj{}, false}, {q, obj{"history_max_bytes": 0}, false}, {r, obj{"history_max_bytes": 100_000}, true}} {
		id, s := w.stepped(e, c.params)
		w.step(c.p, s, "one")
		w.step(c.p, s, "two")
		if m := w.call("session.snapshot", obj{"session": id, "at": 1}); (m.Error == nil) != c.kept {
			t.Errorf("%v: %s", c.params, m.line)
		}
		w.result("session.snapshot", obj{"session": id, "at": 2})
	}
}
