package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"
)

// An Until says when a wait for several sessions is over.
type Until string

// The values of Until. A session has ended for a wait when its program has, and its matcher can no
// longer hold.
const (
	UntilAny  Until = "any"  // when the matcher of one session has held; or all have ended
	UntilAll  Until = "all"  // when that of each session has held; or one session has ended
	UntilEach Until = "each" // when each session has matched or ended
)

// A Many says which sessions [Engine.WaitMany] waits for, and for what.
type Many struct {
	// Sessions are waited for, whether they run or have ended. No session may stand there twice.
	Sessions []*Session
	// Forgotten is what is known of sessions that were forgotten, and are waited for as well: a
	// match, as [ForgottenError.Answer] returns it, or as Err that error.
	Forgotten []*Asked
	// Select chooses more sessions of the engine, also among those that appear during the wait. Of
	// those that had ended before the wait only the ones that match count: the others are left out.
	// nil: none. It must not block, and is called by one goroutine at a time.
	Select func(s *Session) bool
	// Reselect returns a channel that is closed when Select may choose a session that it has
	// refused. nil: its answers never change.
	Reselect func() <-chan struct{}
	// Ask returns what to wait for in a session, once for each: a matcher serves one wait. Options
	// stand behind those of WaitMany. ctx ends with the wait. It must not block. An error ends the
	// wait, and is returned in an [AskedError].
	Ask func(ctx context.Context, s *Session) (Matcher, []WaitOption, error)
	// Until is when the wait is over; "": UntilAny.
	Until Until
	// Matched is called with each match before the next is looked at, by the goroutine that called
	// WaitMany. While it blocks the sessions go on being watched. nil: nobody is told.
	Matched func(a *Asked)
}

// An Asked is what a wait for several sessions has found out about one of them.
type Asked struct {
	ID      ID
	Session *Session // nil: it was forgotten
	// Outcome is what [Session.Wait] returned, with Elapsed since the whole wait began; nil of a
	// session that was forgotten before the wait and did not match.
	*Outcome
	// Err is nil of a match. Otherwise it is what [WaitError] holds, or [ErrDecided].
	Err error
}

// A ManyOutcome is the result of a wait for several sessions, also of one that failed. Each session
// that was waited for is in one of its lists, except the one of an [AskedError].
type ManyOutcome struct {
	Matched []*Asked // in the order in which they did
	Ended   []*Asked // likewise: those that ended and can no longer match
	Waiting []*Asked // those that were still waited for, by age
}

// Complete reports whether nothing is left to wait for: each session has matched or ended.
func (o *ManyOutcome) Complete() bool { return len(o.Waiting) == 0 }

// ErrDecided: the wait for several sessions was over before this one had matched.
var ErrDecided = errors.New("the wait was decided by another session")

// errNobody: a wait for several sessions that can have none.
var errNobody = errors.New("there is nobody to wait for: name sessions, or say how to select them")

// An AskedError is about the one session that made a wait for several sessions impossible.
type AskedError struct {
	Asked *Asked // Outcome may be nil
	Err   error
}

func (e *AskedError) Error() string { return fmt.Sprintf("session %s: %v", e.Asked.ID, e.Err) }

// Unwrap returns Err.
func (e *AskedError) Unwrap() error { return e.Err }

// WaitMany waits for several sessions at once, as [Session.Wait] does for each with the same
// options: [Within], [Latched], [By] and so on, but no position, which is one session's. Of a
// session that appears during the wait everything counts. One wait has room for as many sessions as
// the engine ([Engine.Limit] and [Engine.EndedLimit]).
//
// It blocks until m.Until is satisfied, within the limits of ctx and Within. It has one goroutine
// for each session, and leaves none behind. With UntilAny the outcome has exactly one match. If
// sessions are selected and there are none yet, it waits for the first to appear.
//
// The outcome is never nil. Errors: [ErrTimeout]; [ErrEnded], [ErrClosed] or a *[ForgottenError] of
// the session that decided that m.Until cannot be satisfied any more; an *[AskedError]; a
// *[LimitError]; the cause of ctx's end. A panic of a matcher is passed on to the caller.
func (e *Engine) WaitMany(ctx context.Context, m Many,
	options ...WaitOption) (*ManyOutcome, error) {
	if m.Until == "" {
		m.Until = UntilAny
	}
	w := &manyWait{Many: m, engine: e, outer: ctx, began: time.Now(), timeout: DefaultWait,
		out: &ManyOutcome{}, asked: map[*Session]bool{}, results: make(chan askedNow)}
	if _, bounded := ctx.Deadline(); bounded {
		w.timeout = -1
	}
	for _, o := range options {
		switch o := o.(type) {
		case Within:
			w.timeout = time.Duration(o)
		case Parked:
			w.parked = o
			w.options = append(w.options, o)
		default:
			w.options = append(w.options, o)
		}
	}
	if m.Select == nil && len(m.Sessions)+len(m.Forgotten) == 0 {
		return w.out, errNobody
	}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	defer w.end()
	w.run()
	slices.SortFunc(w.out.Waiting, func(a, b *Asked) int {
		if newer(a.ID, b.ID) {
			return 1
		}
		return -1
	})
	return w.out, w.verdict()
}

