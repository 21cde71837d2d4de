package repl

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/ptywright/ptywright/internal/nearest"
)

// matcherNames are the short names of matchers, in addition to the wire's own.
var matcherNames = map[string]string{
	"text": "contains_text", "regex": "screen_regex", "stable": "screen_stable",
	"exited": "process_exited", "title": "title_contains", "output": "transcript_contains",
	"output_regex": "transcript_regex", "cursor": "cursor_at", "command": "command_finished",
}

// wireMatchers are the wire's matchers that this code knows how to write; others of a server are
// accepted as they are.
var wireMatchers = []string{
	"all", "any", "bell", "command_finished", "contains_text", "cursor_at", "located", "lua", "not",
	"process_exited", "screen", "screen_regex", "screen_stable", "state", "title_contains",
	"title_regex", "transcript_contains", "transcript_regex",
}

// waitOptions are the members of wait's table that are not matchers.
var waitOptions = []string{"timeout", "timeout_ms", "since", "latched", "cells", "redact", "redaction"}

// library defines the global functions and tables.
func (m *machine) library() {
	m.namespace("session", map[string]lua.LValue{
		"spawn": m.function(m.spawn),
		"get": m.function(func(l *lua.LState) lua.LValue {
			return m.wrap(m.find("session",
				l.CheckString(1)))
		}),
		"list": m.function(func(*lua.LState) lua.LValue { return m.handles("session") }),
	})
	m.namespace("adapter", map[string]lua.LValue{
		"start": m.function(m.startAdapter),
		"get": m.function(func(l *lua.LState) lua.LValue {
			return m.wrap(m.find("adapter",
				l.CheckString(1)))
		}),
		"list": m.function(func(*lua.LState) lua.LValue { return m.handles("adapter") }),
		"plugins": m.function(func(*lua.LState) lua.LValue {
			return m.toLua(m.rpc("adapter.list",
				map[string]any{})["plugins"])
		}),
	})
	m.namespace("plugin", nil)
	m.namespace("server", nil)
	m.define("rpc", func(l *lua.LState) lua.LValue {
		return m.toLua(m.rpc(l.CheckString(1), m.params(l.Get(2))))
	})
	m.define("use", func(l *lua.LState) lua.LValue {
		m.current = m.chosen(l.Get(1))
		return m.wrap(m.current)
	})
	for _, name := range []string{"wait", "turn", "send", "screen"} {
		m.define(name, func(l *lua.LState) lua.LValue {
			first := 1
			if u, ok := l.Get(1).(*lua.LUserData); ok {
				if h, ok := u.Value.(*handle); ok {
					return m.sweet(l, h, name, first+1)
				}
			}
			if m.current == nil {
				l.RaiseError("%s of what? start a session first, or choose one with use(\"s1\")", name)
			}
			return m.sweet(l, m.current, name, first)
		})
	}
}

// namespace defines a global table with the given members and the methods of the wire:
// plugin.describe{plugin = "x"}.
func (m *machine) namespace(name string, own map[string]lua.LValue) {
	t := m.table0(own)
	meta := m.NewTable()
	meta.RawSetString("__index", m.NewFunction(func(l *lua.LState) int {
		method := name + "." + l.CheckString(2)
		if !m.knows(method) {
			names := slices.Collect(maps.Keys(own))
			for _, other := range m.methods {
				if member, ok := strings.CutPrefix(other, name+"."); ok {
					names = append(names, member)
				}
			}
			m.raise(&unknownName{name, l.CheckString(2), slices.Sorted(slices.Values(names))})
		}
		l.Push(m.function(func(l *lua.LState) lua.LValue {
			return m.toLua(m.rpc(method,
				m.params(l.Get(1))))
		}))
		return 1
	}))
	t.Metatable = meta
	m.SetGlobal(name, t)
}

// chosen is the handle for a value: the value itself, or the session or adapter with that id.
func (m *machine) chosen(v lua.LValue) *handle {
	if u, ok := v.(*lua.LUserData); ok {
		if h, ok := u.Value.(*handle); ok {
			return h
		}
	}
	id, ok := v.(lua.LString)
	if !ok {
		m.RaiseError("a session, an adapter or an id is needed, not a %s", v.Type())
	}
	if h := m.one(string(id)); h != nil {
		return h
	}
	return m.find("adapter", string(id))
}

// one is the session with that id or name according to the server; nil: none.
func (m *machine) one(name string) *handle {
	var r struct {
		Details []any `json:"details"`
	}
	err := m.call(m.context(), "session.list", map[string]any{"details": true, "session": name}, &r)
	if e := wireError(err); e != nil && e.Reason == "unknown_session" {
		return nil
	}
	if err != nil {
		m.raise(err)
	}
	for _, item := range r.Details {
		return sessionHandle(item)
	}
	return nil
}

