package engine

import (
	"errors"
	"sync/atomic"
)

// Stats are counts since the engine was made, for an operator: they hold nothing that a program
// wrote.
type Stats struct {
	Live    int   // sessions in the registry, including ended ones
	Running int   // of them, those whose program runs
	Started int64 // sessions
	Forgot  int64 // sessions that had ended and were forgotten
	Output  int64 // bytes that programs wrote
	Input   int64 // bytes of actions that terminals took
	Blocked int64 // actions that a program did not read in time
	Waits   WaitStats
}

// WaitStats are waits that have ended, by how they did.
type WaitStats struct {
	Matched, TimedOut, Cancelled int64
	Ended                        int64 // with the session
	Failed                       int64 // with the matcher
}

// counts are the values of Stats, each updated by the code that it counts.
type counts struct {
	started, forgot, output, input, blocked     atomic.Int64
	matched, timedOut, cancelled, ended, failed atomic.Int64
}

func (c *counts) wait(how EventState) {
	switch how {
	case WaitMatched:
		c.matched.Add(1)
	case TimedOut:
		c.timedOut.Add(1)
	case SessionEnded:
		c.ended.Add(1)
	case Cancelled:
		c.cancelled.Add(1)
	default:
		c.failed.Add(1)
	}
}

func (c *counts) did(r Receipt, err error) {
	c.input.Add(int64(r.Written))
	var blocked *InputBlockedError
	if errors.As(err, &blocked) {
		c.blocked.Add(1)
	}
}

// Stats returns the counts so far. It waits for no I/O.
func (e *Engine) Stats() Stats {
	all := e.List()
	c := &e.counts
	s := Stats{
		Live: len(all), Started: c.started.Load(), Forgot: c.forgot.Load(), Output: c.output.Load(),
		Input: c.input.Load(), Blocked: c.blocked.Load(),
		Waits: WaitStats{
			Matched: c.matched.Load(), TimedOut: c.timedOut.Load(), Cancelled: c.cancelled.Load(),
			Ended: c.ended.Load(), Failed: c.failed.Load(),
		},
	}
	for _, x := range all {
		if x.View().Exit == nil {
			s.Running++
		}
	}
	return s
}
