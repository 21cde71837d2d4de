package terminalmcp

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/internal/host"
)

func TestFinishedIsBounded(t *testing.T) {
	var r recordings
	for i := range 3 * maxFinished {
		r.note(strconv.Itoa(i))
	}
	if n := len(r.finished); n != maxFinished || r.finished[n-1] != strconv.Itoa(3*maxFinished-1) {
		t.Errorf("%d names, the last %s", n, r.finished[n-1])
	}
}

// TestRecordingTimes, in virtual time: what keeps a recording going, what ends it, and which pauses
// are in the file.
func TestRecordingTimes(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		defer e.Close(context.Background())
		s, err := New(host.Over(e, nil, nil), Options{Shell: "sh", RecordDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		begin := func(limits Limits) string {
			path, err := s.Record(s.Default(), RecordingRequest{Mode: modeAlways, Limits: limits})
			if err != nil {
				t.Fatal(err)
			}
			return path
		}
		ended := func(path, reason string, after time.Duration) {
			t.Helper()
			synctest.Wait()
			b, err := os.ReadFile(metaPath(path))
			var m meta
			if err != nil || json.Unmarshal(b, &m) != nil || m.StopReason != reason || m.DurationMS != after.Milliseconds() || m.ExitCode != nil {
				t.Errorf("%s, %v; want %s after %v", b, err, reason, after)
			}
		}
		path := begin(DefaultLimits)
		time.Sleep(5 * time.Second) // a pause before the first event is kept
		p.Print("a\r\n")
		synctest.Wait()
		time.Sleep(7 * time.Second) // and this is cut to two
		p.Print("b\r\n")
		synctest.Wait()
		time.Sleep(10*time.Minute - time.Millisecond)
		synctest.Wait()
		if _, err := os.Stat(path); err == nil {
			t.Error("it has stopped early")
		}
		time.Sleep(time.Millisecond)
		ended(path, stopInactivity, 12*time.Second+10*time.Minute)
		b, err := os.ReadFile(path)
		lines := strings.Split(string(b), "\n")
		if err != nil || len(lines) != 4 || !strings.HasPrefix(lines[1], `[5.000000, "o", "a`) || !strings.HasPrefix(lines[2], `[7.000000, "o", "b`) {
			t.Errorf("%s, %v", b, err)
		}

		path = begin(DefaultLimits)
		for range 7 { // output keeps it going, until an hour has passed
			time.Sleep(9 * time.Minute)
			p.Print("x\r\n")
			synctest.Wait()
		}
		ended(path, stopDuration, time.Hour)

		path = begin(Limits{})
		time.Sleep(100 * time.Hour)
		synctest.Wait()
		if _, err := os.Stat(path + ".part"); err != nil {
			t.Errorf("a recording without limits: %v", err)
		}
		s.Close()
		ended(path, stopShutdown, 100*time.Hour)
	})
	if left, err := filepath.Glob(filepath.Join(dir, "*.part")); err != nil || len(left) != 0 {
		t.Errorf("%v, %v is left", left, err)
	}
}

// TestIdleSessions, in virtual time: each use of a session puts its end off.
func TestIdleSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.Engine(enginetest.New(), enginetest.New())
		defer e.Close(context.Background())
		s, err := New(host.Over(e, nil, nil), Options{Shell: "sh"})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var made sessionInfo
		if err := json.Unmarshal([]byte(s.Call(t.Context(), "createSession", nil).Content[0].Text), &made); err != nil {
			t.Fatal(err)
		}
		use, _ := json.Marshal(map[string]string{"sessionId": made.SessionID})
		for range 3 {
			time.Sleep(599 * time.Second)
			if r := s.Call(t.Context(), "getContent", use); r.IsError != nil {
				t.Fatalf("%+v", r)
			}
		}
		time.Sleep(600 * time.Second)
		synctest.Wait()
		if r := s.Call(t.Context(), "getContent", use); r.Content[0].Text != "Error: Session '"+made.SessionID+"' not found" {
			t.Errorf("%+v", r)
		}
		if r := s.Call(t.Context(), "getContent", nil); r.IsError != nil {
			t.Errorf("the default session: %+v", r)
		}
	})
}

// A pipeListener hands out pipes.
type pipeListener struct {
	net.Listener
	conns chan net.Conn
	done  chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	close(l.done)
	return nil
}

// TestProxyConnectionsAreBounded: one client more than there may be waits until another has gone.
func TestProxyConnectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.Engine(enginetest.New())
		defer e.Close(context.Background())
		s, err := New(host.Over(e, nil, nil), Options{Shell: "sh"})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		l := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error)
		go func() { served <- ServeProxy(ctx, l, s) }()
		var clients []net.Conn
		offer := func() bool {
			here, there := net.Pipe()
			clients = append(clients, here)
			select {
			case l.conns <- there:
				synctest.Wait()
				return true
			case <-time.After(time.Hour):
				return false
			}
		}
		for i := range maxProxyConns {
			if !offer() {
				t.Fatalf("client %d is not served", i)
			}
		}
		if offer() {
			t.Error("there is no bound")
		}
		clients[0].Close()
		synctest.Wait()
		if !offer() {
			t.Error("the place of one that has gone is not given to another")
		}
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