// sessionHandle is a handle for a session as the server describes it.
func sessionHandle(item any) *handle {
	o, _ := item.(map[string]any)
	h := &handle{kind: "session"}
	h.id, _ = o["session"].(string)
	h.name, _ = o["name"].(string)
	h.about, _ = o["program"].(string)
	if o["exit"] != nil {
		h.about += " (ended)"
	}
	return h
}

// An unknownID is an id that does not exist.
type unknownID struct{ id string }

func (e *unknownID) Error() string {
	return fmt.Sprintf("there is no session or adapter %q: :sessions and :adapters list what there is", e.id)
}

func (m *machine) find(kind, id string) *handle {
	if kind == "session" {
		if h := m.one(id); h != nil {
			return h
		}
	} else {
		for _, h := range m.all(kind) {
			if h.id == id {
				return h
			}
		}
	}
	m.raise(&unknownID{id})
	return nil
}

// all returns the server's sessions or adapters.
func (m *machine) all(kind string) []*handle {
	var list []any
	if kind == "session" {
		list, _ = m.rpc("session.list", map[string]any{"details": true})["details"].([]any)
	} else {
		list, _ = m.rpc("adapter.live", map[string]any{})["adapters"].([]any)
	}
	var hs []*handle
	for _, item := range list {
		if kind == "session" {
			hs = append(hs, sessionHandle(item))
			continue
		}
		o, _ := item.(map[string]any)
		h := &handle{kind: kind}
		h.id, _ = o[kind].(string)
		h.plugin, _ = o["plugin"].(string)
		h.owns, _ = o["session"].(string)
		h.about = h.plugin
		hs = append(hs, h)
	}
	return hs
}

func (m *machine) handles(kind string) lua.LValue {
	t := m.NewTable()
	t.Metatable = m.arrays
	for _, h := range m.all(kind) {
		t.Append(m.wrap(h))
	}
	return t
}

// spawn is session.spawn(program, args..., {options}) or session.spawn{program = ...}.
func (m *machine) spawn(l *lua.LState) lua.LValue {
	var args []any
	params := map[string]any{}
	for i := 1; i <= l.GetTop(); i++ {
		switch v := l.Get(i).(type) {
		case *lua.LTable:
			if v.Len() > 0 {
				list, err := m.fromLua(v, 0)
				if err != nil {
					l.RaiseError("%s", err)
				}
				args = append(args, list.([]any)...)
				continue
			}
			maps.Copy(params, m.params(v))
		case lua.LString, lua.LNumber:
			if text := l.ToString(i); params["program"] == nil {
				params["program"] = text
			} else {
				args = append(args, text)
			}
		default:
			l.RaiseError("session.spawn takes a program, its arguments and a table of options, not a %s", v.Type())
		}
	}
	if args != nil {
		params["args"] = args
	}
	if params["cwd"] == nil && m.cwd != "" {
		params["cwd"] = m.cwd
	}
	m.beginWithOurs(params)
	h := &handle{kind: "session"}
	h.about, _ = params["program"].(string)
	h.name, _ = params["name"].(string)
	h.id, _ = m.rpc("session.create", params)["session"].(string)
	m.current = h
	return m.wrap(h)
}

// beginWithOurs gives a program on this machine our environment, unless the caller asks for
// another. server_env asks for the server's, which programs on another machine get anyway.
func (m *machine) beginWithOurs(params map[string]any) {
	servers := params["server_env"] == true
	delete(params, "server_env")
	if servers || params["clear_env"] == true || params["base_env"] != nil || m.environment == nil {
		return
	}
	env, err := m.environment()
	if err != nil {
		m.raise(err)
	}
	params["base_env"] = env
}

// startAdapter is adapter.start(plugin, {options}).
func (m *machine) startAdapter(l *lua.LState) lua.LValue {
	params := m.params(l.Get(2))
	params["plugin"] = l.CheckString(1)
	if params["cwd"] == nil && m.cwd != "" {
		params["cwd"] = m.cwd
	}
	m.beginWithOurs(params)
	r := m.rpc("adapter.start", params)
	h := &handle{kind: "adapter"}
	h.id, _ = r["adapter"].(string)
	h.plugin, _ = r["plugin"].(string)
	h.owns, _ = r["session"].(string)
	h.about = h.plugin
	m.current = h
	return m.wrap(h)
}

