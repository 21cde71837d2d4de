package engine

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/ptywright/ptywright/engine/vt"
)

// A Matcher answers one question about views of one session, in the order they were taken. It may remember what it
// has looked at, so one value serves one wait at a time. Check must not block.
type Matcher interface {
	Check(v *View) Result
}

// A Result is a matcher's answer to one view.
type Result struct {
	Match   *Match        // nil: not now
	Recheck time.Duration // when the answer may change without any change of the session; 0: never
	Err     error         // why there can never be an answer, as of a plugin's predicate that failed; without Match
}

// Matched is the answer of a matcher that has nothing more to say than its kind.
func Matched(kind string) Result { return Result{Match: &Match{Kind: kind}} }

// A Func is a matcher of the views that it is true of. It must not block.
type Func func(v *View) bool

// Check asks f.
func (f Func) Check(v *View) Result {
	if !f(v) {
		return Result{}
	}
	return Matched("func")
}

// A Match tells what matched. Kind is the matcher's type; the other fields are set where they apply.
type Match struct {
	Kind    string
	Text    string        // contains_text, transcript_contains, title_contains; command_finished: the command
	Pattern string        // the regex matchers
	Capture string        // the regex matchers: group 1 when it took part, else the whole match
	Groups  []Group       // the regex matchers: the whole match, and each group
	Row     int           // cursor_at
	Col     int           // cursor_at
	Min     time.Duration // screen_stable
	Parts   []*Match      // any: the one that matched; all: every one, in source order
	Index   int           // any: which of its matchers, from 0
	Exit    *int          // command_finished: the command's exit code; nil when the shell did not tell

	// Place is where a text or regex matched; nil for other kinds.
	Place *Place

	Plugin    string // lua
	Predicate string // lua
	Evidence  any    // lua: what the predicate says for people; nil: nothing
	Value     any    // lua: what the predicate captured; nil: nothing
}

// A Group is what a group of an expression has captured.
type Group struct {
	Name string // "" for one without
	Text string
	Took bool // it took part in the match
}

// DefaultWait is how long a wait lasts that is not told otherwise: the 30 seconds of the specification.
const DefaultWait = 30 * time.Second

// A WaitOption says what a wait looks at and how long. A [*Position], as [After] and
// [Outcome.Next] have it, [Within], [Left], [Parked] and [Also] are options; a nil one is none.
type WaitOption interface{ wait(w *waiting) }

type (
	// Within bounds a wait: at 0 it looks once, a negative one has no limit. It bounds an action, too, by how long
	// a program may leave its input unread; there 0 is [DefaultInputTimeout].
	Within time.Duration
	// Parked is called right before a wait first blocks, and each time that an action does.
	Parked func()
	// Left is where reading what scrolls off the screen begins: the Left of the outcome of an earlier wait for the same, which this
	// one goes on with. Without it that is at the screen as it is, or where the position says.
	Left vt.Edge
	// Also is a channel that is closed when the matcher's answer may be another though the session has not changed; the
	// matcher is asked again once.
	Also <-chan struct{}
)

func (d Within) wait(w *waiting) { w.timeout = time.Duration(d) }
func (f Parked) wait(w *waiting) { w.parked = f }
func (c Also) wait(w *waiting)   { w.also = c }
func (l *Left) wait(w *waiting) {
	if l != nil {
		w.edge, w.from, w.begun = vt.Edge(*l), vt.Edge(*l), true
	}
}
func (p *Position) wait(w *waiting) {
	if p != nil {
		w.since = w.session.since(*p, w.began)
	}
}

// An Outcome is the evidence of a wait, also of one that did not match.
type Outcome struct {
	Match   *Match        // nil: it did not match
	View    *View         // the last look
	Elapsed time.Duration // since the wait began
	Left    Left          // up to which what scrolled off was read
	Missed  bool          // lines that scrolled off the screen were lost before a matcher could read them
	// Next is just behind the match: the next wait goes on from there. nil: it did not match.
	Next *Position
	// Before is what came between the wait's position and a text that matched: at most its last [MostBefore] bytes, Cut says when it
	// was more. Above is what stood right above, to judge what of it is secret. Without a position there is neither.
	Before, Above string
	Cut           bool
}

// MostBefore bounds Outcome.Before, in bytes: as much as the tail of the transcript that an answer on the wire has.
const MostBefore = 16 << 10

// A WaitError is how a wait ended that did not match, with the evidence.
type WaitError struct {
	*Outcome
	Err error // why: see [Session.Wait]
}

func (e *WaitError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *WaitError) Unwrap() error { return e.Err }

// Wait blocks until m matches a view of s, as long as ctx and [Within] allow. The outcome is never nil. The error is nil on a
// match and else a *[WaitError]. Its Err is m's own when it can never answer, [ErrTimeout], [ErrEnded] when the session has ended
// and m can no longer match, [ErrClosed] when the session was closed meanwhile, a *[ForgottenError] when it was forgotten
// before the wait began, or the cause of ctx's end. Any number of goroutines may wait; a wait leaves nothing behind.
func (s *Session) Wait(ctx context.Context, m Matcher, options ...WaitOption) (*Outcome, error) {
	s.hold()
	defer s.let()
	w := &waiting{session: s, ctx: ctx, began: time.Now(), timeout: -1}
	for _, o := range options {
		o.wait(w)
	}
	out, err := s.wait(w, m)
	s.engine.counts.wait(ctx, err)
	if err != nil {
		return out, &WaitError{out, err}
	}
	return out, nil
}

