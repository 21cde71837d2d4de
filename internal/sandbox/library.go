package sandbox

import (
	"context"
	"math"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// Bound puts functions of ours in the place of those of an interpreter's own library that make a string out of little or may search
// for ever: string.*, but for what it has beside Lua 5.1's, and table.concat. They do the same, make no string of more than size bytes, and
// end when the context that the interpreter has does, which an error tells. Patterns have at most 1 KiB. It is for Lua that may do what it
// likes otherwise: the operator .. and tables are as they were.
func Bound(L *lua.LState, size int) {
	v := &VM{state: L, current: "the library"}
	v.limits = Limits{
		Time: math.MaxInt64 / 2, Instructions: math.MaxInt64 / 2, Memory: math.MaxInt64 / 2, Retained: math.MaxInt64 / 2,
		Steps: math.MaxInt / 2, String: size,
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
	replace("string", v.stringFunctions(), "byte", "char", "find", "format", "gsub", "lower", "match", "rep", "reverse", "sub", "upper")
	replace("table", library{"concat": v.tableConcat}, "concat")
	gmatch := library{"gmatch": func(L *lua.LState) int {
		n := v.stringGmatch(L)
		next := L.Get(-1).(*lua.LFunction)
		next.GFunction = v.unmetered(next.GFunction)
		return n
	}}
	gmatch["gfind"] = gmatch["gmatch"] // as Lua 5.0 called it
	replace("string", gmatch, "gmatch", "gfind")
}

// unmetered has a function of the library start with nothing used, whatever went before, and raise what it is stopped for as an error
// like any other.
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

// current is the context that an interpreter has now.
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
