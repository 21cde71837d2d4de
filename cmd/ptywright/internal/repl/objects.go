package repl

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/internal/nearest"
	"github.com/ptywright/ptywright/protocol/client"
)

// A handle is a session or an adapter of the server, as Lua sees it.
type handle struct {
	kind   string // session or adapter
	id     string
	name   string // of a session; "": none
	about  string // the program or the plugin
	plugin string // of an adapter
	owns   string // the adapter's session
	sent   *uint64
}

func (h *handle) String() string {
	name := h.kind + " "
	if h.name != "" {
		name += h.name + " "
	}
	return strings.TrimSpace(name + h.id + " " + h.about)
}

// show is how a handle is printed.
func (h *handle) show(on cli.Style, _ int) string {
	return on.As(cli.Blue, h.kind) + " " + on.As(cli.Bold, cli.OneLine(h.id)) + " " + on.As(cli.Dim, cli.OneLine(h.about))
}

// An answer is a result with a special form for people: a wait's or a turn's.
type answer struct {
	raw    map[string]any
	said   string
	screen *screen
}

func (a *answer) String() string { return a.said }

func (a *answer) show(on cli.Style, cols int) string {
	s := on.As(cli.Green, cli.OneLine(a.said))
	if a.screen != nil {
		s += "\n" + a.screen.show(on, cols)
	}
	return s
}

// An intent is an intent of a plugin.
type intent struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Schema      struct {
		Required   []string       `json:"required"`
		Properties map[string]any `json:"properties"`
	} `json:"params_schema"`
}

// index is o.name for any host object.
func (m *machine) index(l *lua.LState) int {
	name := l.CheckString(2)
	var v lua.LValue = lua.LNil
	switch o := l.CheckUserData(1).Value.(type) {
	case *handle:
		if m.used != nil {
			m.used(o)
		}
		v = m.member(o, name)
	case *screen:
		v = m.screenMember(o, name)
	case *answer:
		switch {
		case name == "screen" && o.screen != nil:
			v = m.wrap(o.screen)
		case name == "capture" || name == "kind":
			out, _ := o.raw["outcome"].(map[string]any)
			for inner, ok := out["matched"].(map[string]any); ok; inner, ok = out["matched"].(map[string]any) {
				out = inner // which alternative of any it was
			}
			v = m.toLua(out[name])
		default:
			v = m.toLua(o.raw[name])
		}
	case *failure:
		v = m.failureMember(o, name)
	}
	l.Push(v)
	return 1
}

func (m *machine) screenMember(s *screen, name string) lua.LValue {
	switch name {
	case "text":
		return lua.LString(s.snap.PlainText)
	case "rows":
		return lua.LNumber(s.snap.Size.Rows)
	case "cols":
		return lua.LNumber(s.snap.Size.Cols)
	}
	return m.toLua(s.raw[name])
}

func (m *machine) failureMember(f *failure, name string) lua.LValue {
	e := wireError(f.err)
	switch {
	case name == "message":
		return lua.LString(plainly(f.err))
	case e == nil:
	case name == "code":
		return lua.LNumber(e.Code)
	case name == "reason":
		return lua.LString(string(e.Reason))
	case name == "data":
		return m.toLua(object(e.Data))
	case name == "screen":
		if s := evidenceScreen(e); s != nil {
			return m.wrap(s)
		}
	}
	return lua.LNil
}

// sugar are the methods of handles that do more than their method of the wire.
var sugar = map[string][]string{
	"session": {"send", "text", "key", "keys", "wait", "turn", "screen", "at", "when", "find", "click", "record"},
	"adapter": {"send", "wait", "turn", "screen"},
}

// member is a field or a method of a handle. A name that is neither a field nor in sugar is the
// server's method of that name.
func (m *machine) member(h *handle, name string) lua.LValue {
	switch {
	case name == "id":
		return lua.LString(h.id)
	case name == "name" && h.name != "":
		return lua.LString(h.name)
	case name == h.kind, name == "about":
		return lua.LString(map[bool]string{true: h.id, false: h.about}[name == h.kind])
	case name == "plugin" && h.plugin != "":
		return lua.LString(h.plugin)
	case name == "session" && h.owns != "":
		return lua.LString(h.owns)
	}
	if slices.Contains(sugar[h.kind], name) {
		return m.function(func(l *lua.LState) lua.LValue { return m.sweet(l, m.self(l, name), name, 2) })
	}
	if m.knows(h.kind + "." + name) {
		return m.function(func(l *lua.LState) lua.LValue {
			h := m.self(l, name)
			return m.result(h, name, m.rpc(h.kind+"."+name, m.with(h, m.params(l.Get(2)))))
		})
	}
	if h.kind == "adapter" {
		if i := slices.IndexFunc(m.intentsOf(h.plugin), func(i intent) bool { return i.Name == name }); i >= 0 {
			return m.function(func(l *lua.LState) lua.LValue {
				h := m.self(l, name)
				return m.result(h, "send", m.rpc("adapter.send", m.with(h, map[string]any{"intent": name, "params": m.intentParams(h, name, l.Get(2))})))
			})
		}
	}
	m.raise(&unknownName{h.kind + " " + h.id, name, m.members(h)})
	return nil
}

