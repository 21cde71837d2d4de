package engine

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/vt"
)

// A Matcher answers one question about views of one session, in the order they were taken. It may
// keep state between views, so one value serves one wait at a time. Check must not block.
type Matcher interface {
	Check(v *View) Result
}

// A Result is a matcher's answer to one view.
type Result struct {
	Match *Match // nil: no match now
	// Recheck is when the answer may change without a change of the session, also from a match to
	// none; 0: never.
	Recheck time.Duration
	// Err says why there can never be an answer, such as a plugin's predicate that failed; without
	// Match.
	Err error
}

// Matched is the answer of a matcher that reports only its kind.
func Matched(kind string) Result { return Result{Match: &Match{Kind: kind}} }

// A Func is a matcher that matches the views for which it returns true. It must not block.
type Func func(v *View) bool

// Check calls f.
func (f Func) Check(v *View) Result {
	if !f(v) {
		return Result{}
	}
	return Matched("func")
}

// A Match says what matched. Kind is the matcher's type; the other fields are set where they apply.
type Match struct {
	Kind string
	// Text is that of contains_text, transcript_contains and title_contains; of command_finished
	// the command, of state the state.
	Text    string
	Pattern string        // the regex matchers
	Capture string        // the regex matchers: group 1 when it took part, else the whole match
	Groups  []Group       // the regex matchers: the whole match, and each group
	Row     int           // cursor_at
	Col     int           // cursor_at
	Min     time.Duration // screen_stable
	Parts   []*Match      // any: the one that matched; all: every one, in source order
	Index   int           // any: which of its matchers, from 0
	// Exit is a command_finished command's exit code; nil when the shell did not report it.
	Exit *int

	// Place is where a text or regex matched; nil for other kinds.
	Place *Place
	// Places are what a locator means, located; at least one unless none was waited for.
	Places []locate.Place

	Plugin    string // lua, state
	Predicate string // lua
	Evidence  any    // lua, state: what the plugin says for people; nil: nothing
	Value     any    // lua: what the predicate captured; nil: nothing
}

// A Group is what a group of an expression has captured.
type Group struct {
	Name string // "" for one without
	Text string
	Took bool // it took part in the match
}

// DefaultWait is how long a wait lasts when neither [Within] nor a deadline of its context says
// otherwise: the 30 seconds of the specification.
const DefaultWait = 30 * time.Second

// A WaitOption says what a wait considers and how long it lasts. A [*Position], from [After] or
// [Outcome.Next], [Within], [Left], [Parked] and [Also] are options; nil is no option.
type WaitOption interface{ wait(w *waiting) }

type (
	// Within bounds a wait: 0 checks once, a negative value has no limit. Without it a wait lasts as
	// long as its context, if that has a deadline, and else [DefaultWait]. For an action it bounds
	// how long a program may leave its input unread; there 0 is [DefaultInputTimeout].
	Within time.Duration
	// Parked is called right before a wait first blocks, and each time that an action blocks.
	Parked func()
	// Left is how far an earlier wait for the same matcher, which this one continues, has read: the
	// Left of its outcome. Without it reading of scrolled-off lines begins at the screen as it is,
	// or at the position, and a latched wait begins there.
	Left struct {
		edge vt.Edge
		next uint64 // of a latched wait: the first sequence that it was not asked about; else 0
	}
	// Also is a channel that is closed when the matcher's answer may change though the session has
	// not; the matcher is checked once more.
	Also <-chan struct{}
	// Latched makes a wait hold when its matcher held at any moment since its position, or since it
	// began: it is asked about each step that the session has made, about what a step has drawn and
	// wiped, and about the time between two steps. Without it a wait sees the session as it is when
	// it looks. The waiting goroutine parses the session's output once more for it, which costs
	// nobody else anything. [Outcome].Missed says that some of it has been dropped, or that the
	// matcher could not be asked about it.
	Latched bool
	// LatchedFrom is Latched that asks about everything after a sequence, whatever the wait's
	// position is.
	LatchedFrom uint64
)

