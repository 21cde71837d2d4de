//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/doctor"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/protocol/client"
)

// TestStoppedServer: every command says in time that the server does not answer, which process it
// is, and what to do; and kill --server lets it end by itself.
func TestStoppedServer(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--", "cat")
	pid := s.program.Process.Pid
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	// These have their answer to the greeting, and none after it.
	list, err := remote.Connect(ctx, s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	wait, err := remote.Connect(ctx, s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer wait.Close()
	programtest.Stop(t, pid)
	var all sync.WaitGroup
	defer s.program.Process.Signal(syscall.SIGCONT) // whatever happens
	says := regexp.MustCompile(fmt.Sprintf(`the server on %s, process %d, has not answered for (\d+)\S*s as it is stopped: kill -CONT %d lets it go on; ptywright kill --server, or kill -9 %d, ends it`,
		regexp.QuoteMeta(s.path), pid, pid, pid))
	for _, line := range []string{
		"ls", "ls --json", "read s1", "logs s1", "logs -f s1", "send s1 x", "kill s1", "kill --all", "spawn -- true", "repl -e print(1)",
		"wait s1 --text x --timeout 1s", "plugin explain s1",
	} {
		all.Go(func() {
			out, stderr, code := s.run(strings.Fields(line)...)
			m := says.FindStringSubmatch(stderr)
			if code != 1 || m == nil || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%s: exit %d, %s%s", line, code, out, stderr)
			} else if strings.HasPrefix(line, "wait") && len(m[1]) > 1 {
				t.Errorf("%s: it took more than nine seconds: %s", line, stderr)
			}
			if strings.Contains(line, "--json") {
				var o struct {
					Error struct {
						Reason string
						Code   int `json:"exit_code"`
					}
				}
				if err := json.Unmarshal([]byte(out), &o); err != nil || o.Error.Reason != "no_answer" || o.Error.Code != 1 {
					t.Errorf("%s: %s, %v", line, out, err)
				}
			} else if out != "" {
				t.Errorf("%s: it prints %q", line, out)
			}
		})
	}
	var silent *daemon.SilentError
	all.Go(func() {
		if _, err := list.List(ctx, remote.Show{}); !errors.As(err, &silent) {
			t.Errorf("list: %v", err)
		}
	})
	all.Go(func() {
		var silent *daemon.SilentError
		_, err := wait.Wait(ctx, "s1", remote.Condition{Matcher: client.Text("x"), Timeout: time.Second})
		if !errors.As(err, &silent) || silent.PID != pid || silent.After >= daemon.AnswerBound {
			t.Errorf("wait: %v", err)
		}
	})
	all.Go(func() {
		p := ptywright(t, "doctor", "--json")
		p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Dir(s.path))
		out, code := p.Run("")
		if code != 1 || !says.MatchString(out) || !strings.Contains(out, `"state":"`+doctor.Broken+`"`) {
			t.Errorf("doctor: exit %d, %s%s", code, out, p.Stderr)
		}
	})
	all.Wait()
	if out := s.ok("kill", "--server", "--json"); out != fmt.Sprintf(`{"ended":true,"forced":false,"socket":%q}`, s.path) {
		t.Errorf("%s", out)
	}
}

// startSilent starts such a server, and returns what ends it and tells how it ended.
func startSilent(t *testing.T, args ...string) (pid int, end func() int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{asSilent}, args...)...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceValue(func() int {
		defer time.AfterFunc(hang, func() { cmd.Process.Kill() }).Stop()
		return exitCodeOf(t, cmd.Wait())
	})
	t.Cleanup(func() {
		cmd.Process.Kill()
		end()
	})
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "listening\n" {
		t.Fatalf("%q", line)
	}
	return cmd.Process.Pid, end
}

// TestHungServerIsKilled, as it neither answers nor ends, and what is proven to be none of ours is
// left alone.
func TestHungServerIsKilled(t *testing.T) {
	t.Parallel()
	h := newHome(t, "")
	_, end := startSilent(t, filepath.Join(h.home, "socket"), "locked")
	p, out, code := h.run(nil, "kill", "--server")
	if code != 0 || out != "" || p.Stderr.String() != "ptywright: the server did not answer, and did not end when it was told to: it was killed\n" {
		t.Errorf("exit %d, %s%s", code, out, p.Stderr)
	}
	if code := end(); code != 128+int(syscall.SIGKILL) {
		t.Errorf("it ended with %d", code)
	}
	// Its socket is taken over.
	if p, out, code := h.run(nil, "spawn", "--", "true"); code != 0 || out != "s1\n" {
		t.Errorf("exit %d, %s%s", code, out, p.Stderr)
	}
	if p, out, code := h.run(nil, "kill", "--server"); code != 0 || p.Stderr.String() != "" {
		t.Errorf("exit %d, %s%s", code, out, p.Stderr)
	}

	stranger := newHome(t, "")
	pid, _ := startSilent(t, filepath.Join(stranger.home, "socket"))
	p, out, code = stranger.run(nil, "kill", "--server")
	if said := p.Stderr.String(); code != 1 || out != "" || !strings.Contains(said, fmt.Sprintf("process %d, has not answered for 3s, and is left alone, as nothing proves that it is a server of yours; if it is: kill -9 %[1]d\n", pid)) {
		t.Errorf("exit %d, %s%s", code, out, said)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Error(err)
	}
}
