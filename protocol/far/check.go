package far

import (
	"context"
	"time"
)

// An Answer is what a host says when it is asked once.
type Answer struct {
	Version  string        // of the program there
	Connect  time.Duration // from the start of its command to its first answer
	Round    time.Duration // of a question and its answer after that; 0: there was none
	Sessions int
}

// Check connects to a host once, for at most the 20 seconds that a link may take, asks what answers
// there and ends the link.
func Check(ctx context.Context, m *Model, h Host) (Answer, error) {
	hub, err := New(nil, m, []Host{h}, nil)
	if err != nil {
		return Answer{}, err
	}
	began := time.Now()
	one := hub.hosts[h.Name]
	l, err := one.connect(ctx)
	if err != nil {
		return Answer{}, err
	}
	defer func() {
		l.end(errGivenBack)
		<-l.ended
		<-l.wrote
	}()
	a := Answer{Version: l.about.Version, Connect: time.Since(began)}
	if ms := roundTrip(ctx, l); ms != nil {
		a.Round = time.Duration(*ms * float64(time.Millisecond))
	}
	listed := make(chan answer, 1)
	l.send(&call{method: "session.list", on: func(got answer) { listed <- got }})
	bound := time.NewTimer(listBound)
	defer bound.Stop()
	select {
	case got := <-listed:
		if got.err != nil {
			return a, got.err
		}
		n, err := countOf(got.result)
		a.Sessions = n
		return a, err
	case <-l.ended:
		return a, one.lost(l.why())
	case <-bound.C:
		return a, one.lost(errLateList)
	case <-ctx.Done():
		return a, context.Cause(ctx)
	}
}
