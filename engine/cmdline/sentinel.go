package cmdline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// A turn is the state of the command lines run in one session. The line that runs now holds it.
type turn struct {
	session *engine.Session
	late    *listener // of the line before; nil when its end was not detected by it
}

// turns are the sessions in which a line runs, and those in which one ran: at most one entry each.
var turns = struct {
	mu sync.Mutex
	// protects the fields below
	busy map[*engine.Session]bool
	late map[*engine.Session]*listener
}{busy: map[*engine.Session]bool{}, late: map[*engine.Session]*listener{}}

// takeTurn keeps other lines from running in a session until the turn is released. Errors:
// *[BusyError].
func takeTurn(s *engine.Session) (*turn, error) {
	turns.mu.Lock()
	defer turns.mu.Unlock()
	if turns.busy[s] {
		return nil, &BusyError{Session: s.ID()}
	}
	turns.busy[s] = true
	return &turn{session: s, late: turns.late[s]}, nil
}

func (t *turn) release() {
	turns.mu.Lock()
	defer turns.mu.Unlock()
	delete(turns.busy, t.session)
}

// leave keeps a listener attached, for the end of a command that still runs, and to know whether
// the shell is still at the prompt after one that has ended, until the session ends or the next
// line runs.
func (t *turn) leave(l *listener) {
	l.forget()
	turns.mu.Lock()
	defer turns.mu.Unlock()
	if !l.closed {
		turns.late[t.session] = l
	}
}

// drop removes a listener from its session.
func (t *turn) drop(l *listener) {
	if l != nil {
		_ = t.session.Detach(l) // its Close does not fail
	}
}

// Close stops the listener: it gets nothing more.
func (l *listener) Close() error {
	turns.mu.Lock()
	defer turns.mu.Unlock()
	l.closed = true
	if turns.late[l.session] == l {
		delete(turns.late, l.session)
	}
	return nil
}

// A place is where a line is typed.
type place struct {
	shell   Shell
	pid     int    // of the program that has the terminal; 0: unknown
	leader  bool   // that is the session's own program
	direct  bool   // it is the shell itself, not a program that leads to one
	program string // its name
	keys    bool   // it reads every key
	prompt  string // the cursor's row
	typed   uint64 // bytes typed before
}

// find says which shell has a session's terminal, once it reads a line. A shell with a line editor,
// and a program that leads to one elsewhere, then read every key; whether any other shell reads a
// line cannot be known.
func find(ctx context.Context, s *engine.Session, o *Options, before *listener) (*place, error) {
	for until := time.Now().Add(readyBound); ; {
		p, err := look(ctx, s, o, before)
		if err != nil || p != nil {
			return p, err
		}
		if time.Now().After(until) { // one script after the other
			return nil, &BusyError{Session: s.ID()}
		}
	}
}

