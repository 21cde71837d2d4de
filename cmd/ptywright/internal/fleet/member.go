package fleet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

const (
	// answerBound is how long an instance may take to accept a connection, and to answer requests
	// that do not wait. It is on this machine and answers in a millisecond; this leaves time for a
	// loaded one, and one that is stopped is reported.
	answerBound = 10 * time.Second

	// lateBound is how much later than a caller's timeout the answer to a wait may come. The
	// instance itself takes up to 1.5 s longer, when a session is busy at first and its prompt is
	// slow; with more, an instance that is stopped meanwhile keeps its caller longer, and with
	// less, the evidence of a loaded one is lost.
	lateBound = 3 * time.Second
)

// codeBadToken is the wire's error for a wrong token.
const codeBadToken = -32001

// A SilentError says that an instance did not answer in time.
type SilentError struct {
	After   time.Duration // to the millisecond
	PID     int
	Stopped bool // the process is, as by SIGSTOP; known on Linux only
}

func (e *SilentError) Error() string {
	if e.Stopped {
		return fmt.Sprintf("it has not answered for %v: its process is stopped, and goes on with kill -CONT %d", e.After, e.PID)
	}
	return fmt.Sprintf("it has not answered for %v: process %d may hang, or be another program",
		e.After, e.PID)
}

// A member is a logged-in connection to an instance. Calls are made one after the other. Errors do
// not name the instance.
type member struct {
	record instance.Record
	conn   net.Conn
	client *client.Client
}

// dial connects to the instance of a record and logs in, all within bound. A refused token is
// [fs.ErrPermission].
func dial(ctx context.Context, r instance.Record, bound time.Duration) (*member, error) {
	ctx, cancel := patient(ctx, r, bound)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(r.MCPPort)))
	if err != nil {
		return nil, because(ctx, err)
	}
	m := &member{record: r, conn: conn, client: client.New(conn)}
	err = m.call(ctx, bound, "auth.login", map[string]string{"token": r.AuthToken}, nil)
	if err != nil {
		m.Close()
		var e *client.Error
		if errors.As(err, &e) && e.Code == codeBadToken {
			return nil, fmt.Errorf("it does not take the token of its record: %w", fs.ErrPermission)
		}
		return nil, err
	}
	return m, nil
}

// patient bounds the wait for an instance: on timeout the context's cause is a [SilentError].
func patient(ctx context.Context, r instance.Record,
	bound time.Duration) (context.Context, context.CancelFunc) {
	silent := &SilentError{After: bound.Round(time.Millisecond), PID: r.PID}
	return context.WithTimeoutCause(ctx, bound, silent)
}

// because returns why something failed: the cause of ctx's end, if it has ended.
func because(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if silent, ok := cause.(*SilentError); ok {
		return &SilentError{silent.After, silent.PID, stopped(silent.PID)}
	}
	if cause != nil {
		return cause
	}
	return err
}

// call calls a method and decodes its result, which must arrive within bound. When ctx ends, or
// bound passes, the connection is closed: the wire cannot cancel a call.
func (m *member) call(ctx context.Context, bound time.Duration, method string, params,
	result any) error {
	ctx, cancel := patient(ctx, m.record, bound)
	defer cancel()
	defer context.AfterFunc(ctx, func() { m.conn.Close() })()
	if err := m.client.Call(context.WithoutCancel(ctx), method, params, result); err != nil {
		return because(ctx, err)
	}
	return nil
}

// Close closes the connection.
func (m *member) Close() { m.client.Close() }

// with connects to an instance and calls f. The error names the instance.
func with(ctx context.Context, r instance.Record, f func(*member) error) error {
	m, err := dial(ctx, r, answerBound)
	if err == nil {
		defer m.Close()
		err = f(m)
	}
	return named(r, err)
}

// named prefixes an error with the instance's name.
func named(r instance.Record, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", r.ID, err)
}