// sweet performs one of the methods that do more than the wire's. Its arguments begin at first.
func (m *machine) sweet(l *lua.LState, h *handle, name string, first int) lua.LValue {
	if h.kind == "adapter" {
		return m.sweetAdapter(l, h, name, first)
	}
	switch name {
	case "send", "text":
		m.types(h, "text", l, first)
	case "key", "keys":
		m.types(h, "key", l, first)
	case "wait":
		return m.wait(h, l.Get(first))
	case "turn":
		m.input(h, "text", l.CheckString(first))
		return m.wait(h, l.Get(first+1))
	case "screen":
		params := m.params(l.Get(first))
		if params["cells"] == nil {
			params["cells"] = "runs"
		}
		return m.wrap(m.screenOf(h.id, m.rpc("session.snapshot", m.with(h, params))))
	case "at":
		return m.at(h, l.Get(first))
	case "when":
		return m.when(h, l.Get(first))
	case "find":
		return m.place(h, l, first)
	case "click":
		return m.click(h, l, first)
	case "record":
		a, err := m.record(h.id, l.OptString(first, ""))
		if err != nil {
			m.raise(err)
		}
		return m.wrap(a)
	}
	return nil
}

// types types texts, or presses keys, as one input; a table with delay_ms and timeout_ms may follow
// them.
func (m *machine) types(h *handle, kind string, l *lua.LState, first int) {
	params, last := map[string]any{}, l.GetTop()
	if t, ok := l.Get(last).(*lua.LTable); ok && last > first {
		params = m.params(t)
		last--
	}
	var actions []any
	for i := first; i <= max(last, first); i++ {
		actions = append(actions, map[string]any{"type": kind, "value": l.CheckString(i)})
	}
	params["actions"] = actions
	h.remember(m.rpc("session.input", m.with(h, params)))
}

// input performs an action, and remembers its sequence for the waits that follow.
func (m *machine) input(h *handle, kind, value string) {
	h.remember(m.rpc("session.input",
		m.with(h, map[string]any{"action": map[string]any{"type": kind, "value": value}})))
}

// wait is s:wait{text = ...}. What was on the screen before the last input does not count, unless
// since says so.
func (m *machine) wait(h *handle, v lua.LValue) lua.LValue {
	params, matcher, err := m.waitParams(v)
	if err != nil {
		m.RaiseError("%s", err)
	}
	if matcher == nil {
		m.RaiseError("wait for what? for instance s:wait{text = \"$\"}, or {regex, stable, exited, title, any, all, ...}")
	}
	params["matcher"] = matcher
	if _, told := params["since"]; !told && h.sent != nil {
		params["since"] = *h.sent
	}
	if latched, _ := params["latched"].(bool); latched && params["since"] == nil {
		params["since"] = 0 // everything counts before any input
	}
	if params["cells"] == nil {
		params["cells"] = "runs"
	}
	r := m.rpc("session.wait", m.with(h, params))
	a := &answer{raw: r, said: said(r)}
	if snap, ok := r["snapshot"].(map[string]any); ok {
		a.screen = m.screenOf(h.id, snap)
	}
	return m.wrap(a)
}

// waitParams splits the table of a wait into its options and the matcher.
func (m *machine) waitParams(v lua.LValue) (params map[string]any, matcher any, err error) {
	if s, ok := v.(lua.LString); ok {
		return map[string]any{}, map[string]any{"type": "contains_text", "value": string(s)}, nil
	}
	params = map[string]any{}
	all := m.params(v)
	for _, name := range waitOptions {
		if value, ok := all[name]; ok {
			params[name] = value
			delete(all, name)
		}
	}
	if seconds, ok := params["timeout"]; ok {
		delete(params, "timeout")
		switch s := seconds.(type) {
		case int64:
			params["timeout_ms"] = s * 1000
		case float64:
			params["timeout_ms"] = time.Duration(s * float64(time.Second)).Milliseconds()
		default:
			return nil, nil, errors.New("timeout is a number of seconds")
		}
	}
	if since, ok := params["since"].(bool); ok && !since {
		params["since"] = nil
	}
	if raw, ok := all["matcher"]; ok && len(all) == 1 {
		return params, raw, nil
	}
	matcher, err = m.matcher(all)
	return params, matcher, err
}

