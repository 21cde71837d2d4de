package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
)

// planText writes what an intent returned in one line a step, matchers by their predicate.
func planText(t testing.TB, value any) string {
	t.Helper()
	var b strings.Builder
	m, ok := value.(map[string]any)
	if !ok {
		t.Fatalf("the intent returned %T", value)
	}
	steps := func(value any) {
		list, _ := value.([]any)
		for _, e := range list {
			s := e.(map[string]any)
			if s["type"] == "expect" {
				fmt.Fprintf(&b, "expect %s\n", matcherText(s["value"].(map[string]any)["matcher"]))
				continue
			}
			v, _ := json.Marshal(s["value"])
			fmt.Fprintf(&b, "%s %s\n", s["type"], strings.Trim(string(v), `"`))
		}
	}
	steps(m["actions"])
	if s, ok := m["submission"].(map[string]any); ok {
		if s["echo"] != nil {
			fmt.Fprintf(&b, "echo %s\n", matcherText(s["echo"]))
		}
		steps(s["submit"])
		fmt.Fprintf(&b, "done %s\n", matcherText(s["done"]))
		if s["retry_when"] != nil {
			fmt.Fprintf(&b, "again %v when %s\n", s["retries"], matcherText(s["retry_when"]))
		}
	}
	if l, ok := m["last_intent"]; ok {
		fmt.Fprintf(&b, "last_intent %q\n", l)
	}
	return b.String()
}

func matcherText(value any) string {
	m := value.(map[string]any)
	if list, ok := m["value"].([]any); ok {
		var parts []string
		for _, e := range list {
			parts = append(parts, matcherText(e))
		}
		return fmt.Sprintf("%s(%s)", m["type"], strings.Join(parts, ", "))
	}
	v, _ := m["value"].(map[string]any)
	switch m["type"] {
	case "lua":
	case "not":
		return fmt.Sprintf("not(%s)", matcherText(v))
	default:
		return fmt.Sprint(m["type"])
	}
	params, _ := v["params"].(map[string]any)
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(params)) {
		parts = append(parts, fmt.Sprintf("%s=%v", k, params[k]))
	}
	return fmt.Sprintf("%s(%s)", v["predicate"], strings.Join(parts, " "))
}

// intent calls an intent on a view, as the first thing that happens to an adapter.
func intent(t testing.TB, m machine, v *engine.View, name string, params map[string]any) (string, error) {
	t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	value, err := m.call(context.Background(), name, patient, &look{view: afresh(t, m, v)}, params)
	if err != nil {
		return "", err
	}
	return planText(t, value), nil
}

// refusal returns the code that an intent refused with, "" when it did not refuse.
func refusal(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var p *PluginError
	if !errors.As(err, &p) || p.fatal {
		t.Fatalf("not a refusal: %v", err)
	}
	if p.Code == "" {
		t.Fatalf("a defect, not a refusal: %v", err)
	}
	return p.Code
}

const goneOrEnded = "done any(dialog_gone(), process_exited)\n"

