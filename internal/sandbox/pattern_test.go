package sandbox

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
	"pgregory.net/rapid"
)

// patternParts are what random patterns are made of.
var patternParts = []string{
	"a", "b", ".", "%a", "%d", "%s", "%w", "%A", "%.", "%%", "[ab]", "[^a]", "[a-c]", "[%a_]", "[%d.]", "(", ")", "()", "*", "+", "-", "?",
	"^", "$", "%1", "%b()", "x", " ",
}

var subjectParts = []string{"a", "b", "c", "aa", "ab", "1", "2", " ", "(", ")", ".", "%", "_", "x", ""}

func joined(parts []string, n int) *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(parts), 0, n), func(p []string) string { return strings.Join(p, "") })
}

// The pattern functions as programs for both our machine and a plain interpreter. All answer with
// one string.
var patternPrograms = map[string]string{
	"find":   `return function(s, p) return pcall(string.find, s, p) end`,
	"match":  `return function(s, p) return pcall(string.match, s, p) end`,
	"gmatch": `return function(s, p) return pcall(function() local t = {} for a, b in string.gmatch(s, p) do t[#t + 1] = tostring(a) .. "," .. tostring(b) if #t > 50 then break end end return table.concat(t, ";") end) end`,
	"gsub":   `return function(s, p) return pcall(string.gsub, s, p, "<%0>") end`,
	"gsub_f": `return function(s, p) return pcall(string.gsub, s, p, function(a, b) return tostring(a) .. "/" .. tostring(b) end, 3) end`,
}

const showAll = `local function show(ok, ...) if not ok then return "error" end if select("#", ...) == 0 then return "nil" end local t = {} for i = 1, select("#", ...) do t[i] = tostring((select(i, ...))) end return table.concat(t, "|") end
	return function(s, p) return show(f(s, p)) end`

// differ gives what our functions and the interpreter's own say. Ours is "" where a limit was
// passed.
func newDiffer(t testing.TB, name string) func(subject, pattern string) (ours, theirs string) {
	source := "local f = (function() " + patternPrograms[name] + " end)() " + showAll
	v := machine(t, "return {f = (function() "+source+" end)()}")
	L := lua.NewState()
	t.Cleanup(L.Close)
	if err := L.DoString(source); err != nil {
		t.Fatal(err)
	}
	reference := L.Get(-1)
	return func(subject, pattern string) (string, string) {
		ours, err := v.Call(context.Background(), "f", time.Minute, subject, pattern)
		if err != nil {
			t.Fatalf("%q in %q: %v", pattern, subject, err)
		}
		if err := L.CallByParam(lua.P{Fn: reference, NRet: 1, Protect: true}, lua.LString(subject), lua.LString(pattern)); err != nil {
			t.Fatal(err)
		}
		theirs := L.Get(-1).String()
		L.Pop(1)
		return ours.(string), theirs
	}
}

// TestPatternsAgainstInterpreter holds our matcher against the interpreter's own on small random
// patterns and subjects.
func TestPatternsAgainstInterpreter(t *testing.T) {
	for name := range patternPrograms {
		t.Run(name, func(t *testing.T) {
			differ := newDiffer(t, name)
			rapid.Check(t, func(t *rapid.T) {
				pattern, subject := joined(patternParts, 6).Draw(t, "pattern"), joined(subjectParts, 8).Draw(t, "subject")
				if _, err := parsePattern(pattern); err != nil { // found at once by ours, by the other when it gets there
					return
				}
				if name == "gmatch" && strings.HasPrefix(pattern, "^") { // no anchor by the manual, one in the other
					return
				}
				if ours, theirs := differ(subject, pattern); ours != theirs {
					t.Fatalf("%s of %q in %q: %s, the interpreter says %s", name, pattern, subject, ours, theirs)
				}
			})
		})
	}
}

