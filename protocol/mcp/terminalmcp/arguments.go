package terminalmcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// An issue is one fault in a call's arguments, as Terminal MCP reports it. Its members and their
// order depend on its code: each code has a type of its own.
type issue any

type (
	invalidType struct {
		Code     string   `json:"code"` // "invalid_type"
		Expected string   `json:"expected"`
		Received string   `json:"received"`
		Path     []string `json:"path"`
		Message  string   `json:"message"`
	}
	// An invalidEnumType is a value of an enumeration that is not a string.
	invalidEnumType struct {
		Expected string   `json:"expected"`
		Received string   `json:"received"`
		Code     string   `json:"code"` // "invalid_type"
		Path     []string `json:"path"`
		Message  string   `json:"message"`
	}
	invalidEnum struct {
		Received string   `json:"received"`
		Code     string   `json:"code"` // "invalid_enum_value"
		Options  []string `json:"options"`
		Path     []string `json:"path"`
		Message  string   `json:"message"`
	}
	notInteger struct {
		Code     string   `json:"code"` // "invalid_type"
		Expected string   `json:"expected"`
		Received string   `json:"received"`
		Message  string   `json:"message"`
		Path     []string `json:"path"`
	}
	tooSmall struct {
		Code      string   `json:"code"` // "too_small"
		Minimum   int      `json:"minimum"`
		Type      string   `json:"type"`
		Inclusive bool     `json:"inclusive"`
		Exact     bool     `json:"exact"`
		Message   string   `json:"message"`
		Path      []string `json:"path"`
	}
)

// An argumentError has all faults in the arguments of a call.
type argumentError struct{ issues []issue }

func (e *argumentError) Error() string { return pretty(e.issues) }

// Kinds of arguments.
const (
	kindString  = "string"
	kindBoolean = "boolean"
	kindNumber  = "number"
	kindCount   = "count" // a positive integer
)

// A field is one argument of a tool.
type field struct {
	name        string
	kind        string
	enum        []string // of a string; nil: any
	required    bool
	def         any
	description string
}

// arguments are those of one call, checked: strings, bools and float64s by name. An argument
// without a value or default is absent.
type arguments map[string]any

func (a arguments) text(name string) string {
	s, _ := a[name].(string)
	return s
}

func (a arguments) flag(name string) bool {
	b, _ := a[name].(bool)
	return b
}

// number returns a number, and whether it was given or has a default.
func (a arguments) number(name string) (float64, bool) {
	n, ok := a[name].(float64)
	return n, ok
}

// errNotJSON reports arguments that are not JSON, which no client sends.
var errNotJSON = errors.New("the arguments are not JSON")

// decode checks the arguments of a call, a JSON object, against the fields of a tool. Unknown
// members are ignored; the last of several with one name counts. Missing arguments, or null, are an
// error unless optional is set. Errors are *argumentError and errNotJSON.
func decode(raw json.RawMessage, fields []field, optional bool) (arguments, error) {
	given, err := object(raw, optional)
	if err != nil {
		return nil, err
	}
	args := arguments{}
	var issues []issue
	for _, f := range fields {
		v, ok := given[f.name]
		if !ok {
			if f.required {
				issues = append(issues, missing(f))
			} else if f.def != nil {
				args[f.name] = f.def
			}
			continue
		}
		v, wrong := f.check(v)
		issues = append(issues, wrong...)
		args[f.name] = v
	}
	if issues != nil {
		return nil, &argumentError{issues}
	}
	return args, nil
}

func object(raw json.RawMessage, optional bool) (map[string]any, error) {
	var v any
	if raw = bytes.TrimSpace(raw); len(raw) > 0 {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			return nil, errNotJSON
		}
	}
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case nil:
		if optional {
			return nil, nil
		}
		return nil, &argumentError{[]issue{invalidType{"invalid_type", "object", "undefined", []string{}, "Required"}}}
	}
	got := typeOf(v)
	return nil, &argumentError{[]issue{invalidType{"invalid_type", "object", got, []string{}, "Expected object, received " + got}}}
}

// missing is the issue of a required field that was not given.
func missing(f field) issue {
	if f.enum != nil {
		return invalidEnumType{choices(f.enum), "undefined", "invalid_type", []string{f.name}, "Required"}
	}
	return invalidType{"invalid_type", f.kind, "undefined", []string{f.name}, "Required"}
}

// check returns the value of a field, and what is wrong with it.
func (f *field) check(v any) (any, []issue) {
	path := []string{f.name}
	got := typeOf(v)
	want := f.kind
	if want == kindCount {
		want = kindNumber
	}
	if got != want {
		if f.enum != nil {
			all := choices(f.enum)
			return nil, []issue{invalidEnumType{all, got, "invalid_type", path, "Expected " + all + ", received " + got}}
		}
		return nil, []issue{invalidType{"invalid_type", want, got, path, "Expected " + want + ", received " + got}}
	}
	switch v := v.(type) {
	case string:
		if f.enum != nil && !slices.Contains(f.enum, v) {
			message := "Invalid enum value. Expected " + choices(f.enum) + ", received '" + v + "'"
			return nil, []issue{invalidEnum{v, "invalid_enum_value", f.enum, path, message}}
		}
		return v, nil
	case json.Number:
		n, _ := strconv.ParseFloat(string(v), 64) // out of range it is infinite, as in JavaScript
		if f.kind == kindCount {
			return n, countIssues(n, path)
		}
		return n, nil
	}
	return v, nil
}

// countIssues returns why n is not a positive integer.
func countIssues(n float64, path []string) (issues []issue) {
	if n != math.Trunc(n) || math.IsInf(n, 0) {
		issues = append(issues, notInteger{"invalid_type", "integer", "float", "Expected integer, received float", path})
	}
	if n <= 0 {
		issues = append(issues, tooSmall{"too_small", 0, "number", false, false, "Number must be greater than 0", path})
	}
	return issues
}

// choices are the values of an enumeration as messages list them.
func choices(enum []string) string { return "'" + strings.Join(enum, "' | '") + "'" }

// typeOf names the type of a JSON value.
func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// pretty is v as JSON with an indent of two spaces and only the necessary escapes.
func pretty(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic(err) // never: the types are ours
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// units counts the UTF-16 code units of s, which is what Terminal MCP calls characters.
func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
