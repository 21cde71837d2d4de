package tree_test

import (
	"errors"
	"math"
	"testing"

	"github.com/ptywright/ptywright/internal/tree"
)

type object = map[string]any

// TestTheFirstFaultIsKept, wherever it is, with its place and what is there.
func TestTheFirstFaultIsKept(t *testing.T) {
	colours := map[string]int{"red": 1, "blue": 2}
	for want, read := range map[string]func(v tree.Value){
		"": func(v tree.Value) {
			v.Object("an object")
			v.At("name").Text()
			v.At("n").Int(1, 3)
			v.At("n").Number(0.5, 3)
			v.At("none").IntOr(7, 0, 1)
			v.At("none").List()
			tree.Choice(v.At("none"), colours, 1)
			for _, e := range v.At("list").List() {
				tree.Choice(e, colours, 0)
			}
		},
		`root.name: expected an object, got "Ann"`:                        func(v tree.Value) { v.At("name").Object("an object") },
		"root.none: expected a string, got nothing":                       func(v tree.Value) { v.At("none").Text() },
		"root.none.deep: expected a string, got nothing":                  func(v tree.Value) { v.At("none").At("deep").Text() },
		"root.n: expected an integer from 3 to 4, got 2":                  func(v tree.Value) { v.At("n").Int(3, 4); v.At("name").Int(0, 1) },
		"root.nan: expected an integer from 0 to 4, got NaN":              func(v tree.Value) { v.At("nan").Int(0, 4) },
		"root.nan: expected a number from 0 to 4.5, got NaN":              func(v tree.Value) { v.At("nan").Number(0, 4.5) },
		"root.half: expected an integer from 0 to 4, got 0.5":             func(v tree.Value) { v.At("half").IntOr(1, 0, 4) },
		"root.null: expected an array, got nothing":                       func(v tree.Value) { v.At("null").List() },
		"root.null: expected one of blue, red, got nothing":               func(v tree.Value) { tree.Choice(v.At("null"), colours, 0) },
		`root.list: expected a string with a dot, got "red"`:              func(v tree.Value) { v.At("list").List()[0].Refuse("a string with a dot") },
		`root.list[1]: expected a number, got "blue"`:                     func(v tree.Value) { v.At("list").Entries()[1].Refuse("a number") },
		"root.list: too red":                                              func(v tree.Value) { v.At("list").Fail(errors.New("too red")) },
		"root.list: expected an object with type and value, got an array": func(v tree.Value) { v.At("list").Object("an object with type and value") },
		"root: expected a boolean, got an object":                         func(v tree.Value) { v.Refuse("a boolean"); v.At("n").Text() },
		"root.empty: expected one of blue, red, got \"\"":                 func(v tree.Value) { tree.Choice(v.At("empty"), colours, 0) },
		"root.yes: expected a number from 0 to 1, got a boolean":          func(v tree.Value) { v.At("yes").Number(0, 1) },
	} {
		v := tree.New("root", object{
			"name": "Ann", "n": int64(2), "half": 0.5, "nan": math.NaN(), "null": nil, "empty": "", "yes": true,
			"list": []any{"red", "blue"},
		})
		read(v)
		got := ""
		if f := v.Fault(); f != nil {
			got = f.Error()
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestWhatIsRead(t *testing.T) {
	v := tree.New("root", object{"n": 2.0, "i": 3, "c": "blue"})
	if n, i, other := v.At("n").Int(0, 9), v.At("i").Number(0, 9), v.At("x").IntOr(7, 0, 1); n != 2 || i != 3 || other != 7 {
		t.Errorf("%d, %v, %d", n, i, other)
	}
	if c := tree.Choice(v.At("c"), map[string]int{"red": 1, "blue": 2}, 0); c != 2 {
		t.Errorf("choice %d", c)
	}
	for _, bad := range []any{nil, "3", 3.5, math.Inf(1), -1, int64(10)} {
		if n, ok := tree.Int(bad, 0, 9); ok {
			t.Errorf("%v is %d", bad, n)
		}
	}
}
