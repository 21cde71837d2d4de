//go:build linux || darwin

package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/client"
)

// asServer is the variable that makes this test binary a server, and says of which kind: one that
// serves, fails, hangs before it is ready, or is silent, and without the lock of a server.
const asServer = "BE_A_SERVER"

// hang bounds everything that a test waits for: only what hangs takes that long.
const hang = 2 * time.Minute

func TestMain(m *testing.M) {
	kind := os.Getenv(asServer)
	if kind == "" {
		os.Exit(m.Run())
	}
	if err := serverOf(kind, os.Args[len(os.Args)-2]); err != nil {
		fmt.Fprintf(os.Stderr, "ptywright: %v\n", err)
		os.Exit(1)
	}
}

// serverOf is a server: [launch] calls it with serve --socket PATH --background.
func serverOf(kind, path string) error {
	over, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fmt.Fprintf(os.Stderr, "a library's line\nptywright: %s on %s\nanother library's\n", kind, path)
	switch kind {
	case "fails":
		return errors.New("the disk is full")
	case "hangs":
		<-over.Done()
		return nil
	case "silent":
		l, err := net.Listen("unix", path)
		if err != nil {
			return err
		}
		defer l.Close()
		fmt.Println(path)
		<-over.Done()
		return nil
	}
	l, err := protocol.Listen(path)
	if err != nil {
		return err
	}
	go answer(l, `"result":{"pid":%d}`)
	fmt.Println(path)
	<-over.Done()
	return l.Close()
}

// answer answers each request on l; %d is this process.
func answer(l net.Listener, what string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			for in := bufio.NewScanner(c); in.Scan(); {
				var q struct{ ID json.RawMessage }
				if json.Unmarshal(in.Bytes(), &q) != nil || what == "" {
					return
				}
				said := what
				if strings.Contains(said, "%d") {
					said = fmt.Sprintf(said, os.Getpid())
				}
				fmt.Fprintf(c, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", q.ID, said)
			}
		}()
	}
}

// home makes a home for servers of that kind, and returns its socket.
func home(t *testing.T, kind string) (ctx context.Context, socket string) {
	t.Helper()
	t.Setenv(asServer, kind)
	t.Setenv("GORACE", "atexit_sleep_ms=10")
	t.Setenv("PTYWRIGHT_HOME", filepath.Join(short(t), "home"))
	socket, err := DefaultSocket()
	if err != nil {
		t.Fatal(err)
	}
	return bounded(t), socket
}

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	t.Cleanup(cancel)
	return ctx
}

// short is a folder whose sockets have short paths.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "d")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// started starts a server of that kind on a socket, and ends it with the test.
func started(t *testing.T, kind, socket string) *Process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "serve", "--socket", socket, "--background")
	cmd.Env = append(os.Environ(), asServer+"="+kind, "GORACE=atexit_sleep_ms=10")
	p, err := Start(cmd, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Stop()
		p.End("")
	})
	return p
}

// TestEnsureAndStop: a server is started once, outlives its starter's interest, is found by all who
// come later, and ends when it is asked to; its log says what it said.
func TestEnsureAndStop(t *testing.T) {
	ctx, socket := home(t, "serves")
	if _, err := Stop(ctx, socket); !errors.Is(err, ErrNone) {
		t.Errorf("stop what is not there: %v", err)
	}
	pid := 0
	for _, first := range []bool{true, false} {
		did, err := Ensure(ctx, socket)
		if err != nil || did != first {
			t.Fatalf("started: %v, %v", did, err)
		}
		is, err := PID(ctx, socket)
		if err != nil || !first && is != pid {
			t.Fatalf("process %d, not %d, %v", is, pid, err)
		}
		pid = is
	}
	c, local, err := DialLocal(ctx, socket)
	if err != nil || !local {
		t.Fatalf("local: %v, %v", local, err)
	}
	c.Close()
	log, err := LogOf(socket)
	if err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(log)
	if !strings.Contains(string(said), "serves on "+socket) || err != nil {
		t.Errorf("%q, %v", said, err)
	}
	if info, err := os.Stat(log); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if forced, err := Stop(ctx, socket); forced || err != nil {
		t.Errorf("forced: %v, %v", forced, err)
	}
	var dial *DialError
	if _, err := Dial(ctx, socket); !errors.Is(err, ErrNone) || !errors.As(err, &dial) || dial.Socket != socket {
		t.Errorf("it has ended, and answers: %v", err)
	}
	if did, err := Ensure(ctx, socket); !did || err != nil {
		t.Errorf("started again: %v, %v", did, err)
	}
	if old, err := os.ReadFile(log + ".old"); string(old) != string(said) || err != nil {
		t.Errorf("the last server's log: %q, %v", old, err)
	}
	if _, err := Stop(ctx, socket); err != nil {
		t.Error(err)
	}
}

// TestStaleSocketIsTakenOver: the socket of a killed server does not keep the next from starting.
func TestStaleSocketIsTakenOver(t *testing.T) {
	ctx, socket := home(t, "serves")
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	if _, err := os.Lstat(socket); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(ctx, socket); !errors.Is(err, ErrNone) {
		t.Errorf("dial: %v", err)
	}
	if did, err := Ensure(ctx, socket); !did || err != nil {
		t.Errorf("started: %v, %v", did, err)
	}
	if _, err := Stop(ctx, socket); err != nil {
		t.Error(err)
	}
}

