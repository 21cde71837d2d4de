package tools

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// atPrompt is a matcher of a shell that reads a command line.
type atPrompt struct{}

// Check matches when the shell says so.
func (atPrompt) Check(v *engine.View) engine.Result {
	if sh := v.Reports.Shell; sh != nil && sh.Phase == engine.ShellInput {
		return engine.Result{Match: &engine.Match{Kind: "prompt"}}
	}
	return engine.Result{}
}

// promptAfter is a matcher of a prompt that is another than the one before.
type promptAfter struct{ before *engine.Shell }

// Check matches when the shell reads a new command line.
func (m promptAfter) Check(v *engine.View) engine.Result {
	if v.Reports.Shell == m.before {
		return engine.Result{}
	}
	return atPrompt{}.Check(v)
}

// prompt waits for a shell to read a command line, and tells whether something stands there already.
func (p *profile) prompt(ctx context.Context, s *engine.Session, bound time.Duration) (occupied bool, err error) {
	out, err := s.Wait(ctx, emptyLine{}, engine.WaitOptions{Timeout: bound, Parked: options(ctx).Parked})
	switch {
	case err == nil && out.Match.Kind == "running":
		return false, &busyError{s.ID()}
	case err == nil:
		return out.Match.Kind == "occupied", nil
	}
	l := p.look(s, p.Hide).At(out.View)
	text, _ := screenText(l, screenBudget)
	return false, fmt.Errorf("the shell in %s does not come to a prompt: %w; its screen:\n%s", s.ID(), err, text)
}

// A busyError is about a shell that runs a command.
type busyError struct{ session engine.ID }

func (e *busyError) Error() string {
	return fmt.Sprintf("session %s is running a command: wait {\"session\":%q,\"command_finished\":true}, or send {\"session\":%q,\"keys\":[\"ctrl+c\"]}", e.session, e.session, e.session)
}

// incomplete is how long a shell is still in front of a command line that it has not begun with: it wants the rest of it.
// Shells begin within milliseconds, on a busy machine within some hundred.
const incomplete = 2 * time.Second

// notRun is how long a shell stands still at a prompt that is said not to be about to run anything. A shell that draws its prompt
// anew, or takes what was typed ahead, begins within milliseconds.
const notRun = 300 * time.Millisecond

// emptyLine is a matcher of a shell that reads a command line on which nothing stands yet.
type emptyLine struct{}

// Check matches as "prompt" when there is none, as "occupied" when what stands there stays, and as "running" when a line
// that was typed ahead is run.
func (emptyLine) Check(v *engine.View) engine.Result {
	if sh := v.Reports.Shell; sh != nil && sh.Phase == engine.ShellRunning { // what was typed ahead
		return engine.Result{Match: &engine.Match{Kind: "running"}}
	}
	r := atPrompt{}.Check(v)
	if r.Match == nil || !occupied(v) {
		return r
	}
	if quiet := v.StableFor(); quiet < notRun {
		return engine.Result{Recheck: notRun - quiet}
	}
	return engine.Result{Match: &engine.Match{Kind: "occupied"}}
}

// occupied tells whether the cursor has left the place where the shell said that its command line begins. What stands behind
// the cursor does not count: it may be a suggestion, or a prompt on the right.
func occupied(v *engine.View) bool {
	output := v.Transcript.Bytes()
	i := max(bytes.LastIndex(output, []byte("\x1b]133;A")), bytes.LastIndex(output, []byte("\x1b]633;A")))
	if i < 0 {
		return false
	}
	t := vt.New(v.Screen.Rows, v.Screen.Cols, vt.Options{})
	defer t.Release()
	var begin *vt.Event
	for _, e := range t.Feed(output[i:]).Events {
		if (e.Kind == vt.EventMark || e.Kind == vt.EventMark633) && e.Mark == 'B' {
			begin = &e
		}
	}
	s := t.Snapshot()
	h := s.History()
	return begin != nil && (begin.Col != s.Cursor.Col || begin.Line != h.Dropped()+uint64(h.Len())+uint64(s.Cursor.Row))
}

// ran is a matcher of a shell that has come through one command line.
type ran struct {
	session *engine.Session
	command string        // as it was typed
	last    uint64        // number of the last block before it
	before  *engine.Shell // what the shell had said
	looked  *engine.Shell // what it had said when its blocks were last looked at
	ours    uint64        // number of the command's block; 0: it has not begun
	ended   bool          // it has
	other   string        // the command line of another block that began after Enter
}

// Check matches when the command has ended, or the shell reads the next line without having run it.
func (m *ran) Check(v *engine.View) engine.Result {
	sh := v.Reports.Shell
	if sh == nil || sh == m.before {
		if quiet := v.StableFor(); quiet < incomplete {
			return engine.Result{Recheck: incomplete - quiet}
		}
		return engine.Result{Match: &engine.Match{Kind: "incomplete"}}
	}
	if sh != m.looked { // blocks begin and end with marks
		m.looked = sh
		m.look(sh)
	}
	switch {
	case m.ended:
		return engine.Result{Match: &engine.Match{Kind: "command_finished"}}
	case m.ours == 0 && sh.Phase == engine.ShellInput: // or it has drawn its prompt anew, and is about to begin
		if quiet := v.StableFor(); quiet < notRun {
			return engine.Result{Recheck: notRun - quiet}
		}
		return engine.Result{Match: &engine.Match{Kind: "not_run"}}
	}
	return engine.Result{}
}

// look finds the command's block: the first after Enter with the same command line, as far as the shell tells them. One that
// was typed before ours may begin after our Enter.
func (m *ran) look(sh *engine.Shell) {
	blocks, how := m.session.Blocks(m.last)
	for i := range blocks {
		b := &blocks[i]
		told := how == engine.IntegrationOSC633 && sh.Command != ""
		if m.ours == 0 && (!told || sameLine(b.Command, m.command)) {
			m.ours = b.Number
		}
		switch {
		case b.Number == m.ours:
			m.ended = !b.Ended.IsZero()
		case m.ours == 0:
			m.other = b.Command
		}
	}
}

// block is the command's own, as it is now; nil: it has not begun.
func (m *ran) block() *engine.Block {
	if m.ours == 0 {
		return nil
	}
	blocks, _ := m.session.Blocks(m.ours - 1)
	if len(blocks) == 0 || blocks[0].Number != m.ours {
		return nil
	}
	return &blocks[0]
}

// cutLine is the length from which on the terminal may have cut a command line that the shell tells.
const cutLine = 8 << 10

// sameLine tells whether a shell's word for a command line is what was typed. A shell may change the blanks of it, may put
// several lines into one, and bash runs the first of several lines that were pasted as a command of its own.
func sameLine(told, typed string) bool {
	typed = strings.TrimSpace(typed)
	if begin, cut := strings.CutSuffix(told, "…"); cut && len(told) >= cutLine/2 {
		return strings.HasPrefix(words(typed), words(begin))
	}
	if words(told) == words(typed) {
		return true
	}
	first, _, several := strings.Cut(typed, "\n")
	return several && (words(told) == words(first) || words(strings.ReplaceAll(told, ";", " ")) == words(strings.ReplaceAll(typed, ";", " ")))
}

// words is a command line with single blanks.
func words(line string) string { return strings.Join(strings.Fields(line), " ") }
