//go:build unix

package client_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// waiting begins a wait of a session beside the test, and returns when the server has it: another
// goroutine's request may be sent after what the test thinks follows it.
func waiting(t *testing.T, s *client.Session, wait func() error) <-chan error {
	t.Helper()
	pending := make(chan struct{}, 1)
	check(t, s.Client().SubscribeEvents(t.Context(), func(e client.Event) {
		if e.Noted != nil && e.Noted.Kind == "wait" && e.Noted.State == "pending" {
			select {
			case pending <- struct{}{}:
			default:
			}
		}
	}, s.ID))
	done := later(wait)
	select {
	case <-pending:
	case err := <-done:
		t.Fatalf("the wait has ended: %v", err)
	case <-time.After(hang):
		t.Fatal("the server does not tell of the wait")
	}
	return done
}

// TestServerKilled: a wait under way, and what comes after it, say that the server has ended, how,
// and what to do. goleak sees that nothing is left.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c, err := client.Start(ctx)
	check(t, err)
	s := spawned(t, c, client.Config{Program: "cat"})
	waits := waiting(t, s, func() error {
		_, err := s.Wait(ctx, client.Text("never"))
		return err
	})
	about := must[*client.Capabilities](t)(c.Capabilities(ctx))
	check(t, syscall.Kill(about.PID, syscall.SIGKILL))
	for what, err := range map[string]error{"a wait": <-waits, "input": s.Send(ctx, "x")} {
		var gone *client.ServerGoneError
		if !errors.Is(err, client.ErrClosed) || !errors.As(err, &gone) || gone.State == nil || !strings.Contains(err.Error(), "signal: killed") ||
			!strings.Contains(err.Error(), "start another") {
			t.Errorf("%s: %v", what, err)
		}
	}
	var exit *exec.ExitError
	if err := c.Close(); !errors.As(err, &exit) {
		t.Errorf("Close: %v", err)
	}
}

// TestServerThatCannotRun: its last words on standard error are in the error.
func TestServerThatCannotRun(t *testing.T) {
	t.Parallel()
	c, err := client.StartCommand(exec.Command("sh", "-c", "echo no room for a server >&2; exit 3"))
	check(t, err)
	defer c.Close()
	var gone *client.ServerGoneError
	if err := c.Greet(t.Context()); !errors.As(err, &gone) || gone.Said != "no room for a server\n" || gone.State.ExitCode() != 3 {
		t.Errorf("error %v", err)
	}
}

// TestBinary: PTYWRIGHT_BIN comes before the PATH, and an error says what was tried.
func TestBinary(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ptywright"), []byte("#!/bin/sh\necho on the PATH >&2; exit 4\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	bin := os.Getenv("PTYWRIGHT_BIN")
	for _, test := range []struct{ bin, path, want string }{
		{filepath.Join(dir, "missing"), dir, "PTYWRIGHT_BIN=" + dir + "/missing: "},
		{dir, dir, "PTYWRIGHT_BIN=" + dir + ": "},
		{"", filepath.Join(dir, "empty"), "PTYWRIGHT_BIN is not set, and "},
		{"", dir, "on the PATH"},
		{bin, dir, ""},
	} {
		t.Setenv("PTYWRIGHT_BIN", test.bin)
		t.Setenv("PATH", test.path)
		c, err := client.Start(t.Context())
		if err == nil {
			c.Close()
		}
		var missing *client.BinaryError
		switch {
		case test.want == "":
			check(t, err)
		case err == nil || !strings.Contains(err.Error(), test.want):
			t.Errorf("%q, %q: %v", test.bin, test.path, err)
		case test.want != "on the PATH" && (!errors.As(err, &missing) || !strings.Contains(err.Error(), "install ptywright") && !strings.Contains(err.Error(), "set PTYWRIGHT_BIN")):
			t.Errorf("%q, %q: %v", test.bin, test.path, err)
		}
	}
}

