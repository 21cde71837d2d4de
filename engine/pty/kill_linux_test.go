package pty

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A member is described by the words of playMember; "|" is "/" one level deeper.
var trees = map[string]struct {
	leader []string // its words
	came   []string // whom to await
	leave  bool     // the leader is told to exit, and is reaped, before the kill
	mark   bool     // without it there is nothing but the mark to tell a member by
}{
	"leader alone":          {leader: []string{"hello"}, came: []string{"leader"}},
	"ignores HUP and TERM":  {leader: []string{"ignore", "hello"}, came: []string{"leader"}},
	"stopped leader":        {leader: []string{"hello", "stop"}, came: []string{"leader"}},
	"stopped child":         {leader: []string{"start:group:child:hello/stop", "hello"}, came: []string{"leader", "child"}},
	"background job":        {leader: []string{"start:group:job:ignore/hello", "hello"}, came: []string{"leader", "job"}},
	"setsid child":          {leader: []string{"start:setsid:child:ignore/hello", "hello"}, came: []string{"leader", "child"}},
	"leader has exited":     {leader: []string{"start:group:job:ignore/hello", "hello", "go", "exit"}, came: []string{"leader", "job"}, leave: true},
	"daemon with the mark":  {leader: []string{"start:setsid:middle:hello/start:setsid:daemon:silent|ignore|hello/exit", "hello"}, came: []string{"leader", "middle", "daemon"}, mark: true},
	"daemon, leader gone":   {leader: []string{"start:setsid:middle:hello/start:setsid:daemon:silent|ignore|hello/exit", "hello", "go", "exit"}, came: []string{"leader", "middle", "daemon"}, leave: true, mark: true},
	"holds only the tty":    {leader: []string{"start:setsid,noenv:middle:hello/start:setsid:holder:ignore|hello/exit", "hello"}, came: []string{"leader", "middle", "holder"}},
	"tty only, leader gone": {leader: []string{"start:setsid,noenv:middle:hello/start:setsid:holder:ignore|hello/exit", "hello", "go", "exit"}, came: []string{"leader", "middle", "holder"}, leave: true},
	"has only the session":  {leader: []string{"start:group,noenv:middle:hello/start:group:job:silent|ignore|hello/exit", "hello"}, came: []string{"leader", "middle", "job"}},
	"session, leader gone":  {leader: []string{"start:group,noenv:middle:hello/start:group:job:silent|ignore|hello/exit", "hello", "go", "exit"}, came: []string{"leader", "middle", "job"}, leave: true},
}

func TestKillReachesTheWholeTree(t *testing.T) {
	for name, c := range trees {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLobby(t)
			p, guests := startTree(t, l, c.leader, c.came, c.mark)
			if c.leave {
				guests["leader"].conn.Write([]byte{1})
				p.Wait()
			}
			if left, err := Left([]*PTY{p}); err != nil || !left[0] {
				t.Errorf("before it, Left says %v, %v", left, err)
			}
			began := time.Now()
			if err := p.Kill(t.Context()); err != nil {
				t.Fatal(err)
			}
			if left, err := Left([]*PTY{p}); err != nil || left[0] {
				t.Errorf("after it, Left says %v, %v", left, err)
			}
			t.Logf("took %v", time.Since(began).Round(time.Millisecond))
			l.ended(guests)
			select {
			case <-p.done:
			default:
				t.Error("Kill has returned before the leader was reaped")
			}
			if err := p.Kill(t.Context()); err != nil {
				t.Errorf("a second Kill: %v", err)
			}
		})
	}
}

func startTree(t *testing.T, l *lobby, words, came []string, mark bool) (*PTY, map[string]guest) {
	t.Helper()
	c := self("member", append([]string{l.path, "leader"}, words...)...)
	if mark {
		c.Mark = "PTY_TEST_MARK=" + l.path
	}
	p := start(t, c)
	guests := l.await(came...)
	if middle, ok := guests["middle"]; ok {
		l.ends(middle) // what it has started is an orphan now
	}
	return p, guests
}