func (s *Session) wait(w *waiting, m Matcher) (*Outcome, error) {
	ctx := w.ctx
	var timer *time.Timer
	defer func() {
		if timer != nil {
			timer.Stop()
		}
	}()
	for {
		changed := s.Changed() // taken before looking, so that no change is missed
		v := s.View()
		w.look(v)
		r := m.Check(v)
		out := &Outcome{Match: r.Match, View: v, Elapsed: v.At.Sub(w.began), Left: Left(w.read()), Missed: w.missed}
		left := w.timeout - out.Elapsed
		switch {
		case r.Match != nil:
			s.place(out)
			return out, nil
		case ctx.Err() != nil:
			return out, context.Cause(ctx)
		case errors.Is(r.Err, ErrInterrupted):
			out.Elapsed = time.Since(w.began)
			return out, ErrTimeout
		case r.Err != nil:
			return out, r.Err
		case s.forgotten() != nil:
			return out, s.forgotten()
		case s.isClosed():
			return out, ErrClosed
		case v.Ended && r.Recheck == 0:
			return out, ErrEnded
		case w.timeout >= 0 && left <= 0:
			return out, ErrTimeout
		}
		w.park()
		next := r.Recheck // the sooner of the two moments at which time alone may end the wait
		if w.timeout >= 0 && (next == 0 || left < next) {
			next = left
		}
		var fire <-chan time.Time
		if next > 0 {
			if timer == nil {
				timer = time.NewTimer(next)
			} else {
				timer.Reset(next)
			}
			fire = timer.C
		}
		select {
		case <-changed:
		case <-w.also:
			w.also = nil
		case <-fire:
		case <-ctx.Done():
		}
	}
}

// place fills in what a match tells of its place.
func (s *Session) place(out *Outcome) {
	out.Next = s.behind(out.View, out.Match)
	if at := out.Match.place(); at != nil && out.View.Since.Set {
		out.Before, out.Above, out.Cut = out.View.before(at)
	}
}

// A waiting is one wait, as the views that are taken for it know it. It belongs to the goroutine that waits.
type waiting struct {
	session *Session
	ctx     context.Context
	since   Since
	began   time.Time
	timeout time.Duration
	parked  func()
	also    <-chan struct{}

	looked  time.Time  // when the look under way began
	screen  *vt.Screen // of the last look that read what left
	edge    vt.Edge    // before which all is read
	from    vt.Edge    // that it began with
	passage vt.Passage
	context bool // the passage has lines before what is new
	begun   bool
	missed  bool
}

// look prepares a view for the matcher.
func (w *waiting) look(v *View) {
	w.looked = v.At
	v.Since, v.wait = w.since, w
	if w.begun {
		return
	}
	w.begun = true
	switch since := &w.since; {
	case !since.Set:
		w.edge = v.Screen.History().Edge()
	case since.Within:
		w.edge = vt.Edge{Seq: since.Seq, Line: since.At.Line}
	default:
		w.edge = vt.Edge{Seq: since.Seq, Line: math.MaxUint64}
	}
	w.from = w.edge
}

// read returns the edge before which all was read.
func (w *waiting) read() vt.Edge {
	if w.screen != nil {
		return w.screen.History().Edge()
	}
	return w.edge
}

// left returns what left the screen since the last look that asked.
func (w *waiting) left(v *View, context bool) *vt.Passage {
	if w.screen == v.Screen && (w.context || !context) {
		return &w.passage
	}
	if w.screen != v.Screen {
		w.edge = w.read()
	}
	o := vt.LeftOptions{After: w.edge, Since: v.point(), Tail: &w.from, Reuse: w.passage}
	if context {
		o.Context = Lookback
	}
	w.passage = v.Screen.Left(o)
	w.missed = w.missed || w.passage.Missed
	w.screen, w.context = v.Screen, context
	return &w.passage
}

// long is how long a look may take before other requests go on: most take microseconds.
const long = 2 * time.Millisecond

// goesOn reports whether the wait does, and lets others go on during a look that takes long.
func (w *waiting) goesOn() bool {
	now := time.Now()
	if now.Sub(w.looked) > long {
		w.park()
	}
	return w.ctx.Err() == nil && (w.timeout <= 0 || now.Sub(w.began) < w.timeout)
}

// park tells, once, that the wait lasts.
func (w *waiting) park() {
	if w.parked != nil {
		w.parked()
		w.parked = nil
	}
}

// Errors that waits and actions end with.
var (
	// ErrTimeout: a wait timed out.
	ErrTimeout = errors.New("the wait timed out")
	// ErrInterrupted: a matcher was still at work when its wait was over. The wait ends with [ErrTimeout], or its context's cause.
	ErrInterrupted = errors.New("interrupted")
	// ErrEnded: the session's program has ended and nothing can change any more.
	ErrEnded = errors.New("the session has ended")
	// ErrClosed: the session was killed or closed.
	ErrClosed = errors.New("the session is closed")
)
