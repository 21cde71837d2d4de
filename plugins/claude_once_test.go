package plugins

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// A claudeScene shows a machine one hand-made screen after the other, 40 ms apart, as the newest of
// one session.
type claudeScene struct {
	claudeRun
	sequence   uint64
	now        time.Time
	rows, cols int
}

func newClaudeScene(t testing.TB) *claudeScene {
	return &claudeScene{claudeRun: claudeRun{t: t, m: classifier(t, "claude-code")}, now: time.Unix(1, 0), rows: 24, cols: 80}
}

// show looks at a conversation above a prompt that input stands in.
func (s *claudeScene) show(conversation, input, title string) (*engine.View, *State) {
	s.t.Helper()
	rule := strings.Repeat("─", s.cols)
	return s.screen(conversation+"\n\n"+rule+"\n❯\u00a0"+input+"\n"+rule+"\n  ⏸ manual mode on · ? for shortcuts", title)
}

func (s *claudeScene) screen(text, title string) (*engine.View, *State) {
	s.t.Helper()
	term := vt.New(s.rows, s.cols, vt.Options{})
	term.Feed([]byte("\x1b[?2004h\x1b]0;" + title + "\a" + strings.Join(strings.Split(strings.Trim(text, "\n"), "\n"), "\r\n")))
	s.sequence++
	s.now = s.now.Add(40 * time.Millisecond)
	v := &engine.View{Screen: term.Snapshot(), Sequence: s.sequence, At: s.now, Changed: s.now}
	return v, s.look(v)
}

// told returns the events since it was asked last, without those of the state.
func (s *claudeScene) told() string {
	var b []string
	for _, e := range s.events {
		line := e.Kind
		for _, part := range []string{e.ID, e.Name, e.Status, e.Category, e.Text} {
			if part != "" {
				line += " " + part
			}
		}
		b = append(b, line)
	}
	s.events = nil
	return strings.Join(b, "\n")
}

const (
	idleTitle, busyTitle = "✳ Claude Code", "◐ Claude Code"
	helloTurn            = "❯ hello\n\n● Hi there.\n\n✻ Cooked for 0s · done 7:57 PM"
)

// TestClaudeBeforeSubmission wants nothing that stood there before a submission taken for what came
// of it: no end, no answer, no event; and no other state on the way but the one before and then
// thinking.
func TestClaudeBeforeSubmission(t *testing.T) {
	s := newClaudeScene(t)
	s.show("", "", idleTitle)
	s.show("❯ hello\n\n✻ Brewing…", "", busyTitle)
	v, state := s.show(helloTurn, "", idleTitle)
	if got := s.told(); state.State != "completed_turn" || got != "text_delta Hi there.\nturn_complete Hi there." {
		t.Fatalf("the first turn: %s, told as %q", state.State, got)
	}
	s.send(v, "send_prompt", map[string]any{"prompt": "and now"})
	var states []string
	over := func(v *engine.View, state *State, want bool) {
		t.Helper()
		states = append(states, state.State)
		if got := s.ask(still(v, time.Second), "turn_over", nil); got != want {
			t.Errorf("sequence %d: the turn is over: %v (%s by %s)\n%s", v.Sequence, got, state.State, state.Rule, v.Screen)
		}
		if text := at(state.Metadata, "turn.text"); text == "Hi there." {
			t.Errorf("sequence %d: the turn's text is %q", v.Sequence, text)
		}
	}
	step := func(conversation, input, title string, want bool) {
		t.Helper()
		v, state := s.show(conversation, input, title)
		over(v, state, want)
	}
	step(helloTurn, "", idleTitle, false) // nothing yet
	step(helloTurn, "and now", idleTitle, false)
	step(helloTurn, "", idleTitle, false) // Enter was taken
	step(helloTurn, "", busyTitle, false)
	step(helloTurn+"\n\n❯ and now", "", busyTitle, false)
	step(helloTurn+"\n\n❯ and now\n\n● Now.", "", busyTitle, false)
	step(helloTurn+"\n\n❯ and now\n\n● Now.\n\n✻ Cooked for 0s · done 7:57 PM", "", idleTitle, true)
	if want := []string{"completed_turn", "completed_turn", "thinking", "thinking", "thinking", "thinking", "completed_turn"}; !slices.Equal(states, want) {
		t.Errorf("the states were %q, want %q", states, want)
	}
	if got := s.told(); got != "text_delta Now.\nturn_complete Now." {
		t.Errorf("told was %q", got)
	}

	// The same words with the same answer within the same minute are another turn.
	v, _ = s.show(helloTurn, "", idleTitle)
	s.told()
	s.send(v, "send_prompt", map[string]any{"prompt": "hello"})
	step(helloTurn, "hello", idleTitle, false)
	step(helloTurn+"\n\n❯ hello", "", busyTitle, false)
	s.show(helloTurn+"\n\n"+helloTurn, "", idleTitle)
	if got := s.told(); got != "text_delta Hi there.\nturn_complete Hi there." {
		t.Errorf("the same again was told as %q", got)
	}
}

