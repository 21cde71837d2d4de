//go:build linux || darwin

package pty

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	creack "github.com/creack/pty"
	"golang.org/x/sys/unix"
)

const separators = "/"

// PTY is a program on its pseudo-terminal. Its methods may be called from any goroutine, but only
// one at a time may call Next, which returns a shared buffer.
type PTY struct {
	tree tree // identifies the program and its descendants; fixed except for tree.reaped

	master *os.File
	conn   syscall.RawConn // of master
	closed atomic.Bool

	// terminal is read-locked while a kill relies on the terminal's name meaning this terminal: the
	// kernel reuses the name as soon as the master is closed. Close locks it to close. It protects
	// no memory; holders of another one only try to lock it, and never wait.
	terminal sync.RWMutex

	// mu makes "not reaped yet" and "signal by pid" one step: a pid is free for reuse the moment it
	// is reaped. It is held only for system calls that do not block.
	mu     sync.Mutex
	onReap []func() // called once when the program is reaped; nil afterwards

	memory *memoryGroup // nil: its memory is not limited

	done chan struct{} // closed when the program is reaped
	exit Exit          // valid once done is closed

	reading sync.Mutex
	// protects the fields below
	readDeadline time.Time // as set by the caller
	interrupted  bool      // another deadline is set

	// counting is held for each read of the terminal, none of which blocks, so that what was read
	// and what is there to be read can be counted at one moment.
	counting sync.Mutex
	got      uint64 // bytes that were read, also those that no Next has returned yet

	// Of the goroutine in Next.
	buf      *[readSize]byte // handed out by the last Next
	n        int             // bytes in buf
	readErr  error           // of the last attempt, io.EOF included
	ahead    *readAhead      // not nil in a flood
	attempt  func(fd uintptr) bool
	attempts int // of this Next
}

// readSize bounds one read. Linux queues 4,095 bytes for a reader, but one call continues while
// they are refilled: with room for more a flood costs fewer system calls, and moves a sixth faster
// than with 4 KiB (measured; 64 KiB are no better). Reading again until nothing is left is slower:
// such a read waits for the kernel's own worker.
const readSize = 16 << 10

// buffers holds the buffers of Next, shared by all sessions; a parked one has none.
var buffers = sync.Pool{New: func() any { return new([readSize]byte) }}

// Start opens a pseudo-terminal, sets its size and starts the program on it as the leader of a new
// session with that controlling terminal. The program gets descriptors 0-2 and no others: the first
// Start marks descriptors that this process inherited as close-on-exec. On Linux no signal is
// blocked in it. Start blocks until the program has been executed or has failed to; it leaves
// nothing behind on failure.
//
// The error is a [*StartError], or a [*MemoryLimitError].
func Start(c Command) (*PTY, error) {
	env, err := c.environment()
	if err != nil {
		return nil, &StartError{Op: "command", Path: c.Path, Err: err}
	}
	if c.Dir != "" {
		if err := checkDir(c.Dir); err != nil {
			return nil, &StartError{Op: "dir", Path: c.Dir, Err: err}
		}
	}
	path, err := lookup(c.Path, c.Dir, env)
	if err != nil {
		return nil, &StartError{Op: "lookup", Path: c.Path, Err: err}
	}

	master, slave, err := open(c.Size)
	if err != nil {
		return nil, &StartError{Op: "open", Err: err}
	}
	defer slave.Close()
	p := &PTY{master: master, done: make(chan struct{})}
	p.attempt = p.tryRead
	if p.conn, err = master.SyscallConn(); err == nil {
		p.tree, err = terminalTree(slave)
	}
	if err != nil {
		master.Close()
		return nil, &StartError{Op: "open", Err: err}
	}
	p.tree.mark = c.Mark

	if c.MaxMemory > 0 {
		if p.memory, err = newMemoryGroup(); err != nil {
			master.Close()
			return nil, err
		}
	}
	keepInherited()
	pid, pidfd, err := fork(path, append([]string{c.Path}, c.Args...), c.Dir, env, slave,
		c.NullInput, p.memory)
	if err != nil {
		p.memory.remove()
		master.Close()
		return nil, &StartError{Op: "start", Path: path, Err: startCause(path, err)}
	}
	p.tree.pid = pid
	// The program cannot have been reaped yet, so it is still there, possibly as a zombie.
	p.tree.start = startTime(pid)
	leaders.Store(pid, p)
	// Until here sweeps of adopted children left the program alone because its pidfd blocks, as
	// those of os/exec do; from here on they know it as a leader.
	if pidfd >= 0 && unix.SetNonblock(pidfd, true) != nil {
		unix.Close(pidfd)
		pidfd = -1
	}
	go p.reap(pidfd)
	if err := p.memory.limit(c.MaxMemory); err != nil {
		p.Signal(SignalKill)
		p.memory.kill()
		<-p.done
		p.memory.remove()
		master.Close()
		return nil, err
	}
	return p, nil
}

