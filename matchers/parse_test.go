package matchers

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func parseJSON(t *testing.T, text string) (Matcher, error) {
	t.Helper()
	var tree any
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	return Parse(tree, Options{})
}

func TestParseTakesEveryType(t *testing.T) {
	values := map[string]string{
		"contains_text": `"x"`, "screen_regex": `"x+"`, "transcript_contains": `"x"`, "transcript_regex": `"x+"`,
		"title_contains": `"x"`, "title_regex": `"x"`, "screen": `{"screen":"screen 1\nsize 1x1\n--\n|\n"}`, "cursor_at": `{"row":0,"col":0}`, "screen_stable": `{"min_ms":250}`,
		"process_exited": `null`, "bell": `null`, "any": `[{"type":"bell"}]`, "all": `[]`, "not": `{"type":"bell"}`, "command_finished": `{"exit_code":1}`,
		"located": `{"locator":"'x' in box","count":1}`,
	}
	for _, name := range Types(Options{}) {
		value, ok := values[name]
		if !ok {
			t.Errorf("%s is not tested", name)
			continue
		}
		if _, err := parseJSON(t, `{"type":"`+name+`","value":`+value+`}`); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseSaysWhatIsWrongAndWhere(t *testing.T) {
	for text, want := range map[string]string{
		`7`:                                   "matcher: expected an object",
		`{}`:                                  "matcher.type: expected a string, got nothing",
		`{"type":"nope"}`:                     `matcher.type: unknown matcher "nope"`,
		`{"type":"contains_text"}`:            "matcher.value: expected a string, got nothing",
		`{"type":"screen_regex","value":"("}`: "matcher.value: invalid regular expression: missing closing )",
		`{"type":"screen_regex","value":"a{1001}"}`:                                    "invalid repeat count",
		`{"type":"any","value":{}}`:                                                    "matcher.value: expected an array",
		`{"type":"any","value":[{"type":"bell"},{"type":"all","value":[{"type":1}]}]}`: "matcher.value[1].value[0].type: expected a string, got a number",
		`{"type":"cursor_at","value":{"row":-1,"col":0}}`:                              "matcher.value.row: expected a whole number from 0 to 65535, got -1",
		`{"type":"cursor_at","value":{"row":0}}`:                                       "matcher.value.col: expected a whole number",
		`{"type":"screen_stable","value":{"min_ms":1.5}}`:                              "matcher.value.min_ms: expected a whole number",
		`{"type":"screen_stable","value":{"min_ms":1e300}}`:                            "matcher.value.min_ms: expected a whole number",
		`{"type":"not"}`:                                                                            "matcher.value: expected an object",
		`{"type":"screen","value":"screen 1"}`:                                                      "matcher.value: expected an object with screen",
		`{"type":"screen","value":{}}`:                                                              "matcher.value.screen: expected the text of a golden screen, got nothing",
		`{"type":"screen","value":{"screen":"screen 1\nsize 0x1\n--\n"}}`:                           `matcher.value.screen: line 2: "0x1" is not a size`,
		`{"type":"screen","value":{"screen":"screen 1\nsize 1x1\n--\n|\n","masks":["N"]}}`:          `matcher.value.masks[0]: mask: "N" is not a name`,
		`{"type":"screen","value":{"screen":"screen 1\nsize 1x1\n--\n|\n","masks":"n /x/"}}`:        "matcher.value.masks: expected an array of masks, got a string",
		`{"type":"screen","value":{"screen":"screen 1\nsize 1x1\n--\n|\n","masks":[1]}}`:            "matcher.value.masks[0]: expected a string, got a number",
		`{"type":"screen","value":{"screen":"screen 1\nsize 1x1\n--\n|\n","region":"1"}}`:           `matcher.value.region: "1" is not a place`,
		`{"type":"screen","value":{"screen":"screen 1\nsize 1x1\n--\n|\n","region":7}}`:             "matcher.value.region: expected ROW,COLUMN ROWSxCOLUMNS, got a number",
		`{"type":"screen","value":{"screen":"screen 1\nsize 1x1\nmask n /(x?y?){1000}/\n--\n|\n"}}`: "matcher.value.screen: mask n: ",
		`{"type":"lua","value":{"plugin":"p","predicate":"f"}}`:                                     `matcher.value.plugin: unknown plugin "p"`,
		`{"type":"located","value":{"locator":{"type":"in","value":{"what":"'a"}}}}`:                "matcher.value.locator.value.what: locator, at byte 0: a quoted text is not closed",
		`{"type":"located","value":{"locator":"box","count":-1}}`:                                   "matcher.value.count: expected an integer from 0 to 1000, got -1",
	} {
		_, err := parseJSON(t, text)
		var e *ParseError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestParseBounds(t *testing.T) {
	nested := func(n int) string {
		return strings.Repeat(`{"type":"not","value":`, n-1) + `{"type":"bell"}` + strings.Repeat("}", n-1)
	}
	wide := func(n int) string {
		return `{"type":"any","value":[` + strings.Join(strings.Split(strings.Repeat(`{"type":"bell"} `, n-1), " ")[:n-1], ",") + `]}`
	}
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"depth":       {nested(MaxDepth), true},
		"depth + 1":   {nested(MaxDepth + 1), false},
		"nodes":       {wide(MaxNodes), true},
		"nodes + 1":   {wide(MaxNodes + 1), false},
		"pattern + 1": {`{"type":"screen_regex","value":"` + strings.Repeat("a", MaxPattern+1) + `"}`, false},
		"program":     {`{"type":"screen_regex","value":"a{900}b{900}"}`, true},
		"program + 1": {`{"type":"screen_regex","value":"(x?y?){1000}"}`, false},
		"programs":    {`{"type":"any","value":[{"type":"screen_regex","value":"a{900}"},{"type":"title_regex","value":"a{1000}"},{"type":"title_regex","value":"a{900}"}]}`, false},
		"masks":       {`{"type":"screen","value":{"screen":"screen 1\nsize 1x1\n--\n|\n","masks":["n /a{900}/","m /b{900}/"]}}`, true},
		"masks + 1":   {`{"type":"all","value":[{"type":"screen_regex","value":"a{900}"},{"type":"screen","value":{"screen":"screen 1\nsize 1x1\n--\n|\n","masks":["n /a{900}/","m /b{900}/"]}}]}`, false},
		"screens":     {`{"type":"any","value":[` + strings.TrimSuffix(strings.Repeat(`{"type":"screen","value":{"screen":"screen 1\nsize 1x1\n--\n|\n"}},`, 16), ",") + `]}`, true},
		"screens + 1": {`{"type":"any","value":[` + strings.TrimSuffix(strings.Repeat(`{"type":"screen","value":{"screen":"screen 1\nsize 1x1\n--\n|\n"}},`, 17), ",") + `]}`, false},
		"text + 1":    {`{"type":"contains_text","value":"` + strings.Repeat("a", MaxText+1) + `"}`, false},
	} {
		if _, err := parseJSON(t, c.text); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"type":"all","value":[{"type":"contains_text","value":"rea"},{"type":"not","value":{"type":"bell"}}]}`)
	f.Add(`{"type":"screen_regex","value":"[[:^alpha:]\\p{Greek}]{2,}$"}`)
	f.Add(`{"type":"screen","value":{"screen":"screen 1\nsize 1x4\n--\n|ab\n~r\n--\nr fg=red\n","masks":["n /x/ to end"],"region":"0,0 1x2"}}`)
	f.Add(`{"type":"lua","value":{"plugin":"p","predicate":"f","params":{"a":[1]}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var tree any
		if json.Unmarshal([]byte(text), &tree) != nil {
			return
		}
		m, err := Parse(tree, Options{})
		if (m == nil) == (err == nil) {
			t.Fatalf("matcher %v and error %v", m, err)
		}
		if err != nil && (!utf8.ValidString(err.Error()) || len(err.Error()) > 4096) {
			t.Errorf("an error of %d bytes: %.100q", len(err.Error()), err)
		}
	})
}
