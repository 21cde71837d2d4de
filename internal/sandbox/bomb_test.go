package sandbox

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// bombs are what a hostile plugin may do in a function, and how each must end. Those that want
// nothing end by themselves.
var bombs = []struct {
	name, body string
	want       []Kind
}{
	{"endless loop", `while true do end`, []Kind{Time}},
	{"goto", `::a:: goto a`, []Kind{Time}},
	{"pcall loop", `while true do pcall(function() while true do end end) end`, []Kind{Time}},
	{"pcall of pcall", `local f f = function() pcall(f) f() end while true do pcall(f) end`, []Kind{Time, Runtime}},
	{"xpcall handler", `xpcall(function() while true do end end, function() while true do end end)`, []Kind{Time}},
	{"errors deep down", `local function f(n) if n > 0 then f(n - 1) end while true do pcall(error, "x") end end f(150)`, []Kind{Time, Memory}},
	{"errors after tail calls", `local function f(n) if n > 0 then return f(n - 1) end while true do pcall(error, "x") end end f(100000)`, []Kind{Time, Memory}},
	{"table growth", `local t = {} while true do t[#t + 1] = 1 end`, []Kind{Time, Memory}},
	{"table of tables", `local t = {} while true do t[#t + 1] = {x = 1} end`, []Kind{Time, Memory}},
	{"field growth", `local t = {} for i = 1, 1e9 do t["k" .. i] = i end`, []Kind{Time, Memory}},
	{"list of lists", `local l while true do l = {l} end`, []Kind{Time, Memory}},
	{"closures", `local f while true do local g = f f = function() return g end end`, []Kind{Time, Memory}},
	{"function statements", `local t = {} while true do local g = t.f function t.f() return g end end`, []Kind{Time, Memory}},
	{"vararg lists", `local t = {} local function f(...) return {...} end for i = 1, 4000 do t[i] = i end while true do t[#t + 1] = f(unpack(t, 1, 4000)) end`, []Kind{Time, Memory}},
	{"large table", `local t = {} for i = 1, 7e6 do t[i] = i end`, []Kind{Time, Memory}},
	{"sparse list", `local t = {} t[67000000] = 1`, []Kind{Memory}},
	{"sparse list in pieces", `local t = {} for i = 1, 60 do t[i * 1000000] = 1 end`, []Kind{Memory}},
	{"sparse constructor", `local t = {[67000000] = 1}`, []Kind{Memory}},
	{"sparse rawset", `rawset({}, 67000000, 1)`, []Kind{Memory}},
	{"sparse inserts", `local all = {} for i = 1, 1e6 do local t = {} t[60000] = i all[i] = t end`, []Kind{Memory, Time}},
	{"doubling concat", `local s = "x" while true do s = s .. s end`, []Kind{Memory}},
	{"long concat chain", `local s = ("x"):rep(2^19) local t = s .. s .. s .. s`, []Kind{Memory}},
	{"many strings", `local t = {} for i = 1, 1e6 do t[i] = ("x"):rep(2^20) end`, []Kind{Memory}},
	{"recursion", `local function f() return 1 + f() end return f()`, []Kind{Runtime}},
	{"tail recursion", `local function f() return f() end return f()`, []Kind{Time}},
	{"wide recursion", `local function f(...) return 1 + f(1, ...) end return f()`, []Kind{Runtime}},
	{"lying comparator", `local t = {} for i = 1, 1e5 do t[i] = i end table.sort(t, function() return true end)`, []Kind{"", Time, Memory}},
	{"sort that never ends", `table.sort({3, 2, 1}, function() while true do end end)`, []Kind{Time}},
	{"sort that changes the table", `local t = {} for i = 1, 100 do t[i] = i end table.sort(t, function(a, b) t[a] = nil t[1000 + b] = a return a < b end)`, []Kind{"", Time}},
	{"sort of long strings", `local t = {} local s = ("x"):rep(2^20 - 1) for i = 1, 5000 do t[i] = s end table.sort(t)`, []Kind{Time}},
	{"rep", `return ("x"):rep(2^31)`, []Kind{Memory}},
	{"rep of rep", `return ("x"):rep(2^20):rep(2^20)`, []Kind{Memory}},
	{"rep with infinity", `return ("x"):rep(math.huge)`, []Kind{Memory}},
	{"optional items", `return (("a"):rep(30)):find(("a?"):rep(40) .. ("a"):rep(40))`, []Kind{Pattern, Time}},
	{"lazy items", `return (("a"):rep(10000)):find(".-.-.-.-b")`, []Kind{Pattern, Time}},
	{"greedy items", `return (("a"):rep(10000)):match("(.*)(.*)(.*)(.*)b")`, []Kind{Pattern, Time}},
	{"balances", `return (("("):rep(2^20)):find("%b()")`, []Kind{Pattern, Time}},
	{"back references", `return (("a"):rep(2^19)):find("(a*)%1%1b")`, []Kind{Pattern, Time}},
	{"gmatch", `for _ in (("a"):rep(2^20)):gmatch("a*b") do end`, []Kind{Pattern, Time}},
	{"gsub growth", `local s = "x" while true do s = s:gsub(".", "%0%0%0%0") end`, []Kind{Memory, Pattern, Time}},
	{"gsub by a table", `return (("x"):rep(1000)):gsub("x", {x = ("y"):rep(10000)})`, []Kind{Memory}},
	{"gsub in gsub", `local function f(s) return s:gsub(".", f) end return f("abc")`, []Kind{Runtime, Time}},
	{"unpack", `return unpack({}, 1, 1e8)`, []Kind{Runtime}},
	{"unpack with infinity", `return unpack({}, -math.huge, math.huge)`, []Kind{Runtime}},
	{"byte", `return ("x"):rep(2^20):byte(1, -1)`, []Kind{Runtime}},
	{"format width", `return ("%999999999d"):format(1)`, []Kind{Runtime}},
	{"format growth", `local s = "x" while true do s = ("%s%s%s"):format(s, s, s) end`, []Kind{Memory}},
	{"concat of one string", `local s, t = ("x"):rep(2^20), {} for i = 1, 1000 do t[i] = s end return table.concat(t, s)`, []Kind{Memory}},
	{"json deep", `return json.decode(("["):rep(2^20))`, []Kind{""}},
	{"json wide", `return json.decode("[" .. ("[],"):rep(3e5) .. "1]")`, []Kind{Memory, Time}},
	{"json encode circle", `local t = {} t.t = t return json.encode(t)`, []Kind{Runtime}},
	{"json encode fan", `local t = {1} for i = 1, 60 do t = {t, t} end return json.encode(t)`, []Kind{Memory, Time}},
	{"result fan", `local t = {1} for i = 1, 30 do t = {t, t} end return t`, []Kind{Output}},
	{"regular expression", `return re.test(("a"):rep(2^20), "(a{1,30}){1,30}b")`, []Kind{Pattern}},
	{"regular expression in a loop", `local s = ("a"):rep(2^16) while true do re.test(s, "(a|aa|aaa)*b") end`, []Kind{Time}},
	{"all matches", `return re.match_all(("a"):rep(2^18), "a.*b|a")`, []Kind{Time, Memory}},
	{"all empty matches", `return #re.match_all(("a"):rep(2^20), "")`, []Kind{Memory, Time}},
	{"expressions without end", `local i = 0 while true do i = i + 1 re.test("x", "a" .. i) string.find("x", "[a]" .. i) end`, []Kind{Time, Memory}},
	{"replacement growth", `return re.gsub(("a"):rep(2^18), ".*", ("$0"):rep(1000))`, []Kind{Memory}},
	{"huge error", `error(("x"):rep(2^20))`, []Kind{Runtime, Memory}},
	{"error in __tostring", `error(setmetatable({}, {__tostring = function() while true do end end}))`, []Kind{Runtime}},
	{"endless __tostring", `return tostring(setmetatable({}, {__tostring = function() while true do end end}))`, []Kind{Time}},
	{"__tostring of itself", `local t = {} setmetatable(t, {__tostring = function() return tostring(t) end}) return tostring(t)`, []Kind{Runtime}},
	{"print of it all", `while true do print(("x"):rep(1000)) end`, []Kind{Time, Memory}},
	{"__index circle", `local a, b = {}, {} setmetatable(a, {__index = b}) setmetatable(b, {__index = a}) return a.x`, []Kind{Runtime}},
	{"__index recursion", `local t = {} setmetatable(t, {__index = function(t, k) return t[k .. "x"] end}) return t.x`, []Kind{Runtime}},
	{"__newindex circle", `local a = {} setmetatable(a, {__newindex = a}) a.x = 1`, []Kind{Runtime}},
	{"__eq, __lt, __call", `local m = {} m.__lt = function(a, b) return a < b end m.__call = function(s) return s() end local t = setmetatable({}, m) pcall(t) return t < setmetatable({}, m)`, []Kind{Runtime, Time}},
	{"__concat recursion", `local m = {} m.__concat = function(a, b) return a .. b end local t = setmetatable({}, m) return t .. "x"`, []Kind{Runtime}},
	{"__gc is not called", `setmetatable({}, {__gc = function() while true do end end})`, []Kind{""}},
	{"string metatable", `getmetatable("").__index = nil`, []Kind{Runtime}},
	{"string field", `local s = "x" s.y = 1`, []Kind{Runtime}},
	{"__metatable", `setmetatable(json.array(), {})`, []Kind{Runtime}},
	{"trailing holes", `local t = {} for i = 1, 1e5 do t[i] = 1 end for i = 1e5, 1, -1 do t[i] = nil end while true do local n = #t end`, []Kind{Time, Memory}},
	{"insert in front", `local t = {} while true do table.insert(t, 1, 1) end`, []Kind{Time, Memory}},
	{"long keys", `local t, s = {}, ("x"):rep(2^20 - 8) while true do t[s] = 1 t[s] = nil end`, []Kind{Time, Memory}},
	{"long comparisons", `local a, b = ("x"):rep(2^20 - 8), ("x"):rep(2^20 - 8) while a == b do end`, []Kind{Time}},
	{"utf8", `while true do utf8.len(("é"):rep(2^18)) end`, []Kind{Time, Memory}},
	{"next during growth", `local t = {1} for k in pairs(t) do t[k + 1] = 1 end`, []Kind{"", Time, Memory}},
	{"require in a loop", `while true do require("main") end`, []Kind{Time}},
	{"caught limit", `while true do pcall(string.rep, "x", 2^31) end`, []Kind{Memory}},
}

