package pty

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// foreground returns who has the terminal.
func foreground(t *testing.T, p *PTY) Process {
	t.Helper()
	f, err := p.Foreground()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func tell(t *testing.T, g guest) {
	t.Helper()
	if _, err := g.conn.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
}

// TestForegroundFollowsTheTerminal from the program to its job, when the job's first process has
// ended to the next, whether that was reaped or not, and back.
func TestForegroundFollowsTheTerminal(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	c := self("member", l.path, "shell", "hello", "go",
		"start:foreground:first:hello/start::second:hello|go|exit/go/exit", "go", "reap", "hello")
	var err error
	if c.Dir, err = filepath.EvalSymlinks(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, c)
	shell := l.await("shell")["shell"]
	want := Process{PID: p.PID(), Path: exe, Name: "pty.test", Dir: c.Dir, Leader: true}
	if f := foreground(t, p); f != want {
		t.Errorf("%+v, want %+v", f, want)
	}

	tell(t, shell)
	job := l.await("first", "second")
	want.Leader = false
	is := func(when string, g guest) {
		t.Helper()
		want.PID = g.pid
		if f := foreground(t, p); f != want {
			t.Errorf("%s: %+v, want %+v", when, f, want)
		}
	}
	is("a job", job["first"])
	tell(t, job["first"])
	l.ends(job["first"])
	is("its first process is a zombie", job["second"])
	tell(t, shell)
	l.await("shell")
	is("its first process was reaped", job["second"])
	tell(t, job["second"])
	l.ends(job["second"])
	want.Leader = true
	is("nobody is left of it", shell)

	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Wait()
	if f, err := p.Foreground(); !errors.Is(err, ErrExited) {
		t.Errorf("after the end: %+v, %v", f, err)
	}
	p.Close()
	if f, err := p.Foreground(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %+v, %v", f, err)
	}
}

// TestForegroundOfATerminalThatControlsNobody is the program.
func TestForegroundOfATerminalThatControlsNobody(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	c := self("member", l.path, "alone", "hello")
	c.NullInput = true
	p := start(t, c)
	l.await("alone")
	if f := foreground(t, p); f.PID != p.PID() || !f.Leader {
		t.Errorf("%+v", f)
	}
}

// TestForegroundOfWhatIsGone: a program whose file was replaced still has its name; a folder that
// was removed is none.
func TestForegroundOfWhatIsGone(t *testing.T) {
	t.Parallel()
	l := newLobby(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := self("member", l.path, "gone", "hello")
	program := c.Path
	c.Path, c.Dir = filepath.Join(dir, "a name that is longer than fifteen"), filepath.Join(dir, "work")
	// Not written by this process: what another test forks meanwhile would have the copy open, and
	// it could not be executed.
	if err := errors.Join(exec.Command("cp", program, c.Path).Run(), os.Mkdir(c.Dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	p := start(t, c)
	g := l.await("gone")["gone"]
	if err := errors.Join(os.Remove(c.Path), os.Remove(c.Dir)); err != nil {
		t.Fatal(err)
	}
	if f, want := foreground(t, p), (Process{PID: g.pid, Path: c.Path, Name: "a name that is ", Leader: true}); f != want {
		t.Errorf("%+v, want %+v", f, want)
	}
}

// TestAStaleGroupIsNobody: the number of a group that has ended may be that of a process of another
// terminal.
func TestAStaleGroupIsNobody(t *testing.T) {
	t.Parallel()
	p, other := start(t, self("cat")), start(t, self("cat"))
	expect(t, p, "ready")
	expect(t, other, "ready")
	if f, ok := p.describe(other.PID(), other.PID()); ok {
		t.Errorf("of another terminal: %+v", f)
	}
	if pids := p.members(other.PID()); len(pids) > 0 {
		t.Errorf("of another terminal: %v", pids)
	}
	if f, ok := p.describe(1<<30, 1<<30); ok { // more than the kernel gives out
		t.Errorf("of nobody: %+v", f)
	}
	if f, ok := p.describe(p.PID(), p.PID()); !ok || f.PID != p.PID() {
		t.Errorf("its own: %+v, %v", f, ok)
	}
}

// TestForegroundWhileJobsComeAndGo is always a process of the program's, by any number of askers,
// until the program has ended.
func TestForegroundWhileJobsComeAndGo(t *testing.T) {
	t.Parallel()
	p := start(t, Command{Path: "/bin/sh", Args: []string{"-c", "set -m; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do (exit) | cat </dev/null | cat; /bin/true; done"}, Env: os.Environ()})
	var askers sync.WaitGroup
	for range 4 {
		askers.Go(func() {
			for {
				f, err := p.Foreground()
				if errors.Is(err, ErrExited) {
					return
				}
				if err != nil || f.PID <= 0 || f.Leader != (f.PID == p.PID()) {
					t.Errorf("%+v, %v", f, err)
					return
				}
			}
		})
	}
	drain(t, p)
	askers.Wait()
}

// BenchmarkForeground asks who has the terminal: a process, and the rest of a pipeline whose first
// process has ended.
func BenchmarkForeground(b *testing.B) {
	p, err := Start(Command{Path: "/bin/sh", Args: []string{"-c", "set -m; (exit) | sh -c 'echo ready; read x </dev/tty'"}, Env: os.Environ()})
	if err != nil {
		b.Skip("needs a shell with job control (Debian package dash): ", err)
	}
	defer p.Close()
	defer p.Kill(b.Context())
	if _, err := p.Next(); err != nil {
		b.Fatal(err)
	}
	alone, err := Start(Command{Path: "/bin/cat", Env: os.Environ()})
	if err != nil {
		b.Fatal(err)
	}
	defer alone.Close()
	defer alone.Kill(b.Context())
	for name, p := range map[string]*PTY{"group leader": alone, "group leader is gone": p} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Foreground(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
