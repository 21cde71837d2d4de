//go:build linux || darwin

package pty

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Watcher is a process that ends recorded programs when this process is gone, even if it was killed
// outright and could end nothing itself. Its methods may be called from any goroutine.
type Watcher struct {
	process *os.Process
	pipe    *os.File

	wake    chan struct{} // holds at most one "there is news"
	written chan struct{} // closed when the writing goroutine has ended

	failed bool // valid once written is closed: the watcher may not know everything

	mu sync.Mutex // protects the fields below
	// want is what the watcher should know, told what was sent to it. Only the difference is ever
	// written, so a watcher that does not read costs no memory.
	want, told map[*PTY]string
	rest       []byte // the part of what was sent that did not fit the pipe
	writing    bool   // the writing goroutine is running
	closing    bool
}

// watcherPatience is how long Close waits for the watcher to read what is outstanding, then to end
// what is still recorded (killAfter, killBound) and itself.
const watcherPatience = killAfter + killBound + time.Second

// StartWatcher starts argv, which must end up calling [RunWatcher] with its standard input, as a
// process in its own session, with a pipe for standard input, no output and no other descriptors.
// argv[0] is looked up in PATH. One per server is enough.
func StartWatcher(argv []string) (*Watcher, error) {
	if len(argv) == 0 {
		return nil, errors.New("start the watcher: no program was given")
	}
	w, err := startWatcher(argv)
	if err != nil {
		return nil, fmt.Errorf("start the watcher %q: %w", argv[0], err)
	}
	go w.write()
	return w, nil
}

