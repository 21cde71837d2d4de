package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/redact"
)

const (
	// maxLine bounds one message, in bytes: the design's 16 MiB.
	maxLine = 16 << 20
	// maxOpen bounds the unanswered requests of one connection: the design's 256. One more is
	// refused.
	maxOpen = 256
	// flushBound is how long the last answers may take once the server is stopping.
	flushBound = 2 * time.Second
)

// Methods that this file treats specially.
const (
	methodInitialize = "initialize"
	methodListen     = "subscriptions/listen"
	methodCancelled  = "notifications/cancelled"
)

// ServeLines serves one client on a stream of lines until its input ends and everything that was
// read is answered; waits then keep their time limits. When ctx ends they are cancelled and
// answered, for at most two seconds. Closing in has to end a read of it, or else the last read is
// left behind. Both are closed.
func (s *Server) ServeLines(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	c := newLineConn(in, out, s.hide, s.host.Log)
	c.notFound = s.profile.NotFound
	base := context.WithValue(context.WithoutCancel(ctx), connKey{}, c)
	stop := context.AfterFunc(ctx, c.stop)
	defer stop()
	defer c.end()
	for {
		session, err := s.sdk.Connect(base, c, nil)
		if err != nil {
			return err
		}
		ended := make(chan error, 1)
		go func() { ended <- session.Wait() }()
		select {
		case err = <-ended:
		case <-c.stuck:
			return protocol.ErrShutdown
		}
		switch {
		case c.gone() != nil:
			return protocol.ErrPeerGone
		case c.first == nil:
			return err
		}
	}
}

// A lineConn is one client on a stream of lines: the SDK's transport and connection. The SDK's own
// ends a session at the first line that is not a message, and drops unanswered requests at the end
// of input.
type lineConn struct {
	in       io.ReadCloser
	out      io.WriteCloser
	hide     *redact.Redactor
	log      *slog.Logger
	notFound string    // the message of an error about an unknown method; "": the SDK's
	lines    chan line // from the reading goroutine
	closed   chan struct{}
	stuck    chan struct{} // closed when the last answers have had their time
	once     sync.Once

	queue []jsonrpc.Message // of a batch, not yet returned; Read's own
	// first is an initialize that came after requests of the stateless era, which a client may
	// probe with. The SDK's session takes those for a handshake, so a new session has to read it.
	// It belongs to Read, and then to the goroutine that the session's end wakes.
	leaving, first *jsonrpc.Request // while the old session is ended, and when it has
	watched        bool             // at the end of input, Read's own
	probed         bool             // Read has returned a stateless request since the session began; Read's own

	writing sync.Mutex // held while a line is written: the only lock held across I/O, and used for nothing else

	mu sync.Mutex
	// protects the fields below
	turn     *turn // of the request handed out last
	calls    map[jsonrpc.ID]*call
	writes   int                 // answers being written: their ids may be reused
	asked    map[jsonrpc.ID]bool // our requests that the client has not answered
	changed  chan struct{}       // closed when calls next changes
	version  string              // agreed on by initialize; "": no handshake yet
	stopping bool
	lost     error // of the first failed write
}

// A line is one message's text, or the error that ended reading.
type line struct {
	text []byte
	err  error
}

// A call is an unanswered request of the client.
type call struct {
	method    string
	turn      *turn
	cancelled bool // by the client: it wants no answer
	batch     *batch
}

func newLineConn(in io.ReadCloser, out io.WriteCloser, hide *redact.Redactor,
	log *slog.Logger) *lineConn {
	c := &lineConn{
		in: in, out: out, hide: hide, log: log, lines: make(chan line), closed: make(chan struct{}),
		stuck: make(chan struct{}), turn: newTurn(), calls: map[jsonrpc.ID]*call{},
		asked: map[jsonrpc.ID]bool{}, changed: make(chan struct{}),
	}
	c.turn.end()
	go c.read()
	return c
}

