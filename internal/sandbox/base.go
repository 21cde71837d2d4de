package sandbox

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
)

// maxUnpacked is how many values one call of unpack or string.byte returns: they go on the value
// stack.
const maxUnpacked = 4096

type library map[string]lua.LGFunction

func (v *VM) table(funcs library) *lua.LTable {
	t := v.state.CreateTable(0, len(funcs))
	for name, f := range funcs {
		t.RawSetString(name, v.state.NewFunction(f))
	}
	return t
}

// openLibraries builds everything that a plugin can reach.
func (v *VM) openLibraries() {
	L, g := v.state, v.state.G.Global
	v.quiet = L.NewFunction(quiet)
	for _, h := range []lua.LGFunction{v.concat, v.set, v.newTable, v.newFunction, v.newKey} { // as helperNames
		v.helpers = append(v.helpers, L.NewFunction(h))
	}
	base := library{
		"assert": v.assert, "error": v.raise, "getmetatable": v.getMetatable, "ipairs": v.ipairs(),
		"next": v.next, "pairs": v.pairs(), "pcall": v.pcall, "print": v.print,
		"rawequal": rawEqual, "rawget": rawGet, "rawset": v.rawset, "require": v.requireFunction,
		"select": selectArgs, "setmetatable": v.setMetatable, "tonumber": toNumber,
		"tostring": toString, "type": typeOf, "unpack": v.unpack, "xpcall": v.xpcall,
	}
	for name, f := range base {
		g.RawSetString(name, L.NewFunction(f))
	}
	g.RawSetString("_G", g)
	g.RawSetString("_VERSION", lua.LString(lua.LuaVersion))
	g.RawSetString("math", v.mathLibrary())
	g.RawSetString("table",
		v.table(library{"concat": v.tableConcat, "insert": v.tableInsert, "remove": v.tableRemove,
			"sort": v.tableSort}))
	g.RawSetString("utf8", v.utf8Library())
	g.RawSetString("bit", v.table(bitLibrary))
	g.RawSetString("json", v.jsonLibrary())
	g.RawSetString("re",
		v.table(library{"find": v.reFind, "match": v.reMatch, "match_all": v.reMatchAll,
			"test": v.reTest, "gsub": v.reGsub}))
	g.RawSetString("string", v.table(v.stringFunctions()))
	methods := L.CreateTable(0, 1) // plugins cannot reach this table, nor the one inside it: s:upper() cannot be redefined
	methods.RawSetString("__index", v.table(v.stringFunctions()))
	L.SetMetatable(lua.LString(""), methods)
}

func (v *VM) requireFunction(L *lua.LState) int {
	L.Push(v.require(L, L.CheckString(1)))
	return 1
}

func (v *VM) assert(L *lua.LState) int {
	if !lua.LVIsFalse(L.CheckAny(1)) {
		return L.GetTop()
	}
	if L.GetTop() < 2 {
		L.RaiseError("assertion failed!")
	}
	L.Error(L.Get(2), 0)
	return 0
}

func (v *VM) raise(L *lua.LState) int {
	value, level := L.Get(1), L.OptInt(2, 1)
	if s, ok := value.(lua.LString); !ok {
		v.raised, v.raisedAt = value, L.Where(1) // it cannot carry a position itself
	} else if level > 0 && level < callDepth {
		if at := L.Where(level); at != "" && !strings.HasPrefix(at, "[G]") {
			value = v.text(at + " " + string(s))
		}
	}
	L.Error(value, 0)
	return 0
}

// pcall cannot catch a limit, nor a bug in Go code. It checks the clock, because unwinding is slow.
func (v *VM) pcall(L *lua.LState) int {
	L.CheckAny(1)
	v.clock()
	if !v.try(L, L.GetTop()-1) {
		L.Insert(lua.LFalse, 1)
		return 2
	}
	L.Insert(lua.LTrue, 1)
	return L.GetTop()
}

// xpcall calls its handler after the stack has been unwound: no function here could inspect it.
func (v *VM) xpcall(L *lua.LState) int {
	handler := L.CheckFunction(2)
	v.clock()
	L.SetTop(1)
	if v.try(L, 0) {
		L.Insert(lua.LTrue, 1)
		return L.GetTop()
	}
	L.Insert(handler, 1)
	v.try(L, 1)
	L.Insert(lua.LFalse, 1)
	return L.GetTop()
}

