package protocol_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ptywright/ptywright/protocol"
)

// A client is the test's end of a connection inside a synctest bubble.
type client struct {
	t      *testing.T
	stream io.ReadWriteCloser
	state  *state
	served chan error         // what Serve returned
	stop   context.CancelFunc // tells the server to stop
	lines  chan string        // what the server sent; closed at its end
}

// halves returns the ends of a stream whose directions can be closed one by one, like stdio.
func halves() (client, server io.ReadWriteCloser) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	return protocol.Join(outR, inW), protocol.Join(inR, outW)
}

// dial serves the fake on one end of a pair and reads everything at the other.
func dial(t *testing.T, limits protocol.Limits) *client {
	a, b := halves()
	c := mute(t, a, b, limits)
	go c.read()
	return c
}

// mute is dial for a client that does not read.
func mute(t *testing.T, a, b io.ReadWriteCloser, limits protocol.Limits) *client {
	return serve(t, a, b, &state{}, protocol.Config{Limits: limits, Log: quiet})
}

// serve is mute with a state and a configuration of its own.
func serve(t *testing.T, a, b io.ReadWriteCloser, s *state, config protocol.Config) *client {
	ctx, stop := context.WithCancel(context.Background())
	c := &client{
		t: t, stream: a, state: s, served: make(chan error, 1), stop: stop, lines: make(chan string, 100_000),
	}
	go func() {
		c.served <- protocol.NewConn(b, fake{c.state}, config).Serve(ctx)
	}()
	return c
}

func (c *client) read() {
	defer close(c.lines)
	r := protocol.Lines.NewReader(c.stream, 1<<30)
	for {
		line, err := r.Next()
		if err != nil {
			return
		}
		c.lines <- string(line)
	}
}

// send writes lines and waits until the server has done with them what it does at once.
func (c *client) send(lines ...string) {
	c.t.Helper()
	if _, err := io.WriteString(c.stream, strings.Join(lines, "\n")+"\n"); err != nil {
		c.t.Errorf("send: %v", err)
	}
	synctest.Wait()
}

// got returns what has come, each reply cut down to "id: result" or "id: code".
func (c *client) got() string {
	synctest.Wait()
	var all []string
	for {
		select {
		case line, ok := <-c.lines:
			if !ok {
				return strings.Join(append(all, "EOF"), ", ")
			}
			all = append(all, brief(line))
			continue
		default:
		}
		return strings.Join(all, ", ")
	}
}

// expect compares what has come since the last look.
func (c *client) expect(want string) {
	c.t.Helper()
	if got := c.got(); got != want {
		c.t.Errorf("got  %s\nwant %s", got, want)
	}
}

// end closes the input and expects Serve to return want.
func (c *client) end(want error) {
	c.t.Helper()
	c.stream.(interface{ CloseWrite() error }).CloseWrite()
	c.expectServed(want)
}

func (c *client) expectServed(want error) {
	c.t.Helper()
	if err := <-c.served; err != want && (want == nil || err == nil || !strings.Contains(err.Error(), want.Error())) {
		c.t.Errorf("Serve returned %v, want %v", err, want)
	}
	c.stop()
	c.stream.Close()
	if c.state.closed != 1 {
		c.t.Errorf("the handler was closed %d times", c.state.closed)
	}
}

func brief(line string) string {
	if strings.HasPrefix(line, "[") {
		var parts []json.RawMessage
		json.Unmarshal([]byte(line), &parts)
		var all []string
		for _, p := range parts {
			all = append(all, brief(string(p)))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	var m struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
		Result json.RawMessage
		Error  *protocol.Error
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		return "broken: " + line
	}
	switch {
	case m.Method != "":
		return m.Method + string(m.Params)
	case m.Error != nil:
		return fmt.Sprintf("%s: %d", m.ID, m.Error.Code)
	default:
		return fmt.Sprintf("%s: %s", m.ID, strings.Trim(string(m.Result), `"`))
	}
}

// call is one request line: id, method, then params as JSON members.
func call(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + `}}`
}

// named is a request of the fake's: its name is its id too.
func named(name, method, session string, ms int) string {
	return call(`"`+name+`"`, method, fmt.Sprintf(`"session":%q,"name":%q,"ms":%d`, session, name, ms))
}

func cancelNote(id string) string {
	return `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":` + id + `}}`
}
