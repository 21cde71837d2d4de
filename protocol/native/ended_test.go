package native_test

import (
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// barn returns an engine that makes a terminal without a kernel for each session, and a function
// that returns the newest one.
func barn(o engine.Options) (e *engine.Engine, newest func() *enginetest.PTY) {
	made := make(chan *enginetest.PTY, 10_000)
	o.Start = func(pty.Command) (engine.PTY, error) {
		p := enginetest.New()
		made <- p
		return p, nil
	}
	return engine.New(o), func() *enginetest.PTY { return <-made }
}

var exited = obj{"type": "process_exited"}

// short runs a program that prints and ends with a code, and returns its session's id.
func (w *wire) short(newest func() *enginetest.PTY, print string, code int) string {
	w.t.Helper()
	id := w.create()
	p := newest()
	p.Print(print)
	p.End(code)
	w.result("session.wait", obj{"session": id, "matcher": exited})
	return id
}

func (w *wire) sessions() string {
	w.t.Helper()
	var ids []string
	for _, id := range w.result("session.list", nil)["sessions"].([]any) {
		ids = append(ids, id.(string))
	}
	return strings.Join(ids, " ")
}

// untilGone waits until a session is forgotten: that follows the end of a newer one, and is done by
// nobody's request.
func (w *wire) untilGone(e *engine.Engine, id string) {
	w.t.Helper()
	for changed := e.Changed(); ; changed = e.Changed() {
		if _, err := e.Session(engine.ID(id)); err != nil {
			return
		}
		<-changed
	}
}

func TestForgottenSessions(t *testing.T) {
	e, newest := barn(engine.Options{Ended: 2})
	w := newWire(t, e)
	first := w.short(newest, "hello", 7)
	for range 3 {
		w.short(newest, "", 0)
	}
	w.untilGone(e, first)
	for method, params := range map[string]obj{
		"session.snapshot": {}, "session.transcript": {}, "session.scrollback": {}, "session.search": {"text": "x"}, "session.blocks": {},
		"session.frame": {}, "session.kill": {}, "session.close": {}, "session.lease": {}, "session.resize": {"rows": 5, "cols": 5},
		"session.input": {"action": obj{"type": "text", "value": "x"}}, "session.wait": {"matcher": text("hello")},
		"session.record_start": {"dir": t.TempDir()}, "session.screenshot": {},
	} {
		params["session"] = first
		m := w.fails(method, params, -32602, "session_forgotten")
		if at(m.Error.Data, "exit", "exit_code") != 7.0 || at(m.Error.Data, "forgotten") == nil || !strings.Contains(m.Error.Message, "exit code 7") {
			t.Errorf("%s: %s", method, m.line)
		}
	}
	for name, matcher := range map[string]obj{
		"exit": exited, "any": {"type": "any", "value": []obj{text("hello"), exited}}, "all": {"type": "all", "value": []obj{exited}},
	} {
		r := w.result("session.wait", obj{"session": first, "matcher": matcher, "cells": "full"})
		if r["forgotten"] != true || at(r, "snapshot", "exit", "exit_code") != 7.0 || at(r, "snapshot", "plain_text") != "" || r["matched"] != true {
			t.Errorf("%s: %v", name, r)
		}
	}
	w.fails("session.wait", obj{"session": first, "matcher": obj{"type": "not", "value": text("hello")}}, -32602, "session_forgotten")
	w.fails("session.wait", obj{"session": first, "matcher": obj{"type": "wrong"}}, -32602, "invalid_matcher")
	w.fails("session.snapshot", obj{"session": "s999"}, -32602, "unknown_session")
}

func TestForget(t *testing.T) {
	e, newest := barn(engine.Options{})
	w := newWire(t, e)
	runs := w.create()
	newest()
	leased := w.create()
	p := newest()
	w.result("session.lease", obj{"session": leased})
	p.End(0)
	w.result("session.wait", obj{"session": leased, "matcher": exited})
	one, two := w.short(newest, "", 1), w.short(newest, "", 2)
	r := w.result("session.forget", nil)["forgotten"].([]any)
	if len(r) != 2 || r[0] != one || r[1] != two {
		t.Errorf("forgotten: %v", r)
	}
	if got := w.sessions(); got != runs+" "+leased {
		t.Errorf("there are %s", got)
	}
	w.result("session.release", obj{"session": leased})
	if r := w.result("session.forget", nil)["forgotten"].([]any); len(r) != 1 {
		t.Errorf("forgotten then: %v", r)
	}
	if r := w.result("session.forget", nil)["forgotten"].([]any); len(r) != 0 {
		t.Errorf("forgotten at last: %v", r)
	}
	closed := w.short(newest, "", 0)
	w.result("session.close", obj{"session": closed})
	w.fails("session.wait", obj{"session": closed, "matcher": exited}, -32602, "unknown_session") // it was to be gone
}

// TestAConnectionHoldsNothingOfTheForgotten: neither one that was told of them, nor one that is
// told no more, nor one that watched.
func TestAConnectionHoldsNothingOfTheForgotten(t *testing.T) {
	e, newest := barn(engine.Options{})
	a, b := newWires(t, e)
	a.result("server.set_notifications", obj{"enabled": true})
	gone := func() weak.Pointer[engine.Session] {
		id := a.short(newest, strings.Repeat("a line\r\n", 100), 0)
		b.result("server.set_notifications", obj{"enabled": true})
		b.result("server.set_notifications", obj{"enabled": false})
		for _, w := range []*wire{a, b} {
			w.result("session.frame", obj{"session": id})
		}
		s, err := e.Session(engine.ID(id))
		if err != nil {
			t.Fatal(err)
		}
		return weak.Make(s)
	}()
	if r := a.result("session.forget", nil)["forgotten"].([]any); len(r) != 1 {
		t.Fatalf("forgotten: %v", r)
	}
	for range 1000 { // what a connection keeps goes when it next looks, which a change has it do
		a.short(newest, "", 0)
		if runtime.GC(); gone.Value() == nil {
			return
		}
	}
	t.Error("it is held still")
}

func TestOwner(t *testing.T) {
	e, newest := barn(engine.Options{})
	a, b := newWires(t, e)
	b.result("server.set_notifications", obj{"enabled": true})
	own := a.result("session.create", obj{"program": "fake", "owner": "connection"})["session"].(string)
	newest()
	other := a.result("session.create", obj{"program": "fake", "owner": "server"})["session"].(string)
	newest()
	details := b.result("session.list", obj{"details": true})["details"].([]any)
	if at(details[0], "owner") != "connection" || at(details[1], "owner") != nil {
		t.Errorf("they are listed as %v", details)
	}
	a.fails("session.create", obj{"program": "fake", "owner": "me"}, -32602, "invalid_params")
	a.c.Close()
	var told message
	for told.Method != "session.exited" {
		told = b.read()
	}
	if told.Params["session"] != own || told.Params["limit"] != "owner" {
		t.Errorf("told: %s", told.line)
	}
	r := b.result("session.wait", obj{"session": own, "matcher": exited})
	if at(r, "snapshot", "exit", "limit") != "owner" {
		t.Errorf("its exit: %v", at(r, "snapshot", "exit"))
	}
	m := b.fails("session.input", obj{"session": own, "action": obj{"type": "text", "value": "x"}}, -32002, "session_closed")
	if !strings.Contains(m.Error.Message, "owner") {
		t.Errorf("the message: %s", m.Error.Message)
	}
	if v := b.result("session.snapshot", obj{"session": other, "cells": "none"}); v["exit"] != nil {
		t.Errorf("what is the server's: %v", v)
	}
}

func TestLeashesOnTheWire(t *testing.T) {
	e, newest := barn(engine.Options{})
	w := newWire(t, e)
	id := w.result("session.create", obj{"program": "fake", "max_ms": 3_600_000, "idle_ms": 60_000, "max_memory": 1 << 28})["session"].(string)
	p := newest()
	info := w.result("session.list", obj{"details": true})["details"].([]any)[0]
	if at(info, "max_ms") != 3_600_000.0 || at(info, "idle_ms") != 60_000.0 || at(info, "max_memory") != float64(1<<28) || at(info, "ended") != nil {
		t.Errorf("listed: %v", info)
	}
	p.ExceedMemory()
	r := w.result("session.wait", obj{"session": id, "matcher": exited})
	if at(r, "snapshot", "exit", "limit") != "max_memory" || at(r, "snapshot", "exit", "signal") != "SIGKILL" {
		t.Errorf("the exit: %v", at(r, "snapshot", "exit"))
	}
	info = w.result("session.list", obj{"details": true})["details"].([]any)[0]
	if at(info, "exit", "limit") != "max_memory" || at(info, "ended") == nil {
		t.Errorf("listed: %v", info)
	}
	for member, wrong := range map[string][]any{
		"max_ms": {0, -1, int64(1) << 60, "1"}, "idle_ms": {0, 1.5}, "max_memory": {0, 1 << 10, int64(1) << 60},
	} {
		for _, v := range wrong {
			w.fails("session.create", obj{"program": "fake", member: v}, -32602, "invalid_params")
		}
	}
}

// TestNoMemoryLimit: where it cannot be kept it is refused.
func TestNoMemoryLimit(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{Start: func(pty.Command) (engine.PTY, error) {
		return nil, &pty.MemoryLimitError{Why: "the reason"}
	}}))
	m := w.fails("session.create", obj{"program": "fake", "max_memory": 1 << 30}, -32602, "memory_limit_unsupported")
	if !strings.Contains(m.Error.Message, "the reason") {
		t.Errorf("%s", m.line)
	}
}
