package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// A doing is what an intent does, in short: keys and texts, and what is waited for in between.
func doing(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	type tree struct {
		Type  string
		Value json.RawMessage
	}
	var plan struct {
		Actions    []tree
		LastIntent *string `json:"last_intent"`
		Submission *struct {
			Echo, Done, RetryWhen *tree
			Submit                []tree
			Retries               int
		}
	}
	text = bytes.ReplaceAll(text, []byte(`"retry_when"`), []byte(`"retryWhen"`))
	text = bytes.ReplaceAll(text, []byte(`"actions":{}`), []byte(`"actions":[]`)) // an empty table is either
	if err := json.Unmarshal(text, &plan); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var show func(x *tree) string
	show = func(x *tree) string {
		switch {
		case x == nil:
			return "-"
		case x.Type == "lua":
			var p struct {
				Predicate string
				Params    map[string]any
			}
			if err := json.Unmarshal(x.Value, &p); err != nil {
				t.Fatal(err)
			}
			s := p.Predicate
			for _, k := range []string{"index", "label", "words", "state", "still_ms"} {
				if v, ok := p.Params[k]; ok {
					s += fmt.Sprintf(" %v", v)
				}
			}
			if p.Params["dialog_id"] != nil {
				s += " #"
			}
			if p.Params["above"] != nil {
				s += " above"
			}
			return s
		case x.Type == "any":
			var parts []tree
			if err := json.Unmarshal(x.Value, &parts); err != nil {
				t.Fatal(err)
			}
			var s []string
			for i := range parts {
				s = append(s, show(&parts[i]))
			}
			return strings.Join(s, " or ")
		}
		return strings.Trim(x.Type+" "+string(x.Value), " ")
	}
	var b strings.Builder
	for i := range plan.Actions {
		fmt.Fprintf(&b, "%s\n", show(&plan.Actions[i]))
	}
	if s := plan.Submission; s != nil {
		fmt.Fprintf(&b, "echo: %s\n", show(s.Echo))
		for i := range s.Submit {
			fmt.Fprintf(&b, "submit: %s\n", show(&s.Submit[i]))
		}
		fmt.Fprintf(&b, "done: %s\nretry %d when: %s\n", show(s.Done), s.Retries, show(s.RetryWhen))
	}
	return b.String()
}

// TestOtherIntents compares what the intents do on screens, or the code with which they refuse,
// with testdata/others-intents.golden. Run it with UPDATE=1 to write the file anew, and read the
// difference.
func TestOtherIntents(t *testing.T) {
	intents := []struct {
		intent string
		params map[string]any
	}{
		{"approve", nil},
		{"deny", nil},
		{"approve_trust", nil},
		{"cancel", nil},
		{"send_prompt", map[string]any{"prompt": "explain\nthe build"}},
		{"choose_option", map[string]any{"index": int64(2)}},
	}
	screens := []string{
		"codex/permission-shell-24x80", "codex/permission-third-24x80", "codex/permission-escalate-24x80", "codex/trust-24x80", "codex/trust-second-40x120",
		"codex/login-second-24x80", "codex/question-second-24x80", "codex/model-24x80", "codex/working-24x80", "codex/retrying-24x80", "codex/ready-24x80",
		"codex/typed-24x80", "codex/completed-24x80", "codex/error-24x80", "codex/prose-24x80", "codex/shell-mode-24x80", "codex/permissions-24x80",
		"gemini-cli/trust-24x80", "gemini-cli/trust-third-24x80", "gemini-cli/permission-shell-24x80", "gemini-cli/permission-edit-second-24x80",
		"gemini-cli/permission-fetch-24x80", "gemini-cli/question-24x80", "gemini-cli/login-24x80", "gemini-cli/working-24x80", "gemini-cli/ready-24x80",
		"gemini-cli/typed-24x80", "gemini-cli/completed-24x80", "gemini-cli/error-24x80", "gemini-cli/prose-24x80", "gemini-cli/shell-mode-24x80", "gemini-cli/ui-model-24x80",
		"opencode/permission-bash-24x80", "opencode/permission-edit-second-24x80", "opencode/permission-reject-hl-24x80", "opencode/always-confirm-24x80",
		"opencode/permission-outside-40x120", "opencode/question-24x80", "opencode/working-typed-24x80", "opencode/ready-24x80", "opencode/typed-24x80",
		"opencode/completed-24x80", "opencode/error-24x80", "opencode/prose-24x80", "opencode/shell-24x80", "opencode/ui-models-24x80",
	}
	var b strings.Builder
	for _, full := range screens {
		s, ok := shots(t)[full]
		if !ok {
			t.Fatalf("no screen %s", full)
		}
		m := classifier(t, s.agent)
		for _, i := range intents {
			params := i.params
			if params == nil {
				params = map[string]any{}
			}
			fmt.Fprintf(&b, "== %s: %s\n", full, i.intent)
			value, err := m.call(context.Background(), i.intent, patience, &look{view: s.view()}, params)
			var refused *PluginError
			switch {
			case errors.As(err, &refused) && refused.Code != "":
				fmt.Fprintf(&b, "refused: %s\n", refused.Code)
			case err != nil:
				t.Errorf("%s, %s: %v", full, i.intent, err)
			default:
				b.WriteString(doing(t, value))
			}
		}
	}
	const golden = "testdata/others-intents.golden"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		got, want := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
		for i := range got {
			if i >= len(want) || got[i] != want[i] {
				t.Fatalf("line %d of %s differs: got\n%s\nwant\n%s", i+1, golden, strings.Join(got[i:min(i+6, len(got))], "\n"), strings.Join(want[min(i, len(want)):min(i+6, len(want))], "\n"))
			}
		}
		t.Fatalf("%s has %d lines, got %d", golden, len(want), len(got))
	}
}