// startCause replaces misleading causes: the kernel says "no such file" when the interpreter in a
// script's first line is missing.
func startCause(path string, err error) error {
	if errors.Is(err, syscall.ENOENT) {
		if _, statErr := os.Stat(path); statErr == nil {
			return fmt.Errorf("the interpreter or loader that it names is missing: %w", err)
		}
	}
	if errors.Is(err, syscall.E2BIG) {
		return fmt.Errorf("%w: shorten the arguments or the environment", err)
	}
	return err
}

// open returns a non-blocking master and a slave of the given size.
func open(s Size) (master, slave *os.File, err error) {
	m, slave, err := creack.Open()
	if err != nil {
		return nil, nil, err
	}
	defer m.Close()
	if s.Rows == 0 && s.Cols == 0 {
		s.Rows, s.Cols = 24, 80
	}
	if err = creack.Setsize(m, winsize(s)); err == nil {
		master, err = nonblocking(m)
	}
	if err != nil {
		slave.Close()
		return nil, nil, err
	}
	return master, slave, nil
}

func winsize(s Size) *creack.Winsize {
	return &creack.Winsize{Rows: s.Rows, Cols: s.Cols, X: s.PixelWidth, Y: s.PixelHeight}
}

// nonblocking returns a second file on f's terminal that the runtime's poller knows. creack/pty
// calls Fd, which leaves its file blocking for good: deadlines are then accepted and ignored, and
// Close does not wake a reader.
func nonblocking(f *os.File) (*os.File, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd, dupErr := -1, error(nil)
	err = conn.Control(func(old uintptr) {
		fd, dupErr = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 3)
	})
	if err = errors.Join(err, dupErr); err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// PID returns the process id of the program, which is also the id of its session and of its first
// process group. It is meaningless once Wait has returned.
func (p *PTY) PID() int { return p.tree.pid }

// Next blocks until there is output and returns the result of one read, at most 16 KiB. The bytes
// are valid until the following Next. While it waits it holds no buffer.
//
// The error is io.EOF when no process has the terminal open any more and everything has been read,
// os.ErrDeadlineExceeded when the read deadline has passed (checked before the output is),
// os.ErrClosed after Close. Bytes and an error never come together. Next may be called again after
// a deadline and after io.EOF: on Linux a process that opens the terminal by name brings it back.
func (p *PTY) Next() ([]byte, error) {
	p.release()
	if p.ahead != nil {
		b, err := p.ahead.take()
		if len(b) > 0 {
			return b, nil
		}
		p.ahead.end()
		p.ahead = nil
		p.resume()
		if err != nil {
			return nil, p.readError(err)
		}
	}
	p.attempts = 0
	err := p.conn.Read(p.attempt)
	if err == nil {
		err = p.readErr
	}
	if err != nil {
		p.release()
		return nil, p.readError(err)
	}
	if p.n >= queueFull && p.attempts == 1 { // there before it was requested: the program is faster
		p.ahead = startAhead(p)
	}
	return p.buf[:p.n], nil
}

