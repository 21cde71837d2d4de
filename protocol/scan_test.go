package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestJSON is a table in the manner of the JSON test suites: y is JSON, n is not. Where RFC 8259
// leaves a choice, the decision of this package stands here.
func TestJSON(t *testing.T) {
	yes := []string{
		`null`, `true`, `false`, `0`, `-0`, `1`, `-1`, `10`, `0.5`, `-0.5`, `1e5`, `1E5`, `1e+5`, `1e-5`, `0e0`, `1.5e300`, `1e400`,
		`123456789012345678901234567890`, `""`, `"a"`, `"\""`, `"\\"`, `"\/"`, `"\b\f\n\r\t"`, `"\u0000"`, `"\u00e9"`, `"\uD834\udd1e"`,
		`"é"`, `"日本"`, `"𝄞"`, "\"\u2028\u2029\"", "\"\u007f\u0085\"", "\"\ufeff\"", `"\ud800"`, `"\udc00\ud800"`, "\"\U0010ffff\"",
		`[]`, `[ ]`, `[1]`, `[1,2]`, `[ 1 , 2 ]`, `[[]]`, `[null,true,"x",{}]`, `{}`, `{ }`, `{"a":1}`, `{"":0}`, `{"a":{"b":[]}}`,
		"\t{\r\n\"a\" : 1 }\n", ` 1 `, `{"a":1,"a":2}`, `{"\u0061":1}`, `["` + strings.Repeat("x", 100_000) + `"]`,
		strings.Repeat("[", 512) + strings.Repeat("]", 512), strings.Repeat(`{"a":`, 511) + "[]" + strings.Repeat("}", 511),
	}
	no := []string{
		``, ` `, `nul`, `nulll`, `True`, `TRUE`, `undefined`, `NaN`, `Infinity`, `-Infinity`, `-`, `+1`, `01`, `-01`, `00`, `1.`, `.5`, `1.e5`, `1e`, `1e+`,
		`0x10`, `1_000`, `1 2`, `1,`, `--1`, `1e5.5`, "１", `"`, `"a`, `a"`, `'a'`, "\"\t\"", "\"\n\"", "\"\x00\"", "\"\x1f\"", `"\`, `"\"`, `"\x41"`, `"\a"`, `"\u12"`,
		`"\u12g4"`, `"\U0041"`, "\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xe9\"", "\ufeff1", "\ufeff{}",
		`[`, `]`, `[1`, `[1,`, `[1,]`, `[,1]`, `[1,,2]`, `[1 2]`, `[1}`, `[1]]`, `[1]x`, `{`, `}`, `{]`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{"a" 1}`,
		`{"a"::1}`, `{a:1}`, `{'a':1}`, `{1:1}`, `{null:1}`, `{"a":1 "b":2}`, `{"a":1}}`, `{"a":1}{}`, `{}[]`, `// x` + "\n1", `1 // x`, `/* x */1`, `#1`, "\v1", "\f1", "\u00a01", "1\x00",
		`[1]` + "\x00", `$`, `<a/>`, `hello`, `["a",` + "\n", `[` + "\x1b[c" + `]`,
		strings.Repeat("[", 513) + strings.Repeat("]", 513), strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 100_000),
	}
	for _, text := range yes {
		if _, _, err := parse([]byte(text), 1<<30); isParse(err) {
			t.Errorf("%.60q: %v", text, err)
		}
	}
	for _, text := range no {
		if _, _, err := parse([]byte(text), 1<<30); !isParse(err) {
			t.Errorf("%.60q is no JSON, and parse says %v", text, err)
		}
	}
}

func isParse(err error) bool {
	var e *ParseError
	return errors.As(err, &e)
}