// TestClaudeAnswers holds the intents against the dialogs of three versions: where the options
// stand otherwise, have other numbers or none, and another one is preselected, the same intent
// moves the pointer to the same answer.
func TestClaudeAnswers(t *testing.T) {
	const answered = "last_intent \"dialog_answered\"\n"
	stay := func(still int, index int, label string) string {
		anew, then := "", "still_ms=0"
		if still == 400 {
			anew, then = "anew=true ", "still_ms=400"
		}
		there := fmt.Sprintf("%sindex=%d label=%s %s)", anew, index, label, then)
		return fmt.Sprintf("expect dialog_stands(%sstill_ms=%d)\necho pointer_on(%s\nkey enter\n%sagain 2 when pointer_on(again=true %s\n%s", anew, still, there, goneOrEnded, there, answered)
	}
	move := func(plan, key string, to ...int) string {
		first, rest, _ := strings.Cut(plan, "\n")
		var b strings.Builder
		b.WriteString(first + "\n")
		for _, i := range to {
			fmt.Fprintf(&b, "key %s\nexpect pointer_on(index=%d)\n", key, i)
		}
		return b.String() + rest
	}
	m := classifier(t, "claude-code")
	escape := "echo dialog_stands(still_ms=250)\nkey escape\n" + goneOrEnded + "again 1 when dialog_stands(again=true)\n" + answered
	for _, c := range []struct {
		screen, intent string
		params         map[string]any
		want           string
	}{
		{"2.0.60-trust-24x80", "approve_trust", nil, stay(400, 1, "Yes, proceed")},
		{"2.1.197-trust-24x80", "approve_trust", nil, stay(400, 1, "Yes, I trust this folder")},
		{"trust-24x80", "approve_trust", nil, move(stay(400, 2, "Yes, I trust this folder"), "down", 2)},
		{"trust-40x120", "approve_trust", nil, move(stay(400, 2, "Yes, I trust this folder"), "down", 2)},
		{"trust-yes-highlighted-24x80", "approve_trust", nil, stay(400, 2, "Yes, I trust this folder")},
		{"firstrun-trust-24x80", "approve_trust", nil, move(stay(400, 2, "Yes, I trust this folder"), "down", 2)},
		{"2.0.60-trust-24x80", "deny_trust", nil, move(stay(400, 2, "No, exit"), "down", 2)},
		{"trust-24x80", "deny_trust", nil, stay(400, 1, "No, exit")},
		{"trust-yes-highlighted-24x80", "deny_trust", nil, move(stay(400, 1, "No, exit"), "up", 1)},

		{"2.1.197-apikey-confirm-24x80", "approve", nil, move(stay(250, 1, "Yes"), "up", 1)},
		{"firstrun-key-after-theme-24x80", "approve", nil, move(stay(250, 1, "Yes"), "up", 1)},
		{"firstrun-key-after-theme-24x80", "choose_option", map[string]any{"option": "yes"}, move(stay(250, 1, "Yes"), "up", 1)},
		{"firstrun-key-after-theme-24x80", "deny", nil, stay(250, 2, "No (recommended)")},
		{"firstrun-login-24x80", "choose_option", map[string]any{"option": "Console"}, move(stay(250, 2, "Anthropic Console account · API usage billing"), "down", 2)},

		{"2.0.60-permission-edit-40x120", "approve", nil, stay(250, 1, "Yes")},
		{"2.1.197-permission-edit-24x80", "approve", nil, stay(250, 1, "Yes")},
		{"permission-edit-24x80", "approve", nil, stay(250, 1, "Yes")},
		{"permission-webfetch-40x120", "approve", nil, stay(250, 1, "Yes")},
		{"permission-bash-second-24x80", "approve", nil, move(stay(250, 1, "Yes"), "up", 1)},
		{"permission-write-second-24x80", "approve", nil, move(stay(250, 1, "Yes"), "up", 1)},
		{"resized-dialog-24x80", "approve", nil, stay(250, 1, "Yes")},
		{"2.0.60-permission-edit-40x120", "deny", nil, escape},
		{"2.1.197-permission-edit-40x120", "deny", nil, escape},
		{"permission-edit-40x120", "deny", nil, escape},
		{"permission-edit-24x80", "choose_option", map[string]any{"option": "No"}, move(stay(250, 3, "No"), "down", 2, 3)},
		{"permission-bash-second-24x80", "choose_option", map[string]any{"index": 4}, move(stay(250, 4, "No"), "down", 3, 4)},
		{"permission-bash-second-24x80", "choose_option", map[string]any{"option": "3"}, move(stay(250, 3, "Yes, and switch to auto mode · auto mode handles these prompts for you"), "down", 3)},
		{"permission-bash-second-40x120", "choose_option", map[string]any{"choice": "don't ask again"}, stay(250, 2, "Yes, and don't ask again for rm -rf build, mkdir build, and echo clean commands in /tmp/demo")},

		// An approved plan still asks before each edit: the option that is preselected would not.
		{"2.0.60-plan-approval-40x120", "approve", nil, move(stay(250, 2, "Yes, and manually approve edits"), "down", 2)},
		{"2.1.197-plan-approval-24x80", "approve", nil, move(stay(250, 2, "Yes, manually approve edits"), "down", 2)},
		{"plan-approval-40x120", "approve", nil, move(stay(250, 2, "Yes, manually approve edits"), "down", 2)},
		{"plan-approval-second-24x80", "approve", nil, stay(250, 2, "Yes, manually approve edits")},
		{"plan-approval-second-24x80", "choose_option", map[string]any{"option": "auto mode"}, move(stay(250, 1, "Yes, and use auto mode"), "up", 1)},
		{"plan-approval-40x120", "deny", nil, escape},
		{"2.0.60-enter-plan-24x80", "approve", nil, stay(250, 1, "Yes, enter plan mode")},
		{"2.0.60-enter-plan-24x80", "deny", nil, move(stay(250, 2, "No, start implementing now"), "down", 2)},

		{"2.0.60-question-40x120", "choose_option", map[string]any{"option": "PostgreSQL"}, move(stay(250, 2, "PostgreSQL"), "down", 2)},
		{"2.1.197-question-24x80", "choose_option", map[string]any{"option": "none"}, move(stay(250, 3, "None"), "down", 2, 3)},
		{"question-second-24x80", "choose_option", map[string]any{"option": "sql"}, move(stay(250, 1, "SQLite"), "up", 1)},
		{"question-second-24x80", "deny", nil, escape},
		{"question-multi-submit-24x80", "choose_option", map[string]any{"option": "Submit"}, stay(250, 1, "Submit answers")},
		{"question-multi-submit-24x80", "approve", nil, stay(250, 1, "Submit answers")},
		{"question-multi-submit-40x120", "choose_option", map[string]any{"index": 2}, move(stay(250, 2, "Cancel"), "down", 2)},
		{"question-multi-24x80", "choose_option", map[string]any{"option": "next"}, "key tab\ndone dialog_gone()\n" + answered},
		{"question-multi-checked-24x80", "choose_option", map[string]any{"option": "Search"}, ""}, // it is ticked
		{"question-multi-checked-24x80", "choose_option", map[string]any{"option": "Undo"},
			"expect dialog_stands(still_ms=250)\nkey down\nexpect pointer_on(index=3)\necho pointer_on(index=3 label=Undo still_ms=0)\nkey enter\ndone option_checked(checked=true index=3)\nagain 2 when pointer_on(again=true index=3 label=Undo still_ms=0)\n" + answered},
		{"question-second-24x80", "choose_option", map[string]any{"option": "Type something", "text": "MariaDB"},
			"expect dialog_stands(still_ms=250)\nkey down\nexpect pointer_on(index=3)\nkey down\nexpect pointer_on(index=4)\nbracketed_paste MariaDB\necho pointer_on(holds=MariaDB index=4)\nkey enter\ndone dialog_gone()\n" + answered},

		{"model-picker-24x80", "choose_option", map[string]any{"option": "Fable"}, move(stay(250, 3, "Fable"), "down", 2, 3)},
		{"model-picker-24x80", "model_effort_right", nil, "key right\n"},
		{"2.1.197-model-picker-24x80", "model_effort_left", nil, "key left\n"},
		{"firstrun-security-notes-24x80", "dismiss_welcome", nil, "key enter\ndone not(row_holds(row=12 text=Press Enter to continue))\nagain 1 when row_holds(row=12 text=Press Enter to continue)\n"},
		{"permission-edit-24x80", "cancel", nil, strings.TrimSuffix(escape, answered) + "last_intent \"cancelling\"\n"},
	} {
		t.Run(fmt.Sprintf("%s/%s/%v", c.screen, c.intent, c.params), func(t *testing.T) {
			got, err := intent(t, m, claudeEnd(t, c.screen), c.intent, c.params)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("the intent does\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestClaudePrompts holds the intents that type against the prompts of three versions.
func TestClaudePrompts(t *testing.T) {
	const (
		taken = "done prompt_taken(working=false)\n"
		again = "again 2 when prompt_stands(idle=true words=%s)\n"
	)
	sent := func(typed, words string) string {
		return "mark_transcript {\"label\":\"turn_start\"}\n" + typed + "\necho prompt_stands(words=" + words + ")\n" +
			"key enter\n" + taken + fmt.Sprintf(again, words)
	}
	behind := func(paste, words string) string {
		return "bracketed_paste " + paste + "\nwhen {\"actions\":[{\"type\":\"key\",\"value\":\"space\"}],\"matcher\":{\"type\":\"lua\",\"value\":{" +
			"\"params\":{\"words\":\"" + words + "\"},\"predicate\":\"prompt_stands\"}},\"timeout_ms\":5000}"
	}
	m := classifier(t, "claude-code")
	submitted := "last_intent \"prompt_submitted\"\n"
	for _, screen := range []string{"2.0.60-ready-24x80", "2.0.60-ready-40x120", "2.1.197-question-answered-24x80", "ready-24x80", "classic-ready-24x80", "completed-40x120", "error-401-24x80", "firstrun-ready-24x80"} {
		v := claudeEnd(t, screen)
		for _, c := range []struct {
			intent string
			params map[string]any
			want   string
		}{
			{"send_prompt", map[string]any{"prompt": "hello there"}, sent("bracketed_paste hello there", "hellothere") + submitted},
			{"send_prompt", map[string]any{"prompt": "one\r\ntwo", "exact": false}, sent(`bracketed_paste one\ntwo`, "onetwo") + submitted},
			// As it is, the first would be run as a shell command, and Enter would not submit the
			// next two.
			{"send_prompt", map[string]any{"prompt": "!important"},
				sent("bracketed_paste  !\nexpect input_left()\nkey home\nkey delete\nkey end\nbracketed_paste important", "!important") + submitted},
			{"send_prompt", map[string]any{"prompt": `a path\`}, sent(behind("a path\\\\", `apath\\`), `apath\`) + submitted},
			{"send_prompt", map[string]any{"prompt": "look at @src"}, sent(behind("look at @src", "lookat@src"), "lookat@src") + submitted},
			{"steer", map[string]any{"prompt": "and this"}, sent("bracketed_paste and this", "andthis")},
			{"slash_command", map[string]any{"command": "usage"}, "text /usage\necho all(input_holds(exact=true words=/usage), screen_stable)\nkey enter\ndone any(prompt_taken(working=false), process_exited)\nagain 1 when input_holds(exact=true idle=true words=/usage)\nlast_intent \"command_submitted\"\n"},
			{"slash_command", map[string]any{"name": "/model opus"}, "text /model opus\necho all(input_holds(exact=true words=/modelopus), screen_stable)\nkey enter\ndone any(prompt_taken(working=false), process_exited)\nagain 1 when input_holds(exact=true idle=true words=/modelopus)\nlast_intent \"command_submitted\"\n"},
			{"attach_file", map[string]any{"path": "/tmp/a b.png"}, "bracketed_paste /tmp/a b.png \nexpect any(input_holds(words=/tmp/ab.png), input_holds(words=[Image))\n"},
		} {
			got, err := intent(t, m, v, c.intent, c.params)
			if err != nil {
				t.Fatalf("%s, %s: %v", screen, c.intent, err)
			}
			if got != c.want {
				t.Errorf("%s: %s %v does\n%s\nwant\n%s", screen, c.intent, c.params, got, c.want)
			}
		}
	}
	for key, want := range map[string]string{
		"escape": "key escape\n", "Esc": "key escape\n", "return": "key enter\n", "ctrl+o": "key ctrl+o\n", "ctrl_o": "key ctrl_o\n", "shift+tab": "key shift+tab\n",
		"F5": "key f5\n", "page up": "key page_up\n", "y": "text y\n", "hello world": "text hello world\n", "a+b": "text a+b\n", "+": "text +\n",
	} {
		got, err := intent(t, m, claudeEnd(t, "ready-24x80"), "key", map[string]any{"key": key})
		if err != nil || got != want {
			t.Errorf("the key %q does %q (%v), want %q", key, got, err, want)
		}
	}
	for _, screen := range []string{"2.0.60-thinking-24x80", "2.1.197-tool-running-24x80", "streaming-1-40x120", "error-529-retrying-24x80"} {
		got, err := intent(t, m, claudeEnd(t, screen), "cancel", nil)
		if want := "key escape\ndone cancel_settled()\nagain 2 when in_state(state=cancelling)\nlast_intent \"cancelling\"\n"; err != nil || got != want {
			t.Errorf("%s: cancel does %q (%v), want %q", screen, got, err, want)
		}
		got, err = intent(t, m, claudeEnd(t, screen), "force_cancel", nil)
		if err != nil || !strings.HasPrefix(got, "key escape\ndone at_rest()\nagain 4 when in_state(") {
			t.Errorf("%s: force_cancel does %q (%v)", screen, got, err)
		}
	}
}

// TestClaudeRefusals wants every intent refused, by the code that says why, where it would do
// something else than it says.
func TestClaudeRefusals(t *testing.T) {
	m := classifier(t, "claude-code")
	stale := map[string]any{"dialog_id": "00000000"}
	for _, c := range []struct {
		screen, intent string
		params         map[string]any
		code           string
	}{
		{"ready-24x80", "approve", nil, "wrong_state"},
		{"ready-24x80", "deny", nil, "wrong_state"},
		{"ready-24x80", "choose_option", map[string]any{"index": 1}, "wrong_state"},
		{"ready-24x80", "approve_trust", nil, "wrong_state"},
		{"ready-24x80", "deny_trust", nil, "wrong_state"},
		{"ready-24x80", "cancel", nil, "wrong_state"},
		{"completed-24x80", "force_cancel", nil, "wrong_state"}, // Escape twice would open the list to rewind to
		{"ready-24x80", "model_effort_left", nil, "wrong_state"},
		{"ready-24x80", "dismiss_welcome", nil, "wrong_state"},
		{"starting-40x120", "send_prompt", map[string]any{"prompt": "x"}, "wrong_state"},
		{"trust-24x80", "approve", nil, "wrong_state"}, // approve_trust it is
		{"trust-24x80", "deny", nil, "wrong_state"},
		{"trust-24x80", "dismiss_welcome", nil, "wrong_state"}, // Enter would end the program
		{"trust-24x80", "send_prompt", map[string]any{"prompt": "x"}, "wrong_state"},
		{"permission-edit-24x80", "approve_trust", nil, "wrong_state"},
		{"permission-edit-24x80", "send_prompt", map[string]any{"prompt": "x"}, "wrong_state"},
		{"permission-edit-24x80", "steer", map[string]any{"prompt": "x"}, "wrong_state"},
		{"permission-edit-24x80", "slash_command", map[string]any{"command": "usage"}, "wrong_state"},
		{"permission-edit-24x80", "attach_file", map[string]any{"path": "x"}, "wrong_state"},
		{"external-editor-24x80", "send_prompt", map[string]any{"prompt": "x"}, "wrong_state"},
		{"usage-24x80", "approve", nil, "wrong_state"},
		{"question-second-24x80", "approve", nil, "wrong_state"}, // which answer?
		{"bash-mode-24x80", "send_prompt", map[string]any{"prompt": "x"}, "wrong_state"},

		{"trust-24x80", "approve_trust", stale, "stale_dialog"},
		{"trust-24x80", "deny_trust", stale, "stale_dialog"},
		{"permission-edit-24x80", "approve", stale, "stale_dialog"},
		{"permission-edit-24x80", "deny", stale, "stale_dialog"},
		{"plan-approval-40x120", "approve", stale, "stale_dialog"},
		{"question-second-24x80", "choose_option", map[string]any{"index": 1, "dialog_id": "00000000"}, "stale_dialog"},
		{"model-picker-24x80", "model_effort_right", stale, "stale_dialog"},

		{"permission-edit-24x80", "choose_option", map[string]any{"index": 4}, "no_such_option"},
		{"permission-edit-24x80", "choose_option", map[string]any{"index": 0}, "no_such_option"},
		{"permission-edit-24x80", "choose_option", map[string]any{"option": "maybe"}, "no_such_option"},
		{"permission-bash-second-24x80", "choose_option", map[string]any{"option": "yes, and"}, "no_such_option"}, // two begin so
		{"permission-edit-24x80", "choose_option", nil, "bad_params"},
		{"permission-edit-24x80", "choose_option", map[string]any{"option": ""}, "bad_params"},
		{"question-second-24x80", "choose_option", map[string]any{"index": 4, "text": "two\nlines"}, "bad_params"},

		{"ready-24x80", "send_prompt", map[string]any{"prompt": ""}, "empty_prompt"},
		{"ready-24x80", "send_prompt", map[string]any{"prompt": " \n\u00a0\t"}, "empty_prompt"},
		{"ready-24x80", "steer", map[string]any{"prompt": " "}, "empty_prompt"},
		{"ready-24x80", "send_prompt", nil, "bad_params"},
		{"ready-24x80", "send_prompt", map[string]any{"prompt": "/unknowncommand foo"}, "use_slash_command"},
		{"ready-24x80", "send_prompt", map[string]any{"prompt": " /help"}, "use_slash_command"}, // the blank does not save it
		{"ready-24x80", "send_prompt", map[string]any{"prompt": "/plugin:do\nthis"}, "use_slash_command"},
		{"ready-24x80", "steer", map[string]any{"prompt": "/compact"}, "use_slash_command"},
		{"ready-24x80", "send_prompt", map[string]any{"prompt": "/etc/hosts: what is it?"}, ""},
		{"ready-24x80", "send_prompt", map[string]any{"prompt": "/notes.txt and /help"}, ""},
		{"ready-24x80", "send_prompt", map[string]any{"prompt": "// a comment"}, ""},
		{"ready-24x80", "send_prompt", map[string]any{"prompt": "what does /help do?"}, ""},
		{"ready-24x80", "send_prompt", map[string]any{"prompt": 7}, "bad_params"},
		{"ready-24x80", "slash_command", map[string]any{"command": "/"}, "bad_params"},
		{"ready-24x80", "slash_command", map[string]any{"command": "a\nb"}, "bad_params"},
		{"ready-24x80", "attach_file", map[string]any{"path": "a\nb"}, "bad_params"},
		{"ready-24x80", "attach_file", map[string]any{"path": ""}, "bad_params"},
		{"ready-24x80", "key", map[string]any{"key": ""}, "bad_params"},
		{"ready-24x80", "wait_state_matcher", map[string]any{"states": []any{"asleep"}}, "bad_params"},
		{"ready-24x80", "wait_state_matcher", nil, "bad_params"},

		{"typed-40x120", "send_prompt", map[string]any{"prompt": "x"}, "input_not_empty"},
		{"pasted-placeholder-40x120", "send_prompt", map[string]any{"prompt": "x"}, "input_not_empty"},
		{"multiline-typed-24x80", "slash_command", map[string]any{"command": "usage"}, "input_not_empty"},
		{"slash-menu-filtered-24x80", "slash_command", map[string]any{"command": "usage"}, "input_not_empty"},
		{"thinking-typed-24x80", "steer", map[string]any{"prompt": "x"}, "input_not_empty"},
	} {
		_, err := intent(t, m, claudeEnd(t, c.screen), c.intent, c.params)
		if got := refusal(t, err); got != c.code {
			t.Errorf("%s: %s %v is refused with %q (%v), want %q", c.screen, c.intent, c.params, got, err, c.code)
		}
	}
}
