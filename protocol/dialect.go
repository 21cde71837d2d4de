package protocol

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"
)

// A Dialect is a vocabulary of methods.
type Dialect interface {
	// Open is called once for each connection, before anything is read from it. The handler lasts
	// for the connection.
	Open(c *Conn) Handler
}

// A Handler is a dialect's side of one connection. Its methods are called from several goroutines.
type Handler interface {
	// Method finds a row by its name; names are case-sensitive.
	Method(name string) (Method, bool)

	// Error maps every error of the dialect to a code. It gets the errors of its own rows and those
	// of this package: a [*ParseError], [*RequestError], [*MethodError], [*ParamError],
	// [*LimitError], [*PanicError], [*ForbiddenError] or an error that is [ErrCancelled]. [Standard]
	// answers the first six as JSON-RPC 2.0 does.
	Error(err error) *Error

	// Close is called once, when the connection is over and all its requests have ended.
	// Notifications sent before Close returns can still reach the peer.
	Close()
}

// A Method is one row of a dialect's table.
type Method struct {
	Name string

	// Key names what a request queues behind, such as a session; nil, or "", means that the request
	// never queues. It must not block, gets params as Call does, and is not called when nothing
	// depends on it.
	Key func(params json.RawMessage) string

	// Needs is what a connection must have to call the method; the zero value is [RightAdmin]. A
	// request without it is refused with a [*ForbiddenError] and not called.
	Needs Rights

	// NeedsFor, if not nil, returns what a request needs because of its params, and which part of
	// them asks for it; it counts where it is more than Needs. It gets params as Call does, must not
	// block, and is not called when nothing depends on it.
	NeedsFor func(params json.RawMessage) (needs Rights, with string)

	// Audited says that an audit is told of every call, whatever that needs.
	Audited bool

	// Call runs a request. It holds the connection's turn until it returns or calls [Yield], which
	// it does right before it waits for anything. params is a JSON object or array with valid
	// syntax, "{}" when the request had none; it may have duplicate members ([Bind] refuses them).
	// The result is encoded as JSON; see [Appender]. ctx ends when the request is cancelled, the
	// connection is gone or the server stops; context.Cause(ctx) then is an error that is
	// [ErrCancelled].
	Call func(ctx context.Context, params json.RawMessage) (result any, err error)
}

// An Appender is a result, or the params of a notification, that encodes itself. AppendJSON appends
// one valid, compact JSON value in UTF-8, without line breaks, to b.
type Appender interface {
	AppendJSON(b []byte) []byte
}

// A Bounded is an [Appender] that may exceed the size limit of an answer. Fits gets the number of
// bytes that AppendJSON has appended; an error becomes the request's, in place of the result.
type Bounded interface {
	Appender
	Fits(size int) error
}

// An Error is an error as the peer sees it.
type Error struct {
	Code int
	// Message is for people. It is cut to 1 KiB, and control characters in it are escaped.
	Message string
	// Reason becomes data.reason when it is not empty: snake_case, from the dialect's closed list.
	Reason string
	// Data, if not nil, encodes to a JSON object without a member "reason"; its members are in data
	// beside the reason.
	Data any
}

// Ordering says which requests of a connection wait for which.
//
// In both orderings requests start in the order in which they were read; one that does not wait is
// run and answered before the next starts, and one that waits lets the next start.
type Ordering int32

const (
	// Session queues a request behind the unfinished requests that have its key.
	Session Ordering = iota
	// Concurrent queues nothing by key.
	Concurrent
)

// String returns "session" or "concurrent".
func (o Ordering) String() string {
	if o == Concurrent {
		return "concurrent"
	}
	return "session"
}

// Limits bound the resources of one connection. Zero means the default.
type Limits struct {
	// Message is the largest message read, in bytes. Default 16 MiB.
	Message int
	// Batch is the largest number of entries in a batch. Default 10,000: each entry, however short,
	// can cost an error reply of some 150 bytes.
	Batch int
	// Executing is the number of requests with a key that run at once; the rest queue. Default 256.
	// Requests without a key start past it, since the one that frees a slot is among them; when as
	// many of them wait, the next keeps the turn while it waits.
	Executing int
	// Queued is how many bytes of requests, each with 512 bytes of overhead, are read but not
	// started; past it reading pauses. Default 16 MiB.
	Queued int
	// Replies is how many bytes of replies may be unread; past it no request starts, and the
	// connection ends with [ErrSlowReader] when the peer takes nothing for Stall. Default 8 MiB.
	Replies int
	// Stall is how long a peer past Replies may read nothing at all. Default 2 s: longer than a
	// garbage collection of the peer, shorter than a person's patience.
	Stall time.Duration
	// Flush is how long the last replies may take once the server is stopping. Default 2 s, so that
	// a server that has five seconds to stop has three for its children.
	Flush time.Duration
}

const (
	defaultMessage   = 16 << 20
	defaultBatch     = 10_000
	defaultExecuting = 256
	defaultQueued    = 16 << 20
	defaultReplies   = 8 << 20
	defaultStall     = 2 * time.Second
	defaultFlush     = 2 * time.Second
)

func (l Limits) withDefaults() Limits {
	set := func(n *int, d int) {
		if *n <= 0 {
			*n = d
		}
	}
	set(&l.Message, defaultMessage)
	set(&l.Batch, defaultBatch)
	set(&l.Executing, defaultExecuting)
	set(&l.Queued, defaultQueued)
	set(&l.Replies, defaultReplies)
	if l.Stall <= 0 {
		l.Stall = defaultStall
	}
	if l.Flush <= 0 {
		l.Flush = defaultFlush
	}
	return l
}

// Config is how a connection is served. The zero value serves lines, with the default limits.
type Config struct {
	Framing Framing
	Limits  Limits
	// Rights are what the connection may do at first; [Conn.Lower] takes more away.
	Rights Rights
	// Peer is who is at the other end. A [Server] adds the process, where the kernel tells it.
	Peer Peer
	// Audit is told of each [Act] when it has ended, from any goroutine; nil: nobody is. It must not
	// block.
	Audit func(Act)
	// Log gets what a peer must not see: stacks of panics, results that do not encode. Default
	// slog.Default().
	Log *slog.Logger
}

func (c Config) logger() *slog.Logger {
	if c.Log != nil {
		return c.Log
	}
	return slog.Default()
}
