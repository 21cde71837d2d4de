// Package pulse wakes goroutines that wait for a change: see [Pulse].
package pulse

import "sync/atomic"

// A Pulse wakes every goroutine that waits for the next change. Its zero value is ready; it must
// not be copied. A waiter takes the channel first and checks afterwards, so that it misses no
// change between the two. With no waiters a beat costs one atomic load.
type Pulse struct {
	ch atomic.Pointer[chan struct{}]
}

// Next returns a channel that is closed by the next beat.
func (p *Pulse) Next() <-chan struct{} {
	for {
		if c := p.ch.Load(); c != nil {
			return *c
		}
		c := make(chan struct{})
		if p.ch.CompareAndSwap(nil, &c) {
			return c
		}
	}
}

// Awaited reports whether a channel is held. A goroutine that takes one later also checks later.
func (p *Pulse) Awaited() bool { return p.ch.Load() != nil }

// Beat wakes all holders of the current channel. It never blocks.
func (p *Pulse) Beat() {
	if p.ch.Load() == nil {
		return
	}
	if c := p.ch.Swap(nil); c != nil {
		close(*c)
	}
}
