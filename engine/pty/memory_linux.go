package pty

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A memoryGroup is the cgroup (v2) of one program whose memory is limited. The nil group belongs to
// any other program; its methods do nothing. The files are described in the kernel's cgroup-v2.rst.
type memoryGroup struct {
	dir string
	fd  *os.File // of dir, until the program was started

	mu sync.Mutex
	// protects the fields below
	most     int64  // its limit, in bytes; 0: none yet
	exceeded bool   // the kernel has ended it, or it thrashes
	told     func() // called then, once; nil: not requested, or already called
	removed  bool
	full     time.Time // since when almost none of it could be reclaimed; zero: some can
	refaults int64     // pages that it had reread by then
}

// A program at its limit whose memory is nearly all its own, so that only its code can be
// reclaimed, does not always reach the point where the kernel ends it: each page of code that is
// read evicts another, which is then reread, and the program makes no progress for minutes (seen on
// Linux 6.1: 99 % of the group its own, 37 pages of code, 16,000 reread per second). It is just as
// much over its limit as one that the kernel ends. The kernel notifies us each time the limit is
// hit, at most every 10 ms; we then check how much could be reclaimed, and how often that much was
// reread.
const (
	// fullShare is the part of the limit that can still be reclaimed when nearly all is in use:
	// 3 %. A cache of files is more, and does no harm: it is reclaimed.
	fullShare = 32
	// thrashTimes is how often everything reclaimable has to be reread within thrashWindow. A
	// program that makes progress rereads some of it; this one rereads it a hundred times a second.
	thrashTimes, thrashWindow = 64, 10 * time.Second
	// thrashLeast is added to the reclaimable pages: a hundred times a few is not much.
	thrashLeast = 256
)

// groupPrefix begins the names of our groups; the server's process id follows, so that another
// server recognizes the groups of one that was killed.
const groupPrefix = "ptywright-"

// groups are those of this process, and how it learns that one has exceeded its limit.
var groups = struct {
	mu sync.Mutex
	// protects the fields below
	last    int
	live    map[string]bool        // by folder
	notify  *os.File               // inotify; nil: no group is watched
	watched map[int32]*memoryGroup // by watch descriptor
	ended   chan struct{}          // closed when the goroutine that reads notify has ended
}{live: map[string]bool{}, watched: map[int32]*memoryGroup{}}

// newMemoryGroup makes an empty group. The error is a [*MemoryLimitError].
func newMemoryGroup() (*memoryGroup, error) {
	home, err := groupHome()
	if err != nil {
		return nil, err
	}
	sweepGroups(home)
	groups.mu.Lock()
	groups.last++
	dir := filepath.Join(home, groupPrefix+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(groups.last))
	groups.live[dir] = true
	groups.mu.Unlock()
	g := &memoryGroup{dir: dir}
	err = os.Mkdir(dir, 0o755)
	if err == nil {
		if g.fd, err = os.Open(dir); err == nil {
			err = g.watch()
		}
	}
	if err != nil {
		g.remove()
		return nil, &MemoryLimitError{Why: "a group cannot be made beside the server's own",
			Err: err}
	}
	return g, nil
}

// join makes a program start in the group.
func (g *memoryGroup) join(attr *syscall.SysProcAttr) {
	if g != nil {
		attr.UseCgroupFD, attr.CgroupFD = true, int(g.fd.Fd())
	}
}

// limit sets the limit. Until then the group has none: before its execve a program shares our
// memory, and the kernel ends every process that shares it.
func (g *memoryGroup) limit(most int64) error {
	if g == nil {
		return nil
	}
	g.fd.Close()
	g.mu.Lock()
	g.most = most
	g.mu.Unlock()
	err := errors.Join(
		g.set("memory.oom.group", "1"), // all of it, not only the largest process
		g.setIfThere("memory.swap.max", "0"),
		g.set("memory.max", strconv.FormatInt(most, 10)),
	)
	if err != nil {
		return &MemoryLimitError{Why: "the limit cannot be set", Err: err}
	}
	return nil
}

