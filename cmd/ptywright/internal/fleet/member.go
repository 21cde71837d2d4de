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

// answerBound is how long an instance may take to accept a connection, and to answer what does not wait. It is on this
// machine and answers in a millisecond; a loaded one gets its time, and one that is stopped is told of.
const answerBound = 10 * time.Second

// codeBadToken is what the wire answers to a wrong token.
const codeBadToken = -32001

// errSilent says that an instance has not answered within answerBound.
var errSilent = fmt.Errorf("it has not answered for %v: it may be stopped, or be another program", answerBound)

// A member is a connection to an instance, logged in. Calls are made one after the other.
type member struct {
	name   string
	conn   net.Conn
	client *client.Client
}

// dial connects to the instance of a record and logs in. Errors name the instance; a token that is refused is
// [fs.ErrPermission].
func dial(ctx context.Context, r instance.Record) (*member, error) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(r.MCPPort))
	d := net.Dialer{Timeout: answerBound}
	conn, err := d.DialContext(ctx, "tcp4", address)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", r.ID, err)
	}
	m := &member{name: r.ID, conn: conn, client: client.New(conn)}
	err = m.call(ctx, answerBound, "auth.login", map[string]string{"token": r.AuthToken}, nil)
	if err != nil {
		m.Close()
		var e *client.Error
		if errors.As(err, &e) && e.Code == codeBadToken {
			return nil, fmt.Errorf("%s does not take the token of its record: %w", r.ID, fs.ErrPermission)
		}
		return nil, err
	}
	return m, nil
}

// call calls a method and decodes its result, which must come within bound. When ctx ends, or the time is up, the
// connection is closed: the wire has no way to cancel a call. Errors name the instance.
func (m *member) call(ctx context.Context, bound time.Duration, method string, params, result any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, bound, errSilent)
	defer cancel()
	defer context.AfterFunc(ctx, func() { m.conn.Close() })()
	err := m.client.Call(context.WithoutCancel(ctx), method, params, result)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	return nil
}

// Close ends the connection.
func (m *member) Close() { m.client.Close() }

// ask connects, makes one call and closes the connection.
func ask(ctx context.Context, r instance.Record, method string, params, result any) error {
	m, err := dial(ctx, r)
	if err != nil {
		return err
	}
	defer m.Close()
	return m.call(ctx, answerBound, method, params, result)
}
