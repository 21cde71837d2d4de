package engine

import (
	"context"
	"errors"
	"time"
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

// A Match tells what matched. Kind is the matcher's type; the other fields are set where they apply.
type Match struct {
	Kind    string
	Text    string        // contains_text, transcript_contains, title_contains; command_finished: the command
	Pattern string        // the regex matchers
	Capture string        // the regex matchers: group 1 when it took part, else the whole match
	Row     int           // cursor_at
	Col     int           // cursor_at
	Min     time.Duration // screen_stable
	Parts   []*Match      // any: the one that matched; all: every one, in source order
	Index   int           // any: which of its matchers, from 0
	Exit    *int          // command_finished: the command's exit code; nil when the shell did not tell

	Plugin    string // lua
	Predicate string // lua
	Evidence  any    // lua: what the predicate says for people; nil: nothing
	Value     any    // lua: what the predicate captured; nil: nothing
}

// DefaultWait is how long a wait lasts that is not told otherwise: the 30 seconds of the specification.
const DefaultWait = 30 * time.Second

// WaitOptions say what a wait looks at and how long.
type WaitOptions struct {
	Since   *uint64       // only what came after this sequence counts; nil: everything on the screen and retained
	Timeout time.Duration // at most this long; 0: one look; negative: no limit
	Parked  func()        // called right before the wait first blocks; may be nil
	// Also is a channel that is closed when the matcher's answer may be another though the session has not changed; the matcher is
	// asked again once. nil: there is none.
	Also <-chan struct{}
}

// An Outcome is the evidence of a wait, also of one that did not match.
type Outcome struct {
	Match   *Match        // nil: it did not match
	View    *View         // the last look
	Elapsed time.Duration // since the wait began
}

// Wait blocks until m matches a view of s and returns the evidence, which is never nil. The error is nil on a match,
// and otherwise m's own when it can never answer, [ErrTimeout], [ErrEnded] when the session has ended and m can no longer match,
// [ErrClosed] when the session was closed meanwhile, a *[ForgottenError] when it was forgotten before the wait began, or the cause of
// ctx's end. Any number of goroutines may wait; a wait leaves nothing
// behind.
func (s *Session) Wait(ctx context.Context, m Matcher, o WaitOptions) (*Outcome, error) {
	s.hold()
	defer s.let()
	out, err := s.wait(ctx, m, o)
	s.engine.counts.wait(ctx, err)
	return out, err
}

func (s *Session) wait(ctx context.Context, m Matcher, o WaitOptions) (*Outcome, error) {
	begin := time.Now()
	var since Since
	if o.Since != nil {
		since = s.since(*o.Since)
		since.Began = begin
	}
	var timer *time.Timer
	defer func() {
		if timer != nil {
			timer.Stop()
		}
	}()
	for {
		changed := s.Changed() // taken before looking, so that no change is missed
		v := s.View()
		v.Since = since
		r := m.Check(v)
		out := &Outcome{Match: r.Match, View: v, Elapsed: v.At.Sub(begin)}
		left := o.Timeout - out.Elapsed
		switch {
		case r.Match != nil:
			return out, nil
		case r.Err != nil:
			return out, r.Err
		case ctx.Err() != nil:
			return out, context.Cause(ctx)
		case s.forgotten() != nil:
			return out, s.forgotten()
		case s.isClosed():
			return out, ErrClosed
		case v.Ended && r.Recheck == 0:
			return out, ErrEnded
		case o.Timeout >= 0 && left <= 0:
			return out, ErrTimeout
		}
		if o.Parked != nil {
			o.Parked()
			o.Parked = nil
		}
		next := r.Recheck // the sooner of the two moments at which time alone may end the wait
		if o.Timeout >= 0 && (next == 0 || left < next) {
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
		case <-o.Also:
			o.Also = nil
		case <-fire:
		case <-ctx.Done():
		}
	}
}

// Errors that waits and actions end with.
var (
	// ErrTimeout: a wait's time is up.
	ErrTimeout = errors.New("the wait's time is up")
	// ErrEnded: the session's program has ended and nothing can change any more.
	ErrEnded = errors.New("the session has ended")
	// ErrClosed: the session was killed or closed.
	ErrClosed = errors.New("the session is closed")
)
