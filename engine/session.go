package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/pulse"
)

// closeBound is how long Close waits for the pump after the master is closed, and for processes
// that cannot be ended.
const closeBound = 2 * time.Second

// A PTY is one child on one pseudo-terminal; *[pty.PTY] implements it and documents the methods.
type PTY interface {
	PID() int
	Next() ([]byte, error)
	Write(p []byte) (int, error)
	TryWrite(p []byte) (int, error)
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
	Resize(s pty.Size) error
	LineMode() (pty.LineMode, error)
	Foreground() (pty.Process, error)
	Signal(s pty.Signal) error
	Wait() pty.Exit
	Kill(ctx context.Context) error
	Close() error
}

// A Session is one child on one PTY with its terminal and its transcript. Its methods are safe for
// concurrent use.
type Session struct {
	id      ID
	config  Config
	started time.Time
	pty     PTY
	input   *inputQueue
	onces   onces
	turn    chan struct{} // held by the action under way
	tapping chan struct{} // held while taps are called
	sizing  chan struct{} // held while the terminal gets a size
	pulse   pulse.Pulse
	engine  *Engine
	log     *slog.Logger
	reaped  chan struct{}   // closed when leader is set
	final   chan struct{}   // closed when the end of output is published
	pumped  chan struct{}   // closed when the pump has ended
	life    context.Context // ends when Close is done
	end     context.CancelFunc
	woken   time.Time   // when the pump last woke the waiters
	waking  atomic.Bool // later is running
	later   *time.Timer // wakes them after a flood's batch
	settled *time.Timer // checks the terminal's echo when output has stopped
	frame   *time.Timer // shows what a synchronized update has hidden for too long
	leader  pty.Exit
	environ []string // what the child gets, without our own variables; sorted
	holds   holds
	leash   leash
	over    over        // guarded by Engine.mu
	exited  atomic.Bool // exit is set
	events  eventLog
	heard   bool   // the batch under way was noted in events; the pump's
	tapped  uint64 // up to where taps have got events; whoever holds tapping may use it

	eventTaps atomic.Bool   // a tap wants events
	hidden    atomic.Int64  // secrets that were hidden from whoever looked last
	hiddenAt  atomic.Uint64 // in that sequence

	echo sync.Mutex
	// protects the field below, and the order in which the terminal's echo is read and reported
	secrets SecretInput

	asking  atomic.Bool // asked is not empty
	looking sync.Mutex
	// makes one step of a look at what is unread and its note

	mu sync.Mutex
	// protects the fields below, but for shell, which the reaper ends
	fold
	timed  time.Time // the fold's hiding that the frame timer runs for
	secret bool      // the program reads with echo off
	raw    bool      // the program reads keys itself
	asked  []*typedInput
	fed    uint64 // bytes of output
	view   *View  // the last view, until something changes
	exit   *Exit
	ended  bool
	killed bool
	closed bool
	taps   []Tap
	tapErr error
	lease  *Lease // who alone may type; nil: anyone
	keys   keyboard
	image  string // what the leader was started with; "": not known yet
	imaged bool   // it has been read again
}

// ID returns the session's id, unique in its engine's life.
func (s *Session) ID() ID { return s.id }

// Config returns what the session was started with.
func (s *Session) Config() Config { return s.config }

// Started returns when the child was started.
func (s *Session) Started() time.Time { return s.started }

// PID returns the leader's process id.
func (s *Session) PID() int { return s.pty.PID() }

// View returns the session as it is now. It blocks for the parsing of one batch of output at most.
func (s *Session) View() *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := *s.current()
	v.At = time.Now()
	return &v
}

// current is View with mu held and without a time; the result is not to be modified.
func (s *Session) current() *View {
	if s.view == nil {
		v := s.fold.view()
		v.Session, v.Exit, v.Ended, v.Killed = s.id, s.exit, s.ended, s.killed
		v.Secret, v.Keys, v.Typed, v.Lease = s.secret, s.raw, s.keys.now, s.lease
		v.Marked = s.shell.word != ""
		v.session = s
		s.view = &v
	}
	return s.view
}

// Changed returns a channel that is closed when the session next changes. Take it before a view.
func (s *Session) Changed() <-chan struct{} { return s.pulse.Next() }

// Sequence counts batches of output, resizes and released frames.
func (s *Session) Sequence() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.term.Sequence()
}

// TapError returns why a tap was detached; nil when none was.
func (s *Session) TapError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tapErr
}

// OffsetAt returns the transcript position from which everything is newer than seq; 0 when seq is
// too old to be known, and everything that was retained then is gone.
func (s *Session) OffsetAt(seq uint64) Offset {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seqs.at(seq)
}

// Closed returns a channel that is closed when [Session.Close] is done or the session was
// forgotten.
func (s *Session) Closed() <-chan struct{} { return s.life.Done() }

// AfterClose calls f in its own goroutine once the session is closed or forgotten, or at once when
// it already is. It is for dropping what is kept under the session's id: f must not block. stop
// works like that of [context.AfterFunc].
func (s *Session) AfterClose(f func()) (stop func() bool) { return context.AfterFunc(s.life, f) }

