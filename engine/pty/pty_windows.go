package pty

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
	"unsafe"

	"github.com/charmbracelet/x/conpty"
	"golang.org/x/sys/windows"
)

const (
	separators = `\/:`
	onWindows  = true
)

// PTY is a program on its pseudo-console. Its methods may be called from any goroutine, but only
// one at a time may call Next, which returns a shared buffer. A parked session costs two goroutines
// in system calls, each with a thread, and a buffer of 4 KiB.
type PTY struct {
	pid     int
	path    string         // of its executable, absolute
	process windows.Handle // of the reaping goroutine
	done    chan struct{}  // closed when the program has ended
	exit    Exit           // valid once done is closed

	// console is read-locked while a call uses con's handles, which are closed, and their numbers
	// reused, once con is closed.
	console    sync.RWMutex
	con        *conpty.ConPty
	conClosed  bool
	hangUp     sync.Once
	hungUp     chan struct{} // closed when con is about to be closed: ends a Write
	writing    sync.Mutex    // keeps the bytes of one Write together
	readLimit  deadline
	writeLimit deadline

	out     windows.Handle // of the reading goroutine
	chunks  chan chunk
	eof     chan struct{} // closed after the last chunk
	closed  chan struct{}
	closing sync.Once
	last    *[readSize]byte // handed out by the last Next

	jobs sync.Mutex // protects the field below
	job  windows.Handle
}

type chunk struct {
	buf *[readSize]byte
	n   int
}

// readSize is the default size of a Windows pipe, so more would not be filled.
const readSize = 4 << 10

var buffers = sync.Pool{New: func() any { return new([readSize]byte) }}

// Start opens a pseudo-console of the given size and starts the program in it, inside a job object
// that nothing it starts can leave. No handles are inherited. SYSTEMROOT is added to an environment
// that lacks it, since system libraries do not load without it.
//
// The error is a [*StartError] or a [*MemoryLimitError].
func Start(c Command) (*PTY, error) {
	if c.MaxMemory > 0 {
		return nil, &MemoryLimitError{Why: "this system has no cgroup v2"}
	}
	env, err := c.environment()
	if err != nil {
		return nil, &StartError{Op: "command", Path: c.Path, Err: err}
	}
	if c.Dir != "" {
		info, err := os.Stat(c.Dir)
		if err == nil && !info.IsDir() {
			err = windows.ERROR_DIRECTORY
		}
		if err != nil {
			return nil, &StartError{Op: "dir", Path: c.Dir, Err: cause(err)}
		}
	}
	path, err := lookup(c.Path, c.Dir, env)
	if err != nil {
		return nil, &StartError{Op: "lookup", Path: c.Path, Err: err}
	}

	if c.Size.Rows == 0 && c.Size.Cols == 0 {
		c.Size.Rows, c.Size.Cols = 24, 80
	}
	p := &PTY{
		done: make(chan struct{}), hungUp: make(chan struct{}),
		chunks: make(chan chunk), eof: make(chan struct{}), closed: make(chan struct{}),
		readLimit: newDeadline(), writeLimit: newDeadline(),
	}
	if p.con, err = conpty.New(int(c.Size.Cols), int(c.Size.Rows), 0); err != nil {
		return nil, &StartError{Op: "open", Err: err}
	}
	fail := func(op, path string, err error) (*PTY, error) {
		p.con.Close()
		if p.out != 0 {
			windows.CloseHandle(p.out)
		}
		if p.job != 0 {
			windows.CloseHandle(p.job)
		}
		return nil, &StartError{Op: op, Path: path, Err: err}
	}
	// Closing the console flushes its output, and con.Close closes its own end of the pipe with it;
	// the rest is read through a second handle.
	self := windows.CurrentProcess()
	err = windows.DuplicateHandle(self, windows.Handle(p.con.OutPipeReadFd()), self, &p.out, 0,
		false, windows.DUPLICATE_SAME_ACCESS)
	if err != nil {
		return fail("open", "", err)
	}
	if p.job, err = newJob(); err != nil {
		return fail("open", "", err)
	}
	if p.pid, p.process, err = spawn(p.con, p.job, path, append([]string{c.Path}, c.Args...), c.Dir,
		env); err != nil {
		return fail("start", path, err)
	}
	if p.path = path; !filepath.IsAbs(path) {
		p.path = filepath.Join(c.Dir, path)
	}
	if abs, err := filepath.Abs(p.path); err == nil {
		p.path = abs
	}
	go p.reap()
	go p.readAll()
	return p, nil
}

