package repl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/unknown"
	"github.com/ptywright/ptywright/internal/sandbox"
	"github.com/ptywright/ptywright/protocol/client"
)

// A machine is the Lua of a REPL: it runs the user's own code at the user's own terminal, with the
// whole library, and the wire as objects. Not safe for concurrent use.
type machine struct {
	*lua.LState
	style cli.Style
	cols  func() int
	out   io.Writer
	call  func(ctx context.Context, method string, params, result any) error
	cwd   string // where programs start; "": the server's folder
	// environment is what programs begin with; nil: the server's
	environment func() (map[string]string, error)
	warn        func(text string) // about probable mistakes; may be nil
	warned      map[unknown.Member]bool

	touched    func(ctx context.Context, input map[string]any) // called before input goes to a session; may be nil
	used       func(h *handle)                                 // called when a handle is used; may be nil
	recordings map[string]recording                            // started from here, by session

	// the server's vocabulary, for objects and completion
	methods []string

	arrays  *lua.LTable // the metatable of lists
	objects *lua.LTable // the metatable of host objects
	null    *lua.LUserData
	current *handle             // the session or adapter last started or chosen
	intents map[string][]intent // of plugins, requested so far
	shapes  map[string]schema   // of methods, likewise
}

// maxString bounds a string made by a library function, in bytes: larger than the largest
// transcript, and small enough that a typing error does not use up a machine's memory.
const maxString = 64 << 20

// newMachine returns a machine whose results and prints go to out. Close it after use.
func newMachine(out io.Writer, on cli.Style, cols func() int) *machine {
	m := &machine{LState: lua.NewState(), out: out, style: on, cols: cols,
		intents: map[string][]intent{}, warned: map[unknown.Member]bool{}}
	m.arrays, m.objects = m.NewTable(), m.NewTable()
	m.objects.RawSetString("__index", m.NewFunction(m.index))
	m.objects.RawSetString("__tostring", m.NewFunction(func(l *lua.LState) int {
		l.Push(lua.LString(title(l.CheckUserData(1))))
		return 1
	}))
	m.null = m.wrap(null{})
	m.SetGlobal("json", m.table0(map[string]lua.LValue{"null": m.null}))
	m.define("array", func(l *lua.LState) lua.LValue {
		t := l.OptTable(1, l.NewTable())
		t.Metatable = m.arrays
		return t
	})
	sandbox.Bound(m.LState, maxString)
	m.SetGlobal("print", m.NewFunction(m.print))
	if lib, ok := m.GetGlobal("io").(*lua.LTable); ok {
		lib.RawSetString("write", m.NewFunction(m.write))
	}
	m.library()
	return m
}

// wrap makes a host object.
func (m *machine) wrap(v any) *lua.LUserData {
	u := m.NewUserData()
	u.Value, u.Metatable = v, m.objects
	return u
}

func (m *machine) table0(fields map[string]lua.LValue) *lua.LTable {
	t := m.NewTable()
	for k, v := range fields {
		t.RawSetString(k, v)
	}
	return t
}

// function makes a Lua function with one result.
func (m *machine) function(f func(l *lua.LState) lua.LValue) *lua.LFunction {
	return m.NewFunction(func(l *lua.LState) int {
		v := f(l)
		if v == nil {
			return 0
		}
		l.Push(v)
		return 1
	})
}

func (m *machine) define(name string, f func(l *lua.LState) lua.LValue) {
	m.SetGlobal(name, m.function(f))
}

// lend makes a library function run within with, which gives it the terminal.
func (m *machine) lend(lib, name string, with func(func() error) error) {
	t, ok := m.GetGlobal(lib).(*lua.LTable)
	if !ok {
		return
	}
	f, ok := t.RawGetString(name).(*lua.LFunction)
	if !ok {
		return
	}
	t.RawSetString(name, m.NewFunction(func(l *lua.LState) int {
		top := l.GetTop()
		err := with(func() error {
			l.Push(f)
			for i := 1; i <= top; i++ {
				l.Push(l.Get(i))
			}
			return l.PCall(top, lua.MultRet, nil)
		})
		if err != nil {
			m.raise(err)
		}
		return l.GetTop() - top
	}))
}

// print is Lua's, except that programs' output is cleaned for the terminal.
func (m *machine) print(l *lua.LState) int {
	parts := make([]string, l.GetTop())
	for i := range parts {
		v := l.Get(i + 1)
		if u, ok := v.(*lua.LUserData); ok {
			if s, ok := u.Value.(interface{ show(cli.Style, int) string }); ok {
				parts[i] = s.show(m.style, m.cols())
				continue
			}
		}
		parts[i] = cli.Clean(l.ToStringMeta(v).String())
	}
	fmt.Fprintln(m.out, strings.Join(parts, "\t"))
	return 0
}

