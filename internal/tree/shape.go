package tree

import (
	"maps"
	"slices"
)

// A Shape is a JSON Schema (2020-12) as a tree: what the readers of a [Value] accept. Shapes stand
// beside the readers, and share their bounds and tables.
type Shape = map[string]any

// TextShape is the shape of [Value.Text].
func TextShape(about string) Shape { return Shape{"type": "string", "description": about} }

// IntShape is the shape of [Value.Int].
func IntShape(least, most int, about string) Shape {
	return Shape{"type": "integer", "minimum": least, "maximum": most, "description": about}
}

// IntOrShape is the shape of [Value.IntOr].
func IntOrShape(absent, least, most int, about string) Shape {
	s := IntShape(least, most, about)
	s["default"] = absent
	return s
}

// ChoiceShape is the shape of [Choice] from the names in a table.
func ChoiceShape[T any](names map[string]T, about string) Shape {
	return EnumShape(slices.Sorted(maps.Keys(names)), about)
}

// EnumShape is the shape of a string that is one of names.
func EnumShape[T ~string](names []T, about string) Shape {
	enum := make([]any, len(names))
	for i, n := range names {
		enum[i] = string(n)
	}
	return Shape{"type": "string", "enum": enum, "description": about}
}

// ObjectShape is the shape of an object. Members are required unless optional names them.
func ObjectShape(members map[string]Shape, optional ...string) Shape {
	properties, required := Shape{}, []any{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		properties[name] = members[name]
		if !slices.Contains(optional, name) {
			required = append(required, name)
		}
	}
	s := Shape{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// TypedShape is the shape of {"type": name, "value": ...}. A nil value means that the type takes
// none.
func TypedShape(name, about string, value func() Shape, optional bool) Shape {
	members := map[string]Shape{"type": {"const": name}}
	var may []string
	if value != nil {
		members["value"] = value()
	}
	if optional {
		may = append(may, "value")
	}
	s := ObjectShape(members, may...)
	s["description"] = about
	return s
}