func startWatcher(argv []string) (*Watcher, error) {
	path, err := exec.LookPath(argv[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	r, pipe, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	keepInherited()
	process, err := os.StartProcess(path, argv, &os.ProcAttr{
		Dir:   "/", // so that it does not keep a file system busy
		Files: []*os.File{r, null, null},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		pipe.Close()
		return nil, err
	}
	return &Watcher{
		process: process, pipe: pipe,
		wake: make(chan struct{}, 1), written: make(chan struct{}),
		want: make(map[*PTY]string), told: make(map[*PTY]string),
	}, nil
}

// PID returns the watcher's process id.
func (w *Watcher) PID() int { return w.process.Pid }

// Add records p and its descendants: they are ended if this process ends before Remove. It does not
// block. A process killed after Add has returned leaves nothing behind: the record is in the pipe
// by then, unless the watcher is a full pipe behind.
func (w *Watcher) Add(p *PTY) {
	w.set(p, func() string { return record(p.identity()) })
	// From then on the watcher must know that the leader's pid may be reused.
	p.whenReaped(func() {
		w.set(p, func() string {
			if w.want[p] == "" {
				return ""
			}
			return record(p.identity())
		})
	})
}

// Remove deletes the record of p: nothing of it is touched any more. It does not block. Call it
// when Kill has returned.
func (w *Watcher) Remove(p *PTY) { w.set(p, func() string { return "" }) }

func (w *Watcher) set(p *PTY, line func() string) {
	w.mu.Lock()
	if !w.closing {
		if s := line(); s != "" {
			w.want[p] = s
		} else {
			delete(w.want, p)
		}
		if !w.writing {
			w.tell()
		}
	}
	more := w.writing || len(w.rest) > 0
	w.mu.Unlock()
	if !more {
		return
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// tell writes what is new as far as the pipe has room. It is called with mu held, and does not
// block.
func (w *Watcher) tell() {
	w.rest = append(w.rest, w.news()...)
	conn, err := w.pipe.SyscallConn()
	if err != nil || len(w.rest) == 0 {
		return // the writing goroutine finds out
	}
	conn.Write(func(fd uintptr) bool {
		if n, err := unix.Write(int(fd), w.rest); err == nil {
			w.rest = w.rest[n:]
		}
		return true
	})
	if len(w.rest) == 0 {
		w.rest = nil
	}
}

// write sends what did not fit the pipe, until Close. It is the only goroutine that may have to
// wait for the watcher.
func (w *Watcher) write() {
	defer close(w.written)
	for range w.wake {
		w.mu.Lock()
		lines, closing := append(w.rest, w.news()...), w.closing
		w.rest, w.writing = nil, true
		w.mu.Unlock()
		if len(lines) > 0 {
			if _, err := w.pipe.Write(lines); err != nil {
				w.failed = true
				return // it is gone, or Close has timed out
			}
		}
		w.mu.Lock()
		w.writing = false
		w.mu.Unlock()
		if closing {
			return
		}
	}
}

// news returns what the watcher does not know yet, and counts it as sent. It is called with mu
// held.
func (w *Watcher) news() (lines []byte) {
	for p := range w.told {
		if w.want[p] == "" {
			delete(w.told, p)
			lines = fmt.Appendf(lines, "%s%d %d\n", lineRemove, p.tree.pid, p.tree.start)
		}
	}
	for p, line := range w.want {
		if w.told[p] != line {
			w.told[p] = line
			lines = append(lines, line...)
		}
	}
	return lines
}

// Close sends the watcher what it does not know yet and then ends its input: the watcher ends what
// is still recorded, and itself. Close returns when the watcher has ended, after at most 5 s; a
// watcher that has not read by then is killed, so that it never acts on stale records. A second
// Close has no effect.
func (w *Watcher) Close() error {
	w.mu.Lock()
	again := w.closing
	w.closing = true
	w.mu.Unlock()
	if again {
		return nil
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
	w.pipe.SetWriteDeadline(time.Now().Add(time.Second))
	<-w.written
	if w.failed {
		w.process.Kill()
	}
	late := time.AfterFunc(watcherPatience, func() { w.process.Kill() })
	defer late.Stop()
	closeErr := w.pipe.Close()
	state, err := w.process.Wait()
	switch {
	case err != nil:
		return fmt.Errorf("wait for the watcher: %w", err)
	case !state.Success():
		return fmt.Errorf("the watcher, process %d, did not end by itself: %v",
			w.process.Pid, state)
	}
	return closeErr
}

// The lines of the watcher's protocol. Numbers are decimal, times those of clockTicks; the
// mark is quoted as in Go, and a reaped of 0 means that the leader's pid is still taken.
//
//	add PID START REAPED TTY DEV INO MADE MARK
//	remove PID START
const (
	lineAdd    = "add "
	lineRemove = "remove "
	// maxLine bounds a line, in bytes: a mark has at most 128 KiB, the kernel's bound on
	// one environment string, and quoting makes at most four bytes of one.
	maxLine = 1 << 20
)

func record(t tree) string {
	return fmt.Sprintf("%s%d %d %d %d %d %d %d %q\n",
		lineAdd, t.pid, t.start, t.reaped, t.terminal.tty, t.terminal.dev, t.terminal.ino, t.made,
		t.mark)
}

func parseRecord(line string) (t tree, err error) {
	fields := strings.SplitN(line, " ", 8)
	if len(fields) != 8 {
		return t, fmt.Errorf("%d fields, want 8", len(fields))
	}
	if t.pid, t.start, err = parseID(fields[:2]); err != nil {
		return t, err
	}
	for i, n := range []*uint64{&t.reaped, &t.terminal.tty, &t.terminal.dev, &t.terminal.ino,
		&t.made} {
		if *n, err = strconv.ParseUint(fields[i+2], 10, 64); err != nil {
			return t, err
		}
	}
	t.mark, err = strconv.Unquote(fields[7])
	return t, err
}

// wakeTicks is how much earlier the server may have ended than the watcher notices: a second, on a
// busy machine. Terminal numbers are reused at once, and a process started on one meanwhile is not
// ours.
const wakeTicks = ticksPerSecond

// RunWatcher is the body of the process that [StartWatcher] starts; r is its standard input. It
// reads records until r ends, which is when the server has ended for whatever reason, then ends the
// recorded trees by the stages of [PTY.Kill], within 3 s, and returns. Processes whose records were
// removed are never touched. SIGHUP, SIGINT and SIGTERM are ignored from the call on: otherwise
// killing the server by name would end its watcher first.
//
// The error is a [*SurvivorsError], or says which line could not be parsed; then only what was read
// before is ended.
func RunWatcher(r io.Reader) error {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	trees, err := readRecords(r)
	now := clockTicks()
	targets := make([]target, 0, len(trees))
	for _, t := range trees {
		// The server was there until now, and had not reaped the leader. Its end has closed the
		// terminal, whose number may be reused, and a process that was started before may get it.
		if t.reaped == 0 {
			t.reaped = now
		}
		t.noTTY, t.until = true, now-min(now, wakeTicks)
		targets = append(targets, target{tree: t})
	}
	if len(targets) == 0 {
		return err
	}
	return errors.Join(err, newSweep(targets).run(context.Background()))
}

func readRecords(r io.Reader) (map[id]tree, error) {
	trees := make(map[id]tree)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		line := lines.Text()
		t, err := tree{}, errors.New("unknown kind of line")
		if rest, ok := strings.CutPrefix(line, lineAdd); ok {
			if t, err = parseRecord(rest); err == nil {
				trees[id{t.pid, t.start}] = t
			}
		} else if rest, ok := strings.CutPrefix(line, lineRemove); ok {
			if t.pid, t.start, err = parseID(strings.Fields(rest)); err == nil {
				delete(trees, id{t.pid, t.start})
			}
		}
		if err != nil {
			return trees, fmt.Errorf("read the watcher's record: %q: %w", clip(line, 64), err)
		}
	}
	if err := lines.Err(); err != nil {
		return trees, fmt.Errorf("read the watcher's record: %w", err)
	}
	return trees, nil
}

func parseID(fields []string) (pid int, start uint64, err error) {
	if len(fields) != 2 {
		return 0, 0, fmt.Errorf("%d fields, want 2", len(fields))
	}
	if pid, err = strconv.Atoi(fields[0]); err != nil || pid <= pidInit {
		return 0, 0, errors.New("bad process id")
	}
	start, err = strconv.ParseUint(fields[1], 10, 64)
	return pid, start, err
}
