package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
)

// A session has ended when its terminal is closed and no process of it is left. It does not count
// against the limit on running sessions, and can be read until the bounds on ended ones are passed:
// then the oldest are forgotten, and only a [ForgottenError] of each is kept. No event reports that
// the last process is gone, and finding out costs a millisecond: it is done when something depends
// on it, for all sessions whose terminals are closed together.

const (
	// DefaultEnded is how many ended sessions are kept: those of one person's long day, or of a
	// minute of a program that starts four a second.
	DefaultEnded = 256
	// DefaultEndedBytes bounds the total memory of those sessions: a full scrollback of 80 columns
	// takes one to two MiB.
	DefaultEndedBytes = 64 << 20
	// maxForgotten bounds what is kept of forgotten sessions, some 200 bytes each. The oldest is
	// dropped first.
	maxForgotten = 10_000
)

// A ForgottenError is about a session that ended and was forgotten, and is all that is kept of it.
// It is [ErrNoSession].
type ForgottenError struct {
	Session  ID
	Name     string // "": it had none
	Exit     Exit
	Sequence uint64 // its last
	At       time.Time
	Asked    bool // by [Engine.ForgetEnded]; else the bounds were passed
}

// Error says when and why it was forgotten, and what can still be read.
func (e *ForgottenError) Error() string {
	why := "to make room for newer ones that have ended"
	if e.Asked {
		why = "when the ended ones were to be forgotten"
	}
	which := string(e.Session)
	if e.Name != "" {
		which += " (" + e.Name + ")"
	}
	return fmt.Sprintf("session %s was forgotten at %s, %s: it had ended (%s), which can still be waited for, and nothing else is kept: "+
		"read sooner, or record what is to be read later", which, e.At.Format(time.TimeOnly), why, e.Exit.how())
}

// Unwrap returns [ErrNoSession].
func (e *ForgottenError) Unwrap() error { return ErrNoSession }

// blank is the screen of a forgotten session.
var blank = sync.OnceValue(func() *vt.Screen { return vt.New(1, 1, vt.Options{}).Snapshot() })

// Answer checks a matcher against what is kept, the exit: nil when its answer depends on more. The
// outcome's view holds only that exit.
func (e *ForgottenError) Answer(m Matcher) *Outcome {
	exit := e.Exit
	v := &View{
		Session: e.Session, Sequence: e.Sequence, Screen: blank(), At: time.Now(), Changed: e.At,
		Exit: &exit, Ended: true,
	}
	r := m.Check(v)
	if r.Match == nil || !ofExit(r.Match) {
		return nil
	}
	return &Outcome{Match: r.Match, View: v, Next: After(e.Sequence)}
}

// ofExit reports whether a match says only that the program has ended.
func ofExit(m *Match) bool {
	switch m.Kind {
	case "process_exited":
		return true
	case "any", "all":
		return !slices.ContainsFunc(m.Parts, func(p *Match) bool { return !ofExit(p) })
	}
	return false
}

// overs are an engine's sessions whose terminals are closed. Guarded by Engine.mu.
type overs struct {
	ended     []*Session // nothing was left at the last check; by the time of their end
	lingering []*Session // a process was left at the last check: they run
	tidying   bool       // a goroutine is in tidy
	forgotten map[ID]*ForgottenError
	order     []ID // of forgotten, oldest first
}

// over is an engine's state of a session whose terminal is closed. Guarded by Engine.mu.
type over struct {
	ended bool // it is closed
	empty bool // nothing was left at the last check, which stays so
	bytes int  // memory that the session takes
}

// counted returns how many sessions are known to have nothing left.
func (o *overs) counted() (n int) {
	for _, s := range o.ended {
		if s.over.empty {
			n++
		}
	}
	return n
}

func (o *overs) remove(s *Session) {
	if i := slices.Index(o.ended, s); i >= 0 {
		o.ended = slices.Delete(o.ended, i, i+1)
	} else if i := slices.Index(o.lingering, s); i >= 0 {
		o.lingering = slices.Delete(o.lingering, i, i+1)
	}
}

