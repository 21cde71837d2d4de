package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A wire is the model in the form that the generators of the SDKs read: types with a name and a
// direction, unions with the member that tells their branches apart, methods, notifications and
// errors. [readWire] makes it of the model. Envelopes of messages are not in it: each SDK writes
// and reads those by hand.
type wire struct {
	protocol      int
	types         []*typeDef // by name
	methods       []*methodDef
	notifications []*notificationDef
	reasons       []*reasonDef
}

// A typeDef is a named type: an object, a union of objects, or another name for a type.
type typeDef struct {
	name, doc string
	fields    []field  // of an object: those that are required first
	oneOf     []string // exactly one of these members must be there
	notBoth   []string // at most one of these members may be there
	union     *union   // nil: no union
	alias     *ref     // nil: a type of its own
	sent      bool     // clients send it
	received  bool     // servers send it
	err       bool     // it is the data of an error
}

// object reports whether t is an object with members.
func (t *typeDef) object() bool { return t.union == nil && t.alias == nil }

// tag returns the member whose constant names an object within its union, nil when there is none.
func (t *typeDef) tag() *field {
	for i, f := range t.fields {
		if f.form == constant {
			return &t.fields[i]
		}
	}
	return nil
}

// A union is one of several objects, told apart by a constant.
type union struct {
	tag      string     // the member that has the constant
	branches []*typeDef // all have it
}

// A field is a member of an object.
type field struct {
	name, doc string
	required  bool
	def       any // its default; nil: none is known
	ref
}

// A form is what a value may be.
type form string

const (
	anything form = "anything"
	text     form = "string"
	integer  form = "integer"
	number   form = "number"
	boolean  form = "boolean"
	constant form = "constant" // words has the one
	words    form = "words"    // one of words
	list     form = "list"     // of elem
	mapping  form = "mapping"  // of names to elem
	named    form = "named"    // def
	either   form = "either"   // one of branches
)

// A ref is the use of a type.
type ref struct {
	form     form
	null     bool // it may be null
	words    []string
	elem     *ref
	def      *typeDef
	branches []ref
	least    *float64 // of a number
	most     *float64
	format   string // of a string: date-time
}

// A methodDef is a method.
type methodDef struct {
	name, about string
	params      *typeDef // an object, perhaps without members
	result      *typeDef
	blocks      bool   // the answer may take until timeout_ms
	queues      string // the member of params that names what it queues behind
	reasons     []string
	since       int
	stability   string
}

// A notificationDef is what the server tells of its own accord.
type notificationDef struct {
	name, about string
	params      *typeDef
}

// A reasonDef is a kind of error.
type reasonDef struct {
	reason, about string
	code          int
	data          *typeDef
}

// shortNames are those of types that have no name in the model and deserve one; others are called
// after the type and the member that they stand in.
var shortNames = map[string]string{"SnapshotCursor": "Cursor", "StateHostMarks": "HostMark"}

// readWire reads the model. The error names what the model has and this form does not.
func readWire(model object) (w *wire, err error) {
	b := &reading{defs: model["$defs"].(object), types: map[string]*typeDef{}}
	defer func() {
		if r := recover(); r != nil {
			unknown, ok := r.(unknownShape)
			if !ok {
				panic(r)
			}
			w, err = nil,
				fmt.Errorf("the generators cannot tell what %s is: teach sdk/gen/ir.go",
					string(unknown))
		}
	}()
	w = &wire{protocol: int(model["protocol"].(float64))}
	for name, m := range sorted(model["methods"].(object)) {
		d := &methodDef{
			name: name, about: word(m["about"]), params: b.use(m["params"]),
			result: b.use(m["result"]), queues: word(m["queues"]), reasons: texts(m["reasons"]),
			stability: word(m["stability"]),
		}
		d.blocks, _ = m["blocks"].(bool)
		d.since = int(m["since"].(float64))
		direct(d.params, func(t *typeDef) *bool { return &t.sent })
		direct(d.result, func(t *typeDef) *bool { return &t.received })
		w.methods = append(w.methods, d)
	}
	for name, n := range sorted(model["notifications"].(object)) {
		d := &notificationDef{name, word(n["about"]), b.use(n["params"])}
		direct(d.params, func(t *typeDef) *bool { return &t.received })
		w.notifications = append(w.notifications, d)
	}
	for reason, e := range sorted(model["errors"].(object)) {
		d := &reasonDef{reason, word(e["about"]), int(e["code"].(float64)), b.use(e["data"])}
		d.data.err = true
		direct(d.data, func(t *typeDef) *bool { return &t.received })
		w.reasons = append(w.reasons, d)
	}
	for _, name := range slices.Sorted(maps.Keys(b.types)) {
		w.types = append(w.types, b.types[name])
	}
	return w, nil
}

// unknownShape is a place in the model whose shape is not understood.
type unknownShape string

// A reading reads the definitions of a model.
type reading struct {
	defs  object
	types map[string]*typeDef
}

// sorted goes through the objects in an object by their names.
func sorted(o object) func(func(string, object) bool) {
	return func(yield func(string, object) bool) {
		for _, name := range slices.Sorted(maps.Keys(o)) {
			if !yield(name, o[name].(object)) {
				return
			}
		}
	}
}

func word(v any) string {
	s, _ := v.(string)
	return s
}

// use returns the definition that a schema refers to.
func (b *reading) use(schema any) *typeDef {
	s, _ := schema.(object)
	name, ok := strings.CutPrefix(word(s["$ref"]), "#/$defs/")
	if !ok {
		panic(unknownShape(fmt.Sprint("what should be a definition, ", schema)))
	}
	return b.def(name)
}

