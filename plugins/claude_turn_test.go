package plugins

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
)

// claudeRun shows a machine every view of a recording, as an adapter would, and collects the
// events.
type claudeRun struct {
	t          testing.TB
	m          machine
	state      *State
	last       *engine.View
	lastIntent string
	events     []Event
}

func (r *claudeRun) look(v *engine.View) *State {
	r.t.Helper()
	l := &look{view: v, previous: r.state, last: r.last, lastIntent: r.lastIntent}
	s := claudeState(r.t, r.m, l)
	r.events = append(r.events, s.events...)
	s.Sequence = v.Sequence
	r.state, r.last = s, v
	return s
}

// ask asks a predicate about a view, and returns what it says.
func (r *claudeRun) ask(v *engine.View, name string, params map[string]any) bool {
	r.t.Helper()
	l := &look{view: v, previous: r.state, last: r.last, lastIntent: r.lastIntent, params: params}
	value, err := r.m.call(context.Background(), name, patient, l, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	switch x := value.(type) {
	case bool:
		return x
	case map[string]any:
		if x["evidence"] == nil {
			r.t.Fatalf("%s says %v without evidence", name, x["matched"])
		}
		return x["matched"] == true
	}
	r.t.Fatalf("%s returned %v", name, value)
	return false
}

func (r *claudeRun) send(v *engine.View, name string, params map[string]any) {
	r.t.Helper()
	if _, err := r.m.call(context.Background(), name, patient, &look{view: v, previous: r.state, lastIntent: r.lastIntent}, params); err != nil {
		r.t.Fatal(err)
	}
}

// still is a view that has not changed for a while.
func still(v *engine.View, d time.Duration) *engine.View {
	w := *v
	w.At = v.At.Add(d)
	return &w
}

func claudeTape(t testing.TB, name string) *tape {
	t.Helper()
	tapes := tapesOf(t, "claude-code")
	i := slices.IndexFunc(tapes, func(tape *tape) bool { return tape.name == "claude-code/"+name })
	if i < 0 {
		t.Fatalf("no recording %s", name)
	}
	return tapes[i]
}

// TestClaudeStory wants the text of an answer whole, although its beginning has left the screen,
// and told in events as it came.
func TestClaudeStory(t *testing.T) {
	for _, name := range []string{"completed-24x80", "ghostty-completed-24x80", "completed-40x120"} {
		r := &claudeRun{t: t, m: classifier(t, "claude-code")}
		claudeTape(t, name).play(func(v *engine.View, _ bool) { r.look(v) })
		text, _ := at(r.state.Metadata, "turn.text").(string)
		for _, part := range []string{
			"Here is how the build works.\n\n1. The parser reads each file and makes a tree.\n2. The checker walks", "def main():\n    for n in range(3):\n        print(n)",
			"│ step  │ time │", "\n\nThat is all. More words follow here so that the answer takes a while. More words follow here so that the answer takes a while. More",
		} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: the turn's text lacks %q:\n%s", name, part, text)
			}
		}
		if strings.Count(text, "More words follow") != 12 || at(r.state.Metadata, "turn.complete") != true {
			t.Errorf("%s: the turn's text is complete: %v\n%s", name, at(r.state.Metadata, "turn.complete"), text)
		}
		var told strings.Builder
		kinds := map[string]int{}
		for _, e := range r.events {
			kinds[e.Kind]++
			if e.Kind == "text_delta" {
				told.WriteString(e.Text)
			}
		}
		if strings.Join(strings.Fields(told.String()), " ") != strings.Join(strings.Fields(text), " ") {
			t.Errorf("%s: the text was told as\n%s\nwant\n%s", name, told.String(), text)
		}
		if kinds["turn_complete"] != 1 || kinds["text_delta"] < 3 {
			t.Errorf("%s: the events were %v", name, kinds)
		}
	}
}

