package unterm

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol/loopback"
	"github.com/ptywright/ptywright/redact"
)

// A peer is the client's end of a connection to a server that has methods and nothing else.
type peer struct {
	net.Conn
	in *bufio.Reader
}

// desk is such a server.
func desk() *Server {
	return &Server{
		Host: host.Over(nil, nil, slog.New(slog.DiscardHandler)), token: "the-token", covered: redact.Default,
		room: loopback.NewRoom(maxStrangers, maxClients),
	}
}

// meet connects to it. ended is closed when the server's side is through.
func connect(ctx context.Context, s *Server) (p *peer, ended chan struct{}) {
	client, server := net.Pipe()
	c := &conn{server: s, stream: s.room.Enter(server)}
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		defer c.stream.Close()
		c.serve(ctx)
	}()
	return &peer{client, bufio.NewReader(client)}, ended
}

// say writes lines, which the other end may not read.
func (p *peer) say(t *testing.T, lines string) {
	t.Helper()
	go io.WriteString(p, lines)
}

func (p *peer) hear(t *testing.T, want string) {
	t.Helper()
	line, err := p.in.ReadString('\n')
	if err != nil || !strings.Contains(line, want) {
		t.Fatalf("%q, %v, not %q", line, err, want)
	}
}

// over waits for the end of the connection, of which nothing more is said, and returns how long
// that took.
func (p *peer) over(t *testing.T, ended chan struct{}) time.Duration {
	t.Helper()
	began := time.Now()
	if rest, _ := io.ReadAll(p.in); len(rest) > 0 {
		t.Errorf("it said %q", rest)
	}
	<-ended
	return time.Since(began)
}

const login = `{"id":1,"method":"auth.login","params":{"token":"the-token"}}` + "\n"

// stalled is a row that waits for its context.
func stalled(ctx context.Context, _ *reader, _ params) (any, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestWhoDoesNotLogInIsLeft(t *testing.T) {
	for name, said := range map[string]string{
		"nothing": "", "half a line": `{"id":1,`, "blank lines": "\n\n \n",
	} {
		synctest.Test(t, func(t *testing.T) {
			p, ended := connect(t.Context(), desk())
			p.say(t, said)
			if took := p.over(t, ended); took != loginBound {
				t.Errorf("%s: left after %v", name, took)
			}
		})
	}
	for name, said := range map[string]string{
		"HTTP": "GET / HTTP/1.1\r\nHost: x\r\n\r\n" + login, "a form": "POST /x HTTP/1.1\r\n" + login, "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"TLS": "\x16\x03\x01\x02\x00\x01" + login, "too much": strings.Repeat(" ", maxBeforeLogin+1),
	} {
		synctest.Test(t, func(t *testing.T) {
			p, ended := connect(t.Context(), desk())
			p.say(t, said)
			if took := p.over(t, ended); took != 0 {
				t.Errorf("%s: closed after %v", name, took)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // who is in stays
		p, ended := connect(t.Context(), desk())
		p.say(t, login)
		p.hear(t, `"status":"ok"`)
		time.Sleep(10 * loginBound)
		p.say(t, `{"id":1,"method":"server.capabilities"}`+"\n")
		p.hear(t, `"result"`)
		p.Close()
		<-ended
	})
}

func TestWrongTokensAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ended := connect(t.Context(), desk())
		for range maxLogins {
			p.say(t, `{"id":1,"method":"auth.login","params":{"token":"the-toke"}}`+"\n")
			p.hear(t, "-32001")
		}
		p.over(t, ended)
	})
}

func TestStrangersKeepNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := desk()
		first, ended := connect(t.Context(), s)
		var others []*peer
		for range maxStrangers {
			p, _ := connect(t.Context(), s)
			others = append(others, p)
		}
		if took := first.over(t, ended); took != 0 {
			t.Errorf("the oldest is closed after %v", took)
		}
		last := others[len(others)-1]
		last.say(t, login)
		last.hear(t, "ok")
		for _, p := range others {
			p.Close()
		}
	})
}

func TestClientsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := desk()
		s.room = loopback.NewRoom(maxStrangers, 1)
		first, firstEnded := connect(t.Context(), s)
		first.say(t, login)
		first.hear(t, "ok")
		p, ended := connect(t.Context(), s)
		p.say(t, login)
		p.hear(t, "1 clients are connected already")
		p.over(t, ended)
		first.Close()
		<-firstEnded
		p, ended = connect(t.Context(), s)
		p.say(t, login)
		p.hear(t, "ok")
		p.Close()
		<-ended
	})
}

// brittle is a result that its encoder breaks on.
type brittle struct{}

func (brittle) MarshalJSON() ([]byte, error) { panic("token=abcdefghijklmnop1234") }

// TestFaults: a method that breaks, or whose result does not encode, costs its request. The
// connection and others go on.
func TestFaults(t *testing.T) {
	for name, r := range map[string]call{
		"test.panic":       func(context.Context, *reader, params) (any, error) { panic("token=abcdefghijklmnop1234") },
		"test.unencodable": func(context.Context, *reader, params) (any, error) { return math.NaN(), nil },
		"test.encoder":     func(context.Context, *reader, params) (any, error) { return brittle{}, nil },
	} {
		rows[name] = forRead(r)
		defer delete(rows, name)
		synctest.Test(t, func(t *testing.T) {
			s := desk()
			bad, badEnded := connect(t.Context(), s)
			other, otherEnded := connect(t.Context(), s)
			for _, p := range []*peer{bad, other} {
				p.say(t, login)
				p.hear(t, "ok")
			}
			bad.say(t, fmt.Sprintf(`{"id":1,"method":%q}`+"\n", name))
			bad.hear(t, `"error":{"code":-32603,`)
			for _, p := range []*peer{bad, other} {
				p.say(t, `{"id":2,"method":"server.capabilities"}`+"\n")
				p.hear(t, `"result"`)
				p.Close()
			}
			<-badEnded
			<-otherEnded
		})
	}
}

// TestGoneClients: a request whose client has closed its side goes on for a while, and ends at once
// with the server.
func TestGoneClients(t *testing.T) {
	rows["test.stalled"] = forRead(stalled)
	defer delete(rows, "test.stalled")
	request := login + `{"id":1,"method":"test.stalled"}` + "\n"
	synctest.Test(t, func(t *testing.T) {
		p, ended := connect(t.Context(), desk())
		p.say(t, request)
		p.hear(t, "ok")
		synctest.Wait()
		began := time.Now()
		p.Close()
		<-ended
		if took := time.Since(began); took != goneBound {
			t.Errorf("it went on for %v", took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p, ended := connect(ctx, desk())
		p.say(t, request)
		p.hear(t, "ok")
		synctest.Wait()
		cancel()
		p.hear(t, "the server is stopping")
		p.over(t, ended)
	})
	synctest.Test(t, func(t *testing.T) { // who does not read its replies
		p, ended := connect(t.Context(), desk())
		began := time.Now()
		p.say(t, login)
		<-ended
		if took := time.Since(began); took != writeBound {
			t.Errorf("it was written to for %v", took)
		}
	})
}

// FuzzRequests: whatever comes, each line has its reply, one line of JSON, in order.
func FuzzRequests(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"method":"server.capabilities"}`, `{"id":{"a":[1]},"method":"x"}`, `[]`, `5`, `{nope`, "\xff", `{"id":1,"id":2}`, `{"params":{"redact":false},"method":"server.capabilities"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsAny(line, "\n\r") || len(bytes.TrimSpace(line)) == 0 {
			return
		}
		s := desk()
		p, ended := connect(t.Context(), s)
		p.say(t, login+string(line)+"\n"+`{"id":"last","method":"server.capabilities"}`+"\n")
		p.hear(t, "ok")
		if !bytes.Contains(line, []byte("auth.login")) {
			p.hear(t, `{"jsonrpc":"2.0","id":`)
			p.hear(t, `"last"`)
		}
		p.Close()
		<-ended
	})
}
