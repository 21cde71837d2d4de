package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// ErrClosed is what calls return after the connection has ended, by [Client.Close] or by the
// server.
var ErrClosed = errors.New("the connection to the server is closed")

// cancelBound is how long a call whose context has ended waits for the server's answer, which holds
// the evidence of a cancelled wait; after it the session's next request does not queue. A live
// server needs a millisecond; a longer bound would only delay callers of a dead one.
// more, a dead one keeps its caller longer.
const cancelBound = 500 * time.Millisecond

// A Client is one connection. Make it with [New], [Dial], [Start] or [StartCommand], and end it
// with [Client.Close].
type Client struct {
	conn   *jsonrpc2.Conn
	stream *lines
	child  *child // nil: another process started the server
	last   atomic.Uint64
	events atomic.Pointer[func(Event)]

	closing context.Context // ends when Close begins
	begin   context.CancelFunc
	once    sync.Once
	result  error // of Close

	mu sync.Mutex
	// protects the fields below
	closed bool
	calls  sync.WaitGroup // Add only while not closed
}

// New returns a client that speaks lines of JSON over stream, and closes stream when the client is
// closed. Closing the stream must end its reads and writes in progress.
func New(stream io.ReadWriteCloser) *Client {
	c := &Client{stream: newLines(stream)}
	c.closing, c.begin = context.WithCancel(context.Background())
	c.conn = jsonrpc2.NewConn(context.Background(), c.stream, incoming{c},
		jsonrpc2.SetLogger(log.New(io.Discard, "", 0)), jsonrpc2.OnRecv(c.stream.check))
	return c
}

// Dial connects to the server that listens at path: a Unix socket, or on Windows a named pipe. ctx
// bounds dialing only. The error is a *[net.OpError] on Unix and an *[os.PathError] on Windows.
func Dial(ctx context.Context, path string) (*Client, error) {
	conn, err := dial(ctx, path)
	if err != nil {
		return nil, err
	}
	return New(conn), nil
}

// DialStream connects as [Dial] does and returns the bare connection, for other protocols. Errors
// are Dial's.
func DialStream(ctx context.Context, path string) (net.Conn, error) { return dial(ctx, path) }

// Call calls a method and decodes its result into result, a pointer, or nil to drop it. params is
// encoded as a JSON object; nil sends none.
//
// When ctx ends first, Call sends $/cancelRequest and gives the server half a second to answer: the
// error then is the context's cause, joined with the server's *[Error] (evidence in Data) if it
// answered. An answer already on its way is returned as if ctx had not ended. ctx does not bound
// sending, which blocks only while the server holds 16 MiB of unstarted requests; Close ends it.
//
// Errors: *[Error] for the server's, [ErrClosed], the cause of ctx's end, or an encoding or
// decoding error.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if !c.start() {
		return fmt.Errorf("%s: %w", method, ErrClosed)
	}
	defer c.calls.Done()
	id := c.last.Add(1) // from 1: the library encodes 0 as null, which is not an id to answer
	call, err := c.conn.DispatchCall(ctx, method, params, jsonrpc2.PickID(jsonrpc2.ID{Num: id}))
	if err != nil {
		return c.explain(method, err)
	}
	until, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.closing, func() { cancel(ErrClosed) })()
	err = call.Wait(until, result)
	if err == nil || until.Err() == nil || !errors.Is(err, until.Err()) {
		return c.explain(method, err)
	}
	cause := context.Cause(until)
	if err := c.Notify("$/cancelRequest", map[string]uint64{"id": id}); err != nil {
		return fmt.Errorf("%s: %w", method, cause)
	}
	bound, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelBound)
	defer stop()
	err = call.Wait(bound, result)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, jsonrpc2.ErrClosed) {
		return fmt.Errorf("%s: %w", method, cause)
	}
	err = c.explain(method, err)
	var e *Error
	if errors.As(err, &e) && e.Code == CodeCancelled {
		return fmt.Errorf("%s: %w: %w", method, cause, e)
	}
	return err
}

// Notify sends a notification, which has no answer. Errors: [ErrClosed], or an encoding error.
func (c *Client) Notify(method string, params any) error {
	return c.explain(method, c.conn.Notify(context.Background(), method, params))
}

// start counts a call in progress, unless the client is closed.
func (c *Client) start() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.calls.Add(1)
	return true
}

// explain translates the library's errors into ours.
func (c *Client) explain(method string, err error) error {
	var e *jsonrpc2.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		err = wireError(e)
	case errors.Is(err, jsonrpc2.ErrClosed):
		err = ErrClosed
		if cause := c.stream.cause(); cause != nil {
			err = fmt.Errorf("%w: %w", ErrClosed, cause)
		}
	}
	return fmt.Errorf("%s: %w", method, err)
}

// Done returns a channel that is closed when the connection has ended, by either side.
func (c *Client) Done() <-chan struct{} { return c.conn.DisconnectNotify() }

// Close ends the connection: calls in progress are cancelled and return [ErrClosed], the stream is
// closed, and the reader has ended when Close returns. A server started by [Start] sees the end of
// its input, has ten seconds to end its programs, and is then killed; Close returns the result of
// [exec.Cmd.Wait]: nil for exit 0, otherwise an *[exec.ExitError]. Close may be called more than
// once.
//
// The function given to [Client.Subscribe] must not call it.
func (c *Client) Close() error {
	c.once.Do(func() { c.result = c.close() })
	return c.result
}

func (c *Client) close() error {
	c.begin()
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		c.calls.Wait()
		close(idle)
	}()
	bound := time.NewTimer(2 * cancelBound) // a call that is still being sent gets no answer
	defer bound.Stop()
	select {
	case <-idle:
	case <-bound.C:
	}
	var err error
	if c.child != nil {
		err = c.child.end(c.stream.ended)
	}
	if cerr := c.conn.Close(); err == nil && !errors.Is(cerr, jsonrpc2.ErrClosed) && !errors.Is(cerr, os.ErrClosed) && !errors.Is(cerr, net.ErrClosed) {
		err = cerr
	}
	<-c.stream.ended
	<-idle
	return err
}

// Subscribe turns the server's notifications on and calls f with each, in the order in which they
// and the answers were sent. With sessions named, only theirs are sent; otherwise those of all
// sessions, including later ones. A further Subscribe replaces the function and the choice; a nil f
// turns notifications off.
//
// The one goroutine that reads the connection calls f, and nothing is queued: while f runs, no call
// returns, and the server merges what happens meanwhile into one [Event], with Dropped set where
// its bound was passed. So f may be slow, such as one that writes to a terminal, but must not call
// this client.
func (c *Client) Subscribe(ctx context.Context, f func(Event), sessions ...string) error {
	if f != nil {
		c.events.Store(&f)
	}
	params := map[string]any{"enabled": f != nil}
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

// incoming handles the server's unsolicited messages.
type incoming struct{ c *Client }

func (h incoming) Handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	f := h.c.events.Load()
	if f == nil || !r.Notif { // a server of the native dialect sends no requests
		return
	}
	e := Event{Method: r.Method}
	if r.Params != nil {
		e.Params = *r.Params
		_ = json.Unmarshal(e.Params, &e) // other notifications are in Params
	}
	(*f)(e)
}
