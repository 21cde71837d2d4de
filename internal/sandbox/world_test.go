package sandbox

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestWorld walks everything that a plugin can reach without a host function, and compares it with
// a list that a person has read. What is not in the list is not in the world: io, os, debug, load,
// coroutines, and so on.
func TestWorld(t *testing.T) {
	v := machine(t, "return {}")
	var lines []string
	seen := map[lua.LValue]string{}
	var walk func(path string, value lua.LValue)
	walk = func(path string, value lua.LValue) {
		if first, ok := seen[value]; ok && value.Type() != lua.LTNumber && value.Type() != lua.LTString {
			lines = append(lines, fmt.Sprintf("%s: %s", path, first))
			return
		}
		seen[value] = "the same as " + path
		switch x := value.(type) {
		case *lua.LTable:
			lines = append(lines, path+": table")
			if m, ok := x.Metatable.(*lua.LTable); ok {
				walk(path+"<metatable>", m)
			}
			var keys []string
			x.ForEach(func(k, _ lua.LValue) { keys = append(keys, k.String()) })
			slices.Sort(keys)
			for _, k := range keys {
				walk(path+"."+k, x.RawGetString(k))
			}
		case *lua.LFunction:
			if !x.IsG || len(x.Upvalues) > 0 || x.Env != v.state.G.Global {
				t.Errorf("%s is not a plain function of ours", path)
			}
			lines = append(lines, path+": function")
		case *lua.LUserData:
			lines = append(lines, path+": userdata")
			walk(path+"<metatable>", x.Metatable)
		case lua.LString:
			lines = append(lines, fmt.Sprintf("%s: %q", path, string(x)))
		default:
			lines = append(lines, fmt.Sprintf("%s: %s", path, x))
		}
	}
	walk("_G", v.state.G.Global)
	walk("<string>", v.state.G.Global.RawGetString("string").(*lua.LTable).Metatable)
	got := strings.Join(lines, "\n") + "\n"
	const golden = "testdata/world.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("a plugin's world has changed; read the difference after -update:\n%s", got)
	}
	for _, name := range strings.Fields("io os debug package load loadstring loadfile dofile module collectgarbage newproxy getfenv setfenv coroutine channel _printregs") {
		if v.state.G.Global.RawGetString(name) != lua.LNil {
			t.Errorf("%s exists", name)
		}
	}
}

// TestWorldIsPrivate changes everything that can be changed in one machine, and looks at what
// strings and another machine do.
func TestWorldIsPrivate(t *testing.T) {
	v := machine(t, `string.upper = function() return "changed" end bit.band = nil string = nil
		return {f = function() return ("a"):upper() end}`)
	if got, err := v.Call(t.Context(), "f", 0); got != "A" || err != nil {
		t.Errorf("methods of strings: %v, %v", got, err)
	}
	if got := run(t, `return string.upper("a") .. bit.band(3, 1)`); got != "A1" {
		t.Errorf("another machine: %v", got)
	}
}