func TestKillWithoutGrace(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	p, guests := startTree(t, l, []string{"start:setsid:child:ignore/hello", "ignore", "hello"}, []string{"leader", "child"}, false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Kill(ctx); err != nil {
		t.Fatal(err)
	}
	l.ended(guests)
	if e := p.Wait(); e.Signal != "SIGKILL" {
		t.Errorf("%+v", e)
	}
}

// TestKillThatDidNotRunForLong: a sweep that was not given the processor between its beginning and
// its end still sends SIGKILL, and gives that its time.
func TestKillThatDidNotRunForLong(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	p, _ := startTree(t, l, []string{"ignore", "hello"}, []string{"leader"}, false)
	s := newSweep([]target{{pty: p}})
	s.began = s.began.Add(-time.Minute)
	if err := s.run(t.Context()); err != nil {
		t.Error(err)
	}
	if p.Wait().Signal != "SIGKILL" {
		t.Errorf("%+v", p.Wait())
	}
}

func TestKillHangsUpFirst(t *testing.T) {
	t.Parallel()
	hangsUpFirst(t, func() *PTY {
		p := start(t, self("cat"))
		expect(t, p, "ready")
		return p
	})
}

// hangsUpFirst kills programs until one has ended by the hang-up: on a busy machine one may not get
// a processor in the 100 ms that it has, but not every one.
func hangsUpFirst(t *testing.T, start func() *PTY) {
	t.Helper()
	DefaultSignals() // tests may be run by nohup
	for range 20 {
		p := start()
		if err := p.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		switch e := p.Wait(); e.Signal {
		case "SIGHUP":
			return
		case "SIGTERM":
		default:
			t.Fatalf("%+v", e)
		}
	}
	t.Error("20 programs were hung up, and none ended by it")
}

// TestKillWakesWhatIsStopped: a stopped program acts on no signal but SIGKILL until it
// is continued.
func TestKillWakesWhatIsStopped(t *testing.T) {
	t.Parallel()
	hangsUpFirst(t, func() *PTY {
		p, _ := startTree(t, newLobby(t), []string{"hello", "stop"}, []string{"leader"}, false)
		if err := unix.Waitid(unix.P_PID, p.PID(), nil, unix.WSTOPPED|unix.WNOWAIT, nil); err != nil {
			t.Fatal(err)
		}
		return p
	})
}

func TestKillKeepsTheOutput(t *testing.T) {
	t.Parallel()
	p := start(t, self("cat"))
	p.SetReadDeadline(time.Now().Add(hang))
	expect(t, p, "ready")
	if _, err := p.Write([]byte("last words\n")); err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := drain(t, p); !strings.Contains(string(got), "last words") {
		t.Errorf("%q", got)
	}
}

// TestKillWinsAgainstForks kills while 63 processes that ignore HUP and TERM are being
// forked, half of them into sessions of their own.
func TestKillWinsAgainstForks(t *testing.T) {
	for _, mark := range []bool{true, false} {
		t.Run(fmt.Sprintf("mark %v", mark), func(t *testing.T) {
			l := newLobby(t)
			c := self("bomb", l.path, "5")
			ctx := t.Context()
			if mark {
				c.Mark = "PTY_TEST_MARK=" + l.path
			} else {
				// Only the parent tells who they are, so no parent may end before it
				// was asked: no hang-up.
				cancelled, cancel := context.WithCancel(ctx)
				cancel()
				ctx = cancelled
			}
			p := start(t, c)
			l.await("bomb")
			if err := p.Kill(ctx); err != nil {
				t.Fatal(err)
			}
			l.ended(nil)
		})
	}
}

// TestKillsThatOverlap run on the same sessions in opposite orders while these are closed.
func TestKillsThatOverlap(t *testing.T) {
	t.Parallel()
	for range 5 {
		var ps []*PTY
		for range 4 {
			p := start(t, self("cat"))
			expect(t, p, "ready")
			ps = append(ps, p)
		}
		back := slices.Clone(ps)
		slices.Reverse(back)
		done := make(chan error, 6)
		go func() { done <- KillAll(t.Context(), append(ps[:4:4], ps...)) }()
		go func() { done <- KillAll(t.Context(), back) }()
		for _, p := range ps {
			go func() { done <- p.Close() }()
		}
		for range 6 {
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(hang):
				t.Fatal("they wait for each other")
			}
		}
	}
}

