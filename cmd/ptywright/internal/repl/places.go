package repl

import (
	"maps"

	lua "github.com/yuin/gopher-lua"
)

// located reads the arguments of s:find and s:click: a locator in words, and a table of options.
func (m *machine) located(l *lua.LState, name string, first int) (locator any, options map[string]any) {
	options = map[string]any{}
	if words, ok := l.Get(first).(lua.LString); ok {
		locator = string(words)
	} else if t, ok := l.Get(first).(*lua.LTable); ok {
		locator = m.params(t)
	}
	if locator == nil {
		m.RaiseError("%s what? for instance s:%s(\"'Commit' in box 'Menu'\")", name, name)
	}
	if t, ok := l.Get(first + 1).(*lua.LTable); ok {
		options = m.params(t)
	}
	return locator, options
}

// place is s:find("'Commit' in box 'Menu'"): it looks once, unless timeout_ms says otherwise.
func (m *machine) place(h *handle, l *lua.LState, first int) lua.LValue {
	locator, params := m.located(l, "find", first)
	if params["timeout_ms"] == nil {
		params["timeout_ms"] = 0
	}
	params["locator"] = locator
	return m.result(h, "locate", m.rpc("session.locate", m.with(h, params)))
}

// click is s:click("'Commit' in box 'Menu'", {count = 2}).
func (m *machine) click(h *handle, l *lua.LState, first int) lua.LValue {
	locator, options := m.located(l, "click", first)
	params := map[string]any{}
	if ms, ok := options["timeout_ms"]; ok {
		params["timeout_ms"] = ms
		options = maps.Clone(options)
		delete(options, "timeout_ms")
	}
	options["locator"] = locator
	params["action"] = map[string]any{"type": "click", "value": options}
	r := m.rpc("session.input", m.with(h, params))
	h.remember(r)
	return m.result(h, "input", r)
}