// TestLiveServerIsNeverReplaced, neither by one that would be started nor by one that is.
func TestLiveServerIsNeverReplaced(t *testing.T) {
	ctx, socket := home(t, "serves")
	l, err := protocol.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go answer(l, `"result":{"pid":%d}`)
	if did, err := Ensure(ctx, socket); did || err != nil {
		t.Errorf("started: %v, %v", did, err)
	}
	err = started(t, "serves", socket).Ready(ctx)
	if err == nil || !strings.Contains(err.Error(), "already listening") {
		t.Errorf("a second server: %v", err)
	}
	if pid, err := PID(ctx, socket); pid != os.Getpid() || err != nil {
		t.Errorf("process %d listens, %v", pid, err)
	}
}

// TestEnsureSaysLastWords of a server that does not start, and leaves nothing of it.
func TestEnsureSaysLastWords(t *testing.T) {
	ctx, socket := home(t, "fails")
	did, err := Ensure(ctx, socket)
	if did || err == nil || !strings.Contains(err.Error(), "it said last: the disk is full") {
		t.Errorf("started: %v, %v", did, err)
	}
	if left, err := os.ReadDir(filepath.Dir(socket)); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestReadyEndsWithItsContext, and the log of a server that was not ready is kept where it is asked
// for.
func TestReadyEndsWithItsContext(t *testing.T) {
	dir := short(t)
	p := started(t, "hangs", filepath.Join(dir, "s"))
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(bounded(t))
	cancel(enough)
	if err := p.Ready(ctx); !errors.Is(err, enough) {
		t.Errorf("%v", err)
	}
	if p.PID() <= 0 || p.PID() == os.Getpid() {
		t.Errorf("process %d", p.PID())
	}
	p.Stop()
	failed := filepath.Join(dir, "failed.log")
	p.End(failed)
	if said, err := os.ReadFile(failed); err == nil && !strings.Contains(string(said), "hangs on") {
		t.Errorf("%q", said)
	}
}

// TestAnswers: any answer is one, and a server without one is told from none.
func TestAnswers(t *testing.T) {
	ctx := bounded(t)
	listen := func(what string) string {
		path := filepath.Join(short(t), "s")
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		if what != "silence" {
			go answer(l, what)
		}
		return path
	}
	for what, is := range map[string]bool{
		`"result":{"pid":%d}`: true, `"result":{"pid":1}`: false, `"result":{}`: false,
		`"error":{"code":-32601,"message":"no such method"}`: false,
	} {
		c, local, err := DialLocal(ctx, listen(what))
		if err != nil || local != is {
			t.Errorf("%s: local %v, %v", what, local, err)
		} else {
			c.Close()
		}
	}
	var dial *DialError
	if _, err := Dial(ctx, listen("")); !errors.As(err, &dial) || !errors.Is(err, client.ErrClosed) {
		t.Errorf("one that hangs up: %v", err)
	}

	silence := listen("silence")
	late, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	var silent *SilentError
	if _, err := Dial(late, silence); !errors.As(err, &silent) || silent.PID != os.Getpid() || silent.Stopped || silent.Socket != silence {
		t.Errorf("one that is silent: %v", err)
	}
	enough := errors.New("enough")
	gone, leave := context.WithCancelCause(ctx)
	leave(enough)
	if _, err := Dial(gone, silence); !errors.Is(err, enough) && !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestStopLeavesStrangersAlone: a process that listens, does not answer, and does not hold the lock
// of a server may be anything.
func TestStopLeavesStrangersAlone(t *testing.T) {
	t.Parallel()
	ctx := bounded(t)
	socket := filepath.Join(short(t), "s")
	p := started(t, "silent", socket)
	if err := p.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	forced, err := Stop(ctx, socket)
	if forced || err == nil || !strings.Contains(err.Error(), "left alone") || !strings.Contains(err.Error(), fmt.Sprint(p.PID())) {
		t.Errorf("forced: %v, %v", forced, err)
	}
	select {
	case <-p.ended:
		t.Error("it has ended")
	default:
	}
}

// TestPlaces: what belongs to a server stands beside its socket.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PTYWRIGHT_HOME", dir)
	if socket, err := DefaultSocket(); socket != filepath.Join(dir, "socket") || err != nil {
		t.Errorf("%s, %v", socket, err)
	}
	for of, want := range map[string]func(string) (string, error){"/x/y.log": LogOf, "/x/y.mcp-token": TokenOf} {
		if got, err := want("/x/y"); got != of || err != nil {
			t.Errorf("%s, not %s, %v", got, of, err)
		}
	}
	t.Setenv("PTYWRIGHT_HOME", "")
	t.Setenv("HOME", "")
	if _, err := DefaultSocket(); err == nil || !strings.Contains(err.Error(), "PTYWRIGHT_HOME") {
		t.Errorf("without a home: %v", err)
	}
}

// TestLastLine of a log: ptywright's own, or else whatever was said.
func TestLastLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for text, want := range map[string]string{
		"":                              "",
		"one\ntwo\n\n":                  "two",
		"ptywright: why\ngoroutine 1\n": "why",
		"ptywright: a\nptywright: b\nx": "b",
		"ptywright: far\n" + strings.Repeat("x\n", logTail): "x",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := lastLine(path); got != want || err != nil {
			t.Errorf("%.40q: %q, %v", text, got, err)
		}
	}
	if _, err := lastLine(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
