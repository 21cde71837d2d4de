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

const (
	// frameBound is how long a synchronized update (mode 2026) may hide the screen: the 150 ms of the design. Whole
	// frames of real programs take a few milliseconds; a program that crashed inside one must not freeze its screen.
	frameBound = 150 * time.Millisecond
	// closeBound is how long Close waits for the pump after the master is closed, and for what cannot be ended.
	closeBound = 2 * time.Second
)

// A PTY is one child on one pseudo-terminal; *[pty.PTY] is one, and says what the methods do.
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

// A Session is one child on one PTY with its terminal and its transcript. Its methods may be called by any number of
// goroutines.
type Session struct {
	id      ID
	config  Config
	started time.Time
	pty     PTY
	input   *inputQueue
	turn    chan struct{} // held by the action under way
	tapping chan struct{} // held while taps are shown something
	sizing  chan struct{} // held while the terminal gets a size
	pulse   pulse.Pulse
	engine  *Engine
	log     *slog.Logger
	reaped  chan struct{}   // closed when leader is set
	pumped  chan struct{}   // closed when the pump has ended
	life    context.Context // ends when Close is through
	end     context.CancelFunc
	told    time.Time   // when the pump last woke those who wait
	telling atomic.Bool // later is running
	later   *time.Timer // wakes them after a flood's batch
	settled *time.Timer // looks at the terminal's echo when output has stopped
	leader  pty.Exit
	shell   *shellStart // the reaper ends it
	environ []string    // as the child gets it, without what is ours; sorted
	holds   holds
	leash   leash
	over    over        // guarded by Engine.mu
	exited  atomic.Bool // exit is set

	echo sync.Mutex
	// protects the field below, and the order in which the terminal's echo is looked at and told of
	secrets SecretInput

	mu sync.Mutex
	// protects the fields below
	term    *vt.Terminal
	rec     recorder
	blocks  blocks
	secret  bool // the program reads with echo off
	raw     bool // the program reads keys itself
	seqs    sequenceLog
	view    *View // the last look, until something changes
	changed time.Time
	bell    uint64
	reports Reports // as shown
	latest  Reports // with those of an update under way
	exit    *Exit
	ended   bool
	killed  bool
	closed  bool
	frame   *time.Timer // runs while a synchronized update hides the screen
	update  uint64      // which one
	taps    []Tap
	tapErr  error
	lease   *Lease // who alone may type; nil: everybody
	keys    keyboard
	image   string // what the leader was started with; "": not known yet
	imaged  bool   // it has been looked at again
	marks   []Mark // of the shell, in the batch that is fed
}

// ID returns the session's id, unique in its engine's life.
func (s *Session) ID() ID { return s.id }

// Config returns what the session was started with.
func (s *Session) Config() Config { return s.config }

// Started returns when the child was started.
func (s *Session) Started() time.Time { return s.started }

// PID returns the leader's process id.
func (s *Session) PID() int { return s.pty.PID() }

// View returns the session as it is now. It never blocks for longer than one batch of output takes to be parsed.
func (s *Session) View() *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view == nil {
		s.view = &View{
			Session:    s.id,
			Sequence:   s.term.Sequence(),
			Screen:     s.term.Snapshot(),
			Transcript: s.rec.value(),
			Changed:    s.changed,
			Bell:       s.bell,
			Reports:    s.reports,
			Exit:       s.exit,
			Ended:      s.ended,
			Secret:     s.secret,
			Keys:       s.raw,
			Lease:      s.lease,
			Typed:      s.keys.now,
			Killed:     s.killed,
			Marked:     s.shell != nil && s.shell.word != "",
			Block:      s.blocks.newest(),
		}
	}
	v := *s.view
	v.At = time.Now()
	return &v
}

// Changed returns a channel that is closed when the session next changes. Take it before looking.
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

// OffsetAt returns the transcript position behind which everything came after seq; 0 when that is too long ago to be
// known, and so is all that was retained then gone.
func (s *Session) OffsetAt(seq uint64) Offset {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seqs.at(seq)
}

// Closed returns a channel that is closed when [Session.Close] is through, or the session was forgotten: nothing of it is left then.
func (s *Session) Closed() <-chan struct{} { return s.life.Done() }

// AfterClose calls f in a goroutine of its own once the session is closed or forgotten, at once when it is. It is for whoever keeps
// something by the session's name: f must not block. Stop has f not called any more, as that of [context.AfterFunc] does.
func (s *Session) AfterClose(f func()) (stop func() bool) { return context.AfterFunc(s.life, f) }

func (s *Session) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// inputError tells why the session takes no input, nil when it does.
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

// touch is called with mu held after every change: what was looked at is out of date.
func (s *Session) touch() {
	oldest, end := s.rec.value().Bounds()
	s.seqs.add(s.term.Sequence(), end, oldest)
	s.view = nil
}

// beat wakes whoever waits for the session or for any session.
func (s *Session) beat() {
	s.pulse.Beat()
	s.engine.pulse.Beat()
}