// readError replaces an error of the poller by the one that callers know.
func (p *PTY) readError(err error) error {
	if p.closed.Load() {
		return os.ErrClosed
	}
	return err
}

// tryRead reads once. It reports whether Next should return; if not, it is called again when the
// terminal is readable.
func (p *PTY) tryRead(fd uintptr) bool {
	p.attempts++
	p.buf = buffers.Get().(*[readSize]byte)
	p.n, p.readErr = p.read(fd, p.buf[:])
	if p.readErr == unix.EAGAIN {
		p.release()
		return false
	}
	return true
}

// read is [read], counted.
func (p *PTY) read(fd uintptr, b []byte) (int, error) {
	p.counting.Lock()
	defer p.counting.Unlock()
	n, err := read(fd, b)
	p.got += uint64(n)
	return n, err
}

// read reads once. The error is io.EOF at the terminal's end, unix.EAGAIN when nothing is there
// now.
func read(fd uintptr, b []byte) (int, error) {
	for {
		n, err := unix.Read(int(fd), b)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return 0, err
		case err == unix.EIO, err == nil && n == 0:
			// Linux ends a terminal with EIO, macOS with zero bytes.
			return 0, io.EOF
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		}
		return n, nil
	}
}

func (p *PTY) release() {
	if p.buf != nil {
		buffers.Put(p.buf)
		p.buf, p.n = nil, 0
	}
}

// Write sends b to the terminal as typed input, and blocks while the program does not read: a
// raw-mode terminal buffers about 18 KiB. It returns how many bytes the terminal has accepted;
// fewer than len(b) only with an error, which wraps os.ErrDeadlineExceeded when the write deadline
// has passed, os.ErrClosed after Close, and [ErrHungUp] when no process has the terminal open. In
// canonical mode the terminal accepts, and drops, what exceeds 4,095 bytes of a line: check
// LineMode first. Concurrent Writes do not mix their bytes.
func (p *PTY) Write(b []byte) (int, error) {
	// Linux 6.18 accepts, and drops, what is written when nobody has the terminal open (measured).
	if p.hungUp() {
		return 0, ErrHungUp
	}
	n, err := p.master.Write(b)
	if errors.Is(err, unix.EIO) {
		err = ErrHungUp
	}
	return n, p.orClosed(err)
}

// hungUp reports whether no process has the slave open. The kernel reports that even while there is
// output to read. It is false once the master is closed.
func (p *PTY) hungUp() (hungUp bool) {
	p.conn.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, 0)
		hungUp = err == nil && fds[0].Revents&unix.POLLHUP != 0
	})
	return hungUp
}

// SetReadDeadline sets the time after which Next returns os.ErrDeadlineExceeded, also for one that
// is waiting. The zero time means never.
func (p *PTY) SetReadDeadline(t time.Time) error {
	p.reading.Lock()
	defer p.reading.Unlock()
	p.readDeadline = t
	return p.orClosed(p.master.SetReadDeadline(t))
}

// interrupt ends a read that waits, until resume is called.
func (p *PTY) interrupt() {
	p.reading.Lock()
	defer p.reading.Unlock()
	p.interrupted = true
	p.master.SetReadDeadline(past)
}

func (p *PTY) resume() {
	p.reading.Lock()
	defer p.reading.Unlock()
	if p.interrupted {
		p.interrupted = false
		p.master.SetReadDeadline(p.readDeadline)
	}
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// SetWriteDeadline does for Write what SetReadDeadline does for Next.
func (p *PTY) SetWriteDeadline(t time.Time) error {
	return p.orClosed(p.master.SetWriteDeadline(t))
}

// orClosed replaces the poller's own "use of closed file" by the error that callers know.
func (p *PTY) orClosed(err error) error {
	if err != nil && p.closed.Load() {
		return os.ErrClosed
	}
	return err
}

// Resize changes the terminal's size; the kernel sends SIGWINCH to the foreground
// process group if the size differs. Zero Rows or Cols are refused.
func (p *PTY) Resize(s Size) error {
	if s.Rows == 0 || s.Cols == 0 {
		return fmt.Errorf("resize the terminal to %d rows and %d columns: give at least one of each", s.Rows, s.Cols)
	}
	ws := &unix.Winsize{Row: s.Rows, Col: s.Cols, Xpixel: s.PixelWidth, Ypixel: s.PixelHeight}
	return p.ioctl("set the terminal's size", func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, ws)
	})
}

