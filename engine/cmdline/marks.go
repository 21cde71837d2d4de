package cmdline

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// Prompt waits until a shell with marks reads an empty command line. What the program, or a job in
// the background, has printed after the prompt does not count: it was not typed. Errors:
// *[BusyError] when a line that was typed ahead runs, *[OccupiedError], *[PromptError] when bound
// has passed or the session has ended, or the cause of ctx's end.
func Prompt(ctx context.Context, s *engine.Session, bound time.Duration, parked func()) error {
	_, err := prompt(ctx, s, bound, parked)
	return err
}

// prompt is Prompt, and also returns the view of the prompt, or nil at one without marks.
func prompt(ctx context.Context, s *engine.Session, bound time.Duration,
	parked func()) (*engine.View, error) {
	out, err := s.Wait(ctx, &emptyLine{session: s}, engine.Within(bound), engine.Parked(parked))
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, err
	case err != nil:
		return nil, &PromptError{Session: s.ID(), View: out.View, Err: err}
	case out.Match.Kind == "running":
		return nil, &BusyError{Session: s.ID()}
	case out.Match.Kind == "occupied":
		return nil, &OccupiedError{Session: s.ID(), Line: cursorRow(out.View), View: out.View}
	case out.Match.Kind == "unmarked":
		return nil, nil
	}
	return out.View, nil
}

// cursorRow is the row that the cursor is in.
func cursorRow(v *engine.View) string {
	rows := v.Screen.Lines()
	if c := v.Screen.Cursor; c.Row < len(rows) {
		return strings.TrimSpace(rows[c.Row])
	}
	return ""
}

// atPrompt reports whether a shell has marked that it reads a command line.
func atPrompt(v *engine.View) bool {
	return v.Reports.Shell != nil && v.Reports.Shell.Phase == engine.ShellInput
}

// promptAfter is a matcher of a prompt other than the one before.
type promptAfter struct {
	before *engine.Shell
	quiet  time.Duration // for how long it must be unchanged
}

// Check matches when the shell reads a new command line.
func (m promptAfter) Check(v *engine.View) engine.Result {
	switch quiet := v.StableFor(); {
	case v.Reports.Shell == m.before || !atPrompt(v):
		return engine.Result{}
	case quiet < m.quiet:
		return engine.Result{Recheck: m.quiet - quiet}
	}
	return engine.Matched("prompt")
}

// emptyLine is a matcher of a shell that reads an empty command line.
type emptyLine struct {
	session *engine.Session
	seen    time.Time // when the shell was first seen to read a line
}

// Check matches as "prompt" when the line is empty, as "occupied" when it is not, and as "running"
// when a line that was typed ahead runs. Typed text is known before the shell shows it. Where keys
// alone do not say what became of it the screen does, once the shell had its time.
func (m *emptyLine) Check(v *engine.View) engine.Result {
	if sh := v.Reports.Shell; sh != nil && sh.Phase == engine.ShellRunning { // it was typed ahead
		return engine.Matched("running")
	}
	if !atPrompt(v) {
		return m.unmarked(v)
	}
	if m.seen.IsZero() {
		m.seen = v.At
	}
	since := v.Typed.At
	if m.seen.After(since) && (v.Typed.Ahead || v.Typed.Interrupted) {
		since = m.seen
	}
	switch t := &v.Typed; {
	// After an interrupt a shell still discards what is typed for a moment after its prompt
	// appears.
	case t.Nothing() && !t.Interrupted:
		return engine.Matched("prompt")
	case t.Line != "" && !t.Keys && !t.Ahead:
		return engine.Matched("occupied")
	case v.At.Sub(since) < settled:
		return engine.Result{Recheck: settled - v.At.Sub(since)}
	case t.Nothing():
		return engine.Matched("prompt")
	case occupied(v) || t.Line != "" && under(v):
		return engine.Matched("occupied")
	}
	return engine.Matched("prompt")
}

// unmarked matches as "unmarked" when a shell with marks reads a line at a prompt without: an
// interrupt has ended what would have marked it. The next prompt has marks again.
func (m *emptyLine) unmarked(v *engine.View) engine.Result {
	if unmarked(v) || !v.Typed.Interrupted || !v.Screen.Modes.BracketedPaste {
		return engine.Result{}
	}
	if mode, err := m.session.LineMode(); err != nil || mode.Canonical {
		return engine.Result{}
	}
	if quiet := v.StableFor(); quiet < settled {
		return engine.Result{Recheck: settled - quiet}
	}
	return engine.Matched("unmarked")
}

