package unknown

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestIn(t *testing.T) {
	known := []string{"session", "matcher", "timeout_ms", "since"}
	for params, want := range map[string]string{
		`{"session":"s1","matcher":{"type":"bell"},"timeout_ms":5}`: ``,
		`{"session":"s1","timeout":5,"sicne":3}`:                    `sicne is not a known member and was ignored: did you mean since?|timeout is not a known member and was ignored: did you mean timeout_ms?`,
		`{"zzz":1}`:                                                 `zzz is not a known member and was ignored`,
		`{"matcher":{"type":"any","value":[{"type":"bell"},{"type":"contains_text","vlaue":"x"}]}}`: `matcher.value[1].vlaue is not a known member and was ignored: did you mean value?`,
		`{"matcher":{"type":"not","value":{"type":"screen_stable","value":{"ms":3}}}}`:              `matcher.value.value.ms is not a known member and was ignored`,
		`{"matcher":{"type":"lua","value":{"plugin":"p","function":"f","params":{"x":1}}}}`:         ``,
		`{"matcher":{"type":"contains_text","value":"x","scope":"screen"},"since":"3"}`:             ``,
		`{"matcher":[1]}`: ``,
	} {
		var o map[string]any
		if err := json.Unmarshal([]byte(params), &o); err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, m := range In(o, known) {
			said = append(said, m.String())
		}
		if got := strings.Join(said, "|"); got != want {
			t.Errorf("%s: %s\nwant %s", params, got, want)
		}
	}
	action := map[string]any{"actions": []any{map[string]any{"type": "text", "value": "x"}, map[string]any{"type": "key", "value": map[string]any{"kye": "up"}, "delay": 3}}}
	if got := fmt.Sprint(In(action, nil)); !strings.Contains(got, "actions[1].delay ") || !strings.Contains(got, "actions[1].value.kye is not a known member and was ignored: did you mean key?") {
		t.Error(got)
	}
}

// FuzzIn: nothing that JSON can be breaks it, and little is said.
func FuzzIn(f *testing.F) {
	f.Add(`{"matcher":{"type":"any","value":[{"type":"not","value":{}}]},"action":{"value":{}},"actions":[1,{}]}`)
	f.Fuzz(func(t *testing.T, params string) {
		var o map[string]any
		if json.Unmarshal([]byte(params), &o) == nil && len(In(o, []string{"x"})) > most {
			t.Error("too much")
		}
	})
}
