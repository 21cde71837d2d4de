package plugins

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestStateIsPlainText: nothing that a plugin says moves the cursor of a terminal that prints it,
// whatever field it is in, its errors included.
func TestStateIsPlainText(t *testing.T) {
	const evil = `"a\27[31m\7b\226\128\174c\194\155d\re"`
	for name, source := range map[string]string{
		"state": `{state = E, confidence = 1, evidence = E .. "\n\tkept", source = E, rule = E, candidates = {{state = E, confidence = 1}},
			metadata = {[E] = {E, {x = E}}}, marks = {E}, sources = {{source = E, says = E}}, nearly = {{rule = E, state = E, lacks = E}},
			events = {{kind = "tool_started", id = E, name = E, input = {E}}, {kind = "text_delta", text = E}}}`,
		"error": `error(E)`,
		"table": `error({message = E, code = E})`,
		"shape": `{state = "x", [E] = 1}`,
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := hooked(t, "local E = "+evil+" return {classify = function(s) return "+source+" end}", func(*Catalog) {})
			if strings.HasPrefix(source, "error") {
				c, _ = hooked(t, "local E = "+evil+" return {classify = function(s) "+source+" end}", func(*Catalog) {})
			}
			a, err := c.Start(context.Background(), "test", StartOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close(context.Background())
			s := a.State()
			events, _, _ := a.Events(0)
			text, err := json.Marshal([]any{s, s.Rule, s.Nearly, s.Sources, events})
			if err != nil {
				t.Fatal(err)
			}
			var all any
			if err := json.Unmarshal(text, &all); err != nil {
				t.Fatal(err)
			}
			said := strings.Join(stringsOf(all), "")
			if name == "state" && !strings.Contains(said, "\n\tkept") {
				t.Error("line feeds and tabs of evidence are gone")
			}
			for _, r := range said {
				if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
					t.Fatalf("U+%04X is in %q", r, said)
				}
			}
		})
	}
}

// stringsOf returns every string in a value, keys included.
func stringsOf(value any) []string {
	var all []string
	switch x := value.(type) {
	case string:
		all = append(all, x)
	case []any:
		for _, e := range x {
			all = append(all, stringsOf(e)...)
		}
	case map[string]any:
		for k, e := range x {
			all = append(append(all, k), stringsOf(e)...)
		}
	}
	return slices.Clip(all)
}