func (m *machine) write(l *lua.LState) int {
	for i := 1; i <= l.GetTop(); i++ {
		fmt.Fprint(m.out, cli.Clean(l.ToStringMeta(l.Get(i)).String()))
	}
	return 0
}

// compile compiles a chunk: an expression, whose values are returned, or statements. more reports
// that it is incomplete.
func (m *machine) compile(source, name string) (f *lua.LFunction, more bool, err error) {
	if f, err := m.Load(strings.NewReader("return "+source), name); err == nil {
		return f, false, nil
	} else if unfinished(err) {
		more = true
	}
	f, err = m.Load(strings.NewReader(source), name)
	if err == nil {
		return f, false, nil
	}
	return nil, more || unfinished(err), err
}

// unfinished reports whether the error is at the text's end.
func unfinished(err error) bool {
	var api *lua.ApiError
	var syntax *parse.Error
	if !errors.As(err, &api) || !errors.As(api.Cause, &syntax) {
		return false
	}
	if strings.Contains(syntax.Message, "unterminated string") {
		return false // a line feed does not end it
	}
	return syntax.Pos.Line == parse.EOF ||
		strings.Contains(syntax.Message, "unterminated multiline string")
}

// eval runs a chunk and returns its values. ctx ends it, including a call to the server.
func (m *machine) eval(ctx context.Context, f *lua.LFunction) ([]lua.LValue, error) {
	m.SetContext(ctx)
	defer m.RemoveContext()
	top := m.GetTop()
	m.Push(f)
	if err := m.PCall(0, lua.MultRet, nil); err != nil {
		m.SetTop(top)
		if cause := context.Cause(ctx); cause != nil && wireError(err) == nil {
			return nil, cause
		}
		return nil, err
	}
	values := make([]lua.LValue, 0, m.GetTop()-top)
	for i := top + 1; i <= m.GetTop(); i++ {
		values = append(values, m.Get(i))
	}
	m.SetTop(top)
	return values, nil
}

// context is the context for calls from the running chunk.
func (m *machine) context() context.Context {
	if ctx := m.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

// rpc calls a method with a Lua value as params; a failure is raised as a Lua error.
func (m *machine) rpc(method string, params any) map[string]any {
	if o, ok := params.(map[string]any); ok && method == "session.input" && m.touched != nil {
		m.touched(m.context(), o)
	}
	m.lookFor(method, params)
	var raw json.RawMessage
	if err := m.call(m.context(), method, params, &raw); err != nil {
		m.raise(err)
	}
	return object(raw)
}

// lookFor warns about members that the server ignores, once for each.
func (m *machine) lookFor(method string, params any) {
	o, ok := params.(map[string]any)
	if !ok || m.warn == nil {
		return
	}
	var known []string
	if s, ok := m.schemas()[method]; ok {
		known = slices.Collect(maps.Keys(s.Params.Properties))
		slices.Sort(known)
		if known == nil {
			known = []string{}
		}
	}
	for _, member := range unknown.In(o, known) {
		if !m.warned[member] {
			m.warned[member] = true
			m.warn(method + ": " + member.String())
		}
	}
}

// raise ends the chunk with one of our errors, as an object that Lua code can inspect.
func (m *machine) raise(err error) {
	m.Error(m.wrap(&failure{err}), 0)
}

// params converts an optional table to an object's members.
func (m *machine) params(v lua.LValue) map[string]any {
	switch v := v.(type) {
	case *lua.LNilType:
		return map[string]any{}
	case *lua.LTable:
		got, err := m.fromLua(v, 0)
		if err != nil {
			m.RaiseError("%s", err)
		}
		if o, ok := got.(map[string]any); ok {
			return o
		}
	}
	m.RaiseError("a table with names is needed, as {timeout = 5}, not a %s", v.Type())
	return nil
}

// learn stores the server's vocabulary.
func (m *machine) learn(methods []string) { m.methods = methods }

func (m *machine) knows(method string) bool { return slices.Contains(m.methods, method) }

// A failure is an error inside Lua.
type failure struct{ err error }

func (f *failure) String() string { return plainly(f.err) }

// wireError finds the server's error inside a Lua error.
func wireError(err error) *client.Error {
	var e *client.Error
	if errors.As(cause(err), &e) {
		return e
	}
	return nil
}

// cause is the Go error that a Lua error was raised with, or else err.
func cause(err error) error {
	var api *lua.ApiError
	if errors.As(err, &api) {
		if u, ok := api.Object.(*lua.LUserData); ok {
			if f, ok := u.Value.(*failure); ok {
				return f.err
			}
		}
		if api.Cause != nil {
			return api.Cause
		}
	}
	return err
}