func (s *Session) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// inputError returns why the session takes no input; nil when it does.
func (s *Session) inputError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.killed || s.closed:
		return ErrClosed
	case s.exit != nil:
		return ErrEnded
	}
	return nil
}

// touch is called with mu held after every change of the fold: it drops the cached view and times a
// synchronized update.
func (s *Session) touch() {
	s.view = nil
	if s.timed == s.hiding {
		return
	}
	if s.timed = s.hiding; s.timed.IsZero() {
		s.frame.Stop()
	} else {
		s.frame.Reset(frameBound)
	}
}

// beat wakes the waiters on this session and on any session.
func (s *Session) beat() {
	s.pulse.Beat()
	s.engine.pulse.Beat()
}

// pump reads until the terminal is closed, and then publishes the exit. A panic in what it feeds
// ends only this session.
func (s *Session) pump(drain *pty.Drain) {
	defer close(s.pumped)
	if cause := s.read(drain); cause != nil {
		s.log.Error("a session failed and was ended", "session", s.id, "panic", cause, "stack",
			string(debug.Stack()))
		if err := s.pty.Kill(context.Background()); err != nil {
			s.log.Error("a failed session could not be ended", "session", s.id, "error", err)
		}
	}
	s.finish()
}

// read takes output until there is no more. Nothing else feeds the terminal and the transcript.
func (s *Session) read(drain *pty.Drain) (panicked any) {
	defer func() { panicked = recover() }()
	for {
		p, err := s.pty.Next()
		if len(p) > 0 {
			s.output(p)
			if drain.Read(len(p)) {
				s.publish(true)
			}
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if drain.Expired() {
				s.publish(true)
			}
			continue
		}
		if err != nil {
			if errors.Is(err, io.EOF) && !s.isReaped() {
				<-s.reaped // a leader that let go of its terminal may have reopened it by name
				continue
			}
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
				s.log.Warn("reading a terminal ended early", "session", s.id, "error", err)
			}
			return nil
		}
	}
}

func (s *Session) isReaped() bool {
	select {
	case <-s.reaped:
		return true
	default:
		return false
	}
}

// output takes one batch.
func (s *Session) output(p []byte) {
	now := time.Now()
	s.stir(now)
	s.engine.counts.output.Add(int64(len(p)))
	s.noteImage()
	s.lookUnread()
	s.hear(p)
	for rest := p; len(rest) > 0; {
		n := s.untilCut(len(rest))
		if reply := s.take(rest[:n], now); len(reply) > 0 && !s.config.Attended {
			s.input.reply(reply)
		}
		rest = rest[n:]
	}
	if len(p) < floodBatch { // a flood asks no questions
		s.lookAfter(true)
		s.settled.Reset(echoSettles)
	}
	s.wake(len(p), now)
	if s.heard {
		s.heard = false
		s.wakeReaders()
	}
}

// echoSettles is how long after output the terminal's echo is checked again: a program that prints
// its question first switches echo off within microseconds, on a busy machine within milliseconds.
// No event reports it.
const echoSettles = 50 * time.Millisecond

// take gives one batch to the terminal and to the taps: both see output and sizes in one order.
func (s *Session) take(p []byte, now time.Time) (reply []byte) {
	s.tapping <- struct{}{}
	defer func() { <-s.tapping }()
	var marks []Mark
	defer func() { // even if the terminal fails on it: then it is what a reader wants to see
		s.eachTap(func(t Tap) error {
			if m, ok := t.(MarkTap); ok {
				return m.Marked(now, p, marks)
			}
			return t.Output(now, p)
		})
		if s.heard {
			s.tapEvents()
		}
	}()
	reply, marks = s.feed(p, now)
	return reply
}

const (
	// floodBatch is how much output at once is a flood rather than an answer: only a whole repaint
	// of a large screen takes as much.
	floodBatch = 2 << 10
	// floodFloor is the shortest time between two wakes during a flood. Each wake makes a waiter
	// read the whole screen, on a core that the program could use: with a wake for every batch a
	// flood takes half as long again. A wait that ends with a flood may end up to twice this much
	// later.
	floodFloor = time.Millisecond
)

// wake wakes the waiters: at once, or in a flood when floodFloor has passed.
func (s *Session) wake(size int, now time.Time) {
	if size < floodBatch || now.Sub(s.woken) >= floodFloor {
		s.woken = now
		s.beat()
		if s.waking.CompareAndSwap(true, false) {
			s.later.Stop() // so in a continuing flood it never runs: it is for the last batch
		}
		return
	}
	if (s.pulse.Awaited() || s.engine.pulse.Awaited()) && s.waking.CompareAndSwap(false, true) {
		s.later.Reset(2 * floodFloor)
	}
}

// feed passes one batch to the terminal and the transcript, and returns the terminal's reply and
// the shell's marks.
func (s *Session) feed(p []byte, now time.Time) (reply []byte, marks []Mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.hearing()
	for e := range s.steps(p, now) {
		reply = append(reply, e.Reply...)
	}
	for _, m := range s.marks {
		s.keys.marked(m.Kind, m.line)
	}
	s.heardOutput(before, now)
	s.noteFed(len(p))
	s.touch()
	return reply, s.marks
}

