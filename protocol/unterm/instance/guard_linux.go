package instance

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// guard repairs the pointers when the active instance dies. Its goroutine sleeps in the runtime's
// poller on one epoll descriptor, which watches the process of the active instance and the folder
// of the pointers: when a pointer changes to another instance, it watches that process instead.
// Deleted pointers are left to the next reader, so that removing the whole root works.
type guard struct {
	epoll   *os.File
	conn    syscall.RawConn
	inotify int           // -1 when none is available
	every   time.Duration // how often to check the folder then; 0: it is watched
	done    chan struct{}
}

const (
	// firstRetry and lastRetry are the pauses between attempts at a repair that fails, as on a full
	// disk.
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// lookEvery is how long a hand-over may go unnoticed when no inotify is available: most systems
// allow a user 128 of them, fewer than a fleet may have instances.
const lookEvery = 5 * time.Second

// startGuard returns nil where the system cannot watch: readers then repair the pointers.
func startGuard(i *Instance) *guard {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil
	}
	if err := unix.SetNonblock(epoll, true); err != nil { // so that the poller accepts it
		unix.Close(epoll)
		return nil
	}
	g := &guard{epoll: os.NewFile(uintptr(epoll), "epoll"), inotify: -1, every: lookEvery,
		done: make(chan struct{})}
	if g.conn, err = g.epoll.SyscallConn(); err != nil {
		g.epoll.Close()
		return nil
	}
	g.watchFolder(epoll, string(i.folder))
	go g.run(i)
	return g
}

func (g *guard) watchFolder(epoll int, path string) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return
	}
	_, err = unix.InotifyAddWatch(fd, path, unix.IN_MOVED_TO|unix.IN_CLOSE_WRITE|unix.IN_ONLYDIR)
	if err == nil {
		err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd,
			&unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
	}
	if err != nil {
		unix.Close(fd)
		return
	}
	g.inotify, g.every = fd, 0
}

// stop ends the goroutine and waits for it.
func (g *guard) stop() {
	if g == nil {
		return
	}
	g.epoll.Close()
	<-g.done
}

func (g *guard) run(i *Instance) {
	defer close(g.done)
	defer func() {
		if g.inotify >= 0 {
			unix.Close(g.inotify)
		}
	}()
	for retry := time.Duration(0); ; {
		r, pidfd, dead := i.active()
		if !dead {
			ended, err := g.wait(pidfd, g.every)
			if pidfd >= 0 {
				unix.Close(pidfd)
			}
			if err != nil {
				return
			}
			if !ended {
				continue
			}
		}
		if i.mendFor(r) {
			retry = 0
			continue
		}
		retry = min(max(2*retry, firstRetry), lastRetry)
		if _, err := g.wait(-1, retry); err != nil {
			return
		}
	}
}

// active returns a descriptor of the active instance's process, -1 when that is us, or when it
// cannot be watched. dead reports that the pointers name no live instance.
func (i *Instance) active() (r Record, pidfd int, dead bool) {
	b, _, err := read(i.folder.active())
	if errors.Is(err, fs.ErrNotExist) {
		return r, -1, false
	}
	r, _ = parse(b)
	if err != nil || !r.usable() || r.PID <= 0 || r.PID > maxPID {
		return r, -1, true
	}
	if mine, _ := i.now(); r.AuthToken == mine.AuthToken {
		return r, -1, false
	}
	// Non-blocking: this process's other packages recognise os/exec's children by their blocking
	// descriptors.
	pidfd, err = unix.PidfdOpen(r.PID, unix.O_NONBLOCK)
	if err != nil {
		pidfd = -1 // Alive, below, finds out why
	}
	// Checked after the descriptor is open: it is this process's, or there is none.
	if !r.Alive() {
		if pidfd >= 0 {
			unix.Close(pidfd)
		}
		return r, -1, true
	}
	return r, pidfd, false
}

// mendFor repairs the pointers after the death of the instance dead, and reports whether they name
// a live one. It leaves a removed root alone.
func (i *Instance) mendFor(dead Record) bool {
	if there, err := i.folder.check(); err != nil || !there {
		return false
	}
	err := i.change(func(*Record) {}, func(r Record) bool { return r.AuthToken == dead.AuthToken })
	_, r, ok := readRecord(i.folder.active())
	return err == nil && ok && r.usable() && r.AuthToken != dead.AuthToken && r.Alive()
}

// wait returns when the process has ended, when active.json has changed, when atMost has passed,
// unless it is 0, or with an error when the guard was stopped.
func (g *guard) wait(pidfd int, atMost time.Duration) (ended bool, err error) {
	until := time.Time{}
	if atMost > 0 {
		until = time.Now().Add(atMost)
	}
	if err := g.epoll.SetReadDeadline(until); err != nil {
		return false, err
	}
	if pidfd >= 0 {
		watch := func(op int) error {
			return g.conn.Control(func(fd uintptr) {
				unix.EpollCtl(int(fd), op, pidfd,
					&unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(pidfd)})
			})
		}
		if err := watch(unix.EPOLL_CTL_ADD); err != nil {
			return false, err
		}
		// Closing it is not enough: a child that is being forked may have a copy.
		defer watch(unix.EPOLL_CTL_DEL)
	}
	err = g.conn.Read(func(fd uintptr) bool {
		var events [2]unix.EpollEvent
		n, err := unix.EpollWait(int(fd), events[:], 0)
		for err == unix.EINTR {
			n, err = unix.EpollWait(int(fd), events[:], 0)
		}
		changed := false
		for _, e := range events[:max(n, 0)] {
			ended = ended || int(e.Fd) == pidfd
			changed = changed || int(e.Fd) == g.inotify && g.pointersChanged()
		}
		return ended || changed
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return ended, err
}

// pointersChanged reads inotify's events, and reports whether active.json is among them.
func (g *guard) pointersChanged() (changed bool) {
	// A read takes whole events only; one has at most this size.
	buf := make([]byte, 16*(unix.SizeofInotifyEvent+unix.NAME_MAX+1))
	for {
		n, err := unix.Read(g.inotify, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return changed
		}
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			mask, size := binary.NativeEndian.Uint32(b[4:]), binary.NativeEndian.Uint32(b[12:])
			b = b[unix.SizeofInotifyEvent:]
			file := string(bytes.TrimRight(b[:size], "\x00"))
			b = b[size:]
			changed = changed || file == activeFile || mask&unix.IN_Q_OVERFLOW != 0
		}
	}
}
