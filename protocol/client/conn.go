package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
)

// MaxMessage bounds one message of the server, in bytes. Every cell of the largest screen, 1,000 by
// 1,000, is some 200 MB; anything larger is not from a ptywright server.
const MaxMessage = 256 << 20

// cancelBound is how long a call whose context has ended waits for the server's answer, which holds
// the evidence of a cancelled wait; after it the session's next request does not queue. A live
// server needs a millisecond; a longer bound would only delay callers of a dead one.
const cancelBound = 500 * time.Millisecond

// A conn is a stream of messages, one a line, and the calls that wait for their answers. Two
// goroutines serve it until the stream ends: one reads, one writes, and close awaits both.
type conn struct {
	stream io.ReadWriteCloser
	in     *bufio.Reader
	most   int                                // bytes of a message
	notice func(method string, params []byte) // called by the reader
	out    chan []byte                        // lines, to the writer
	closed chan struct{}                      // closed when calls are to end
	ended  chan struct{}                      // closed when reading has ended
	wrote  chan struct{}                      // closed when writing has ended

	mu sync.Mutex
	// protects the fields below
	last  uint64             // id of a call, from 1
	calls map[uint64]waiting // for an answer
	err   error              // why the stream ended; nil: not yet, or at its end
}

// A waiting call gets its one answer, for which the channel has room.
type waiting struct {
	method   string
	answered chan<- answer
}

// An answer is the server's to one call.
type answer struct {
	result json.RawMessage
	err    *Error
}

func newConn(stream io.ReadWriteCloser, notice func(string, []byte)) *conn {
	c := &conn{
		stream: stream, in: newReader(stream),
		most: MaxMessage, notice: notice, out: make(chan []byte), calls: map[uint64]waiting{},
		closed: make(chan struct{}), ended: make(chan struct{}), wrote: make(chan struct{}),
	}
	go c.read()
	go c.write()
	return c
}

