package sandbox

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// bounded is an interpreter with its whole library, whose strings have at most 64 KiB.
func bounded(t *testing.T) *lua.LState {
	t.Helper()
	l := lua.NewState()
	t.Cleanup(l.Close)
	Bound(l, 64<<10)
	return l
}

func TestBoundMakesNoHugeString(t *testing.T) {
	l := bounded(t)
	for _, source := range []string{
		`string.rep("x", 1e9)`, `("xy"):rep(1e15)`, `local t = {} for i = 1, 200 do t[i] = ("x"):rep(1000) end table.concat(t)`,
		`("x"):rep(1000):gsub(".", ("y"):rep(1000))`, `string.format(("%s"):rep(10), ("x"):rep(60000), ("x"):rep(60000), 3, 4, 5, 6, 7, 8, 9, 10)`,
	} {
		if err := l.DoString(source); err == nil || !strings.Contains(err.Error(), "at most 65536 are allowed") {
			t.Errorf("%s: %v", source, err)
		}
	}
	if err := l.DoString(`
		assert(string.rep("ab", 3) == "ababab" and ("a,b"):gsub(",", ";") == "a;b" and table.concat({1, 2}, "-") == "1-2")
		assert(("%5.2f|%q"):format(1, "x") == ' 1.00|"x"' and ("hello"):find("l+") == 3 and ("k=v"):match("(%w)=(%w)") == "k")
		local all = {} for w in ("one two"):gmatch("%a+") do all[#all + 1] = w:upper() end assert(all[2] == "TWO" and #all == 2)
		-- what is caught within a function of the library costs the next one nothing
		assert(("ab"):gsub(".", function(c) pcall(string.rep, c, 1e9) return c .. c end) == "aabb")
		next_word = ("one two"):gmatch("%a+")
		assert(next_word() == "one")`); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l.SetContext(ctx)
	_ = l.DoString(`next_word()`)
	l.SetContext(t.Context())
	if err := l.DoString(`assert(next_word() == "two")`); err != nil { // of another context than it was made under
		t.Error(err)
	}
}

// A search that would take for ever ends with its context, in any function that searches.
func TestBoundEndsWithTheContext(t *testing.T) {
	for _, source := range []string{
		`("a"):rep(30000):find(("a*"):rep(20) .. "b")`, `("a"):rep(30000):match(("a*"):rep(20) .. "b")`,
		`("a"):rep(30000):gsub(("a*"):rep(20) .. "b", "")`, `for x in ("a"):rep(30000):gmatch(("a*"):rep(20) .. "b") do end`,
		`while true do pcall(string.find, ("a"):rep(30000), ("a*"):rep(20) .. "b") end`,
	} {
		l := bounded(t)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		l.SetContext(ctx)
		ended := make(chan error, 1)
		go func() { ended <- l.DoString(source) }()
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%s: it found something", source)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: it goes on", source)
		}
		cancel()
	}
}

// TestNoAddresses: nothing that a plugin can write gives away where this process keeps what:
// neither values nor messages of errors, caught or not, nor its log.
func TestNoAddresses(t *testing.T) {
	values := []string{"print", "{}", "function() end", "tostring", "json.null", "json.array()", "setmetatable({}, {})", "string", "_G"}
	uses := []string{
		"return tostring(@)", "return string.format('%s|%20s', @, @)", "print(@) return 1", "error(@)", "error({message = tostring(@)})",
		"local x = nil return x[@]", "local x = nil x[@] = 1", "local x = 5 return x[@]", "local t = {} t[1][@] = 1",
		"local x = true return (x)[@].y", "return select(2, pcall(function() local x = nil return x[@] end))",
		"return select(2, pcall(function() return @ .. 'x' end))", "return select(2, pcall(function() return @ + 1 end))",
		"return select(2, pcall(function() return @ < @ end))", "return select(2, pcall(function() return json.encode({[@] = 1}) end))",
		"return select(2, pcall(function() return json.encode({@}) end))", "return select(2, pcall(string.rep, @))",
		"return select(2, pcall(table.concat, {@}))", "return select(2, xpcall(function() local x = nil return x[@] end, tostring))",
		"return select(2, pcall(error, @))", "return {@}", "return {[@] = 1}", "return tostring(select(2, pcall(setmetatable, @, 1)))",
		"local s = '' for k, v in pairs({[@] = 1}) do s = s .. tostring(k) end return s", "return tonumber(@)", "return (@):rep(2)",
		"for i = 1, @ do end", "return #@", "return -@", "return @()", "return ('x'):gsub('x', @)", "return select(@, 1)",
	}
	address := regexp.MustCompile(`0x[0-9a-f]{6,}|[0-9a-f]{10}`)
	for _, use := range uses {
		for _, value := range values {
			body := strings.ReplaceAll(use, "@", value)
			var log []string
			v, err := New(map[string]string{"main": "return {f = function() " + body + " end}"}, "main", Options{Log: func(line string) { log = append(log, line) }})
			if err != nil {
				t.Logf("%s: %v", body, err) // it is no Lua
				continue
			}
			result, err := v.Call(context.Background(), "f", 0)
			if said := fmt.Sprint(result, err, log); address.MatchString(said) {
				t.Errorf("%s gives %s", body, said)
			}
		}
	}
}