// hang is when a bomb counts as not stopped. On an idle machine the slowest takes a tenth of a
// second; the race detector makes that ten times as long, and a machine that is busy with something
// else ten times again.
const hang = 10 * time.Second

func TestBombs(t *testing.T) {
	for _, b := range bombs {
		t.Run(b.name, func(t *testing.T) {
			limit := time.Minute // what ends by another limit ends by it on the slowest machine
			if slices.Contains(b.want, Time) {
				limit = 50 * time.Millisecond
			}
			v, err := New(map[string]string{"main": "return {f = function() " + b.body + " end}"}, "main", Options{Limits: Limits{Time: time.Minute}})
			if err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err = v.Call(context.Background(), "f", limit)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			var got Kind
			if err != nil {
				e := kind(t, err)
				got = e.Kind
				if e.Module != "main" && e.Kind != Output && !strings.Contains(e.Message, "is a table") || len(e.Message) > maxMessage+8 {
					t.Errorf("names %s:%d: %.100s", e.Module, e.Line, e.Message)
				}
			}
			grown := (int64(after.HeapSys) - int64(before.HeapSys)) >> 20
			t.Logf("%v, %d MiB made, %d MiB grown: %.120v", took, (after.TotalAlloc-before.TotalAlloc)>>20, grown, err)
			if took > hang {
				t.Errorf("took %v", took)
			}
			if grown > 64 {
				t.Errorf("grew by %d MiB", grown)
			}
			if !slices.Contains(b.want, got) {
				t.Errorf("ends with %q (%v), want one of %q", got, err, b.want)
			}
		})
	}
}