func (g *memoryGroup) set(file, value string) error {
	f, err := os.OpenFile(filepath.Join(g.dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

func (g *memoryGroup) setIfThere(file, value string) error {
	if err := g.set(file, value); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// kill ends everything in the group, at once.
func (g *memoryGroup) kill() {
	if g != nil {
		_ = g.setIfThere("cgroup.kill", "1") // missing before Linux 5.14; processes that can be found by other means have been ended
	}
}

// populated reports whether a process is in the group.
func (g *memoryGroup) populated() bool {
	return g != nil && field(filepath.Join(g.dir, "cgroup.events"), "populated") > 0
}

// over reports whether the kernel has ended the group's processes for their memory, or had to
// refuse memory to some that cannot be ended.
func (g *memoryGroup) over() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.look()
}

// look is over with mu held.
func (g *memoryGroup) look() bool {
	if !g.exceeded && !g.removed {
		events := filepath.Join(g.dir, "memory.events")
		g.exceeded = field(events, "oom_kill") > 0 || field(events, "oom") > 0
	}
	return g.exceeded
}

// thrashes reports whether the group does nothing any more but reread its code. It is called with
// mu held, when the limit was hit.
func (g *memoryGroup) thrashes(now time.Time) bool {
	stat := filepath.Join(g.dir, "memory.stat")
	loose := field(stat, "inactive_file") + field(stat, "active_file")
	if g.most == 0 || loose > g.most/fullShare {
		g.full = time.Time{}
		return false
	}
	refaults := field(stat, "workingset_refault_file") + field(stat, "workingset_refault") // the name before Linux 5.9
	if g.full.IsZero() || now.Sub(g.full) > thrashWindow {
		g.full, g.refaults = now, refaults
		return false
	}
	pages := loose/int64(os.Getpagesize()) + thrashLeast
	return refaults-g.refaults >= thrashTimes*pages
}

// field returns a number from a file of names and numbers, one pair per line; 0 when it is missing.
func field(file, name string) int64 {
	text, err := readFile(file, nil)
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		if value, ok := bytes.CutPrefix(line, []byte(name+" ")); ok {
			n, _ := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			return n
		}
	}
	return 0
}

// remove removes the group once it is empty. A group that cannot be removed now is removed when the
// next one is made.
func (g *memoryGroup) remove() {
	if g == nil {
		return
	}
	g.mu.Lock()
	g.look() // for the last time
	g.removed, g.told = true, nil
	g.mu.Unlock()
	if g.fd != nil {
		g.fd.Close() // again, when a program was started
	}
	g.unwatch()
	os.Remove(g.dir)
	groups.mu.Lock()
	delete(groups.live, g.dir)
	groups.mu.Unlock()
}

// WhenOverMemory calls f once, in its own goroutine, when the program or anything it started needed
// more memory than [Command.MaxMemory]; at once if that has already happened. By then the kernel
// has ended them, or is about to, or they make no progress: [PTY.Kill] ends what is left.
func (p *PTY) WhenOverMemory(f func()) {
	g := p.memory
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.look() {
		go f()
		return
	}
	g.told = f
}

// OverMemory reports whether the program or anything it started needed more memory than
// [Command.MaxMemory]. For a program that was ended for that, it is true by the time Wait returns.
func (p *PTY) OverMemory() bool { return p.memory != nil && p.memory.over() }

// watch starts watching the group's events. One descriptor serves all groups: a user has few.
func (g *memoryGroup) watch() error {
	groups.mu.Lock()
	defer groups.mu.Unlock()
	if groups.notify == nil {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
		if err != nil {
			return os.NewSyscallError("inotify_init1", err)
		}
		groups.notify, groups.ended = os.NewFile(uintptr(fd), "inotify"), make(chan struct{})
		go readGroups(groups.notify, groups.ended)
	}
	var wd int
	err := control(groups.notify, func(fd int) (err error) {
		wd, err = unix.InotifyAddWatch(fd, filepath.Join(g.dir, "memory.events"), unix.IN_MODIFY)
		return err
	})
	if err != nil {
		if len(groups.watched) == 0 {
			endWatching()
		}
		return os.NewSyscallError("inotify_add_watch", err)
	}
	groups.watched[int32(wd)] = g
	return nil
}

// endWatching makes the reading goroutine end, and returns a channel that is closed when it has. It
// is called with groups.mu held.
func endWatching() (ended <-chan struct{}) {
	groups.notify.Close()
	groups.notify = nil
	return groups.ended
}

// unwatch stops watching it.
func (g *memoryGroup) unwatch() {
	var ended <-chan struct{}
	groups.mu.Lock()
	for wd, x := range groups.watched {
		if x != g {
			continue
		}
		delete(groups.watched, wd)
		_ = control(groups.notify, func(fd int) error { // the watch may be gone with its file
			_, err := unix.InotifyRmWatch(fd, uint32(wd))
			return err
		})
		if len(groups.watched) == 0 {
			ended = endWatching()
		}
	}
	groups.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

func control(f *os.File, do func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	if ctl := conn.Control(func(fd uintptr) { err = do(int(fd)) }); ctl != nil {
		return ctl
	}
	return err
}

// readGroups notifies groups of their events, until the last one is gone.
func readGroups(notify *os.File, ended chan struct{}) {
	defer close(ended)
	buf := make([]byte, 4<<10)
	for {
		n, err := notify.Read(buf)
		if err != nil {
			return
		}
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			wd, name := int32(binary.NativeEndian.Uint32(b)),
				int(binary.NativeEndian.Uint32(b[12:]))
			b = b[min(len(b), unix.SizeofInotifyEvent+name):]
			groups.mu.Lock()
			g := groups.watched[wd]
			groups.mu.Unlock()
			if g != nil {
				g.happened()
			}
		}
	}
}

// happened checks whether the group has exceeded its limit.
func (g *memoryGroup) happened() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.told == nil {
		return
	}
	if g.exceeded = g.look() || g.thrashes(time.Now()); g.exceeded {
		go g.told()
		g.told = nil
	}
}