// A manyWait is the state of one WaitMany. It belongs to the goroutine that called it.
type manyWait struct {
	Many
	engine  *Engine
	outer   context.Context // the caller's
	ctx     context.Context // of the sessions' waits: ends with the decision
	cancel  context.CancelCauseFunc
	began   time.Time
	timeout time.Duration
	parked  Parked
	options []WaitOption

	asked   map[*Session]bool // every session that was waited for
	early   map[*Session]bool // that were there when the wait began, and were refused
	pending int               // goroutines
	results chan askedNow     // one of each
	out     *ManyOutcome
	decided bool
	why     error       // of the decision
	failed  *AskedError // nil: no session has failed
	burst   any         // what a matcher has panicked with; nil: none has
}

// An askedNow is a result of one session's goroutine.
type askedNow struct {
	*Asked
	old   bool // it had ended before, and was selected: it counts only if it matches
	burst any
}

// run waits until all is decided and each goroutine has given its result.
func (w *manyWait) run() {
	for _, a := range w.Forgotten {
		w.pending++
		w.take(askedNow{Asked: a})
	}
	for _, s := range w.Sessions {
		w.ask(s, false, false)
	}
	var appear *Follower
	var due <-chan time.Time
	if w.Select != nil {
		appear = w.engine.Follow()
		defer appear.Stop()
		if w.timeout > 0 { // nobody else may be there to see it pass
			timer := time.NewTimer(w.timeout)
			defer timer.Stop()
			due = timer.C
		}
	}
	var appeared, again <-chan struct{}
	done := w.outer.Done()
	look, first := w.Select != nil, true
	for {
		if look && !w.decided {
			appeared = appear.Appeared() // taken before looking, so that none is missed
			if w.Reselect != nil {
				again = w.Reselect()
			}
			w.choose(appear.New(), first)
			first = false
		}
		look = false
		if w.pending == 0 {
			if w.over() {
				return
			}
			w.park()
		}
		select {
		case r := <-w.results:
			w.take(r)
		case <-appeared:
			look, appeared = true, nil
		case <-again:
			look, again = true, nil
		case <-due:
			w.decide(ErrTimeout, ErrTimeout)
		case <-done:
			done = nil
			w.decide(context.Cause(w.outer), context.Cause(w.outer))
		}
	}
}

// park reports, once, that the wait lasts although no session is waited for.
func (w *manyWait) park() {
	if w.parked != nil {
		w.parked()
		w.parked = nil
	}
}

// over reports whether nothing more can come, when no goroutine is left.
func (w *manyWait) over() bool {
	switch {
	case w.decided || w.Select == nil:
		return true
	case w.timeout == 0:
		w.decide(ErrTimeout, ErrTimeout)
		return true
	case w.Until == UntilAny: // one that appears may match
		return false
	}
	return len(w.out.Matched)+len(w.out.Ended) > 0
}

// choose has the wait ask about the sessions that are selected now. fresh are those that were
// created since the last call, some of which may be gone.
func (w *manyWait) choose(fresh []*Session, first bool) {
	refused := map[*Session]bool{}
	for _, s := range slices.Concat(w.engine.List(), fresh) {
		early := first || w.early[s]
		switch {
		case w.asked[s]:
		case w.Select(s):
			w.ask(s, early && s.View().Ended, !early)
		case early:
			refused[s] = true
		}
	}
	w.early = refused // without those that are gone
}