// look is one attempt of find; it returns nil when another program got the terminal in between: a
// subshell, a script, or a program of the prompt that was about to end.
func look(ctx context.Context, s *engine.Session, o *Options, before *listener) (*place, error) {
	p := &place{leader: true, program: filepath.Base(s.Config().Program)}
	who, err := s.Foreground()
	switch {
	case errors.Is(err, engine.ErrEnded), errors.Is(err, engine.ErrClosed):
		return nil, err
	case err == nil && who.Name != "":
		p.pid, p.leader, p.program = who.PID, who.Leader, who.Name
	}
	p.shell = shellOf(p.program)
	p.direct = p.shell != ""
	// By the name it was started under: of a script, or of one program with many names.
	if !p.direct && p.leader && !s.Replaced() {
		p.shell = shellOf(filepath.Base(s.Config().Program))
		p.direct = p.shell != ""
	}
	switch {
	case p.direct:
	case carriers()[p.program]:
		p.shell = Unknown
	case p.leader && o.Shell == "":
		return nil, &NoShellError{Session: s.ID(), Program: p.program}
	case !p.leader:
		_, err := s.Wait(ctx, gone(s, p.pid), engine.Within(settled), engine.Parked(o.Parked))
		if err == nil || ctx.Err() != nil {
			return nil, err // which is nil when it has gone
		}
		return nil, &BusyError{Session: s.ID(), Program: p.program}
	}
	edits := !p.direct || editsLines(p.shell)
	if o.Shell != "" {
		p.shell = o.Shell
	}
	out, err := s.Wait(ctx,
		&ready{session: s, where: p, edits: edits, before: before, began: time.Now()},
		engine.Within(readyBound), engine.Parked(o.Parked))
	if ctx.Err() != nil {
		return nil, err
	}
	if err == nil && out.Match.Kind == "gone" {
		return nil, nil
	}
	reads := err == nil && out.Match.Kind == "keys"
	typed, _ := s.Wait(ctx, typedLine{before, p}, engine.Within(readyBound),
		engine.Parked(o.Parked))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	v := typed.View
	p.typed = v.Typed.Bytes
	if typed.Match != nil && typed.Match.Kind == "occupied" {
		return nil, &OccupiedError{Session: s.ID(), Line: cursorRow(v), View: v}
	}
	p.prompt = cursorRow(v)
	if mode, err := s.LineMode(); err == nil {
		p.keys = !mode.Canonical
	}
	switch goesOn := before.goesOn(); {
	// Nothing can have completed it.
	case goesOn && before.open && before.typed.Lines == v.Typed.Lines:
		return nil, &OccupiedError{Session: s.ID(), Line: p.prompt, View: v}
	case v.Exit != nil || v.Ended:
		return nil, engine.ErrEnded
	case v.Secret &&
		!(p.direct &&
			(before.atPrompt(v, p.pid) || v.Typed.Interrupted && v.At.Sub(v.Typed.At) >= settled)):
		return nil, &BusyError{Session: s.ID(), Program: p.program, Secret: true}
	case err != nil, !reads && !p.direct, !p.leader && p.prompt == "":
		return nil, &BusyError{Session: s.ID(), Program: p.program}
	// It is over, as far as is known.
	case !goesOn || before.pid != p.pid || before.prompt == "" || before.prompt == p.prompt:
	case edits && reads:
		return nil, &OccupiedError{Session: s.ID(), Line: p.prompt, View: v}
	default:
		return nil, &BusyError{Session: s.ID()}
	}
	return p, nil
}

// gone matches when another program than the process has the terminal. Its successor writes
// something: a prompt.
func gone(s *engine.Session, pid int) engine.Func {
	return func(v *engine.View) bool {
		who, err := s.Foreground()
		return err == nil && who.PID != pid || v.Exit != nil
	}
}

// ready is a matcher of a shell that reads a line.
type ready struct {
	session *engine.Session
	where   *place
	edits   bool      // with an editor, which reads every key
	before  *listener // of the line before
	began   time.Time // when the wait began
}

// promptSaid is how long a shell may take to write its prompt, and an editor to enable bracketed
// paste, once it could read. It takes less than a millisecond. What is typed before is shown twice,
// and by some editors once for each character.
const promptSaid = 50 * time.Millisecond

// firstPrompt is how long a shell that was never typed to may take to its prompt before it is
// assumed to have none: it may just have been started, on a busy machine.
const firstPrompt = time.Second

// Check matches as "keys" when an editor is at work, and as "lines" when there is none, or one that
// may exist is quiet. An editor changes the terminal's mode before it writes its prompt, so there
// is a change to check for. An interrupt of the line before must be over: until then a shell
// discards what is typed. A shell within the shell must be quiet: it may run a script, and be about
// to end.
func (m *ready) Check(v *engine.View) engine.Result {
	if wait := m.before.unsettled(v.At); wait > 0 {
		return engine.Result{Recheck: wait}
	}
	if wait := settled - v.At.Sub(v.Typed.At); v.Typed.Interrupted && wait > 0 {
		return engine.Result{Recheck: wait}
	}
	mode, err := m.session.LineMode()
	keys, quiet := err != nil || !mode.Canonical, v.StableFor()
	if !m.where.leader {
		if gone(m.session, m.where.pid)(v) {
			return engine.Matched("gone")
		}
		if quiet < settled {
			return engine.Result{Recheck: settled - quiet}
		}
	}
	row := cursorRow(v)
	if first := v.At.Sub(m.began); v.Typed.Bytes == 0 && m.where.leader && row == "" &&
		first < firstPrompt {
		return engine.Result{Recheck: firstPrompt - first}
	}
	said := row != "" && (!m.edits || v.Screen.Modes.BracketedPaste)
	switch {
	// A job may never be quiet.
	case (keys || !m.edits) && !said && quiet < promptSaid && v.At.Sub(m.began) < settled:
		return engine.Result{Recheck: promptSaid - quiet}
	case keys:
		return engine.Matched("keys")
	case m.edits && !m.where.direct:
		return engine.Result{}
	// A job may never be quiet.
	case m.edits && quiet < settled &&
		(v.At.Sub(m.began) < settled || !m.before.atPrompt(v, m.where.pid)):
		return engine.Result{Recheck: settled - quiet}
	}
	return engine.Matched("lines")
}

