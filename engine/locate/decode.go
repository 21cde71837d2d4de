package locate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/tree"
)

// Decode reads a locator from a tree of maps, slices, strings, numbers and booleans, as JSON and Lua
// give it: words for [Parse], or {"type": ..., "value": ...}, whose parts are locators in turn.
// name is what the tree is called in errors, which are *[TreeError]s.
func Decode(name string, t any, o Options) (Locator, error) {
	v := tree.New(name, t)
	l := Read(v, o)
	if f := v.Fault(); f != nil {
		return Locator{}, &TreeError{f.Path, f.Problem()}
	}
	return l, nil
}

// A TreeError says what is wrong with a tree that should be a locator, and where. It quotes at most
// 32 characters of a text, but for words, of which it names the byte.
type TreeError struct {
	Path string // such as "locator.value.what"
	Msg  string
}

func (e *TreeError) Error() string { return e.Path + ": " + e.Msg }

// Read is Decode for a part of a tree, which keeps the fault.
func Read(v tree.Value, o Options) Locator {
	parts := 0
	d := &decoder{Options: o, parts: &parts}
	n := d.node(v, 0)
	if v.Fault() != nil {
		return Locator{}
	}
	return Locator{n}
}

type decoder struct {
	Options
	parts *int
}

// A kind is a type of locator.
type kind struct {
	about  string
	read   func(d *decoder, v tree.Value, depth int) node // v is the locator
	shape  func() tree.Shape                              // of its value; nil: it takes none
	absent bool                                           // the value may be left out
	flags  map[string]string                              // members beside value that are true or false, with what they say
}

// whatShape is the shape of a locator: see [Schemas].
func whatShape() tree.Shape { return tree.Shape{"$ref": "#/$defs/Locator"} }

func listShape() tree.Shape {
	return tree.Shape{"type": "array", "items": whatShape(), "minItems": 1}
}

// pairShape is the shape of an object of locators.
func pairShape(names ...string) func() tree.Shape {
	return func() tree.Shape {
		members := map[string]tree.Shape{}
		for _, n := range names {
			members[n] = whatShape()
		}
		return tree.ObjectShape(members)
	}
}

func textShape(about string) func() tree.Shape {
	return func() tree.Shape {
		s := tree.TextShape(about)
		s["minLength"] = 1
		return s
	}
}

const (
	maxNumber = math.MaxInt16 // rows, columns and ordinals: no screen has more
)

func besideShape() tree.Shape {
	return tree.ObjectShape(map[string]tree.Shape{
		"what": whatShape(), "of": whatShape(), "side": tree.EnumShape(sides, "of what it stands"),
		"within": tree.IntShape(1, maxNumber, "at most so many cells away"),
	}, "within")
}

func pickShape() tree.Shape {
	return tree.ObjectShape(map[string]tree.Shape{
		"what": whatShape(),
		"n":    tree.IntShape(-maxNumber, maxNumber, "from 0, or negative from the end: -1 is the last"),
	})
}

func rectShape() tree.Shape {
	return tree.ObjectShape(map[string]tree.Shape{
		"row":  tree.IntShape(-maxNumber, maxNumber, "from 0, or negative from the end"),
		"col":  tree.IntShape(-maxNumber, maxNumber, "from 0, or negative from the end"),
		"rows": tree.IntOrShape(0, 0, maxNumber, "0: to the end"),
		"cols": tree.IntOrShape(0, 0, maxNumber, "0: to the end"),
	}, "rows", "cols")
}

func guessShape() tree.Shape {
	return tree.ObjectShape(map[string]tree.Shape{
		"plugin":    tree.TextShape("the plugin's name"),
		"predicate": tree.TextShape("a function of the plugin"),
		"params":    {"description": "what the function gets"},
	}, "params")
}

var sides = []Side{RightOf, LeftOf, Above, Below}

// kinds are the types of a locator, made when first used.
var kinds func() map[string]kind

func init() { kinds = sync.OnceValue(makeKinds) } // a literal would be an initialization cycle

