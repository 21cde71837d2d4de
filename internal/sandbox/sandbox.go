// Package sandbox runs the untrusted Lua of one plugin instance. [New] compiles it, [VM.Call] calls
// one of its functions under limits of time, instructions, memory and output; every failure is an
// [*Error].
//
// The underlying interpreter can be stopped between two instructions and bounds its stack, and
// nothing more. This package does the rest, in three ways. The library is our own, and every
// function of it pays for its work and for what it allocates. The program is rewritten before it is
// compiled: what makes or grows a value (.., t[k] = v, {...}, function) becomes a call that pays
// too. And what a plugin keeps from call to call is measured between calls.
//
// Not bounded: the memory of the Go runtime beyond what is counted (an estimate, on the high side),
// and the time of one library step, which is bounded by the size of a string (1 MiB) and not by the
// clock. For limits enforced by the operating system, run the plugin in a separate process.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// Limits are what one call may use. Zero fields mean the default.
type Limits struct {
	Time         time.Duration // of a call and of loading, excluding other load on the machine; 250 ms: loading a plugin takes up to 5
	Instructions int64         // of the virtual machine, plus steps of the library; 20,000,000: about 2 s of endless loop
	Memory       int64         // bytes allocated in a call, collected or not; 32 MiB: a classifier allocates kilobytes
	Retained     int64         // bytes kept from call to call; 16 MiB: transcripts are bounded far below
	String       int           // bytes of one string; 1 MiB: the largest screen as text
	Steps        int           // of one pattern function; 1,000,000: some 10 ms, and a linear pattern takes one per byte
	Output       int           // bytes of strings in a result; 1 MiB
	Values       int           // values in a result; 20,000: every cell of a large screen
	Log          int           // bytes printed in a call; 16 KiB: what a person reads
}

// MaxSource is the maximum size of one module, in bytes. Real adapters have a few KiB; the compiler
// is quadratic in places, and takes a third of a second for the worst file of this size.
const MaxSource = 64 << 10

const (
	maxModules = 68   // files of one plugin, 64, and four of the host's
	maxDepth   = 32   // levels of a value that enters or leaves; the depth of a matcher
	callDepth  = 200  // nested calls: each may hold a Go frame, some 100 KiB in all
	registry   = 64e3 // slots of the value stack, 1 MiB of memory: 200 frames of 200 registers come close
)

func (l Limits) withDefaults() Limits {
	return Limits{
		Time:         or(l.Time, 250*time.Millisecond),
		Instructions: or(l.Instructions, 20e6),
		Memory:       or(l.Memory, 32<<20),
		Retained:     or(l.Retained, 16<<20),
		String:       or(l.String, 1<<20),
		Steps:        or(l.Steps, 1e6),
		Output:       or(l.Output, 1<<20),
		Values:       or(l.Values, 20e3),
		Log:          or(l.Log, 16<<10),
	}
}

func or[T int | int64 | time.Duration](value, fallback T) T {
	if value > 0 {
		return value
	}
	return fallback
}

// Options configure a machine. The zero value is ready to use.
type Options struct {
	Limits  Limits
	Log     func(line string)          // gets what the plugin prints, line by line, inside the call; nil drops it
	Globals func(v *VM) map[string]any // more globals, of the types of a call's arguments, [Func] included; may be nil
}

// A VM is one plugin instance. One goroutine may use it at a time: a call during a call fails with
// [Busy]. It starts no goroutine and needs no closing.
type VM struct {
	meter
	state     *lua.LState
	limits    Limits
	log       func(string)
	logged    int
	functions map[string]*lua.LFunction
	protos    map[string]*lua.FunctionProto // the program's
	loaded    map[string]lua.LValue         // a module that is being loaded is present as nil
	objects   map[*lua.LTable]*Object
	quiet     *lua.LFunction
	helpers   []lua.LValue // called by rewritten code, in the order of helperNames
	null      *lua.LUserData
	array     *lua.LTable // the metatable that marks a table as a list
	patterns  cache[*pattern]
	regexps   cache[*compiled]
	random    *rand.Rand
	current   string     // the function being called
	raised    lua.LValue // the last non-string passed to error, and where; nil between calls
	raisedAt  string
	dead      *Error
	busy      atomic.Bool
}

