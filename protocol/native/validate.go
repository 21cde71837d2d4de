package native

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ptywright/ptywright/internal/lazy"
)

// validators are those that have been made, by definition.
var validators sync.Map // of *jsonschema.Resolved

// Validate holds a value, as encoding/json decodes it, against a definition of the model. It is for
// tests and for the generator of vectors.
func Validate(def string, value any) error {
	v, ok := validators.Load(def)
	if !ok {
		r, err := validator(def)
		if err != nil {
			return err
		}
		v, _ = validators.LoadOrStore(def, r)
	}
	return v.(*jsonschema.Resolved).Validate(value)
}

// encodedDefs are the definitions as JSON.
var encodedDefs = sync.OnceValue(func() map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for name, s := range Model().Defs {
		b, err := json.Marshal(s)
		if err != nil { // a schema of ours
			panic("native: " + err.Error())
		}
		all[name] = b
	}
	return all
})

var defRef = lazy.Regexp(`"#/\$defs/(\w+)"`)

// validator makes a definition's validator, with only the definitions that it needs: the whole
// model would take a hundred times as long.
func validator(def string) (*jsonschema.Resolved, error) {
	s := &jsonschema.Schema{Ref: "#/$defs/" + def, Defs: map[string]*jsonschema.Schema{}}
	for todo := []string{def}; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		if s.Defs[name] != nil {
			continue
		}
		text, ok := encodedDefs()[name]
		if !ok {
			return nil, fmt.Errorf("the model has no definition %s", name)
		}
		s.Defs[name] = decoded(text)
		for _, m := range defRef().FindAllSubmatch(text, -1) {
			todo = append(todo, string(m[1]))
		}
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", def, err)
	}
	return r, nil
}

// Fits is [Validate] for a value that the server has made: it may have no member that the model
// does not name.
func Fits(def string, value any) error {
	if err := Validate(def, value); err != nil {
		return err
	}
	if m := unknownMember(ref(def), value, ""); m != nil {
		return fmt.Errorf("the model does not have %s%s", m.path, m.name)
	}
	return nil
}

// Plain returns a value as encoding/json decodes its encoding.
func Plain(v any) (plain any, err error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return plain, json.Unmarshal(b, &plain)
}
