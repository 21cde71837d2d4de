package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/serve"
	"github.com/ptywright/ptywright/protocol/client"
)

// families are programs that leave descendants of every kind, with the mark where %s stands. Each
// prints "up" when all its processes are there.
var families = []struct{ name, script string }{
	{"plain", `sleep 1000.%s & echo up; exec sleep 1000.%[1]s`},
	{"ignores hang-ups", `trap "" HUP TERM INT QUIT; sleep 1000.%s & echo up; while :; do sleep 1000.%[1]s; done`},
	{"stopped", `sh -c 'kill -STOP $$; exec sleep 1000.%s' & echo up; exec sleep 1000.%[1]s`},
	{"session of its own", `setsid sleep 1000.%s & echo up; exec sleep 1000.%[1]s`},
	{"daemon", `(setsid sh -c 'trap "" HUP TERM; sleep 1000.%s &' <&- >&- 2>&-); echo up; exec sleep 1000.%[1]s`},
	{"daemon without the mark", `(setsid env -i /bin/sh -c '/bin/sleep 1000.%s &' <&- >&- 2>&-); echo up; exec sleep 1000.%[1]s`},
	{"leader that has ended", `trap "" HUP; (setsid sleep 1000.%s &); sleep 1000.%[1]s & echo up`},
}

// raise starts every family in a server.
func raise(t *testing.T, s *server, mark string) {
	t.Helper()
	need(t, "setsid", "util-linux")
	for _, f := range families {
		sess := s.with(client.Config{Program: "sh", Args: []string{"-c", fmt.Sprintf(f.script, mark)}})
		sess.wait(client.Text("up"))
	}
	if n := len(marked(t, mark)); n < 2*len(families) {
		t.Fatalf("only %d processes have been started", n)
	}
}

// never is a text that no program writes.
const never = "never"

// watched starts a server whose pipe tells when a wait for never has been written to it.
func watched(t *testing.T) (s *server, asked <-chan struct{}) {
	t.Helper()
	p := ptywright(t, "serve", "--stdio")
	in, out := p.StartPiped()
	waited := make(chan struct{})
	c := client.New(&pipeWatch{ReadCloser: out, in: in, waited: waited})
	ctx, cancel := context.WithTimeout(context.Background(), 3*hang)
	t.Cleanup(func() {
		c.Close()
		cancel()
		if code := exitCodeOf(t, p.Wait()); code != 0 || p.Stderr.String() != "" {
			t.Errorf("exit code %d, standard error %q", code, p.Stderr)
		}
		noneLeft(t, p.Mark)
	})
	return &server{Client: c, program: p, t: t, ctx: ctx}, waited
}

type pipeWatch struct {
	io.ReadCloser
	in     io.WriteCloser
	waited chan struct{}
}

func (w *pipeWatch) Write(b []byte) (int, error) {
	n, err := w.in.Write(b)
	if bytes.Contains(b, []byte(never)) {
		close(w.waited)
	}
	return n, err
}

func (w *pipeWatch) Close() error { return errors.Join(w.in.Close(), w.ReadCloser.Close()) }

func TestServerThatEndsLeavesNoProcess(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *os.Process){
		"end of input": func(*os.Process) {}, // start's own
		"SIGTERM":      func(p *os.Process) { p.Signal(unix.SIGTERM) },
		"SIGINT":       func(p *os.Process) { p.Signal(unix.SIGINT) },
		"SIGHUP":       func(p *os.Process) { p.Signal(unix.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, asked := watched(t)
			raise(t, s, s.program.Mark)
			pending := make(chan error, 1)
			if name != "end of input" {
				go func() {
					_, err := s.Session("s1").Wait(s.ctx, client.Text(never))
					pending <- err
				}()
				<-asked
				s.Session("s2").Screen(s.ctx, client.AllCells) // the wait has been read before it
			}
			end(s.program.Process)
			if name == "end of input" {
				return
			}
			<-s.Done()
			if e := wantError(t, <-pending, client.CodeCancelled, "cancelled"); e.Evidence() == nil {
				t.Error("the cancelled wait has no evidence")
			}
		})
	}
}