// TestClaudeUnknownCommand wants the program's own answer to a command told as one, and not the
// last turn.
func TestClaudeUnknownCommand(t *testing.T) {
	for _, frames := range [][]string{
		{helloTurn + "\n\n● Unknown command: /nosuch\n\n● Args from unknown skill: thing"},
		{helloTurn + "\n\n❯ /nosuch thing", helloTurn + "\n\n● Unknown command: /nosuch\n\n● Args from unknown skill: thing"},
	} {
		s := newClaudeScene(t)
		s.show("❯ hello", "", busyTitle)
		v, _ := s.show(helloTurn, "", idleTitle)
		s.told()
		s.send(v, "slash_command", map[string]any{"command": "nosuch thing"})
		s.show(helloTurn, "/nosuch thing", idleTitle)
		if v, _ := s.show(helloTurn, "", idleTitle); s.ask(still(v, 500*time.Millisecond), "turn_over", nil) {
			t.Error("over before anything came of the command")
		}
		var state *State
		for i, frame := range frames {
			title := idleTitle
			if i < len(frames)-1 {
				title = busyTitle
			}
			v, state = s.show(frame, "", title)
		}
		if state.State != "ready" || at(state.Metadata, "turn") != nil || at(state.Metadata, "notice") != "Unknown command: /nosuch" {
			t.Errorf("%s by %s with %v", state.State, state.Rule, state.Metadata)
		}
		if !s.ask(still(v, time.Second), "turn_over", nil) {
			t.Error("a command that there is not is waited for")
		}
		if got := s.told(); got != "" {
			t.Errorf("told was %q", got)
		}
	}
}

// TestClaudeOnce wants a turn told once, however often the screen is drawn anew.
func TestClaudeOnce(t *testing.T) {
	s := newClaudeScene(t)
	lines := make([]string, 30)
	for i := range lines {
		lines[i] = "  Line " + string(rune('a'+i%26)) + strings.Repeat("x", i) + " of the answer, which has some more words to be wrapped by a narrow screen."
	}
	var long []string
	for _, l := range lines {
		long = append(long, "  "+strings.Repeat("w", 3)+strings.TrimSpace(l)[:min(70, len(strings.TrimSpace(l)))])
	}
	answer := func(from, to int) string { return strings.Join(long[from:to], "\n") }
	s.show("❯ explain", "", busyTitle)
	s.show("❯ explain\n\n● Here it is.\n\n"+answer(0, 8), "", busyTitle)
	s.show(answer(2, 19), "", busyTitle)
	_, state := s.show(answer(14, 30)+"\n\n✻ Brewed for 9s", "", idleTitle)
	text, _ := at(state.Metadata, "turn.text").(string)
	if strings.Count(text, "www") != 30 || at(state.Metadata, "turn.complete") != true || strings.Count(s.told(), "turn_complete") != 1 {
		t.Fatalf("the turn's text is\n%s", text)
	}
	s.screen("▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔\n  Help  General   Commands\n\n  ←/→ to switch · Esc to close", idleTitle)
	s.show(answer(14, 30)+"\n\n✻ Brewed for 9s", "", idleTitle)
	s.rows, s.cols = 12, 60
	if _, half := s.screen("  half of a screen", idleTitle); half.State != "completed_turn" || !strings.Contains(half.Evidence, "not drawn yet") {
		t.Errorf("a screen that is drawn anew is %s (%s)", half.State, half.Evidence)
	}
	_, state = s.show("  wwwLine d, wrapped anew\n\n  by a narrow screen.\n\n✻ Brewed for 9s", "", idleTitle)
	if again := at(state.Metadata, "turn.text"); again != text || at(state.Metadata, "turn.complete") != true {
		t.Errorf("after a resize the turn's text is %q (%v)", again, at(state.Metadata, "turn.complete"))
	}
	s.rows, s.cols = 40, 120
	s.show("❯ explain\n\n● Here it is.\n\n"+answer(0, 30)+"\n\n✻ Brewed for 9s", "", idleTitle)
	if got := s.told(); got != "" {
		t.Errorf("told again was %q", got)
	}

	// A turn that runs is told on where it was, when the screen wraps it otherwise.
	s = newClaudeScene(t)
	s.show("❯ explain", "", busyTitle)
	s.show("❯ explain\n\n● One two three four\n  five six seven eight\n  nine", "", busyTitle)
	s.cols = 40
	s.show("❯ explain\n\n● One two three\n  four five six\n  seven eight nine ten\n  eleven", "", busyTitle)
	s.show("❯ explain\n\n● One two three\n  four five six\n  seven eight nine ten\n  eleven\n\n✻ Brewed for 9s", "", idleTitle)
	var all strings.Builder
	for _, e := range s.events {
		if e.Kind == "text_delta" {
			all.WriteString(e.Text + "\n")
		}
	}
	if got := strings.Join(strings.Fields(all.String()), " "); got != "One two three four five six seven eight nine ten eleven" {
		t.Errorf("over a resize the text was told as %q", got)
	}
}

