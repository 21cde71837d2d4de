package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ptywright/ptywright/protocol/native"
)

// A vector is a value that every SDK and the server must judge alike.
type vector struct {
	Def   string `json:"def"`   // a definition of the model
	Case  string `json:"case"`  // what the value is about
	Valid bool   `json:"valid"` // it fits the definition
	Value any    `json:"value"`
}

type object = map[string]any

// A maker makes values of definitions.
type maker struct{ defs object }

// vectorsOf makes the vectors of every definition, one a line. What the validator says of a value
// must be what it was made for.
func vectorsOf(model object) ([]byte, error) {
	m := maker{model["$defs"].(object)}
	var b bytes.Buffer
	b.WriteString("[\n")
	for _, def := range slices.Sorted(maps.Keys(m.defs)) {
		for _, v := range m.vectors(def) {
			value, err := native.Plain(v.Value)
			if err != nil {
				return nil, err
			}
			if err := native.Validate(def, value); (err == nil) != v.Valid {
				return nil,
					fmt.Errorf("%s, %s: made to be valid is %v, and the validator says %v of %v",
						def, v.Case, v.Valid, err, value)
			}
			line, err := encode(v, "")
			if err != nil {
				return nil, err
			}
			if b.Len() > 2 {
				b.WriteString(",\n")
			}
			b.Write(bytes.TrimSpace(line))
		}
	}
	b.WriteString("\n]\n")
	return b.Bytes(), nil
}

// schema returns a definition's schema, or the schema itself, without references.
func (m maker) schema(s any) object {
	o, _ := s.(object)
	for o["$ref"] != nil {
		o = m.defs[strings.TrimPrefix(o["$ref"].(string), "#/$defs/")].(object)
	}
	return o
}

// vectors makes a definition's vectors.
func (m maker) vectors(def string) (all []vector) {
	s := m.schema(m.defs[def])
	add := func(what string, valid bool, v any) { all = append(all, vector{def, what, valid, v}) }
	if s["properties"] == nil {
		if branches, ok := s["oneOf"].([]any); ok {
			for i, b := range branches {
				name, _ := b.(object)["$ref"].(string)
				if name = strings.TrimPrefix(name, "#/$defs/"); name == "" {
					name = fmt.Sprint("branch ", i)
				}
				add("one of: "+name, true, m.sample(b, false))
			}
			add("none of them", false,
				object{"type": "no such", "kind": "no such", "method": "no.such",
					"data": object{"reason": "no_such"}})
		}
		add("another type", false, true)
		return all
	}
	required, properties := texts(s["required"]), s["properties"].(object)
	add("the least", true, m.sample(s, false))
	if len(required) < len(properties) {
		add("all members", true, m.sample(s, true))
	}
	add("another type", false, []any{1})
	if s["additionalProperties"] == false {
		add("an unknown member", false, with(m.sample(s, false).(object), "no_such_member", 1))
	} else {
		add("an unknown member that is ignored", true,
			with(m.sample(s, false).(object), "no_such_member", 1))
	}
	for _, name := range required {
		v := m.sample(s, false).(object)
		delete(v, name)
		add("without "+name, false, v)
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		for what, bad := range m.wrong(properties[name]) {
			if bad == nil && sent(def) && !slices.Contains(required, name) {
				continue // the server takes it for an absent member
			}
			v := m.sample(s, false).(object)
			for _, other := range others(s, name) {
				delete(v, other)
			}
			v[name] = bad
			add(name+": "+what, false, v)
		}
		// What stands beside the branch of a union is as good there as in any.
		for i, b := range branches(m.schema(properties[name])) {
			v := m.sample(s, false).(object)
			for _, other := range others(s, name) {
				delete(v, other)
			}
			v[name] = m.sample(b, true)
			add(fmt.Sprintf("%s: branch %d", name, i), true, m.completed(s, v))
		}
	}
	for _, pair := range exclusive(s) {
		v := m.sample(s, true).(object)
		for _, name := range pair {
			if v[name] == nil {
				v[name] = m.sample(properties[name], false)
			}
		}
		add(strings.Join(pair, " and "), false, v)
	}
	slices.SortStableFunc(all, func(a, b vector) int { return strings.Compare(a.Case, b.Case) })
	return all
}

// sent reports whether clients send a definition.
func sent(def string) bool {
	return slices.ContainsFunc([]string{"Params", "Action", "Matcher", "Redaction", "Selection", "Locator", "ClickTarget"},
		func(end string) bool { return strings.HasSuffix(def, end) })
}

func with(o object, name string, v any) object {
	o = maps.Clone(o)
	o[name] = v
	return o
}

func texts(v any) (out []string) {
	list, _ := v.([]any)
	for _, e := range list {
		out = append(out, e.(string))
	}
	return out
}

// branches are those of a small union, such as a string or null.
func branches(s object) []any {
	list, _ := s["oneOf"].([]any)
	if len(list) > 4 || s["properties"] != nil {
		return nil
	}
	return list
}

