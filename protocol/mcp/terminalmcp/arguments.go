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
// order depend on its kind.
type issue = members

// wrongType is the issue of a value of another type than expected.
func wrongType(expected, received string, path []string, message string) issue {
	return issue{{"code", "invalid_type"}, {"expected", expected}, {"received", received},
		{"path", path}, {"message", message}}
}

// wrongChoice is wrongType for a field of an enumeration.
func (f *field) wrongChoice(received, message string) issue {
	return issue{{"expected", choices(f.enum)}, {"received", received}, {"code", "invalid_type"},
		{"path", []string{f.name}}, {"message", message}}
}

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
				issues = append(issues, missing(&f))
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
		return nil, &argumentError{[]issue{wrongType("object", "undefined", []string{},
			"Required")}}
	}
	got := typeOf(v)
	return nil, &argumentError{[]issue{wrongType("object", got, []string{},
		"Expected object, received "+got)}}
}

// missing is the issue of a required field that was not given.
func missing(f *field) issue {
	if f.enum != nil {
		return f.wrongChoice("undefined", "Required")
	}
	return wrongType(f.kind, "undefined", []string{f.name}, "Required")
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
			return nil, []issue{f.wrongChoice(got, "Expected "+choices(f.enum)+", received "+got)}
		}
		return nil, []issue{wrongType(want, got, path, "Expected "+want+", received "+got)}
	}
	switch v := v.(type) {
	case string:
		if f.enum != nil && !slices.Contains(f.enum, v) {
			message := "Invalid enum value. Expected " + choices(f.enum) + ", received '" + v + "'"
			return nil,
				[]issue{{{"received", v}, {"code", "invalid_enum_value"}, {"options", f.enum},
					{"path", path}, {"message", message}}}
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
		issues = append(issues, issue{
			{"code", "invalid_type"}, {"expected", "integer"}, {"received", "float"},
			{"message", "Expected integer, received float"}, {"path", path},
		})
	}
	if n <= 0 {
		issues = append(issues, issue{
			{"code", "too_small"}, {"minimum", 0}, {"type", "number"}, {"inclusive", false},
			{"exact", false}, {"message", "Number must be greater than 0"}, {"path", path},
		})
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
