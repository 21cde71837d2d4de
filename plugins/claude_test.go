package plugins

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// claudeView is a view of a screen that shows text, as Claude Code leaves its terminal.
func claudeView(text, title string) *engine.View {
	rows := strings.Split(strings.Trim(text, "\n"), "\n")
	term := vt.New(max(24, len(rows)), 80, vt.Options{})
	term.Feed([]byte("\x1b[?2004h"))
	if title != "" {
		term.Feed([]byte("\x1b]0;" + title + "\a"))
	}
	term.Feed([]byte(strings.Join(rows, "\r\n")))
	now := time.Unix(1, 0)
	return &engine.View{Screen: term.Snapshot(), Sequence: 1, At: now, Changed: now}
}

// claudeEnd returns what a recording of Claude Code shows at its end.
func claudeEnd(t testing.TB, name string) *engine.View {
	t.Helper()
	tapes := tapesOf(t, "claude-code")
	i := slices.IndexFunc(tapes, func(tape *tape) bool { return tape.name == "claude-code/"+name })
	if i < 0 {
		t.Fatalf("no recording claude-code/%s", name)
	}
	var end *engine.View
	tapes[i].play(func(v *engine.View, last bool) {
		if last {
			end = v
		}
	})
	return end
}

// afresh makes a machine forget what it remembers, since loading the plugin anew takes its time,
// and returns the view as the first of a session.
func afresh(t testing.TB, m machine, v *engine.View) *engine.View {
	t.Helper()
	old := *claudeView("", "")
	old.Sequence = 2
	claudeState(t, m, &look{view: &old})
	first := *v
	first.Sequence = 1
	return &first
}

// TestClaudeExplain wants every recording explained: by the rule that decides without an
// explanation, too.
func TestClaudeExplain(t *testing.T) {
	m := classifier(t, "claude-code")
	for _, tape := range tapesOf(t, "claude-code") {
		tape.play(func(v *engine.View, last bool) {
			if !last && v.Sequence%7 != 0 { // a plugin that is asked to explain looks at all rules: each moment of all would take long
				return
			}
			plain, s := claudeState(t, m, &look{view: v}), claudeState(t, m, &look{view: v, explain: true})
			if s.Rule != plain.Rule || s.State != plain.State {
				t.Errorf("%s, sequence %d: explained as %s by %q, classified as %s by %q", tape.name, v.Sequence, s.State, s.Rule, plain.State, plain.Rule)
			}
			if last && (len(s.Rows) == 0 && s.Rule != "blank" && s.Rule != "none" || len(s.Sources) == 0) {
				t.Errorf("%s: %s by %q without rows (%v) or sources (%v)", tape.name, s.State, s.Rule, s.Rows, s.Sources)
			}
		})
	}
}

// TestClaudeDescribe holds what the plugin tells of itself against the words that clients know, and
// against what it exports.
func TestClaudeDescribe(t *testing.T) {
	m := classifier(t, "claude-code")
	d, err := describe(t.Context(), "claude-code", m)
	if err != nil {
		t.Fatal(err)
	}
	sorted := func(list string) []string {
		words := strings.Fields(list)
		slices.Sort(words)
		return words
	}
	have := func(list []map[string]any) []string {
		words := names(list)
		slices.Sort(words)
		return words
	}
	for _, c := range []struct{ got, want []string }{
		{have(d.Intents), sorted("send_prompt clear_input approve deny choose_option cancel force_cancel steer key approve_trust deny_trust dismiss_welcome expand model_effort_left model_effort_right slash_command attach_file")},
		{have(d.WaitMatchers), sorted("wait_turn_matcher wait_ready_matcher wait_cancel_settled_matcher wait_state_matcher")},
		{have(d.States), sorted("starting ready waiting_for_login waiting_for_trust waiting_for_model_select waiting_for_enter_plan_mode waiting_for_plan_approval waiting_for_permission waiting_for_external_editor usage_screen local_ui_screen waiting_for_user_input thinking cancelling completed_turn error unknown")},
		{slices.Sorted(slices.Values(slices.Concat([]string{"classify", "describe"}, names(d.Intents), names(d.WaitMatchers), names(d.Predicates)))), m.names()},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("described are %q, want %q", c.got, c.want)
		}
	}
	for _, e := range slices.Concat(d.Intents, d.States, d.WaitMatchers) {
		if e["description"] == nil || e["description"] == "" {
			t.Errorf("%s has no description", e["name"])
		}
	}
	for _, e := range d.Intents {
		schema, _ := e["params_schema"].(map[string]any)
		if _, ok := schema["properties"].(map[string]any); !ok || schema["type"] != "object" {
			t.Errorf("%s has the schema %v", e["name"], schema)
		}
	}
}
