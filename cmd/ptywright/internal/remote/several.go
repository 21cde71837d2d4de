package remote

import (
	"context"
	"errors"
	"sync"
)

// A Verdict is what came of the wait for one of several sessions.
type Verdict struct {
	Session string
	Waited
	Err error
}

// MostAtOnce bounds the sessions that are waited for at the same time: a server runs as many requests of a connection at once.
const MostAtOnce = 256

// WaitAny waits until the condition holds in one of several sessions, at most [MostAtOnce], and returns that first, alone. When none
// can fulfil it any more, or its time is over, all are returned in their order, each with its error. An error that is about what was
// asked and not about a session's course, an unknown session or a matcher that is none, ends the wait at once.
func (s *Server) WaitAny(ctx context.Context, ids []string, c Condition) []Verdict {
	return s.waitFor(ctx, ids, c, func(v Verdict) bool { return v.Err == nil || v.Evidence == nil })
}

// WaitAll waits until the condition has held in each of several sessions, at most [MostAtOnce], and returns all in their order. The
// first in which it cannot hold any more, or no more in time, ends the wait: then that is returned, and those in which it has held.
func (s *Server) WaitAll(ctx context.Context, ids []string, c Condition) []Verdict {
	return s.waitFor(ctx, ids, c, func(v Verdict) bool { return v.Err != nil })
}

// errEnough cancels the waits that are needed no more.
var errEnough = errors.New("another session has decided")

// waitFor waits in several sessions. The first verdict that decides ends the others.
func (s *Server) waitFor(ctx context.Context, ids []string, c Condition, decides func(Verdict) bool) []Verdict {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	all := make([]Verdict, len(ids))
	var mu sync.Mutex
	decided := -1 // guarded by mu, as all is
	var waits sync.WaitGroup
	for i, id := range ids {
		waits.Go(func() {
			w, err := s.Wait(ctx, id, c)
			v := Verdict{id, w, err}
			mu.Lock()
			defer mu.Unlock()
			all[i] = v
			if decided < 0 && decides(v) && !errors.Is(context.Cause(ctx), errEnough) {
				decided = i
				cancel(errEnough)
			}
		})
	}
	waits.Wait()
	if decided < 0 {
		return all
	}
	kept := all[:0]
	for i, v := range all {
		if i == decided || all[decided].Err != nil && v.Err == nil {
			kept = append(kept, v)
		}
	}
	return kept
}

// Failed is the error of the first of several verdicts that has one; a wait that timed out comes before one that cannot hold any more.
func Failed(all []Verdict) error {
	var first error
	for _, v := range all {
		if code, _ := Exit(v.Err); v.Err != nil && (first == nil || code == ExitTimeout) {
			first = v.Err
		}
	}
	return first
}
