package sandbox

import (
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// The functions in this file are called by rewritten code; see rewriter. A plugin cannot name them.

// concat is the operator .., for a whole chain.
func (v *VM) concat(L *lua.LState) int {
	n, size := L.GetTop(), 0
	plain := true
	var some [maxConcat]string
	parts := some[:0]
	for i := 1; i <= n && plain; i++ {
		switch x := L.Get(i).(type) {
		case lua.LString:
			parts = append(parts, string(x))
			size += len(x)
		case lua.LNumber:
			parts = append(parts, x.String())
			size += len(parts[i-1])
		default:
			plain = false
		}
	}
	if plain {
		v.afford(size)
		L.Push(lua.LString(strings.Join(parts, "")))
		return 1
	}
	result := L.Get(n)
	for i := n - 1; i >= 1; i-- {
		result = v.concat2(L, L.Get(i), result)
	}
	L.Push(result)
	return 1
}

func (v *VM) concat2(L *lua.LState, a, b lua.LValue) lua.LValue {
	if lua.LVCanConvToString(a) && lua.LVCanConvToString(b) {
		x, y := lua.LVAsString(a), lua.LVAsString(b)
		v.afford(len(x) + len(y))
		return lua.LString(x + y)
	}
	handler := L.GetMetaField(a, "__concat")
	if handler == lua.LNil {
		handler = L.GetMetaField(b, "__concat")
	}
	if handler == lua.LNil {
		if lua.LVCanConvToString(a) {
			a = b
		}
		L.RaiseError("attempt to concatenate %s", kindOf(a))
	}
	L.Push(handler)
	L.Push(a)
	L.Push(b)
	L.Call(2, 1)
	result := L.Get(-1)
	L.Pop(1)
	return result
}

// set is the assignment t[k] = v.
func (v *VM) set(L *lua.LState) int {
	object, key, value := L.Get(1), L.Get(2), L.Get(3)
	for range lua.MaxTableGetLoop {
		t, ok := object.(*lua.LTable)
		if ok && (t.Metatable == lua.LNil || t.RawGet(key) != lua.LNil && v.objects[t] == nil) {
			v.rawSet(L, t, key, value)
			return 0
		}
		handler := L.GetMetaField(object, "__newindex")
		switch {
		case ok && handler == lua.LNil:
			v.mustWrite(L, t)
			v.rawSet(L, t, key, value)
			return 0
		case handler == lua.LNil:
			L.RaiseError("attempt to index %s with %s", kindOf(object), describe(key))
		case handler.Type() == lua.LTFunction:
			L.Push(handler)
			L.Push(object)
			L.Push(key)
			L.Push(value)
			L.Call(3, 0)
			return 0
		}
		object = handler
	}
	L.RaiseError("__newindex goes round in a circle")
	return 0
}

// rawSet stores a value and pays for its space. A list is stored up to its last index, gaps
// included.
func (v *VM) rawSet(L *lua.LState, t *lua.LTable, key, value lua.LValue) {
	switch k := key.(type) {
	case *lua.LNilType:
		L.RaiseError("table index is nil")
	case lua.LNumber:
		if math.IsNaN(float64(k)) {
			L.RaiseError("table index is NaN")
		}
		if i := int(k); lua.LNumber(i) == k && i > 0 && i < lua.MaxArrayIndex {
			if t.RawGetInt(i) == lua.LNil {
				if value == lua.LNil {
					return
				}
				gap := 1
				if i > 1 && t.RawGetInt(i-1) == lua.LNil {
					gap = max(i-t.Len(), 1)
					v.work(16)
				}
				v.pay(int64(gap) * sizeElement)
				v.work(gap >> 3)
			}
			t.RawSetInt(i, value)
			return
		}
	}
	if t.RawGet(key) == lua.LNil {
		if value == lua.LNil {
			return
		}
		v.pay(sizeEntry)
	}
	t.RawSet(key, value)
}

// newTable pays for a constructor: its table, what is written in it, and whether it takes all
// results of its last call.
func (v *VM) newTable(L *lua.LState) int {
	t := L.CheckTable(1)
	size := int64(L.CheckNumber(2))
	if L.CheckNumber(3) != 0 {
		size += int64(t.Len()) * sizeElement
	}
	v.pay(size)
	L.SetTop(1)
	return 1
}

// newFunction pays for a closure.
func (v *VM) newFunction(L *lua.LState) int {
	v.pay(int64(L.CheckNumber(2)))
	L.SetTop(1)
	return 1
}

// newKey pays for a computed key of a constructor: {[1e7] = 1} is a list of ten million.
func (v *VM) newKey(L *lua.LState) int {
	if k, ok := L.Get(1).(lua.LNumber); ok && k > 1 && k < lua.LNumber(lua.MaxArrayIndex) {
		v.pay(int64(k) * sizeElement)
		v.work(int(k) >> 3)
	}
	L.SetTop(1)
	return 1
}

func kindOf(value lua.LValue) string {
	if value == lua.LNil {
		return "nil"
	}
	return "a " + value.Type().String()
}

// describe names a key in a message.
func describe(key lua.LValue) string {
	s := key.String()
	switch key.Type() {
	case lua.LTTable, lua.LTFunction, lua.LTUserData, lua.LTThread, lua.LTChannel: // whose text is their address
		s = key.Type().String()
	}
	if len(s) > 64 {
		s = s[:64] + "..."
	}
	return "key '" + s + "'"
}