// def returns the type of a definition.
func (b *reading) def(name string) *typeDef {
	if t := b.types[name]; t != nil {
		return t
	}
	s := b.defs[name].(object)
	t := &typeDef{name: name}
	b.types[name] = t // before its members, which may be of this type
	b.fill(t, s)
	return t
}

// fill reads a definition.
func (b *reading) fill(t *typeDef, s object) {
	t.doc = word(s["description"])
	branches, _ := s["oneOf"].([]any)
	switch {
	case s["type"] == "object" && (s["properties"] != nil || s["additionalProperties"] == nil):
		b.object(t, s)
	case len(branches) > 0 &&
		!slices.ContainsFunc(branches, func(v any) bool { return v.(object)["$ref"] == nil }):
		t.union = &union{}
		for _, branch := range branches {
			t.union.branches = append(t.union.branches, b.use(branch))
		}
		for _, branch := range t.union.branches {
			if tag := branch.tag(); tag == nil || t.union.tag != "" && t.union.tag != tag.name {
				panic(unknownShape("the union " + t.name + ", whose branches share no constant,"))
			} else {
				t.union.tag = tag.name
			}
		}
	default:
		r := b.ref(s, t.name)
		t.alias = &r
	}
}

// object reads the members of an object, those that are required first and in their order.
func (b *reading) object(t *typeDef, s object) {
	properties, _ := s["properties"].(object)
	required := texts(s["required"])
	names := slices.Clone(required)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		f := field{name: name, required: slices.Contains(required, name),
			ref: b.ref(properties[name], t.name+title(name))}
		if p, ok := properties[name].(object); ok {
			f.doc, f.def = word(p["description"]), p["default"]
		}
		t.fields = append(t.fields, f)
	}
	if not, ok := s["not"].(object); ok {
		t.notBoth = texts(not["required"])
	}
	if alternatives, ok := s["oneOf"].([]any); ok {
		for _, a := range alternatives {
			t.oneOf = append(t.oneOf, texts(a.(object)["required"])...)
		}
	}
}

// title turns an identifier into the end of a type's name: exit_code into ExitCode.
func title(name string) string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(name,
		func(r rune) bool { return r == '_' || r == '.' || r == '/' || r == '$' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// ref reads the schema of a value; place names it where the model does not.
func (b *reading) ref(schema any, place string) ref {
	s, _ := schema.(object)
	if s["$ref"] != nil {
		return ref{form: named, def: b.use(schema)}
	}
	if c, ok := s["const"]; ok {
		return ref{form: constant, words: []string{fmt.Sprint(c)}}
	}
	if enum, ok := s["enum"]; ok {
		return ref{form: words, words: texts(enum)}
	}
	if branches, ok := s["oneOf"].([]any); ok && s["properties"] == nil {
		return b.either(branches, place)
	}
	if types, ok := s["type"].([]any); ok {
		var branches []any
		for _, one := range types {
			o := maps.Clone(s)
			o["type"] = one
			branches = append(branches, o)
		}
		return b.either(branches, place)
	}
	switch s["type"] {
	case nil:
		return ref{form: anything}
	case "string":
		return ref{form: text, format: word(s["format"])}
	case "boolean":
		return ref{form: boolean}
	case "integer", "number":
		r := ref{form: form(s["type"].(string))}
		if v, ok := s["minimum"].(float64); ok {
			r.least = &v
		}
		if v, ok := s["maximum"].(float64); ok {
			r.most = &v
		}
		return r
	case "array":
		elem := b.ref(s["items"], place)
		return ref{form: list, elem: &elem}
	case "object":
		if s["properties"] == nil {
			elem := ref{form: anything}
			if more, ok := s["additionalProperties"].(object); ok {
				elem = b.ref(more, place)
			}
			return ref{form: mapping, elem: &elem}
		}
		return ref{form: named, def: b.inline(s, place)}
	}
	panic(unknownShape(place))
}

// either reads a choice: null stands apart, and of what is left there may be one.
func (b *reading) either(schemas []any, place string) ref {
	var r ref
	for _, s := range schemas {
		if o, _ := s.(object); o["type"] == "null" {
			r.null = true
			continue
		}
		r.branches = append(r.branches, b.ref(s, place))
	}
	if len(r.branches) == 1 {
		one := r.branches[0]
		one.null = one.null || r.null
		return one
	}
	r.form = either
	return r
}

// inline returns the type of an object that stands within another: a definition that is the same,
// or one of its own.
func (b *reading) inline(s object, place string) *typeDef {
	plain := maps.Clone(s)
	delete(plain, "description")
	for _, name := range slices.Sorted(maps.Keys(b.defs)) {
		def := maps.Clone(b.defs[name].(object))
		delete(def, "description")
		if reflect.DeepEqual(plain, def) {
			return b.def(name)
		}
	}
	name := strings.Replace(place, "Params", "", 1)
	if short := shortNames[name]; short != "" {
		name = short
	}
	if b.types[name] != nil || b.defs[name] != nil {
		panic(unknownShape(place + ", whose name is taken,"))
	}
	t := &typeDef{name: name}
	b.types[name] = t
	b.object(t, s)
	t.doc = word(s["description"])
	return t
}

// direct marks a type and all that it is made of.
func direct(t *typeDef, mark func(*typeDef) *bool) {
	if *mark(t) {
		return
	}
	*mark(t) = true
	var into func(r *ref)
	into = func(r *ref) {
		if r == nil {
			return
		}
		if r.def != nil {
			direct(r.def, mark)
		}
		into(r.elem)
		for i := range r.branches {
			into(&r.branches[i])
		}
	}
	into(t.alias)
	for i := range t.fields {
		into(&t.fields[i].ref)
	}
	if t.union != nil {
		for _, branch := range t.union.branches {
			direct(branch, mark)
		}
	}
}