// group returns the terminal's foreground process group: what Ctrl+C would reach. The error is
// [ErrExited] when there is none: the program has ended, or the terminal is not a controlling one.
func (p *PTY) group() (pgid int, err error) {
	err = p.ioctl("ask for the foreground process group", func(fd int) (err error) {
		pgid, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	if err == nil && pgid <= 0 {
		return 0, ErrExited
	}
	return pgid, err
}

// LineMode returns the terminal's current line discipline settings. The program may change them at
// any time. On Windows it returns an error that wraps errors.ErrUnsupported.
func (p *PTY) LineMode() (m LineMode, err error) {
	err = p.ioctl("ask for the terminal's modes", func(fd int) error {
		t, err := unix.IoctlGetTermios(fd, getTermios)
		if err != nil {
			return err
		}
		m = LineMode{
			Canonical: t.Lflag&unix.ICANON != 0,
			Echo:      t.Lflag&unix.ECHO != 0,
			Signals:   t.Lflag&unix.ISIG != 0,
			CRToNL:    t.Iflag&unix.ICRNL != 0,
			EOF:       char(t.Cc[unix.VEOF]),
			EOL:       char(t.Cc[unix.VEOL]),
			EOL2:      char(t.Cc[unix.VEOL2]),
			Interrupt: char(t.Cc[unix.VINTR]),
			Quit:      char(t.Cc[unix.VQUIT]),
			Suspend:   char(t.Cc[unix.VSUSP]),
			Erase:     char(t.Cc[unix.VERASE]),
			WordErase: char(t.Cc[unix.VWERASE]),
			Kill:      char(t.Cc[unix.VKILL]),
		}
		return nil
	})
	return m, err
}

// SetEcho turns the terminal's echo of input on or off. The program may change it again. On Windows
// it returns an error that wraps errors.ErrUnsupported.
func (p *PTY) SetEcho(on bool) error {
	return p.ioctl("set the terminal's echo", func(fd int) error {
		t, err := unix.IoctlGetTermios(fd, getTermios)
		if err != nil {
			return err
		}
		if t.Lflag &^= unix.ECHO; on {
			t.Lflag |= unix.ECHO
		}
		return unix.IoctlSetTermios(fd, setTermios, t)
	})
}

// char maps "switched off", which is 0 on Linux and 0xff on macOS, to 0.
func char(c uint8) byte {
	if c == posixVDisable {
		return 0
	}
	return c
}

// ioctl runs f on the master. doing completes the error's message.
func (p *PTY) ioctl(doing string, f func(fd int) error) error {
	var err error
	if ctlErr := p.conn.Control(func(fd uintptr) {
		for err = unix.EINTR; err == unix.EINTR; {
			err = f(int(fd))
		}
	}); ctlErr != nil {
		err = os.ErrClosed // Control returns no other error of its own
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// Close closes the master and makes a waiting Next or Write return os.ErrClosed. The kernel hangs
// up the terminal: its processes get SIGHUP, which does not end those that ignore it, nor those
// that have left the session. Call Kill first to end them all; Kill cannot find processes by their
// terminal once it is closed. Close may wait for one scan of the process table by a concurrent
// Kill. A second Close returns os.ErrClosed.
func (p *PTY) Close() error {
	if p.closed.Swap(true) {
		return os.ErrClosed
	}
	p.master.SetDeadline(past) // wakes Next and Write before we have the lock
	p.terminal.Lock()
	defer p.terminal.Unlock()
	p.memory.remove()
	return p.master.Close()
}