// TestClaudeToolEvents wants each tool begun and ended once.
func TestClaudeToolEvents(t *testing.T) {
	for name, want := range map[string][]string{
		"2.1.197-tool-cancelled-24x80":          {"tool_started Bash", "tool_completed interrupted"},
		"2.1.197-permission-edit-denied-24x80":  {"tool_started Update", "tool_completed denied"},
		"2.0.60-permission-bash-approved-24x80": {"tool_started Bash", "tool_completed completed"},
	} {
		r := &claudeRun{t: t, m: classifier(t, "claude-code")}
		claudeTape(t, name).play(func(v *engine.View, _ bool) { r.look(v) })
		var got []string
		for _, e := range r.events {
			switch e.Kind {
			case "tool_started":
				got = append(got, "tool_started "+e.Name)
			case "tool_completed":
				got = append(got, "tool_completed "+e.Status)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestClaudeErrorEvents wants a failed turn told once.
func TestClaudeErrorEvents(t *testing.T) {
	r := &claudeRun{t: t, m: classifier(t, "claude-code")}
	claudeTape(t, "error-refused-24x80").play(func(v *engine.View, _ bool) { r.look(v) })
	var failed []Event
	for _, e := range r.events {
		if e.Kind == "error" {
			failed = append(failed, e)
		}
	}
	if len(failed) != 1 || failed[0].Category != "connection" || !strings.Contains(failed[0].Message, "Connection refused") {
		t.Errorf("the errors told are %+v", failed)
	}
}

// TestClaudeTurnOver wants the end of a turn seen when it is there, and not because an earlier one
// stands on the screen: in this recording an answered prompt is there from the beginning.
func TestClaudeTurnOver(t *testing.T) {
	r := &claudeRun{t: t, m: classifier(t, "claude-code")}
	sent, over := false, 0
	claudeTape(t, "continued-turn-24x80").play(func(v *engine.View, last bool) {
		s := r.look(v)
		text := v.Screen.Text()
		if !sent {
			if s.State == "completed_turn" && strings.HasPrefix(strings.TrimRight(v.Screen.Lines()[21], "\u00a0"), "❯") && !strings.Contains(text, "quick again") {
				if !r.ask(v, "turn_over", nil) {
					t.Fatal("a turn that has ended is not over")
				}
				r.send(v, "send_prompt", map[string]any{"prompt": "quick again, is 2+2 4?"})
				sent = true
			}
			return
		}
		is := strings.Count(text, "✻ ") == 2
		if got := r.ask(still(v, time.Minute), "turn_over", nil); got != is {
			t.Errorf("sequence %d: the turn is over: %v, want %v (%s by %s)\n%s", v.Sequence, got, is, s.State, s.Rule, v.Screen)
		}
		if is {
			over++
		}
		if strings.Contains(text, "❯ quick again") { // the host has its receipt
			r.lastIntent = "prompt_submitted"
		}
	})
	if !sent || over == 0 {
		t.Fatalf("sent: %v, over in %d views", sent, over)
	}
}

// TestClaudeReceipt wants a prompt counted as typed, and as taken, exactly when it was.
func TestClaudeReceipt(t *testing.T) {
	r := &claudeRun{t: t, m: classifier(t, "claude-code")}
	sent := false
	var typed, taken uint64
	claudeTape(t, "continued-turn-24x80").play(func(v *engine.View, last bool) {
		s := r.look(v)
		if !sent {
			if s.State == "completed_turn" {
				r.send(v, "send_prompt", map[string]any{"prompt": "quick again, is 2+2 4?"})
				sent = true
			}
			return
		}
		echo := map[string]any{"words": "quickagain,is2+24?", "head": "quickagain,is2+24?", "placeholder": true}
		stands := strings.Contains(v.Screen.Text(), "❯\u00a0quick again, is 2+2 4?")
		if got := r.ask(v, "input_holds", echo); got != stands {
			t.Errorf("sequence %d: the input holds the prompt: %v, want %v", v.Sequence, got, stands)
		}
		if stands && typed == 0 {
			typed = v.Sequence
		}
		if typed > 0 && taken == 0 && r.ask(v, "prompt_taken", nil) {
			taken = v.Sequence
			if !strings.Contains(v.Screen.Text(), "❯ quick again, is 2+2 4?") {
				t.Errorf("sequence %d: the prompt counts as taken, but does not stand in the conversation\n%s", v.Sequence, v.Screen)
			}
		}
	})
	if typed == 0 || taken <= typed {
		t.Errorf("typed at %d, taken at %d", typed, taken)
	}
}

// TestClaudeAnsweredDialog wants a dialog that was answered not taken for one that waits, as long
// as it has not left the screen, and gone when it has.
func TestClaudeAnsweredDialog(t *testing.T) {
	dialog, after := claudeEnd(t, "permission-edit-24x80"), claudeEnd(t, "permission-edit-no-by-digit-24x80")
	other := claudeEnd(t, "permission-write-second-24x80")
	r := &claudeRun{t: t, m: classifier(t, "claude-code")}
	r.look(dialog)
	for _, name := range []string{"turn_over", "is_ready"} {
		if !r.ask(dialog, name, nil) {
			t.Errorf("%s: a dialog that nobody has answered does not count", name)
		}
	}
	if !r.ask(dialog, "in_state", map[string]any{"states": []any{"thinking", "waiting_for_permission"}}) || r.ask(dialog, "in_state", map[string]any{"states": []any{"thinking"}}) ||
		!r.ask(dialog, "in_state", map[string]any{"state": "waiting_for_permission", "text": "greeting"}) || r.ask(dialog, "in_state", map[string]any{"state": "waiting_for_permission", "text": "farewell"}) {
		t.Error("in_state does not tell the state")
	}
	r.send(dialog, "approve", nil)
	if r.ask(dialog, "dialog_gone", nil) || r.ask(dialog, "turn_over", nil) || r.ask(dialog, "in_state", map[string]any{"state": "waiting_for_permission"}) {
		t.Error("the dialog that was just answered counts as gone, or as one that waits")
	}
	if !r.ask(still(dialog, time.Second), "turn_over", nil) {
		t.Error("the dialog swallowed its answer and stands there, and nobody is told")
	}
	if r.ask(dialog, "pointer_on", map[string]any{"index": int64(2)}) || !r.ask(dialog, "pointer_on", map[string]any{"index": int64(1), "label": "Yes"}) ||
		r.ask(dialog, "pointer_on", map[string]any{"index": int64(1), "label": "No"}) || r.ask(dialog, "pointer_on", map[string]any{"index": int64(1), "still_ms": int64(250)}) ||
		!r.ask(still(dialog, 300*time.Millisecond), "pointer_on", map[string]any{"index": int64(1), "still_ms": int64(250)}) {
		t.Error("pointer_on does not tell where the pointer is")
	}
	if r.ask(other, "pointer_on", map[string]any{"index": int64(2)}) {
		t.Error("the pointer of another dialog counts") // Enter would answer it
	}
	// Another edit of the same file has the same id and another face: Enter must not be pressed
	// again.
	twin := claudeView(strings.ReplaceAll(dialog.Screen.String(), "good morning", "good evening"), "✳ Claude Code")
	twin.Sequence = dialog.Sequence + 1
	if again := map[string]any{"index": int64(1), "again": true}; !r.ask(dialog, "pointer_on", again) || r.ask(twin, "pointer_on", again) || !r.ask(twin, "dialog_gone", nil) || !r.ask(twin, "turn_over", nil) {
		t.Error("a dialog that asks something else is taken for the one that was answered")
	}
	if !r.ask(after, "dialog_gone", nil) || !r.ask(after, "turn_over", nil) {
		t.Error("the dialog is not gone when the prompt is back")
	}
	if !r.ask(dialog, "turn_over", nil) {
		t.Error("the same dialog, anew, does not count")
	}
}

// TestClaudeCancel wants cancelling told as long as the turn that was cancelled runs, and no
// longer.
func TestClaudeCancel(t *testing.T) {
	r := &claudeRun{t: t, m: classifier(t, "claude-code"), lastIntent: "prompt_submitted"}
	running, stopped := claudeEnd(t, "before-cancel-24x80"), claudeEnd(t, "cancelled-24x80")
	r.look(running)
	r.send(running, "cancel", nil)
	if s := r.look(running); s.State != "cancelling" || r.ask(running, "cancel_settled", nil) || r.ask(running, "turn_over", nil) {
		t.Errorf("a turn that is being cancelled is %s by %s", s.State, s.Rule)
	}
	r.lastIntent = "cancelling"
	if s := r.look(stopped); s.State != "ready" || !r.ask(stopped, "cancel_settled", nil) || !r.ask(stopped, "turn_over", nil) {
		t.Errorf("a turn that was cancelled is %s by %s", s.State, s.Rule)
	}
	// The next one is not being cancelled, although nobody has told the host yet.
	if s := r.look(claudeEnd(t, "thinking-block-24x80")); s.State != "thinking" {
		t.Errorf("the turn after one that was cancelled is %s by %s", s.State, s.Rule)
	}

	// A message that was queued is sent by the program at once: the cancelled turn is over all the
	// same.
	r = &claudeRun{t: t, m: classifier(t, "claude-code"), lastIntent: "prompt_submitted"}
	first := claudeView("❯ slow answer please\n\n✽ Fermenting…\n\n"+prompt80, "◐ Claude Code")
	next := claudeEnd(t, "cancel-1-24x80")
	r.look(first)
	r.send(first, "cancel", nil)
	if s := r.look(next); s.State != "thinking" || !r.ask(next, "cancel_settled", nil) || r.ask(next, "turn_over", nil) {
		t.Errorf("the queued message's turn is %s by %s", s.State, s.Rule)
	}
}