// ended is called by the pump when the terminal is closed.
func (e *Engine) ended(s *Session) {
	n := s.bytes()
	e.mu.Lock()
	defer e.mu.Unlock()
	s.over.ended, s.over.bytes = true, n
	if e.sessions[s.id] == s { // otherwise settle does it, or it is closed already
		e.addEnded(s)
	}
}

// addEnded is called with mu held.
func (e *Engine) addEnded(s *Session) {
	e.over.ended = append(e.over.ended, s)
	e.tidyLater()
}

// tidyLater starts a goroutine that forgets sessions past the bounds. It is called with mu held.
func (e *Engine) tidyLater() {
	if e.over.tidying || e.closed || len(e.past()) == 0 {
		return
	}
	e.over.tidying = true
	e.tidiers.Go(e.tidy)
}

// tidy forgets the oldest sessions that nothing holds until the bounds are kept.
func (e *Engine) tidy() {
	for {
		e.mu.Lock()
		all := e.past()
		if e.over.tidying = len(all) > 0 && !e.closed; !e.over.tidying {
			e.mu.Unlock()
			return
		}
		known := !slices.ContainsFunc(all, func(s *Session) bool { return !s.over.empty })
		e.mu.Unlock()
		if known { // one check in a few hundred ends
			e.forgetAll(all, false)
		} else if err := e.lookForRest(); err != nil {
			e.opts.Log.Warn("sessions that have ended cannot be forgotten", "error", err)
			e.mu.Lock()
			e.over.tidying = false // the next end tries again
			e.mu.Unlock()
			return
		}
	}
}

// past returns the oldest ended sessions that must be forgotten to keep the bounds. Held ones do
// not count, or they would push out those that came after them. It is called with mu held.
func (e *Engine) past() []*Session {
	free, bytes := make([]*Session, 0, len(e.over.ended)), 0
	for _, s := range e.over.ended {
		if !s.held() {
			free = append(free, s)
			bytes += s.over.bytes
		}
	}
	n := 0
	for n < len(free)-1 && (len(free)-n > e.opts.Ended || bytes > e.opts.EndedBytes) { // the newest has not been read yet
		bytes -= free[n].over.bytes
		n++
	}
	return free[:n]
}

// ForgetEnded forgets all ended sessions, except those that belong to an adapter or to a terminal
// of ACP, are leased or have a request under way, and returns their ids. The error means that the
// process table could not be read; then nothing was forgotten.
func (e *Engine) ForgetEnded() ([]ID, error) {
	if err := e.lookForRest(); err != nil {
		return nil, err
	}
	e.mu.Lock()
	all := slices.Clone(e.over.ended)
	e.mu.Unlock()
	return e.forgetAll(all, true), nil
}

// settleEnded finds out which sessions have ended and forgets those past the bounds, before another
// is started.
func (e *Engine) settleEnded() {
	if err := e.lookForRest(); err != nil {
		e.opts.Log.Warn("which sessions have ended cannot be told", "error", err)
		return
	}
	e.mu.Lock()
	all := e.past()
	e.mu.Unlock()
	e.forgetAll(all, false)
}

// forgetAll forgets those of some sessions that are known to have ended and that nothing holds.
func (e *Engine) forgetAll(all []*Session, asked bool) (forgotten []ID) {
	for _, s := range all {
		<-s.final // its exit is about to be published
		e.mu.Lock()
		empty := s.over.empty
		e.mu.Unlock()
		if !empty || s.config.Kept || !s.holds.end(s, asked) || !e.bury(s) {
			continue
		}
		e.pulse.Beat()
		e.counts.forgot.Add(1)
		forgotten = append(forgotten, s.id)
		// It has nothing to end, and nothing to wait for.
		if err := s.Close(context.Background()); err != nil {
			e.opts.Log.Warn("a session that had ended was not closed properly", "session", s.id,
				"error", err)
		}
	}
	return forgotten
}

// bury takes a session out of the registry and keeps the facts of its ForgottenError. It returns
// false when the session was already closed.
func (e *Engine) bury(s *Session) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.sessions[s.id] != s {
		return false
	}
	e.remove(s)
	for f := range e.followers {
		f.fresh = slices.DeleteFunc(f.fresh, func(x *Session) bool { return x == s })
	}
	o := &e.over
	gone := s.forgotten()
	o.forgotten[s.id] = gone
	e.names.bury(gone)
	if o.order = append(o.order, s.id); len(o.order) > maxForgotten {
		e.names.unbury(o.forgotten[o.order[0]])
		delete(o.forgotten, o.order[0])
		o.order = o.order[1:]
	}
	return true
}