func TestKillAllEndsAll(t *testing.T) {
	t.Parallel()
	const n = 20
	l := newLobby(t)
	var ps []*PTY
	for range n {
		ps = append(ps, start(t, self("member", l.path, "leader", "start:setsid:child:hello", "hello")))
	}
	for came := 0; came < 2*n; came++ {
		select {
		case g := <-l.guest:
			defer g.conn.Close()
		case <-time.After(hang):
			t.Fatalf("%d came", came)
		}
	}
	if err := KillAll(t.Context(), ps); err != nil {
		t.Fatal(err)
	}
	l.ended(nil)
	if err := KillAll(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

func TestKillLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	// A neighbour with another mark that writes to this terminal, a process of ours, and
	// ourselves.
	p, _ := startTree(t, l, []string{"ignore", "hello"}, []string{"leader"}, true)
	other := exec.Command(os.Args[0], roleArg, "member", l.path, "other", "hello")
	other.Env = append(os.Environ(), "PTY_TEST_MARK=another")
	tty, err := os.OpenFile(slaveName(t, p), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	other.Stdout = tty
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	g := l.await("other")["other"]
	defer func() { g.conn.Close(); other.Wait() }()
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.alive(g)
}

func slaveName(t *testing.T, p *PTY) string {
	t.Helper()
	var n int
	if err := p.ioctl("ask for the slave", func(fd int) (err error) {
		n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("/dev/pts/%d", n)
}

func TestKillDuringCloseAndClosed(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	p, guests := startTree(t, l, []string{"start:setsid:child:ignore/hello", "ignore", "hello"}, []string{"leader", "child"}, false)
	closed := make(chan error)
	go func() { closed <- p.Close() }()
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	l.ended(guests)

	p, guests = startTree(t, l, []string{"ignore", "hello"}, []string{"leader"}, false)
	p.Close()
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.ended(guests)
}

// The kernel gives a closed terminal's name to the next one that is opened, so a kill that comes
// after Close must not go by that name any more: here the first program's kill would end the
// second.
func TestKillAfterCloseLeavesTheNextOwnerOfTheTerminalAlone(t *testing.T) {
	for range 100 { // tests of other packages open terminals too
		first := start(t, self("cat"))
		name := slaveName(t, first)
		expect(t, first, "ready")
		first.Close()
		first.Wait() // hung up
		second := start(t, self("cat"))
		if slaveName(t, second) != name {
			continue
		}
		expect(t, second, "ready")
		if err := first.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if p, err := lookAt(second.PID()); err != nil || p.dead {
			t.Error("it ended the program on the next terminal of that name")
		}
		return
	}
	t.Fatal("no terminal ever had the name of the one before")
}

func TestAStaleIDIsNeverSignalled(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	p, guests := startTree(t, l, []string{"hello"}, []string{"leader"}, false)
	if _, err := hold(id{p.PID(), p.tree.start - 1}); !errors.Is(err, unix.ESRCH) {
		t.Errorf("a handle on another process with that pid: %v", err)
	}
	old := handle{-1, id{p.PID(), p.tree.start - 1}} // as on a kernel without pidfds
	if err := old.signal(unix.SIGKILL); !errors.Is(err, unix.ESRCH) {
		t.Error(err)
	}
	l.alive(guests["leader"])
	if err := (handle{-1, id{p.PID(), p.tree.start}}).signal(unix.SIGKILL); err != nil {
		t.Error(err)
	}
	if e := p.Wait(); e.Signal != "SIGKILL" {
		t.Error(e)
	}
}

func TestWithoutAProcessTableGroupsAreKilled(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	p, guests := startTree(t, l, []string{"start::child:ignore/hello", "ignore", "hello"}, []string{"leader", "child"}, false)
	cause := errors.New("no table")
	if err := newSweep([]target{{pty: p}}).blind(cause); !errors.Is(err, cause) || !strings.Contains(err.Error(), "descendants may be left") {
		t.Error(err)
	}
	if e := p.Wait(); e.Signal != "SIGKILL" {
		t.Errorf("%+v", e)
	}
	l.ends(guests["child"])
}

func TestSurvivorsAreNamed(t *testing.T) {
	err := error(&SurvivorsError{PIDs: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}})
	if got := err.Error(); !strings.Contains(got, "[1 2 3 4 5 6 7 8] and 2 more") {
		t.Error(got)
	}
}

// TestKillGivesUp has a debugger hold the program, so that it cannot be reaped.
func TestKillGivesUp(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	p, _ := startTree(t, l, []string{"hello"}, []string{"leader"}, false)
	tracer := exec.Command(os.Args[0], roleArg, "tracer", l.path, fmt.Sprint(p.PID()))
	var said strings.Builder
	tracer.Stderr = &said
	if err := tracer.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); tracer.Wait() }()
	select {
	case g := <-l.guest:
		defer g.conn.Close()
	case <-ended:
		t.Skipf("ptrace is not allowed here: %s", said.String())
	case <-time.After(hang):
		t.Fatal("the tracer does not come")
	}
	var survivors *SurvivorsError
	if err := p.Kill(t.Context()); !errors.As(err, &survivors) || !slices.Equal(survivors.PIDs, []int{p.PID()}) {
		t.Errorf("%v", err)
	}
	tracer.Process.Kill()
	<-ended
	if e := p.Wait(); e.Code != -1 || e.Signal == "" {
		t.Errorf("%+v", e)
	}
}

// servePowerless starts a set-uid program that becomes another user's, and kills it.
func servePowerless(lobby, program string) {
	c := self("member", lobby, "leader", "start:group:child:ignore/hello", "root", "ignore", "hello")
	c.Path = program
	p, err := Start(c)
	must(err)
	conn := hello(lobby, "server")
	awaitWord(conn)
	err = p.Kill(context.Background())
	var survivors *SurvivorsError
	if !errors.As(err, &survivors) || !slices.Equal(survivors.PIDs, []int{p.PID()}) {
		must(fmt.Errorf("want %d as survivor, got: %w", p.PID(), err))
	}
	if err := p.Signal(SignalTerm); !errors.Is(err, os.ErrPermission) {
		must(fmt.Errorf("signal: %w", err))
	}
}

func TestKillOfAnotherUsersProgram(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can make a program of another user")
	}
	l := newLobby(t)
	dir := filepath.Dir(l.path)
	program, ordinary := filepath.Join(dir, "setuid"), filepath.Join(dir, "ordinary")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Another process writes them: what this one writes, a child that is started meanwhile has open, and
	// then it cannot be executed.
	for _, err := range []error{
		exec.Command("cp", self, ordinary).Run(), exec.Command("cp", self, program).Run(), os.Chmod(ordinary, 0o755), os.Chmod(program, 0o755|os.ModeSetuid), os.Chmod(dir, 0o755), os.Chmod(l.path, 0o777),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	server := exec.Command(ordinary, roleArg, "server", l.path, "powerless", program)
	server.Dir = "/"
	const nobody = 65534
	server.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	var said strings.Builder
	server.Stderr = &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	var g map[string]guest
	came, gone := make(chan struct{}), make(chan struct{})
	go func() { defer close(came); g = l.awaitUnless(gone, "server", "leader", "child") }()
	select {
	case <-came:
	case err := <-ended:
		close(gone)
		<-came
		t.Skipf("set-uid programs do not work here: %v: %s", err, said.String())
	}
	g["server"].conn.Write([]byte{1})
	if err := <-ended; err != nil {
		t.Errorf("%v: %s", err, said.String())
	}
	l.alive(g["leader"])
	g["leader"].conn.Close()
	l.ends(g["leader"])
	l.ends(g["child"])
}

// playServer is a server with children. Its first argument is the lobby, the second
// says what it does: "watch" starts a watcher, "adopt" adopts.
func playServer(a []string) {
	lobby, what := a[0], a[1]
	DefaultSignals()
	switch what {
	case "watch":
		serveWatched(lobby)
	case "adopt":
		serveAdopting(lobby)
	case "powerless":
		servePowerless(lobby, a[2])
	}
}