// TestOtherStaleDialog: who answers with the id of another dialog answers none.
func TestOtherStaleDialog(t *testing.T) {
	for _, full := range []string{"codex/permission-shell-24x80", "gemini-cli/permission-shell-24x80", "opencode/permission-bash-24x80"} {
		s := shots(t)[full]
		m := classifier(t, s.agent)
		state, err := judge(m, s.agent, &look{view: s.view()})
		if err != nil {
			t.Fatal(err)
		}
		id := state.Metadata["dialog_id"]
		for _, intent := range []string{"approve", "deny", "choose_option"} {
			for given, refused := range map[any]bool{id: false, "00000000": true} {
				_, err := m.call(context.Background(), intent, patience, &look{view: s.view()}, map[string]any{"dialog_id": given, "index": int64(1)})
				var p *PluginError
				if errors.As(err, &p) != refused || refused && p.Code != "stale_dialog" {
					t.Errorf("%s, %s with id %v: %v", full, intent, given, err)
				}
			}
		}
	}
}

// TestOtherDialogID: the id of a dialog stays while its pointer moves, and differs for another
// question.
func TestOtherDialogID(t *testing.T) {
	id := func(full string) any {
		s, ok := shots(t)[full]
		if !ok {
			t.Fatalf("no screen %s", full)
		}
		state, err := judge(classifier(t, s.agent), s.agent, &look{view: s.view()})
		if err != nil {
			t.Fatal(err)
		}
		return state.Metadata["dialog_id"]
	}
	for _, same := range [][2]string{
		{"codex/permission-escalate-24x80", "codex/permission-second-24x80"}, {"codex/trust-24x80", "codex/trust-second-24x80"}, {"codex/question-plan-24x80", "codex/question-second-24x80"},
		{"gemini-cli/trust-24x80", "gemini-cli/trust-third-24x80"}, {"gemini-cli/permission-edit-24x80", "gemini-cli/permission-edit-second-24x80"},
		{"opencode/permission-edit-24x80", "opencode/permission-edit-second-24x80"}, {"opencode/permission-edit-24x80", "opencode/permission-reject-hl-24x80"},
	} {
		if a, b := id(same[0]), id(same[1]); a == nil || a != b {
			t.Errorf("%s has id %v, %s has %v", same[0], a, same[1], b)
		}
	}
	for _, other := range [][2]string{
		{"codex/permission-shell-24x80", "codex/permission-escalate-24x80"}, {"gemini-cli/permission-shell-24x80", "gemini-cli/permission-sleep-24x80"},
		{"opencode/permission-bash-24x80", "opencode/permission-sleep-24x80"}, {"opencode/permission-edit-24x80", "opencode/always-confirm-24x80"},
	} {
		if a, b := id(other[0]), id(other[1]); a == b {
			t.Errorf("%s and %s have the same id %v", other[0], other[1], a)
		}
	}
}

// TestOtherDescriptions: what describe tells is what there is.
func TestOtherDescriptions(t *testing.T) {
	for _, agent := range others {
		m := classifier(t, agent)
		d, err := describe(t.Context(), agent, m)
		if err != nil {
			t.Fatal(err)
		}
		told := []string{"classify", "describe"}
		for _, list := range [][]map[string]any{d.Intents, d.WaitMatchers, d.Predicates} {
			for _, e := range list {
				told = append(told, e["name"].(string))
			}
		}
		slices.Sort(told)
		if !slices.Equal(told, m.names()) {
			t.Errorf("%s describes %v and exports %v", agent, told, m.names())
		}
		var states []string
		for _, s := range d.States {
			states = append(states, s["name"].(string))
		}
		for full, s := range shots(t) {
			if s.agent == agent && !slices.Contains(states, s.state) {
				t.Errorf("%s can be in state %s, as %s shows, and does not describe it", agent, s.state, full)
			}
		}
	}
}
