package protocol

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// A Conn is one served connection. The zero value is not usable; see [NewConn].
type Conn struct {
	stream  io.ReadWriteCloser
	dialect Dialect
	handler Handler
	limits  Limits
	log     *slog.Logger
	in      *Reader
	out     *outbox

	base   context.Context // parent of every request's context
	cancel context.CancelCauseFunc

	rights atomic.Int32 // [Rights]; only Lower changes them
	audit  func(Act)    // nil: nobody is told

	turn    chan struct{} // one slot; the goroutine that filled it has the turn
	notice  chan struct{} // one slot; filled while a notification is on its way
	space   chan struct{} // one slot; wakes the leader that waits for a shorter queue
	stop    chan struct{} // closed by Close
	idle    chan struct{} // closed when nothing is left to read, run or answer
	noInput chan struct{} // closed when reading has ended

	// The leader owns these: the goroutine that runs lead.
	rest []*call  // of the message in hand, not yet started
	one  [1]*call // room for rest
	held bool     // the leader has the turn, between two entries of a batch
	seen uint64   // requests read

	mu sync.Mutex
	// protects the fields below
	ordering  Ordering
	leading   bool // a goroutine leads
	reading   bool // and it is inside stream.Read
	stopping  bool
	cause     error // of stopping; the first one counts
	lost      bool  // the stream holds what we cannot read
	idleDone  bool
	open      int // requests queued, or running without the lead
	executing int // of them and the leader's own: those with a key, and reservations for tickets
	loose     int // yielded requests without a key
	queued    int // bytes charged for what is queued
	collected int // bytes of replies that wait for the rest of their batch
	tickets   int // followers about to take the backlog's head
	backlog   []*call
	lines     map[string]*line
	ids       map[string]*call // the first of a list: ids need not be unique
	flushing  *time.Timer
	peer      Peer
}

// NewConn returns a connection over stream, ready for [Conn.Serve].
//
// Closing stream must end its reads and writes in progress, or else SetReadDeadline must fail on
// it, as on a terminal or an inherited pipe: its last read is then left behind when Serve returns.
// A peer can close one direction of a stream that has CloseWrite; on any other, the end of input
// means that the peer is gone.
func NewConn(stream io.ReadWriteCloser, dialect Dialect, config Config) *Conn {
	limits := config.Limits.withDefaults()
	c := &Conn{
		stream: stream, dialect: dialect, limits: limits, log: config.logger(),
		turn: make(chan struct{}, 1), notice: make(chan struct{}, 1), space: make(chan struct{}, 1),
		stop: make(chan struct{}), idle: make(chan struct{}), noInput: make(chan struct{}),
		leading: true,
		lines:   make(map[string]*line), ids: make(map[string]*call),
		audit: config.Audit, peer: config.Peer,
	}
	c.rights.Store(int32(config.Rights))
	c.in = config.Framing.NewReader(source{c}, limits.Message)
	c.out = newOutbox(stream, config.Framing, limits,
		func() { c.fail(ErrSlowReader) },
		func(err error) { c.fail(fmt.Errorf("%w: write: %w", ErrPeerGone, err)) })
	return c
}