// A Program is compiled modules. It is immutable, and any number of machines may run it
// concurrently: compiling takes a hundred times as long as making a machine, and a hundred times as
// much memory.
type Program struct {
	protos map[string]*lua.FunctionProto
	main   string
}

// Compile compiles modules, a map from name to source; a machine starts with main. A module's name
// is letters, digits, '_' and '-', in parts joined by dots; the others are loaded with require. All
// are compiled at once, so this finds a syntax error in any of them. Errors are *[Error].
func Compile(modules map[string]string, main string) (*Program, error) {
	const loading = "main chunk"
	if len(modules) > maxModules {
		return nil, &Error{Kind: Syntax, Function: loading,
			Message: fmt.Sprintf("%d modules, at most %d are allowed", len(modules), maxModules)}
	}
	p := &Program{protos: make(map[string]*lua.FunctionProto, len(modules)), main: main}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		proto, err := compile(name, modules[name])
		if err != nil {
			err.Function = loading
			return nil, err
		}
		p.protos[name] = proto
	}
	if p.protos[main] == nil {
		return nil, &Error{Kind: Syntax, Function: loading,
			Message: fmt.Sprintf("no module %.32q", main)}
	}
	return p, nil
}

// New is [Compile] and [Program.New].
func New(modules map[string]string, main string, o Options) (*VM, error) {
	p, err := Compile(modules, main)
	if err != nil {
		return nil, err
	}
	return p.New(o)
}

// New makes a machine and runs the main module, which returns a table of functions. Errors are
// *[Error].
func (p *Program) New(o Options) (*VM, error) {
	v := &VM{
		limits:  o.Limits.withDefaults(),
		log:     o.Log,
		protos:  p.protos,
		loaded:  map[string]lua.LValue{},
		objects: map[*lua.LTable]*Object{},
		random:  rand.New(rand.NewPCG(1, 2)), // the same numbers in every run: a plugin is replayed in tests
		current: "main chunk",
	}
	v.state = lua.NewState(lua.Options{
		SkipOpenLibs: true, CallStackSize: callDepth, RegistrySize: 256, RegistryMaxSize: registry,
		RegistryGrowStep: 1024,
	})
	v.openLibraries()
	if o.Globals != nil {
		for name, value := range o.Globals(v) {
			v.state.G.Global.RawSetString(name, v.toLua(value, 0))
		}
	}
	v.meter.vm = v
	v.state.SetContext(&v.meter)
	v.start(context.Background(), v.limits.Time)
	table, err := v.protected(v.state.NewFunction(func(L *lua.LState) int {
		L.Push(v.require(L, p.main))
		return 1
	}), nil)
	if err != nil {
		return nil, err
	}
	if err := v.export(table); err != nil {
		return nil, err
	}
	return v, nil
}

// export extracts the functions from the main chunk's result: changing the table later has no
// effect.
func (v *VM) export(value lua.LValue) *Error {
	table, ok := value.(*lua.LTable)
	if !ok {
		return &Error{Kind: Runtime, Function: v.current,
			Message: "must return a table of functions, not " + kindOf(value)}
	}
	v.functions = map[string]*lua.LFunction{}
	var bad *Error
	table.ForEach(func(key, value lua.LValue) {
		name, named := key.(lua.LString)
		function, ok := value.(*lua.LFunction)
		if !named || !ok {
			bad = &Error{Kind: Runtime, Function: v.current,
				Message: fmt.Sprintf("must return a table of functions; %.32s is %s", key,
					kindOf(value))}
			return
		}
		v.functions[string(name)] = function
	})
	return bad
}

// Has reports whether the plugin has a function of this name.
func (v *VM) Has(function string) bool { return v.functions[function] != nil }

// Names returns the names of the plugin's functions, sorted.
func (v *VM) Names() []string { return slices.Sorted(maps.Keys(v.functions)) }

