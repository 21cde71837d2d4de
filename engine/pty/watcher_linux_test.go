package pty

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// serveWatched starts four sessions, records them, takes one off the record again, and
// stays. The lobby's word ends it in good order.
func serveWatched(lobby string) {
	w, err := StartWatcher([]string{os.Args[0], roleArg, "watcher", lobby})
	must(err)
	sessions := map[string][]string{
		"plain":    {"hello"},
		"ignoring": {"ignore", "hello"},
		"parent":   {"start:setsid,noenv:child:silent/ignore/hello", "ignore", "hello"},
		"origin":   {"start:setsid:middle:hello/start:setsid:daemon:silent|ignore|hello/exit", "hello"},
		"leaver":   {"start:group,noenv:second:hello/start:group:left:silent|ignore|hello/exit", "hello", "go", "exit"},
		"clinger":  {"start:setsid,noenv:between:hello/start:setsid:holder:ignore|hello/exit", "hello"},
		"removed":  {"ignore", "hello"},
	}
	for name, words := range sessions {
		c := self("member", append([]string{lobby, name}, words...)...)
		c.Mark = "PTY_TEST_MARK=" + lobby + " " + name // another test has a server, too
		p, err := Start(c)
		must(err)
		w.Add(p)
		if name == "removed" {
			w.Remove(p)
		}
		go p.Wait()
	}
	conn := hello(lobby, "server")
	watcher, err := net.Dial("unix", lobby)
	must(err)
	fmt.Fprintf(watcher, "watcher %d\n", w.PID())
	awaitWord(conn)
	w.mu.Lock()
	clear(w.want) // as if all had been killed and removed
	w.mu.Unlock()
	must(w.Close())
}

var watched = []string{
	"server", "watcher", "plain", "ignoring", "parent", "child", "origin", "middle", "daemon", "leaver", "second", "left",
	"clinger", "between", "holder", "removed",
}

func startServer(t *testing.T, l *lobby, what string) *exec.Cmd {
	t.Helper()
	server := exec.Command(os.Args[0], roleArg, "server", l.path, what)
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	return server
}

func TestNothingOutlivesAKilledServer(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	server := startServer(t, l, "watch")
	g := l.await(watched...)
	l.ends(g["middle"])
	l.ends(g["second"])
	l.ends(g["between"])
	g["leaver"].conn.Write([]byte{1}) // the server reaps it and tells the watcher
	l.ends(g["leaver"])

	began := time.Now()
	server.Process.Signal(unix.SIGKILL)
	for name, who := range g {
		if name != "removed" {
			l.ends(who)
		}
	}
	t.Logf("all gone after %v", time.Since(began).Round(time.Millisecond))
	l.alive(g["removed"])
	if left := l.present(); !slices.Equal(left, []int{g["removed"].pid}) {
		t.Errorf("processes %v are left, want only %d, which was removed", left, g["removed"].pid)
	}
}

func TestWatcherEndsWithTheServer(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	server := startServer(t, l, "watch")
	g := l.await(watched...)
	l.ends(g["middle"])
	l.ends(g["second"])
	l.ends(g["between"])
	if w, err := lookAt(g["watcher"].pid); err != nil || w.sid != g["watcher"].pid {
		t.Errorf("the watcher has no session of its own: %+v, %v", w, err)
	}
	links, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", g["watcher"].pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range links {
		link, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", g["watcher"].pid, e.Name()))
		want := map[string]string{"0": "pipe:", "1": os.DevNull, "2": os.DevNull}[e.Name()]
		if want == "" && !ofRuntime(link) || !strings.HasPrefix(link, want) {
			t.Errorf("the watcher's descriptor %s is %s", e.Name(), link)
		}
	}
	// TERM to all of a name must not end the watcher before its server.
	unix.Kill(g["watcher"].pid, unix.SIGTERM)
	l.alive(g["watcher"])
	g["server"].conn.Write([]byte{1})
	if err := server.Wait(); err != nil {
		t.Fatal(err)
	}
	l.ends(g["watcher"])
	l.alive(g["ignoring"])
	l.alive(g["removed"])
}

func TestAWatcherThatDoesNotReadBlocksNobody(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	w, err := StartWatcher([]string{os.Args[0], roleArg, "deaf", l.path})
	if err != nil {
		t.Fatal(err)
	}
	g := l.await("deaf")["deaf"]
	// Far more than a pipe takes, and every session is gone again.
	const n, mark = 400, 1000
	for round := range 5 {
		for i := range n {
			p := &PTY{done: make(chan struct{})}
			p.tree = tree{pid: 1<<30 + round*n + i, start: 1, mark: "M=" + strings.Repeat("x", mark)}
			w.Add(p)
			w.Remove(p)
		}
	}
	w.mu.Lock()
	wanted, told := len(w.want), len(w.told)
	w.mu.Unlock()
	if wanted != 0 || told > n {
		t.Errorf("it keeps %d records and %d that it has told", wanted, told)
	}
	var kept []*PTY
	for i := range n {
		p := &PTY{done: make(chan struct{})}
		p.tree = tree{pid: 1<<30 + i, start: 2, mark: "M=" + strings.Repeat("x", mark)}
		w.Add(p)
		kept = append(kept, p)
	}
	for _, p := range kept {
		w.Remove(p)
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("Close of a watcher that may hold stale records: %v", err)
	}
	l.ended(map[string]guest{"deaf": g})
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestStartWatcherErrors(t *testing.T) {
	if _, err := StartWatcher(nil); err == nil {
		t.Error("no error")
	}
	if _, err := StartWatcher([]string{"/no/such/watcher"}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestRecordsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := tree{
			pid: rapid.IntRange(2, 1<<30).Draw(t, "pid"), start: rapid.Uint64().Draw(t, "start"),
			reaped: rapid.Uint64().Draw(t, "reaped"), mark: rapid.String().Draw(t, "mark"),
			terminal: terminal{rapid.Uint64().Draw(t, "tty"), rapid.Uint64().Draw(t, "dev"), rapid.Uint64().Draw(t, "ino")},
			made:     rapid.Uint64().Draw(t, "made"),
		}
		got, err := readRecords(strings.NewReader(record(tr)))
		if err != nil || got[id{tr.pid, tr.start}] != tr || len(got) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		removed := record(tr) + fmt.Sprintf("remove %d %d\n", tr.pid, tr.start)
		if got, err := readRecords(strings.NewReader(removed)); err != nil || len(got) != 0 {
			t.Fatalf("%+v, %v", got, err)
		}
	})
}