// FuzzPattern looks for panics, for matches outside the subject, and for steps without end.
func FuzzPattern(f *testing.F) {
	f.Add("aab(c)", "a-%b()")
	f.Add("x = 1", "^(%w+)%s*=%s*(%d+)$")
	f.Add("aaaaaaaaaa", "(a*)(a*)%2%1b")
	f.Add("THE (quick)", "%f[%a]()%a+[^]%]")
	f.Fuzz(func(t *testing.T, subject, source string) {
		p, err := parsePattern(source)
		if err != nil {
			return
		}
		type stop struct{}
		steps := 0
		m := &match{pattern: p, subject: subject, step: func(n int) {
			if n < 0 {
				t.Fatalf("%d steps", n)
			}
			if steps += n; steps > 1e5 {
				panic(stop{})
			}
		}}
		defer func() {
			if r := recover(); r != nil && r != (any)(stop{}) {
				panic(r)
			}
		}()
		from, to := m.find(0)
		if from < 0 {
			return
		}
		if to < from || to > len(subject) {
			t.Fatalf("%q in %q matches at %d to %d", source, subject, from, to)
		}
		for n := range p.captures {
			if s := m.spans[n]; s[0] < from || s[0] > to || s[1] != positionOnly && (s[1] < s[0] || s[1] > to) {
				t.Fatalf("%q in %q: capture %d is %v", source, subject, n, s)
			}
		}
	})
}

// values draws what survives JSON and a machine.
func values(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.Int64Range(-whole, whole), func(n int64) any { return n }),
		rapid.Map(rapid.Float64Range(-1e10, 1e10), func(f float64) any {
			if f == math.Trunc(f) {
				return int64(f)
			}
			return f
		}),
		rapid.Map(rapid.String(), func(s string) any { return s }),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	return rapid.OneOf(append(scalars,
		rapid.Map(rapid.SliceOfN(values(depth-1), 0, 4), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(rapid.String(), values(depth-1), 0, 4), func(m map[string]any) any { return m }),
	)...)
}

// TestRoundTrips sends values into a machine, through its JSON and back.
func TestRoundTrips(t *testing.T) {
	v := machine(t, `return {same = function(x) return x end, through = function(x) return json.decode(json.encode(x)) end, text = function(x) return json.encode(x) end}`)
	rapid.Check(t, func(t *rapid.T) {
		value := values(3).Draw(t, "value")
		for _, f := range []string{"same", "through"} {
			got, err := v.Call(context.Background(), f, time.Minute, value)
			if err != nil || !reflect.DeepEqual(got, value) {
				t.Fatalf("%s: %#v, %v", f, got, err)
			}
		}
		text, err := v.Call(context.Background(), "text", time.Minute, value)
		if err != nil || !json.Valid([]byte(text.(string))) {
			t.Fatalf("not JSON: %v, %v", text, err)
		}
	})
}

// FuzzJSON holds json.decode against encoding/json: both or neither take a text, and ours says the
// same again.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,null,true],"b":{}}`, `"\ud83d\ude00\n"`, `[[]]`, "[1,]", "-0", "1e999", "\xff", `{"a":1,"a":2}`} {
		f.Add(s)
	}
	v := machine(f, `return {f = function(s) local x, e = json.decode(s) if e then return nil end return json.encode(x) end}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := v.Call(context.Background(), "f", time.Minute, text)
		if err != nil {
			t.Fatal(err)
		}
		var want any
		failed := json.Unmarshal([]byte(text), &want)
		if got == nil {
			if failed == nil && depthOf(text) < maxJSONDepth {
				t.Fatalf("%q is refused", text)
			}
			return
		}
		var back any
		if failed != nil || json.Unmarshal([]byte(got.(string)), &back) != nil || !reflect.DeepEqual(want, back) {
			t.Fatalf("%q becomes %q (%v)", text, got, failed)
		}
	})
}

func depthOf(text string) int { return strings.Count(text, "[") + strings.Count(text, "{") }
