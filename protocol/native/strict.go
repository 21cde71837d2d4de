package native

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ptywright/ptywright/internal/nearest"
	"github.com/ptywright/ptywright/protocol"
)

type strictParams struct {
	Strict *bool `json:"strict" jsonschema:"true: members of params that a method does not have are refused on this connection; false: they are ignored, as at first"`
}

type strictResult struct {
	Strict bool `json:"strict"`
}

func (c *client) setStrict(_ context.Context, p strictParams) (strictResult, error) {
	if p.Strict == nil {
		return strictResult{}, &protocol.ParamError{Path: "strict", Expected: "a boolean"}
	}
	c.strict.Store(*p.Strict)
	return strictResult{*p.Strict}, nil
}

// refuseUnknown refuses params that have a member which the model does not have.
func refuseUnknown(method string, params json.RawMessage) error {
	var v any
	if json.Unmarshal(params, &v) != nil {
		return nil // its decoder says what is wrong
	}
	found := unknownMember(ref(camel(method)+"Params"), v, "")
	if found == nil {
		return nil
	}
	return found.error()
}

// A member is one that its object does not have in the model.
type member struct {
	path  string // of the object, "" or with a dot at its end
	name  string
	known []string
}

func (m *member) error() error {
	name := strings.TrimSuffix(strings.TrimPrefix(protocol.Quote(m.name, 32), `"`), `"`)
	problem := "unknown member"
	near := nearest.Of(m.name, m.known)
	if i := slices.IndexFunc(m.known, func(k string) bool { return strings.HasPrefix(k, m.name+"_") }); near == "" && i >= 0 {
		near = m.known[i] // the name without its unit
	}
	if near != "" {
		problem += fmt.Sprintf(": did you mean %s?", near)
	}
	return &paramError{path: m.path + name, reason: "invalid_params", problem: problem}
}

// resolve follows references.
func resolve(s *jsonschema.Schema) *jsonschema.Schema {
	for s.Ref != "" {
		s = Model().Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
	}
	return s
}

// unknownMember returns the first member of v that its schema does not name. Values that do not fit
// their schema are left to the decoder.
func unknownMember(s *jsonschema.Schema, v any, path string) *member {
	s = branch(resolve(s), v)
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			if s.Items == nil {
				break
			}
			if m := unknownMember(s.Items, e, fmt.Sprintf("%s[%d].", strings.TrimSuffix(path, "."), i)); m != nil {
				return m
			}
		}
	case map[string]any:
		if s.Properties == nil && s.AdditionalProperties == nil || s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
			return nil // anything goes, or the decoder refuses others in its own words
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			of := s.Properties[name]
			if of == nil {
				of = s.AdditionalProperties
			}
			if of == nil {
				return &member{path, name, slices.Sorted(maps.Keys(s.Properties))}
			}
			if m := unknownMember(of, v[name], path+name+"."); m != nil {
				return m
			}
		}
	}
	return nil
}

// branch returns the branch of a union that a value belongs to: the one with its constants, or else
// of its type. A value of none gets a schema that takes everything.
func branch(s *jsonschema.Schema, v any) *jsonschema.Schema {
	if len(s.OneOf) == 0 || s.Properties != nil {
		return s
	}
	for _, b := range s.OneOf {
		if b = branch(resolve(b), v); tagged(b, v) {
			return b
		}
	}
	return &jsonschema.Schema{}
}

// tagged reports whether a value is an object or a list as the schema says, with its constants.
func tagged(s *jsonschema.Schema, v any) bool {
	o, object := v.(map[string]any)
	if _, list := v.([]any); !object {
		return list && s.Type == "array"
	}
	for name, p := range s.Properties {
		p = resolve(p)
		if p.Const != nil && *p.Const != o[name] || p.Properties["reason"] != nil && !tagged(p, o[name]) {
			return false
		}
	}
	return s.Type == "object"
}
