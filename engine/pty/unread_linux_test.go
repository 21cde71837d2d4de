package pty

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// wantUnread wants p to have up to n unread bytes, and none only if n is 0.
func wantUnread(t *testing.T, p *PTY, n int) {
	t.Helper()
	if got, err := p.Unread(); got > n || got == 0 && n > 0 || err != nil {
		t.Errorf("%d bytes are unread, %v; want %d", got, err, n)
	}
}

func typeInto(t *testing.T, p *PTY, text string) {
	t.Helper()
	if _, err := p.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// awaitRead calls AwaitRead in a goroutine.
func awaitRead(ctx context.Context, p *PTY) <-chan error {
	done := make(chan error, 1)
	go func() { done <- p.AwaitRead(ctx) }()
	return done
}

func TestUnreadInRawMode(t *testing.T) {
	l := newLobby(t)
	p := start(t, self("raw", l.path, "7"))
	child := l.await("raw")["raw"]
	wantUnread(t, p, 0)
	typeInto(t, p, "12345")
	wantUnread(t, p, 5)
	typeInto(t, p, "6")
	wantUnread(t, p, 6)
	done := awaitRead(t.Context(), p)
	child.conn.Write([]byte{1})
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestUnreadBeyondTheQueue: more than the program's queue holds is read in parts, and counts as
// unread up to the last.
func TestUnreadBeyondTheQueue(t *testing.T) {
	l := newLobby(t)
	const size = 8_000
	p := start(t, self("raw", l.path, "8000"))
	child := l.await("raw")["raw"]
	data := pattern(1, size)
	typeInto(t, p, string(data[:size-1])) // it ends when it has read all
	if n, err := p.Unread(); n == 0 || err != nil {
		t.Errorf("%d bytes are unread, %v", n, err)
	}
	done := awaitRead(t.Context(), p)
	child.conn.Write([]byte{1})
	if err := <-done; err != nil {
		t.Error(err)
	}
	typeInto(t, p, string(data[size-1:]))
	expect(t, p, sum(data))
}

func TestUnreadInCanonicalMode(t *testing.T) {
	l := newLobby(t)
	p := start(t, self("lines", l.path))
	child := l.await("lines")["lines"]
	read := func() {
		t.Helper()
		done := awaitRead(t.Context(), p)
		child.conn.Write([]byte{1})
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	typeInto(t, p, "hello")
	wantUnread(t, p, 0) // the terminal keeps it until the line is finished
	typeInto(t, p, "\r")
	wantUnread(t, p, 6)
	read()
	expect(t, p, "6")
	typeInto(t, p, "a\rb\r")
	wantUnread(t, p, 4)
	child.conn.Write([]byte{1})
	expect(t, p, "2")
	wantUnread(t, p, 2)
	read()
	expect(t, p, "2")
	typeInto(t, p, "\x04") // no byte of it is read, but it is
	wantUnread(t, p, 1)
}

// TestWritten: output counts when it is written, whether or not it was read, and with it the echo of
// all that was typed.
func TestWritten(t *testing.T) {
	l := newLobby(t)
	p := start(t, self("lines", l.path))
	child := l.await("lines")["lines"]
	want := func(n uint64, all bool) {
		t.Helper()
		if got, is, err := p.Written(); got != n || is != all || err != nil {
			t.Errorf("%d bytes, all: %t, %v; want %d, %t", got, is, err, n, all)
		}
	}
	want(0, true)
	typeInto(t, p, "<hello>")
	if got, _, err := p.Written(); got != 7 || err != nil {
		t.Errorf("%d bytes of the echo, %v", got, err)
	}
	want(7, false) // there is output to read
	expect(t, p, "hello")
	want(7, true)
	typeInto(t, p, "\r")
	if n, written, err := p.UnreadAfter(); n != 8 || written != 9 || err != nil {
		t.Errorf("%d bytes unread after %d of output, %v", n, written, err)
	}
	want(9, false) // there is input to read
	child.conn.Write([]byte{1})
	expect(t, p, "8")
	if n, _, err := p.UnreadAfter(); n != 0 || err != nil {
		t.Errorf("%d bytes unread, %v", n, err)
	}
}

// TestUnreadEndsWithTheProgram: a waiter learns that the program has ended, closed its terminal or
// was closed, and a look does not bring the terminal back.
func TestUnreadEndsWithTheProgram(t *testing.T) {
	l := newLobby(t)
	p := start(t, self("raw", l.path, "1"))
	l.await("raw")
	typeInto(t, p, "1")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := p.AwaitRead(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("of a program that never reads: %v", err)
	}
	done := awaitRead(t.Context(), p)
	unix.Kill(p.PID(), unix.SIGKILL)
	if err := <-done; !errors.Is(err, ErrExited) {
		t.Errorf("of a program that is killed: %v", err)
	}
	p.Wait()
	if _, err := p.Unread(); !errors.Is(err, ErrExited) {
		t.Errorf("of a program that has ended: %v", err)
	}
	if !p.hungUp() {
		t.Error("looking brought the terminal back")
	}
	if p.Close(); !errors.Is(p.AwaitRead(t.Context()), ErrExited) {
		t.Error("it may be waited for")
	}

	p = start(t, self("raw", l.path, "1"))
	l.await("raw")
	p.Close()
	if _, err := p.Unread(); !errors.Is(err, os.ErrClosed) && !errors.Is(err, ErrExited) {
		t.Errorf("of a closed terminal: %v", err)
	}
}
