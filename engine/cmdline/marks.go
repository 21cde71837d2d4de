package cmdline

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// Prompt waits for a shell with marks to read a command line on which nothing stands yet.
// Errors: *[BusyError] when a line that was typed ahead is run, *[OccupiedError], *[PromptError] when bound is over or the session
// has ended, or the cause of ctx's end.
func Prompt(ctx context.Context, s *engine.Session, bound time.Duration, parked func()) error {
	out, err := s.Wait(ctx, emptyLine{}, engine.WaitOptions{Timeout: bound, Parked: parked})
	switch {
	case ctx.Err() != nil && err != nil:
		return err
	case err != nil:
		return &PromptError{Session: s.ID(), View: out.View, Err: err}
	case out.Match.Kind == "running":
		return &BusyError{Session: s.ID()}
	case out.Match.Kind == "occupied":
		return &OccupiedError{Session: s.ID(), Line: cursorRow(out.View), View: out.View}
	}
	return nil
}

// cursorRow is the row that the cursor is in.
func cursorRow(v *engine.View) string {
	rows := v.Screen.Lines()
	if c := v.Screen.Cursor; c.Row < len(rows) {
		return strings.TrimSpace(rows[c.Row])
	}
	return ""
}

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
	if quiet := v.StableFor(); quiet < settled {
		return engine.Result{Recheck: settled - quiet}
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
	at := end(t.Snapshot())
	return begin != nil && (begin.Col != at.Col || begin.Line != at.Line)
}

// end is the position behind everything that a screen shows up to its cursor.
func end(s *vt.Screen) vt.Position {
	h := s.History()
	return vt.Position{Line: h.Dropped() + uint64(h.Len()) + uint64(s.Cursor.Row), Col: s.Cursor.Col}
}

// pasteable is a matcher of a shell that takes a paste as one: zsh says so a moment after its prompt.
type pasteable struct{}

// Check matches in that mode.
func (pasteable) Check(v *engine.View) engine.Result {
	if v.Screen.Modes.BracketedPaste {
		return engine.Result{Match: &engine.Match{Kind: "pasteable"}}
	}
	return engine.Result{}
}

// typeable reports whether a shell's own line editor takes a line as it is. Control characters are keys to it, several lines
// have to be pasted, and a tab completes what stands before it; fish drops it even from what is pasted.
func typeable(ctx context.Context, s *engine.Session, line string, o *Options) (bool, error) {
	if strings.ContainsFunc(line, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f }) {
		return false, nil
	}
	if !pasted(line) {
		return true, nil
	}
	if strings.Contains(line, "\t") && shellOf(filepath.Base(s.Config().Program)) == Fish {
		return false, nil
	}
	_, err := s.Wait(ctx, pasteable{}, engine.WaitOptions{Timeout: pasteBound, Parked: o.Parked})
	if ctx.Err() != nil {
		return false, err
	}
	return err == nil, nil
}

// pasted reports whether a line is to be pasted.
func pasted(line string) bool { return strings.ContainsAny(line, "\n\t") }