// newJob returns a job that ends its processes when the last handle on it is closed, which is also
// when this process ends, for whatever reason.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, os.NewSyscallError("CreateJobObject", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, os.NewSyscallError("SetInformationJobObject", err)
	}
	return job, nil
}

// PID returns the process id of the program. It is meaningless once Wait has returned.
func (p *PTY) PID() int { return p.pid }

func (p *PTY) reap() {
	p.exit = Exit{Code: -1}
	var code uint32
	if event, err := windows.WaitForSingleObject(p.process, windows.INFINITE); err == nil &&
		event == windows.WAIT_OBJECT_0 {
		if windows.GetExitCodeProcess(p.process, &code) == nil {
			p.exit.Code = int(code)
		}
	}
	windows.CloseHandle(p.process)
	close(p.done)
	// A pseudo-console does not end with its last program: unless it is closed, the
	// output never ends. On systems before Windows 11 24H2 this waits for the reader.
	p.closeConsole()
}

// closeConsole closes the console once. Windows notifies its programs, which end unless they handle
// that, and their output can still be read.
func (p *PTY) closeConsole() {
	p.hangUp.Do(func() {
		close(p.hungUp)
		p.console.Lock()
		p.conClosed = true
		p.console.Unlock()
		p.con.Close()
	})
}

// readAll hands the output to Next until it ends; after Close it discards it, since the console
// must be drained to close.
func (p *PTY) readAll() {
	defer windows.CloseHandle(p.out)
	defer close(p.eof)
	for {
		buf := buffers.Get().(*[readSize]byte)
		var n uint32
		if err := windows.ReadFile(p.out, buf[:], &n, nil); err != nil {
			buffers.Put(buf)
			return // ERROR_BROKEN_PIPE: the console is gone
		}
		select {
		case p.chunks <- chunk{buf, int(n)}:
		case <-p.closed:
			buffers.Put(buf)
		}
	}
}

// Next blocks until there is output, then returns the result of one read, at most 4 KiB. The bytes
// are valid until the following Next.
//
// The error is io.EOF when the console is gone and everything has been read,
// os.ErrDeadlineExceeded when the read deadline has passed, os.ErrClosed after Close.
// Bytes and an error never come together.
func (p *PTY) Next() ([]byte, error) {
	if p.last != nil {
		buffers.Put(p.last)
		p.last = nil
	}
	expired := p.readLimit.wait()
	select {
	case <-p.closed:
		return nil, os.ErrClosed
	case <-expired:
		return nil, os.ErrDeadlineExceeded
	default:
	}
	select {
	case c := <-p.chunks:
		p.last = c.buf
		return c.buf[:c.n], nil
	case <-p.eof:
		return nil, io.EOF
	case <-p.closed:
		return nil, os.ErrClosed
	case <-expired:
		return nil, os.ErrDeadlineExceeded
	}
}

// Write sends b to the console as typed input. It returns how many bytes were accepted; fewer than
// len(b) only with an error, which wraps os.ErrDeadlineExceeded when the write deadline has passed,
// os.ErrClosed after Close, and [ErrHungUp] when the program has ended. Concurrent Writes do not
// mix their bytes.
func (p *PTY) Write(b []byte) (int, error) {
	p.writing.Lock()
	defer p.writing.Unlock()
	p.console.RLock()
	defer p.console.RUnlock()
	done := 0
	for done < len(b) {
		expired := p.writeLimit.wait()
		select {
		case <-p.closed:
			return done, os.ErrClosed
		case <-p.hungUp:
			return done, ErrHungUp
		case <-expired:
			return done, os.ErrDeadlineExceeded
		default:
		}
		n, err := p.writeSome(b[done:min(len(b), done+readSize)], expired)
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// writeSome writes b in a goroutine and cancels it when it must end earlier.
func (p *PTY) writeSome(b []byte, expired <-chan struct{}) (n int, err error) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		n, err = p.con.Write(b)
	}()
	var reason error
	select {
	case <-written:
	case <-p.closed:
		reason = os.ErrClosed
	case <-p.hungUp:
		reason = ErrHungUp
	case <-expired:
		reason = os.ErrDeadlineExceeded
	}
	for reason != nil {
		// A cancel that comes before the system call has begun has no effect, and nothing signals
		// that it has.
		windows.CancelIoEx(windows.Handle(p.con.InPipeWriteFd()), nil)
		again := time.NewTimer(time.Millisecond)
		select {
		case <-written:
			again.Stop()
			return n, reason
		case <-again.C:
		}
	}
	if err != nil {
		err = fmt.Errorf("write to the console: %w", err)
	}
	return n, err
}

