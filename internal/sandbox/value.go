package sandbox

import (
	"fmt"
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// whole is the magnitude up to which a float64 represents every whole number.
const whole = 1 << 53

// A Func is a host function for plugins to call. It returns a value of the types that [VM.Call]
// accepts; an error becomes a Lua error at the line of the call. It runs inside the call and its
// time counts, but it cannot be interrupted: it must be fast.
type Func func(a Args) (any, error)

// Args are a plugin's arguments to a [Func]. They count from 1; the object of o:method(...) is not
// one of them. They are valid until the Func returns.
type Args struct {
	v    *VM
	L    *lua.LState
	skip int
}

// Len returns the number of arguments.
func (a Args) Len() int { return a.L.GetTop() - a.skip }

// String returns argument n, which must be a string or a number: otherwise it raises a Lua error,
// like [Args.Int].
func (a Args) String(n int) string { return a.L.CheckString(n + a.skip) }

// Int returns argument n, which must be a number, truncated to a whole number within 2^53; fallback
// when it is missing.
func (a Args) Int(n, fallback int) int { return a.v.integer(a.L, n+a.skip, fallback) }

// Value returns argument n as a Go value, or an error when [VM.Call] could not return it.
func (a Args) Value(n int) (any, error) {
	value, err := a.v.result(a.L.Get(n + a.skip))
	if err != nil {
		return nil, err
	}
	return value, nil
}

// Work pays for work proportional to n, such as bytes read: each counts as an instruction.
func (a Args) Work(n int) { a.v.work(n) }

func (v *VM) function(f Func) *lua.LFunction {
	return v.state.NewFunction(func(L *lua.LState) int {
		a := Args{v: v, L: L}
		if t, ok := L.Get(1).(*lua.LTable); ok && v.objects[t] != nil {
			a.skip = 1
		}
		v.work(1)
		value, err := f(a)
		v.check()
		if err != nil {
			L.RaiseError("%s", clip(err.Error()))
		}
		L.Push(v.toLua(value, 0))
		return 1
	})
}

// An Object is a read-only table whose fields the host computes when they are first read. It
// belongs to one machine and may be used, under the machine's rule of one goroutine, for any number
// of calls.
type Object struct {
	// Strict is the object's name in the error for reading a missing field; "" returns nil instead.
	Strict string

	v     *VM
	table *lua.LTable
	names []string
	field func(name string) (any, bool)
	read  []string // fields that are in the table
}

// NewObject returns an object. Field returns the value of a field and whether it exists; names are
// those that pairs shows. A [Func] among the values can be called as a method. A list or map that
// is read is the plugin's copy until [Object.Reset].
func (v *VM) NewObject(field func(name string) (value any, ok bool), names ...string) *Object {
	o := &Object{v: v, table: v.state.CreateTable(0, len(names)), names: names, field: field}
	meta := v.state.CreateTable(0, 2)
	meta.RawSetString("__metatable", lua.LString("locked"))
	meta.RawSetString("__index", v.state.NewFunction(func(L *lua.LState) int {
		name, ok := L.Get(2).(lua.LString)
		if !ok {
			L.Push(lua.LNil)
			return 1
		}
		L.Push(o.get(string(name)))
		return 1
	}))
	meta.RawSetString("__newindex", v.state.NewFunction(func(L *lua.LState) int {
		L.RaiseError("this table is read-only")
		return 0
	}))
	o.table.Metatable = meta
	v.objects[o.table] = o
	return o
}

func (o *Object) get(name string) lua.LValue {
	value, ok := o.field(name)
	o.v.check()
	if !ok && o.Strict != "" {
		o.v.state.RaiseError("%s has no field %s", o.Strict, clip(fmt.Sprintf("%q", name)))
	}
	if !ok || value == nil {
		return lua.LNil
	}
	l := o.v.toLua(value, 0)
	o.table.RawSetString(name, l)
	o.read = append(o.read, name)
	return l
}

func (o *Object) fill() {
	for _, name := range o.names {
		if o.table.RawGetString(name) == lua.LNil {
			o.get(name)
		}
	}
}

// Reset drops the fields that were read, so that the next call reads them anew. Functions stay:
// they close over the host's state.
func (o *Object) Reset() {
	kept := o.read[:0]
	for _, name := range o.read {
		if _, ok := o.table.RawGetString(name).(*lua.LFunction); ok {
			kept = append(kept, name)
			continue
		}
		o.table.RawSetString(name, lua.LNil)
	}
	o.read = kept
}

// Release detaches the object. A plugin that still holds it sees what it has read, and may write to
// it.
func (o *Object) Release() {
	delete(o.v.objects, o.table)
	o.table.Metatable = lua.LNil
}

// toLua converts a Go value to a Lua value. It panics on a bug in the host.
func (v *VM) toLua(value any, depth int) lua.LValue {
	if depth > maxDepth {
		panic("sandbox: an argument is too deep")
	}
	switch x := value.(type) {
	case nil:
		return lua.LNil
	case bool:
		return lua.LBool(x)
	case int:
		return lua.LNumber(x)
	case int64:
		return lua.LNumber(x)
	case float64:
		return lua.LNumber(x)
	case string: // the host's bytes, shared
		return lua.LString(x)
	case Func:
		return v.function(x)
	case *Object:
		return x.table
	case []string:
		t := v.state.CreateTable(len(x), 0)
		for i, s := range x {
			t.RawSetInt(i+1, lua.LString(s))
		}
		v.made += sizeTable + int64(len(x))*sizeElement
		return t
	case []any:
		t := v.state.CreateTable(len(x), 0)
		for i, e := range x {
			if e == nil {
				t.RawSetInt(i+1, v.null)
				continue
			}
			t.RawSetInt(i+1, v.toLua(e, depth+1))
		}
		v.made += sizeTable + int64(len(x))*sizeElement
		if len(x) == 0 {
			t.Metatable = v.array
		}
		return t
	case map[string]any:
		t := v.state.CreateTable(0, len(x))
		for k, e := range x {
			t.RawSetString(k, v.toLua(e, depth+1))
		}
		v.made += sizeTable + int64(len(x))*sizeEntry
		return t
	}
	panic(fmt.Sprintf("sandbox: a %T cannot be an argument", value))
}

// result converts a plugin's result to a Go value.
func (v *VM) result(value lua.LValue) (any, *Error) {
	c := &converter{v: v, values: v.limits.Values, bytes: v.limits.Output}
	result := c.value(value, 0)
	if c.problem != "" {
		return nil, &Error{Kind: Output, Function: v.current, Message: c.problem}
	}
	return result, nil
}

type converter struct {
	v       *VM
	values  int // left
	bytes   int // left
	problem string
}

func (c *converter) fail(format string, args ...any) any {
	if c.problem == "" {
		c.problem = clip("the result " + fmt.Sprintf(format, args...))
	}
	return nil
}

func (c *converter) value(value lua.LValue, depth int) any {
	if c.values--; c.values < 0 {
		return c.fail("has more than %d values", c.v.limits.Values)
	}
	switch x := value.(type) {
	case *lua.LNilType:
		return nil
	case lua.LBool:
		return bool(x)
	case lua.LNumber:
		f := float64(x)
		switch {
		case math.IsNaN(f) || math.IsInf(f, 0):
			return c.fail("holds a number that is not finite")
		case f == math.Trunc(f) && math.Abs(f) <= whole:
			return int64(f)
		}
		return f
	case lua.LString:
		return c.text(string(x))
	case *lua.LTable:
		if depth >= maxDepth {
			return c.fail("is nested more than %d levels deep, or holds itself", maxDepth)
		}
		if c.v.objects[x] != nil {
			return c.fail("holds an object of the host")
		}
		return c.table(x, depth)
	}
	if value == c.v.null {
		return nil
	}
	return c.fail("holds %s", kindOf(value))
}

func (c *converter) text(s string) string {
	if c.bytes -= len(s); c.bytes < 0 {
		c.fail("has more than %d bytes of text", c.v.limits.Output)
		return ""
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// table makes a list of a table with exactly the keys 1..n, or marked as a list, and a map of any
// other.
func (c *converter) table(t *lua.LTable, depth int) any {
	n := t.Len()
	if n > 0 || t.Metatable == c.v.array {
		if n > c.values {
			return c.fail("has more than %d values", c.v.limits.Values)
		}
		list := make([]any, 0, n)
		for key, value := t.Next(lua.LNil); key != lua.LNil &&
			c.problem == ""; key, value = t.Next(key) {
			if i, ok := key.(lua.LNumber); !ok || int(i) != len(list)+1 ||
				lua.LNumber(int(i)) != i {
				return c.fail("holds a list with a gap, or a list and a map in one table, at %s",
					describe(key))
			}
			list = append(list, c.value(value, depth+1))
		}
		return list
	}
	m := map[string]any{}
	for key, value := t.Next(lua.LNil); key != lua.LNil &&
		c.problem == ""; key, value = t.Next(key) {
		name, ok := key.(lua.LString)
		if !ok {
			return c.fail("holds a map with %s as a key", kindOf(key))
		}
		m[c.text(string(name))] = c.value(value, depth+1)
	}
	return m
}