// exclusive are the members of which only one may be there.
func exclusive(s object) (pairs [][]string) {
	if not, ok := s["not"].(object); ok {
		pairs = append(pairs, texts(not["required"]))
	}
	if s["properties"] != nil && s["oneOf"] != nil {
		var pair []string
		for _, one := range s["oneOf"].([]any) {
			pair = append(pair, texts(one.(object)["required"])...)
		}
		pairs = append(pairs, pair)
	}
	return pairs
}

// others are the members that exclude one.
func others(s object, name string) (out []string) {
	for _, pair := range exclusive(s) {
		if slices.Contains(pair, name) {
			out = append(out,
				slices.DeleteFunc(slices.Clone(pair), func(n string) bool { return n == name })...)
		}
	}
	return out
}

// completed adds the members that those of v need.
func (m maker) completed(s, v object) object {
	needs, _ := s["dependentRequired"].(object)
	for name, list := range needs {
		if v[name] == nil {
			continue
		}
		for _, other := range texts(list) {
			if v[other] == nil {
				v[other] = m.sample(s["properties"].(object)[other], false)
			}
		}
	}
	return v
}

// sample makes a value that fits a schema: with what is required, or with all members.
func (m maker) sample(schema any, whole bool) any {
	s := m.schema(schema)
	if c, ok := s["const"]; ok {
		return c
	}
	if enum, ok := s["enum"].([]any); ok {
		return enum[0]
	}
	if examples, ok := s["examples"].([]any); ok {
		return examples[0]
	}
	if s["properties"] == nil {
		if list, ok := s["oneOf"].([]any); ok {
			return m.sample(list[0], whole)
		}
	}
	switch kind(s) {
	case "string":
		switch {
		case s["format"] == "date-time":
			return "2026-01-02T03:04:05.678Z"
		}
		return "text"
	case "integer", "number":
		if least, ok := s["minimum"].(float64); ok {
			return least
		}
		return 1
	case "boolean":
		return true
	case "null":
		return nil
	case "array":
		if items := m.schema(s["items"]); items["type"] == "string" ||
			s["items"] != nil && s["minItems"] != nil {
			return []any{m.sample(s["items"], false)}
		}
		return []any{}
	case "object":
		return m.object(s, whole)
	}
	return "anything"
}

func (m maker) object(s object, whole bool) object {
	v := object{}
	properties, _ := s["properties"].(object)
	for name, p := range properties {
		if whole || slices.Contains(texts(s["required"]), name) {
			v[name] = m.sample(p, false)
		}
	}
	for _, pair := range exclusive(s) {
		for _, name := range pair[1:] {
			delete(v, name)
		}
		if s["oneOf"] != nil {
			v[pair[0]] = m.sample(properties[pair[0]], false)
		}
	}
	if more, ok := s["additionalProperties"].(object); ok && whole && properties == nil {
		v["name"] = m.sample(more, false)
	}
	return v
}

// kind is a schema's first type.
func kind(s object) string {
	if list, ok := s["type"].([]any); ok {
		for _, k := range list {
			if k != "null" {
				return k.(string)
			}
		}
	}
	k, _ := s["type"].(string)
	return k
}

// wrong makes values that do not fit a schema, by what is wrong with them.
func (m maker) wrong(schema any) map[string]any {
	s := m.schema(schema)
	bad := map[string]any{}
	if c, ok := s["const"]; ok {
		bad["another constant"] = fmt.Sprint("no ", c)
		return bad
	}
	if s["type"] == nil && s["oneOf"] == nil && s["enum"] == nil {
		return nil // anything goes
	}
	if s["oneOf"] != nil && s["properties"] == nil {
		bad["another type"] = true
		return bad
	}
	types := texts(s["type"])
	if one, ok := s["type"].(string); ok {
		types = []string{one}
	}
	if !slices.Contains(types, "null") {
		bad["null"] = nil
	}
	if kind(s) == "object" || kind(s) == "array" || kind(s) == "boolean" {
		bad["another type"] = "text"
	} else {
		bad["another type"] = object{}
	}
	if kind(s) == "integer" {
		bad["a fraction"] = 1.5
	}
	if s["enum"] != nil && kind(s) == "string" {
		bad["an unknown word"] = "no such word"
	}
	if least, ok := s["minimum"].(float64); ok {
		bad["too small"] = least - 1
	}
	if most, ok := s["maximum"].(float64); ok {
		bad["too large"] = most + 1
	}
	if s["minLength"] != nil {
		bad["empty"] = ""
	}
	if s["minItems"] != nil {
		bad["empty"] = []any{}
	}
	if more, ok := s["additionalProperties"].(object); ok && s["properties"] == nil {
		for what, v := range m.wrong(more) {
			bad["a member is "+what] = object{"name": v}
		}
	}
	if items := m.schema(s["items"]); kind(s) == "array" && items["type"] != nil {
		for what, v := range m.wrong(items) {
			bad["an entry is "+what] = []any{v}
		}
	}
	return bad
}