// Connect returns c.
func (c *lineConn) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// SessionID is empty: a stream has one session.
func (c *lineConn) SessionID() string { return "" }

// Close does nothing while another session is to take over the stream; else it ends the connection,
// and later writes are dropped.
func (c *lineConn) Close() error {
	if c.gone() == nil && c.first != nil {
		return nil
	}
	return c.end()
}

func (c *lineConn) end() error {
	var err error
	c.once.Do(func() {
		close(c.closed)
		err = errors.Join(c.in.Close(), c.out.Close())
	})
	return err
}

// read reads lines from the stream, one ahead.
func (c *lineConn) read() {
	defer close(c.lines)
	r := protocol.Lines.NewReader(c.in, maxLine)
	for {
		text, err := r.Next()
		var bad *protocol.ParseError
		if err != nil && !errors.As(err, &bad) {
			return
		}
		select {
		case c.lines <- line{text, err}:
		case <-c.closed:
			return
		}
	}
}

// current returns the turn of the request that Read returned last, which is the one that is
// starting.
func (c *lineConn) current() *turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.turn
}

// Read returns the next message for the SDK. It answers lines that are not messages itself. It
// returns the end of input once all that was read is answered, because the SDK then cancels
// unfinished requests.
func (c *lineConn) Read(context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-c.current().over:
		case <-c.closed:
			return nil, io.EOF
		}
		if c.leaving != nil {
			return c.handOver()
		}
		if c.first != nil { // and its own session reads us
			next := c.first
			c.first, c.probed = nil, false
			c.start(next)
			return next, nil
		}
		if len(c.queue) > 0 {
			next := c.queue[0]
			c.queue = c.queue[1:]
			if r, ok := next.(*jsonrpc.Request); ok {
				c.start(r)
			}
			return next, nil
		}
		c.mu.Lock()
		stopping, changed := c.stopping, c.changed
		c.mu.Unlock()
		if stopping {
			return c.drain()
		}
		select {
		case l, ok := <-c.lines:
			if !ok {
				c.watch()
				return c.drain()
			}
			msg := c.take(l)
			if r, ok := msg.(*jsonrpc.Request); ok && r.IsCall() {
				if r.Method == methodInitialize && c.probed {
					c.withdraw(r)
					c.leaving = r
					continue
				}
				c.probed = c.probed || metaVersion(r.Params) != ""
			}
			if msg != nil {
				return msg, nil
			}
		case <-changed: // the server may be stopping
		case <-c.closed:
			return nil, io.EOF
		}
	}
}

// drain returns messages that end the requests that nothing else would end, and then the end of
// input.
func (c *lineConn) drain() (jsonrpc.Message, error) {
	for {
		c.mu.Lock()
		for id := range c.asked { // nobody is left to answer
			delete(c.asked, id)
			c.mu.Unlock()
			return &jsonrpc.Response{ID: id,
				Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError,
					Message: "the client is gone"}}, nil
		}
		for id, k := range c.calls {
			if k.turn != nil && (k.method == methodListen || c.stopping) {
				k.turn.end()
				k.turn = nil // cancelled once
				c.mu.Unlock()
				params, err := json.Marshal(map[string]any{"requestId": id.Raw(),
					"reason": "the server is stopping"})
				if err != nil { // never: a string or a number
					panic("mcp: " + err.Error())
				}
				return &jsonrpc.Request{Method: methodCancelled, Params: params}, nil
			}
		}
		left, changed := len(c.calls)+c.writes, c.changed
		c.mu.Unlock()
		if left == 0 {
			return nil, io.EOF
		}
		select {
		case <-changed:
		case <-c.closed:
			return nil, io.EOF
		}
	}
}

// watch cancels unfinished requests when nobody is left to read the answers: the client has died,
// and not only closed its end.
func (c *lineConn) watch() {
	if c.watched {
		return
	}
	c.watched = true
	go func() {
		if protocol.HungUp(c.out, c.closed) {
			c.mu.Lock()
			c.stopping = true
			c.changeLocked()
			c.mu.Unlock()
		}
	}()
}

