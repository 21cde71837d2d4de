package pty

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// hog takes memory and writes to it, as programs do.
func hog(mib int) {
	var all [][]byte
	for range mib {
		piece := make([]byte, 1<<20)
		for i := 0; i < len(piece); i += 4096 {
			piece[i] = 1
		}
		all = append(all, piece)
	}
	runtime.KeepAlive(all)
}

// limited starts a program with a limit, where that can be kept.
func limited(t *testing.T, c Command, most int64) *PTY {
	t.Helper()
	c.MaxMemory = most
	p, err := Start(c)
	var no *MemoryLimitError
	if errors.As(err, &no) {
		t.Skipf("%v", no)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill(t.Context()); p.Close() })
	p.SetReadDeadline(time.Now().Add(hang))
	return p
}

// TestMemoryLimit: what needs too much is ended with all that it started, and it is told why. The
// rest of the tests of this file are of the parts; this one needs a kernel that lets us.
func TestMemoryLimit(t *testing.T) {
	l := newLobby(t)
	p := limited(t, self("member", l.path, "leader", "start:setsid,noenv:child:ignore/hello", "hello", "go", "hog:512"), 128<<20)
	guests := l.await("leader", "child")
	told := make(chan bool, 2)
	p.WhenOverMemory(func() { told <- true })
	if p.OverMemory() {
		t.Error("it is over its limit before it has begun")
	}
	guests["leader"].conn.Write([]byte{1})
	<-told
	if err := p.Kill(t.Context()); err != nil { // what the kernel did not end, as it makes no progress
		t.Error(err)
	}
	if e := p.Wait(); e.Signal == "" || !p.OverMemory() {
		t.Errorf("its end: %+v, over its memory: %v", e, p.OverMemory())
	}
	l.ended(guests)
	p.WhenOverMemory(func() { told <- true }) // late, and told all the same
	<-told
	dir := p.memory.dir
	p.Close()
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its group is there still: %v", err)
	}
	if !p.OverMemory() {
		t.Error("why it ended is not known any more")
	}
}

// TestWithinTheMemoryLimit: a limit that is kept changes nothing.
func TestWithinTheMemoryLimit(t *testing.T) {
	p := limited(t, self("exit", "3"), 1<<30)
	if e := p.Wait(); e.Code != 3 || p.OverMemory() {
		t.Errorf("its end: %+v, over its memory: %v", e, p.OverMemory())
	}
}

func TestFindGroup(t *testing.T) {
	const mounts = `23 29 0:21 / /sys rw,nosuid shared:7 - sysfs sysfs rw
30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate
`
	for name, c := range map[string]struct{ mounts, groups, own, top string }{
		"unified":          {mounts, "0::/user.slice/user-1000.slice/a.scope\n", "/sys/fs/cgroup/user.slice/user-1000.slice/a.scope", "/sys/fs/cgroup"},
		"the root":         {mounts, "0::/\n", "/sys/fs/cgroup", "/sys/fs/cgroup"},
		"beside version 1": {"40 23 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n", "4:memory:/x\n0::/y\n", "/sys/fs/cgroup/unified/y", "/sys/fs/cgroup/unified"},
		"part is mounted":  {"40 23 0:30 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/docker/abc/x\n", "/sys/fs/cgroup/x", "/sys/fs/cgroup"},
		"another part":     {"40 23 0:30 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/docker/abcd\n", "", ""},
		"an odd folder":    {`40 23 0:30 / /mnt/a\040b rw - cgroup2 cgroup2 rw` + "\n", "0::/x\n", "/mnt/a b/x", "/mnt/a b"},
		"version 1 only":   {"40 23 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", "4:memory:/x\n", "", ""},
		"not mounted":      {"", "0::/x\n", "", ""},
	} {
		own, top := findGroup([]byte(c.mounts), []byte(c.groups))
		if own != c.own || top != c.top {
			t.Errorf("%s: %q below %q, want %q below %q", name, own, top, c.own, c.top)
		}
	}
}

