package pty

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func ptr(a *[4]uint64) uintptr { return uintptr(unsafe.Pointer(a)) }

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:8])
}

func long() bool { return os.Getenv("PTYWRIGHT_LONG") == "1" }

func TestExitCodesAreExact(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for code := range 256 {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			p, err := Start(self("exit", fmt.Sprint(code)))
			if err != nil {
				t.Error(err)
				return
			}
			defer p.Close()
			if got := p.Wait(); got != (Exit{Code: code}) {
				t.Errorf("exit %d: got %+v", code, got)
			}
		})
	}
	wg.Wait()
}

func TestSignalsAreExact(t *testing.T) {
	t.Parallel()
	harmless := map[unix.Signal]bool{
		unix.SIGCHLD: true, unix.SIGCONT: true, unix.SIGURG: true, unix.SIGWINCH: true,
		unix.SIGSTOP: true, unix.SIGTSTP: true, unix.SIGTTIN: true, unix.SIGTTOU: true,
		32: true, 33: true, // glibc's own
	}
	for n := unix.Signal(1); n <= 64; n++ {
		if harmless[n] {
			continue
		}
		p := start(t, self("raise", fmt.Sprint(int(n))))
		want := map[unix.Signal]string{34: "SIGRTMIN", 37: "SIGRTMIN+3", 64: "SIGRTMIN+30"}[n]
		if want == "" && n < 32 {
			want = unix.SignalName(n)
		}
		got := p.Wait()
		if got.Code != -1 || got.Signal == "" || want != "" && got.Signal != want {
			t.Errorf("signal %d: got %+v, want %q", n, got, want)
		}
	}
}