// withdraw removes a request that Read did not return.
func (c *lineConn) withdraw(r *jsonrpc.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[r.ID].turn.end()
	delete(c.calls, r.ID)
}

// handOver ends the session that has read up to an initialize, once everything before it is
// answered.
func (c *lineConn) handOver() (jsonrpc.Message, error) {
	msg, err := c.drain()
	if err == nil { // it ends one of them
		return msg, nil
	}
	select {
	case <-c.closed:
	default:
		c.first, c.leaving = c.leaving, nil
		if problem, _ := c.open(c.first, nil); problem != nil { // never: nothing is open
			panic("mcp: " + problem.Message)
		}
	}
	return nil, err
}

// stop ends reading, cancels unfinished requests, and gives the answers their time.
func (c *lineConn) stop() {
	c.mu.Lock()
	c.stopping = true
	c.changeLocked()
	c.mu.Unlock()
	timer := time.NewTimer(flushBound)
	defer timer.Stop()
	select {
	case <-timer.C:
		close(c.stuck)
	case <-c.closed:
	}
}

func (c *lineConn) changeLocked() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// gone returns why the client's side cannot be written to, or nil.
func (c *lineConn) gone() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

// take returns the message in a line, or nil when it has been handled.
func (c *lineConn) take(l line) jsonrpc.Message {
	if l.err != nil {
		c.refuse(&jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: l.err.Error()})
		return nil
	}
	if bad := badLine(l.text); bad != nil {
		c.refuse(bad)
		return nil
	}
	if entries, ok := batchOf(l.text); ok {
		c.takeBatch(entries)
		return nil
	}
	msg, bad := decode(l.text)
	if bad != nil {
		if id := askedBy(l.text); id.IsValid() { // its client waits for an answer
			c.answer(&jsonrpc.Response{ID: id, Error: bad}, nil)
		} else {
			c.refuse(bad)
		}
		return nil
	}
	return c.accept(msg, nil)
}

// accept returns a message for the SDK, or nil.
func (c *lineConn) accept(msg jsonrpc.Message, b *batch) jsonrpc.Message {
	switch m := msg.(type) {
	case *jsonrpc.Response:
		c.mu.Lock()
		known := c.asked[m.ID]
		delete(c.asked, m.ID)
		c.mu.Unlock()
		if !known {
			return nil
		}
	case *jsonrpc.Request:
		if !m.IsCall() {
			if m.Method == methodCancelled {
				c.cancel(m.Params)
			}
			return m
		}
		if problem := unknownVersion(m.Params); problem != nil {
			c.answer(&jsonrpc.Response{ID: m.ID, Error: problem}, b)
			return nil
		}
		if problem, id := c.open(m, b); problem != nil {
			c.answer(&jsonrpc.Response{ID: id, Error: problem}, b)
			return nil
		}
		if b == nil {
			c.start(m)
		}
	}
	return msg
}

// open registers a request. The id of a refusal is the request's, unless another open request has
// it.
func (c *lineConn) open(m *jsonrpc.Request, b *batch) (*jsonrpc.Error, jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.calls[m.ID] != nil:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
			Message: "a request of this id is under way"}, jsonrpc.ID{}
	case len(c.calls) >= maxOpen:
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError,
			Message: "256 requests are under way: wait for one of them, or cancel one"}, m.ID
	}
	c.calls[m.ID] = &call{method: m.Method, turn: newTurn(), batch: b}
	return nil, jsonrpc.ID{}
}

// start gives a request the turn.
func (c *lineConn) start(m *jsonrpc.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.calls[m.ID]; m.IsCall() && k != nil && k.turn != nil {
		c.turn = k.turn
		if m.Method == methodListen { // which lasts, and is handled by the SDK: it cannot yield
			c.turn.end()
		}
	}
}

