package client_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// A server is the other end of a client, played by the test.
type server struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Scanner
}

func pair(t *testing.T) (*client.Client, *server) {
	near, far := net.Pipe()
	c := client.New(near)
	t.Cleanup(func() {
		far.Close()
		c.Close()
	})
	return c, &server{t, far, bufio.NewScanner(far)}
}

type request struct {
	ID     uint64          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// next returns the next request.
func (s *server) next() request {
	s.t.Helper()
	if !s.in.Scan() {
		s.t.Fatal("the client sent nothing more")
	}
	var r request
	if err := json.Unmarshal(s.in.Bytes(), &r); err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *server) send(format string, args ...any) { fmt.Fprintf(s.conn, format+"\n", args...) }

// later runs f beside the test and returns what to wait for.
func later(f func() error) <-chan error {
	c := make(chan error, 1)
	go func() { c <- f() }()
	return c
}

func TestCallSendsAndDecodes(t *testing.T) {
	c, s := pair(t)
	var sent client.Sent
	done := later(func() (err error) {
		sent, err = c.Session("s7").Do(t.Context(), client.Action{Type: "text", Value: "ls\n"})
		return err
	})
	r := s.next()
	if r.Method != "session.input" || string(r.Params) != `{"session":"s7","action":{"type":"text","value":"ls\n"}}` {
		t.Errorf("sent %s %s", r.Method, r.Params)
	}
	s.send(`{"jsonrpc":"2.0","id":%d,"result":{"sent":true,"sequence":41}}`, r.ID)
	if err := <-done; err != nil || sent.Sequence != 41 {
		t.Errorf("Do = %+v, %v", sent, err)
	}
}

func TestErrorsKeepCodeReasonAndData(t *testing.T) {
	c, s := pair(t)
	done := later(func() error {
		_, err := c.Session("s1").Wait(t.Context(), client.Text("$"))
		return err
	})
	s.send(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32001,"message":"the wait timed out","data":{"reason":"timeout",`+
		`"elapsed_ms":5,"snapshot":{"plain_text":"login:"},"matcher":{"type":"contains_text","held":false}}}}`, s.next().ID)
	var e *client.Error
	err := <-done
	if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "session.wait: ") {
		t.Fatalf("error %v", err)
	}
	if e.Code != client.CodeTimeout || !errors.Is(err, client.ErrTimeout) || errors.Is(err, client.ErrCancelled) || e.Method != "session.wait" || e.Message != "the wait timed out" {
		t.Errorf("error %+v", e)
	}
	if v := e.Evidence(); v == nil || v.Screen.PlainText != "login:" || v.Elapsed != 5*time.Millisecond {
		t.Errorf("evidence %+v", v)
	}
}

func TestCancelledCallIsAnsweredWithEvidence(t *testing.T) {
	c, s := pair(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := later(func() error {
		_, err := c.Session("s1").Wait(ctx, client.Text("$"))
		return err
	})
	wait := s.next()
	cancel()
	if r := s.next(); r.Method != "$/cancelRequest" || string(r.Params) != fmt.Sprintf(`{"id":%d}`, wait.ID) || r.ID != 0 {
		t.Fatalf("sent %s %s", r.Method, r.Params)
	}
	s.send(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32005,"message":"cancelled","data":{"reason":"cancelled","matcher":{}}}}`, wait.ID)
	err := <-done
	var e *client.Error
	if !errors.Is(err, context.Canceled) || !errors.As(err, &e) || e.Evidence() == nil {
		t.Errorf("error %v", err)
	}
}

func TestAnswerThatCrossesTheCancelCounts(t *testing.T) {
	c, s := pair(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := later(func() error { return c.Call(ctx, "session.kill", nil, nil) })
	r := s.next()
	cancel()
	s.next()
	s.send(`{"jsonrpc":"2.0","id":%d,"result":{}}`, r.ID)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestCancelledCallDoesNotHangOnADeadServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := pair(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		done := later(func() error { return c.Call(ctx, "session.list", nil, nil) })
		s.next()
		s.next() // $/cancelRequest, which it does not answer
		if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if d := time.Since(began); d != 1500*time.Millisecond {
			t.Errorf("took %v", d)
		}
		s.conn.Close()
		c.Close()
	})
}