func makeKinds() map[string]kind {
	return map[string]kind{
		"text": {about: "a text, each time that it stands there", read: (*decoder).text,
			shape: textShape("what to find; rows that wrapped are one line"),
			flags: map[string]string{"exact": "it is all that its line has, but for blanks",
				"nocase": "capital and small letters are the same",
				"flow":   "blanks and line ends are one space, as in a paragraph"}},
		"regex": {about: "what an RE2 expression matches in a line, or its first group",
			read: (*decoder).regex, shape: textShape("the expression")},
		"style": {about: "the longest stretches of cells that have all of these colours and attributes",
			read: (*decoder).style, shape: func() tree.Shape {
				return tree.Shape{"type": "string", "minLength": 1, "examples": []any{"fg=green bold"},
					"description": "as in fg=green bold, bg=208, fg=#ff8800 underline, fg=default, inverse"}
			}},
		"link": {about: "the text of hyperlinks whose address contains a text",
			read:  func(_ *decoder, v tree.Value, _ int) node { return link{notEmpty(v.At("value"))} },
			shape: textShape("part of the address")},
		"cursor": {about: "the cell of the cursor, unless it is hidden",
			read: func(*decoder, tree.Value, int) node { return cursor{} }},
		"rect": {about: "a rectangle", read: (*decoder).rect, shape: rectShape},
		"box": {about: "the insides of frames of line characters, the smallest first; with a value " +
			"those in whose upper edge that is found",
			read: (*decoder).box, shape: whatShape, absent: true},
		"lines": {about: "whole lines that hold a place",
			read: func(d *decoder, v tree.Value, depth int) node {
				return lines{d.node(v.At("value"), depth+1)}
			}, shape: whatShape},
		"in": {about: "places within others, whose rows are cut to them",
			read: pair("what", "where", func(a, b node) node { return in{a, b} }), shape: pairShape("what", "where")},
		"beside": {about: "places on one side of others", read: (*decoder).beside, shape: besideShape},
		"has": {about: "places that hold another",
			read: pair("what", "inner", func(a, b node) node { return has{a, b, true} }), shape: pairShape("what", "inner")},
		"lacks": {about: "places that hold no such other",
			read: pair("what", "inner", func(a, b node) node { return has{a, b, false} }), shape: pairShape("what", "inner")},
		"pick": {about: "one of several places, by its number", read: (*decoder).pick, shape: pickShape},
		"any": {about: "the places of each of several locators", shape: listShape,
			read: list(func(n []node) node { return anyOf(n) })},
		"all": {about: "the cells that belong to places of each of several locators", shape: listShape,
			read: list(func(n []node) node { return allOf(n) })},
		"cross": {about: "the cell of a table: where the line of one place crosses the column of another",
			read: pair("row", "col", func(a, b node) node { return cross{a, b} }), shape: pairShape("row", "col")},
		"guess": {about: "where a plugin's predicate says that it is", read: (*decoder).guess,
			shape: guessShape},
	}
}

// Types returns the names of the types of locators, sorted.
func Types() []string { return slices.Sorted(maps.Keys(kinds())) }

// Schemas returns the JSON Schema (2020-12) of each type, as a tree. The locators inside them are
// references to #/$defs/Locator.
func Schemas() map[string]map[string]any {
	all := map[string]map[string]any{}
	for name, k := range kinds() {
		s := tree.TypedShape(name, k.about, k.shape, k.absent)
		for flag, about := range k.flags {
			s["properties"].(tree.Shape)[flag] = tree.Shape{"type": "boolean", "default": false,
				"description": about}
		}
		all[name] = s
	}
	return all
}

// node reads a locator.
func (d *decoder) node(v tree.Value, depth int) node {
	if words, ok := v.V.(string); ok {
		return d.words(v, words, depth)
	}
	if *d.parts++; *d.parts > MaxParts || depth > MaxDepth {
		v.Fail(fmt.Errorf("more than %d parts, or nested deeper than %d", MaxParts, MaxDepth))
		return nil
	}
	if _, ok := v.V.(map[string]any); !ok {
		v.Refuse("a locator: words, such as 'Commit' in box 'Menu', or an object with type and value")
		return nil
	}
	t := v.At("type")
	k := tree.Choice(t, kinds(), kind{})
	if k.read == nil {
		t.Refuse("one of " + strings.Join(Types(), ", "))
		return nil
	}
	return k.read(d, v, depth)
}