func TestRemoveIsOfOneProcessNotOfItsPid(t *testing.T) {
	old, young := tree{pid: 100, start: 1, mark: "M=1"}, tree{pid: 100, start: 9, mark: "M=2"}
	got, err := readRecords(strings.NewReader(record(old) + record(young) + "remove 100 1\n"))
	if err != nil || len(got) != 1 || got[id{100, 9}] != young {
		t.Errorf("%+v, %v", got, err)
	}
}

func FuzzReadRecords(f *testing.F) {
	f.Add("add 12 3 4 5 6 7 8 \"K=V\"\nremove 12 3\n")
	f.Add("add 1 3 4 5 6 7 8 \"\"\n")
	f.Add("add 12 3 4 5 6 7 8 `x\nadd")
	f.Add("remove")
	f.Fuzz(func(t *testing.T, s string) {
		trees, err := readRecords(strings.NewReader(s))
		for i, tr := range trees {
			if i.pid <= 1 || tr.pid != i.pid || tr.start != i.start {
				t.Errorf("%+v under %+v", tr, i)
			}
		}
		var lines int
		for sc := bufio.NewScanner(strings.NewReader(s)); sc.Scan(); lines++ {
		}
		if err == nil && len(trees) > lines {
			t.Errorf("%d records of %d lines", len(trees), lines)
		}
	})
}

// Orphans.

// serveAdopting starts a session of which an orphan is left that bears no sign of it, and
// children of os/exec beside it, and checks who is ended and whose status is taken.
func serveAdopting(lobby string) {
	must(AdoptOrphans())
	must(AdoptOrphans())

	quits := exec.Command(os.Args[0], roleArg, "exit", "23")
	must(quits.Start())
	stays := exec.Command(os.Args[0], roleArg, "member", lobby, "own", "hello")
	stays.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	must(stays.Start())

	p, err := Start(self("member", lobby, "leader", "start:setsid,noenv:middle:hello/start:setsid:lost:silent|ignore|hello/exit", "hello"))
	must(err)
	brief, err := Start(self("member", lobby, "brief", "start:setsid,noenv:second:hello/start:setsid:gone:silent|hello|go/exit", "hello"))
	must(err)
	conn := hello(lobby, "server")
	var orphan int
	_, err = fmt.Fscanln(conn, &orphan)
	must(err)
	// It is ending, and is reaped when SIGCHLD comes. Meanwhile it can be waited for.
	for err := error(nil); err != unix.ECHILD; {
		err = unix.Waitid(unix.P_PID, orphan, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}

	// quits is a zombie by now or soon, and nobody waits for it yet.
	must(unix.Waitid(unix.P_PID, quits.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil))
	for reapAdopted() {
	}
	var exit *exec.ExitError
	if err := quits.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 23 {
		must(fmt.Errorf("the status of a child of os/exec was lost: %w", err))
	}
	must(KillAll(context.Background(), []*PTY{p, brief}))
	fmt.Fprintln(conn, "killed")
	awaitWord(conn)
	must(KillAdopted(context.Background()))
	fmt.Fprintln(conn, "adopted")
	awaitWord(conn)

	for _, pid := range childPIDs() {
		if pid != stays.Process.Pid {
			must(fmt.Errorf("child %d is left", pid))
		}
	}
	must(stays.Process.Kill())
	if err := stays.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGKILL {
		must(fmt.Errorf("the status of a child of os/exec was lost: %w", err))
	}
}

func TestAdoptedOrphans(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	server := startServer(t, l, "adopt")
	g := l.await("server", "own", "leader", "middle", "lost", "brief", "second", "gone")
	l.ends(g["middle"])
	l.ends(g["second"])
	l.ends(g["between"])
	if p, err := lookAt(g["lost"].pid); err != nil || p.ppid != server.Process.Pid {
		t.Errorf("the orphan was not adopted: %+v, %v", p, err)
	}
	// One orphan ends by itself and is reaped in the background.
	g["gone"].conn.Write([]byte{1})
	g["gone"].conn.Close()
	l.ends(g["gone"])
	fmt.Fprintln(g["server"].conn, g["gone"].pid)

	reply := bufio.NewReader(g["server"].conn)
	g["server"].conn.SetReadDeadline(time.Now().Add(hang))
	step := func(want string) {
		t.Helper()
		if got, err := reply.ReadString('\n'); got != want+"\n" {
			t.Fatalf("%q, %v", got, err)
		}
	}
	step("killed")
	l.ends(g["leader"])
	l.alive(g["lost"]) // out of reach of Kill, as its documentation says
	g["server"].conn.Write([]byte{1})
	step("adopted")
	l.ends(g["lost"])
	l.alive(g["own"])
	g["server"].conn.Write([]byte{1})
	if err := server.Wait(); err != nil {
		t.Fatal(err)
	}
	if left := l.present(); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}
