package repl

import (
	"fmt"
	"maps"
	"math"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// at is s:at(7), the screen as it was at a sequence; s:at(-5), five seconds ago; or s:at with a
// moment as the wire has it.
func (m *machine) at(h *handle, v lua.LValue) lua.LValue {
	var at any
	switch v := v.(type) {
	case lua.LNumber:
		if at = uint64(max(v, 0)); v < 0 {
			ago := time.Duration(float64(-v) * float64(time.Second))
			at = map[string]any{"ago_ms": ago.Milliseconds()}
		}
	case *lua.LTable:
		at = m.params(v)
	default:
		m.RaiseError("at when? a sequence, as of s:when, or seconds ago: s:at(-5)")
	}
	return m.wrap(m.screenOf(h.id,
		m.rpc("session.snapshot", m.with(h, map[string]any{"at": at, "cells": "runs"}))))
}

// pastOptions are the members of when's table that wait's does not have.
var pastOptions = []string{"until", "which", "max", "next"}

// when is s:when{text = ...}: the first span in which it held, with which = "last" the last, nil
// when there is none, and with which = "all" a table of all.
func (m *machine) when(h *handle, v lua.LValue) lua.LValue {
	more := m.NewTable()
	if t, ok := v.(*lua.LTable); ok {
		rest := m.NewTable()
		t.ForEach(func(k, v lua.LValue) { rest.RawSet(k, v) })
		for _, name := range pastOptions {
			if x := t.RawGetString(name); x != lua.LNil {
				more.RawSetString(name, x)
				rest.RawSetString(name, lua.LNil)
			}
		}
		v = rest
	}
	params, matcher, err := m.waitParams(v)
	if err != nil {
		m.RaiseError("%s", err)
	}
	if matcher == nil {
		m.RaiseError("when was what there? for instance s:when{text = \"$\"}")
	}
	maps.Copy(params, m.params(more))
	params["matcher"] = matcher
	all := m.NewTable()
	last := lua.LValue(lua.LNil)
	for {
		r := m.rpc("session.history", m.with(h, params))
		spans, _ := r["spans"].([]any)
		for _, s := range spans {
			span, _ := s.(map[string]any)
			last = m.wrap(m.spanOf(h, span))
			all.Append(last)
		}
		next, more := r["next"].(string)
		_, bounded := params["max"]
		if !more || bounded && params["which"] == "all" ||
			len(spans) > 0 && params["which"] != "all" && params["which"] != "last" {
			break
		}
		params["next"] = next
	}
	if params["which"] == "all" {
		return all
	}
	return last
}

// spanOf is a span of a session's past.
func (m *machine) spanOf(h *handle, raw map[string]any) *answer {
	from, _ := raw["from"].(float64)
	ms, _ := raw["ms"].(float64)
	said := fmt.Sprintf("from %s", number(from))
	if to, ok := raw["to"].(float64); ok {
		said += " to " + number(to)
	} else {
		said += " on"
	}
	said += fmt.Sprintf(", for %v", time.Duration(math.Round(ms))*time.Millisecond)
	if at, ok := raw["from_at"].(string); ok {
		said += ", since " + at
	}
	a := &answer{raw: raw, said: said}
	if snap, ok := raw["snapshot"].(map[string]any); ok {
		a.screen = m.screenOf(h.id, snap)
	}
	return a
}