// under reports whether there is a character under the cursor: it was moved back into a line.
func under(v *engine.View) bool {
	c := v.Screen.Cursor
	rows := v.Screen.Lines()
	if c.Row >= len(rows) {
		return false
	}
	cells := []rune(rows[c.Row])
	return c.Col < len(cells) && cells[c.Col] != ' '
}

// occupied reports whether the cursor has left the place where the shell marked the beginning of
// its command line. What is after the cursor does not count: it may be a suggestion, or a
// right-hand prompt.
func occupied(v *engine.View) bool {
	output := v.Transcript.Bytes()
	i := max(bytes.LastIndex(output, []byte("\x1b]133;A")),
		bytes.LastIndex(output, []byte("\x1b]633;A")))
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

// end is the position after everything that a screen shows up to its cursor.
func end(s *vt.Screen) vt.Position {
	h := s.History()
	return vt.Position{Line: h.Dropped() + uint64(h.Len()) + uint64(s.Cursor.Row),
		Col: s.Cursor.Col}
}

// pasteable matches a shell with bracketed paste enabled: zsh enables it a moment after its prompt.
var pasteable engine.Func = func(v *engine.View) bool { return v.Screen.Modes.BracketedPaste }

// typeable reports whether a shell's line editor takes a line as typed. Control characters are keys
// to it, several lines have to be pasted, and a tab completes the word before it; fish drops it
// even from pasted text.
func typeable(ctx context.Context, s *engine.Session, line string, o *Options) (bool, error) {
	if strings.ContainsFunc(line,
		func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f }) {
		return false, nil
	}
	if !pasted(line) {
		return true, nil
	}
	if strings.Contains(line, "\t") && shellOf(filepath.Base(s.Config().Program)) == Fish {
		return false, nil
	}
	_, err := s.Wait(ctx, pasteable, engine.Within(pasteBound), engine.Parked(o.Parked))
	if ctx.Err() != nil {
		return false, err
	}
	return err == nil, nil
}

// pasted reports whether a line is to be pasted.
func pasted(line string) bool { return strings.ContainsAny(line, "\n\t") }

// errMoved: something was typed, or the shell has left its prompt, between the check and the line.
var errMoved = errors.New("something was typed meanwhile")

// eraseLine is the key that makes a line editor delete what is before the cursor: Ctrl+U.
const eraseLine = "\x15"