// typedLine is a matcher of a line editor that shows what was typed.
type typedLine struct {
	before *listener
	where  *place
}

// Check matches as "occupied" when the typed text is in front of the cursor, or the cursor was
// moved back into it, and as "free" when it is not, once the editor had its time. What read it then
// is unknown; it is no longer on the line.
func (m typedLine) Check(v *engine.View) engine.Result {
	typed := strings.TrimRight(v.Typed.Line, " ")
	switch {
	case typed == "" && v.Typed.Dropped != "": // the interrupt had its time
		row := cursorRow(v)
		if strings.HasSuffix(row, strings.TrimRight(v.Typed.Dropped, " ")) ||
			strings.HasSuffix(row, "^C") {
			return engine.Matched("occupied")
		}
		return engine.Matched("free")
	case typed == "":
		return engine.Matched("free")
	case m.before.onLine(v, m.where.pid), m.where.direct && m.where.leader && v.Typed.Lines == 0 &&
		!v.Typed.Keys:
		return engine.Matched("occupied")
	}
	row := inFront(v)
	if n := len(row); 0 < n && n < len(typed) { // it began further up
		typed = typed[len(typed)-n:]
	}
	switch quiet := v.At.Sub(v.Typed.At); {
	case strings.HasSuffix(row, typed):
		return engine.Matched("occupied")
	case quiet < settled:
		return engine.Result{Recheck: settled - quiet}
	case v.Typed.Keys && under(v):
		return engine.Matched("occupied")
	}
	return engine.Matched("free")
}

// inFront is the text in front of the cursor in its row.
func inFront(v *engine.View) string {
	at := end(v.Screen)
	row, _ := v.Screen.Between(vt.Position{Line: at.Line}, at, 4<<10)
	return strings.TrimRight(row, " ")
}

// bySentinel types a line that reports its own end. Errors: errMoved, with nothing typed.
func bySentinel(ctx context.Context, s *engine.Session, line string, o *Options,
	t *turn) (*Result, error) {
	marker := o.Marker
	if marker == "" {
		marker = NewMarker()
	}
	where, err := find(ctx, s, o, t.late)
	if err != nil {
		return nil, err
	}
	text, begin, last, err := source(where.shell, line, marker,
		!where.keys || !editsLines(where.shell))
	if err != nil {
		return nil, err
	}
	unfinished := where.shell != PowerShell && where.shell != Cmd && open(line)
	if unfinished { // as a person would have typed it
		text = line
	}
	keys := strings.ReplaceAll(text, "\n", "\r")
	if s.View().Screen.Modes.BracketedPaste {
		p, _ := vt.BracketedPaste(text)
		keys = string(p)
	}
	count := func() uint64 { return s.View().Typed.Bytes }
	l := &listener{session: s, count: count, begin: begin, end: last, prompt: where.prompt,
		pid: where.pid, open: unfinished}
	if err := s.Attach(func(v *engine.View) (engine.Tap, error) {
		l.rows, l.cols, l.heard = v.Screen.Rows, v.Screen.Cols, v.At
		return l, nil
	}); err != nil {
		return nil, err
	}
	t.drop(t.late)
	only := engine.Only(func(now *engine.View) error {
		if now.Typed.Bytes != where.typed {
			return errMoved
		}
		return nil
	})
	// In one: nobody else's input comes between.
	sent, err := s.Do(ctx, engine.Text(keys+"\r"), only, o.Lease, o.By, engine.Parked(o.Parked))
	if err != nil {
		t.drop(l)
		return nil, err
	}
	t.drop(t.late)
	if v := s.View(); v.Typed.Bytes == where.typed+uint64(sent.Written) {
		l.typed = v.Typed
	}
	began := time.Now()
	event := &engine.Event{Kind: engine.EventCommand, State: engine.Running, Text: line,
		By: string(o.By)}
	s.Note(event)
	out, err := s.Wait(ctx, &told{session: s, listener: l, where: where, typed: began},
		engine.Within(o.Timeout), engine.Parked(o.Parked))
	r := &Result{Reason: reasonOf(out, err), By: Sentinel, Marker: marker, Since: sent.Sequence,
		Began: began, Duration: out.View.At.Sub(began), View: out.View}
	printed := l.output()
	r.Output, r.Raw, r.Above, r.Cut = printed.Plain, printed.Raw, printed.Above, printed.Cut
	h := l.heardSoFar()
	switch r.Reason {
	case Finished:
		r.ExitCode = code(h.status)
		if !h.done { // the prompt came instead of the marker
			r.Output, r.Raw = beforePrompt(r.Output, where.prompt),
				beforePrompt(r.Raw, where.prompt)
		}
		// Text already on the command line changed its meaning.
		if h.done && h.begun < 2 && where.shell == Bash {
			r.Reason, r.ExitCode = NotRun, nil
		}
	}
	r.end(where.leader)
	r.note(s, event)
	if r.Reason == Timeout || r.Reason == Cancelled {
		t.leave(l)
		return r, nil
	}
	if !h.done || out.View.Exit != nil {
		t.drop(l)
		return r, nil
	}
	t.leave(l)
	// A shell with marks reports the same a moment later, and is busy until then; others need not.
	_, _ = s.Wait(ctx, idle, engine.Within(readyBound), engine.Parked(o.Parked))
	return r, nil
}

