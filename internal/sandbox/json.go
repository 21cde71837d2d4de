package sandbox

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
)

// maxJSONDepth is how deep JSON may be nested: agents' output stays below ten.
const maxJSONDepth = 64

// jsonLibrary is json.encode, json.decode, json.null, which represents null inside lists and maps,
// and json.array, which marks a table as a list even when it is empty.
func (v *VM) jsonLibrary() *lua.LTable {
	L := v.state
	lock := func(t *lua.LTable) *lua.LTable {
		t.RawSetString("__metatable", lua.LString("locked"))
		return t
	}
	v.array = lock(L.CreateTable(0, 1))
	v.null = L.NewUserData()
	meta := lock(L.CreateTable(0, 2))
	meta.RawSetString("__tostring",
		L.NewFunction(func(L *lua.LState) int { L.Push(lua.LString("null")); return 1 }))
	v.null.Metatable = meta
	t := v.table(library{"array": v.jsonArray, "decode": v.jsonDecode, "encode": v.jsonEncode})
	t.RawSetString("null", v.null)
	return t
}

func (v *VM) jsonArray(L *lua.LState) int {
	t, ok := L.Get(1).(*lua.LTable)
	if !ok {
		v.pay(sizeTable)
		t = L.CreateTable(0, 0)
	}
	if t.Metatable != lua.LNil && t.Metatable != v.array {
		L.ArgError(1, "has a metatable")
	}
	t.Metatable = v.array
	L.Push(t)
	return 1
}

func (v *VM) jsonEncode(L *lua.LState) int {
	e := encoder{v: v, L: L}
	e.value(L.CheckAny(1), 0)
	L.Push(v.text(e.String()))
	return 1
}

type encoder struct {
	strings.Builder
	v *VM
	L *lua.LState
}

func (e *encoder) value(value lua.LValue, depth int) {
	e.v.work(1)
	if e.Len() > e.v.limits.String {
		e.v.afford(e.Len())
	}
	switch x := value.(type) {
	case *lua.LNilType:
		e.WriteString("null")
		return
	case lua.LBool:
		e.WriteString(x.String())
		return
	case lua.LNumber:
		f := float64(x)
		switch {
		case math.IsNaN(f) || math.IsInf(f, 0):
			e.L.RaiseError("a number that is not finite cannot be JSON")
		case f == math.Trunc(f) && math.Abs(f) <= whole:
			e.WriteString(strconv.FormatInt(int64(f), 10))
		default:
			e.WriteString(strconv.FormatFloat(f, 'g', -1, 64))
		}
		return
	case lua.LString:
		e.text(string(x))
		return
	case *lua.LTable:
		if depth >= maxJSONDepth {
			e.L.RaiseError("nested more than %d levels deep, or holds itself", maxJSONDepth)
		}
		e.table(x, depth)
		return
	}
	if value != e.v.null {
		e.L.RaiseError("%s cannot be JSON", kindOf(value))
	}
	e.WriteString("null")
}

func (e *encoder) text(s string) {
	e.v.work(len(s) >> 4)
	b, _ := json.Marshal(s) // cannot fail for a string; invalid UTF-8 becomes U+FFFD
	e.Write(b)
}

func (e *encoder) table(t *lua.LTable, depth int) {
	if n := t.Len(); n > 0 || t.Metatable == e.v.array {
		e.WriteByte('[')
		for i := 1; i <= n; i++ {
			if i > 1 {
				e.WriteByte(',')
			}
			e.value(t.RawGetInt(i), depth+1)
		}
		e.WriteByte(']')
		return
	}
	var names []string
	for key, _ := t.Next(lua.LNil); key != lua.LNil; key, _ = t.Next(key) {
		name, ok := key.(lua.LString)
		if !ok {
			e.L.RaiseError("a map with %s as a key cannot be JSON", kindOf(key))
		}
		e.v.pay(sizeElement)
		e.v.work(1)
		names = append(names, string(name))
	}
	slices.Sort(names) // the same table always gives the same text
	e.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			e.WriteByte(',')
		}
		e.text(name)
		e.WriteByte(':')
		e.value(t.RawGetString(name), depth+1)
	}
	e.WriteByte('}')
}

// jsonDecode returns the value, or nil and what is wrong: text from a screen is often not JSON.
func (v *VM) jsonDecode(L *lua.LState) int {
	d := decoder{v: v, text: L.CheckString(1)}
	value := d.value(0)
	if d.space(); d.problem == "" && d.at < len(d.text) {
		d.fail("something follows the value")
	}
	if d.problem != "" {
		L.Push(lua.LNil)
		L.Push(v.text(d.problem))
		return 2
	}
	L.Push(value)
	return 1
}

