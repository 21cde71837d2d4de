package remote

import (
	"context"
	"errors"
	"sync"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

// A Verdict is the result of waiting for one of several sessions.
type Verdict struct {
	Session string
	Waited
	Err error
}

// MostAtOnce bounds the sessions in one wait: as many requests as a server runs for one connection
// at once.
const MostAtOnce = 256

// WaitAny waits until the condition holds in one of several sessions, at most [MostAtOnce], and
// returns only that one. When it can hold in none of them any more, or the wait timed out, it
// returns all in their order, each with its error. An error in the request itself, such as an
// unknown session or an invalid matcher, ends the wait at once.
func (s *Server) WaitAny(ctx context.Context, ids []string, c Condition) []Verdict {
	return s.waitFor(ctx, ids, c, func(v Verdict) bool { return v.Err == nil || v.Evidence == nil })
}

// WaitAll waits until the condition has held in each of several sessions, at most [MostAtOnce], and
// returns all in their order. The first session in which it cannot hold any more, or that timed
// out, ends the wait: then it returns that one, and those in which the condition has held.
func (s *Server) WaitAll(ctx context.Context, ids []string, c Condition) []Verdict {
	return s.waitFor(ctx, ids, c, func(v Verdict) bool { return v.Err != nil })
}

// errEnough cancels waits that are no longer needed.
var errEnough = errors.New("another session has decided")

// waitFor waits in several sessions. The first deciding verdict ends the other waits.
func (s *Server) waitFor(ctx context.Context, ids []string, c Condition,
	decides func(Verdict) bool) []Verdict {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	all := make([]Verdict, len(ids))
	var mu sync.Mutex
	decided := -1 // guarded by mu, like everything here
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

// Failed is the first error among verdicts; a timeout takes precedence over a condition that cannot
// hold any more.
func Failed(all []Verdict) error {
	var first error
	for _, v := range all {
		if code, _ := Exit(v.Err); v.Err != nil && (first == nil || code == cli.ExitTimeout) {
			first = v.Err
		}
	}
	return first
}