// pump reads until the terminal is closed, and then tells the exit. A panic in what it feeds is the end of this session
// and of no other.
func (s *Session) pump(drain *pty.Drain) {
	defer close(s.pumped)
	if cause := s.read(drain); cause != nil {
		s.log.Error("a session failed and was ended", "session", s.id, "panic", cause, "stack", string(debug.Stack()))
		if err := s.pty.Kill(context.Background()); err != nil {
			s.log.Error("a failed session could not be ended", "session", s.id, "error", err)
		}
	}
	s.finish()
}

// read takes output until there is no more. It alone feeds the terminal and the transcript.
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
				<-s.reaped // a leader that let go of its terminal may have opened it again by name
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
	if reply := s.take(p, now); len(reply) > 0 && !s.config.Attended {
		s.input.reply(reply)
	}
	if len(p) < floodBatch { // a flood asks for nothing
		s.lookAfter(true)
		s.settled.Reset(echoSettles)
	}
	s.tell(len(p), now)
}

// echoSettles is how long after output the terminal's echo is looked at once more: a program that prints its question first
// switches echo off within microseconds, on a busy machine within milliseconds. There is no event for it.
const echoSettles = 50 * time.Millisecond

// take shows one batch to the taps and to the terminal: both see output and sizes in the same order.
func (s *Session) take(p []byte, now time.Time) (reply []byte) {
	s.tapping <- struct{}{}
	defer func() { <-s.tapping }()
	var marks []Mark
	defer func() { // also what the terminal fails on: it is what will be looked for
		s.show(func(t Tap) error {
			if m, ok := t.(MarkTap); ok {
				return m.Marked(now, p, marks)
			}
			return t.Output(now, p)
		})
	}()
	reply, marks = s.feed(p, now)
	return reply
}

const (
	// floodBatch is how much output at once is a flood and no answer: what a person or a program waits for comes in
	// less, but for a whole repaint of a large screen.
	floodBatch = 2 << 10
	// floodFloor is the least time between two wakes during a flood. A wake costs a waiter a look at the whole
	// screen, on a core that the program could use: at one for every batch a flood takes half as long again. A
	// wait that ends with a flood may end twice this much later.
	floodFloor = time.Millisecond
)

// tell wakes whoever waits: at once, or in a flood when floodFloor has passed.
func (s *Session) tell(size int, now time.Time) {
	if size < floodBatch || now.Sub(s.told) >= floodFloor {
		s.told = now
		s.beat()
		if s.telling.CompareAndSwap(true, false) {
			s.later.Stop() // so in a flood that goes on it never runs: it is for the last batch
		}
		return
	}
	if (s.pulse.Awaited() || s.engine.pulse.Awaited()) && s.telling.CompareAndSwap(false, true) {
		s.later.Reset(2 * floodFloor)
	}
}

// mostMarks is how many marks of one batch are followed exactly: a program that writes more in 64 KiB is no shell, and each costs
// as much as a small batch. Behind them only those are that have the shell's own word; with none, what is left is read at once.
const mostMarks = 256

// feed shows one batch to the terminal and the transcript, and returns what the terminal answers, and the shell's marks.
func (s *Session) feed(p []byte, now time.Time) (reply []byte, marks []Mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks = nil
	for n, all := 1, len(p); ; n++ {
		var e vt.Effect
		var rest []byte
		if n < mostMarks {
			e, rest = s.term.FeedToMark(p) // what a command printed is read where its mark is
		} else {
			behind := s.shell.nextMark(p)
			e, rest = s.term.Feed(p[:behind]), p[behind:]
		}
		s.rec.write(p[:len(p)-len(rest)])
		s.blocks.write(p[:len(p)-len(rest)])
		before := len(s.marks)
		s.apply(e, now)
		for i := before; i < len(s.marks); i++ {
			s.marks[i].End = all - len(rest)
		}
		reply = append(reply, e.Reply...) // the terminal's own until it is next fed, by us or by Resize
		if p = rest; len(p) == 0 {
			return reply, s.marks
		}
	}
}

// apply is called with mu held after the terminal has taken something.
func (s *Session) apply(e vt.Effect, now time.Time) {
	if e.Dirty {
		s.changed = now
	}
	if e.Bell > 0 {
		s.bell = s.term.Sequence()
	}
	for i := range e.Events {
		if s.shell.forged(&e.Events[i], s.latest.Shell) {
			continue
		}
		s.latest = s.latest.After(&e.Events[i])
		s.blocks.after(&e.Events[i], s.latest.Shell, now, s.term.Snapshot)
		s.latest.Shell = s.blocks.named(s.latest.Shell)
		if m, ok := ownMark(&e.Events[i], s.blocks.trusted); ok {
			if r := s.blocks.running; r != nil {
				m.Number, m.Command = r.Number, r.Command
				m.Refused = m.Kind == 'C' && s.blocks.printed.message
			}
			s.keys.marked(m.Kind, e.Events[i].Line)
			s.marks = append(s.marks, m)
		}
		if !e.Events[i].Held {
			s.report(now)
		}
	}
	if !e.Held {
		s.report(now)
	}
	if s.frame != nil && (!e.Held || s.update != s.term.Updates()) {
		s.frame.Stop()
		s.frame = nil
	}
	if e.Held && s.frame == nil { // each update has its own time
		update := s.term.Updates()
		s.update = update
		s.frame = time.AfterFunc(frameBound, func() { s.release(update) })
	}
	s.touch()
}