// showFrame shows what a synchronized update has hidden for too long.
func (s *Session) showFrame() {
	now := time.Now()
	s.mu.Lock()
	due := s.overdue(now)
	if due {
		s.release(now)
		s.touch()
	}
	s.mu.Unlock()
	if due {
		s.beat()
	}
}

// Resize changes the terminal's size and notifies the child. Errors: *[SizeError], *[LeasedError],
// [ErrEnded], [ErrClosed].
func (s *Session) Resize(size pty.Size) error { return s.resize(size, nil, "") }

// resize is Resize by who, with a lease, if there is one.
func (s *Session) resize(size pty.Size, by *Lease, who string) error {
	rows, cols := int(size.Rows), int(size.Cols)
	if err := s.engine.checkSize(rows, cols); err != nil {
		return err
	}
	if err := s.inputError(); err != nil {
		return err
	}
	if err := s.mayType(by); err != nil {
		return err
	}
	// One at a time from here to the kernel, so that the last size wins there too.
	s.sizing <- struct{}{}
	defer func() { <-s.sizing }()
	now := time.Now()
	s.tapping <- struct{}{}
	s.mu.Lock()
	reply := bytes.Clone(s.fold.resize(rows, cols, int(size.PixelWidth),
		int(size.PixelHeight), now))
	s.touch()
	seq := s.term.Sequence()
	s.mu.Unlock()
	s.eachTap(func(t Tap) error { return t.Resize(now, rows, cols) })
	<-s.tapping
	if by != nil {
		who = by.Holder
	}
	s.note(&Event{Kind: EventResize, At: now, Until: now, Sequence: seq, Last: seq, Rows: rows,
		Cols: cols, By: who})
	err := s.pty.Resize(size)
	if len(reply) > 0 && !s.config.Attended {
		s.input.reply(reply)
	}
	s.beat()
	return err
}

// setTheme changes the terminal's theme and notifies the program if it asked for that.
func (s *Session) setTheme(theme vt.Theme, by *Lease) error {
	if err := s.inputError(); err != nil {
		return err
	}
	if err := s.mayType(by); err != nil {
		return err
	}
	s.mu.Lock()
	reply := bytes.Clone(s.fold.setTheme(theme, time.Now()))
	s.touch()
	s.mu.Unlock()
	if len(reply) > 0 && !s.config.Attended {
		s.input.reply(reply)
	}
	s.beat()
	return nil
}

func (e *Engine) checkSize(rows, cols int) error {
	if rows < 1 || rows > e.opts.Side || cols < 1 || cols > e.opts.Side {
		return &SizeError{Rows: rows, Cols: cols, Most: e.opts.Side}
	}
	return nil
}

// Kill ends the program and all its descendants and returns when none is left. The session can
// still be read; input is refused from now on. If the program has ended, Kill ends the processes it
// left. Errors: *[pty.SurvivorsError], or the cause of ctx's end.
func (s *Session) Kill(ctx context.Context) error {
	s.hold()
	defer s.let()
	s.refuse()
	if err := s.pty.Kill(ctx); err != nil {
		return err
	}
	bound := time.NewTimer(closeBound)
	defer bound.Stop()
	select { // what is left now can only be read
	case <-s.pumped:
		return nil
	case <-bound.C: // something out of our reach holds the terminal open
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// refuse makes the session take no more input.
func (s *Session) refuse() {
	s.mu.Lock()
	s.killed, s.view = true, nil
	s.mu.Unlock()
	s.input.close(ErrClosed)
}

// Close ends the program and all its descendants, waits until everything the session owns is gone
// and takes it out of its engine. It may be called more than once; every call returns when the
// session is gone. Errors are those of Kill; the session is gone even then.
func (s *Session) Close(ctx context.Context) error {
	var err error
	if s.forgotten() == nil { // a forgotten session has nothing left to end
		err = s.Kill(ctx)
	}
	s.engine.forget(s)
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.frame.Stop()
	s.mu.Unlock()
	if !first {
		<-s.life.Done()
		return err
	}
	defer s.end()
	// Survivors stay watched, so that they are killed when the server ends.
	if p, ok := s.pty.(*pty.PTY); ok && s.engine.opts.Watch != nil && err == nil {
		s.engine.opts.Watch.Remove(p)
	}
	s.untie()
	s.pty.Close() // wakes a pump that a survivor keeps waiting
	s.input.feeder.Wait()
	var bound <-chan time.Time
	if err != nil { // the program itself may hang in the kernel
		bound = time.After(closeBound)
	}
	select {
	case <-s.pumped:
	case <-bound:
	}
	s.beat()
	return err
}

// Clear makes the cursor's row the first one, blanks the others and drops the scrollback. The
// program does not notice; transcript and recordings stay. Errors: [ErrEnded], [ErrClosed].
func (s *Session) Clear() error {
	if err := s.inputError(); err != nil {
		return err
	}
	now := time.Now()
	s.mu.Lock()
	s.clear(now)
	s.touch()
	s.mu.Unlock()
	s.beat()
	return nil
}