func TestCloseCancelsCallsAndRefusesNewOnes(t *testing.T) {
	c, s := pair(t)
	wait := later(func() error { return c.Call(t.Context(), "session.wait", nil, nil) })
	r := s.next()
	closed := later(c.Close)
	if cancelled := s.next(); cancelled.Method != "$/cancelRequest" {
		t.Fatalf("sent %s", cancelled.Method)
	}
	s.send(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32005,"message":"cancelled"}}`, r.ID)
	if err := <-wait; !errors.Is(err, client.ErrClosed) {
		t.Errorf("call under way: %v", err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := c.Call(t.Context(), "session.list", nil, nil); !errors.Is(err, client.ErrClosed) {
		t.Errorf("call after Close: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	<-c.Done()
}

func TestCloseEndsACallThatCannotBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := pair(t)
		stuck := later(func() error { return c.Call(t.Context(), "session.list", nil, nil) })
		synctest.Wait() // in a write that nobody reads
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := <-stuck; !errors.Is(err, client.ErrClosed) {
			t.Errorf("error %v", err)
		}
		s.conn.Close()
	})
}

// What the server says that is no answer to a request ends the connection, and calls say why.
func TestConnectionEnds(t *testing.T) {
	for _, test := range []struct{ name, said, want string }{
		{"at the end of the stream", "", "the connection to the server is closed"},
		{"at an answer to nothing", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"message too large"}}`, "message too large (-32700)"},
		{"at what is not JSON", `Segmentation fault`, "the server sent something other than a message"},
		{"at what is no message", `{"jsonrpc":"2.0"}`, "the server sent something other than a message"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, s := pair(t)
			done := later(func() error { return c.Call(t.Context(), "session.list", nil, nil) })
			s.next()
			if test.said == "" {
				s.conn.Close()
			} else {
				s.send("%s", test.said)
			}
			err := <-done
			if !errors.Is(err, client.ErrClosed) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v", err)
			}
			<-c.Done()
		})
	}
}

// halfClosed is a stream whose other end is gone, which reading does not show yet.
type halfClosed struct{ net.Conn }

func (halfClosed) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// TestWriteThatFails: a call that cannot be sent says that the connection has ended, as a call that
// is not answered does.
func TestWriteThatFails(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	c := client.New(halfClosed{near})
	defer c.Close()
	if err := c.Call(t.Context(), "session.list", nil, nil); !errors.Is(err, client.ErrClosed) || !errors.Is(err, syscall.EPIPE) {
		t.Errorf("error %v", err)
	}
}

func TestStartedServerIsEndedAndItsExitReported(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh")
	}
	for code, script := range []string{"cat >/dev/null", "cat >/dev/null; exit 1", "exit 2"} {
		c, err := client.StartCommand(exec.Command("sh", "-c", script))
		if err != nil {
			t.Fatal(err)
		}
		err = c.Close()
		var exit *exec.ExitError
		if got := 0; errors.As(err, &exit) {
			if got = exit.ExitCode(); got != code {
				t.Errorf("%s: exit %d", script, got)
			}
		} else if err != nil || code != 0 {
			t.Errorf("%s: %v", script, err)
		}
	}
	if _, err := client.StartCommand(exec.Command("/nonexistent/ptywright")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestEventsComeInOrderAndHoldTheReaderBack(t *testing.T) {
	c, s := pair(t)
	release := make(chan struct{})
	var got []client.Event
	done := later(func() error {
		return c.Subscribe(t.Context(), func(e client.Event) {
			<-release
			got = append(got, e)
		}, "s1")
	})
	r := s.next()
	if string(r.Params) != `{"enabled":true,"sessions":["s1"]}` {
		t.Errorf("params %s", r.Params)
	}
	s.send(`{"jsonrpc":"2.0","id":%d,"result":{}}`, r.ID)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	list := later(func() error { return c.Call(t.Context(), "session.list", nil, nil) })
	s.send(`{"jsonrpc":"2.0","method":"session.output","params":{"session":"s1","sequence":3,"output":"a","dropped":true}}`+"\n"+
		`{"jsonrpc":"2.0","method":"session.exited","params":{"session":"s1","sequence":4,"exit_code":null,"signal":"SIGHUP"}}`+"\n"+
		`{"jsonrpc":"2.0","id":%d,"result":{}}`, s.next().ID)
	select {
	case <-list:
		t.Fatal("an answer overtook an event")
	default:
	}
	close(release)
	if err := <-list; err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Output != "a" || !got[0].Dropped || got[1].Method != "session.exited" ||
		got[1].Code != nil || got[1].Signal == nil || *got[1].Signal != "SIGHUP" || len(got[1].Params) == 0 {
		t.Errorf("events %+v", got)
	}
}