// report shows what was reported: at once, or what came inside a synchronized update together with its frame. It is
// called with mu held.
func (s *Session) report(now time.Time) {
	s.latest = s.latest.shown(s.reports, s.term.Sequence(), now)
	s.reports = s.latest
}

// release shows what a synchronized update has hidden for too long.
func (s *Session) release(update uint64) {
	s.mu.Lock()
	if s.frame == nil || s.update != update { // it has ended meanwhile
		s.mu.Unlock()
		return
	}
	s.showFrame(time.Now())
	s.mu.Unlock()
	s.beat()
}

// showFrame ends an update that is under way, if there is one. It is called with mu held.
func (s *Session) showFrame(now time.Time) {
	if s.frame == nil {
		return
	}
	s.frame.Stop()
	s.frame = nil
	s.term.Release()
	s.changed = now
	s.report(now)
	s.touch()
}

// Resize changes the terminal's size and tells the child. Errors: *[SizeError], *[LeasedError], [ErrEnded], [ErrClosed].
func (s *Session) Resize(size pty.Size) error { return s.resize(size, nil) }

func (s *Session) resize(size pty.Size, by *Lease) error {
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
	// One at a time from here to the kernel: the last size wins there too.
	s.sizing <- struct{}{}
	defer func() { <-s.sizing }()
	now := time.Now()
	s.tapping <- struct{}{}
	s.mu.Lock()
	s.blocks.cut(cols, s.term.Snapshot())
	e := s.term.Resize(rows, cols, int(size.PixelWidth), int(size.PixelHeight))
	s.blocks.resume(s.term.Snapshot())
	s.apply(e, now)
	reply := bytes.Clone(e.Reply)
	s.mu.Unlock()
	s.show(func(t Tap) error { return t.Resize(now, rows, cols) })
	<-s.tapping
	err := s.pty.Resize(size)
	if len(reply) > 0 && !s.config.Attended {
		s.input.reply(reply)
	}
	s.beat()
	return err
}

// setTheme changes the terminal's theme and tells the program if it asked to be told.
func (s *Session) setTheme(theme vt.Theme, by *Lease) error {
	if err := s.inputError(); err != nil {
		return err
	}
	if err := s.mayType(by); err != nil {
		return err
	}
	s.mu.Lock()
	e := s.term.SetTheme(theme)
	s.apply(e, time.Now())
	reply := bytes.Clone(e.Reply)
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

// Kill ends the program and all its descendants and returns when nothing of it is left. The session stays readable;
// input is refused from now on. Killing what has ended is no error: whatever the program left behind is ended then.
// Errors: *[pty.SurvivorsError], or the cause of ctx's end.
func (s *Session) Kill(ctx context.Context) error {
	s.hold()
	defer s.let()
	s.refuse()
	if err := s.pty.Kill(ctx); err != nil {
		return err
	}
	bound := time.NewTimer(closeBound)
	defer bound.Stop()
	select { // what is left now is only to be read
	case <-s.pumped:
		return nil
	case <-bound.C: // something out of our reach holds the terminal open
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// refuse takes no input from now on.
func (s *Session) refuse() {
	s.mu.Lock()
	s.killed, s.view = true, nil
	s.mu.Unlock()
	s.input.close(ErrClosed)
}

// Close ends the program and all its descendants, waits until everything the session owns is gone and takes it out of
// its engine. It may be called more than once; every call returns when the session is gone. Errors are those of Kill:
// the session is gone all the same.
func (s *Session) Close(ctx context.Context) error {
	var err error
	if s.forgotten() == nil { // of one that was, nothing is left that could be ended
		err = s.Kill(ctx)
	}
	s.engine.forget(s)
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	if s.frame != nil {
		s.frame.Stop()
		s.frame = nil
	}
	s.mu.Unlock()
	if !first {
		<-s.life.Done()
		return err
	}
	defer s.end()
	if p, ok := s.pty.(*pty.PTY); ok && s.engine.opts.Watch != nil && err == nil { // of survivors somebody is to know at the server's end
		s.engine.opts.Watch.Remove(p)
	}
	s.untie()
	s.pty.Close() // wakes a pump that a survivor keeps waiting; it has nothing more to tell
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

// Clear makes the cursor's row the first one, blanks the others and drops the scrollback, without a word to the program.
// The transcript and recordings are not touched. Errors: [ErrEnded], [ErrClosed].
func (s *Session) Clear() error {
	if err := s.inputError(); err != nil {
		return err
	}
	now := time.Now()
	s.mu.Lock()
	s.apply(s.term.Clear(), now)
	s.mu.Unlock()
	s.beat()
	return nil
}
