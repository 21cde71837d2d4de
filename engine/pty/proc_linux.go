package pty

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// processes reads all processes that /proc shows. It is not a snapshot: a process that forks
// meanwhile may be missed, so callers that must not miss one look again.
func processes() ([]process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	procs := make([]process, 0, len(names))
	var buf []byte
	for _, name := range names {
		if name[0] < '1' || name[0] > '9' {
			continue
		}
		if buf, err = readFile("/proc/"+name+"/stat", buf[:0]); err != nil {
			if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) {
				return nil, err
			}
			continue // it has ended
		}
		if p, ok := parseStat(buf); ok {
			procs = append(procs, p)
		}
	}
	if len(procs) == 0 {
		return nil, errors.New("/proc shows no process: mount it")
	}
	return procs, nil
}

// readFile appends the file's content to buf. Bypassing os.File saves two poller calls for each of
// several hundred files.
func readFile(path string, buf []byte) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return buf, err
	}
	defer unix.Close(fd)
	for {
		if cap(buf)-len(buf) < 512 {
			buf = append(make([]byte, 0, 2*cap(buf)+4096), buf...)
		}
		n, err := unix.Read(fd, buf[len(buf):cap(buf)])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return buf, err
		}
		if buf = buf[:len(buf)+n]; len(buf) >= maxProcFile {
			return buf, nil
		}
	}
}

// maxProcFile bounds what is read of one file, in bytes: the kernel limits arguments and
// environment together to a quarter of the stack, 6 MiB at most.
const maxProcFile = 8 << 20

// parseStat reads a line of /proc/PID/stat; see proc_pid_stat(5). The program chooses the name in
// the second field, which may contain anything, even parentheses and line feeds.
func parseStat(b []byte) (p process, ok bool) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return p, false
	}
	// Field numbers are those of the manual page, where the state is 3.
	fields := strings.Fields(string(b[end+1:]))
	if len(fields) < 20 {
		return p, false
	}
	number := func(field int) uint64 {
		n, err := strconv.ParseInt(fields[field-3], 10, 64)
		ok = ok && err == nil
		return uint64(n)
	}
	text := strings.TrimSuffix(string(b[:open]), " ")
	pid, err := strconv.Atoi(text)
	ok = err == nil && pid > 0 && strconv.Itoa(pid) == text
	const ( // among the flags, as in the kernel's sched.h
		forkNoExec   = 0x00000040 // PF_FORKNOEXEC
		kernelThread = 0x00200000 // PF_KTHREAD
	)
	p = process{
		pid: pid, ppid: int(number(4)), group: int(number(5)), sid: int(number(6)),
		tty:    uint64(uint32(number(7))),
		start:  number(22),
		kernel: number(9)&kernelThread != 0,
		forked: number(9)&forkNoExec != 0,
	}
	switch fields[0] {
	case "Z", "X", "x":
		// The first thread may be gone while others continue.
		p.dead = number(20) <= 1
	case "T", "t":
		p.stopped = true
	}
	return p, ok
}

// startTime returns when the process was started, 0 when it does not exist.
func startTime(pid int) uint64 {
	p, _ := lookAt(pid)
	return p.start
}

// lookAt returns one row of the table. The error is unix.ESRCH when it is not there.
func lookAt(pid int) (process, error) {
	b, err := readFile("/proc/"+strconv.Itoa(pid)+"/stat", nil)
	if err == unix.ENOENT {
		err = unix.ESRCH
	}
	p, ok := parseStat(b)
	if err == nil && !ok {
		err = unix.ESRCH
	}
	return p, err
}

// describe returns what else is known of a process, from links and what the kernel itself reports.
// The process's memory, where its arguments are, is not read: a program can block its readers for
// ever, with a page that a file system of its own has to fill.
func describe(pid int) Process {
	dir := "/proc/" + strconv.Itoa(pid)
	name, _ := readFile(dir+"/comm", nil)
	p := Process{PID: pid, Name: string(bytes.TrimSuffix(name, []byte("\n")))}
	// The kernel appends a word to links of files that are gone. One that does not begin with a
	// slash leads out of what this process can reach.
	const gone = " (deleted)"
	if path, err := os.Readlink(dir + "/exe"); err == nil && strings.HasPrefix(path, "/") {
		p.Path = strings.TrimSuffix(path, gone) // an upgrade has replaced it
	}
	if path, err := os.Readlink(dir + "/cwd"); err == nil && strings.HasPrefix(path, "/") &&
		!strings.HasSuffix(path, gone) {
		p.Dir = path
	}
	return p
}

// look returns the current process table, or one read in a moment. Concurrent callers share the
// processes.
func look() (table, error) { return looks.fresh() }

var looks = newShared(func() (table, error) {
	procs, err := processes()
	if err != nil {
		return table{}, fmt.Errorf("look at the process table: %w", err)
	}
	return table{
		procs: procs, self: os.Getpid(),
		environ:    new(environments).of,
		onTerminal: onTerminal,
		opened:     openTerminals,
		ourProgram: ourProgram,
	}, nil
})

// environments are those of the processes of one look, read on demand.
type environments struct {
	mu   sync.Mutex
	kept map[int][]byte
	size int // of everything kept
}

// maxEnvironments bounds what is kept of one look, in bytes: a thousand typical ones. The rest is
// read each time.
const maxEnvironments = 8 << 20

