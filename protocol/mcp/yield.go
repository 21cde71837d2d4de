package mcp

import (
	"context"
	"sync"
)

type (
	connKey struct{} // of the *lineConn that a request came by
	turnKey struct{} // of its *turn
)

// A turn is held by one request of a connection at a time: the next is started when it is over.
type turn struct {
	once sync.Once
	over chan struct{}
}

func newTurn() *turn { return &turn{over: make(chan struct{})} }

func (t *turn) end() { t.once.Do(func() { close(t.over) }) }

// Yield is called by a handler, with its context, right before it waits for anything, the client included: from then on
// the connection's next request may start. Requests on a stream of lines are started in the order read, one that does
// not yield is answered before the next is started. Further calls do nothing, nor does one on HTTP, where requests
// have no order.
func Yield(ctx context.Context) {
	if t, ok := ctx.Value(turnKey{}).(*turn); ok {
		t.end()
	}
}