// ask has one session waited for, unless the wait is over. old says that a session had ended before
// the wait and was selected; of one that appeared during the wait everything counts.
func (w *manyWait) ask(s *Session, old, appeared bool) {
	most := w.engine.Limit() + w.engine.EndedLimit()
	if len(w.asked) == most {
		w.decide(&LimitError{What: "sessions in one wait", Limit: most,
			Do: "select fewer, or begin another wait"}, ErrDecided)
	}
	if w.decided {
		w.out.Waiting = append(w.out.Waiting, &Asked{ID: s.id, Session: s,
			Outcome: &Outcome{View: s.View()}, Err: ErrDecided})
		return
	}
	w.asked[s] = true
	a := &Asked{ID: s.id, Session: s}
	m, more, err := w.Ask(w.ctx, s)
	if err != nil {
		w.fail(a, err)
		return
	}
	var options []WaitOption
	if appeared {
		options = append(options, After(0))
	}
	options = append(append(options, w.options...), more...)
	late := time.Since(w.began)
	left := w.timeout
	if w.timeout > 0 {
		left = max(w.timeout-late, 0)
	}
	options = append(options, Within(left))
	w.pending++
	go func() {
		r := askedNow{Asked: a, old: old}
		defer func() {
			if v := recover(); v != nil {
				r.burst = fmt.Sprintf("%v\n\n%s", v, debug.Stack())
			}
			w.results <- r
		}()
		out, err := s.Wait(w.ctx, m, options...)
		var why *WaitError
		if errors.As(err, &why) {
			err = why.Err
		}
		out.Elapsed += late
		a.Outcome, a.Err = out, err
	}()
}

// take takes the result of a session.
func (w *manyWait) take(r askedNow) {
	w.pending--
	a := r.Asked
	var gone *ForgottenError
	switch {
	case r.burst != nil:
		w.burst = r.burst
		w.decide(ErrDecided, ErrDecided)
	case a.Err == nil && w.Until == UntilAny && len(w.out.Matched) > 0:
		a.Err = ErrDecided
		w.out.Waiting = append(w.out.Waiting, a)
	case a.Err == nil:
		w.out.Matched = append(w.out.Matched, a)
		if w.Until == UntilAny {
			w.decide(nil, ErrDecided)
		}
		if w.Matched != nil {
			w.Matched(a)
		}
	case errors.Is(a.Err, ErrEnded), errors.Is(a.Err, ErrClosed), errors.As(a.Err, &gone):
		if r.old {
			return
		}
		w.out.Ended = append(w.out.Ended, a)
		if w.Until == UntilAll {
			w.decide(a.Err, ErrDecided)
		}
	case errors.Is(a.Err, ErrTimeout) && w.timeout == 0: // the others look, too
		w.out.Waiting = append(w.out.Waiting, a)
		if !w.decided {
			w.why = a.Err
		}
	case errors.Is(a.Err, ErrDecided), errors.Is(a.Err, ErrTimeout), w.outer.Err() != nil:
		w.out.Waiting = append(w.out.Waiting, a)
		w.decide(a.Err, a.Err)
	default:
		w.fail(a, a.Err)
	}
}

// fail ends the wait because of one session.
func (w *manyWait) fail(a *Asked, err error) {
	if w.failed == nil {
		w.failed = &AskedError{Asked: a, Err: err}
	}
	w.decide(err, ErrDecided)
}

// decide ends the wait: the first decision counts. cause ends what is waited for still.
func (w *manyWait) decide(why, cause error) {
	if w.decided {
		return
	}
	w.decided, w.why = true, why
	w.cancel(cause)
}

// verdict is the error of the wait. What was found while the last goroutines ended counts: a match
// of the last moment is one.
func (w *manyWait) verdict() error {
	matched, ended := len(w.out.Matched), len(w.out.Ended)
	satisfied := false
	switch w.Until {
	case UntilAny:
		satisfied = matched > 0
	case UntilAll:
		satisfied = matched > 0 && ended == 0 && w.out.Complete()
	case UntilEach:
		satisfied = matched+ended > 0 && w.out.Complete()
	}
	switch {
	case w.failed != nil && !(w.Until == UntilAny && satisfied):
		return w.failed
	case satisfied:
		return nil
	case w.why != nil:
		return w.why
	}
	return w.out.Ended[0].Err // of any: nobody is left who could match
}

// end ends what is left of the wait, after a panic too, and passes on that of a matcher.
func (w *manyWait) end() {
	w.cancel(ErrDecided)
	for ; w.pending > 0; w.pending-- {
		<-w.results
	}
	if w.burst != nil {
		panic(w.burst)
	}
}