func TestSessionThatIsClosedLeavesNoProcess(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"session.close", "session.kill"} {
		s := start(t)
		raise(t, s, s.program.Mark)
		for _, info := range s.list() {
			s.call(method, map[string]string{"session": info.Session}, nil)
		}
		for pid, what := range marked(t, s.program.Mark) {
			// Out of reach of one session: a daemon that has dropped every sign of it. The server's
			// end finds it.
			if !strings.Contains(what, "serve") && !strings.Contains(what, serve.WatcherName) && !strings.Contains(what, "/bin/sleep") {
				t.Errorf("after %s process %d is left: %s", method, pid, what)
			}
		}
	}
}

// A server that is killed outright ends nothing itself: its watcher does, and then ends.
func TestKilledServerLeavesNoTerminalProcess(t *testing.T) {
	t.Parallel()
	p := ptywright(t, "serve", "--stdio")
	s := launch(t, p)
	mark := p.Mark
	for _, f := range families[:3] {
		s.with(client.Config{Program: "sh", Args: []string{"-c", fmt.Sprintf(f.script, mark)}}).wait(client.Text("up"))
	}
	there := marked(t, mark)
	watchers := 0
	for _, what := range there {
		if strings.Contains(what, serve.WatcherName) {
			watchers++
		}
	}
	if watchers != 1 || len(there) < 8 {
		t.Fatalf("%d watchers, processes %v", watchers, there)
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	t.Logf("all have ended after %v", gone(t, there))
	if code := exitCodeOf(t, s.Close()); code != 128+int(unix.SIGKILL) {
		t.Errorf("exit %d", code)
	}
	noneLeft(t, mark)
}

func BenchmarkOrphansOfAKilledServer(b *testing.B) {
	var worst time.Duration
	for b.Loop() {
		p := ptywright(b, "serve", "--stdio")
		s := launch(b, p)
		for _, f := range families[:3] {
			s.with(client.Config{Program: "sh", Args: []string{"-c", fmt.Sprintf(f.script, p.Mark)}}).wait(client.Text("up"))
		}
		there := marked(b, p.Mark)
		p.Process.Kill()
		worst = max(worst, gone(b, there))
		s.Close()
	}
	b.ReportMetric(float64(worst.Milliseconds()), "ms-worst")
}

// A server that inherited ignored signals, as from nohup, or blocked ones, as from perf record,
// starts programs that neither ignore nor block them.
func TestIgnoredAndBlockedSignalsAreNotHandedOn(t *testing.T) {
	t.Parallel()
	p := limited(t, `trap "" HUP INT QUIT TERM USR1`, "serve", "--stdio")
	// The server takes the mask of the thread that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var block, before unix.Sigset_t
	block.Val[0] = 1<<(unix.SIGWINCH-1) | 1<<(unix.SIGUSR2-1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &block, &before); err != nil {
		t.Fatal(err)
	}
	defer unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	s := startProgram(t, p)
	// Not by way of a shell, which may unblock signals itself.
	g := s.with(client.Config{Program: "grep", Args: []string{"-E", "Sig(Ign|Blk)", "/proc/self/status"}})
	m := g.wait(client.Exited())
	if got := strings.Join(strings.Fields(m.Screen.PlainText), " "); got != "SigBlk: 0000000000000000 SigIgn: 0000000000000000" {
		t.Errorf("a program starts with %q", got)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "SigBlk:")
	var mask uint64
	if _, err := fmt.Sscanf(rest, "%x", &mask); err != nil || mask&block.Val[0] != block.Val[0] {
		t.Errorf("the server itself blocks %x (%v), so the test shows nothing", mask, err)
	}
}