// SetReadDeadline sets the time after which Next returns os.ErrDeadlineExceeded, also for one that
// is waiting. The zero time means never.
func (p *PTY) SetReadDeadline(t time.Time) error { return p.limit(&p.readLimit, t) }

// SetWriteDeadline does for Write what SetReadDeadline does for Next.
func (p *PTY) SetWriteDeadline(t time.Time) error { return p.limit(&p.writeLimit, t) }

func (p *PTY) limit(d *deadline, t time.Time) error {
	select {
	case <-p.closed:
		return os.ErrClosed
	default:
		d.set(t)
		return nil
	}
}

// Resize changes the console's size. Zero Rows or Cols are refused; pixels are ignored.
func (p *PTY) Resize(s Size) error {
	if s.Rows == 0 || s.Cols == 0 {
		return fmt.Errorf("resize the terminal to %d rows and %d columns: give at least one of each", s.Rows, s.Cols)
	}
	p.console.RLock()
	defer p.console.RUnlock()
	if p.conClosed {
		return fmt.Errorf("set the terminal's size: %w", os.ErrClosed)
	}
	return p.con.Resize(int(s.Cols), int(s.Rows))
}

// Foreground returns the program itself: a console does not reveal which of the processes that
// share it gets the keys. The error is [ErrExited] once the program has ended.
func (p *PTY) Foreground() (Process, error) {
	select {
	case <-p.done:
		return Process{}, ErrExited
	default:
		return Process{PID: p.pid, Path: p.path, Name: filepath.Base(p.path), Leader: true}, nil
	}
}

// LineMode returns an error that wraps errors.ErrUnsupported: a console's modes can only be queried
// from inside.
func (p *PTY) LineMode() (LineMode, error) {
	return LineMode{},
		fmt.Errorf("ask for the terminal's modes: %w on Windows", errors.ErrUnsupported)
}

// Wait blocks until the program has ended, and returns how it ended. Any number of goroutines may
// wait, any number of times. It says nothing about unread output or descendants.
func (p *PTY) Wait() Exit {
	<-p.done
	return p.exit
}

// Signal does what the name means on Windows: SignalInt types Ctrl+C, SignalTerm and SignalKill
// terminate everything in the job at once; the others return an error that wraps
// errors.ErrUnsupported. The error is [ErrExited] once the program has ended.
func (p *PTY) Signal(s Signal) error {
	if _, err := ParseSignal(string(s)); err != nil {
		return err
	}
	select {
	case <-p.done:
		return ErrExited
	default:
	}
	switch s {
	case SignalInt:
		_, err := p.Write([]byte{0x03})
		return err
	case SignalTerm, SignalKill:
		return p.terminate()
	}
	return fmt.Errorf("send %s: %w on Windows: use term, kill or int", s, errors.ErrUnsupported)
}

// Close closes the console and makes a waiting Next or Write return os.ErrClosed. Windows notifies
// the console's programs, which ends those that do not handle it; Kill ends the others, or the end
// of this process does. A second Close returns os.ErrClosed.
func (p *PTY) Close() error {
	err := os.ErrClosed
	p.closing.Do(func() {
		close(p.closed)
		p.closeConsole()
		err = nil
	})
	return err
}

// deadline is a moment that may be moved while callers wait for it.
type deadline struct {
	mu      *sync.Mutex // protects the fields below
	timer   *time.Timer
	expired chan struct{} // closed when the moment has passed
}

func newDeadline() deadline {
	return deadline{mu: new(sync.Mutex), expired: make(chan struct{})}
}

func (d *deadline) wait() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.expired
}

// set moves the deadline. A future moment does not replace the channel that callers are waiting on.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil && !d.timer.Stop() {
		<-d.expired // it fires now; wait until it has
	}
	d.timer = nil
	select {
	case <-d.expired:
		d.expired = make(chan struct{})
	default:
	}
	if t.IsZero() {
		return
	}
	expired := d.expired
	if wait := time.Until(t); wait > 0 {
		d.timer = time.AfterFunc(wait, func() { close(expired) })
		return
	}
	close(expired)
}

// Status returns the exit code.
func (e Exit) Status() int { return e.Code }