func TestReapingWithoutPidfd(t *testing.T) {
	p := &PTY{done: make(chan struct{})}
	pid, err := syscall.ForkExec(os.Args[0], []string{os.Args[0], roleArg, "exit", "41"}, &syscall.ProcAttr{Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	p.tree.pid = pid
	go p.reap(-1)
	if got := p.Wait(); got != (Exit{Code: 41}) {
		t.Errorf("got %+v", got)
	}
}

// TestSweepLeavesWhatIsBeingStarted: a program that has ended before [Start] knows it keeps its
// status for it.
func TestSweepLeavesWhatIsBeingStarted(t *testing.T) {
	_, slave, err := open(Size{})
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	pid, pidfd, err := fork(os.Args[0], []string{os.Args[0], roleArg, "exit", "41"}, "", os.Environ(), slave, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pidfd)
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	reapAdopted()
	var status unix.WaitStatus
	if got, err := unix.Wait4(pid, &status, 0, nil); got != pid || status.ExitStatus() != 41 {
		t.Errorf("process %d, status %d, %v", got, status.ExitStatus(), err)
	}
}

func TestLostStatusIsNotGuessed(t *testing.T) {
	p := start(t, self("cat"))
	expect(t, p, "ready")
	// Another part of the process waits for any child, which it should not.
	p.mu.Lock()
	unix.Kill(p.PID(), unix.SIGKILL)
	if _, err := unix.Wait4(p.PID(), nil, 0, nil); err != nil {
		t.Fatal(err)
	}
	p.mu.Unlock()
	if got := p.Wait(); got != (Exit{Code: -1}) {
		t.Errorf("got %+v", got)
	}
}

func TestAllOutputArrivesThoughTheProgramHasEnded(t *testing.T) {
	runs := 10
	if long() {
		runs = 500
	}
	for i := range runs {
		p := start(t, self("flood", fmt.Sprint(i), fmt.Sprint(1<<20)))
		got := drain(t, p)
		if sum(got) != sum(pattern(i, 1<<20)) {
			t.Fatalf("run %d: %d bytes that differ", i, len(got))
		}
		if e := p.Wait(); e != (Exit{}) {
			t.Fatalf("run %d: %+v", i, e)
		}
		p.Close()
	}
}

func TestOutputIsReadAfterTheProgramWasReaped(t *testing.T) {
	p := start(t, self("flood", "7", "3000"))
	p.Wait()
	if got := drain(t, p); sum(got) != sum(pattern(7, 3000)) {
		t.Errorf("%d bytes that differ", len(got))
	}
	if _, err := p.Next(); err != io.EOF {
		t.Errorf("Next after the end: %v", err)
	}
}

func TestNextHoldsNoBufferWhileItWaits(t *testing.T) {
	p := start(t, self("cat"))
	expect(t, p, "ready")
	// Next with a deadline that passes leaves what a parked one holds.
	p.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	for {
		if _, err := p.Next(); err != nil {
			break
		}
	}
	if p.buf != nil {
		t.Error("a buffer is held")
	}
}

func TestReadDeadlineFires(t *testing.T) {
	p := start(t, self("cat"))
	expect(t, p, "ready")
	p.SetReadDeadline(time.Now().Add(time.Millisecond))
	for {
		_, err := p.Next()
		if err == nil {
			continue
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		break
	}
	p.SetReadDeadline(time.Now().Add(hang))
	if _, err := p.Write([]byte("again\n")); err != nil {
		t.Fatal(err)
	}
	if b, err := p.Next(); err != nil || !bytes.Contains(b, []byte("again")) {
		t.Errorf("after the deadline: %q, %v", b, err)
	}
}

func TestCloseWakesNextAndWrite(t *testing.T) {
	l := newLobby(t)
	p := start(t, self("raw", l.path, "1"))
	l.await("raw")
	p.SetReadDeadline(time.Time{})
	p.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := p.Write(make([]byte, 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	p.SetWriteDeadline(time.Time{}) // now it is full, and the next Write will park
	blocked := make(chan error, 2)
	go func() {
		for {
			if _, err := p.Next(); err != nil {
				blocked <- err
				return
			}
		}
	}()
	go func() {
		_, err := p.Write(make([]byte, 1<<20))
		blocked <- err
	}()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		select {
		case err := <-blocked:
			if !errors.Is(err, os.ErrClosed) {
				t.Errorf("got %v, want os.ErrClosed", err)
			}
		case <-time.After(hang):
			t.Fatal("a call sleeps on after Close")
		}
	}
	for what, err := range map[string]error{
		"Close": p.Close(), "Resize": p.Resize(Size{Rows: 1, Cols: 1}), "SetReadDeadline": p.SetReadDeadline(time.Time{}),
	} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
}

func TestBlockedWriteTellsWhatWasTaken(t *testing.T) {
	l := newLobby(t)
	const size = 200_000
	p := start(t, self("raw", l.path, fmt.Sprint(size)))
	child := l.await("raw")["raw"]
	data := pattern(3, size)

	p.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
	n, err := p.Write(data)
	if !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 || n == size {
		t.Fatalf("wrote %d: %v", n, err)
	}
	// The terminal stays usable beside it.
	if err := p.Resize(Size{Rows: 10, Cols: 20}); err != nil {
		t.Error(err)
	}
	p.SetWriteDeadline(time.Now().Add(hang))
	child.conn.Write([]byte{1})
	if m, err := p.Write(data[n:]); err != nil || n+m != size {
		t.Fatalf("wrote %d more: %v", m, err)
	}
	if got := expect(t, p, sum(data)); got == "" {
		t.Error("the child read something else")
	}
}

func TestWriteWhenNobodyHasTheTerminal(t *testing.T) {
	p := start(t, self("exit", "0"))
	p.Wait()
	drain(t, p)
	for name, write := range map[string]func([]byte) (int, error){"Write": p.Write, "TryWrite": p.TryWrite} {
		if n, err := write([]byte("x")); n != 0 || !errors.Is(err, ErrHungUp) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
}

func TestTryWriteNeverBlocks(t *testing.T) {
	l := newLobby(t)
	p := start(t, self("raw", l.path, "1"))
	l.await("raw")
	n, err := p.TryWrite(make([]byte, 1<<20))
	if err != nil || n == 0 || n == 1<<20 {
		t.Errorf("into an empty terminal: %d, %v", n, err)
	}
	p.SetWriteDeadline(time.Unix(1, 0))
	if n, err := p.TryWrite([]byte("x")); n != 0 || err != nil {
		t.Errorf("after the deadline: %d, %v", n, err)
	}
	p.Close()
	if n, err := p.TryWrite([]byte("x")); n != 0 || !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %d, %v", n, err)
	}
}

func TestAGrandchildHoldsTheTerminal(t *testing.T) {
	l := newLobby(t)
	p := start(t, self("member", l.path, "leader", "start:group:holder:ignore/hello/go/exit", "hello", "go", "exit"))
	g := l.await("leader", "holder")
	g["leader"].conn.Write([]byte{1})
	if e := p.Wait(); e != (Exit{}) {
		t.Fatal(e)
	}
	l.alive(g["holder"])
	p.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if b, err := p.Next(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("output ended with the leader: %q, %v", b, err)
	}
	g["holder"].conn.Write([]byte{1})
	p.SetReadDeadline(time.Now().Add(hang))
	drain(t, p)
}

func TestLineMode(t *testing.T) {
	p := start(t, self("cat"))
	expect(t, p, "ready")
	want := LineMode{Canonical: true, Echo: true, Signals: true, CRToNL: true, EOF: 4, Interrupt: 3, Quit: 28, Suspend: 26, Erase: 127, WordErase: 23, Kill: 21}
	if got, err := p.LineMode(); err != nil || got != want {
		t.Errorf("cooked: %+v, %v", got, err)
	}
	l := newLobby(t)
	p = start(t, self("raw", l.path, "1"))
	l.await("raw")
	want.Canonical, want.Echo, want.Signals, want.CRToNL = false, false, false, false
	if got, err := p.LineMode(); err != nil || got != want {
		t.Errorf("raw: %+v, %v", got, err)
	}
}

func TestACanonicalLineIsCut(t *testing.T) {
	// Why LineMode is there: the kernel takes a line of any length and keeps 4,095 bytes.
	p := start(t, self("cat"))
	expect(t, p, "ready")
	p.SetWriteDeadline(time.Now().Add(hang))
	line := append(bytes.Repeat([]byte{'x'}, 5000), '\n')
	if n, err := p.Write(line); n != len(line) || err != nil {
		t.Fatal(n, err)
	}
	p.Write([]byte{4})
	out := drain(t, p)
	// The echo comes first, then what cat has read.
	lines := strings.Split(strings.TrimSpace(string(out)), "\r\n")
	if got := len(lines[len(lines)-1]); got != 4095 {
		t.Errorf("cat read a line of %d bytes", got)
	}
}

func TestSignal(t *testing.T) {
	l := newLobby(t)
	for s, name := range map[Signal]string{
		SignalQuit: "SIGQUIT", SignalHup: "SIGHUP", SignalInt: "SIGINT", SignalTerm: "SIGTERM", SignalKill: "SIGKILL",
		SignalUser1: "SIGUSR1", SignalUser2: "SIGUSR2",
	} {
		p := start(t, self("default", l.path))
		l.await("default")
		if f, err := p.Foreground(); err != nil || f.PID != p.PID() || !f.Leader {
			t.Errorf("foreground %+v, %v", f, err)
		}
		if err := p.Signal(s); err != nil {
			t.Error(err)
		}
		if e := p.Wait(); e != (Exit{Code: -1, Signal: name}) {
			t.Errorf("%s: %+v", s, e)
		}
		if err := p.Signal(s); !errors.Is(err, ErrExited) {
			t.Errorf("%s after the end: %v", s, err)
		}
		if f, err := p.Foreground(); !errors.Is(err, ErrExited) {
			t.Errorf("in the foreground after the end: %+v, %v", f, err)
		}
	}
	p := start(t, self("cat"))
	expect(t, p, "ready")
	if err := p.Signal("winch"); err == nil || !strings.Contains(err.Error(), "user2") {
		t.Error(err)
	}
	if _, err := ParseSignal(strings.Repeat("x", 1000)); err == nil || len(err.Error()) > 200 {
		t.Error(err)
	}
}
