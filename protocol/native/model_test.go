package native_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/native"
)

// A model is what the tests read of the model of the wire.
type model struct {
	Protocol int
	Defs     map[string]json.RawMessage `json:"$defs"`
	Methods  map[string]struct {
		About          string
		Params, Result struct {
			Ref string `json:"$ref"`
		}
		Queues  string
		Blocks  bool
		Reasons []string
	}
	Notifications map[string]struct {
		Params struct {
			Ref string `json:"$ref"`
		}
	}
	Errors map[string]struct{ Code int }
}

// theModel is the model as it is printed.
var theModel = func() (m model) {
	b, err := json.Marshal(native.Model())
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		panic(err)
	}
	return m
}()

func defOf(ref string) string { return strings.TrimPrefix(ref, "#/$defs/") }

// A call is a request that was sent.
type call struct {
	method string
	params json.RawMessage
}

// hold holds a message that the server has sent against the model, and the params of a request that
// it has accepted.
func hold(t testing.TB, line string, sent map[string]call) {
	t.Helper()
	var m struct {
		ID     json.RawMessage
		Method string
		Params any
		Result any
		Error  *struct {
			Code int
			Data map[string]any
		}
	}
	if json.Unmarshal([]byte(line), &m) != nil {
		return
	}
	var whole map[string]any
	_ = json.Unmarshal([]byte(line), &whole)
	lies := func(format string, args ...any) {
		t.Helper()
		t.Errorf("the model lies: "+format+"\n%.600s", append(args, line)...)
	}
	request, known := sent[string(m.ID)]
	of, spoken := theModel.Methods[request.method]
	switch {
	case m.Method != "":
		if err := native.Fits(defOf(theModel.Notifications[m.Method].Params.Ref), m.Params); err != nil {
			lies("%s: %v", m.Method, err)
		}
	case m.Error != nil:
		reason, _ := m.Error.Data["reason"].(string)
		if err := native.Fits("Error", whole["error"]); err != nil {
			if one := native.Fits(camel(reason)+"Error", whole["error"]); one != nil {
				err = one
			}
			lies("error %s of %s: %v", reason, request.method, err)
		}
		itself := m.Error.Code == protocol.CodeParse || m.Error.Code == protocol.CodeInvalidRequest // the message
		if known && spoken && !itself && !slices.Contains(of.Reasons, reason) {
			lies("%s gives %s", request.method, reason)
		}
	case known && spoken:
		if err := native.Fits(defOf(of.Result.Ref), m.Result); err != nil {
			lies("the result of %s: %v", request.method, err)
		}
		var params any
		if len(request.params) == 0 || string(request.params) == "null" {
			params = map[string]any{}
		} else {
			_ = json.Unmarshal(request.params, &params)
		}
		if err := native.Validate(defOf(of.Params.Ref), withoutNull(params)); err != nil {
			lies("%s accepts %.300s: %v", request.method, request.params, err)
		}
	}
}

// withoutNull leaves out members that are null: the server takes them for absent ones.
func withoutNull(v any) any {
	if o, ok := v.(map[string]any); ok {
		o = maps.Clone(o)
		maps.DeleteFunc(o, func(_ string, v any) bool { return v == nil })
		return o
	}
	return v
}

func camel(name string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '.' || r == '_' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// TestModelIsASchema: a validator takes the whole, and it constrains every kind of message.
func TestModelIsASchema(t *testing.T) {
	b, err := json.Marshal(native.Model())
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	whole, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for message, good := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"method":"session.list"}`:                                                                     true,
		`{"jsonrpc":"2.0","id":1,"method":"session.lost"}`:                                                                     false,
		`{"jsonrpc":"2.0","id":1,"method":"session.wait"}`:                                                                     false,
		`{"jsonrpc":"2.0","id":1,"method":"session.wait","params":{"session":"s1","matcher":{"type":"bell"}}}`:                 true,
		`{"jsonrpc":"2.0","id":1,"method":"session.wait","params":{"session":"s1","matcher":{"type":"bells"}}}`:                false,
		`{"jsonrpc":"2.0","id":1,"method":"session.wait","params":{"session":null,"matcher":{"type":"bell"}}}`:                 false,
		`{"jsonrpc":"2.0","id":1,"method":"session.wait","params":{"session":"s1","matcher":{"type":"bell"},"timeout_ms":-1}}`: false,
		`{"jsonrpc":"2.0","id":1,"method":"session.search","params":{"session":"s1","text":"x","regex":"y"}}`:                  false,
		`{"jsonrpc":"2.0","method":"session.changed","params":{"session":"s1","sequence":3}}`:                                  true,
		`{"jsonrpc":"2.0","method":"session.changed","params":{"session":"s1"}}`:                                               false,
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                                                                                 true,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"x","data":{"reason":"owned_by_adapter","adapter":"e1"}}}`:   true,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"x","data":{"reason":"owned_by_adapter"}}}`:                  false,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"x","data":{"reason":"no_such_reason"}}}`:                    false,
		`{"id":1,"method":"session.list"}`:                                                                                     false,
	} {
		var v any
		if err := json.Unmarshal([]byte(message), &v); err != nil {
			t.Fatal(err)
		}
		if err := whole.Validate(v); (err == nil) != good {
			t.Errorf("%s: %v", message, err)
		}
	}
}

// TestModelHasEverything: every matcher and action that is parsed, every outcome, no null where
// there is none.
func TestModelHasEverything(t *testing.T) {
	for suffix, types := range map[string][]string{
		"Action": engine.ActionTypes(), "Matcher": slices.Sorted(maps.Keys(matchers.Schemas())),
		"Outcome": slices.Sorted(maps.Keys(matchers.Schemas())), "Explanation": slices.Sorted(maps.Keys(matchers.Schemas())),
	} {
		var u struct {
			OneOf []struct {
				Ref string `json:"$ref"`
			} `json:"oneOf"`
		}
		if err := json.Unmarshal(theModel.Defs[suffix], &u); err != nil || len(u.OneOf) != len(types) {
			t.Errorf("%s is one of %d, want %d (%v)", suffix, len(u.OneOf), len(types), err)
		}
		for _, name := range types {
			if theModel.Defs[camel(name)+suffix] == nil {
				t.Errorf("no %s%s", camel(name), suffix)
			}
		}
	}
	for name, def := range theModel.Defs {
		if strings.HasSuffix(name, "Params") && strings.Contains(string(def), `"null"`) && name != "SessionExitedParams" && name != "SessionLeasedParams" && name != "CancelRequestParams" {
			t.Errorf("%s has null: %s", name, def)
		}
	}
	if theModel.Protocol != 1 || len(theModel.Errors) < 60 || !theModel.Methods["session.wait"].Blocks || theModel.Methods["session.wait"].Queues != "session" {
		t.Errorf("protocol %d, %d errors, %+v", theModel.Protocol, len(theModel.Errors), theModel.Methods["session.wait"])
	}
}