// Serve reads and answers until the input ends, and returns nil when it has answered all that was
// read: requests that wait then keep their time limits. When nobody is left to read the answers,
// they are cancelled at once instead, and the error is [ErrPeerGone].
//
// When ctx ends, the requests are cancelled and answered, for at most Limits.Flush, and the error
// is [ErrShutdown]. Other errors are [ErrFraming], [ErrSlowReader], or the cause given to
// [Conn.Close]. A handler that ignores its context delays Serve. Serve closes the stream. It is
// called once.
func (c *Conn) Serve(ctx context.Context) error {
	c.base, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	err := Guard(c.log, "the dialect's Open", func() error {
		c.handler = c.dialect.Open(c)
		return nil
	})
	if err != nil { // nothing has been started yet
		c.out.kill()
		c.stream.Close()
		return err
	}
	go c.out.run()
	release := context.AfterFunc(ctx, func() { c.Close(ErrShutdown) })
	defer release()
	go c.lead()

	<-c.idle
	_ = Guard(c.log, "the dialect's Close", func() error { // the error is in the log
		c.handler.Close()
		return nil
	})
	c.out.close()
	select {
	case <-c.out.done:
	case <-c.out.dead:
	}
	c.mu.Lock()
	lost, cause := c.lost, c.cause
	c.stopping = true // what is read from here on is discarded
	if c.flushing != nil {
		c.flushing.Stop()
	}
	c.mu.Unlock()
	if lost {
		Linger(c.stream)
	}
	interruptible := c.interruptRead()
	c.stream.Close()
	if interruptible {
		<-c.noInput
		<-c.out.done
	}
	c.out.kill()
	c.cancel(ErrClosed)
	return cause
}

// Close ends the connection: reading stops, running requests are cancelled with cause and answered,
// queued ones are answered without being started, and after at most Limits.Flush the stream is
// closed and Serve returns cause. Close does not wait for any of that, and may be called from
// [Dialect.Open] on. A cause that is not [ErrCancelled] is wrapped in it for the requests.
func (c *Conn) Close(cause error) {
	c.mu.Lock()
	if c.stopping {
		c.mu.Unlock()
		return
	}
	c.stopping, c.cause = true, cause
	var waiting []*call
	for _, l := range c.lines {
		waiting = append(waiting, l.waiting...)
		l.waiting = nil
	}
	waiting = append(waiting, c.backlog...)
	c.backlog = nil
	waiting = c.untrackLocked(waiting)
	c.flushing = time.AfterFunc(c.limits.Flush, c.kill)
	why := c.stopCauseLocked()
	close(c.stop)
	c.mu.Unlock()

	c.cancel(why)
	c.interruptRead()
	for _, k := range waiting {
		c.answer(k, nil, why, false)
	}
	c.mu.Lock()
	c.open -= len(waiting)
	c.checkIdleLocked()
	c.mu.Unlock()
}

// fail ends the connection without sending anything more.
func (c *Conn) fail(cause error) {
	c.Close(cause)
	c.kill()
}

func (c *Conn) kill() {
	c.out.kill()
	c.stream.Close()
}

// interruptRead ends a read in progress, and reports whether the stream allows that.
func (c *Conn) interruptRead() bool {
	d, ok := c.stream.(interface{ SetReadDeadline(time.Time) error })
	return ok && d.SetReadDeadline(time.Unix(1, 0)) == nil
}

// Linger ends our side of a stream and reads what the peer is still sending, so that it can read
// our last message before a reset. It takes at most one second and 64 MiB. The caller still has to
// close the stream.
func Linger(stream io.ReadWriteCloser) {
	half, ok := stream.(interface {
		CloseWrite() error
		SetReadDeadline(time.Time) error
	})
	if !ok || half.CloseWrite() != nil || half.SetReadDeadline(time.Now().Add(time.Second)) != nil {
		return
	}
	io.CopyN(io.Discard, stream, 64<<20)
}

// checkIdleLocked closes idle when nothing is left to do. A leader inside Read does not count once
// the connection is stopping: endRead interrupts it.
func (c *Conn) checkIdleLocked() {
	if c.open == 0 && !c.idleDone && (!c.leading || c.stopping && c.reading) {
		c.idleDone = true
		close(c.idle)
	}
}

var errStopped = errors.New("stopped reading")

// source is the stream as the Reader sees it: it sends what was held back before it can block.
type source struct{ c *Conn }

func (s source) Read(p []byte) (int, error) {
	c := s.c
	c.out.flush()
	c.mu.Lock()
	if c.stopping {
		c.mu.Unlock()
		return 0, errStopped
	}
	c.reading = true
	c.mu.Unlock()
	n, err := c.stream.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = false
	if c.stopping {
		return 0, errStopped
	}
	return n, err
}