func (d Within) wait(w *waiting)  { w.timeout = time.Duration(d) }
func (l Latched) wait(w *waiting) { w.latched = bool(l) }
func (n LatchedFrom) wait(w *waiting) {
	w.latched, w.next = true, uint64(n)+1
}
func (f Parked) wait(w *waiting) { w.parked = f }
func (c Also) wait(w *waiting)   { w.also = c }
func (l *Left) wait(w *waiting) {
	if l != nil {
		w.edge, w.from, w.begun, w.next = l.edge, l.edge, true, max(w.next, l.next)
	}
}
func (p *Position) wait(w *waiting) {
	if p != nil {
		w.since, w.foreign = w.session.since(*p, w.began), p.Check(w.session.id)
	}
}

// An Outcome is the evidence of a wait, also of one that did not match.
type Outcome struct {
	Match   *Match        // nil: it did not match
	View    *View         // the last view
	Elapsed time.Duration // since the wait began
	Left    Left          // how far the session was read
	// Missed: lines that scrolled off were lost before a matcher could read them, or a latched wait
	// could not be asked about all that the session has shown.
	Missed bool
	// Next is just after the match, where the next wait continues. nil: it did not match.
	Next *Position
	// Before is what came between the wait's position and a text that matched: at most its last
	// [MostBefore] bytes, Cut when there was more. Above is the text right above, which redaction
	// of Before needs. Both are empty without a position.
	Before, Above string
	Cut           bool
}

// MostBefore bounds Outcome.Before, in bytes: as much as the tail of the transcript in an answer on
// the wire.
const MostBefore = 16 << 10

// A WaitError is how a wait ended without a match. View.Screen.Text() is what was on the screen, not
// redacted; Evidence of package reading says what the matcher lacked, redacted.
type WaitError struct {
	*Outcome
	Err error // why: see [Session.Wait]
}

func (e *WaitError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *WaitError) Unwrap() error { return e.Err }

