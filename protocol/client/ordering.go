package client

import (
	"context"
	"encoding/json"
	"sync"
)

const setOrdering = "server.set_ordering"

// An ordering is what the connection has asked for with server.set_ordering.
type ordering struct {
	mu         sync.Mutex // held while overtaking changes it
	overtaking int        // how many need requests that overtake each other
	before     string     // what it was without them

	now struct {
		sync.Mutex
		string // "": session, as it begins
	}
}

// note notes the answer of server.set_ordering.
func (o *ordering) note(raw json.RawMessage) {
	var r struct{ Ordering string }
	if json.Unmarshal(raw, &r) == nil {
		o.now.Lock()
		o.now.string = r.Ordering
		o.now.Unlock()
	}
}

func (o *ordering) is() string {
	o.now.Lock()
	defer o.now.Unlock()
	return o.now.string
}

// overtaking has requests of the connection overtake each other until restore is called.
func (c *Client) overtaking(ctx context.Context) (restore func(), err error) {
	o := &c.ordering
	set := func(ctx context.Context, ordering string) error {
		return c.Call(ctx, setOrdering, map[string]string{"ordering": ordering}, nil)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.overtaking == 0 {
		o.before = o.is()
		if o.before != "concurrent" {
			if err := set(ctx, "concurrent"); err != nil {
				return nil, err
			}
		}
	}
	o.overtaking++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.overtaking--; o.overtaking == 0 && o.before != "concurrent" {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), partBound)
			defer cancel()
			_ = set(ctx, "session") // it fails when the connection has ended
		}
	}, nil
}