// note notes in the session's events how the command ended, which no mark tells.
func (r *Result) note(s *engine.Session, e *engine.Event) {
	switch e.State = engine.CommandEnded; r.Reason {
	case Timeout:
		e.State = engine.TimedOut
	case Cancelled:
		e.State = engine.Cancelled
	}
	e.ExitCode = r.ExitCode
	s.Note(e)
}

// beforePrompt cuts the lines from a prompt on off the output of a command that was interrupted.
func beforePrompt(output, prompt string) string {
	if i := strings.LastIndex(output, prompt); i >= 0 && prompt != "" {
		return output[:strings.LastIndexByte(output[:i], '\n')+1]
	}
	return output
}

// idle matches a shell that runs nothing, as far as it reports.
var idle engine.Func = func(v *engine.View) bool {
	return v.Reports.Shell == nil || v.Reports.Shell.Phase != engine.ShellRunning || v.Exit != nil
}

// told is a matcher of a sentinel's end, and of what prevents it from ever coming.
type told struct {
	session  *engine.Session
	listener *listener
	where    *place
	typed    time.Time
}

// Check matches when the marker was seen, when the shell has ended, or when it reads another line
// after an interrupt, which ends the whole line.
func (m *told) Check(v *engine.View) engine.Result {
	h := m.listener.heardSoFar()
	switch {
	case h.done:
		return engine.Matched(string(Finished))
	case v.Exit != nil:
		return engine.Matched(string(Ended))
	case !h.interrupted && !m.where.unwinds() && (m.where.leader || m.where.pid == 0):
		return engine.Result{}
	}
	if quiet := v.At.Sub(h.quiet); quiet < settled {
		return engine.Result{Recheck: settled - quiet}
	}
	if !m.where.leader && ended(m.where.pid) {
		return engine.Matched(string(Ended))
	}
	if (h.interrupted || h.begun > 0 && m.where.unwinds()) && m.abandoned(v, h.interrupted) {
		reason := Finished
		if h.begun == 0 {
			reason = NotRun
		}
		return engine.Matched(string(reason))
	}
	return engine.Result{}
}

// unwinds reports whether a shell may end the whole line on an error within eval. Mksh does, and it
// has an editor.
func (p *place) unwinds() bool { return p.shell == Sh && p.keys }

// abandoned reports whether the shell where the line was typed reads another: its editor is at work
// again, or where that could be a builtin that reads, its prompt is there again.
func (m *told) abandoned(v *engine.View, interrupted bool) bool {
	who, err := m.session.Foreground()
	if err != nil || who.PID != m.where.pid {
		return false
	}
	mode, err := m.session.LineMode()
	keys := err == nil && !mode.Canonical
	row, prompt := cursorRow(v), m.where.prompt
	switch {
	case m.where.direct && editsLines(m.where.shell) &&
		(m.where.keys || keys && v.Screen.Modes.BracketedPaste):
		return keys
	case interrupted && prompt == "": // unknown: it came later than the line
		return row != ""
	case interrupted: // some write it after the ^C
		return prompt != "" && strings.HasSuffix(row, prompt)
	}
	return keys && prompt != "" && row == prompt
}

// ended reports whether a process is gone.
func ended(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	defer p.Release()
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