// try calls the function below nargs arguments, which are all of the stack, and leaves the results
// or the error.
func (v *VM) try(L *lua.LState, nargs int) bool {
	L.Insert(v.quiet, 1)
	err := L.PCall(nargs+1, lua.MultRet, nil)
	v.check()
	if err == nil {
		return true
	}
	failure, ok := err.(*lua.ApiError)
	if !ok || failure.Type == lua.ApiErrorPanic {
		v.stop(Panic, clip(err.Error()))
	}
	L.SetTop(0)
	L.Push(withoutAddress(failure.Object))
	return false
}

// addresses match the interpreter's own messages, which name anonymous values by address.
var addresses = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(table|function|userdata|thread|channel): 0x[0-9a-f]+`)
})

// withoutAddress removes addresses from an error's text.
func withoutAddress(object lua.LValue) lua.LValue {
	if s, ok := object.(lua.LString); ok && strings.Contains(string(s), ": 0x") {
		return lua.LString(addresses().ReplaceAllString(string(s), "$1"))
	}
	return object
}

func (v *VM) print(L *lua.LState) int {
	var b strings.Builder
	for i := 1; i <= L.GetTop(); i++ {
		if i > 1 {
			b.WriteByte('\t')
		}
		s := lua.LVAsString(textOf(L, L.Get(i)))
		if rest := v.limits.Log - v.logged - b.Len(); len(s) > rest {
			s = s[:max(rest, 0)]
		}
		b.WriteString(s)
	}
	v.work(b.Len())
	for line := range strings.SplitSeq(b.String(), "\n") {
		if v.logged >= v.limits.Log {
			break
		}
		if v.logged += len(line) + sizeLine; v.logged >= v.limits.Log {
			line += " (the rest of this call is not logged)"
		}
		if v.log != nil {
			v.log(strings.ToValidUTF8(line, "\uFFFD"))
		}
	}
	return 0
}

// sizeLine is what a log line takes besides its text, in bytes: time, level and the plugin's name.
const sizeLine = 64

func (v *VM) next(L *lua.LState) int {
	v.work(1)
	key, value := L.CheckTable(1).Next(L.Get(2))
	L.Push(key)
	if key == lua.LNil {
		return 1
	}
	L.Push(value)
	return 2
}

func (v *VM) pairs() lua.LGFunction {
	next := v.state.NewFunction(v.next)
	return func(L *lua.LState) int {
		t := L.CheckTable(1)
		if o := v.objects[t]; o != nil {
			o.fill()
		}
		L.Push(next)
		L.Push(t)
		L.Push(lua.LNil)
		return 3
	}
}

func (v *VM) ipairs() lua.LGFunction {
	step := v.state.NewFunction(func(L *lua.LState) int {
		i := L.CheckInt(2) + 1
		value := L.CheckTable(1).RawGetInt(i)
		if value == lua.LNil {
			return 0
		}
		L.Push(lua.LNumber(i))
		L.Push(value)
		return 2
	})
	return func(L *lua.LState) int {
		t := L.CheckTable(1)
		L.Push(step)
		L.Push(t)
		L.Push(lua.LNumber(0))
		return 3
	}
}

func selectArgs(L *lua.LState) int {
	n := L.GetTop() - 1
	if s, ok := L.Get(1).(lua.LString); ok && s == "#" {
		L.Push(lua.LNumber(n))
		return 1
	}
	i := L.CheckInt(1)
	if i < 0 {
		i += n + 1
	}
	if i < 1 {
		L.ArgError(1, "index out of range")
	}
	return max(n-i+1, 0)
}

func typeOf(L *lua.LState) int {
	L.Push(lua.LString(L.CheckAny(1).Type().String()))
	return 1
}

// textOf is a value as tostring returns it. For a value that Lua identifies by address it returns
// only the kind: a plugin, and readers of its output, must not learn addresses in this process.
func textOf(L *lua.LState, value lua.LValue) lua.LValue {
	switch value.Type() {
	case lua.LTNil, lua.LTBool, lua.LTNumber, lua.LTString:
		return L.ToStringMeta(value)
	}
	if _, own := L.GetMetaField(value, "__tostring").(*lua.LFunction); own {
		return L.ToStringMeta(value)
	}
	return lua.LString(value.Type().String())
}

func toString(L *lua.LState) int {
	s := textOf(L, L.CheckAny(1))
	if !lua.LVCanConvToString(s) {
		L.RaiseError("__tostring must return a string")
	}
	L.Push(s)
	return 1
}

func toNumber(L *lua.LState) int {
	base := L.OptInt(2, 10)
	var n float64
	ok := false
	switch x := L.CheckAny(1).(type) {
	case lua.LNumber:
		n, ok = float64(x), base == 10
	case lua.LString:
		n, ok = parseNumber(string(x), base)
	}
	if !ok {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(lua.LNumber(n))
	return 1
}

func parseNumber(s string, base int) (float64, bool) {
	if len(s) > 200 { // no number is that long; a longer text would only waste time
		return 0, false
	}
	s = strings.ToLower(strings.Trim(s, " \t\n\v\f\r"))
	digits, negative := strings.CutPrefix(s, "-")
	if hex, ok := strings.CutPrefix(digits, "0x"); ok && (base == 10 || base == 16) {
		digits, base = hex, 16
	}
	if base == 10 {
		if strings.Trim(s, "0123456789.e+-") != "" { // Inf, NaN, hexadecimal floats and _ are not Lua's
			return 0, false
		}
		n, err := strconv.ParseFloat(s, 64)
		return n, err == nil || !math.IsNaN(n) && math.IsInf(n, 0)
	}
	if base < 2 || base > 36 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if negative {
		return -float64(n), err == nil
	}
	return float64(n), err == nil
}

func (v *VM) unpack(L *lua.LState) int {
	t := L.CheckTable(1)
	from, to := v.integer(L, 2, 1), v.integer(L, 3, t.Len())
	if to-from >= maxUnpacked {
		L.RaiseError("too many results to unpack: at most %d", maxUnpacked)
	}
	for i := from; i <= to; i++ {
		L.Push(t.RawGetInt(i))
	}
	v.work(max(to-from, 0))
	return max(to-from+1, 0)
}

// integer returns a whole number within 2^53 of zero: anything outside becomes the nearest inside.
func (v *VM) integer(L *lua.LState, n, fallback int) int {
	if L.Get(n) == lua.LNil {
		return fallback
	}
	f := float64(L.CheckNumber(n))
	if math.IsNaN(f) {
		return 0
	}
	return int(math.Trunc(min(max(f, -1<<53), 1<<53)))
}

// Metatables are for tables. Those of strings and of our own values can neither be read nor
// changed.
func (v *VM) getMetatable(L *lua.LState) int {
	t, ok := L.CheckAny(1).(*lua.LTable)
	if !ok {
		L.Push(lua.LNil)
		return 1
	}
	meta := t.Metatable
	if m, ok := meta.(*lua.LTable); ok {
		if locked := m.RawGetString("__metatable"); locked != lua.LNil {
			meta = locked
		}
	}
	L.Push(meta)
	return 1
}

func (v *VM) setMetatable(L *lua.LState) int {
	t := L.CheckTable(1)
	L.CheckTypes(2, lua.LTNil, lua.LTTable)
	if m, ok := t.Metatable.(*lua.LTable); ok && m.RawGetString("__metatable") != lua.LNil {
		L.RaiseError("cannot change a protected metatable")
	}
	t.Metatable = L.Get(2)
	L.SetTop(1)
	return 1
}

func rawEqual(L *lua.LState) int {
	L.Push(lua.LBool(L.RawEqual(L.CheckAny(1), L.CheckAny(2))))
	return 1
}

func rawGet(L *lua.LState) int {
	L.Push(L.CheckTable(1).RawGet(L.CheckAny(2)))
	return 1
}

func (v *VM) rawset(L *lua.LState) int {
	t := L.CheckTable(1)
	v.mustWrite(L, t)
	v.rawSet(L, t, L.CheckAny(2), L.CheckAny(3))
	L.SetTop(1)
	return 1
}

func (v *VM) mustWrite(L *lua.LState, t *lua.LTable) {
	if t.Metatable != lua.LNil && (v.objects[t] != nil || t == v.array) {
		L.RaiseError("this table is read-only")
	}
}

func (v *VM) mathLibrary() *lua.LTable {
	L := v.state
	L.Push(L.NewFunction(lua.OpenMath))
	L.Call(0, 1)
	all := L.Get(-1).(*lua.LTable)
	L.Pop(1)
	names := strings.Fields("abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp ldexp log log10 max min modf pow rad sin sinh sqrt tan tanh")
	t := L.CreateTable(0, len(names)+3)
	for _, name := range names {
		t.RawSetString(name, all.RawGetString(name))
	}
	t.RawSetString("pi", lua.LNumber(math.Pi))
	t.RawSetString("huge", lua.LNumber(math.Inf(1)))
	t.RawSetString("random", L.NewFunction(v.mathRandom))
	return t
}

func (v *VM) mathRandom(L *lua.LState) int {
	if L.GetTop() == 0 {
		L.Push(lua.LNumber(v.random.Float64()))
		return 1
	}
	low, high := 1, v.integer(L, 1, 1)
	if L.GetTop() > 1 {
		low, high = high, v.integer(L, 2, 1)
	}
	if low > high {
		L.RaiseError("interval is empty")
	}
	L.Push(lua.LNumber(low + v.random.IntN(high-low+1)))
	return 1
}

func (v *VM) tableConcat(L *lua.LState) int {
	t, separator := L.CheckTable(1), L.OptString(2, "")
	from, to := v.integer(L, 3, 1), v.integer(L, 4, t.Len())
	var b strings.Builder
	for i := from; i <= to; i++ {
		value := t.RawGetInt(i)
		if !lua.LVCanConvToString(value) {
			L.RaiseError("invalid value (%s) at index %d in table for concat", value.Type(), i)
		}
		if i > from {
			b.WriteString(separator)
		}
		b.WriteString(lua.LVAsString(value))
		v.work(1 + len(separator)>>6)
		if b.Len() > v.limits.String {
			v.afford(b.Len())
		}
	}
	L.Push(v.text(b.String()))
	return 1
}

func (v *VM) tableInsert(L *lua.LState) int {
	t := L.CheckTable(1)
	v.mustWrite(L, t)
	n := t.Len()
	if L.GetTop() == 2 {
		v.rawSet(L, t, lua.LNumber(n+1), L.Get(2))
		return 0
	}
	at := v.integer(L, 2, 0)
	value := L.CheckAny(3)
	if at < 1 || at > n+1 {
		L.ArgError(2, "position out of bounds")
	}
	if at == n+1 {
		v.rawSet(L, t, lua.LNumber(at), value)
		return 0
	}
	v.pay(sizeElement)
	v.work((n - at) >> 3)
	t.Insert(at, value)
	return 0
}

func (v *VM) tableRemove(L *lua.LState) int {
	t := L.CheckTable(1)
	v.mustWrite(L, t)
	n := t.Len()
	at := v.integer(L, 2, n)
	if at < 1 || at > n {
		return 0
	}
	v.work((n - at) >> 3)
	L.Push(t.RawGetInt(at))
	t.Remove(at)
	return 1
}

// tableSort sorts a copy, so that a comparison may do anything to the table, and an inconsistent
// one only gives a wrong order.
func (v *VM) tableSort(L *lua.LState) int {
	t := L.CheckTable(1)
	v.mustWrite(L, t)
	less := func(a, b lua.LValue) bool {
		if x, ok := a.(lua.LString); ok {
			if y, ok := b.(lua.LString); ok {
				v.work(1 + min(len(x), len(y))>>6)
				return x < y
			}
		}
		v.work(1)
		return L.LessThan(a, b)
	}
	if L.Get(2) != lua.LNil {
		compare := L.CheckFunction(2)
		less = func(a, b lua.LValue) bool {
			v.work(1)
			L.Push(compare)
			L.Push(a)
			L.Push(b)
			L.Call(2, 1)
			result := lua.LVAsBool(L.Get(-1))
			L.Pop(1)
			return result
		}
	}
	n := t.Len()
	v.pay(int64(n) * sizeElement)
	values := make([]lua.LValue, n)
	for i := range values {
		values[i] = t.RawGetInt(i + 1)
	}
	slices.SortFunc(values, func(a, b lua.LValue) int {
		if less(a, b) {
			return -1
		}
		return 1
	})
	for i, value := range values {
		t.RawSetInt(i+1, value)
	}
	return 0
}