func TestEnvelope(t *testing.T) {
	for _, tt := range []struct{ text, id, method, params, fault string }{
		{`{"jsonrpc":"2.0","id":1,"method":"m"}`, `1`, "m", `{}`, ""},
		{`{"jsonrpc":"2.0","method":"m","params":[1]}`, ``, "m", `[1]`, ""},
		{`{"jsonrpc":"\u0032.0","i\u0064":"\u0031","method":"\u006d","params":null}`, `"\u0031"`, "m", `{}`, ""},
		{`{"jsonrpc":"2.0","id":null,"method":""}`, `null`, "", `{}`, ""},
		{`{"jsonrpc":"2.0","id":1e400,"method":"m","params":{"a":1},"x":1,"METHOD":2}`, `1e400`, "m", `{"a":1}`, ""},
		{`{"jsonrpc":"2.0","id":{},"method":"m"}`, `null`, "", ``, "id"},
		{`{"jsonrpc":"2.0","id":true,"method":"m"}`, `null`, "", ``, "id"},
		{`{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}`, `null`, "", ``, "twice"},
		{`{"jsonrpc":"2.0","id":1,"method":"m","m\u0065thod":"m"}`, `1`, "", ``, "twice"},
		{`{"jsonrpc":"2.0","id":1,"method":"m","x":1,"\u0078":1}`, `1`, "", ``, "twice"},
		{`{"jsonrpc":"2.0","id":1,"method":"m","params":1}`, `1`, "", ``, "params"},
		{`{"jsonrpc":"2.0","id":1,"method":1}`, `1`, "", ``, "method"},
		{`{"jsonrpc":"2.0","id":1}`, `1`, "", ``, "method"},
		{`{"jsonrpc":2.0,"id":1,"method":"m"}`, `1`, "", ``, "jsonrpc"},
		{`{"id":1,"method":"m"}`, `1`, "", ``, "jsonrpc"},
		{`{"method":"m"}`, `null`, "", ``, "jsonrpc"},
		{`{}`, `null`, "", ``, "jsonrpc"},
		{`7`, `null`, "", ``, "object"},
		{`{"jsonrpc":"2.0","id":1,"method":"m"` + members(1021) + `}`, `1`, "m", `{}`, ""},
		{`{"jsonrpc":"2.0","id":1,"method":"m"` + members(1022) + `}`, `1`, "", ``, "members"},
	} {
		e, _, err := parse([]byte(tt.text), 10)
		if err != nil {
			t.Errorf("%.80s: %v", tt.text, err)
			continue
		}
		if string(e.id) != tt.id || e.method != tt.method || string(e.params) != tt.params && tt.fault == "" {
			t.Errorf("%.80s: id %s method %q params %s", tt.text, e.id, e.method, e.params)
		}
		if (e.err != nil) != (tt.fault != "") || e.err != nil && !strings.Contains(e.err.Error(), tt.fault) {
			t.Errorf("%.80s: %v, want %q", tt.text, e.err, tt.fault)
		}
	}
	for _, text := range []string{`{"jsonrpc":"2.0","id":1,"result":1}`, `{"error":{}}`, `{"id":{},"result":null,"result":1}`} {
		if e, _, err := parse([]byte(text), 10); err != nil || !e.reply {
			t.Errorf("%s is a reply: %v, %v", text, e, err)
		}
	}
}

func members(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"x` + strings.Repeat("y", i%7) + string(rune('a'+i%26)) + string(rune(0x100+i)) + `":0`)
	}
	return b.String()
}

func TestKeyMember(t *testing.T) {
	key := KeyMember("session")
	for params, want := range map[string]string{
		`{"session":"s1"}`: "s1",
		`{"a":{"session":"no"},"s\u0065ssion":"s\u0031"}`: "s1",
		`{"session":1}`:      "",
		`{}`:                 "",
		`[{"session":"s1"}]`: "",
	} {
		if got := key(json.RawMessage(params)); got != want {
			t.Errorf("%s: %q", params, got)
		}
	}
}

// FuzzParse holds the scanner against encoding/json, which takes more: invalid UTF-8, and any
// depth.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,2.5e3,"\u00e9"]}}`, `[{},null,"\ud800"]`, `[1,]`, `{"id":"a` + "\xff" + `"}`,
		strings.Repeat("[", 600), `{"m\u0065thod":1,"method":2}`, "\ufeff{}", `-0.0e-0`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e, entries, err := parse(bytes.Clone(text), 1<<30)
		depth := bytes.Count(text, []byte("[")) + bytes.Count(text, []byte("{"))
		valid := json.Valid(text) && utf8.Valid(text)
		if isParse(err) == valid && depth <= maxDepth {
			t.Fatalf("parse says %v, valid %t: %q", err, valid, text)
		}
		if isParse(err) && bytes.ContainsFunc([]byte(err.Error()), func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("message %q", err)
		}
		if err != nil {
			return
		}
		if entries != nil {
			for _, entry := range entries {
				if !json.Valid(entry) {
					t.Fatalf("entry %q of %q", entry, text)
				}
			}
			return
		}
		if e.reply || e.err != nil {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("a request that encoding/json does not read as an object: %v: %q", err, text)
		}
		var method string
		json.Unmarshal(want["method"], &method)
		id, hasID := want["id"]
		if e.method != method || hasID != (e.id != nil) || hasID && !bytes.Equal(e.id, id) {
			t.Fatalf("method %q id %s, encoding/json has %q and %s: %q", e.method, e.id, method, id, text)
		}
		if p := want["params"]; p != nil && string(p) != "null" && !bytes.Equal(p, e.params) {
			t.Fatalf("params %q, encoding/json has %q", e.params, p)
		}
	})
}

// FuzzErrorText looks for any input that gets an unprintable character, or too much, into a
// message.
func FuzzErrorText(f *testing.F) {
	f.Add("m\x1b[31m", "\u202e\xff")
	f.Fuzz(func(t *testing.T, name, value string) {
		for _, err := range []error{
			&MethodError{Name: name},
			&ParamError{Path: name, Expected: "a string", Got: Got(value)},
			errors.New(name + value),
		} {
			e := Standard(err)
			if e == nil {
				e = Internal(err)
			}
			b, _ := appendError(nil, nullID, e)
			var reply struct{ Error struct{ Message string } }
			if err := json.Unmarshal(b, &reply); err != nil || !utf8.Valid(b) {
				t.Fatalf("%v: %q", err, b)
			}
			text := reply.Error.Message
			if len(text) > maxMessage {
				t.Fatalf("%d bytes: %q", len(text), text)
			}
			for _, r := range text {
				if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r == 0x2028 {
					t.Fatalf("%U in %q", r, text)
				}
			}
		}
	})
}
