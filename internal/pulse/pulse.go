// Package pulse wakes goroutines that wait for a change. [Pulse] is all there is.
package pulse

import "sync/atomic"

// A Pulse wakes every goroutine that waits for the next change. Its zero value is ready; it must not be copied.
// A waiter takes the channel first and looks afterwards, so that a change between the two is not missed.
// Nobody waiting costs the writer one atomic load.
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

// Awaited reports whether anybody holds a channel. Whoever takes one later looks later.
func (p *Pulse) Awaited() bool { return p.ch.Load() != nil }

// Beat wakes all who hold the current channel. It never blocks.
func (p *Pulse) Beat() {
	if p.ch.Load() == nil {
		return
	}
	if c := p.ch.Swap(nil); c != nil {
		close(*c)
	}
}