// byMarks types a line as it is at the prompt that v shows, and waits for the mark of its end.
// Errors: errMoved.
func byMarks(ctx context.Context, s *engine.Session, line string, o *Options,
	v *engine.View) (*Result, error) {
	_, how := s.Blocks(math.MaxUint64)
	h := &hearing{line: line, any: how != engine.IntegrationOSC633}
	if err := s.Attach(func(*engine.View) (engine.Tap, error) { return h, nil }); err != nil {
		return nil, err
	}
	defer s.Detach(h) // its Close does not fail
	keys := line
	if pasted(line) {
		p, _ := vt.BracketedPaste(line)
		keys = string(p)
	}
	if occupied(v) { // not typed: mostly by a background job, otherwise the shell's own suggestion
		keys = eraseLine + keys
	}
	only := engine.Only(func(now *engine.View) error {
		if sh := now.Reports.Shell; now.Typed.Bytes != v.Typed.Bytes || sh == nil ||
			sh.Phase != engine.ShellInput {
			return errMoved
		}
		return nil
	})
	// In one: nobody else's input comes between.
	sent, err := s.Do(ctx, engine.Text(keys+"\r"), only, o.Lease, o.By, engine.Parked(o.Parked))
	if err != nil {
		return nil, err
	}
	m := &ran{session: s, hearing: h, before: v.Reports.Shell, giveUp: o.GiveUp, typed: time.Now()}
	out, err := s.Wait(ctx, m, engine.Within(o.Timeout), engine.Parked(o.Parked))
	r := &Result{Reason: reasonOf(out, err), By: Marks, Since: sent.Sequence, Began: m.typed,
		Duration: out.View.At.Sub(m.typed), View: out.View}
	h.tell(s, r)
	if r.Block == nil && r.Reason != Timeout {
		r.Output = refusal(s, r)
		r.Raw = r.Output
	}
	r.end(true)
	stays := h.stays(s)
	if stays { // a shell that draws its prompt may miss an interrupt
		m := promptAfter{before: out.View.Reports.Shell, quiet: settled}
		if _, err := s.Wait(ctx, m, engine.Within(readyBound),
			engine.Parked(o.Parked)); ctx.Err() != nil {
			return nil, err
		}
	}
	if stays || r.Reason == Incomplete { // the next command must not continue this one
		if err := giveUp(ctx, s, o); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// pasteOff is what a line editor with bracketed paste writes once it has taken a line.
var pasteOff = []byte("\x1b[?2004l")

// refusal is a shell's message about a line for which it marked no command.
func refusal(s *engine.Session, r *Result) string {
	raw, _, dropped := r.View.Transcript.Since(s.OffsetAt(r.Since))
	if dropped {
		return ""
	}
	_, said, ok := bytes.Cut(raw, pasteOff) // what is before it is the line's echo
	if !ok {
		_, said, _ = bytes.Cut(raw, []byte("\n"))
	}
	for _, mark := range []string{"\x1b]133;", "\x1b]633;"} {
		said, _, _ = bytes.Cut(said, []byte(mark))
	}
	return render(said, r.View.Screen.Rows, r.View.Screen.Cols)
}

// reasonOf returns why a wait ended.
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

// end reports the end of the shell instead of the command's: a session that is killed gives its
// programs time for last words, and what a shell then says about the command is not how that ended.
// own: the shell is the session's program.
func (r *Result) end(own bool) {
	if r.View.Killed && r.Reason != Cancelled {
		r.Reason, r.ExitCode = Ended, nil
		if r.Block != nil {
			r.Block.Exited, r.Block.ExitCode = false, 0
		}
		return
	}
	if r.Reason == Ended && own {
		r.ExitCode = exitCode(r.View)
	}
}

// exitCode is the session's own; nil when a signal ended it, or it is unknown.
func exitCode(v *engine.View) *int {
	if v.Exit == nil || v.Exit.Signal != "" || v.Exit.Code < 0 {
		return nil
	}
	code := v.Exit.Code
	return &code
}

// giveUp abandons an incomplete command line, and waits for the prompt after it.
func giveUp(ctx context.Context, s *engine.Session, o *Options) error {
	v := s.View()
	if _, err := s.Do(ctx, engine.Interrupt{}, o.Lease, o.By, engine.Parked(o.Parked)); err != nil {
		return err
	}
	m := promptAfter{before: v.Reports.Shell}
	_, err := s.Wait(ctx, m, engine.Within(readyBound), engine.Parked(o.Parked))
	if errors.Is(err, engine.ErrTimeout) {
		return nil
	}
	return err
}

// incomplete is how long a shell must be quiet after a command line that it has not begun to run:
// it wants the rest of it. Shells begin within milliseconds, on a busy machine within some hundred.
const incomplete = 2 * time.Second

// ran is a matcher of a shell that is done with one command line.
type ran struct {
	session *engine.Session
	hearing *hearing
	giveUp  bool          // an incomplete line is an answer
	typed   time.Time     // when Enter was: quiet before that does not count
	before  *engine.Shell // the shell's reports before
	said    *engine.Shell // its last reports
	at      time.Time     // when that was seen
}

// Check matches when the command has ended, or the shell reads the next line without having run it.
func (m *ran) Check(v *engine.View) engine.Result {
	sh := v.Reports.Shell
	if sh != m.said {
		m.said, m.at = sh, v.At
	}
	begun, ended := m.hearing.begun()
	switch {
	case ended:
		return engine.Matched(string(Finished))
	case v.Exit != nil:
		return engine.Matched(string(Ended))
	case begun:
		return m.replaced(v)
	// It redraws its prompt before it takes what was pasted.
	case sh == nil || sh == m.before || v.Typed.Entered:
		if !m.giveUp || sh != nil && sh.Phase == engine.ShellRunning {
			return engine.Result{}
		}
		if quiet := min(v.StableFor(), v.At.Sub(m.typed)); quiet < incomplete {
			return engine.Result{Recheck: incomplete - quiet}
		}
		return engine.Matched(string(Incomplete))
	case sh.Phase == engine.ShellInput: // a new prompt, or about to run what was typed ahead
		if quiet := v.At.Sub(m.at); quiet < settled {
			return engine.Result{Recheck: settled - quiet}
		}
		return engine.Matched(string(NotRun))
	}
	return engine.Result{}
}

// replaced matches when the shell was replaced by another, which reads a line: nothing else reports
// the end.
func (m *ran) replaced(v *engine.View) engine.Result {
	mode, err := m.session.LineMode()
	if err != nil || mode.Canonical || !v.Screen.Modes.BracketedPaste || !m.session.Replaced() {
		return engine.Result{}
	}
	if who, err := m.session.Foreground(); err != nil || !who.Leader || shellOf(who.Name) == "" {
		return engine.Result{}
	}
	if quiet := v.StableFor(); quiet < settled {
		return engine.Result{Recheck: settled - quiet}
	}
	return engine.Matched(string(Finished))
}