// lookForRest finds out which of the sessions whose terminals are closed have processes left.
func (e *Engine) lookForRest() error {
	e.looking <- struct{}{}
	defer func() { <-e.looking }()
	e.mu.Lock()
	all := slices.Clone(e.over.lingering)
	for _, s := range e.over.ended {
		if !s.over.empty {
			all = append(all, s)
		}
	}
	e.mu.Unlock()
	left, err := leftOf(all)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, s := range all {
		if e.sessions[s.id] != s { // closed in between
			continue
		}
		was := slices.Index(e.over.lingering, s)
		s.over.empty = !left[i]
		switch {
		case left[i] && was < 0:
			e.over.remove(s)
			e.over.lingering = append(e.over.lingering, s)
		case !left[i] && was >= 0:
			e.over.remove(s)
			e.over.ended = append(e.over.ended, s)
		}
	}
	return nil
}

// leftOf reports which of the sessions have processes left.
func leftOf(all []*Session) ([]bool, error) {
	left := make([]bool, len(all))
	var real []*pty.PTY
	var at []int
	for i, s := range all {
		switch p := s.pty.(type) {
		case *pty.PTY:
			real, at = append(real, p), append(at, i)
		case interface{ Left() bool }:
			left[i] = p.Left()
		}
	}
	of, err := pty.Left(real)
	if err != nil {
		return nil, fmt.Errorf("look which sessions have processes left: %w", err)
	}
	for k, i := range at {
		left[i] = of[k]
	}
	return left, nil
}

// holds counts the users that keep a session from being forgotten. Its zero value is ready.
type holds struct {
	n    atomic.Int64 // negative: it is forgotten
	gone atomic.Pointer[ForgottenError]
}

// forgottenHolds is the count of a forgotten session: no number of holds makes it positive.
const forgottenHolds = -1 << 62

// hold keeps the session from being forgotten until let is called. It has no effect on a forgotten
// one.
func (s *Session) hold() { s.holds.n.Add(1) }

func (s *Session) let() {
	if s.holds.n.Add(-1) != 0 {
		return
	}
	e := s.engine
	e.mu.Lock()
	if s.over.ended {
		e.tidyLater()
	}
	e.mu.Unlock()
}

// held reports whether the session must not be forgotten.
func (s *Session) held() bool { return s.config.Kept || s.holds.n.Load() != 0 }

// end forgets the session, unless something holds it.
func (h *holds) end(s *Session, asked bool) bool {
	if !h.n.CompareAndSwap(0, forgottenHolds) {
		return false
	}
	v := s.View()
	h.gone.Store(&ForgottenError{Session: s.id, Name: s.config.Name, Exit: *v.Exit,
		Sequence: v.Sequence, At: time.Now(), Asked: asked})
	return true
}

// forgotten is what is kept of a forgotten session; nil: it is not forgotten.
func (s *Session) forgotten() *ForgottenError { return s.holds.gone.Load() }

// bytes returns roughly how much memory the session takes.
func (s *Session) bytes() int {
	// The session's own fields, what its goroutines left and its terminal's descriptor: measured.
	const head = 8 << 10
	s.mu.Lock()
	defer s.mu.Unlock()
	n := head + s.events.bytes() + s.term.Bytes() + cap(s.rec.buf) + s.blocks.bytes + len(s.blocks.done)*int(unsafe.Sizeof(Block{}))
	n += cap(s.seqs.ends)*int(unsafe.Sizeof(Offset(0))) + s.past.size()
	for _, kv := range s.environ {
		n += len(kv) + int(unsafe.Sizeof(kv))
	}
	return n
}

// how says how a program ended, for a message.
func (e *Exit) how() string {
	how := "its exit code is not known"
	switch {
	case e.Signal != "":
		how = e.Signal
	case e.Code >= 0:
		how = fmt.Sprintf("exit code %d", e.Code)
	}
	if e.Limit != "" {
		how += ", over its limit " + string(e.Limit)
	}
	return how
}
