package protocol

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bind makes a [Method.Call] of f. Params are decoded into a P, a struct with json tags: member
// names are case-sensitive, unknown members are ignored, null means absent, and a member given
// twice, a value of another type, or an array in place of the object is a [*ParamError].
//
// The tags are those of encoding/json/v2: omitempty leaves out what encodes as null, "", [] or {};
// for a zero number or false it is omitzero. A nil slice encodes as [].
func Bind[P, R any](f func(ctx context.Context, params P) (R,
	error)) func(ctx context.Context, params stdjson.RawMessage) (any, error) {
	return func(ctx context.Context, params stdjson.RawMessage) (any, error) {
		var p P
		if err := Decode(params, &p); err != nil {
			return nil, err
		}
		result, err := f(ctx, p)
		if err != nil {
			return nil, err
		}
		return result, nil
	}
}

// Decode decodes params into p, a pointer to a struct, as [Bind] does. Errors are [*ParamError].
func Decode(params []byte, p any) error {
	if len(params) > 0 && params[0] != '{' {
		return &ParamError{Expected: "an object", Got: kindName(jsontext.Value(params).Kind())}
	}
	if string(params) == "{}" {
		switch p.(type) {
		case json.Unmarshaler, json.UnmarshalerFrom:
		default:
			return nil // a struct stays as it is
		}
	}
	// The defaults of v2 are what we promise: case matters, doubles and bad UTF-8 are refused,
	// unknown members are ignored.
	err := json.Unmarshal(params, p, noNulls)
	if err == nil {
		return nil
	}
	var inner *ParamError
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &semantic):
		path := pointerPath(semantic.JSONPointer)
		if errors.As(semantic.Err, &inner) {
			e := *inner
			e.Path = joinPath(path, inner.Path)
			return &e
		}
		return &ParamError{Path: path, Expected: expected(semantic.GoType), Got: gotValue(semantic)}
	case errors.As(err, &syntactic):
		path := pointerPath(syntactic.JSONPointer)
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return &ParamError{Path: path, Expected: "one value", Got: "two",
				Reason: reasonDuplicate}
		}
		// The scanner has accepted the message, so only a lone surrogate can be wrong.
		return &ParamError{Path: path, Expected: "valid Unicode", Got: "half of a surrogate pair"}
	case errors.As(err, &inner):
		return inner
	}
	return &ParamError{Expected: "an object of the documented shape", Got: "something else"}
}

// noNulls refuses null as an entry of a list of strings, or as a value of a map of them, where it
// would be taken for "". As a member of an object null means absent.
var noNulls = json.WithUnmarshalers(json.JoinUnmarshalers(
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, to *[]string) error {
		var list []*string
		if err := json.UnmarshalDecode(d, &list); err != nil || list == nil {
			return err
		}
		*to = make([]string, len(list))
		for i, s := range list {
			if s == nil {
				return &ParamError{Path: "[" + strconv.Itoa(i) + "]", Expected: "a string",
					Got: "null"}
			}
			(*to)[i] = *s
		}
		return nil
	}),
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, to *map[string]string) error {
		var all map[string]*string
		if err := json.UnmarshalDecode(d, &all); err != nil || all == nil {
			return err
		}
		*to = make(map[string]string, len(all))
		for name, s := range all {
			if s == nil {
				return &ParamError{Path: cut(escape(name), maxQuoted), Expected: "a string",
					Got: "null"}
			}
			(*to)[name] = *s
		}
		return nil
	}),
))

// expected describes the values a Go type accepts, with the range unless it is that of int.
func expected(t reflect.Type) string {
	if t == nil {
		return "another value"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch k := t.Kind(); k {
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a string"
	case reflect.Int, reflect.Int64:
		return "an integer"
	case reflect.Int8, reflect.Int16, reflect.Int32:
		n := int64(1) << (t.Bits() - 1)
		return "an integer from " + strconv.FormatInt(-n, 10) + " to " + strconv.FormatInt(n-1, 10)
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return "an integer from 0"
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return "an integer from 0 to " + strconv.FormatUint(uint64(1)<<t.Bits()-1, 10)
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a string in base64"
		}
		return "an array"
	case reflect.Map, reflect.Struct:
		return "an object"
	}
	return "another value"
}

// gotValue names the kind of the offending value, and shows a number, which holds no secret.
func gotValue(e *json.SemanticError) string {
	if e.JSONKind == '0' && len(e.JSONValue) > 0 {
		return cut(string(e.JSONValue), maxQuoted)
	}
	return kindName(e.JSONKind)
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{', '}':
		return "an object"
	case '[', ']':
		return "an array"
	}
	return "something else"
}

// maxPath is the longest path shown, in runes. Member names on it can be the client's own.
const maxPath = 200

// pointerPath turns a JSON pointer into a path like action.value[3].
func pointerPath(p jsontext.Pointer) string {
	path := ""
	for name := range p.Tokens() {
		if _, err := strconv.ParseUint(name, 10, 32); err == nil {
			path += "[" + name + "]"
		} else {
			path = joinPath(path, cut(escape(name), maxQuoted))
		}
		if len(path) > maxPath {
			return cut(path, maxPath)
		}
	}
	return path
}

func joinPath(a, b string) string {
	if a == "" || b == "" || strings.HasPrefix(b, "[") {
		return a + b
	}
	return a + "." + b
}