// TestOtherProtocol: a server of another version of the wire is refused, with the side to update.
func TestOtherProtocol(t *testing.T) {
	t.Parallel()
	for version, want := range map[int]string{2: "update the Go module", 0: "update the server"} {
		c, s := pair(t)
		done := later(func() error { return c.Greet(t.Context()) })
		s.send(`{"jsonrpc":"2.0","id":%d,"result":{"version":"9.9","protocol":%d}}`, s.next().ID, version)
		var e *client.ProtocolError
		if err := <-done; !errors.As(err, &e) || e.Server != version || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "9.9") {
			t.Errorf("error %v", err)
		}
	}
}

// TestDialGreets: a server that closes, or is none, is an error of Dial, and nothing is left.
func TestDialGreets(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	check(t, err)
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			bufio.NewReader(conn).ReadString('\n')
			fmt.Fprintln(conn, "SSH-2.0-OpenSSH_9.2")
			conn.Close()
		}
	}()
	if _, err := client.Dial(t.Context(), path); !errors.Is(err, client.ErrClosed) || !strings.Contains(err.Error(), "something other than a message") {
		t.Errorf("error %v", err)
	}
}

// TestFullPipe: a server that does not read costs a caller with a deadline no more than that, and
// it is told that nothing was sent.
func TestFullPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := pair(t)
		begun, cancel := context.WithCancel(t.Context())
		// is being written
		first := later(func() error { return c.Call(begun, "session.list", nil, nil) })
		synctest.Wait()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		began := time.Now()
		err := c.Call(ctx, "session.kill", nil, nil)
		if !errors.Is(err, client.ErrNotSent) || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) || errors.Is(err, client.ErrNotSent) {
			t.Errorf("the first: %v", err)
		}
		s.conn.Close()
		c.Close()
	})
}

// TestCancelledWaitLeavesTheSession: what was cancelled does not hold up the next request.
func TestCancelledWaitLeavesTheSession(t *testing.T) {
	t.Parallel()
	s := spawned(t, started(t), client.Config{Program: "cat"})
	ctx, cancel := context.WithCancel(t.Context())
	done := waiting(t, s, func() error {
		_, err := s.Wait(ctx, client.Text("never"), client.Within(hang))
		return err
	})
	cancel()
	err := <-done
	if !errors.Is(err, context.Canceled) || err == nil {
		t.Errorf("cancelled: %v", err)
	}
	check(t, s.Send(t.Context(), "hello\n")) // would queue behind the wait
	must[*client.Match](t)(s.Wait(t.Context(), client.Text("hello")))
}

// TestSlowLoopLosesTheOldest: a loop over notifications that does not keep up is told so.
func TestSlowLoopLosesTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := pair(t)
		asked := later(func() error {
			events, err := c.Notifications(t.Context())
			if err != nil {
				return err
			}
			synctest.Wait() // all are queued
			var first, n int
			dropped := false
			for e, err := range events {
				if err != nil {
					return err
				}
				if n++; n == 1 {
					first, dropped = int(e.Sequence), e.Dropped
				}
				if e.Sequence == 2000 {
					break
				}
			}
			if n != 1024 || first != 2000-1023 || !dropped {
				return fmt.Errorf("%d notifications from %d, dropped %v", n, first, dropped)
			}
			return nil
		})
		s.send(`{"jsonrpc":"2.0","id":%d,"result":{}}`, s.next().ID)
		for i := range 2000 {
			s.send(`{"jsonrpc":"2.0","method":"session.output","params":{"session":"s1","sequence":%d,"output":"a"}}`, i+1)
		}
		s.send(`{"jsonrpc":"2.0","id":%d,"result":{}}`, s.next().ID) // to the end of the loop
		check(t, <-asked)
		s.conn.Close()
		c.Close()
	})
}

// TestEndOfContextEndsTheServer: and Close says how it ended.
func TestEndOfContextEndsTheServer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c, err := client.Start(ctx)
	check(t, err)
	spawned(t, c, client.Config{Program: "cat"})
	cancel()
	<-c.Done()
	check(t, c.Close())
}
