package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"sync"
)

// An Event is a notification: session.changed, session.output, session.exited, session.leased,
// adapter.changed or session.event. Members that its Method does not have are zero.
type Event struct {
	Method   string `json:"-"`
	Session  string `json:"session"`
	Sequence uint64 `json:"sequence"`
	Output   string `json:"output"` // session.output
	// session.output, session.event: some before it was lost: this client was too slow
	Dropped bool    `json:"dropped"`
	Secret  bool    `json:"secret_input"` // session.changed: the program reads a secret
	Code    *int    `json:"exit_code"`    // session.exited
	Signal  *string `json:"signal"`       // session.exited
	Killed  bool    `json:"killed"`       // session.exited: somebody ended it
	// session.exited: the limit that ended it; "": none
	Limit    string `json:"limit"`
	Lease    *Lease `json:"lease"`    // session.leased; nil: it was given back
	Adapter  string `json:"adapter"`  // adapter.changed
	Plugin   string `json:"plugin"`   // adapter.changed
	State    string `json:"state"`    // adapter.changed: its name
	Previous string `json:"previous"` // adapter.changed: the state before
	// adapter.changed: seq of the newest in adapter.events
	Events uint64 `json:"events"`
	// session.event, after SubscribeEvents
	Noted  *SessionEvent   `json:"event"`
	Params json.RawMessage `json:"-"` // what was received
}

// Ended is how the program of a session.exited ended.
func (e *Event) Ended() *Exit {
	return &Exit{Code: e.Code, Signal: e.Signal, Limit: e.Limit, Killed: e.Killed}
}

// Subscribe turns the server's notifications on and calls f with each, in the order in which they
// and the answers were sent. With sessions named, only theirs are sent; otherwise those of all
// sessions, including later ones. A further Subscribe replaces the function and the choice; a nil f
// turns notifications off.
//
// The one goroutine that reads the connection calls f, and nothing is queued: while f runs, no call
// returns, and the server merges what happens meanwhile into one [Event], with Dropped set where
// its bound was passed. So f may be slow, such as one that writes to a terminal, but must not call
// this client; see [Client.Notifications].
func (c *Client) Subscribe(ctx context.Context, f func(Event), sessions ...string) error {
	return c.subscribe(ctx, f, false, sessions)
}

// SubscribeEvents is [Client.Subscribe] for session.event, too. Those that are noted from now on
// come; [Session.Events] has the ones before.
func (c *Client) SubscribeEvents(ctx context.Context, f func(Event), sessions ...string) error {
	return c.subscribe(ctx, f, true, sessions)
}

func (c *Client) subscribe(ctx context.Context, f func(Event), events bool, sessions []string) error {
	if f != nil {
		c.events.Store(&f)
	}
	params := map[string]any{"enabled": f != nil}
	if events {
		params["events"] = true
	}
	if len(sessions) > 0 {
		params["sessions"] = sessions
	}
	err := c.Call(ctx, "server.set_notifications", params, nil)
	if f == nil {
		c.events.Store(nil)
	}
	return err
}

// Listen calls f with each notification, as [Client.Subscribe] does, but does not ask the server
// for any: it is for callers that subscribe in their own way. A nil f drops them.
func (c *Client) Listen(f func(Event)) {
	if f == nil {
		c.events.Store(nil)
		return
	}
	c.events.Store(&f)
}

// notice is called by the goroutine that reads the connection.
func (c *Client) notice(method string, params []byte) {
	f := c.events.Load()
	if f == nil {
		return
	}
	e := Event{Method: method, Params: params}
	_ = json.Unmarshal(params, &e) // other notifications are in Params
	(*f)(e)
}

// mostEvents bounds the notifications that a loop over [Client.Notifications] has not read yet. The
// server sends at most a hundred a second for a session.
const mostEvents = 1024

// ErrReplaced ends a loop over [Client.Notifications] when the next one is asked for.
var ErrReplaced = errors.New("other notifications were asked for")

// Notifications turns the server's notifications on, those of the sessions that are named or of
// all, and returns them: from now on, and until ctx or the connection ends, which is told with an
// error. The loop that reads them may use the client, and the server stops to tell when it ends. A
// further call replaces the first.
//
//	events, err := c.Notifications(ctx)
//	for e, err := range events {
//		if err != nil {
//			return err
//		}
//		fmt.Println(e.Method, e.Session)
//	}
//
// It is [Client.Subscribe] with a queue: a loop that falls behind by 1,024 notifications loses the
// oldest, and the next session.output has Dropped set.
func (c *Client) Notifications(
	ctx context.Context, sessions ...string,
) (iter.Seq2[Event, error], error) {
	return c.notifications(ctx, false, sessions)
}

// EventNotifications is [Client.Notifications] with session.event, too: what happens to a session,
// as [Session.Events] has it. Of a loop that falls behind the next session.event has Dropped set.
func (c *Client) EventNotifications(
	ctx context.Context, sessions ...string,
) (iter.Seq2[Event, error], error) {
	return c.notifications(ctx, true, sessions)
}

func (c *Client) notifications(
	ctx context.Context, events bool, sessions []string,
) (iter.Seq2[Event, error], error) {
	q := &queue{more: make(chan struct{}, 1), replaced: make(chan struct{})}
	if old := c.queue.Swap(q); old != nil {
		close(old.replaced)
	}
	if err := c.subscribe(ctx, q.put, events, sessions); err != nil {
		return nil, err
	}
	return func(yield func(Event, error) bool) {
		defer func() {
			if c.queue.CompareAndSwap(q, nil) {
				// of a connection that has ended there are none
				_ = c.Subscribe(context.WithoutCancel(ctx), nil)
			}
		}()
		for {
			var err error
			select {
			case <-q.more:
			case <-ctx.Done():
				err = context.Cause(ctx)
			case <-q.replaced:
				err = ErrReplaced
			case <-c.Done():
				err = c.conn.gone()
			}
			for e, ok := q.take(); ok; e, ok = q.take() {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(Event{}, c.explain("server.set_notifications", err))
				return
			}
		}
	}, nil
}

// A queue holds notifications that a loop has not read.
type queue struct {
	more     chan struct{} // has room for one: something was put
	replaced chan struct{} // closed by the next queue

	mu     sync.Mutex
	events []Event
	lost   map[[2]string]bool // notifications that tell of Dropped, of sessions that lost some
}

func (q *queue) put(e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.events) == mostEvents {
		if old := q.events[0]; old.Method == "session.output" || old.Method == "session.event" {
			if q.lost == nil {
				q.lost = map[[2]string]bool{}
			}
			q.lost[[2]string{old.Method, old.Session}] = true
		}
		q.events = q.events[1:]
	}
	q.events = append(q.events, e)
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *queue) take() (e Event, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.events) == 0 {
		return Event{}, false
	}
	e, q.events = q.events[0], q.events[1:]
	if of := [2]string{e.Method, e.Session}; q.lost[of] {
		e.Dropped = true
		delete(q.lost, of)
	}
	return e, true
}