// SetOrdering says how requests queue from the next one read. With [Concurrent], those queued
// behind another of their key start, in the order in which they were read.
func (c *Conn) SetOrdering(o Ordering) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ordering = o
	if o == Concurrent {
		c.releaseLinesLocked()
	}
}

// Ordering returns the ordering set last, [Session] at first.
func (c *Conn) Ordering() Ordering {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ordering
}

// Notify sends a notification and returns when the stream has taken its last byte, or with an error
// when ctx or the connection ended before. One notification is in flight at a time, so a slow peer
// blocks the caller, who then computes the next one from the state by then.
//
// No notification is sent between the start of a request that does not wait and its reply. So a row
// that calls Notify with its own context before it has yielded would wait for itself, and gets an
// error; dialects notify from a goroutine of their own.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	if k, ok := ctx.Value(callKey{}).(*call); ok && k.conn == c && c.holdsTurn(k) {
		return fmt.Errorf("notification %s from within %s: it has not yielded", method,
			k.method.Name)
	}
	message, err := appendNotification(nil, method, params)
	if err != nil {
		return fmt.Errorf("encode notification %s: %w", method, err)
	}
	select {
	case c.notice <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.out.dead:
		return ErrClosed
	}
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		<-c.notice
		return context.Cause(ctx)
	case <-c.out.dead:
		<-c.notice
		return ErrClosed
	}
	written := c.out.notify(message, c.notice)
	<-c.turn
	select {
	case <-written:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.out.dead:
		return ErrClosed
	}
}

func (c *Conn) holdsTurn(k *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !k.yielded && !k.ended
}

// Yield is called by a row of a dialect, with its context, right before it waits for anything: it
// gives up the connection's turn, so that the next request may start and notifications may be sent.
// Further calls do nothing, nor does one whose context is not a request's.
func Yield(ctx context.Context) {
	if k, ok := ctx.Value(callKey{}).(*call); ok {
		k.conn.yield(k)
	}
}

// errorOf asks the dialect for an error's code.
func (c *Conn) errorOf(err error) (e *Error) {
	defer func() {
		if v := recover(); v != nil {
			Caught(c.log, "the dialect's Error", v)
			e = Internal(errors.New("internal error"))
		}
	}()
	if e = c.handler.Error(err); e == nil {
		e = Internal(errors.New("internal error"))
	}
	return e
}

// answer encodes and delivers the reply to a request. A request without an id gets none.
func (c *Conn) answer(k *call, result any, err error, cork bool) {
	if k.id == nil {
		if k.batch != nil {
			c.collect(k, nil)
		}
		return
	}
	buf := scratch.Get().(*[]byte)
	b := (*buf)[:0]
	if err == nil {
		b, err = appendResult(b, k.id, result)
		var refused refusedError
		if errors.As(err, &refused) {
			err = refused.error
		} else if err != nil {
			c.log.Error("encode a result", "method", k.method.Name, "error", err)
			err = fmt.Errorf("result of %s does not encode", k.method.Name)
		}
	}
	if err != nil {
		var dataErr error
		if b, dataErr = appendError(b[:0], k.id, c.errorOf(err)); dataErr != nil {
			c.log.Error("encode the data of an error", "method", k.method.Name, "error", dataErr)
		}
	}
	if k.batch != nil {
		c.collect(k, b)
	} else {
		b = c.out.reply(b, cork)
	}
	if cap(b) <= keepBuffer {
		*buf = b
		scratch.Put(buf)
	}
}

var scratch = sync.Pool{New: func() any { return new([]byte) }}

// A batch collects the replies to its entries.
type batch struct {
	mu sync.Mutex
	// protects the fields below
	replies [][]byte // by place in the batch; nil: none
	left    int
	size    int
}