// of returns a process's environment, nil when it cannot be read.
func (e *environments) of(pid int) []byte {
	e.mu.Lock()
	env, ok := e.kept[pid]
	e.mu.Unlock()
	if ok {
		return env
	}
	env, err := readFile("/proc/"+strconv.Itoa(pid)+"/environ", nil)
	if err != nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.size+len(env) <= maxEnvironments {
		if e.kept == nil {
			e.kept = make(map[int][]byte)
		}
		e.kept[pid] = env
		e.size += len(env)
	}
	return env
}

// terminalTree returns the tree of the program that will be started on the slave.
func terminalTree(slave *os.File) (tree, error) {
	var st unix.Stat_t
	conn, err := slave.SyscallConn()
	if err != nil {
		return tree{}, err
	}
	var statErr error
	if err := conn.Control(func(fd uintptr) { statErr = unix.Fstat(int(fd), &st) }); err != nil {
		return tree{}, err
	}
	return tree{terminal: terminalOf(&st), made: madeAt(&st)}, statErr
}

func terminalOf(st *unix.Stat_t) terminal {
	// The encoding of tty_nr in /proc/PID/stat: minor bits 31-20 and 7-0, major 15-8.
	major, minor := uint64(unix.Major(st.Rdev)), uint64(unix.Minor(st.Rdev))
	return terminal{
		tty: minor&0xff | major<<8 | minor&^0xff<<12,
		dev: st.Dev,
		ino: st.Ino,
	}
}

// madeAt returns when a terminal was made, or its mode or owner last changed; input and output do
// not alter that time.
func madeAt(st *unix.Stat_t) uint64 { return uint64(st.Ctim.Nano()) }

// onTerminal reports whether what the process calls its terminal is t: it checks in the process's
// own view of the file system, since t.tty may be another container's.
func onTerminal(pid int, t terminal) bool {
	minor := t.tty&0xff | t.tty>>12&^0xff
	var st unix.Stat_t
	path := fmt.Sprintf("/proc/%d/root/dev/pts/%d", pid, minor)
	return unix.Stat(path, &st) == nil && terminalOf(&st) == t
}

// openTerminals returns the pseudo-terminals that the process has open.
func openTerminals(pid int) (all []opened) {
	path := "/proc/" + strconv.Itoa(pid) + "/fd/"
	dir, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		// The name first: asking a descriptor on a network file system may block.
		link, err := os.Readlink(path + name)
		if err != nil || !strings.Contains(link, "/pts/") {
			continue
		}
		var st unix.Stat_t
		if unix.Stat(path+name, &st) == nil {
			all = append(all,
				opened{terminalOf(&st), madeAt(&st), strings.HasSuffix(link, " (deleted)")})
		}
	}
	return all
}

// ourProgram reports whether the process runs the file that this one does.
func ourProgram(pid int) bool {
	var its, ours unix.Stat_t
	return unix.Stat("/proc/"+strconv.Itoa(pid)+"/exe", &its) == nil &&
		unix.Stat("/proc/self/exe", &ours) == nil && its.Dev == ours.Dev && its.Ino == ours.Ino
}

// handle is a hold on one process: its pid cannot be reused.
type handle struct {
	pidfd   int // -1 where the kernel has none; then the start time guards the pid
	process id
}

// pidfdNonblock is PIDFD_NONBLOCK, since Linux 5.10. It also distinguishes these descriptors from
// those with which os/exec waits for a child; see heldChildren.
const pidfdNonblock = unix.O_NONBLOCK

// hold returns a handle on exactly this process. The error is unix.ESRCH when it has ended.
func hold(p id) (handle, error) {
	fd, err := unix.PidfdOpen(p.pid, pidfdNonblock)
	switch err {
	case nil:
	case unix.ENOSYS, unix.EINVAL, unix.EPERM: // an old kernel, or a seccomp filter
		fd = -1
	default:
		return handle{}, err
	}
	h := handle{fd, p}
	// Checked after the descriptor exists: from now on the answer cannot go stale.
	if err := h.check(); err != nil {
		h.release()
		return handle{}, err
	}
	return h, nil
}

func (h handle) check() error {
	now, err := lookAt(h.process.pid)
	if err != nil {
		return err
	}
	if now.start != h.process.start {
		return unix.ESRCH
	}
	return nil
}

func (h handle) signal(s unix.Signal) error {
	if h.pidfd >= 0 {
		return unix.PidfdSendSignal(h.pidfd, s, nil, 0)
	}
	if err := h.check(); err != nil {
		return err
	}
	return unix.Kill(h.process.pid, s)
}

func (h handle) canWait() bool { return h.pidfd >= 0 }

func (h handle) release() {
	if h.pidfd >= 0 {
		unix.Close(h.pidfd)
	}
}

// awaitEnds blocks until all processes of hs have ended, until the given time, or until ctx ends.
// It parks on the runtime's poller and holds no thread: an epoll descriptor is readable when one
// that it watches is.
func awaitEnds(ctx context.Context, hs []handle, until time.Time) error {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(ep, true); err != nil {
		unix.Close(ep)
		return os.NewSyscallError("fcntl", err)
	}
	f := os.NewFile(uintptr(ep), "epoll")
	defer f.Close()
	left := 0
	for _, h := range hs {
		event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT, Fd: int32(h.pidfd)}
		if unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, h.pidfd, &event) == nil {
			left++
		}
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	if err := f.SetReadDeadline(until); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { f.SetReadDeadline(time.Unix(1, 0)) })()
	var events [64]unix.EpollEvent
	err = conn.Read(func(fd uintptr) bool {
		for left > 0 {
			n, err := unix.EpollWait(int(fd), events[:], 0)
			if err == unix.EINTR {
				continue
			}
			if n <= 0 {
				return false
			}
			left -= n
		}
		return true
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}
