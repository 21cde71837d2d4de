package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	// ErrClosed is what calls return after the connection has ended, by [Client.Close] or by the
	// server.
	ErrClosed = errors.New("the connection to the server is closed")
	// ErrNotSent says that a context ended before its request was sent, as the server does not
	// read: nothing has happened.
	ErrNotSent = errors.New("the request was not sent, as the server does not read")
)

// A Client is one connection. Make it with [Start], [Dial], [StartCommand] or [New], and end it
// with [Client.Close].
type Client struct {
	conn   *conn
	child  *child // nil: another process started the server
	events atomic.Pointer[func(Event)]
	queue  atomic.Pointer[queue] // of Notifications; nil: none

	once   sync.Once
	result error // of Close

	ordering ordering

	mu sync.Mutex
	// protects the fields below
	closed bool
	calls  sync.WaitGroup // Add only while not closed
}

// New returns a client that speaks lines of JSON over stream, and closes stream when the client is
// closed. Closing the stream must end its reads and writes in progress. Nothing is sent before the
// first call; see [Client.Greet].
func New(stream io.ReadWriteCloser) *Client {
	c := new(Client)
	c.conn = newConn(stream, c.notice)
	return c
}

// Dial connects to the server that listens at path, a Unix socket or on Windows a named pipe, and
// greets it. ctx bounds both. Errors: a *[net.OpError] on Unix and an *[os.PathError] on Windows,
// and those of [Client.Greet].
func Dial(ctx context.Context, path string) (*Client, error) {
	stream, err := dial(ctx, path)
	if err != nil {
		return nil, err
	}
	return New(stream).greeted(ctx)
}

// DialStream connects as [Dial] does and returns the bare connection, to give to [New] or for other
// protocols.
func DialStream(ctx context.Context, path string) (net.Conn, error) { return dial(ctx, path) }

// Protocol is the version of the wire that this package speaks.
const Protocol = 1

// Greet asks the server which version of the wire it speaks, tells it what this program is called
// (see [Client.Introduce]), and has it refuse members of params that a method does not have, which
// are misspelt otherwise without a word. [Dial] and [Start] have done it. Errors: [*ProtocolError],
// and those of [Client.Call].
func (c *Client) Greet(ctx context.Context) error {
	about, err := c.Capabilities(ctx)
	if err != nil {
		return err
	}
	if about.Protocol != Protocol {
		return &ProtocolError{Server: about.Protocol, Version: about.Version}
	}
	if err := c.Introduce(ctx, program()); err != nil {
		return err
	}
	return c.Call(ctx, "server.set_strict", map[string]bool{"strict": true}, nil)
}

// Introduce tells the server what this client is called from now on, in place of the name of its
// program: others read it in events, with the number of the connection, and as the holder of leases.
// At most 64 characters of it are kept, which have to be printable. It does not wait for an answer: a
// server that is older knows nothing of it. Errors: [ErrNotSent], [ErrClosed] and [*ServerGoneError].
func (c *Client) Introduce(ctx context.Context, name string) error {
	const method = "server.set_client"
	about := map[string]string{"name": name}
	return c.explain(method, c.conn.send(ctx, request{JSONRPC: "2.0", Method: method, Params: about}))
}

// program is the name of this program's file.
func program() string {
	if len(os.Args) == 0 {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
}

func (c *Client) greeted(ctx context.Context) (*Client, error) {
	if err := c.Greet(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Capabilities say what a server is and can do.
type Capabilities struct {
	Version string `json:"version"` // of the program
	// of the wire; 0: older than the first that has a number
	Protocol      int            `json:"protocol"`
	PID           int            `json:"pid"`
	Methods       []string       `json:"methods"`
	Notifications []string       `json:"notifications"`
	Actions       []string       `json:"actions"`
	Matchers      []string       `json:"matchers"`
	Limits        map[string]int `json:"limits"`
}

// Capabilities asks the server what it is and can do.
func (c *Client) Capabilities(ctx context.Context) (*Capabilities, error) {
	return result[Capabilities](ctx, c, "server.capabilities", nil)
}

// Call calls a method and decodes its result into result, a pointer, or nil to drop it. params is
// encoded as a JSON object; nil sends none.
//
// When ctx ends first, Call sends $/cancelRequest and gives the server half a second to answer: the
// error then is the context's cause, joined with the server's *[Error], which has the evidence, if
// it answered. An answer already on its way is returned as if ctx had not ended. When the server
// does not read, and ctx ends before the request is sent, the error is [ErrNotSent] and the cause.
//
// Errors: *[Error] for the server's, [ErrClosed] and with it *[ServerGoneError], the cause of ctx's
// end, [ErrNotSent], or an encoding or decoding error.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if !c.start() {
		return fmt.Errorf("%s: %w", method, ErrClosed)
	}
	defer c.calls.Done()
	raw, err := c.conn.call(ctx, method, params)
	if err == nil && method == setOrdering {
		c.ordering.note(raw)
	}
	if err == nil && result != nil {
		err = json.Unmarshal(raw, result)
	}
	return c.explain(method, err)
}

// result calls a method and returns its result.
func result[R any](ctx context.Context, c *Client, method string, params any) (*R, error) {
	r := new(R)
	if err := c.Call(ctx, method, params, r); err != nil {
		return nil, err
	}
	return r, nil
}

// Notify sends a notification, which has no answer. Errors: [ErrClosed], or an encoding error.
func (c *Client) Notify(method string, params any) error {
	r := request{JSONRPC: "2.0", Method: method, Params: params}
	return c.explain(method, c.conn.send(context.Background(), r))
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

// explain says what was called, and why a server of ours has gone.
func (c *Client) explain(method string, err error) error {
	if err == nil {
		return nil
	}
	if c.child != nil && errors.Is(err, ErrClosed) && !c.closing() {
		err = c.child.gone(err)
	}
	return fmt.Errorf("%s: %w", method, err)
}

func (c *Client) closing() bool {
	select {
	case <-c.conn.closed:
		return true
	default:
		return false
	}
}

// Done returns a channel that is closed when the connection has ended, by either side.
func (c *Client) Done() <-chan struct{} { return c.conn.ended }

// Close ends the connection: calls in progress are cancelled and return [ErrClosed], the stream is
// closed, and both goroutines have ended when Close returns. A server started by [Start] sees the
// end of its input, has ten seconds to end its programs, and is then killed; Close returns the
// result of [exec.Cmd.Wait]: nil for exit 0, otherwise an *[exec.ExitError]. Close may be called
// more than once.
//
// The function given to [Client.Subscribe] must not call it.
func (c *Client) Close() error {
	c.once.Do(func() { c.result = c.close() })
	return c.result
}

func (c *Client) close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	close(c.conn.closed)
	idle := make(chan struct{})
	go func() {
		c.calls.Wait()
		close(idle)
	}()
	bound := time.NewTimer(2 * cancelBound)
	defer bound.Stop()
	select {
	case <-idle:
	case <-bound.C:
	}
	var err error
	if c.child != nil {
		err = c.child.end(c.conn.ended)
	}
	cerr := c.conn.close()
	if err == nil && !errors.Is(cerr, os.ErrClosed) && !errors.Is(cerr, net.ErrClosed) {
		err = cerr
	}
	<-idle
	return err
}