// byMarks types a line as it is, and waits for the shell's word that it has ended.
func byMarks(ctx context.Context, s *engine.Session, line string, o *Options) (*Result, error) {
	v := s.View()
	m := &ran{session: s, command: line, before: v.Reports.Shell, giveUp: o.GiveUp}
	if blocks, _ := s.Blocks(0); len(blocks) > 0 {
		m.last = blocks[len(blocks)-1].Number
	}
	keys := line
	if pasted(line) {
		p, _ := vt.BracketedPaste(line)
		keys = string(p)
	}
	sent, err := s.Do(ctx, engine.Text(keys+"\r"), o.do()) // in one: nothing another types comes between
	if err != nil {
		return nil, err
	}
	m.typed = time.Now()
	out, err := s.Wait(ctx, m, engine.WaitOptions{Timeout: o.Timeout, Parked: o.Parked})
	r := &Result{Reason: reasonOf(out, err), By: Marks, Since: sent.Sequence, Began: m.typed, Duration: out.View.At.Sub(m.typed), View: out.View}
	if r.Reason == NotRun {
		r.Other = m.other
	}
	if b := m.block(); b != nil {
		r.Block = b
		r.Output, r.Cut = trim(b.Output), !b.Whole
		switch sh := out.View.Reports.Shell; {
		case b.Exited:
			r.ExitCode = &b.ExitCode
		case r.Reason == Finished && b.Ended.IsZero() && sh.Exited:
			r.ExitCode = &sh.ExitCode
			r.Output = trim(out.View.Screen.Text())
		}
		if r.Reason == Finished && !b.Ended.IsZero() {
			r.Duration = b.Ended.Sub(b.Started)
		}
	}
	if r.Output == "" && r.Reason != Timeout {
		r.Output = refusal(s, r)
	}
	if r.Reason == Ended {
		r.ExitCode = exitCode(out.View)
	}
	if r.Reason == Incomplete { // back to a prompt: the next command is not the rest of this one
		if err := giveUp(ctx, s, o); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// refusal is what a shell has said of a line before it marked the beginning of a command, or in place of that: what is wrong with it.
func refusal(s *engine.Session, r *Result) string {
	raw, _, dropped := r.View.Transcript.Since(s.OffsetAt(r.Since))
	if dropped {
		return ""
	}
	_, raw, _ = bytes.Cut(raw, []byte("\n")) // what is in front is the line's echo
	for _, mark := range []string{"\x1b]133;", "\x1b]633;"} {
		raw, _, _ = bytes.Cut(raw, []byte(mark))
	}
	text, _ := render(raw, r.View.Screen.Rows, r.View.Screen.Cols)
	return text
}

// reasonOf says why a wait ended.
func reasonOf(out *engine.Outcome, err error) Reason {
	switch {
	case err == nil:
		return Reason(out.Match.Kind)
	case errors.Is(err, engine.ErrEnded), errors.Is(err, engine.ErrClosed):
		return Ended
	case errors.Is(err, engine.ErrTimeout):
		return Timeout
	}
	return Cancelled
}

// exitCode is the session's own; nil when a signal ended it, or nobody knows.
func exitCode(v *engine.View) *int {
	if v.Exit == nil || v.Exit.Signal != "" || v.Exit.Code < 0 {
		return nil
	}
	code := v.Exit.Code
	return &code
}

// giveUp leaves a command line that is not complete, and waits for the prompt after it.
func giveUp(ctx context.Context, s *engine.Session, o *Options) error {
	v := s.View()
	if _, err := s.Do(ctx, engine.Interrupt{}, o.do()); err != nil {
		return err
	}
	if _, err := s.Wait(ctx, promptAfter{v.Reports.Shell}, engine.WaitOptions{Timeout: readyBound, Parked: o.Parked}); err != nil && !errors.Is(err, engine.ErrTimeout) {
		return err
	}
	return nil
}

// incomplete is how long a shell is still in front of a command line that it has not begun with: it wants the rest of it.
// Shells begin within milliseconds, on a busy machine within some hundred.
const incomplete = 2 * time.Second

// ran is a matcher of a shell that has come through one command line.
type ran struct {
	session *engine.Session
	command string        // as it was typed
	giveUp  bool          // a line that is not complete is an answer
	typed   time.Time     // when Enter was: what was still before does not count
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
	if sh != m.looked { // blocks begin and end with marks
		m.looked = sh
		m.look(sh)
	}
	quiet := min(v.StableFor(), v.At.Sub(m.typed))
	switch {
	case m.ended, m.ours != 0 && left(v, m.before):
		return engine.Result{Match: &engine.Match{Kind: string(Finished)}}
	case v.Exit != nil:
		return engine.Result{Match: &engine.Match{Kind: string(Ended)}}
	case sh == nil || sh == m.before:
		if !m.giveUp {
			return engine.Result{}
		}
		if quiet < incomplete {
			return engine.Result{Recheck: incomplete - quiet}
		}
		return engine.Result{Match: &engine.Match{Kind: string(Incomplete)}}
	case m.ours == 0 && sh.Phase == engine.ShellInput: // or it has drawn its prompt anew, and is about to begin
		if quiet < settled {
			return engine.Result{Recheck: settled - quiet}
		}
		return engine.Result{Match: &engine.Match{Kind: string(NotRun)}}
	}
	return engine.Result{}
}

// left reports whether a command has ended without leaving the alternate screen: its block does not tell.
func left(v *engine.View, before *engine.Shell) bool {
	sh := v.Reports.Shell
	return v.Screen.Modes.AltScreen && sh != nil && sh.Phase != engine.ShellRunning && (before == nil || sh.Commands > before.Commands)
}

// look finds the command's block: the first after Enter with the same command line, as far as the shell tells them. One that
// was typed before ours may begin after our Enter.
func (m *ran) look(sh *engine.Shell) {
	if sh == nil {
		return
	}
	blocks, how := m.session.Blocks(m.last)
	for i := range blocks {
		b := &blocks[i]
		told := how == engine.IntegrationOSC633 && sh.Command != ""
		if m.ours == 0 && (!told || sameLine(b.Command, m.command)) {
			m.ours = b.Number
		}
		switch {
		case b.Number == m.ours: // the end of the session ends it, too
			m.ended = !b.Ended.IsZero() && (b.Exited || sh.Phase != engine.ShellRunning)
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