type decoder struct {
	v       *VM
	text    string
	at      int
	problem string
}

func (d *decoder) fail(what string) lua.LValue {
	if d.problem == "" {
		d.problem = fmt.Sprintf("%s at byte %d", what, d.at+1)
	}
	return lua.LNil
}

func (d *decoder) space() {
	for d.at < len(d.text) && strings.IndexByte(" \t\r\n", d.text[d.at]) >= 0 {
		d.at++
	}
}

// take skips space and then c, if it is there.
func (d *decoder) take(c byte) bool {
	if d.space(); d.at < len(d.text) && d.text[d.at] == c {
		d.at++
		return true
	}
	return false
}

func (d *decoder) value(depth int) lua.LValue {
	d.v.work(2)
	if depth > maxJSONDepth {
		return d.fail("nested too deep")
	}
	if d.space(); d.at >= len(d.text) {
		return d.fail("unexpected end")
	}
	switch c := d.text[d.at]; {
	case c == '{':
		d.at++
		return d.object(depth)
	case c == '[':
		d.at++
		return d.list(depth)
	case c == '"':
		return lua.LString(d.string())
	case c == '-' || isDigit(c):
		return d.number()
	}
	switch rest := d.text[d.at:]; {
	case strings.HasPrefix(rest, "true"):
		d.at += 4
		return lua.LTrue
	case strings.HasPrefix(rest, "false"):
		d.at += 5
		return lua.LFalse
	case strings.HasPrefix(rest, "null"):
		d.at += 4
		return d.v.null
	}
	return d.fail("unexpected character")
}

func (d *decoder) list(depth int) lua.LValue {
	d.v.pay(sizeTable)
	t := d.v.state.CreateTable(0, 0)
	if d.take(']') {
		t.Metatable = d.v.array
		return t
	}
	for n := 1; ; n++ {
		value := d.value(depth + 1)
		if d.problem != "" {
			return lua.LNil
		}
		d.v.pay(sizeElement)
		t.RawSetInt(n, value)
		switch {
		case d.take(']'):
			return t
		case !d.take(','):
			return d.fail("expected , or ]")
		}
	}
}

func (d *decoder) object(depth int) lua.LValue {
	d.v.pay(sizeTable)
	t := d.v.state.CreateTable(0, 0)
	if d.take('}') {
		return t
	}
	for {
		if d.space(); d.at >= len(d.text) || d.text[d.at] != '"' {
			return d.fail("expected a name")
		}
		name := d.string()
		if d.problem == "" && !d.take(':') {
			d.fail("expected :")
		}
		value := lua.LValue(lua.LNil)
		if d.problem == "" {
			value = d.value(depth + 1)
		}
		if d.problem != "" {
			return lua.LNil
		}
		d.v.pay(sizeEntry)
		t.RawSetString(name, value)
		switch {
		case d.take('}'):
			return t
		case !d.take(','):
			return d.fail("expected , or }")
		}
	}
}

// string reads a string from the quotation mark at d's position.
func (d *decoder) string() string {
	from := d.at
	d.at++
	escaped := false
	for d.at < len(d.text) && d.text[d.at] != '"' {
		if d.text[d.at] < ' ' {
			d.fail("control character in a string")
			return ""
		}
		if d.text[d.at] == '\\' {
			escaped = true
			d.at++
		}
		d.at++
	}
	if d.at >= len(d.text) {
		d.at = len(d.text)
		d.fail("unfinished string")
		return ""
	}
	d.at++
	token := d.text[from:d.at]
	d.v.afford(len(token))
	if !escaped && utf8.ValidString(token) {
		return strings.Clone(token[1 : len(token)-1])
	}
	var s string
	if json.Unmarshal([]byte(token), &s) != nil {
		d.fail("malformed string")
	}
	return s
}

func (d *decoder) number() lua.LValue {
	from := d.at
	for d.at < len(d.text) &&
		(isDigit(d.text[d.at]) || strings.IndexByte("+-.eE", d.text[d.at]) >= 0) {
		d.at++
	}
	token := d.text[from:d.at]
	var f float64
	if len(token) > 400 || json.Unmarshal([]byte(token), &f) != nil {
		return d.fail("malformed number")
	}
	return lua.LNumber(f)
}