// An unknownName is a name that an object does not have.
type unknownName struct {
	of, name string
	names    []string
}

func (e *unknownName) Error() string {
	if near := nearest.Of(e.name, e.names); near != "" {
		return fmt.Sprintf("%s has no %s: did you mean %s?", e.of, quote(e.name), near)
	}
	if len(e.names) == 0 {
		return fmt.Sprintf("%s has no %s", e.of, quote(e.name))
	}
	return fmt.Sprintf("%s has no %s; Tab lists what there is", e.of, quote(e.name))
}

// self is the object of a method call: o:name(), not o.name().
func (m *machine) self(l *lua.LState, name string) *handle {
	if u, ok := l.Get(1).(*lua.LUserData); ok {
		if h, ok := u.Value.(*handle); ok {
			return h
		}
	}
	l.RaiseError("call it with a colon: o:%s(...)", name)
	return nil
}

func (m *machine) with(h *handle, params map[string]any) map[string]any {
	params[h.kind] = h.id
	return params
}

// members are the names that completion offers for a handle.
func (m *machine) members(h *handle) []string {
	names := append([]string{"id"}, sugar[h.kind]...)
	for _, method := range m.methods {
		if name, ok := strings.CutPrefix(method, h.kind+"."); ok && !slices.Contains([]string{"create", "start", "list", "live", "resume", "record_list"}, name) {
			names = append(names, name)
		}
	}
	if h.kind == "adapter" {
		for _, i := range m.intentsOf(h.plugin) {
			names = append(names, i.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// intentsOf returns a plugin's intents, requested once.
func (m *machine) intentsOf(plugin string) []intent {
	if got, ok := m.intents[plugin]; ok {
		return got
	}
	var d struct {
		Intents []intent `json:"intents"`
	}
	if err := m.call(m.context(), "plugin.describe", map[string]string{"plugin": plugin}, &d); err != nil {
		return nil
	}
	m.intents[plugin] = d.Intents
	return d.Intents
}

// intentParams takes a table, or just the text for an intent that needs one text.
func (m *machine) intentParams(h *handle, name string, v lua.LValue) map[string]any {
	s, ok := v.(lua.LString)
	if !ok {
		return m.params(v)
	}
	for _, i := range m.intentsOf(h.plugin) {
		if i.Name != name {
			continue
		}
		names := i.Schema.Required
		if len(names) == 0 {
			names = slices.Collect(maps.Keys(i.Schema.Properties))
		}
		if len(names) == 1 {
			return map[string]any{names[0]: string(s)}
		}
		m.RaiseError("%s takes a table of %s", name, strings.Join(slices.Sorted(maps.Keys(i.Schema.Properties)), ", "))
	}
	return map[string]any{"text": string(s)}
}

// result converts a method's result to what people want to see of it.
func (m *machine) result(h *handle, name string, r map[string]any) lua.LValue {
	switch name {
	case "snapshot":
		return m.wrap(m.screenOf(h.id, r))
	case "input":
		h.remember(r)
	}
	return m.toLua(r)
}

func (h *handle) remember(r map[string]any) {
	if seq, ok := r["sequence"].(float64); ok {
		n := uint64(seq)
		h.sent = &n
	}
}

// screenOf makes a screen from a snapshot.
func (m *machine) screenOf(name string, r map[string]any) *screen {
	s := &screen{name: name, raw: r}
	b, _ := json.Marshal(r)
	_ = json.Unmarshal(b, &s.snap)
	return s
}

// evidenceScreen is the screen of a failed wait.
func evidenceScreen(e *client.Error) *screen {
	v := e.Evidence()
	if v == nil || v.Screen.Size.Rows == 0 {
		return nil
	}
	raw, _ := object(e.Data)["snapshot"].(map[string]any)
	return &screen{name: "what was there", raw: raw, snap: v.Screen}
}

// said describes a wait's result in one line.
func said(r map[string]any) string {
	what := "matched"
	out, _ := r["outcome"].(map[string]any)
	if out == nil {
		out, _ = r["matched"].(map[string]any)
	}
	if out != nil {
		what += " " + told(out)
	}
	if ms, ok := r["elapsed_ms"].(float64); ok {
		what += fmt.Sprintf(" after %s ms", number(ms))
	}
	if state, ok := r["state"].(map[string]any); ok {
		what += fmt.Sprintf(", state %v", state["state"])
	}
	return what
}

// told describes an outcome: its kind, and its text, pattern and the like.
func told(out map[string]any) string {
	s := fmt.Sprint(out["kind"])
	for _, name := range []string{"text", "pattern", "capture", "predicate", "exit_code", "min_ms"} {
		switch v := out[name].(type) {
		case string:
			s += " " + quote(v)
		case float64:
			s += " " + number(v)
		}
	}
	switch inner := out["matched"].(type) {
	case map[string]any:
		s += ": " + told(inner)
	case []any:
		for _, i := range inner {
			if o, ok := i.(map[string]any); ok {
				s += "; " + told(o)
			}
		}
	}
	return s
}
