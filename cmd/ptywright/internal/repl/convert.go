package repl

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

// maxDepth bounds the nesting of a Lua value that is sent, so that one that contains itself is
// refused.
const maxDepth = 64

// null stands for JSON's null where Lua's nil cannot: inside an array. array marks a table that is
// a list even when it is empty.
type null struct{}

// toLua makes a Lua value from what encoding/json decodes.
func (m *machine) toLua(v any) lua.LValue {
	switch v := v.(type) {
	case nil:
		return lua.LNil
	case bool:
		return lua.LBool(v)
	case string:
		return lua.LString(v)
	case float64:
		return lua.LNumber(v)
	case json.Number:
		f, _ := v.Float64()
		return lua.LNumber(f)
	case []any:
		t := m.CreateTable(len(v), 0)
		for _, item := range v {
			if item == nil {
				t.Append(m.null)
			} else {
				t.Append(m.toLua(item))
			}
		}
		t.Metatable = m.arrays
		return t
	case map[string]any:
		t := m.CreateTable(0, len(v))
		for key, item := range v {
			t.RawSetString(key, m.toLua(item))
		}
		return t
	}
	return lua.LString(fmt.Sprint(v))
}

// fromLua makes a value for encoding/json. A table with the keys 1 to n is a list, one with string
// keys an object; an empty one is an object unless array() made it.
func (m *machine) fromLua(v lua.LValue, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("the value is nested more than %d deep", maxDepth)
	}
	switch v := v.(type) {
	case *lua.LNilType:
		return nil, nil
	case lua.LBool:
		return bool(v), nil
	case lua.LString:
		return string(v), nil
	case lua.LNumber:
		f := float64(v)
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f), nil
		} else if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("%v cannot be sent", f)
		}
		return f, nil
	case *lua.LUserData:
		switch h := v.Value.(type) {
		case null:
			return nil, nil
		case *handle:
			return h.id, nil
		}
	case *lua.LTable:
		return m.fromTable(v, depth)
	}
	return nil, fmt.Errorf("a %s cannot be sent", v.Type())
}

func (m *machine) fromTable(t *lua.LTable, depth int) (any, error) {
	var list []any
	object := map[string]any{}
	var err error
	n := t.Len()
	t.ForEach(func(k, v lua.LValue) {
		if err != nil {
			return
		}
		var item any
		if item, err = m.fromLua(v, depth+1); err != nil {
			return
		}
		switch k := k.(type) {
		case lua.LString:
			object[string(k)] = item
		case lua.LNumber:
			list = append(list, item)
		default:
			err = fmt.Errorf("a %s cannot be a key of what is sent", k.Type())
		}
	})
	switch {
	case err != nil:
		return nil, err
	case len(list) > 0 && len(object) > 0:
		return nil, fmt.Errorf("a table has both a list and names in it (%s), and can be sent as neither", firstKey(object))
	case len(list) != n:
		return nil, fmt.Errorf("a list has holes in it: json.null stands for nothing")
	case len(list) > 0:
		return list, nil
	case t.Metatable == m.arrays:
		return []any{}, nil
	}
	return object, nil
}

func firstKey(object map[string]any) string {
	keys := make([]string, 0, len(object))
	for k := range object {
		keys = append(keys, k)
	}
	return slices.Min(keys)
}

// object decodes JSON into values for toLua.
func object(raw json.RawMessage) map[string]any {
	var v map[string]any
	_ = json.Unmarshal(raw, &v)
	return v
}

// number writes a number as Lua would; integers without a fraction.
func number(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', 14, 64)
}
