package engine

import (
	"iter"
	"time"

	"github.com/ptywright/ptywright/engine/vt"
)

// A follower asks a latched wait's matcher about what its session has shown. It has a fold of its
// own, forked from the session's or loaded from a keyframe, which it feeds what is new whenever the
// wait wakes. The waiting goroutine owns it and parses with no lock held: the pump does no more for
// a wait that is latched than for one that is not.
type follower struct {
	replay
	next  uint64 // the first sequence that the matcher is still to be asked about
	fresh bool   // a keyframe was loaded, whose own view the matcher was not asked about
	pace  pacer
	// still is when the screen last changed before the wait's position: a later change is an answer
	// to what came after it.
	still time.Time
}

// viewFor returns the session as it is now, for a wait. A latched wait takes with it what its
// follower needs to get there.
func (s *Session) viewFor(w *waiting) *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := *s.current()
	v.At = time.Now()
	if w.latched {
		s.pursue(w, v.Sequence)
	}
	return &v
}

// pursue prepares a wait's follower, with mu held, to go on to a sequence, the newest.
func (s *Session) pursue(w *waiting, newest uint64) {
	f := w.follower
	if f == nil {
		f = &follower{replay: replay{session: s}, next: newest + 1}
		switch {
		case w.next > 0:
			f.next = w.next
		case w.since.Set:
			f.next = w.since.Last() + 1
		}
		w.follower = f
	}
	frames := s.keyframes()
	switch {
	case f.term != nil && (f.seq == newest || len(frames) > 0 && f.seq >= frames[0].seq):
	case f.next > newest && f.term == nil:
		f.fork()
	case len(frames) == 0: // what it was to be asked about is gone
		w.missed, f.next = true, newest+1
		f.fork()
	default: // it begins, or has fallen behind what is kept
		k := frames[0]
		for _, x := range frames[1:] {
			if x.seq < f.next {
				k = x
			}
		}
		// A keyframe's own step is there without its moments.
		w.missed = w.missed || f.next <= k.seq
		f.next = max(f.next, k.seq)
		f.begin(k)
		f.fresh = true
	}
	f.take(newest)
	f.settle(w)
}

// fork makes the fold what the session is now, with its mu held.
func (f *follower) fork() {
	s := f.session
	k := bareKeyframe(&s.fold, time.Time{})
	if s.past != nil {
		k.at = s.past.base
	}
	f.adopt(k, s.term.Fork())
	f.seq = k.seq
}

// settle notes when the screen had last changed at the wait's position.
func (f *follower) settle(w *waiting) {
	if f.still.IsZero() || f.seq <= w.since.Seq {
		f.still = f.changed
	}
}

// lookBack is how long a wait that looks once may ask about the past: milliseconds are enough for
// what a session keeps, unless each answer is a plugin's.
const lookBack = 2 * time.Second

// atOnce is how soon after a step a view is taken that answers for the step as well.
const atOnce = time.Millisecond

// latched asks m about what the session has shown before v and after what it was asked about last.
// It returns the first view in which m held, with what m said; no match when there was none. The
// wait is latched. What m could not be asked about counts as missed.
func (s *Session) latched(w *waiting, m Matcher, v *View) (*View, Result) {
	f := w.follower
	defer func() { f.next = max(f.next, v.Sequence+1) }()
	w.looked = time.Now() // goesOn measures how long all of this takes
	var then *View
	var r Result
	ask := func(x *View) (goesOn bool) {
		w.prepare(x)
		then, r = x, m.Check(x)
		f.pace.note(x, r)
		return r.Match == nil && r.Err == nil && w.goesOn() &&
			(w.timeout != 0 || time.Since(w.began) < lookBack)
	}
	show := func(x *View) bool {
		for between := range f.pace.between(x) {
			if !ask(between) {
				return false
			}
		}
		return ask(x)
	}
	goesOn := true
	// stand asks about the session as it was after a step, made at a time.
	stand := func(at time.Time) {
		switch {
		case !goesOn || f.seq < f.next:
		case f.seq < v.Sequence:
			goesOn = show(f.view(at))
		case v.At.Sub(at) >= atOnce:
			was := *v
			was.At, was.Past, was.Exit, was.Ended = at, true, nil, false
			goesOn = show(&was)
		}
	}
	if f.fresh {
		f.fresh = false
		stand(f.base)
	}
	if f.seq < v.Sequence {
		w.park() // it may take a while
	}
	for goesOn && f.seq < v.Sequence {
		seen := show
		if f.seq+1 < f.next {
			seen = nil
		}
		var at time.Time
		at, goesOn = f.step(seen)
		f.settle(w)
		stand(at)
	}
	if goesOn {
		for between := range f.pace.between(v) {
			if goesOn = ask(between); !goesOn {
				break
			}
		}
	}
	switch {
	case goesOn:
		return nil, Result{}
	case r.Match != nil:
		return then, r
	}
	w.missed = true
	return nil, Result{}
}

// A pacer knows when a matcher's answer may change though its session does not.
type pacer struct {
	last    *View         // the one that the matcher was asked about last
	recheck time.Duration // when after that its answer may change; 0: never
}

// note notes what a matcher has said about a view.
func (p *pacer) note(v *View, r Result) { p.last, p.recheck = v, r.Recheck }

// mostRechecks bounds how often a matcher is asked again between two views: one that is honest
// needs as many as it has parts that count time.
const mostRechecks = 256

// between yields the last view again as it was at each time before v at which the matcher's answer
// may have changed. The caller notes what the matcher says.
func (p *pacer) between(v *View) iter.Seq[*View] {
	return func(yield func(*View) bool) {
		for n := 0; p.recheck > 0 && n < mostRechecks; n++ {
			at := p.last.At.Add(p.recheck)
			if !at.Before(v.At) { // v itself tells
				return
			}
			again := *p.last
			again.At, again.Past = at, true
			if !yield(&again) {
				return
			}
		}
	}
}

// looksAlike reports whether two screens of one terminal show the same: it may say no when they do.
func looksAlike(a, b *vt.Screen) bool {
	if a.Rows != b.Rows || a.Cols != b.Cols || a.Cursor != b.Cursor || a.Modes != b.Modes ||
		a.Title != b.Title || a.TitleSet != b.TitleSet {
		return false
	}
	for y := range a.Rows {
		if !a.SameRow(y, b) {
			return false
		}
	}
	return true
}
