// Package tree reads trees of maps, slices, strings, booleans and numbers, as JSON and Lua give
// them. [New] makes the root, [Value.At] a member; each read checks its value, and the first fault
// is kept for the end ([Value.Fault]), so a reader needs no error at each step.
package tree

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Fault says what is wrong with a value of a tree.
type Fault struct {
	Path     string // "action.value.rows"
	Expected string // what should be there, with an article and the range; "" when Err says it
	Got      any    // what is there, unchanged; nil: nothing
	Err      error  // why the value was refused
}

// Error quotes at most 32 characters of a string.
func (f *Fault) Error() string {
	return f.Path + ": " + f.Problem()
}

// Problem is Error without the path.
func (f *Fault) Problem() string {
	if f.Err != nil {
		return f.Err.Error()
	}
	got := Got(f.Got)
	if s, ok := f.Got.(string); ok {
		got = Quote(s)
	}
	return "expected " + f.Expected + ", got " + got
}

// A Value is a value and its place in a tree.
type Value struct {
	V     any
	Path  string
	Given bool   // false for a member that its map does not have
	first *Fault // of the whole tree; without a path until one occurs
}

// New returns the root of a tree, under its name in faults.
func New(name string, v any) Value { return Value{v, name, true, &Fault{}} }

// Fault returns the first fault of the tree; nil when there is none.
func (v Value) Fault() *Fault {
	if v.first.Path == "" {
		return nil
	}
	return v.first
}

// Refuse records a fault: what was expected instead of the value.
func (v Value) Refuse(expected string) { v.fail(Fault{v.Path, expected, v.V, nil}) }

// Fail records a fault: why the value is refused.
func (v Value) Fail(err error) { v.fail(Fault{v.Path, "", v.V, err}) }

func (v Value) fail(f Fault) {
	if v.first.Path == "" {
		*v.first = f
	}
}

// At returns a member, which is not given when the value is not a map.
func (v Value) At(name string) Value {
	m, _ := v.V.(map[string]any)
	member, given := m[name]
	return Value{member, v.Path + "." + name, given, v.first}
}

// Object refuses what is not a map; expected describes it.
func (v Value) Object(expected string) {
	if _, ok := v.V.(map[string]any); !ok {
		v.Refuse(expected)
	}
}

// List returns the entries of a list, which share its name; none for an absent member.
func (v Value) List() []Value {
	list, ok := v.V.([]any)
	if !ok && v.Given {
		v.Refuse("an array")
	}
	out := make([]Value, len(list))
	for i, e := range list {
		out[i] = Value{e, v.Path, true, v.first}
	}
	return out
}

// Entries is List whose entries are called by their places: "root.list[2]".
func (v Value) Entries() []Value {
	out := v.List()
	for i := range out {
		out[i].Path += fmt.Sprintf("[%d]", i)
	}
	return out
}

// Text reads a string.
func (v Value) Text() string {
	s, ok := v.V.(string)
	if !ok {
		v.Refuse("a string")
	}
	return s
}

// Int reads a whole number from least to most.
func (v Value) Int(least, most int) int {
	n, ok := Int(v.V, least, most)
	if !ok {
		v.Refuse(fmt.Sprintf("an integer from %d to %d", least, most))
	}
	return n
}

// IntOr is [Value.Int] with a default for an absent member.
func (v Value) IntOr(absent, least, most int) int {
	if v.V == nil {
		return absent
	}
	return v.Int(least, most)
}

// Number reads a number from least to most.
func (v Value) Number(least, most float64) float64 {
	n := number(v.V)
	if !(n >= least && n <= most) {
		v.Refuse(fmt.Sprintf("a number from %v to %v", least, most))
	}
	return n
}

// Choice reads one of the names in a table; an absent member is the default.
func Choice[T any](v Value, names map[string]T, absent T) T {
	if !v.Given {
		return absent
	}
	name, _ := v.V.(string)
	choice, ok := names[name]
	if !ok {
		v.Refuse("one of " + strings.Join(slices.Sorted(maps.Keys(names)), ", "))
	}
	return choice
}

// Int returns v as a whole number; ok is false when it is not one from least to most.
func Int(v any, least, most int) (n int, ok bool) {
	f := number(v)
	if f != math.Trunc(f) || f < float64(least) || f > float64(most) {
		return 0, false
	}
	return int(f), true
}

// number is NaN for anything but a number.
func number(v any) float64 {
	switch n := v.(type) {
	case float64:
		return n
	case int64:
		return float64(n)
	case int:
		return float64(n)
	}
	return math.NaN()
}

// Got describes a value by its type, a number by itself.
func Got(v any) string {
	switch v.(type) {
	case float64, int64, int:
		return fmt.Sprint(v)
	}
	return Kind(v)
}

// Kind names the type of a value in JSON's terms.
func Kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case bool:
		return "a boolean"
	case float64, int64, int:
		return "a number"
	case string:
		if v == "" {
			return "an empty string"
		}
		return "a string"
	case []any:
		return "an array"
	}
	return "an object"
}

// Quote quotes a caller's value for a message: at most 32 characters of it, and "..." where there
// is more.
func Quote(s string) string {
	if short := fmt.Sprintf("%.32s", s); len(short) < len(s) {
		s = short + "..."
	}
	return strconv.Quote(s)
}
