package terminalmcp

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDecode(t *testing.T) {
	fields := []field{
		{name: "s", kind: kindString, required: true}, {name: "e", kind: kindString, enum: []string{"a", "b"}, def: "a"},
		{name: "b", kind: kindBoolean, def: false}, {name: "n", kind: kindNumber}, {name: "c", kind: kindCount},
	}
	for text, want := range map[string]arguments{
		`{"s":"x"}`: {"s": "x", "e": "a", "b": false},
		` {"s":"","e":"b","b":true,"n":-0.5,"c":3,"other":1}`: {"s": "", "e": "b", "b": true, "n": -0.5, "c": 3.0},
		`{"s":"first","s":"last"}`:                            {"s": "last", "e": "a", "b": false},
		`{"s":"\ud83d\ude00\ud800"}`:                          {"s": "😀\ufffd", "e": "a", "b": false},
		`{"s":"x","n":1e999,"c":1e2}`:                         {"s": "x", "e": "a", "b": false, "n": math.Inf(1), "c": 100.0},
	} {
		if got, err := decode(json.RawMessage(text), fields, false); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, %v; want %v", text, got, err, want)
		}
	}
	for text, issues := range map[string]int{`{}`: 1, `{"s":1,"e":"c","b":0,"n":"","c":[]}`: 5, `{"s":"","c":-0.5}`: 2, `{"s":"","c":1e999}`: 1, `[]`: 1, `"x"`: 1, `null`: 1, ``: 1} {
		_, err := decode(json.RawMessage(text), fields, false)
		var wrong *argumentError
		if !errors.As(err, &wrong) || len(wrong.issues) != issues {
			t.Errorf("%s: %v, want %d issues", text, err, issues)
		}
	}
	for _, text := range []string{``, ` null `} {
		if got, err := decode(json.RawMessage(text), nil, true); err != nil || len(got) != 0 {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// FuzzArguments: whatever a client sends to whatever tool, it is taken with the types that the
// tool's code counts on, or refused with a list of issues that is JSON.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{
		``, `null`, `{}`, `[]`, `{"text":"x","sessionId":""}`, `{"text":5}`, `{"key":null}`, `{"cols":1e300,"rows":-1}`, `{"cols":1.5}`, `{"format":"png"}`,
		`{"format":{}}`, `{"maxDuration":1e999,"idleTimeLimit":-0}`, `{"recordingId":"\ud800"}`, `{"text":"a","text":1}`, `{"mode":"on-failure","outputDir":""}`, `{`,
		"{\"text\":\"\xff\"}",
	} {
		for i := range tools {
			f.Add(uint8(i), s)
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, text string) {
		tool := &tools[int(n)%len(tools)]
		got, err := decode(json.RawMessage(text), tool.fields, tool.optional)
		if err != nil {
			var wrong *argumentError
			if !errors.As(err, &wrong) {
				if !errors.Is(err, errNotJSON) || json.Valid([]byte(text)) {
					t.Fatalf("%s %q: %v", tool.name, text, err)
				}
				return
			}
			var issues []map[string]any
			if json.Unmarshal([]byte(err.Error()), &issues) != nil || len(issues) == 0 {
				t.Fatalf("%s %q: %v", tool.name, text, err)
			}
			for _, i := range issues {
				if i["message"] == "" || i["path"] == nil || i["code"] == nil {
					t.Fatalf("%s %q: %v", tool.name, text, i)
				}
			}
			return
		}
		for name, v := range got {
			var want string
			for _, f := range tool.fields {
				if f.name == name {
					want = f.kind
				}
			}
			switch v := v.(type) {
			case string:
				if want != kindString || !utf8.ValidString(v) {
					t.Fatalf("%s %q: %s is %q", tool.name, text, name, v)
				}
			case bool:
				if want != kindBoolean {
					t.Fatalf("%s %q: %s is %v", tool.name, text, name, v)
				}
			case float64:
				if want != kindNumber && !(want == kindCount && v >= 1 && v == math.Trunc(v) && !math.IsInf(v, 0)) {
					t.Fatalf("%s %q: %s is %v", tool.name, text, name, v)
				}
			default:
				t.Fatalf("%s %q: %s is %v", tool.name, text, name, v)
			}
		}
		for _, f := range tool.fields {
			if _, ok := got[f.name]; f.required && !ok {
				t.Fatalf("%s %q: %s is missing", tool.name, text, f.name)
			}
		}
	})
}

func TestUnits(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "héé": 3, "😀": 2, "日本": 2, "e\u0301": 2} {
		if got := units(s); got != want {
			t.Errorf("%q has %d, want %d", s, got, want)
		}
	}
}

func TestAutoStop(t *testing.T) {
	for want, l := range map[string]Limits{
		"Recording will auto-stop after 60 minutes or 10 minutes of inactivity": DefaultLimits,
		"Recording will auto-stop after 1 minute":                               {Duration: 119},
		"Recording will auto-stop after 0 minutes or 1 minute of inactivity":    {Duration: 0.2, Inactivity: 60},
		"Recording will auto-stop after 2 minutes of inactivity":                {Duration: -1, Inactivity: 120},
		"": {Idle: 2},
	} {
		if got := autoStop(l); got != want {
			t.Errorf("%+v: %q, want %q", l, got, want)
		}
	}
}

// TestSchemas: what clients are told is an object's schema, and what client mode tells names no
// session.
func TestSchemas(t *testing.T) {
	for _, all := range [][]Tool{Tools(), ClientTools()} {
		for _, x := range all {
			var s struct {
				Type       string
				Properties map[string]map[string]any
			}
			if err := json.Unmarshal(x.Schema, &s); err != nil || s.Type != "object" || x.Description == "" {
				t.Errorf("%s: %v: %s", x.Name, err, x.Schema)
			}
			for name, p := range s.Properties {
				if p["type"] == nil || p["description"] == "" {
					t.Errorf("%s: %s is %v", x.Name, name, p)
				}
			}
		}
	}
	for _, x := range ClientTools() {
		if strings.Contains(string(x.Schema), "sessionId") {
			t.Errorf("%s: %s", x.Name, x.Schema)
		}
	}
	if n, c := len(Tools()), len(ClientTools()); n != 10 || c != 6 {
		t.Errorf("%d and %d tools", n, c)
	}
}