// matcher makes the wire's matcher from a table of short names. Several names are several
// conditions, all of which must hold.
func (m *machine) matcher(t map[string]any) (any, error) {
	if _, ok := t["type"]; ok {
		return t, nil // already the wire's form
	}
	scope, scoped := t["scope"]
	var all []any
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if name == "scope" {
			continue
		}
		value := t[name]
		kind := name
		if long, ok := matcherNames[name]; ok {
			kind = long
		}
		if !slices.Contains(wireMatchers, kind) {
			if near := nearest.Of(name, append(matcherWords(), waitOptions...)); near != "" {
				return nil, fmt.Errorf("wait knows no %q: did you mean %s?", name, near)
			}
			return nil,
				fmt.Errorf("wait knows no %q: it takes %s", name,
					strings.Join(matcherWords(), ", "))
		}
		one := map[string]any{"type": kind, "value": value}
		if scoped && (kind == "contains_text" || kind == "screen_regex") {
			one["scope"] = scope
		}
		switch kind {
		case "screen_stable":
			if ms, ok := value.(int64); ok {
				one["value"] = map[string]any{"min_ms": ms}
			}
		case "cursor_at":
			if at, ok := value.([]any); ok && len(at) == 2 {
				one["value"] = map[string]any{"row": at[0], "col": at[1]}
			}
		case "located":
			if words, ok := value.(string); ok {
				one["value"] = map[string]any{"locator": words}
			}
		case "state":
			if state, ok := value.(string); ok {
				one["value"] = []any{state}
			}
		case "process_exited", "bell", "command_finished":
			if value == true {
				delete(one, "value")
			} else if code, ok := value.(int64); ok && kind == "command_finished" {
				one["value"] = map[string]any{"exit_code": code}
			}
		case "any", "all":
			list, err := m.matchers(value)
			if err != nil {
				return nil, err
			}
			one["value"] = list
		case "not":
			o, _ := value.(map[string]any)
			inner, err := m.matcher(o)
			if err != nil {
				return nil, err
			}
			one["value"] = inner
		}
		all = append(all, one)
	}
	switch len(all) {
	case 0:
		return nil, nil
	case 1:
		return all[0], nil
	}
	return map[string]any{"type": "all", "value": all}, nil
}

// matchers takes a list of tables, or one table whose names are alternatives.
func (m *machine) matchers(value any) ([]any, error) {
	var list []any
	switch v := value.(type) {
	case []any:
		list = v
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			list = append(list, map[string]any{name: v[name]})
		}
	}
	made := make([]any, 0, len(list))
	for _, item := range list {
		o, ok := item.(map[string]any)
		if !ok {
			return nil,
				errors.New("any and all take a list of tables, as any = {{text = \"y\"}, {exited = true}}")
		}
		one, err := m.matcher(o)
		if err != nil {
			return nil, err
		}
		made = append(made, one)
	}
	return made, nil
}

// matcherWords are the names of matchers in a wait's table.
func matcherWords() []string {
	return slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(matcherNames)),
		wireMatchers...)))
}

// sweetAdapter performs send, wait, turn and screen of an adapter.
func (m *machine) sweetAdapter(l *lua.LState, h *handle, name string, first int) lua.LValue {
	switch name {
	case "send":
		return m.toLua(m.rpc("adapter.send", m.with(h, map[string]any{
			"intent": l.CheckString(first),
			"params": m.intentParams(h, l.CheckString(first), l.Get(first+1)),
		})))
	case "turn":
		send := map[string]any{"intent": l.CheckString(first),
			"params": m.intentParams(h, l.CheckString(first), l.Get(first+1))}
		wait, params := m.adapterWait(l.Get(first + 2))
		params["send"] = send
		if len(wait) > 0 {
			params["wait"] = wait
		}
		return m.answer(h, "turn", params)
	case "wait":
		wait, params := m.adapterWait(l.Get(first))
		maps.Copy(params, wait)
		return m.answer(h, "wait", params)
	}
	params := m.params(l.Get(first))
	if params["cells"] == nil {
		params["cells"] = "runs"
	}
	return m.wrap(m.screenOf(h.id, m.rpc("adapter.snapshot", m.with(h, params))))
}

// adapterWait takes the options of an adapter's wait: an intent, its params, a timeout in seconds.
func (m *machine) adapterWait(v lua.LValue) (wait, params map[string]any) {
	wait, params = map[string]any{}, map[string]any{}
	if s, ok := v.(lua.LString); ok {
		wait["intent"] = string(s)
		return wait, params
	}
	for name, value := range m.params(v) {
		switch name {
		case "timeout":
			switch s := value.(type) {
			case int64:
				wait["timeout_ms"] = s * 1000
			case float64:
				wait["timeout_ms"] = time.Duration(s * float64(time.Second)).Milliseconds()
			}
		case "redact", "redaction":
			params[name] = value
		default:
			wait[name] = value
		}
	}
	return wait, params
}

func (m *machine) answer(h *handle, name string, params map[string]any) lua.LValue {
	r := m.rpc("adapter."+name, m.with(h, params))
	a := &answer{raw: r, said: said(r)}
	if snap, ok := r["snapshot"].(map[string]any); ok {
		a.screen = m.screenOf(h.id, snap)
	}
	return m.wrap(a)
}
