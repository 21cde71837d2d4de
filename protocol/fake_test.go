package protocol_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/ptywright/ptywright/protocol"
)

// codeCancelled is the fake dialect's own code.
const codeCancelled = -32005

// fake is a dialect for tests: a few rows that behave like real ones, without anything behind them.
type fake struct {
	*state
}

// state is what a test looks at, or sets, from outside.
type state struct {
	mu      sync.Mutex
	order   []string // "start x" and "end x" as they happened
	conn    *protocol.Conn
	closed  int
	running int
	most    int
	onOpen  func(*protocol.Conn)
	needs   map[string]protocol.Rights // of methods; all others need everything
	audited map[string]bool
}

func (f fake) Open(c *protocol.Conn) protocol.Handler {
	if f.state != nil {
		f.conn = c
		if f.onOpen != nil {
			f.onOpen(c)
		}
	}
	return f
}

func (f fake) Close() {
	if f.state != nil {
		f.mu.Lock()
		f.closed++
		f.mu.Unlock()
	}
}

func (f fake) Error(err error) *protocol.Error {
	if e := protocol.Standard(err); e != nil {
		return e
	}
	if errors.Is(err, protocol.ErrCancelled) {
		return &protocol.Error{Code: codeCancelled, Reason: "cancelled", Message: err.Error()}
	}
	var own *wireError
	if errors.As(err, &own) {
		return own.e
	}
	return protocol.Internal(err)
}

// wireError lets a row of the fake return any reply.
type wireError struct{ e *protocol.Error }

func (w *wireError) Error() string { return w.e.Message }

func (f fake) note(event string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.order = append(f.order, event)
	switch {
	case strings.HasPrefix(event, "start "):
		f.running++
		f.most = max(f.most, f.running)
	case strings.HasPrefix(event, "end "):
		f.running--
	}
}

func (f *state) events() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.order, ", ")
}

type none struct{}

type sessionParams struct {
	Session string `json:"session"`
	Name    string `json:"name"`
	MS      int    `json:"ms"`
	Bytes   int    `json:"bytes"`
	Redact  bool   `json:"redact"`
	Rows    uint16 `json:"rows"`
}