// Wait blocks until m matches a view of s, within the limits of ctx and [Within]: [DefaultWait] when
// neither has one. The outcome is never nil. The error is nil on a match and otherwise a *[WaitError]. Its Err is m's own when it
// can never answer, [ErrTimeout], [ErrEnded] when the session has ended and m can no longer match,
// [ErrClosed] when the session was closed during the wait, a *[ForgottenError] when it was
// forgotten before the wait began, a *[ForeignPositionError], or the cause of ctx's end. Any number of goroutines may wait; a
// wait leaves nothing behind.
func (s *Session) Wait(ctx context.Context, m Matcher, options ...WaitOption) (*Outcome, error) {
	s.hold()
	defer s.let()
	w := &waiting{session: s, ctx: ctx, began: time.Now(), timeout: DefaultWait}
	if _, bounded := ctx.Deadline(); bounded {
		w.timeout = -1
	}
	for _, o := range options {
		o.wait(w)
	}
	if w.foreign != nil {
		out := &Outcome{View: s.View()}
		return out, &WaitError{out, w.foreign}
	}
	out, err := s.wait(w, m)
	s.engine.counts.wait(endOfWait(ctx, err))
	w.endWait(m, out, err)
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
		changed := s.Changed() // taken before the view, so that no change is missed
		v := s.viewFor(w)
		if w.follower != nil {
			if then, r := s.latched(w, m, v); r.Match != nil {
				return s.matched(w, r.Match, then, time.Since(w.began)), nil
			}
		}
		w.look(v)
		r := m.Check(v)
		if w.follower != nil {
			w.follower.pace.note(v, r)
		}
		elapsed := v.At.Sub(w.began)
		if r.Match != nil {
			return s.matched(w, r.Match, v, elapsed), nil
		}
		left := w.timeout - elapsed
		if err := s.endOf(w, v, r, left); err != nil {
			if r.Err != nil {
				elapsed = time.Since(w.began)
			}
			return w.outcome(nil, v, elapsed), err
		}
		w.beginWait(m, v)
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

// endOf returns why a wait ends without a match, with so much time left; nil: it goes on.
func (s *Session) endOf(w *waiting, v *View, r Result, left time.Duration) error {
	switch {
	case w.ctx.Err() != nil:
		return context.Cause(w.ctx)
	case errors.Is(r.Err, ErrInterrupted):
		return ErrTimeout
	case r.Err != nil:
		return r.Err
	case s.forgotten() != nil:
		return s.forgotten()
	case s.isClosed():
		return ErrClosed
	case v.Ended && r.Recheck == 0:
		return ErrEnded
	case w.timeout >= 0 && left <= 0:
		return ErrTimeout
	}
	return nil
}

// matched is the outcome of a wait whose matcher held in a view.
func (s *Session) matched(w *waiting, m *Match, v *View, elapsed time.Duration) *Outcome {
	out := w.outcome(m, v, elapsed)
	out.Next = s.behind(v, m)
	if at := m.place(); at != nil && v.Since.Set {
		out.Before, out.Above, out.Cut = v.before(at)
	}
	return out
}

func (w *waiting) outcome(m *Match, v *View, elapsed time.Duration) *Outcome {
	return &Outcome{Match: m, View: v, Elapsed: elapsed, Left: w.reached(), Missed: w.missed}
}

// A waiting is the state of one wait, for the views taken for it. It belongs to the waiting
// goroutine.
type waiting struct {
	session *Session
	ctx     context.Context
	since   Since
	foreign error // why since cannot be its session's
	began   time.Time
	timeout time.Duration
	parked  func()
	also    <-chan struct{}
	by      string    // who waits
	unnoted bool      // it is no event
	explain Explained // nil: nobody does
	event   *Event    // nil: none was noted yet
	latched bool
	next    uint64 // latched: where it begins; 0: at since, or with its first view

	follower *follower // of a latched wait, from its first view on

	looked  time.Time  // when the current check began
	screen  *vt.Screen // of the last view that read scrolled-off lines
	edge    vt.Edge    // everything before it has been read
	from    vt.Edge    // where it began
	passage vt.Passage
	context bool // the passage has lines before what is new
	begun   bool
	missed  bool
}

// look prepares a view that was just taken for the matcher.
func (w *waiting) look(v *View) {
	w.looked = v.At
	w.prepare(v)
}

// prepare prepares a view for the matcher.
func (w *waiting) prepare(v *View) {
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

// read returns the edge before which everything has been read.
func (w *waiting) read() vt.Edge {
	if w.screen != nil {
		return w.screen.History().Edge()
	}
	return w.edge
}

// reached is how far the wait has read.
func (w *waiting) reached() Left {
	l := Left{edge: w.read()}
	if w.follower != nil {
		l.next = w.follower.next
	}
	return l
}

// left returns what left the screen since the last call.
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

// long is how long a check may take before other requests run: most take microseconds.
const long = 2 * time.Millisecond

// goesOn reports whether the wait does, and lets other requests run during a long check.
func (w *waiting) goesOn() bool {
	now := time.Now()
	if now.Sub(w.looked) > long {
		w.park()
	}
	return w.ctx.Err() == nil && (w.timeout <= 0 || now.Sub(w.began) < w.timeout)
}

// park reports, once, that the wait lasts.
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
	// ErrInterrupted: a matcher was still at work when its wait ended. The wait returns
	// [ErrTimeout], or its context's cause.
	ErrInterrupted = errors.New("interrupted")
	// ErrEnded: the session's program has ended and nothing can change any more.
	ErrEnded = errors.New("the session has ended")
	// ErrClosed: the session was killed or closed.
	ErrClosed = errors.New("the session is closed")
)
