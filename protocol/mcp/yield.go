package mcp

import (
	"context"
	"sync"
)

type (
	connKey struct{} // of the *lineConn that a request came by
	turnKey struct{} // of its *turn
)

// A turn is held by one request of a connection at a time: the next starts when it is over.
type turn struct {
	once sync.Once
	over chan struct{}
}

func newTurn() *turn { return &turn{over: make(chan struct{})} }

func (t *turn) end() { t.once.Do(func() { close(t.over) }) }

// Yield is called by a handler, with its context, right before it waits for anything, the client
// included: the connection's next request may then start. Requests on a stream of lines start in
// the order in which they were read, and one that does not yield is answered before the next
// starts. Further calls do nothing, nor do calls over HTTP, where requests have no order.
func Yield(ctx context.Context) {
	if t, ok := ctx.Value(turnKey{}).(*turn); ok {
		t.end()
	}
}