// Method is a switch here, and a table in a real dialect.
func (f fake) Method(name string) (protocol.Method, bool) {
	m := protocol.Method{Name: name, Key: protocol.KeyMember("session")}
	switch name {
	case "server.capabilities", "session.list":
		m.Key = nil
		m.Call = protocol.Bind(func(context.Context, none) (map[string][]string, error) {
			return map[string][]string{"sessions": nil}, nil
		})
	case "session.snapshot", "session.kill":
		m.Call = protocol.Bind(func(_ context.Context, p sessionParams) (any, error) {
			return nil, &protocol.ParamError{Path: "session", Expected: "the id of a session", Got: protocol.Got(p.Session)}
		})
	case "echo":
		m.Call = func(_ context.Context, params json.RawMessage) (any, error) { return params, nil }
	case "do": // does not wait
		m.Call = protocol.Bind(func(_ context.Context, p sessionParams) (string, error) {
			f.note("start " + p.Name)
			f.note("end " + p.Name)
			return p.Name, nil
		})
	case "wait", "loose.wait": // waits for ms, or to be cancelled
		if name == "loose.wait" {
			m.Key = nil
		}
		m.Call = protocol.Bind(func(ctx context.Context, p sessionParams) (string, error) {
			f.note("start " + p.Name)
			defer f.note("end " + p.Name)
			protocol.Yield(ctx)
			protocol.Yield(ctx) // once is enough
			timer := time.NewTimer(time.Duration(p.MS) * time.Millisecond)
			defer timer.Stop()
			select {
			case <-timer.C:
				return p.Name, nil
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		})
	case "hold": // waits without saying so
		m.Call = protocol.Bind(func(ctx context.Context, p sessionParams) (string, error) {
			select {
			case <-time.After(time.Duration(p.MS) * time.Millisecond):
				return p.Name, nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		})
	case "big":
		m.Call = protocol.Bind(func(_ context.Context, p sessionParams) (string, error) {
			return strings.Repeat("x", p.Bytes), nil
		})
	case "change": // causes a notification
		m.Key = nil
		m.Call = protocol.Bind(func(ctx context.Context, p sessionParams) (string, error) {
			sent := make(chan struct{})
			go func() {
				close(sent)
				f.conn.Notify(context.Background(), "changed", map[string]string{"name": p.Name})
			}()
			<-sent
			return p.Name, nil
		})
	case "notify.inside": // what a row must not do
		m.Call = protocol.Bind(func(ctx context.Context, p sessionParams) (string, error) {
			if err := f.conn.Notify(ctx, "changed", none{}); err == nil {
				return "", errors.New("sent")
			}
			protocol.Yield(ctx)
			return "", f.conn.Notify(ctx, "changed", none{})
		})
	case "panic":
		m.Call = func(context.Context, json.RawMessage) (any, error) { panic("the secret of the panic") }
	case "panic.key":
		m.Key = func(json.RawMessage) string { panic("key") }
		m.Call = func(context.Context, json.RawMessage) (any, error) { return "ran", nil }
	case "panic.method":
		panic("method")
	case "panic.result":
		m.Call = func(context.Context, json.RawMessage) (any, error) { return broken{}, nil }
	case "panic.data":
		m.Call = func(context.Context, json.RawMessage) (any, error) {
			return nil, &wireError{&protocol.Error{Code: 7, Reason: "because", Message: "m", Data: broken{}}}
		}
	case "panic.notification": // is told what came of it
		m.Call = func(ctx context.Context, _ json.RawMessage) (any, error) {
			protocol.Yield(ctx)
			if err := f.conn.Notify(ctx, "changed", broken{}); err == nil {
				return nil, errors.New("sent")
			}
			return "not sent", nil
		}
	case "unencodable":
		m.Call = func(context.Context, json.RawMessage) (any, error) { return make(chan int), nil }
	case "appender":
		m.Call = protocol.Bind(func(_ context.Context, p sessionParams) (any, error) { return appender(p.Name), nil })
	case "fail":
		m.Call = protocol.Bind(func(_ context.Context, p sessionParams) (any, error) {
			e := &protocol.Error{Code: 7, Reason: "because", Message: p.Name, Data: map[string]int{"n": 1}}
			return nil, &wireError{e}
		})
	case "server.set_ordering":
		m.Key = nil
		m.Call = protocol.Bind(func(_ context.Context, p sessionParams) (string, error) {
			if p.Name == "concurrent" {
				f.conn.SetOrdering(protocol.Concurrent)
			} else {
				f.conn.SetOrdering(protocol.Session)
			}
			return p.Name, nil
		})
	default:
		return protocol.Method{}, false
	}
	if f.state != nil {
		m.Needs, m.Audited = f.needs[name], f.audited[name]
		m.NeedsFor = protocol.NeedsOf(needsFor)
	}
	return m, true
}

// needsFor makes a request need everything that wants many bytes, and breaks at its worst.
func needsFor(p *sessionParams) (protocol.Rights, string) {
	switch {
	case p.Name == "panic in rights":
		panic("rights")
	case p.Bytes > 100:
		return protocol.RightAdmin, "many bytes"
	}
	return protocol.RightRead, ""
}

// broken is a value that its own encoder breaks on.
type broken struct{}

func (broken) MarshalJSON() ([]byte, error) { panic("the secret of the encoder") }

type appender string

func (a appender) AppendJSON(b []byte) []byte { return append(b, a...) }

// echoDialect has one row that waits for nothing.
type echoDialect struct{}

type echoParams struct {
	Session string `json:"session"`
	Redact  bool   `json:"redact"`
}

func (echoDialect) Open(*protocol.Conn) protocol.Handler { return echoDialect{} }
func (echoDialect) Method(name string) (protocol.Method, bool) {
	return echoMethod, name == "echo"
}

var echoMethod = protocol.Method{
	Name: "echo",
	Key:  protocol.KeyMember("session"),
	Call: protocol.Bind(func(_ context.Context, p echoParams) (echoParams, error) { return p, nil }),
}

func (echoDialect) Error(err error) *protocol.Error { return protocol.Standard(err) }
func (echoDialect) Close()                          {}

var quiet = slog.New(slog.DiscardHandler)