// batchEntry is what one reply may have regardless of the bound: enough for an error that reports
// it.
const batchEntry = 2 << 10

// collect puts the reply to one entry into its batch; the last one sends the array.
func (c *Conn) collect(k *call, reply []byte) {
	c.mu.Lock()
	over := len(reply) > batchEntry && c.collected+len(reply) > c.limits.Replies
	c.mu.Unlock()
	if over {
		e := c.errorOf(&LimitError{What: "bytes in the replies of a batch",
			Limit: c.limits.Replies})
		reply, _ = appendError(nil, k.id, e)
	}
	c.keep(len(reply))

	b := k.batch
	b.mu.Lock()
	if reply != nil {
		b.replies[k.slot] = bytes.Clone(reply)
		b.size += len(reply)
	}
	b.left--
	last := b.left == 0
	b.mu.Unlock()
	if !last || b.size == 0 {
		return
	}
	array := make([]byte, 0, b.size+len(b.replies)+1)
	for _, r := range b.replies {
		if r != nil {
			array = append(append(array, ','), r...)
		}
	}
	array[0] = '['
	c.out.reply(append(array, ']'), false)
	c.keep(-b.size)
}

// keep accounts for bytes of replies that wait for the rest of their batch.
func (c *Conn) keep(n int) {
	c.mu.Lock()
	c.collected += n
	c.mu.Unlock()
	c.roomier()
}

// roomier wakes the leader that waits for a shorter queue.
func (c *Conn) roomier() {
	select {
	case c.space <- struct{}{}:
	default:
	}
}

// A call is one request, and its context.
type call struct {
	conn    *Conn
	id      json.RawMessage // nil: a notification
	method  Method
	batch   *batch
	slot    int // in the batch
	seq     uint64
	refused error // it never runs
	leads   bool  // it was started by the leader, in place
	act     *Act  // nil: it is not audited

	lazy sync.Mutex
	// protects the fields below
	made   context.Context
	unmake context.CancelCauseFunc
	why    error // it was cancelled, or has ended

	// protected by conn.mu
	params   json.RawMessage // nil once it waits or has ended
	key      string
	keyed    bool // key was asked for
	charge   int  // of conn.queued
	started  bool
	yielded  bool
	ended    bool
	tracked  bool     // counted in open, found by id
	counted  bool     // in executing
	loose    bool     // counted in loose
	inLine   bool     // counted in its line's busy
	same     [2]*call // the calls before and behind it in the list of its id
	disposed bool     // cancelled while queued, and answered
}

type callKey struct{}

// A call's context is made on first use: most requests end without one.

func (k *call) inner() context.Context {
	k.lazy.Lock()
	defer k.lazy.Unlock()
	if k.made == nil {
		k.made, k.unmake = context.WithCancelCause(k.conn.base)
		if k.why != nil {
			k.unmake(k.why)
		}
	}
	return k.made
}

func (k *call) Deadline() (time.Time, bool) { return time.Time{}, false }
func (k *call) Done() <-chan struct{}       { return k.inner().Done() }
func (k *call) Err() error                  { return k.inner().Err() }

// Value finds the request itself, for Yield; the rest belongs to the context that is made, so that
// package context recognises it as its own.
func (k *call) Value(key any) any {
	if _, ok := key.(callKey); ok {
		return k
	}
	return k.inner().Value(key)
}

// cancel ends the context; the first cause counts.
func (k *call) cancel(cause error) {
	k.lazy.Lock()
	if k.why == nil {
		k.why = cause
	}
	unmake := k.unmake
	k.lazy.Unlock()
	if unmake != nil {
		unmake(cause)
	}
}

// cancelled returns why the request should end, or nil.
func (k *call) cancelled() error {
	k.lazy.Lock()
	why := k.why
	k.lazy.Unlock()
	if why == nil {
		why = context.Cause(k.conn.base)
	}
	return why
}