// A request is a call, or without ID a notification.
type request struct {
	JSONRPC string `json:"jsonrpc"`
	ID      uint64 `json:"id,omitzero"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

// call sends a request and returns its result. The error is the server's *Error, the cause of ctx's
// end with the server's error if it answered the cancel, or why there can be no answer.
func (c *conn) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	answered := make(chan answer, 1)
	id := c.open(waiting{method, answered})
	defer c.forget(id)
	if err := c.send(ctx, request{"2.0", id, method, params}); err != nil {
		return nil, err
	}
	select {
	case a := <-answered:
		return a.values()
	case <-c.ended:
		return c.late(answered)
	case <-ctx.Done():
		return c.cancel(context.Cause(ctx), id, answered)
	case <-c.closed:
		return c.cancel(ErrClosed, id, answered)
	}
}

func (c *conn) open(w waiting) (id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	c.calls[c.last] = w
	return c.last
}

func (c *conn) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, id)
}

func (a answer) values() (json.RawMessage, error) {
	if a.err != nil {
		return nil, a.err
	}
	return a.result, nil
}

// late returns an answer that came before the stream ended, or why there is none.
func (c *conn) late(answered <-chan answer) (json.RawMessage, error) {
	select {
	case a := <-answered:
		return a.values()
	default:
		return nil, c.gone()
	}
}

// cancel asks the server to end a request, and returns its answer. One that was on its way already
// is returned as if nothing had been cancelled.
func (c *conn) cancel(cause error, id uint64, answered <-chan answer) (json.RawMessage, error) {
	bound := time.NewTimer(cancelBound)
	defer bound.Stop()
	out := c.out
	const format = `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`
	line := fmt.Appendf(nil, format+"\n", id)
	for {
		select {
		case out <- line:
			out = nil
		case a := <-answered:
			if a.err != nil && a.err.Code == CodeCancelled {
				return nil, fmt.Errorf("%w: %w", cause, a.err)
			}
			return a.values()
		case <-c.ended:
			return nil, cause
		case <-bound.C:
			return nil, cause
		}
	}
}

// send hands a message to the writer, which then writes it as a whole.
func (c *conn) send(ctx context.Context, r request) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	select {
	case c.out <- append(line, '\n'):
		return nil
	case <-c.ended:
		return c.gone()
	case <-c.closed:
		return ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrNotSent, context.Cause(ctx))
	}
}

// write writes what is handed over. After a failure it leaves the reader a moment for answers that
// are on their way.
func (c *conn) write() {
	defer close(c.wrote)
	for {
		select {
		case line := <-c.out:
			if _, err := c.stream.Write(line); err != nil {
				c.fail(err)
				select {
				case <-c.ended:
				case <-time.After(cancelBound):
				}
				c.stream.Close()
				return
			}
		case <-c.ended:
			return
		}
	}
}

// read delivers messages until the stream ends.
func (c *conn) read() {
	defer close(c.ended)
	for {
		line, err := c.next()
		if err == nil {
			err = c.take(line)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				c.fail(err)
			}
			return
		}
	}
}

// next returns the next line that is not blank. A last line without a line feed is not a message.
func (c *conn) next() ([]byte, error) {
	var line []byte
	for {
		part, err := c.in.ReadSlice('\n')
		if len(line)+len(part) > c.most {
			return nil, fmt.Errorf("the server sent a message of more than %d bytes", c.most)
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// A message is anything that a server sends.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// take delivers one message. An error ends the connection.
func (c *conn) take(line []byte) error {
	if id, result, ok := succeeded(line); ok {
		c.deliver(id, answer{result: result})
		return nil
	}
	var m message
	err := json.Unmarshal(line, &m)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errNoMessage, err)
	case m.Method != "":
		if m.ID == nil { // a server of the native dialect sends no requests
			c.notice(m.Method, m.Params)
		}
		return nil
	case m.Result == nil && m.Error == nil:
		return errNoMessage
	}
	a := answer{result: m.Result}
	if m.Error != nil {
		a.err = newError(m.Error.Code, m.Error.Message, m.Error.Data)
	}
	id, err := strconv.ParseUint(string(m.ID), 10, 64)
	if err != nil {
		// An error without an id is about a request that the server could not read, and nothing
		// says which: it ends the connection, so that no call waits forever.
		if a.err != nil {
			return a.err
		}
		return errNoMessage
	}
	c.deliver(id, a)
	return nil
}

// deliver hands an answer to its call, if that has not given up.
func (c *conn) deliver(id uint64, a answer) {
	c.mu.Lock()
	w, ok := c.calls[id]
	delete(c.calls, id)
	c.mu.Unlock()
	if !ok {
		return
	}
	if a.err != nil {
		a.err.Method = w.method
	}
	w.answered <- a
}

// succeeded reads an answer that is written as ptywright writes it, without parsing the result: its
// caller does, and in a turn parsing costs more than all else. What is written in another way is
// left to the parser.
func succeeded(line []byte) (id uint64, result json.RawMessage, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"jsonrpc":"2.0","id":`))
	if !ok {
		return 0, nil, false
	}
	digits, rest, ok := bytes.Cut(rest, []byte(`,"result":`))
	if !ok || !bytes.HasSuffix(rest, []byte("}")) {
		return 0, nil, false
	}
	id, err := strconv.ParseUint(string(digits), 10, 64)
	return id, rest[:len(rest)-1], err == nil
}

var errNoMessage = errors.New("the server sent something other than a message")

// fail keeps the first error.
func (c *conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
}

// gone is why there can be no more answers.
func (c *conn) gone() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.closed:
	default:
		if c.err != nil {
			return fmt.Errorf("%w: %w", ErrClosed, c.err)
		}
	}
	return ErrClosed
}

// close closes the stream, and returns when nothing reads or writes it any more.
func (c *conn) close() error {
	err := c.stream.Close()
	<-c.ended
	<-c.wrote
	return err
}

func newReader(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 64<<10) } // as much as a pipe holds