// words reads the part of a locator that is written in words.
func (d *decoder) words(v tree.Value, words string, depth int) node {
	if len(words) > maxText {
		v.Fail(fmt.Errorf("it has %d bytes, at most %d are allowed", len(words), maxText))
		return nil
	}
	n, err := (&parser{text: words, parts: d.parts, Options: d.Options}).whole(depth)
	if err != nil {
		v.Fail(err)
		return nil
	}
	return n
}

// notEmpty reads a text that is not empty.
func notEmpty(v tree.Value) string {
	s := v.Text()
	switch {
	case s == "":
		v.Refuse("a text that is not empty")
	case len(s) > maxText:
		v.Fail(fmt.Errorf("text of %d bytes, at most %d are allowed", len(s), maxText))
	}
	return s
}

// flag reads a member that is true or false.
func flag(v tree.Value) bool {
	on, ok := v.V.(bool)
	if !ok && v.V != nil {
		v.Refuse("true or false")
	}
	return on
}

func (d *decoder) text(v tree.Value, _ int) node {
	return text{notEmpty(v.At("value")), TextOptions{Exact: flag(v.At("exact")),
		IgnoreCase: flag(v.At("nocase")), Flow: flag(v.At("flow"))}}
}

func (d *decoder) regex(v tree.Value, _ int) node {
	v = v.At("value")
	pattern := notEmpty(v)
	if v.Fault() != nil {
		return nil
	}
	n, err := compile(pattern)
	if err != nil {
		v.Fail(err)
	}
	return n
}

func (d *decoder) style(v tree.Value, _ int) node {
	v = v.At("value")
	look, err := ParseLook(v.Text())
	if err != nil {
		v.Fail(err)
	}
	return style{look}
}

func (d *decoder) rect(v tree.Value, _ int) node {
	v = v.At("value")
	v.Object("an object with row and col")
	return rect{vt.Rect{
		Row: v.At("row").Int(-maxNumber, maxNumber), Col: v.At("col").Int(-maxNumber, maxNumber),
		Rows: v.At("rows").IntOr(0, 0, maxNumber), Cols: v.At("cols").IntOr(0, 0, maxNumber),
	}}
}

func (d *decoder) box(v tree.Value, depth int) node {
	if v = v.At("value"); v.V == nil {
		return box{}
	}
	return box{d.node(v, depth+1)}
}

// pair reads an object of two locators.
func pair(a, b string, make func(a, b node) node) func(*decoder, tree.Value, int) node {
	return func(d *decoder, v tree.Value, depth int) node {
		v = v.At("value")
		v.Object("an object with " + a + " and " + b)
		return make(d.node(v.At(a), depth+1), d.node(v.At(b), depth+1))
	}
}

// list reads several locators.
func list(make func([]node) node) func(*decoder, tree.Value, int) node {
	return func(d *decoder, v tree.Value, depth int) node {
		v = v.At("value")
		parts := v.Entries()
		if len(parts) == 0 {
			v.Refuse("an array of locators")
		}
		var all []node
		for _, part := range parts {
			if v.Fault() != nil {
				return nil
			}
			all = append(all, d.node(part, depth+1))
		}
		if len(all) == 1 {
			return all[0]
		}
		return make(all)
	}
}

func (d *decoder) beside(v tree.Value, depth int) node {
	v = v.At("value")
	v.Object("an object with what, side and of")
	names := map[string]Side{}
	for _, s := range sides {
		names[string(s)] = s
	}
	b := beside{what: d.node(v.At("what"), depth+1), other: d.node(v.At("of"), depth+1)}
	side := v.At("side")
	if b.side = tree.Choice(side, names, ""); b.side == "" {
		side.Refuse("one of above, below, left_of, right_of")
	}
	if within := v.At("within"); within.V != nil {
		b.within = within.Int(1, maxNumber)
	}
	return b
}

func (d *decoder) pick(v tree.Value, depth int) node {
	v = v.At("value")
	v.Object("an object with what and n")
	return pick{d.node(v.At("what"), depth+1), v.At("n").Int(-maxNumber, maxNumber)}
}

func (d *decoder) guess(v tree.Value, _ int) node {
	v = v.At("value")
	v.Object("an object with plugin and predicate")
	g := guess{plugin: v.At("plugin").Text(), predicate: v.At("predicate").Text(),
		params: v.At("params").V}
	if v.Fault() != nil {
		return nil
	}
	if err := g.resolve(d.Options); err != nil {
		v.Fail(err)
	}
	return g
}
