//go:build unix

package tools_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestAdapterSaysWhatAnIntentTakes: in its own example, in the list, and when something else was
// given.
func TestAdapterSaysWhatAnIntentTakes(t *testing.T) {
	t.Parallel()
	w := serve(t, false, nil)
	list := w.call("adapter", obj{"action": "list", "plugin": "claude-code"})
	intents := fmt.Sprint(list["plugins"].([]any)[0].(obj)["intents"])
	for _, want := range []string{"send_prompt(exact?, prompt)", "key(key)", "slash_command(command?, name?)", " cancel "} {
		if !strings.Contains(intents, want) {
			t.Errorf("no %s in %s", want, intents)
		}
	}
	for tool, err := range w.client.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if tool.Name == "adapter" && !strings.Contains(tool.Description, `"intent":"send_prompt","params":{"prompt":`) {
			t.Errorf("the example: %s", tool.Description)
		}
	}
	id := w.call("adapter", obj{"action": "start", "plugin": "claude-code", "program": "cat", "args": []string{}})["session"]
	for _, args := range []obj{
		{"action": "send", "session": id, "intent": "no_such", "params": obj{}},
		{"action": "send", "session": id, "intent": "send_prompt", "params": obj{"text": "x"}},
		{"action": "wait", "session": id, "intent": "no_such", "params": obj{}},
		{"action": "start", "plugin": "no-such"},
		{"action": "list", "plugin": "no-such"},
		{"action": "send", "session": "s99", "intent": "cancel"},
	} {
		r := w.try("adapter", args)
		s := text(r)
		if !r.IsError || strings.Contains(s, ".lua") || strings.Contains(s, "plugin.describe") || args["session"] != "s99" && !strings.Contains(s, `{"action":"list"`) {
			t.Errorf("%v: %s", args, s)
		}
	}
}
