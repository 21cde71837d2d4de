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

// A memoryGroup is the cgroup (v2) of one program whose memory is limited. The nil group is that of any other, and all methods do
// nothing on it. See cgroup-v2.rst in the kernel's documentation for the files.
type memoryGroup struct {
	dir string
	fd  *os.File // of dir, until the program was started

	mu sync.Mutex
	// protects the fields below
	most     int64  // its limit, in bytes; 0: none yet
	exceeded bool   // the kernel has ended it, or it thrashes
	told     func() // is called then, once; nil: nobody asked, or it was
	removed  bool
	full     time.Time // since when nearly nothing of it could be given back; zero: it can
	refaults int64     // pages that it had read again by then
}

// A program at its limit whose memory is nearly all its own, so that nothing is left to be given back but its code, does not always get
// to the point at which the kernel ends it: each page of code that is read pushes another out, which is then read again, and it makes
// no progress for minutes (seen on Linux 6.1: 99 % of the group its own, 37 pages of code, 16,000 read again each second). It is over
// its limit as much as one that the kernel ends. The kernel tells of each time that the limit was met, at most every 10 ms; what is
// looked at then is how much could be given back, and how often as much as that was read again.
const (
	// fullShare is the part of the limit that could be given back when nearly all is in use: 3 %. A cache of files is more, and
	// does no harm: it is given back.
	fullShare = 32
	// thrashTimes is how often all that could be given back has to be read again within thrashWindow. One that makes progress
	// reads some of it again; this one has it read a hundred times a second.
	thrashTimes, thrashWindow = 64, 10 * time.Second
	// thrashLeast is added to the pages that could be given back: of a few, a hundred times is not much.
	thrashLeast = 256
)

// groupPrefix begins the names of our groups; the process id of the server follows, by which another server knows those of one that
// was killed.
const groupPrefix = "ptywright-"

// groups are those of this process, and how it learns that one has gone over its limit.
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
		return nil, &MemoryLimitError{Why: "a group cannot be made beside the server's own", Err: err}
	}
	return g, nil
}

// join has a program start in the group.
func (g *memoryGroup) join(attr *syscall.SysProcAttr) {
	if g != nil {
		attr.UseCgroupFD, attr.CgroupFD = true, int(g.fd.Fd())
	}
}

// limit begins the limit. Until then the group has none: a program shares our memory until it is executed, and the kernel ends all that
// share it.
func (g *memoryGroup) limit(most int64) error {
	if g == nil {
		return nil
	}
	g.fd.Close()
	g.mu.Lock()
	g.most = most
	g.mu.Unlock()
	err := errors.Join(
		g.set("memory.oom.group", "1"), // all of it, not the largest process
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

// kill ends whatever is in the group, at once.
func (g *memoryGroup) kill() {
	if g != nil {
		_ = g.setIfThere("cgroup.kill", "1") // before Linux 5.14 there is none: what can be told by other means has been ended
	}
}

// populated reports whether a process is in the group.
func (g *memoryGroup) populated() bool {
	return g != nil && field(filepath.Join(g.dir, "cgroup.events"), "populated") > 0
}

// over reports whether the kernel has ended the group's processes for their memory, or had to refuse them some that cannot be ended.
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

// thrashes reports whether the group does nothing any more but read its code again. It is called with mu held, when the limit was met.
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

// field returns a number of a file of names and numbers, a pair a line; 0 when it is not there.
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

// remove takes the group away once nothing is in it. A group that cannot be taken away now is when the next is made.
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

// WhenOverMemory calls f, in a goroutine of its own and once, when the program or what it started needed more memory than
// [Command.MaxMemory], at once when that has happened. By then the kernel has ended them, or is about to, or they make no progress: [PTY.Kill] ends what
// is left.
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

// OverMemory reports whether the program or what it started needed more memory than [Command.MaxMemory]. It is true no later than Wait
// returns of a program that was ended for that.
func (p *PTY) OverMemory() bool { return p.memory != nil && p.memory.over() }

// watch begins to watch the group's events. One descriptor is for all groups: a user has few.
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

// endWatching has the goroutine that reads end, and returns a channel that is closed then. It is called with groups.mu held.
func endWatching() (ended <-chan struct{}) {
	groups.notify.Close()
	groups.notify = nil
	return groups.ended
}

// unwatch ends it.
func (g *memoryGroup) unwatch() {
	var ended <-chan struct{}
	groups.mu.Lock()
	for wd, x := range groups.watched {
		if x != g {
			continue
		}
		delete(groups.watched, wd)
		_ = control(groups.notify, func(fd int) error { // it may be gone with its file
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

// readGroups tells groups that something has happened to them, until the last one is gone.
func readGroups(notify *os.File, ended chan struct{}) {
	defer close(ended)
	buf := make([]byte, 4<<10)
	for {
		n, err := notify.Read(buf)
		if err != nil {
			return
		}
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			wd, name := int32(binary.NativeEndian.Uint32(b)), int(binary.NativeEndian.Uint32(b[12:]))
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

// happened looks whether the group has gone over its limit.
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
