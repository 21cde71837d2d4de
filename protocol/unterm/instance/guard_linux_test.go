package instance

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// await reads active.json each time it is replaced, until it names the instance; nobody calls
// anything that mends.
func await(t *testing.T, root, id string) {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "inotify")
	defer f.Close()
	if _, err := unix.InotifyAddWatch(fd, root, unix.IN_MOVED_TO); err != nil {
		t.Fatal(err)
	}
	f.SetReadDeadline(time.Now().Add(time.Minute)) // against hanging
	for buf := make([]byte, 4096); ; {
		_, r, _ := readRecord(filepath.Join(root, activeFile))
		if r.ID == id {
			break
		}
		if _, err := f.Read(buf); err != nil {
			t.Fatalf("active.json names %q, want %s: %v", r.ID, id, err)
		}
	}
}

// TestKilledActiveIsReplaced: and so is the one that replaces it, without anybody asking.
func TestKilledActiveIsReplaced(t *testing.T) {
	root := newRoot(t)
	servers := make(map[string]*server)
	for range 5 {
		s, r := start(t, root)
		servers[r.ID] = s
	}
	checkPointers(t, root, "alpha")
	for _, step := range []struct{ dies, next string }{{"alpha", "echo"}, {"echo", "delta"}, {"delta", "charlie"}} {
		servers[step.dies].kill()
		await(t, root, step.next)
		checkPointers(t, root, step.next)
		if _, err := os.Lstat(filepath.Join(root, "instances", step.dies+".json")); err == nil {
			t.Errorf("the file of %s is still there", step.dies)
		}
	}
	if r := servers["bravo"].say("who are you?"); r.ID != "bravo" {
		t.Errorf("bravo has become %s", r.ID)
	}
}

// TestKilledHeirOfOneThatLivesOn: the active one hands over and lives on, and then the heir dies.
func TestKilledHeirOfOneThatLivesOn(t *testing.T) {
	root := newRoot(t)
	a, _ := start(t, root)
	start(t, root)
	c, _ := start(t, root)
	a.say("leave")
	checkPointers(t, root, "charlie")
	c.kill()
	await(t, root, "bravo")
	checkPointers(t, root, "bravo")
}

// TestForgedPointer: whoever writes it, and whoever it names.
func TestForgedPointer(t *testing.T) {
	root := newRoot(t)
	_, r := start(t, root)
	start(t, root)
	forged := r
	forged.PID = os.Getpid()
	for _, content := range []string{text(t, forged), "garbage", "{}"} {
		// Whoever forges it holds no lock, and has its file elsewhere: what is half written in the
		// folder of the instances is swept.
		path := filepath.Join(t.TempDir(), "forged")
		if err := errors.Join(os.WriteFile(path, []byte(content), 0o600), os.Rename(path, filepath.Join(root, activeFile))); err != nil {
			t.Fatal(err)
		}
		await(t, root, "bravo") // as if alpha had died: nobody knows what the pointer said before
		checkPointers(t, root, "bravo")
	}
}

// TestForgedPointerWithoutInotify: of which a user has not any number.
func TestForgedPointerWithoutInotify(t *testing.T) {
	root := newRoot(t)
	i := claim(t, root)
	i.guard.stop()
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(epoll, true); err != nil {
		t.Fatal(err)
	}
	g := &guard{epoll: os.NewFile(uintptr(epoll), "epoll"), inotify: -1, every: time.Millisecond, done: make(chan struct{})}
	if g.conn, err = g.epoll.SyscallConn(); err != nil {
		t.Fatal(err)
	}
	i.guard = g
	go g.run(i)
	path := filepath.Join(t.TempDir(), "forged")
	if err := errors.Join(os.WriteFile(path, []byte("garbage"), 0o600), os.Rename(path, filepath.Join(root, activeFile))); err != nil {
		t.Fatal(err)
	}
	await(t, root, "alpha")
}

// TestWhatCouldNotBeMendedIsTriedAgain without anybody asking.
func TestWhatCouldNotBeMendedIsTriedAgain(t *testing.T) {
	root := newRoot(t)
	s, _ := start(t, root)
	start(t, root)
	token := filepath.Join(root, tokenFile)
	if err := errors.Join(os.Remove(token), os.MkdirAll(filepath.Join(token, "in the way"), 0o700)); err != nil {
		t.Fatal(err)
	}
	s.kill()
	if err := os.RemoveAll(token); err != nil {
		t.Fatal(err)
	}
	await(t, root, "bravo")
	checkPointers(t, root, "bravo")
}

func TestZombieIsDead(t *testing.T) {
	root := newRoot(t)
	s, r := start(t, root)
	claim(t, root)
	s.cmd.Process.Kill() // and nobody reaps it yet
	await(t, root, "bravo")
	if r.Alive() {
		t.Error("it is taken for alive")
	}
	if got := ids(t, root); got != "bravo" {
		t.Errorf("List has %s", got)
	}
}

func TestGuardLeavesNoDescriptor(t *testing.T) {
	count := func() int {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(fds)
	}
	root := newRoot(t)
	s, _ := start(t, root)
	claim(t, root).Close() // whatever is opened once and for all is open
	before := count()
	for range 50 {
		claim(t, root).Close()
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors, and %d before", after, before)
	}
	s.say("still here?")
}