// TestClaudePutBack wants a prompt that was stopped before anything came back called interrupted,
// and not the turn before it.
func TestClaudePutBack(t *testing.T) {
	s := newClaudeScene(t)
	const failed = "❯ bad one\n\n● API Error: 400 messages: bad thing"
	s.show("❯ bad one", "", busyTitle)
	v, state := s.show(failed, "", idleTitle)
	if got := s.told(); state.State != "error" || got != "error api" {
		t.Fatalf("the first turn: %s, told as %q", state.State, got)
	}
	s.send(v, "send_prompt", map[string]any{"prompt": "try again"})
	s.show(failed, "try again", idleTitle)
	_, state = s.show(failed+"\n\n❯ try again\n\n✻ 429 Number of requests exceeded · retrying in 1m 3s · attempt 3/6", "", busyTitle)
	if at(state.Metadata, "error.kind") != "rate_limit" || at(state.Metadata, "error.retry_after_s") != int64(63) || at(state.Metadata, "error.attempt") != int64(3) {
		t.Errorf("the retry is %v", state.Metadata)
	}
	for _, input := range []string{"try again", ""} {
		v, state = s.show(failed, input, idleTitle)
		if state.State != "ready" || at(state.Metadata, "turn.interrupted") != true || at(state.Metadata, "error") != nil || !s.ask(still(v, time.Second), "turn_over", nil) {
			t.Errorf("put back, with %q in the input: %s by %s with %v", input, state.State, state.Rule, state.Metadata)
		}
	}
	if got := s.told(); got != "error interrupted" {
		t.Errorf("told was %q", got)
	}
	// A prompt that does not get into the input leaves what is there as it was, and told as it was.
	s.send(v, "send_prompt", map[string]any{"prompt": "lost"})
	s.show(failed, "", idleTitle)
	s.now = s.now.Add(time.Minute)
	if _, state = s.show(failed, "", idleTitle); state.State != "error" || s.told() != "" {
		t.Errorf("after a prompt that was lost: %s by %s", state.State, state.Rule)
	}
}

