package sandbox

import (
	"context"
	"math"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// Bound replaces functions of an interpreter's own library that can make a large string from little
// input or search for ever: Lua 5.1's part of string.*, and table.concat. The replacements do the
// same, make no string longer than size bytes, and stop with an error when the interpreter's
// context ends. Patterns have at most 1 KiB. It is for Lua that is otherwise unrestricted: the
// operator .. and tables are unchanged.
func Bound(L *lua.LState, size int) {
	v := &VM{state: L, current: "the library"}
	v.limits = Limits{
		Time: math.MaxInt64 / 2, Instructions: math.MaxInt64 / 2, Memory: math.MaxInt64 / 2,
		Retained: math.MaxInt64 / 2, Steps: math.MaxInt / 2, String: size,
	}.withDefaults()
	v.meter.vm = v
	replace := func(table string, all library, names ...string) {
		t, ok := L.GetGlobal(table).(*lua.LTable)
		if !ok {
			return
		}
		for _, name := range names {
			t.RawSetString(name, L.NewFunction(v.unmetered(all[name])))
		}
	}
	replace("string", v.stringFunctions(), "byte", "char", "find", "format", "gsub", "lower",
		"match", "rep", "reverse", "sub", "upper")
	replace("table", library{"concat": v.tableConcat}, "concat")
	gmatch := library{"gmatch": func(L *lua.LState) int {
		n := v.stringGmatch(L)
		next := L.Get(-1).(*lua.LFunction)
		next.GFunction = v.unmetered(next.GFunction)
		return n
	}}
	gmatch["gfind"] = gmatch["gmatch"] // its name in Lua 5.0
	replace("string", gmatch, "gmatch", "gfind")
}

// unmetered makes a function of the library start with nothing used, whatever went before, and
// raise a limit as an ordinary error.
func (v *VM) unmetered(f lua.LGFunction) lua.LGFunction {
	return func(L *lua.LState) int {
		v.start(current{L}, v.limits.Time)
		defer func() {
			if fault := v.fault; fault != nil {
				v.fault = nil
				if r := recover(); r != nil {
					L.RaiseError("%s", fault.Message)
				}
			}
		}()
		return f(L)
	}
}

// current is the interpreter's current context.
type current struct{ l *lua.LState }

func (c current) context() context.Context {
	if ctx := c.l.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

func (c current) Deadline() (time.Time, bool) { return c.context().Deadline() }
func (c current) Done() <-chan struct{}       { return c.context().Done() }
func (c current) Err() error                  { return c.context().Err() }
func (c current) Value(key any) any           { return c.context().Value(key) }
