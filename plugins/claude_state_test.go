package plugins

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
)

// patient is a limit for calls whose time is not what is tested: on a busy machine a call can stand
// still for longer than an adapter would wait.
const patient = 10 * time.Second

func claudeState(t testing.TB, m machine, l *look) *State {
	t.Helper()
	value, err := m.call(context.Background(), "classify", patient, l, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := decodeState("claude-code", value)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	rule80   = "────────────────────────────────────────────────────────────────────────────────"
	prompt80 = rule80 + "\n❯\u00a0\n" + rule80 + "\n  ⏸ manual mode on · ? for shortcuts"
)

// TestClaudeProse wants an answer that quotes a dialog, a panel or a prompt, row by row, taken for
// an answer: during the turn, after it, and as something that the user said.
func TestClaudeProse(t *testing.T) {
	m := classifier(t, "claude-code")
	for _, tape := range tapesOf(t, "claude-code") {
		quoted := claudeEnd(t, strings.TrimPrefix(tape.name, "claude-code/"))
		if quoted.Screen.Cols > 80 {
			continue
		}
		text := strings.TrimRight(quoted.Screen.String(), "\n ")
		for _, c := range []struct {
			how, title, before, after, want string
		}{
			{"answered", "✳ Claude Code", "❯ what does it look like?\n\n● Like this:\n\n", "\n✻ Baked for 3s · done 9:49 AM\n\n" + prompt80, "completed_turn"},
			{"answering", "◐ Claude Code", "❯ what does it look like?\n\n● Like this:\n\n", "\n" + prompt80, "thinking"},
			{"said", "✳ Claude Code", "❯ Is this right?\n", "\n● Yes.\n\n✻ Baked for 3s · done 9:49 AM\n\n" + prompt80, "completed_turn"},
			{"answered, 2.0.60", "", "> what does it look like?\n\n● Like this:\n\n", "\n\n" + strings.ReplaceAll(prompt80, "❯", ">"), "completed_turn"},
		} {
			var b strings.Builder
			b.WriteString(c.before)
			for line := range strings.SplitSeq(text, "\n") {
				if line = strings.TrimRight(line, " "); line != "" {
					line = "  " + line
				}
				b.WriteString(string([]rune(line)[:min(80, len([]rune(line)))]) + "\n")
			}
			b.WriteString(c.after)
			v := claudeView(b.String(), c.title)
			if s := claudeState(t, m, &look{view: v}); s.State != c.want {
				t.Errorf("%s quoted, %s: %s by %q (%s), want %s\n%s", tape.name, c.how, s.State, s.Rule, s.Evidence, c.want, v.Screen)
			}
		}
	}
}

// TestClaudeProseAboveDialog wants a real dialog found below an answer that quotes another one.
func TestClaudeProseAboveDialog(t *testing.T) {
	m := classifier(t, "claude-code")
	quote := "❯ what does it look like?\n\n● Like this:\n\n  " + rule80[:60] + "\n   Accessing workspace:\n\n   ❯ 1. Yes, I trust this folder\n     2. No, exit\n\n   Enter to confirm · Esc to cancel\n\n"
	for name, want := range map[string]string{
		"permission-edit-24x80": "waiting_for_permission", "2.0.60-enter-plan-24x80": "waiting_for_enter_plan_mode", "question-second-24x80": "waiting_for_user_input",
		"2.1.197-plan-approval-24x80": "waiting_for_plan_approval", "model-picker-24x80": "waiting_for_model_select", "usage-24x80": "usage_screen", "rewind-24x80": "local_ui_screen",
	} {
		real := claudeEnd(t, name).Screen
		from := 0
		for i, line := range real.Lines() {
			if from == 0 && (strings.HasPrefix(line, "───") || strings.HasPrefix(line, "▔▔▔")) {
				from = i
			}
		}
		v := claudeView(quote+strings.Join(real.Lines()[from:], "\n"), "✳ Claude Code")
		if s := claudeState(t, m, &look{view: v}); s.State != want {
			t.Errorf("%s below a quoted dialog: %s by %q, want %s\n%s", name, s.State, s.Rule, want, v.Screen)
		}
	}
}

// TestClaudeUnknown wants what is not Claude Code's called unknown, and never idle.
func TestClaudeUnknown(t *testing.T) {
	m := classifier(t, "claude-code")
	for _, text := range []string{
		"$ ", "demo$ ls\nREADME.md\ndemo$", "❯ ", "> ", "❯\u00a0", rule80 + "\n❯\u00a0", "❯\u00a0\n" + rule80, // no whole prompt
		"Segmentation fault (core dumped)", "bash: claude: command not found", rule80 + "\n" + rule80,
		"┌ something new ┐\n│ Press space   │\n└───────────────┘", strings.Repeat("lorem ipsum\n", 24),
	} {
		s := claudeState(t, m, &look{view: claudeView(text, "")})
		if s.State != "unknown" || s.Evidence == "" {
			t.Errorf("%q is %s by %q (%s), want unknown with evidence", text, s.State, s.Rule, s.Evidence)
		}
	}
	// A prompt whose program does not listen any more is nobody's.
	v := claudeView(prompt80, "")
	v.Screen.Modes.BracketedPaste = false
	if s := claudeState(t, m, &look{view: v}); s.State != "unknown" {
		t.Errorf("a prompt that was left behind is %s", s.State)
	}
	for code, want := range map[int]string{0: "unknown", 1: "error"} {
		v := claudeView(prompt80, "")
		v.Exit = &engine.Exit{Exit: pty.Exit{Code: code}}
		if s := claudeState(t, m, &look{view: v}); s.State != want || s.Source != "exit" {
			t.Errorf("after the end with %d: %s by %s, want %s", code, s.State, s.Source, want)
		}
	}
}

// TestClaudeSources holds the program's status against what the screen shows: which of them decides
// where they differ.
func TestClaudeSources(t *testing.T) {
	m := classifier(t, "claude-code")
	for _, c := range []struct {
		screen        string
		status        engine.ProgramStatus
		state, source string
	}{
		{"ready-24x80", engine.ProgramStatus{State: "idle"}, "ready", "program_status"},
		{"ready-24x80", engine.ProgramStatus{State: "working"}, "thinking", "program_status"}, // before the first frame of the turn
		{"streaming-1-24x80", engine.ProgramStatus{State: "working"}, "thinking", "program_status"},
		{"streaming-1-24x80", engine.ProgramStatus{State: "done"}, "thinking", "title"}, // before the last frame of the turn
		{"status-protocol-streaming-24x80", engine.ProgramStatus{State: "done"}, "thinking", "screen"},
		{"completed-24x80", engine.ProgramStatus{State: "done"}, "completed_turn", "program_status"},
		{"status-protocol-ready-24x80", engine.ProgramStatus{State: "idle"}, "ready", "program_status"},
		{"cancelled-24x80", engine.ProgramStatus{State: "idle"}, "ready", "program_status"},
		{"status-protocol-permission-24x80", engine.ProgramStatus{State: "blocked", Kind: "permission", Message: "approve Bash: rm -rf build"}, "waiting_for_permission", "program_status"},
		{"status-protocol-permission-24x80", engine.ProgramStatus{State: "working"}, "waiting_for_permission", "screen"}, // it was just answered
		{"status-protocol-question-24x80", engine.ProgramStatus{State: "blocked", Kind: "question"}, "waiting_for_user_input", "program_status"},
		{"ready-24x80", engine.ProgramStatus{State: "blocked", Kind: "permission", Message: "approve Bash: ls"}, "unknown", "program_status"}, // no dialog without its dialog
		{"thinking-spinner-40x120", engine.ProgramStatus{State: "blocked", Kind: "permission"}, "thinking", "title"},
		{"trust-24x80", engine.ProgramStatus{State: "blocked", Kind: "permission", Message: "trust this folder"}, "waiting_for_trust", "program_status"},
		{"status-protocol-error-24x80", engine.ProgramStatus{State: "error", Message: "API Error: 400"}, "error", "program_status"},
		{"error-401-24x80", engine.ProgramStatus{State: "blocked", Kind: "auth", Message: "Invalid API key"}, "error", "program_status"},
		{"ready-24x80", engine.ProgramStatus{State: "error", Message: "API Error: 500 oh"}, "error", "program_status"},
		{"model-picker-24x80", engine.ProgramStatus{State: "done"}, "waiting_for_model_select", "screen"}, // local screens report nothing
		{"usage-24x80", engine.ProgramStatus{State: "working"}, "usage_screen", "screen"},
	} {
		v := *claudeEnd(t, c.screen)
		v.Reports.Status = &c.status
		s := claudeState(t, m, &look{view: &v})
		if s.State != c.state || s.Source != c.source {
			t.Errorf("%s with %+v: %s by %s (%s), want %s by %s", c.screen, c.status, s.State, s.Source, s.Rule, c.state, c.source)
		}
		if said := fmt.Sprint(s.Sources); !strings.Contains(said, "program_status "+c.status.State) || !strings.Contains(said, "{screen ") {
			t.Errorf("%s: the sources are %s", c.screen, said)
		}
	}
}

// TestClaudeMetadata holds what is read off the screens of three versions.
func TestClaudeMetadata(t *testing.T) {
	m := classifier(t, "claude-code")
	for _, c := range []struct{ screen, path, want string }{
		{"2.0.60-enter-plan-24x80", "dialog_id", "9b441460"},
		{"2.0.60-enter-plan-24x80", "enter_plan_mode.options", "[Yes, enter plan mode No, start implementing now]"},
		{"2.0.60-permission-edit-40x120", "permission.tool", "Edit"},
		{"2.0.60-permission-edit-40x120", "permission.path", "hello.py"},
		{"2.1.197-permission-edit-24x80", "permission.path", "hello.py"},
		{"permission-edit-24x80", "permission.detail", "1  def hello(name):\n2      \"\"\"Say hello.\"\"\"\n3 -    print(\"hello, \" + name)\n3 +    greeting = \"good morning\"\n4 +    print(greeting + \", \" + name)\n5\n6\n7  if __name__ == \"__main__\":"},
		{"permission-edit-24x80", "permission.options", "[Yes Yes, and switch to accept edits (auto-approve file edits and common file commands) for this session (shift+tab) No]"},
		{"permission-bash-second-24x80", "permission.tool", "Bash"},
		{"permission-bash-second-24x80", "permission.command", "rm -rf build && mkdir build && echo clean > build/state.txt"},
		{"resized-dialog-24x80", "permission.command", "rm -rf build && mkdir build && echo clean >\nbuild/state.txt"},
		{"permission-bash-second-24x80", "permission.summary", "Recreate the build folder"},
		{"permission-bash-second-24x80", "options.1.focused", "true"},
		{"permission-bash-second-24x80", "options.3.label", "No"},
		{"permission-write-second-24x80", "permission.tool", "Write"},
		{"permission-webfetch-40x120", "permission.url", "http://127.0.0.1:8080/page"},
		{"plan-approval-40x120", "plan", "Plan: add tests\n\n1. Make a tests/ folder\n2. Write test_hello.py\n3. Run the tests and fix what fails"},
		{"2.0.60-plan-approval-40x120", "plan", "Plan: add tests\n\n1. Make a tests/ folder\n2. Write test_hello.py\n3. Run the tests and fix what fails"},
		{"question-second-24x80", "question.question", "Which database should the demo use?"},
		{"question-second-24x80", "options.1.description", "A server, more features"},
		{"question-multi-checked-24x80", "question.multi", "true"},
		{"question-multi-checked-24x80", "options.1.checked", "true"},
		{"question-multi-checked-24x80", "options.2.checked", "false"},
		{"question-multi-checked-24x80", "question.tabs", "[map[done:true label:Features] map[done:false label:Colour]]"},
		{"question-multi-submit-24x80", "question.answers", "[map[answer:Search, Export question:Which features do you want?] map[answer:Blue question:Which colour?]]"},
		{"trust-24x80", "trust.path", "/tmp/demo"},
		{"trust-24x80", "dialog_id", "2e0ac76b"},
		{"2.0.60-trust-24x80", "dialog_id", "2e0ac76b"}, // the same folder: the same question
		{"model-picker-effort-right-24x80", "model_select.effort", "high"},
		{"model-picker-24x80", "options.0.current", "true"},
		{"ready-24x80", "model", "Opus 5.5"},
		{"2.0.60-ready-40x120", "model", "Sonnet 4.5"},
		{"2.1.197-enter-plan-40x120", "model", "Opus 4.8 (1M context)"},
		{"ready-24x80", "permission_mode", "manual"},
		{"mode-1-24x80", "permission_mode", "accept_edits"},
		{"mode-3-24x80", "permission_mode", "auto"},
		{"plan-mode-40x120", "permission_mode", "plan"},
		{"2.0.60-ready-24x80", "permission_mode", "default"},
		{"completed-after-cancel-24x80", "turn.text", "Yes: 4 is right."},
		{"completed-24x80", "turn.duration_ms", "11000"},
		{"cancelled-24x80", "turn.interrupted", "true"},
		{"tool-done-24x80", "turn.text", "Starting the job.\n\nThe job is done: 8 steps."},
		{"tool-running-24x80", "tools.0.input.command", "for i in 1 2 3 4 5 6 7 8; do echo step $i; sleep 1; done; touch done.txt"},
		{"tool-running-24x80", "tools.0.status", "running"},
		{"2.1.197-tool-cancelled-24x80", "tools.0.status", "interrupted"},
		{"2.1.197-permission-edit-denied-24x80", "tools.1.status", "denied"},
		{"2.1.197-tool-running-24x80", "turn.progress.output_tokens", "36"},
		{"thinking-block-24x80", "turn.progress.duration_ms", "3000"},
		{"thinking-queued-40x120", "turn.queued", "1"},
		{"error-429-40x120", "error.kind", "rate_limit"},
		{"error-401-40x120", "error.kind", "auth"},
		{"error-529-24x80", "error.kind", "overloaded"},
		{"error-refused-24x80", "error.kind", "connection"},
		{"error-too-long-24x80", "error.kind", "too_long"},
		{"error-529-retrying-24x80", "error.retry_after_s", "1"},
		{"error-529-retrying-24x80", "error.attempt", "2"},
		{"usage-24x80", "usage.wall_duration_s", "15"},
		{"2.1.197-usage-24x80", "usage.cost_usd", "0"},
	} {
		s := claudeState(t, m, &look{view: afresh(t, m, claudeEnd(t, c.screen))})
		if got := fmt.Sprint(at(s.Metadata, c.path)); got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.screen, c.path, got, c.want)
		}
	}
}

// at follows a path of names and indexes, from 0, into a value.
func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch x := value.(type) {
		case map[string]any:
			value = x[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(x) {
				return nil
			}
			value = x[i]
		default:
			return nil
		}
	}
	return value
}
