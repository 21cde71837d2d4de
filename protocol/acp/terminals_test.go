package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/protocoltest"
)

// hosted is a host whose terminals are the test's.
func hosted(t *testing.T, o Options, ptys ...*enginetest.PTY) *Terminals {
	t.Helper()
	h := NewTerminals(host.Over(enginetest.Engine(ptys...), nil, nil), o)
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func create(t *testing.T, h *Terminals) *Terminal {
	t.Helper()
	term, err := h.Create(Spec{Session: "S", Command: "program", Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	return term
}

func TestWaitEndsWithTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		h := hosted(t, Options{}, p)
		term := create(t, h)
		ended := make(chan *engine.Exit, 3)
		for range cap(ended) {
			go func() {
				exit, err := term.Wait(t.Context())
				if err != nil {
					t.Error(err)
				}
				ended <- exit
			}()
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(protocol.ErrCancelled)
		if _, err := term.Wait(ctx); !errors.Is(err, protocol.ErrCancelled) {
			t.Errorf("a cancelled wait ended with %v", err)
		}
		synctest.Wait()
		if len(ended) > 0 {
			t.Fatal("a wait ended before the program")
		}
		p.Print("last words\r\n")
		p.End(3)
		for range cap(ended) {
			if exit := <-ended; exit.Code != 3 {
				t.Errorf("waited: %+v", exit)
			}
		}
		if text, _, exit := term.Output(); text != "last words\n" || exit == nil {
			t.Errorf("output %q, %v", text, exit)
		}
	})
}

func TestKillAsksFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stubborn, polite := enginetest.New(), enginetest.New()
		h := hosted(t, Options{}, stubborn, polite)
		term := create(t, h)
		began := time.Now()
		if err := term.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < killGrace || took > killGrace+time.Second {
			t.Errorf("it took %v to end what does not want to", took)
		}
		if s := stubborn.Signals(); len(s) != 1 || s[0] != pty.SignalTerm {
			t.Errorf("signals %v", s)
		}
		if _, _, exit := term.Output(); exit == nil || exit.Signal != "SIGKILL" {
			t.Errorf("exit %+v", exit)
		}

		term = create(t, h)
		began = time.Now()
		go func() {
			synctest.Wait()
			polite.Exit(pty.Exit{Code: -1, Signal: "SIGTERM"})
			polite.HangUp()
		}()
		if err := term.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > killGrace/2 {
			t.Errorf("it took %v to end what went by itself", took)
		}
		if err := term.Kill(t.Context()); err != nil {
			t.Errorf("killing what has ended: %v", err)
		}
	})
}

func TestReleaseWakesWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hosted(t, Options{}, enginetest.New())
		term := create(t, h)
		ended := make(chan error, 1)
		go func() {
			_, err := term.Wait(t.Context())
			ended <- err
		}()
		synctest.Wait()
		same, err := h.Release("S", term.ID())
		if err != nil || same != term {
			t.Fatalf("release: %v, %v", same, err)
		}
		if err := same.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("the wait ended with %v", err)
		}
		if again, err := h.Release("S", term.ID()); again != nil || err != nil {
			t.Errorf("released again: %v, %v", again, err)
		}
		for _, session := range []string{"S", "other"} {
			if _, err := h.Find(session, term.ID()); !errors.Is(err, ErrNotFound) {
				t.Errorf("found after its release: %v", err)
			}
		}
		if _, err := h.Release("other", term.ID()); !errors.Is(err, ErrNotFound) {
			t.Errorf("released by another session: %v", err)
		}
	})
}

func TestHostThatIsClosedStartsNothing(t *testing.T) {
	p := enginetest.New()
	h := NewTerminals(host.Over(enginetest.Engine(p), nil, nil), Options{})
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Create(Spec{Session: "S", Command: "program"}); !errors.Is(err, ErrClosed) {
		t.Errorf("create on a closed host: %v", err)
	}
	if exit := p.Wait(); exit.Signal != "SIGKILL" {
		t.Errorf("what was started meanwhile ended with %+v", exit)
	}
}

func TestReleasedAreBounded(t *testing.T) {
	h := hosted(t, Options{})
	for i := range maxReleased + 10 {
		id := fmt.Sprint(i)
		h.terminals[id] = &Terminal{id: id, session: "S"}
		if _, err := h.Release("S", id); err != nil {
			t.Fatal(err)
		}
	}
	if len(h.released) > maxReleased {
		t.Errorf("%d released terminals are remembered, at most %d", len(h.released), maxReleased)
	}
}

// TestWaitsAreBounded has one more wait than a connection may have, and the connection go on.
func TestWaitsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		d := New(host.Over(enginetest.Engine(p), nil, nil), Options{Waits: 2})
		out, w := io.Pipe()
		r, in := io.Pipe()
		done := make(chan error)
		go func() { done <- protocol.NewConn(protocol.Join(r, w), d, protocol.Config{}).Serve(t.Context()) }()
		answers := protocol.Lines.NewReader(out, 1<<20)
		ask := func(line string) {
			if _, err := io.WriteString(in, line+"\n"); err != nil {
				t.Error(err)
			}
		}
		answer := func() string {
			b, err := answers.Next()
			if err != nil {
				t.Error(err)
			}
			return string(b)
		}
		ask(`{"jsonrpc":"2.0","id":0,"method":"terminal/create","params":{"sessionId":"S","command":"x"}}`)
		answer()
		for i := range 3 {
			ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"terminal/wait_for_exit","params":{"sessionId":"S","terminalId":"ptywright-s1"}}`, i+1))
		}
		if a := answer(); !strings.Contains(a, `"id":3,"error":{"code":-32603,`) {
			t.Errorf("the third wait was answered with %s", a)
		}
		ask(`{"jsonrpc":"2.0","id":9,"method":"terminal/output","params":{"sessionId":"S","terminalId":"ptywright-s1"}}`)
		if a := answer(); !strings.Contains(a, `"id":9,"result"`) {
			t.Errorf("the output was answered with %s", a)
		}
		p.End(0)
		for range 2 {
			if a := answer(); !strings.Contains(a, `"result":{"exitCode":0,"signal":null}`) {
				t.Errorf("a wait was answered with %s", a)
			}
		}
		in.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestFaults: what breaks at one connection costs its request.
func TestFaults(t *testing.T) {
	d := protocol.Combine(New(host.Over(enginetest.Engine(), nil, slog.New(slog.DiscardHandler)), Options{}), protocoltest.Broken{}, listing{})
	protocoltest.Faults(t, over(d, slog.New(slog.DiscardHandler)), "session.list")
}

// TestCorpus is the suite of messages that every dialect passes.
func TestCorpus(t *testing.T) {
	d := protocol.Combine(New(host.Over(enginetest.Engine(), nil, nil), Options{}), listing{})
	protocoltest.Corpus(t, protocoltest.Suite{
		Family: "ndjson",
		Dial:   over(d, slog.New(slog.DiscardHandler)),
		Has:    func(method string) bool { _, ok := listing{}.Method(method); return ok },
	})
}

// listing is another dialect on the same connection, with what the suite itself asks for.
type listing struct{}

func (listing) Open(*protocol.Conn) protocol.Handler { return listing{} }
func (listing) Error(err error) *protocol.Error {
	return &protocol.Error{Code: 1, Message: err.Error()}
}
func (listing) Close() {}
func (listing) Method(name string) (protocol.Method, bool) {
	call := func(context.Context, json.RawMessage) (any, error) { return map[string][]string{"sessions": {}}, nil }
	return protocol.Method{Name: name, Call: call}, slices.Contains([]string{"session.list", "server.capabilities"}, name)
}