// TestClaudeCalls wants one id for each call of a tool, in the events and in the metadata, and one
// for each dialog.
func TestClaudeCalls(t *testing.T) {
	s := newClaudeScene(t)
	const running = "❯ twice\n\n  Appending\n  ⎿  $ echo a >> twice.txt\n\n"
	dialog := running + rule80 + "\n Bash command\n\n Append\n╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌\n echo a >> twice.txt\n╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel"
	s.show("❯ twice", "", busyTitle)
	_, state := s.show(running, "", busyTitle)
	id, _ := at(state.Metadata, "tools.0.id").(string)
	v, state := s.screen(dialog, busyTitle)
	first, _ := state.Metadata["dialog_id"].(string)
	if _, again := s.screen(dialog, idleTitle); again.Metadata["dialog_id"] != first {
		t.Errorf("the id of a dialog changes from %s to %v while it stands there", first, again.Metadata["dialog_id"])
	}
	s.send(v, "approve", map[string]any{"dialog_id": first})
	s.show(running, "", busyTitle)
	v, state = s.screen(dialog, busyTitle)
	second, _ := state.Metadata["dialog_id"].(string)
	if len(first) != 8 || second != first+"-2" {
		t.Errorf("the dialogs have the ids %q and %q", first, second)
	}
	if _, err := s.m.call(t.Context(), "approve", patient, &look{view: v, previous: s.state}, map[string]any{"dialog_id": first}); refusal(t, err) != "stale_dialog" {
		t.Errorf("the first dialog's id answers the second: %v", err)
	}
	_, state = s.show(running, "", busyTitle)
	other, _ := at(state.Metadata, "tools.0.id").(string)
	_, state = s.show("❯ twice\n\n  Ran 2 shell commands\n\n● Done.\n\n✻ Brewed for 0s", "", idleTitle)
	if ids, _ := at(state.Metadata, "tools.0.ids").([]any); !slices.Equal(ids, []any{id, other}) {
		t.Errorf("the count is of %v, want %q and %q", ids, id, other)
	}
	want := "tool_started " + id + " Bash\ntool_completed " + id + " completed\ntool_started " + other + " Bash\n" +
		"tool_completed " + other + " completed\ntext_delta Done.\nturn_complete Done."
	if got := s.told(); got != want || id == other {
		t.Errorf("told was\n%s\nwant\n%s", got, want)
	}

	// A look that comes late, of an older view, makes no new dialog and tells nothing.
	s.sequence -= 3
	if _, late := s.screen(dialog, busyTitle); late.Metadata["dialog_id"] != second || s.told() != "" {
		t.Errorf("a late look says %v", late.Metadata["dialog_id"])
	}
}

// TestClaudeDenied wants what was refused, and what failed, told as that.
func TestClaudeDenied(t *testing.T) {
	for _, c := range []struct{ name, running, after, want, status string }{
		{"denied", "  Removing\n  ⎿  $ rm -rf thing", "  Did not run 1 call\n  ⎿  $ rm -rf thing\n  ⎿  Interrupted · What should Claude do instead?", "denied\nerror interrupted", "denied"},
		{"failed", "  Listing\n  ⎿  $ ls /nonexistent", "  Listed 1 directory · 1 failed\n\n● It failed.\n\n✻ Baked for 0s", "error\ntext_delta It failed.\nturn_complete It failed.", "error"},
		{"interrupted", "● Waiting\n  ⎿  $ cat never", "● Waited\n  ⎿  $ cat never\n  ⎿  Interrupted · What should Claude do instead?", "interrupted\nerror interrupted", "interrupted"},
	} {
		s := newClaudeScene(t)
		s.show("❯ do it", "", busyTitle)
		_, state := s.show("❯ do it\n\n"+c.running, "", busyTitle)
		id, _ := at(state.Metadata, "tools.0.id").(string)
		_, state = s.show("❯ do it\n\n"+c.after, "", idleTitle)
		if got, want := s.told(), "tool_started "+id+" Bash\ntool_completed "+id+" "+c.want; got != want || at(state.Metadata, "tools.0.status") != c.status {
			t.Errorf("%s: %v, told as\n%s\nwant\n%s", c.name, at(state.Metadata, "tools.0.status"), got, want)
		}
	}
}

// TestClaudeQueued wants the messages that are queued counted, by their colour, and not taken for
// what the user said last.
func TestClaudeQueued(t *testing.T) {
	s := newClaudeScene(t)
	said := "\x1b[38;2;153;153;153m❯ \x1b[38;2;255;255;255mslow one\x1b[m"
	queued := func(text string) string { return "\x1b[38;2;153;153;153m❯ " + text + "\x1b[m" }
	if _, state := s.show(said+"\n\n"+queued("third")+"\n  ⎿  Queued · ctrl+enter to send now", "", busyTitle); at(state.Metadata, "turn.queued") != int64(1) {
		t.Errorf("what was said counts as queued: %v", state.Metadata)
	}
	_, state := s.show(said+"\n\n● Begin slow.\n\n"+queued("second\n  of two rows")+"\n\n"+queued("third")+"\n  ⎿  Queued · ctrl+enter to send now", "", busyTitle)
	if at(state.Metadata, "turn.queued") != int64(2) || at(state.Metadata, "turn.partial_text") != "Begin slow." {
		t.Errorf("with two that are queued: %v", state.Metadata)
	}
	s.told()
	// The turn that was stopped is told, although the next begins in the same frame.
	s.show(said+"\n\n● Begin slow.\n  ⎿  Interrupted · What should Claude do instead?\n\n"+said+" two\n\n"+said+" three", "", busyTitle)
	if got := s.told(); got != "text_delta Begin slow.\nerror interrupted" {
		t.Errorf("told was %q", got)
	}
}