// cancel records that the client wants no answer to a request.
func (c *lineConn) cancel(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	if id, ok := decodeID([]byte(p.ID)); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		if k := c.calls[id]; k != nil && k.method != methodInitialize { // which must not be cancelled
			k.cancelled = true
		}
	}
}

// refuse answers a line that is not a message.
func (c *lineConn) refuse(e *jsonrpc.Error) {
	c.answer(&jsonrpc.Response{Error: e}, nil)
}

// answer writes our own answer to a request with an unknown id, or adds it to its batch.
func (c *lineConn) answer(r *jsonrpc.Response, b *batch) {
	text := c.encode(r, "the message")
	if b != nil {
		c.mu.Lock()
		b.answers = append(b.answers, text)
		c.mu.Unlock()
		return
	}
	_ = c.write(text) // the SDK sees the error at its next write
}

// Write sends a message of the SDK. An answer to a cancelled request is not sent.
func (c *lineConn) Write(_ context.Context, msg jsonrpc.Message) error {
	switch m := msg.(type) {
	case *jsonrpc.Request:
		if m.IsCall() {
			c.mu.Lock()
			c.asked[m.ID] = true
			c.mu.Unlock()
		}
	case *jsonrpc.Response:
		return c.reply(m)
	}
	text, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	return c.write(text)
}

// reply sends an answer and ends its request's turn.
func (c *lineConn) reply(m *jsonrpc.Response) error {
	c.mu.Lock()
	k := c.calls[m.ID]
	if k == nil { // an SDK error about a request that we refused
		c.mu.Unlock()
		return nil
	}
	if k.method == methodInitialize && m.Error == nil {
		var r struct {
			Version string `json:"protocolVersion"`
		}
		if json.Unmarshal(m.Result, &r) == nil {
			c.version = r.Version
		}
	}
	silent := k.cancelled
	delete(c.calls, m.ID) // the client may reuse it as soon as it has the answer
	c.writes++
	c.mu.Unlock()
	defer c.written(k)
	if m.Error != nil {
		e := wireError(m.Error, c.hide)
		if c.notFound != "" && e.Code == jsonrpc.CodeMethodNotFound {
			e.Message = c.notFound
		}
		m.Error = e
	}
	var text []byte
	if !silent {
		text = c.encode(m, k.method)
	}
	if k.batch != nil {
		return c.settle(k.batch, text)
	}
	if silent {
		return nil
	}
	return c.write(text)
}

// written ends the turn of a request whose answer was written.
func (c *lineConn) written(k *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes--
	if k.turn != nil {
		k.turn.end()
	}
	c.changeLocked()
}

// encode returns the text of an answer. One that does not encode becomes an error answer: returning
// the error to the SDK would end the connection and all its requests.
func (c *lineConn) encode(r *jsonrpc.Response, method string) []byte {
	text, err := encode(r)
	if err != nil {
		c.log.Error("an answer does not encode", "method", method, "error", err)
		text, err = encode(&jsonrpc.Response{ID: r.ID, Error: broken(method)})
	}
	if err != nil { // never: an id that was decoded, and our own error
		panic("mcp: " + err.Error())
	}
	return text
}

// encode is jsonrpc.EncodeMessage, except that an answer without a known id has the id null, which
// the SDK leaves out.
func encode(r *jsonrpc.Response) ([]byte, error) {
	if r.ID.IsValid() {
		return jsonrpc.EncodeMessage(r)
	}
	return json.Marshal(struct {
		Version string `json:"jsonrpc"`
		ID      *int   `json:"id"`
		Error   error  `json:"error"`
	}{"2.0", nil, r.Error})
}

// write sends one line.
func (c *lineConn) write(text []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(text, '\n'))
	if err != nil {
		c.mu.Lock()
		if c.lost == nil {
			c.lost = err
		}
		c.mu.Unlock()
	}
	return err
}
