package sandbox

import (
	"context"
	"strings"
	"testing"
)

// screen is 24 rows of 80 as an agent's terminal shows them.
var screen = func() []string {
	rows := make([]string, 24)
	for i := range rows {
		rows[i] = strings.Repeat("lorem ipsum dolor ", 4) + "sit amet"
	}
	rows[20] = "│ Do you want to run this command?                                             │"
	rows[21] = "│ ❯ 1. Yes                                                                     │"
	return rows
}()

const benchmarked = `
local function by_host(s)
	if s:contains("Do you want to") and s:test("❯ \\d+\\. Yes") then
		return {state = "waiting_for_permission", confidence = 0.9, evidence = "dialog"}
	end
	return {state = "ready", confidence = 0.5, evidence = ""}
end
local function by_regexp(s)
	if string.contains(s.text, "Do you want to") and re.test(s.text, "❯ \\d+\\. Yes") then
		return {state = "waiting_for_permission", confidence = 0.9, evidence = "dialog"}
	end
	return {state = "ready"}
end
local function by_line(s)
	local state = "ready"
	for line in s.text:gmatch("[^\n]+") do
		if line:match("^│ Do you want to") then state = "asked" end
		if state == "asked" and line:match("❯ %d+%. Yes") then return {state = "waiting_for_permission"} end
	end
	return {state = state}
end
local function predicate(s) return s.sequence > 10 end
local function sets() local t = {} for i = 1, 1000 do t[i] = i end end
local function loop() for i = 1, 1000000 do end end
local function concat() local s for i = 1, 1000 do s = "row " .. i .. ": " .. "x" end end
local function errors() for i = 1, 1000 do pcall(error, "x") end end
return {by_host = by_host, by_regexp = by_regexp, by_line = by_line, predicate = predicate, sets = sets, loop = loop, concat = concat, errors = errors}`

func BenchmarkCall(b *testing.B) {
	for _, f := range []string{"predicate", "by_host", "by_regexp", "by_line", "sets", "concat", "errors", "loop"} {
		b.Run(f, func(b *testing.B) {
			v := machine(b, benchmarked)
			text := strings.Join(screen, "\n")
			o := v.NewObject(func(name string) (any, bool) {
				switch name {
				case "text":
					return text, true
				case "sequence":
					return 42, true
				case "contains":
					return Func(func(a Args) (any, error) { return strings.Contains(text, a.String(1)), nil }), true
				case "test":
					return Func(func(a Args) (any, error) { return a.Expression(a.String(1), len(text)).MatchString(text), nil }), true
				}
				return nil, false
			}, "text", "sequence")
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				o.Reset()
				if _, err := v.Call(ctx, f, 0, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		machine(b, benchmarked)
	}
}