// group makes a folder as the kernel has one for a group.
func group(t *testing.T, dir, controllers, below string, members ...int) string {
	t.Helper()
	pids := ""
	for _, pid := range members {
		pids += strconv.Itoa(pid) + "\n"
	}
	for name, text := range map[string]string{"cgroup.controllers": controllers, "cgroup.subtree_control": below, "cgroup.procs": pids} {
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestGroupHome(t *testing.T) {
	refused := func(own, top, why string) {
		t.Helper()
		var no *MemoryLimitError
		if home, err := homeFrom(own, top); !errors.As(err, &no) || !strings.Contains(no.Why, why) {
			t.Errorf("%q, %v; want one that says %q", home, err, why)
		}
	}
	top := group(t, filepath.Join(t.TempDir(), "top"), "cpu memory", "cpu memory")
	if home, err := homeFrom(top, top); err != nil || home != top {
		t.Errorf("the root: %q, %v", home, err)
	}
	own := group(t, filepath.Join(top, "own"), "memory", "", os.Getpid())
	if home, err := homeFrom(own, top); err != nil || home != own {
		t.Errorf("one in which the controller can be switched on: %q, %v", home, err)
	}
	if b, err := os.ReadFile(filepath.Join(own, "cgroup.subtree_control")); err != nil || string(b) != "+memory" {
		t.Errorf("it was switched on by %q, %v", b, err)
	}
	if home, err := homeFrom(filepath.Join(own, serverGroup), top); err != nil || home != own {
		t.Errorf("one that we have moved in: %q, %v", home, err)
	}
	refused(group(t, filepath.Join(top, "none"), "cpu pids", ""), top, "no memory controller")
	refused(filepath.Join(top, "nowhere"), top, "cannot be read")

	// What cannot be written to is a folder here: the error is another than the kernel's.
	shut := group(t, filepath.Join(top, "shut"), "memory", "")
	os.Remove(filepath.Join(shut, "cgroup.subtree_control"))
	os.Mkdir(filepath.Join(shut, "cgroup.subtree_control"), 0o700)
	if home, err := homeFrom(shut, top); err != nil || home != top {
		t.Errorf("beside it: %q, %v", home, err)
	}
	refused(shut, shut, "nor beside it")
}

func TestAllOurs(t *testing.T) {
	p := start(t, self("cat"))
	expect(t, p, "ready")
	for _, c := range []struct {
		pids []int
		ours bool
	}{{[]int{os.Getpid(), p.PID()}, true}, {[]int{os.Getpid(), os.Getppid()}, false}, {[]int{1}, false}, {nil, true}} {
		if got := allOurs(c.pids); got != c.ours {
			t.Errorf("%v: %v", c.pids, got)
		}
	}
}

// TestGroupEvents: a group is told once, and says why a program ended after it is gone.
func TestGroupEvents(t *testing.T) {
	made := func() *memoryGroup {
		g := &memoryGroup{dir: filepath.Join(t.TempDir(), "g")}
		if err := errors.Join(os.Mkdir(g.dir, 0o700), os.WriteFile(filepath.Join(g.dir, "memory.events"), []byte("low 0\nmax 3\noom 0\noom_kill 0\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := g.watch(); err != nil {
			t.Fatal(err)
		}
		return g
	}
	a, b := made(), made()
	p, q := &PTY{memory: a}, &PTY{memory: b}
	told := make(chan string, 10)
	p.WhenOverMemory(func() { told <- "a" })
	q.WhenOverMemory(func() { told <- "b" })
	for _, text := range []string{"max 4\noom 0\noom_kill 0\n", "oom 1\noom_kill 1\n", "oom 2\noom_kill 2\n"} {
		if err := a.set("memory.events", text); err != nil {
			t.Fatal(err)
		}
	}
	if who := <-told; who != "a" || !p.OverMemory() || q.OverMemory() {
		t.Errorf("%s is told; %v, %v", who, p.OverMemory(), q.OverMemory())
	}
	if err := b.set("memory.events", "oom 1\noom_kill 0\n"); err != nil { // none of its processes can be ended
		t.Fatal(err)
	}
	if who := <-told; who != "b" {
		t.Errorf("%s is told again", who)
	}
	a.remove()
	b.remove()
	if !p.OverMemory() {
		t.Error("what is gone is not known")
	}
	groups.mu.Lock()
	defer groups.mu.Unlock()
	if groups.notify != nil || len(groups.watched) > 0 {
		t.Errorf("something is watched still: %v", groups.watched)
	}
}

// TestThrashing: what has filled its limit and only reads its code again is over it; what has a
// cache, or makes progress, is not.
func TestThrashing(t *testing.T) {
	const most = 64 << 20
	type look struct{ after, file, refaults int64 } // seconds, bytes, pages
	for name, c := range map[string]struct {
		looks []look
		want  bool
	}{
		"it does":                       {[]look{{0, 150 << 10, 1000}, {1, 150 << 10, 17_000}, {2, 150 << 10, 33_000}}, true},
		"a cache is given back":         {[]look{{0, 40 << 20, 1000}, {1, 40 << 20, 100_000}, {2, 40 << 20, 900_000}}, false},
		"it goes on":                    {[]look{{0, 1 << 20, 1000}, {1, 1 << 20, 1500}, {9, 1 << 20, 9000}}, false},
		"for long, and slowly":          {[]look{{0, 1 << 20, 1000}, {9, 1 << 20, 20_000}, {18, 1 << 20, 40_000}, {27, 1 << 20, 60_000}, {36, 1 << 20, 80_000}}, false},
		"it had a cache in between":     {[]look{{0, 150 << 10, 0}, {1, 40 << 20, 50_000}, {2, 150 << 10, 100_000}, {3, 150 << 10, 101_000}}, false},
		"more of its code than was met": {[]look{{0, 2 << 20, 0}, {1, 2 << 20, 40_000}}, false},
	} {
		g := &memoryGroup{dir: t.TempDir(), most: most}
		got := false
		begin := time.Now()
		for _, l := range c.looks {
			text := fmt.Sprintf("anon 1\nactive_file %d\ninactive_file %d\nworkingset_refault_file %d\n", l.file/4, l.file-l.file/4, l.refaults)
			if err := os.WriteFile(filepath.Join(g.dir, "memory.stat"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			got = g.thrashes(begin.Add(time.Duration(l.after)*time.Second)) || got
		}
		if got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestSweepGroups: empty groups of servers that are gone, and ours that were left, are taken away,
// and no others.
func TestSweepGroups(t *testing.T) {
	home := t.TempDir()
	gone := func() int { // a process that has ended
		p := start(t, self("exit", "0"))
		p.Wait()
		return p.PID()
	}()
	name := func(pid, n int) string { return groupPrefix + strconv.Itoa(pid) + "-" + strconv.Itoa(n) }
	for _, n := range []string{name(gone, 1), name(os.Getpid(), 1), name(os.Getpid(), 2), name(os.Getppid(), 1), serverGroup, "else", groupPrefix + "x-1"} {
		if err := os.Mkdir(filepath.Join(home, n), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	os.WriteFile(filepath.Join(home, name(gone, 1), "full"), nil, 0o600)
	os.Mkdir(filepath.Join(home, name(gone, 2)), 0o700)
	live := filepath.Join(home, name(os.Getpid(), 1))
	groups.mu.Lock()
	groups.live[live] = true
	groups.mu.Unlock()
	defer func() {
		groups.mu.Lock()
		delete(groups.live, live)
		groups.mu.Unlock()
	}()
	sweepGroups(home)
	for n, there := range map[string]bool{
		name(gone, 1): true, name(gone, 2): false, name(os.Getpid(), 1): true, name(os.Getpid(), 2): false, name(os.Getppid(), 1): true,
		serverGroup: true, "else": true, groupPrefix + "x-1": true,
	} {
		if _, err := os.Stat(filepath.Join(home, n)); (err == nil) != there {
			t.Errorf("%s: %v", n, err)
		}
	}
}
