//go:build unix

package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ptywright/ptywright/protocol/client"
)

// together runs f for 0 to n-1, eight at a time.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range 8 {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// ended returns how a script ends, as session.wait, session.list and session.exited tell it, which
// must agree.
func ended(t *testing.T, s *server, exits *exitLog, script string) string {
	sess, err := s.Spawn(s.ctx, client.Config{Program: "sh", Args: []string{"-c", script}})
	if err != nil {
		t.Error(err)
		return ""
	}
	m, err := sess.Wait(s.ctx, client.Exited())
	if err != nil {
		t.Error(err)
		return ""
	}
	waited := exitText(m.Screen.Exit)
	if told := exits.of(s, sess.ID); told != waited {
		t.Errorf("%s: the wait says %s, session.exited %s", script, waited, told)
	}
	if err := sess.Close(s.ctx); err != nil {
		t.Error(err)
	}
	return waited
}

func exitText(e *client.Exit) string {
	switch {
	case e == nil:
		return "running"
	case e.Signal != nil && e.Code == nil:
		return *e.Signal
	case e.Code != nil && e.Signal == nil:
		return fmt.Sprintf("exit %d", *e.Code)
	}
	return fmt.Sprintf("%+v", *e)
}

// An exitLog takes session.exited events and has them ready for whoever asks.
type exitLog struct {
	mu    sync.Mutex
	exits map[string]chan string
}

func watchExits(s *server) *exitLog {
	s.t.Helper()
	l := &exitLog{exits: map[string]chan string{}}
	err := s.Subscribe(s.ctx, func(e client.Event) {
		if e.Method == "session.exited" {
			l.channel(e.Session) <- exitText(&client.Exit{Code: e.Code, Signal: e.Signal})
		}
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return l
}

func (l *exitLog) channel(id string) chan string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.exits[id] == nil {
		l.exits[id] = make(chan string, 2)
	}
	return l.exits[id]
}

func (l *exitLog) of(s *server, id string) string {
	select {
	case e := <-l.channel(id):
		return e
	case <-s.ctx.Done():
		return "never told"
	}
}

func TestEveryExitCode(t *testing.T) {
	t.Parallel()
	s := start(t)
	exits := watchExits(s)
	together(256, func(i int) {
		if got, want := ended(t, s, exits, fmt.Sprintf("exit %d", i)), fmt.Sprintf("exit %d", i); got != want {
			t.Errorf("%s, expected %s", got, want)
		}
	})
}

func TestEverySignal(t *testing.T) {
	t.Parallel()
	s := start(t)
	exits := watchExits(s)
	var signals []unix.Signal
	for n := unix.Signal(1); n <= 31; n++ {
		switch n {
		case unix.SIGCHLD, unix.SIGCONT, unix.SIGURG, unix.SIGWINCH, unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
			continue // these end nothing
		}
		if name := unix.SignalName(n); name != "" && name != "SIGINFO" { // BSD has one more that ends nothing
			signals = append(signals, n)
		}
	}
	together(len(signals), func(i int) {
		script := fmt.Sprintf("ulimit -c 0; kill -%d $$; exit 99", signals[i])
		if got, want := ended(t, s, exits, script), unix.SignalName(signals[i]); got != want {
			t.Errorf("signal %d: %s, expected %s", signals[i], got, want)
		}
	})
}

// What a program prints right before it exits is all there before anybody hears of the exit: in the
// raw transcript, in the notifications, and on the screen of the wait.
func TestLastByteComesBeforeTheExit(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	var want strings.Builder
	for i := 1; i <= size/64; i++ {
		fmt.Fprintf(&want, "%063d\n", i)
	}
	hash := sha256.Sum256([]byte(want.String()))
	s := start(t)
	dir := t.TempDir()
	type stream struct {
		got    []byte
		exited bool
	}
	var mu sync.Mutex
	streams := map[string]*stream{}
	done := make(chan string, 1000)
	err := s.Subscribe(s.ctx, func(e client.Event) {
		mu.Lock()
		defer mu.Unlock()
		x := streams[e.Session]
		if x == nil {
			x = &stream{}
			streams[e.Session] = x
		}
		switch e.Method {
		case "session.output":
			if x.exited || e.Dropped {
				t.Errorf("%s: output after the exit %v, dropped %v", e.Session, x.exited, e.Dropped)
			}
			x.got = append(x.got, e.Output...)
		case "session.exited":
			x.exited = true
			if sha256.Sum256(x.got) != hash {
				t.Errorf("%s: session.exited came after %d of %d bytes", e.Session, len(x.got), size)
			}
			x.got = nil
			done <- e.Session
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	keep := 2 * size
	together(times(8, 500), func(i int) {
		raw := filepath.Join(dir, fmt.Sprint(i))
		sess, err := s.Spawn(s.ctx, client.Config{
			Program: "sh", Args: []string{"-c", fmt.Sprintf("stty -opost; exec seq -f %%063.0f %d", size/64)},
			RawTranscriptPath: raw, TranscriptMaxChars: &keep,
		})
		if err != nil {
			t.Error(err)
			return
		}
		m, err := sess.Wait(s.ctx, client.Exited())
		if err != nil {
			t.Error(err)
			return
		}
		if last := fmt.Sprintf("%063d", size/64); !strings.HasSuffix(m.TranscriptTail, last+"\n") || !strings.Contains(m.Screen.PlainText, last) {
			t.Errorf("the last line is not in the wait's result: %.100q", m.TranscriptTail)
		}
		got, err := os.ReadFile(raw)
		if err != nil || sha256.Sum256(got) != hash {
			t.Errorf("the raw transcript has %d of %d bytes: %v", len(got), size, err)
		}
		os.Remove(raw)
		select {
		case <-done:
		case <-s.ctx.Done():
			t.Error("session.exited was not told")
		}
		if err := sess.Close(s.ctx); err != nil {
			t.Error(err)
		}
	})
}

// A descendant that holds the terminal delays the news of the leader's end by a bound, not by its
// own life.
func TestGrandchildThatHoldsTheTerminal(t *testing.T) {
	t.Parallel()
	s := start(t)
	exits := watchExits(s)
	path, say := fifo(t)
	// The kernel hangs up on the foreground group when the leader ends.
	g := s.sh("trap '' HUP; (read line < " + path + "; echo late; exec sleep 1000) & echo up; exit 3")
	if got := exits.of(s, g.ID); got != "exit 3" {
		t.Errorf("ended with %s", got)
	}
	e := g.wait(client.Exited()).Screen.Exit
	if exitText(e) != "exit 3" || !e.Draining {
		t.Errorf("exit %+v", e)
	}
	// The terminal is still read.
	say("go")
	g.wait(client.Text("up\nlate"))
	err := g.Send(s.ctx, "x")
	wantError(t, err, client.CodeSessionClosed, "session_ended")
	g.close()
}

func BenchmarkExitBehindAGrandchild(b *testing.B) {
	s := start(b)
	var worst, sum time.Duration
	for b.Loop() {
		g := s.sh("trap '' HUP; sleep 1000 & stty -echo; echo up; read x; exit 3")
		g.wait(client.Text("up"))
		g.text("\n")
		began := time.Now()
		g.wait(client.Exited())
		d := time.Since(began)
		worst, sum = max(worst, d), sum+d
		g.close()
	}
	b.ReportMetric(float64(sum.Milliseconds())/float64(b.N), "ms/exit")
	b.ReportMetric(float64(worst.Milliseconds()), "ms-worst")
}