// Call calls a function of the plugin and returns its first result: nil, bool, int64 (a whole
// number below 2^53 in size), float64, string (valid UTF-8), []any or map[string]any. It ends at
// the limit, the machine's own when zero, and when ctx does, which is checked every [lookEvery]
// instructions. Arguments are of the same types, int, []string, [Func] or *[Object]. Errors are
// *[Error]; after a fatal one (see [Error.Fatal]) every later call fails with [Dead].
func (v *VM) Call(ctx context.Context, function string, limit time.Duration,
	args ...any) (any, error) {
	if !v.busy.CompareAndSwap(false, true) {
		return nil, &Error{Kind: Busy, Function: function, Message: "the machine is in a call"}
	}
	defer v.busy.Store(false)
	if v.dead != nil {
		return nil, &Error{Kind: Dead, Function: function,
			Message: "given up after: " + v.dead.Message}
	}
	f := v.functions[function]
	if f == nil {
		return nil, &Error{Kind: Missing, Function: function,
			Message: "the plugin has no such function"}
	}
	v.current = function
	v.start(ctx, or(limit, v.limits.Time))
	value, failed := v.protected(f, args)
	var result any
	if failed == nil {
		result, failed = v.result(value)
	}
	if v.dead == nil { // a failed call may keep things, too
		if e := v.sweep(); e != nil {
			failed = e
		}
	}
	if failed != nil {
		return nil, failed
	}
	return result, nil
}

// protected calls a function and turns any failure into an *Error, in it or in our own code around
// it.
func (v *VM) protected(f *lua.LFunction, args []any) (value lua.LValue, err *Error) {
	defer func() {
		if r := recover(); r != nil {
			v.dead = &Error{Kind: Panic, Function: v.current, Message: clip(fmt.Sprint(r))}
			value, err = nil, v.dead
		}
	}()
	L := v.state
	L.Push(v.quiet)
	L.Push(f)
	for _, a := range args {
		L.Push(v.toLua(a, 0))
	}
	failed := L.PCall(len(args)+1, 1, nil)
	err = v.failure(failed)
	v.raised = nil
	if err != nil {
		return nil, err
	}
	value = L.Get(-1)
	L.Pop(1)
	return value, nil
}

// failure turns an interpreter error into an *Error. An exceeded limit counts even if the function
// returned.
func (v *VM) failure(failed error) *Error {
	if v.fault != nil {
		v.dead = v.fault
		return v.fault
	}
	if failed == nil {
		return nil
	}
	var api *lua.ApiError
	if !errors.As(failed, &api) {
		return &Error{Kind: Runtime, Function: v.current, Message: clip(failed.Error())}
	}
	message, code := withoutAddress(api.Object).String(), ""
	switch x := api.Object.(type) {
	case lua.LString, lua.LNumber:
	case *lua.LTable: // __tostring is not called: the call is over, and so is its budget
		message = "error object is a table"
		if s, ok := x.RawGetString("message").(lua.LString); ok {
			message = string(s)
		}
		if s, ok := x.RawGetString("code").(lua.LString); ok && len(s) <= maxCode {
			code = string(s)
		}
	default:
		message = "error object is " + kindOf(x)
	}
	e := &Error{Kind: Runtime, Function: v.current, Code: code}
	e.Module, e.Line, e.Message = splitPosition(message)
	if e.Module == "" && api.Object == v.raised {
		e.Module, e.Line, _ = splitPosition(v.raisedAt)
	}
	if api.Type == lua.ApiErrorPanic {
		e.Kind, v.dead = Panic, e
	}
	return e
}

// require runs a module once and returns its result, true for none.
func (v *VM) require(L *lua.LState, name string) lua.LValue {
	value, known := v.loaded[name]
	switch proto := v.protos[name]; {
	case value != nil:
		return value
	case known:
		L.RaiseError("module %s requires itself", name)
	case proto == nil:
		L.RaiseError("no module %s; there are %s", clip(fmt.Sprintf("%q", name)),
			strings.Join(slices.Sorted(maps.Keys(v.protos)), ", "))
	default:
		v.loaded[name] = nil
		defer func() { // a failed module may be required again
			if v.loaded[name] == nil {
				delete(v.loaded, name)
			}
		}()
		L.Push(L.NewFunctionFromProto(proto))
		for _, h := range v.helpers {
			L.Push(h)
		}
		L.Call(len(v.helpers), 1)
		value = L.Get(-1)
		L.Pop(1)
		if value == lua.LNil {
			value = lua.LTrue
		}
		v.loaded[name] = value
	}
	return value
}