// TestSourceBombs compiles what takes the compiler seconds when it is let. A file of nothing but
// different constants is not among them: it takes a third of a second, and is not refused.
func TestSourceBombs(t *testing.T) {
	fill := func(before, middle, center, after string) string {
		n := (MaxSource - 100) / len(middle+after)
		return before + strings.Repeat(middle, n) + center + strings.Repeat(after, n)
	}
	for name, source := range map[string]string{
		"parentheses": fill("return ", "(", "1", ")"),
		"braces":      fill("return ", "{", "", "}"),
		"indexes":     fill("return x", "[x", "", "]"),
		"open":        strings.Repeat("(", MaxSource),
		"blocks":      fill("", "do ", "", " end "),
		"functions":   fill("", "function f() ", "", " end "),
		"sums":        fill("return ", "x+", "x", ""),
		"powers":      fill("return ", "x^", "x", ""),
		"ands":        fill("return ", "x and ", "x", ""),
		"concats":     fill("return ", "x..", "x", ""),
		"minus":       fill("return ", "- ", "x", ""),
		"nots":        fill("return ", "not ", "x", ""),
		"calls":       fill("f", "()", "", ""),
		"fields":      fill("return x", ".x", "", ""),
		"elseifs":     fill("if x then ", "elseif x then ", "", "") + " end",
		"lists":       fill("return {", "1,", "", "}"),
		"locals":      fill("", "local a ", "", ""),
		"targets":     fill("", "x.y,", "x.z = 1", ""),
		"brackets":    fill("return ", "[[", "", ""),
		"comment":     "--[==[" + strings.Repeat("]=", 1000),
		"controls":    strings.Repeat("\x00\xff", 1000),
	} {
		start := time.Now()
		_, err := New(map[string]string{"main": source}, "main", Options{})
		if took := time.Since(start); took > hang {
			t.Errorf("%s took %v", name, took)
		} else {
			t.Logf("%s: %v: %.100v", name, took, err)
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestRetained lets a plugin hoard across calls, each of which is modest.
func TestRetained(t *testing.T) {
	make := func() *VM {
		v, err := New(map[string]string{"main": `local all, seen, n = {}, {}, 0
		return {
			hoard = function() for i = 1, 1000 do all[#all + 1] = ("x"):rep(100) .. i end end,
			closures = function() for i = 1, 1000 do local f = all.f all.f = function() return f end end end,
			failing = function() all[#all + 1] = ("x"):rep(1000) .. #all error("x") end,
			iterators = function() all[#all + 1] = (("x"):rep(10000) .. #all):gmatch("x") end,
			forget = function() for i = 1, 1000 do n = n + 1 seen["key" .. n] = true seen["key" .. n] = nil end end,
		}`}, "main", Options{Limits: Limits{Time: time.Minute, Retained: 2 << 20}})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := make()
	for range 30 { // three times as many keys as could be kept
		if _, err := v.Call(context.Background(), "forget", 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"hoard", "closures", "failing", "iterators"} {
		v := make()
		var err error
		for range 10000 {
			if _, err = v.Call(context.Background(), f, 0); err != nil && kind(t, err).Kind != Runtime {
				break
			}
		}
		if err == nil || kind(t, err).Kind != Memory {
			t.Errorf("%s: %v", f, err)
		}
		if _, err := v.Call(context.Background(), "forget", 0); kind(t, err).Kind != Dead {
			t.Errorf("after %s: %v", f, err)
		}
	}
}

// TestPanicInHost has the host's own code panic: plugins cannot catch it, and the machine is given
// up.
func TestPanicInHost(t *testing.T) {
	v := machine(t, `return {f = function(o) while true do pcall(o.f) end end}`)
	o := v.NewObject(func(string) (any, bool) { return Func(func(Args) (any, error) { panic("a defect") }), true })
	_, err := v.Call(context.Background(), "f", 0, o)
	if e := kind(t, err); e.Kind != Panic || !strings.Contains(e.Message, "a defect") {
		t.Errorf("%v", err)
	}
	if _, err := v.Call(context.Background(), "f", 0, o); kind(t, err).Kind != Dead {
		t.Errorf("after that: %v", err)
	}
}

// TestReentry calls a machine from a function of the host's that it is calling.
func TestReentry(t *testing.T) {
	var v *VM
	v = machine(t, `return {f = function(o) return o.f() end}`)
	o := v.NewObject(func(string) (any, bool) {
		return Func(func(Args) (any, error) { return v.Call(context.Background(), "f", 0) }), true
	})
	_, err := v.Call(context.Background(), "f", 0, o)
	if err == nil || !strings.Contains(err.Error(), "busy") {
		t.Errorf("%v", err)
	}
}
