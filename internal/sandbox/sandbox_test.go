package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// machine makes a machine of one module.
func machine(t testing.TB, source string) *VM {
	t.Helper()
	v, err := New(map[string]string{"main": source}, "main", Options{Limits: Limits{Time: 20 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// run calls f of a module that defines it and returns what it gives.
func run(t testing.TB, body string) any {
	t.Helper()
	result, err := machine(t, "return {f = function() "+body+" end}").Call(context.Background(), "f", 0)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return result
}

// TestLanguage asserts in Lua: each line is a chunk that must hold.
func TestLanguage(t *testing.T) {
	for line := range strings.SplitSeq(strings.TrimSpace(languageCases), "\n") {
		if strings.HasPrefix(line, "--") {
			continue
		}
		if got := run(t, line); got != true {
			t.Errorf("%s\n\tgives %#v", line, got)
		}
	}
}

const languageCases = `
-- rewritten code means what it meant
local a, b = {1, 2}, {} a[1], a[2], b.x = a[2], a[1], 3 return a[1] == 2 and a[2] == 1 and b.x == 3
local i, t = 1, {} i, t[i] = i + 1, 20 return i == 2 and t[1] == 20 and t[2] == nil
local t = {} local function two() return 1, 2 end t.a, t.b = two() return t.a == 1 and t.b == 2
local t = {} local function two() return 1, 2 end t.a = two() return t.a == 1
local function two() return 1, 2 end return #{two()} == 2 and #{two(), two()} == 3 and #{(two())} == 1
local function f(...) return #{...} end return f(1, 2, 3) == 3
local function f(...) return select("#", ...) end return f(nil, nil) == 2
local function f(...) local t = {n = select("#", ...), ...} return t.n end return f(1, 2, 3) == 3
local t = {} t["a" .. "b"] = 1 return t.ab == 1
return 1 .. 2 .. "x" == "12x"
return "a" .. 1.5 == "a1.5"
local t = setmetatable({}, {__concat = function(a, b) return "c" end}) return t .. "x" == "c" and "x" .. t == "c" and 1 .. 2 .. t == "1c"
local s = "" for i = 1, 100 do s = s .. i .. "," end return #s == 292
local t = setmetatable({}, {__newindex = function(t, k, v) rawset(t, k, v + 1) end}) t.x = 1 t.x = 5 return t.x == 5
local base = {} local t = setmetatable({}, {__newindex = base}) t.x = 1 return base.x == 1 and rawget(t, "x") == nil
local t = setmetatable({}, {__index = function(t, k) return k .. "!" end}) return t.a == "a!"
local o = {n = 0} function o:add(k) self.n = self.n + k return self end return o:add(1):add(2).n == 3
local function fact(n) if n == 0 then return 1 end return n * fact(n - 1) end return fact(5) == 120
local f f = function(n) return n == 0 and "done" or f(n - 1) end return f(100) == "done"
local t = {[1] = "a", [2] = "b", x = "c"} return #t == 2 and t.x == "c"
local n = 0 repeat local done = n == 3 n = n + 1 until done return n == 4
local x = 5 if x == 1 then return 1 elseif x == 5 then return true else return 2 end
for k, v in pairs({a = 1}) do return k == "a" and v == 1 end
local t = {} for i, v in ipairs({1, 2, nil, 4}) do t[#t + 1] = v end return #t == 2
local t = {} for i = 10, 1, -1 do t[i] = i end return #t == 10 and t[5] == 5
local t = {1, 2, 3} t[#t] = nil return #t == 2
local t = {} t[1e6] = nil return next(t) == nil
local t = {} t[-1] = 1 t[1.5] = 2 t[true] = 3 return t[-1] + t[1.5] + t[true] == 6
-- the base library
local ok, e = pcall(error, {code = 7}) return ok == false and e.code == 7
local ok, e = pcall(function() error("x") end) return e == "main.lua:1: x" or e
local ok, e = pcall(function() error("x", 0) end) return e == "x"
local ok, e = pcall(function() local x = nil; x.y = 1 end) return e == "main.lua:1: attempt to index nil with key 'y'" or e
local ok, e = pcall(function() return {} .. "x" end) return e == "main.lua:1: attempt to concatenate a table" or e
local ok, e = xpcall(function() error("x", 0) end, function(m) return m .. "!" end) return not ok and e == "x!"
local ok, a, b = xpcall(function() return 1, 2 end, print) return ok and a == 1 and b == 2
local ok, a, b = pcall(function(...) return ... end, 1, 2) return ok and a == 1 and b == 2
return select(-1, 1, 2, 3) == 3 and select(2, 1, 2, 3) == 2 and select("#") == 0
return tonumber("0x1F") == 31 and tonumber("1e3") == 1000 and tonumber("z", 36) == 35 and tonumber("nan") == nil and tonumber("") == nil and tonumber(" 7 ") == 7
return tonumber("-0x10") == -16 and tonumber("10", 2) == 2 and tonumber("1_0") == nil and tonumber({}) == nil
return tostring(setmetatable({}, {__tostring = function() return "me" end})) == "me"
return type(nil) == "nil" and type(print) == "function" and type({}) == "table"
local a, b, c = unpack({1, 2, 3}, 2) return a == 2 and b == 3 and c == nil
return getmetatable("") == nil and not pcall(setmetatable, "", {})
local m = {} return getmetatable(setmetatable({}, m)) == m
return not pcall(setmetatable, setmetatable({}, {__metatable = 1}), {})
return math.random(1, 1) == 1 and math.randomseed == nil and math.floor(2.7) == 2 and math.huge > 1e308
local x = math.random() return x >= 0 and x < 1
local t = {3, 1, 2} table.sort(t) return table.concat(t, ",") == "1,2,3"
local t = {3, 1, 2} table.sort(t, function(a, b) return a > b end) return table.concat(t) == "321"
local t = {1, 2} table.insert(t, 3) table.insert(t, 1, 0) return table.concat(t) == "0123" and table.remove(t) == 3 and table.remove(t, 1) == 0 and #t == 2
return table.concat({}) == "" and table.concat({1, 2, 3}, "-", 2, 3) == "2-3" and not pcall(table.concat, {1, {}})
-- strings
return ("x"):rep(3) == "xxx" and ("abc"):sub(-2) == "bc" and ("abc"):sub(2, 2) == "b" and ("abc"):sub(0) == "abc" and ("abc"):sub(3, 2) == ""
return ("abc"):byte() == 97 and ("abc"):byte(-1) == 99 and ("").byte("") == nil and string.char(97, 98) == "ab"
return ("AbÉ"):lower() == "abÉ" and ("aé"):upper() == "Aé" and ("abc"):reverse() == "cba" and #"é" == 2
return string.format("%5d|%-5s|%05.1f|%x|%q|%%|%c", 3, "ab", 2.25, 255, 'a"b', 65) == '    3|ab   |002.2|ff|"a\\"b"|%|A'
return string.format("%g %g %g", 100000, 1e20, 0.1) == "100000 1e+20 0.1" and string.format("%s %s", nil, true) == "nil true"
return not pcall(string.format, "%999d", 1) and not pcall(string.format, "%y", 1) and not pcall(string.format, "%d") and not pcall(string.format, "%")
return ("hello world"):find("o w") == 5 and ("a.b"):find(".", 1, true) == 2 and ("abc"):find("b", -1) == nil and ("abc"):find("", 10) == nil
local a, b, c = ("key = value"):match("^(%w+)%s*=%s*(%w+)$") return a == "key" and b == "value" and c == nil
local t = {} for w in ("one two"):gmatch("%a+") do t[#t + 1] = w end return table.concat(t, ",") == "one,two"
return ("hello"):gsub("l", "L") == "heLLo" and ("abc"):gsub("%w", "%0%0") == "aabbcc" and ("abc"):gsub("b", {b = "x"}) == "axc" and ("abc"):gsub("", "-") == "-a-b-c-"
local s, n = ("abc abc"):gsub("abc", function(x) return nil end, 1) return s == "abc abc" and n == 1
return ("f(a(b)c)d"):match("%b()") == "(a(b)c)" and ("THE (quick) fox"):find("%f[%a]%a+%f[%A]") == 1 and ("abab"):match("(ab)%1") == "ab"
return ("  x "):match("^%s*(.-)%s*$") == "x" and ("x"):match("()") == 1 and ("]"):match("[]]") == "]" and ("a-b"):match("[a%-]+") == "a-"
return not pcall(string.find, "a", "[a") and not pcall(string.find, "a", "%") and not pcall(string.find, "a", "(") and not pcall(string.match, "a", ")")
return ("abc"):contains("b") and ("abc"):starts_with("ab") and ("abc"):ends_with("bc") and (" x "):trim() == "x" and #("a\nb\n"):split("\n") == 3
-- utf8, bit
return utf8.char(72, 0x20AC) == "H€" and utf8.len("h€") == 2 and utf8.codepoint("€") == 0x20AC and utf8.offset("a€b", 3) == 5
local n, at = utf8.len("a\255") return n == nil and at == 2
local t = {} for p, c in utf8.codes("a€b") do t[#t + 1] = p .. ":" .. c end return table.concat(t, " ") == "1:97 2:8364 5:98"
local n = 0 for c in ("h€!"):gmatch(utf8.charpattern) do n = n + 1 end return n == 3
return bit.band(0xFF, 0x0F) == 15 and bit.bor(1, 2) == 3 and bit.bxor(5, 1) == 4 and bit.bnot(0) == 0xFFFFFFFF and bit.lshift(1, 31) == 2^31
return bit.rshift(-1, 28) == 15 and bit.arshift(0x80000000, 31) == 0xFFFFFFFF and bit.rol(0x80000001, 1) == 3 and bit.ror(1, 1) == 2^31 and bit.tohex(255) == "000000ff"
-- json
return json.encode({a = 1, b = {1, 2.5, "x", true, json.null}}) == '{"a":1,"b":[1,2.5,"x",true,null]}'
return json.encode({}) == "{}" and json.encode(json.array()) == "[]" and json.encode(json.decode("[]")) == "[]"
local t = json.decode('{"a":[1,{"b":"\\u00e9\\n"}],"c":null}') return t.a[2].b == "é\n" and t.c == json.null and tostring(json.null) == "null"
local x, e = json.decode("{") return x == nil and type(e) == "string"
return json.decode("[1,]") == nil and json.decode("01") == nil and json.decode("1 2") == nil and json.decode('"a') == nil and json.decode("") == nil
return not pcall(json.encode, {print}) and not pcall(json.encode, 0/0) and not pcall(json.encode, {[true] = 1})
-- re
return re.test("hello", "l+o$") and re.match("key=val", [[(\w+)=(\w+)]]) == "key" and re.find("abc", "b") == 2 and re.match("abc", "x") == nil
local t = re.match_all("a1 b2", [[([a-z])(\d)]]) return #t == 2 and t[2][2] == "2"
local t = re.match_all("aXbX", [[X]]) return #t == 2 and t[1] == "X"
return re.gsub("a-b", "(a)-(b)", "$2-$1") == "b-a" and re.gsub("abc", "b", function(m) return m .. m end) == "abbc" and re.gsub("aaa", "a", "b", 2) == "bba"
return not pcall(re.test, "x", "(") and not pcall(re.test, "x", "(a{500}){500}")
`

func TestCall(t *testing.T) {
	v, err := New(map[string]string{
		"main":     `local h = require("lib.text") return {f = h.twice, g = function(a) return a.list[2], 9 end, fail = function() h.fail() end, e = function() return end}`,
		"lib.text": "local n = 0\nreturn {twice = function(x) return x .. x end,\nfail = function() error({message = 'm'}) end}",
	}, "main", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Names(); !slices.Equal(got, []string{"e", "f", "fail", "g"}) || !v.Has("f") || v.Has("h") {
		t.Errorf("Names() = %q", got)
	}
	ctx := context.Background()
	if got, err := v.Call(ctx, "f", 0, "ab"); got != "abab" || err != nil {
		t.Errorf("f: %v, %v", got, err)
	}
	if got, err := v.Call(ctx, "g", 0, map[string]any{"list": []any{1, 2.5}}); got != 2.5 || err != nil {
		t.Errorf("g: %v, %v", got, err)
	}
	if got, err := v.Call(ctx, "e", 0); got != nil || err != nil {
		t.Errorf("e: %v, %v", got, err)
	}
	_, err = v.Call(ctx, "fail", 0)
	if e := kind(t, err); e.Kind != Runtime || e.Fatal() || e.Message != "m" {
		t.Errorf("fail: %v", err)
	}
	if _, err = v.Call(ctx, "nothing", 0); kind(t, err).Kind != Missing {
		t.Errorf("nothing: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err = v.Call(ended, "f", 0, ""); kind(t, err).Kind != Time {
		t.Errorf("a cancelled call: %v", err)
	}
	if _, err = v.Call(ctx, "f", 0, ""); kind(t, err).Kind != Dead {
		t.Errorf("after that: %v", err)
	}
}

func kind(t testing.TB, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("not an *Error: %v", err)
	}
	return e
}

func TestResults(t *testing.T) {
	for body, want := range map[string]any{
		"return 1":                 int64(1),
		"return -2^53":             int64(-1 << 53),
		"return 1.5":               1.5,
		"return 2^60":              float64(1 << 60),
		"return nil":               nil,
		"return json.null":         nil,
		"return false":             false,
		"return {}":                "map[]",
		"return json.array()":      "[]",
		"return {1, {a = true}}":   "[1 map[a:true]]",
		"return {a = json.null}":   "map[a:<nil>]",
		"return {1, json.null, 3}": "[1 <nil> 3]",
	} {
		got := run(t, body)
		if s, ok := want.(string); ok {
			if f := sprint(got); f != s {
				t.Errorf("%s: %s, want %s", body, f, s)
			}
		} else if got != want {
			t.Errorf("%s: %#v, want %#v", body, got, want)
		}
	}
	for _, body := range []string{
		"return print", "return {f = print}", "return 0/0", "return math.huge", "return {1, x = 2}", "return {1, nil, 3}", "return {[true] = 1}",
		"local t = {} t.t = t return t", "local t = {} for i = 1, 30000 do t[i] = i end return t", "local s = ('x'):rep(2^20) return {s, s}",
	} {
		v := machine(t, "return {f = function() "+body+" end, g = function() return 1 end}")
		_, err := v.Call(context.Background(), "f", 0)
		if e := kind(t, err); e.Kind != Output || e.Fatal() {
			t.Errorf("%s: %v", body, err)
		}
		if _, err := v.Call(context.Background(), "g", 0); err != nil {
			t.Errorf("after %s: %v", body, err)
		}
	}
}

func TestNew(t *testing.T) {
	deep := "return " + strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000)
	for name, c := range map[string]struct {
		modules map[string]string
		want    string
	}{
		"syntax":        {map[string]string{"main": "return {\n x = = 1}"}, "main chunk: main.lua:2: syntax: "},
		"at the end":    {map[string]string{"main": "return {"}, "main chunk: main.lua:1: syntax: "},
		"module":        {map[string]string{"main": "return {}", "lib": "\nx ="}, "main chunk: lib.lua:2: syntax: "},
		"deep":          {map[string]string{"main": deep}, "main chunk: main.lua:1: syntax: nested more than"},
		"large":         {map[string]string{"main": "--" + strings.Repeat("x", MaxSource)}, "main chunk: main.lua:0: syntax: "},
		"name":          {map[string]string{"main": "return {}", "../x": ""}, "main chunk: syntax: module name"},
		"no main":       {map[string]string{"lib": "return {}"}, "main chunk: syntax: no module"},
		"runtime":       {map[string]string{"main": "\nerror('no')"}, "main chunk: main.lua:2: runtime: no"},
		"not a table":   {map[string]string{"main": "return 1"}, "main chunk: runtime: must return a table of functions, not a number"},
		"not functions": {map[string]string{"main": "return {f = 1}"}, "main chunk: runtime: must return a table of functions; f is a number"},
		"no module":     {map[string]string{"main": "require('x')"}, `main chunk: main.lua:1: runtime: no module "x"; there are main`},
		"circle":        {map[string]string{"main": "require('a')", "a": "require('b')", "b": "require('a')"}, "main chunk: b.lua:1: runtime: module a requires itself"},
		"loop":          {map[string]string{"main": "while true do end"}, "main chunk: main.lua:1: time: "}, // of either bound
	} {
		_, err := New(c.modules, "main", Options{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestLog(t *testing.T) {
	var lines []string
	v, err := New(map[string]string{"main": `return {f = function() print(1, "a\nb", nil) end, g = function() for i = 1, 1e5 do print("0123456789") end end}`},
		"main", Options{Log: func(line string) { lines = append(lines, line) }, Limits: Limits{Time: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Call(context.Background(), "f", 0); err != nil || !slices.Equal(lines, []string{"1\ta", "b\tnil"}) {
		t.Errorf("%q, %v", lines, err)
	}
	if _, err := v.Call(context.Background(), "g", 0); err != nil || len(lines) > 2000 {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

func TestObject(t *testing.T) {
	v := machine(t, `return {
		read = function(o) return {o.title, o.title, o.none == nil, o:contains("b"), o.contains("z"), #o.rows} end,
		names = function(o) local n = {} for k in pairs(o) do n[#n + 1] = k end table.sort(n) return table.concat(n, " ") end,
		write = function(o) o.title = "x" end,
		rawwrite = function(o) rawset(o, "title", "x") end,
		insert = function(o) table.insert(o, 1) end,
		meta = function(o) return getmetatable(o) == "locked" and not pcall(setmetatable, o, {}) end,
		host = function(o) o.fail() end,
	}`)
	reads := map[string]int{}
	o := v.NewObject(func(name string) (any, bool) {
		reads[name]++
		switch name {
		case "title":
			return "abc", true
		case "rows":
			return []string{"a", "b"}, true
		case "contains":
			return Func(func(a Args) (any, error) { return strings.Contains("abc", a.String(1)), nil }), true
		case "fail":
			return Func(func(Args) (any, error) { return nil, errors.New("host says no") }), true
		}
		return nil, false
	}, "title", "rows")
	ctx := context.Background()
	for n := 1; n <= 2; n++ {
		got, err := v.Call(ctx, "read", 0, o)
		if err != nil || sprint(got) != "[abc abc true true false 2]" {
			t.Fatalf("read: %v, %v", got, err)
		}
		if reads["title"] != n || reads["rows"] != n || reads["contains"] != 1 {
			t.Errorf("fields were computed %v", reads)
		}
		o.Reset()
	}
	if got, err := v.Call(ctx, "names", 0, o); err != nil || got != "contains rows title" {
		t.Errorf("names: %v, %v", got, err)
	}
	for _, f := range []string{"write", "rawwrite", "insert"} {
		if _, err := v.Call(ctx, f, 0, o); kind(t, err).Kind != Runtime || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("%s: %v", f, err)
		}
	}
	if got, err := v.Call(ctx, "meta", 0, o); err != nil || got != true {
		t.Errorf("meta: %v, %v", got, err)
	}
	if _, err := v.Call(ctx, "host", 0, o); err == nil || err.Error() != "host: main.lua:8: runtime: host says no" {
		t.Errorf("host: %v", err)
	}
}

func sprint(value any) string { return fmt.Sprint(value) }

// TestParametersCanBeAssigned: a call on the right may use the last parameter, which the call is
// assigned to.
func TestParametersCanBeAssigned(t *testing.T) {
	v := machine(t, `
		local function g(x) return x .. "!", "more" end
		return {
			concat = function(p) p = " " .. p return p end,
			call = function(p) p = g(p) return p end,
			cut = function(p) p = (g(p)) return p end,
			list = function(p) p = {p, p} return p[1] .. p[2] end,
			closure = function(p) local q = p p = function() return q .. type(p) end return p() end,
			several = function(o, p) o, p = p .. "1", o .. "2" return o .. p end,
			more = function(o, p) o, p = g(p) return o .. p end,
			chain = function(a, b, p) p = a .. b .. p .. a return p end,
		}`)
	for name, want := range map[string]string{
		"concat": " x", "call": "x!", "cut": "x!", "list": "xx", "closure": "xfunction", "several": "y1x2", "more": "y!more", "chain": "xyzx",
	} {
		args := []any{"x"}
		switch name {
		case "several", "more":
			args = []any{"x", "y"}
		case "chain":
			args = []any{"x", "y", "z"}
		}
		if got, err := v.Call(context.Background(), name, 0, args...); got != want || err != nil {
			t.Errorf("%s: %v, %v, want %q", name, got, err, want)
		}
	}
}

// TestTimeIsThePlugins: a machine that is busy with others between two looks at the clock stops
// nobody, and a function of the host's that is slow each time does.
func TestTimeIsThePlugins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := machine(t, `return {f = function(o, n) for i = 1, n do o.f() for j = 1, 300 do end end return n end}`)
		o := v.NewObject(func(string) (any, bool) {
			return Func(func(Args) (any, error) {
				time.Sleep(time.Second)
				return nil, nil
			}), true
		})
		if _, err := v.Call(context.Background(), "f", 50*time.Millisecond, o, 20); err != nil {
			t.Error(err)
		}
		if _, err := v.Call(context.Background(), "f", 50*time.Millisecond, o, 30); err == nil || kind(t, err).Kind != Time {
			t.Error(err)
		}
	})
}

// TestEveryErrorHasALine: also one that is no string, and so cannot carry it.
func TestEveryErrorHasALine(t *testing.T) {
	for body, message := range map[string]string{
		`error({})`: "error object is a table", `error({code = "no", message = "not now"})`: "not now", `error()`: "error object is nil",
		`error(print)`: "error object is a function", `error(true)`: "error object is a boolean", `error("x", 0)`: "x",
		`pcall(error, {}) error({message = "second"})`: "second", `error("x")`: "x",
	} {
		v := machine(t, "return {f = function()\n"+body+"\nend}")
		_, err := v.Call(context.Background(), "f", 0)
		e := kind(t, err)
		if e.Message != message || body != `error("x", 0)` && (e.Module != "main" || e.Line != 2) {
			t.Errorf("%s: %v", body, err)
		}
		if v.raised != nil {
			t.Errorf("%s: the machine keeps %v", body, v.raised)
		}
	}
}

// TestProgramIsShared has machines of one program run at the same time, each with its own memory.
func TestProgramIsShared(t *testing.T) {
	p, err := Compile(map[string]string{"main": `local n = 0 local other = require("other")
		return {f = function() n = n + 1 other.add(n) return other.sum() end}`,
		"other": `local sum = 0 return {add = function(x) local t = {x, y = x} sum = sum + t[1] + t.y end, sum = function() return sum end}`}, "main")
	if err != nil {
		t.Fatal(err)
	}
	var g sync.WaitGroup
	for range 8 {
		g.Go(func() {
			v, err := p.New(Options{Limits: Limits{Time: time.Minute}})
			if err != nil {
				t.Error(err)
				return
			}
			var got any
			for range 200 {
				if got, err = v.Call(context.Background(), "f", 0); err != nil {
					t.Error(err)
				}
			}
			if got != int64(200*201) {
				t.Errorf("a machine has counted to %v", got)
			}
		})
	}
	g.Wait()
}
